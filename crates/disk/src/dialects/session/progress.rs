//! `progress.md`: how far a session is.
//!
//! ```text
//! # Execution Progress
//! Status: Executing
//! Wave: 2 of 4
//! Max Parallel: 5
//! Updated: 2026-02-05T14:35:22Z
//!
//! ## Active Tasks
//! - [5] Add input validation — Phase 2 — Implementing
//!
//! ## Completed This Session
//! - [1] Implement auth middleware — PASS (2m 34s)
//! ```
//!
//! Owns this form, which other programs read line by line: an entry is
//! `- [digits] subject — rest`, the subject ends at the first em dash, a section ends at the next
//! `##` after a line break. So a subject loses its em dashes, brackets and line breaks here, no
//! part is ever empty, and sections are apart by an empty line. A task whose id is not decimal is
//! written with that id all the same: a digits-only reader skips the line, ours reads it, and no
//! number is made up that could be taken for another task.
//!
//! The reader also takes `[#5]`, CRLF, any case of the keys, and the older form with
//! `Current Task: [5] Subject (details)` and `Phase: …` in place of the sections.

use flagpost_model::session::{ActiveTask, CompletedTask, Outcome, Progress, ProgressStatus};
use jiff::{SignedDuration, Timestamp};

use super::{
    duration,
    line::{DASH, entry_id, entry_subject, one_line, or, value},
};

/// What a progress file says, as far as it was understood.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// The session's phase; none where the word is not one of ours.
    pub status: Option<ProgressStatus>,
    /// Which wave of how many.
    pub wave: Option<(u32, u32)>,
    /// How many tasks may run side by side.
    pub max_parallel: Option<u32>,
    /// When the file was written.
    pub updated: Option<Timestamp>,
    /// What runs.
    pub active: Vec<ActiveTask>,
    /// What ended.
    pub completed: Vec<CompletedTask>,
}

/// The file's text.
pub fn render(progress: &Progress) -> String {
    let mut out = format!("# Execution Progress\nStatus: {}\n", progress.status);
    if let Some((wave, of)) = progress.wave {
        out.push_str(&format!("Wave: {wave} of {of}\n"));
    }
    out.push_str(&format!(
        "Max Parallel: {}\nUpdated: {:.0}\n\n## Active Tasks\n",
        progress.max_parallel, progress.updated
    ));
    for task in &progress.active {
        let phase = or(one_line(&task.phase), "Working");
        out.push_str(&entry(&task.id, &task.subject, &phase));
    }
    out.push_str("\n## Completed This Session\n");
    for task in &progress.completed {
        let result = or(one_line(&task.result), "Done");
        out.push_str(&entry(&task.id, &task.subject, &result));
    }
    out
}

/// The file of a session that died: interrupted, with nothing active. All else stays as it is.
pub fn interrupted(text: &str) -> String {
    let (mut out, mut is_head, mut is_active) = (String::new(), true, false);
    for line in text.split_inclusive('\n') {
        let told = line.trim();
        if let Some(heading) = told.strip_prefix("##") {
            let heading = heading.trim_start_matches('#').trim().to_ascii_lowercase();
            (is_head, is_active) = (false, heading.starts_with("active"));
        }
        let is_work = is_active && item(told).is_some()
            || is_head
                && ["Current Task", "Phase"]
                    .iter()
                    .any(|key| value(told, key).is_some());
        if is_head && value(told, "Status").is_some() {
            let end = &line[line.trim_end().len()..];
            out.push_str(&format!("Status: Interrupted{end}"));
        } else if !is_work {
            out.push_str(line);
        }
    }
    out
}

/// What stands behind a key at the top of a file, in whatever words.
pub fn header_value<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let head = text.lines().map(str::trim);
    let mut head = head.take_while(|line| !line.starts_with("##"));
    head.find_map(|line| value(line, key))
}

/// The words for a verdict: `PASS (2m 34s)`.
pub fn verdict(outcome: Outcome, took: Option<SignedDuration>) -> String {
    match took {
        Some(took) => format!("{outcome} ({})", duration::render(took)),
        None => outcome.to_string(),
    }
}

fn entry(id: &flagpost_model::TaskId, subject: &str, rest: &str) -> String {
    format!("- [{id}] {} {DASH} {rest}\n", entry_subject(subject))
}

