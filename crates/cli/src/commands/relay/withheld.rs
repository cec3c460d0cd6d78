//! What is told of a brief that is withheld: why, what was changed, and what settles it.
//!
//! Owns that no line of a brief can be taken for one of ours: each has a mark before it.

use flagpost_core::relay::{
    brief_snapshots::{Before, FieldDiff},
    briefs::BriefView,
};
use flagpost_model::decision::WithheldReason;

use crate::terminal::line;

/// Why it is withheld, and what to do about it, in a few lines; nothing where it is not.
pub fn notice(letter: &BriefView) -> Option<String> {
    let (why, shown_by) = (withheld_text(letter)?, letter.shown_by());
    let reject = reject(letter);
    Some(format!(
        "{why}\n  '{shown_by}' shows it, and how to settle it\n  {reject}\n"
    ))
}

/// The same of one that waits and that nobody is on record for.
pub fn notice_of_any(letter: &BriefView) -> Option<String> {
    if !letter.is_unproposed() || letter.held.is_some() {
        return notice(letter);
    }
    let (worker, seq) = (&letter.brief.target_worker, letter.brief.seq);
    Some(format!(
        "{worker} {seq} was put there by an unknown hand: nobody is on record for it\n  \
         '{}' shows it\n",
        letter.shown_by()
    ))
}

/// That the bytes of a brief are not those that count.
pub fn warning(letter: &BriefView) -> Option<String> {
    if letter.held.is_none() && letter.is_rewritten() {
        let (worker, seq) = (&letter.brief.target_worker, letter.brief.seq);
        return Some(format!(
            "{worker} {seq} was changed after it was decided on; its worker learns no word of what it says now"
        ));
    }
    let why = withheld_text(letter)?;
    let shown_by = letter.shown_by();
    Some(format!("{why}; '{shown_by}' shows what was changed"))
}

fn withheld_text(letter: &BriefView) -> Option<String> {
    let (worker, seq) = (&letter.brief.target_worker, letter.brief.seq);
    let why = letter.why_withheld()?;
    Some(format!("{worker} {seq} is withheld: {why}"))
}

fn reject(letter: &BriefView) -> String {
    let (worker, seq) = (&letter.brief.target_worker, letter.brief.seq.get());
    format!("'flagpost reject {worker} {seq}' keeps it from {worker}")
}

/// A withheld brief in full: the words that count, what lies there now, and then what settles it. Lines
/// of ours begin at the margin, where no line of a brief does.
pub fn in_full(letter: &BriefView, before: Option<&Before>) -> Option<String> {
    let held = letter.held?;
    let words = words(letter, held, before);
    let (why, reject) = (withheld_text(letter)?, reject(letter));
    let (worker, seq) = (&letter.brief.target_worker, letter.brief.seq.get());
    let settled_by = letter.resolving_command()?;
    let ratify = match held {
        // It is rejected, or its time is over.
        _ if settled_by.contains(" reject ") => String::new(),
        WithheldReason::Foreign | WithheldReason::Marked => {
            format!("'flagpost ratify {worker} {seq}' approves it.\n")
        }
        // A hash and the command before it are longer than most lines.
        WithheldReason::Proposed | WithheldReason::Decided => format!(
            "This approves what lies there now:\n\nflagpost ratify {worker} {seq} \\\n    --seen {}\n",
            letter.prints.envelope
        ),
    };
    Some(format!("{why}\n\n{words}\n{reject}.\n{ratify}"))
}

fn words(letter: &BriefView, held: WithheldReason, before: Option<&Before>) -> String {
    let body = marked(&letter.body, "  ");
    let Some(before) = before else {
        let kept = match held {
            WithheldReason::Foreign | WithheldReason::Marked => "",
            WithheldReason::Proposed | WithheldReason::Decided => {
                ", and nobody kept the words that were there before"
            }
        };
        return format!("This lies there now{kept}:\n\n{body}");
    };
    if before.changes.is_empty() {
        return format!("It is as it was proposed:\n\n{body}");
    }
    let then = match held {
        WithheldReason::Decided => "decided on",
        WithheldReason::Proposed | WithheldReason::Foreign | WithheldReason::Marked => "proposed",
    };
    let was = marked(&before.body, "  ");
    let changes: String = before.changes.iter().map(changed).collect();
    format!(
        "This was {then}:\n\n{was}\n\
         This was changed by an unknown hand (- was, + is now):\n\n{changes}"
    )
}

fn changed(change: &FieldDiff) -> String {
    let FieldDiff { part, was, now } = change;
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
            let change = FieldDiff {
                part: "body".to_owned(),
                was: was.to_owned(),
                now: now.to_owned(),
            };
            assert_eq!(changed(&change), expected, "{was:?} {now:?}");
        }
    }
}
