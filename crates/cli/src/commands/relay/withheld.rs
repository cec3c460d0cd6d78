//! What is told of a brief that is withheld: why, what was changed, and what settles it.
//!
//! Owns that no line of a brief can be taken for one of ours: each has a mark before it.

use flagpost_core::relay::{
    briefs::Letter,
    words::{Before, Change},
};
use flagpost_model::decision::Held;

use crate::terminal::line;

/// Why it is withheld, and what to do about it, in a few lines; nothing where it is not.
pub fn notice(letter: &Letter) -> Option<String> {
    let (worker, seq) = (&letter.brief.target_worker, letter.brief.seq.get());
    told(
        letter,
        &format!("  'flagpost inbox {worker} {seq}' shows it\n"),
    )
}

fn told(letter: &Letter, shown_by: &str) -> Option<String> {
    let (held, settled_by) = (letter.held?, letter.settled_by()?);
    let (worker, seq) = (&letter.brief.target_worker, letter.brief.seq.get());
    let reject = format!("flagpost relay reject {worker} {seq}");
    let other = match settled_by == reject {
        true => String::new(),
        false => format!("\n  '{reject}' keeps it from {worker}"),
    };
    Some(format!(
        "{worker} {} is withheld: {}\n{shown_by}  '{settled_by}' settles it{other}\n",
        letter.brief.seq,
        held.told()
    ))
}

/// A withheld brief in full: the words that count, where they are kept, and what lies there now.
pub fn in_full(letter: &Letter, before: Option<&Before>) -> Option<String> {
    let held = letter.held?;
    let mut text = told(letter, "")?;
    let Some(before) = before else {
        let kept = match held {
            Held::Foreign => "",
            Held::Proposed | Held::Decided => ", and nobody kept the words that were there before",
        };
        text += &format!("\nThis lies there now{kept}:\n\n");
        return Some(text + &marked(&letter.body, "  "));
    };
    if before.changes.is_empty() {
        text += "\nIt is as it was proposed:\n\n";
        return Some(text + &marked(&letter.body, "  "));
    }
    let then = match held {
        Held::Decided => "decided on",
        Held::Proposed | Held::Foreign => "proposed",
    };
    text += &format!("\nThis was {then}:\n\n{}", marked(&before.body, "  "));
    text += "\nThis was changed by an unknown hand (- was, + is now):\n\n";
    for change in &before.changes {
        text += &changed(change);
    }
    Some(text)
}

fn changed(change: &Change) -> String {
    let Change { part, was, now } = change;
    let (was, now): (Vec<&str>, Vec<&str>) = (was.lines().collect(), now.lines().collect());
    let same = |(one, other): &(&&str, &&str)| one == other;
    let before = was.iter().zip(&now).take_while(same).count();
    let (was, now) = (&was[before..], &now[before..]);
    let after = was
        .iter()
        .rev()
        .zip(now.iter().rev())
        .take_while(same)
        .count();
    let (was, now) = (&was[..was.len() - after], &now[..now.len() - after]);
    let lines = |lines: &[&str], mark: &str| marked(&lines.join("\n"), mark);
    let header = format!("  {}:\n", line(part));
    header + &lines(was, "  - ") + &lines(now, "  + ")
}

fn marked(text: &str, mark: &str) -> String {
    text.lines().map(|line| format!("{mark}{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_lines_that_differ_are_shown() {
        for (was, now, expected) in [
            ("a\nb\nc", "a\nB\nc", "  body:\n  - b\n  + B\n"),
            ("a", "a\nb", "  body:\n  + b\n"),
            ("a\na", "a", "  body:\n  - a\n"),
            ("", "x", "  body:\n  + x\n"),
        ] {
            let change = Change {
                part: "body".to_owned(),
                was: was.to_owned(),
                now: now.to_owned(),
            };
            assert_eq!(changed(&change), expected, "{was:?} {now:?}");
        }
    }
}