/// What a file says.
pub fn parse(text: &str) -> Reading {
    #[derive(Clone, Copy, PartialEq)]
    enum ProgressPart {
        Head,
        Active,
        Completed,
        Other,
    }
    let mut seen = Reading::default();
    let mut part = ProgressPart::Head;
    let (mut current, mut phase) = (None, None);
    for line in text.lines() {
        let line = line.trim();
        if let Some(heading) = line.strip_prefix("##") {
            let heading = heading.trim_start_matches('#').trim().to_ascii_lowercase();
            part = if heading.starts_with("active") {
                ProgressPart::Active
            } else if heading.starts_with("completed") {
                ProgressPart::Completed
            } else {
                ProgressPart::Other
            };
            continue;
        }
        match part {
            ProgressPart::Head => {
                read_head(&mut seen, line);
                current = current.or_else(|| value(line, "Current Task").and_then(older_task));
                phase = phase.or_else(|| value(line, "Phase").map(str::to_owned));
            }
            ProgressPart::Active => seen.active.extend(active(line)),
            ProgressPart::Completed => seen.completed.extend(completed(line)),
            ProgressPart::Other => {}
        }
    }
    if let Some(task) = current.filter(|_| seen.active.is_empty()) {
        let phase = phase.unwrap_or_default();
        seen.active.push(ActiveTask { phase, ..task });
    }
    seen
}

fn read_head(seen: &mut Reading, line: &str) {
    if let Some(status) = value(line, "Status") {
        let word = status.split_whitespace().next().unwrap_or_default();
        let known = ProgressStatus::ALL.iter().copied();
        seen.status = seen.status.or(known
            .into_iter()
            .find(|s| s.as_str().eq_ignore_ascii_case(word)));
    } else if let Some(wave) = value(line, "Wave") {
        // Other programs write 2/4.
        let wave = wave.replacen('/', " of ", 1);
        let mut parts = wave.splitn(2, " of ");
        let mut number = || parts.next().and_then(leading_number);
        seen.wave = seen.wave.or_else(|| Some((number()?, number()?)));
    } else if let Some(max) = value(line, "Max Parallel") {
        seen.max_parallel = seen.max_parallel.or_else(|| leading_number(max));
    } else if let Some(updated) = value(line, "Updated") {
        seen.updated = seen.updated.or_else(|| updated.parse().ok());
    }
}

fn leading_number(text: &str) -> Option<u32> {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text[..end].parse().ok()
}

fn item(line: &str) -> Option<(flagpost_model::TaskId, &str)> {
    entry_id(line.strip_prefix(['-', '*'])?)
}

fn active(line: &str) -> Option<ActiveTask> {
    let (id, rest) = item(line)?;
    let (subject, phase) = rest.split_once(DASH).unwrap_or((rest, ""));
    Some(ActiveTask {
        id,
        subject: subject.trim().to_owned(),
        phase: phase.trim().to_owned(),
    })
}

/// Foreign subjects may hold em dashes, and a verdict is known when seen: the split is before it.
fn completed(line: &str) -> Option<CompletedTask> {
    let (id, rest) = item(line)?;
    let at_verdict = rest.match_indices(DASH).find(|(at, dash)| {
        let word: String = rest[at + dash.len()..]
            .trim_start()
            .chars()
            .take_while(char::is_ascii_alphabetic)
            .collect();
        word.parse::<Outcome>().is_ok()
    });
    let (subject, result) = match at_verdict {
        Some((at, dash)) => (&rest[..at], &rest[at + dash.len()..]),
        None => rest.split_once(DASH).unwrap_or((rest, "")),
    };
    Some(CompletedTask {
        id,
        subject: subject.trim().to_owned(),
        result: result.trim().to_owned(),
    })
}

/// `[5] Subject (details)`
fn older_task(text: &str) -> Option<ActiveTask> {
    let (id, rest) = entry_id(text)?;
    let subject = match rest.rsplit_once(" (") {
        Some((subject, details)) if details.ends_with(')') => subject,
        _ => rest,
    };
    Some(ActiveTask {
        id,
        subject: subject.trim().to_owned(),
        phase: String::new(),
    })
}

#[cfg(test)]
mod tests;
