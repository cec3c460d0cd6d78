//! `result-task-{id}.md`: how a task ended, in its agent's words.
//!
//! ```text
//! status: PASS
//!
//! ## Summary
//! Input is checked before it reaches the store.
//!
//! ## Files Modified
//! - src/input.rs: the checks
//!
//! ## Issues
//! None
//! ```
//!
//! Owns how such a file is understood. Agents write it by hand, so the reader takes any case,
//! bold, headings of any level or lines with labels (`Issues: None`), a byte order mark and CRLF. It
//! never guesses the verdict: the first status line counts (`TASK RESULT: PASS` is one where it has a
//! verdict), and a word that is none of the three (`PASS|FAIL` of a template left
//! as it was, too) is no verdict. What frames a report, such as its title, is none of its words. Text
//! without a status line is a report all the same; bytes that are no text are none, and neither is the
//! beginning of a file whose status line may come later.
//! The file itself is kept; the reader need not hold every word.

use flagpost_model::session::{Outcome, TaskReport};

use super::markdown::{bullet, heading, plain, says_nothing};

/// The text of a report; for the example that agents are given.
pub fn render(report: &TaskReport) -> String {
    let status = report.outcome.map(|o| format!("status: {o}\n\n"));
    let files: String = report.files.iter().map(|f| format!("- {f}\n")).collect();
    let none = |text: &str| match text.trim() {
        "" => "None".to_owned(),
        text => text.to_owned(),
    };
    format!(
        "{}## Summary\n{}\n\n## Files Modified\n{}\n## Issues\n{}\n",
        status.unwrap_or_default(),
        none(&report.summary),
        if files.is_empty() { "None\n" } else { &files },
        none(&report.issues),
    )
}

/// What a report of this name says, of which `left_out` bytes come after these.
pub fn read(name: &str, bytes: &[u8], left_out: u64) -> TaskReport {
    let read = bytes.len();
    // A line that was cut could say what it does not mean.
    let whole = bytes.iter().rposition(|byte| *byte == b'\n');
    let bytes = match whole.filter(|_| left_out > 0) {
        Some(end) => &bytes[..end],
        None => bytes,
    };
    let mut report = TaskReport {
        left_out,
        ..parse(&String::from_utf8_lossy(bytes))
    };
    if let Some(word) = report.unclear {
        let why = format!("`{name}` says \"status: {word}\", which is none of PASS, PARTIAL, FAIL");
        report.unclear = Some(why);
    } else if report.outcome.is_none() && !is_text(bytes, left_out) {
        let why = format!("`{name}` has no status line and is no text in UTF-8");
        return TaskReport::unreadable(why);
    } else if report.outcome.is_none() && left_out > 0 {
        let why =
            format!("`{name}` has no status line in its first {read} bytes, and no more is read");
        report.unclear = Some(why);
    }
    report
}

/// Whether the bytes can be meant as text: UTF-16 is zeros in every other place.
fn is_text(bytes: &[u8], left_out: u64) -> bool {
    let utf8 = match std::str::from_utf8(bytes) {
        Ok(_) => true,
        // Cut within a character.
        Err(error) => left_out > 0 && error.error_len().is_none(),
    };
    utf8 && !bytes.contains(&0)
}

/// What a text says; where the verdict is unclear, the word that stands for it.
fn parse(text: &str) -> TaskReport {
    let text = text.trim_start_matches('\u{feff}');
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut report = TaskReport::default();
    let (mut summary, mut issues, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    // Where lines go, and the level of the heading that said so.
    let mut part = (ResultPart::Rest, 0);
    let mut status_seen = false;
    for (at, line) in lines.iter().enumerate() {
        if let Some(word) = status(line) {
            if !status_seen {
                let below = || lines[at + 1..].iter().find(|l| !l.trim().is_empty());
                let word = match word {
                    "" => below().copied().unwrap_or_default(),
                    word => word,
                };
                report.outcome = verdict(word);
                report.unclear = report.outcome.is_none().then(|| short(word));
                status_seen = true;
            }
            if heading(line).is_some() {
                part = (ResultPart::Rest, 0);
            }
            continue;
        }
        let mut to = (part.0, *line);
        if let Some((level, text)) = heading(line) {
            match labelled(text).or_else(|| Some((ResultPart::named(text)?, ""))) {
                Some((named, text)) => {
                    part = (named, level);
                    to = (named, text);
                }
                None if level <= part.1 => part = (ResultPart::Rest, 0),
                None => {}
            }
            to.0 = part.0;
        } else if let Some((named, text)) = labelled(line) {
            if text.is_empty() {
                part = (named, DEEPEST);
            }
            to = (named, text);
        }
        match to {
            (ResultPart::Summary, line) => summary.push(line),
            (ResultPart::Issues, line) => issues.push(line),
            (ResultPart::Files, line) => report.files.extend(line.split(", ").filter_map(file)),
            (ResultPart::Rest, line) => rest.push(line),
        }
    }
    report.summary = words(&summary);
    report.issues = words(&issues);
    if report.summary.is_empty() {
        report.summary = words(&unframed(&rest));
    }
    report
}

/// Lines that belong to no part, without what only frames them: headings, the task that the report is of,
/// the count of its attempts, and the marks of a list that is all there is.
fn unframed<'l>(lines: &[&'l str]) -> Vec<&'l str> {
    let is_told = |line: &&&str| {
        let words = plain(line).to_ascii_lowercase();
        let count = words.strip_prefix("attempt:");
        let is_count = count.is_some_and(|it| !it.contains(|c: char| !" /0123456789".contains(c)));
        let is_loud =
            line.contains(|c: char| c.is_ascii_uppercase()) && **line == line.to_uppercase();
        let is_label = is_loud && line.ends_with(':');
        heading(line).is_none() && !words.starts_with("task: [") && !is_count && !is_label
    };
    let told: Vec<&str> = lines.iter().filter(is_told).copied().collect();
    let items = told.iter().filter(|line| !line.trim().is_empty());
    match items.map(|line| bullet(line)).collect() {
        Some(items) => items,
        None => told,
    }
}

