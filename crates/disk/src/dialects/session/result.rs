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
//! bold, headings of any level, a byte order mark and CRLF. It never guesses the verdict: the
//! first status line counts, and a word that is none of the three (`PASS|FAIL` of a template left
//! as it was, too) is no verdict. Text without a status line is a report all the same; bytes that
//! are no text are none, and neither is the beginning of a file whose status line may come later.
//! The file itself is kept; the reader need not hold every word.

use flagpost_model::session::{Outcome, TaskReport};

use super::markdown::{bullet, heading, plain};

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
    let mut part = (Part::Rest, 0);
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
                part = (Part::Rest, 0);
            }
            continue;
        }
        if let Some((level, text)) = heading(line) {
            match Part::named(text) {
                Some(named) => {
                    part = (named, level);
                    continue;
                }
                None if level <= part.1 => part = (Part::Rest, 0),
                None => {}
            }
        }
        match part.0 {
            Part::Summary => summary.push(*line),
            Part::Issues => issues.push(*line),
            Part::Files => report.files.extend(file(line)),
            Part::Rest => rest.push(*line),
        }
    }
    report.summary = words(&summary);
    report.issues = words(&issues);
    if report.summary.is_empty() {
        report.summary = words(&rest);
    }
    report
}

#[derive(Clone, Copy)]
enum Part {
    Summary,
    Files,
    Issues,
    Rest,
}

impl Part {
    fn named(heading: &str) -> Option<Self> {
        match plain(heading).to_ascii_lowercase().as_str() {
            "summary" => Some(Self::Summary),
            "files modified" => Some(Self::Files),
            "issues" => Some(Self::Issues),
            _ => None,
        }
    }
}

/// What stands after `status:`, or nothing after a bare heading `Status`.
fn status(line: &str) -> Option<&str> {
    let is_heading = heading(line).is_some();
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || "#*_->`".contains(c));
    let head = line.get(.."status".len())?;
    let tail = &line[head.len()..];
    if !head.eq_ignore_ascii_case("status") {
        return None;
    }
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
    (!path.is_empty() && !is_none(path) && heading(line).is_none()).then(|| path.to_owned())
}

fn words(lines: &[&str]) -> String {
    let text = lines.join("\n");
    let text = text.trim_matches('\n').trim_end();
    if is_none(text) {
        String::new()
    } else {
        text.to_owned()
    }
}

/// The ways of saying that there is nothing to say.
fn is_none(text: &str) -> bool {
    let text = bullet(text).unwrap_or(text);
    let text = text.trim_matches(|c: char| !c.is_alphanumeric());
    ["", "none", "n/a", "nothing", "no issues"]
        .iter()
        .any(|none| text.eq_ignore_ascii_case(none))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_sample_is_written_and_read() {
        let report = TaskReport {
            outcome: Some(Outcome::Partial),
            unclear: None,
            summary: "Input is checked.\n\n### Left out\n- emails".into(),
            files: vec!["src/input.rs".into(), "tests/it.rs".into()],
            issues: "The store has no index.".into(),
            left_out: 0,
        };
        let text = render(&report);
        assert!(text.starts_with("status: PARTIAL\n"), "{text}");
        assert_eq!(parse(&text), report);
        assert_eq!(parse(&text.replace('\n', "\r\n")), report);
        assert_eq!(parse(&format!("\u{feff}{text}")), report);
        let bare = TaskReport {
            outcome: Some(Outcome::Pass),
            ..TaskReport::default()
        };
        assert_eq!(parse(&render(&bare)), bare);
    }

    #[test]
    fn a_status_is_read_as_agents_write_it() {
        for (text, outcome) in [
            ("status: PASS", Some(Outcome::Pass)),
            ("Status: **PASS**", Some(Outcome::Pass)),
            ("**Status:** pass", Some(Outcome::Pass)),
            ("**Status**: Partial (2 of 3)", Some(Outcome::Partial)),
            ("STATUS: FAIL - tests are red", Some(Outcome::Fail)),
            ("- status: ✅ PASS.", Some(Outcome::Pass)),
            ("## Status\n\nPASS\n", Some(Outcome::Pass)),
            ("## Status: FAIL", Some(Outcome::Fail)),
            (
                "# Result\nintro\nstatus: `PARTIAL`, see below",
                Some(Outcome::Partial),
            ),
            ("status: PASS\nstatus: FAIL", Some(Outcome::Pass)),
            ("\u{feff}status: FAIL\r\n", Some(Outcome::Fail)),
            ("status: PASS|PARTIAL|FAIL", None),
            ("status: PASS / FAIL", None),
            ("status: **PASS** | FAIL", None),
            ("status: PASSED", None),
            ("status: done\nstatus: PASS", None),
            ("status: pass-ish", None),
            ("status:", None),
            ("## Status", None),
            ("Status code: PASS", None),
            ("the status: PASS", None),
            ("", None),
        ] {
            assert_eq!(parse(text).outcome, outcome, "{text:?}");
        }
    }

    #[test]
    fn what_is_there_and_is_no_report_is_not_taken_for_one_without_a_verdict() {
        let utf16: Vec<u8> = "status: PASS\n"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let marked = [b"\xff\xfe", utf16.as_slice()].concat();
        for (bytes, left_out, outcome, unclear) in [
            (&b"status: FAIL\nlong"[..], 7, Some(Outcome::Fail), None),
            (b"status: PASS\n\xff\0", 0, Some(Outcome::Pass), None),
            (b"status: PASS", 7, Some(Outcome::Pass), None),
            (b"All is well.\n", 0, None, None),
            (b"", 0, None, None),
            (b"status: done", 0, None, Some("says \"status: done\"")),
            (
                b"All is\nstatus: FA",
                7,
                None,
                Some("no status line in its first 17 bytes"),
            ),
            (
                "All is sch\u{f6}".as_bytes().strip_suffix(b"\xb6").unwrap(),
                7,
                None,
                Some("in its first"),
            ),
            (b"All is well.\xff", 0, None, Some("no text in UTF-8")),
            (b"\xc3", 0, None, Some("no text in UTF-8")),
            (&utf16, 0, None, Some("no text in UTF-8")),
            (&marked, 0, None, Some("no text in UTF-8")),
        ] {
            let report = read("result-task-1.md", bytes, left_out);
            assert_eq!(report.outcome, outcome, "{bytes:?}");
            let (said, wanted) = (
                report.unclear.unwrap_or_default(),
                unclear.unwrap_or_default(),
            );
            assert!(
                said.contains(wanted) && said.is_empty() == wanted.is_empty(),
                "{said}"
            );
            assert!(
                said.is_empty() || said.starts_with("`result-task-1.md` "),
                "{said}"
            );
        }
    }

    #[test]
    fn sections_are_found_at_any_level() {
        let report = parse(
            "# Task Result: [5] Add validation\nstatus: PASS\nattempt: 1/3\n\n## Verification\n- Tests: 4/4\n\n#### files modified:\n- `src/a b.rs` — new\n- src/c.rs: changed\n* src/d.rs (created)\n- None\n\n### **Issues**\n- None\n",
        );
        assert_eq!(report.files, ["src/a b.rs", "src/c.rs", "src/d.rs"]);
        assert_eq!(report.issues, "");
        // Without a summary, what belongs to no section stands in for it.
        assert!(report.summary.contains("Tests: 4/4"), "{}", report.summary);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in any::<String>()) {
            parse(&text);
            read("report", text.as_bytes(), text.len() as u64);
            parse(&format!("status:{text}\n## Files Modified\n{text}"));
        }
    }
}