/// The level of what ends at any heading.
const DEEPEST: usize = 6;

#[derive(Clone, Copy)]
enum ResultPart {
    Summary,
    Files,
    Issues,
    Rest,
}

impl ResultPart {
    fn named(heading: &str) -> Option<Self> {
        match plain(heading).to_ascii_lowercase().as_str() {
            "summary" => Some(Self::Summary),
            "files modified" => Some(Self::Files),
            "issues" | "issues encountered" => Some(Self::Issues),
            _ => None,
        }
    }
}

/// A line that begins with the name of a part, and what it says of it.
fn labelled(line: &str) -> Option<(ResultPart, &str)> {
    let (label, text) = bullet(line).unwrap_or(line).split_once(':')?;
    let text = text.trim_start_matches(['*', '_']).trim();
    Some((ResultPart::named(label)?, text))
}

/// What stands after `status:`, or nothing after a bare heading `Status`.
fn status(line: &str) -> Option<&str> {
    let is_heading = heading(line).is_some();
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || "#*_->`".contains(c));
    let after = |key: &str| {
        let head = line.get(..key.len())?;
        head.eq_ignore_ascii_case(key).then(|| &line[key.len()..])
    };
    if let Some(tail) = after("task result:").filter(|tail| verdict(tail).is_some()) {
        return Some(tail);
    }
    let tail = after("status")?;
    let tail = tail.trim_start_matches(['*', '_', '`', ' ', '\t']);
    match tail.strip_prefix([':', '=']) {
        Some(word) => Some(word.trim_matches(|c: char| c.is_whitespace() || "*_`".contains(c))),
        None => (is_heading && tail.is_empty()).then_some(""),
    }
}

/// What can be shown of a word that is no verdict.
fn short(word: &str) -> String {
    word.trim().chars().take(60).collect()
}

/// The verdict that a text begins with.
fn verdict(text: &str) -> Option<Outcome> {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let end = text
        .find(|c: char| !c.is_alphanumeric())
        .unwrap_or(text.len());
    let (word, tail) = text.split_at(end);
    let tail = tail.trim_start_matches(['*', '_', '`']);
    let goes_on = tail.starts_with(|c: char| c == '-' || c.is_alphanumeric());
    let one_of_several = tail.trim_start().starts_with(['|', '/']);
    let mut outcomes = Outcome::ALL.iter().copied();
    outcomes
        .find(|outcome| outcome.as_str().eq_ignore_ascii_case(word))
        .filter(|_| !goes_on && !one_of_several)
}

/// The path that a line of the files' section names.
fn file(line: &str) -> Option<String> {
    let line = bullet(line).unwrap_or(line).trim();
    let path = match line.strip_prefix('`').and_then(|l| l.split_once('`')) {
        Some((path, _)) => path,
        None => [": ", " — ", " – ", " - ", " ("]
            .iter()
            .fold(line, |path, cut| path.split(cut).next().unwrap_or(path)),
    };
    let path = path.trim().trim_end_matches(':');
    (!path.is_empty() && !says_nothing(path) && heading(line).is_none()).then(|| path.to_owned())
}

fn words(lines: &[&str]) -> String {
    let text = lines.join("\n");
    let text = text.trim_matches('\n').trim_end();
    if says_nothing(text) {
        String::new()
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests;
