//! `session_summary.md`: what became of a session.
//!
//! ```text
//! # Execution Summary
//!
//! Task Execution ID: user-auth-20260205-143022
//! List: web
//! Started: 2026-02-05T14:30:22Z
//! Ended: 2026-02-05T14:52:10Z
//! Duration: 21m 48s
//!
//! ## Results
//! Passed: 2
//! Partial: 0
//! Failed: 1
//! Not started: 1
//!
//! ## Tasks
//! | Task ID | Subject | Status | Attempts | Duration | Token Usage |
//! |---------|---------|--------|----------|----------|-------------|
//! | 1 | Implement auth middleware | PASS | 1/3 | 2m 34s | N/A |
//!
//! ## Not Started
//! - [7] Deploy — waits for 3, which failed
//! ```
//!
//! Owns this form, for people. The rows are those of the log, so one reader serves both; the rest
//! can be had again from rows and tasks and is not read back.

use flagpost_model::session::{LogRow, Outcome, SessionSummary};

use super::{
    duration,
    line::{DASH, entry_subject, one_line, or},
    task_log,
};

/// The summary's text.
pub fn render(summary: &SessionSummary) -> String {
    let took = summary.ended.duration_since(summary.started);
    let mut out = format!(
        "# Execution Summary\n\nTask Execution ID: {}\nList: {}\nStarted: {:.0}\nEnded: {:.0}\nDuration: {}\n",
        summary.session,
        summary.list,
        summary.started,
        summary.ended,
        duration::render(took)
    );
    out.push_str("\n## Results\n");
    for &outcome in Outcome::ALL {
        let word = match outcome {
            Outcome::Pass => "Passed",
            Outcome::Partial => "Partial",
            Outcome::Fail => "Failed",
        };
        out.push_str(&format!("{word}: {}\n", summary.total(outcome)));
    }
    out.push_str(&format!("Not started: {}\n", summary.not_started.len()));
    out.push_str("\n## Tasks\n");
    out.push_str(task_log::TABLE_HEAD);
    out.extend(summary.rows.iter().map(task_log::render_row));
    if !summary.not_started.is_empty() {
        out.push_str("\n## Not Started\n");
    }
    for task in &summary.not_started {
        let subject = entry_subject(&task.subject);
        let why = or(one_line(&task.why), "no reason was given");
        out.push_str(&format!("- [{}] {subject} {DASH} {why}\n", task.id));
    }
    out
}

/// The rows of a summary.
pub fn parse_rows(text: &str) -> Vec<LogRow> {
    task_log::parse(text).rows
}

#[cfg(test)]
mod tests {
    use flagpost_model::session::NotStarted;
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn a_summary_has_totals_rows_and_what_never_began() {
        let row = |id: u64, outcome| LogRow {
            id: id.into(),
            subject: "Parse a|b".into(),
            outcome,
            attempt: 1,
            of: 3,
            duration: Some(SignedDuration::from_secs(154)),
            tokens: None,
        };
        let summary = SessionSummary {
            session: "user-auth-20260205-143022".parse().unwrap(),
            list: "web".parse().unwrap(),
            started: "2026-02-05T14:30:22.4Z".parse().unwrap(),
            ended: "2026-02-05T14:52:10.4Z".parse().unwrap(),
            rows: vec![row(1, Outcome::Pass), row(2, Outcome::Fail)],
            not_started: vec![NotStarted {
                id: 7u64.into(),
                subject: "Deploy\n— now".into(),
                why: "waits for 2, which failed".into(),
            }],
        };
        let text = render(&summary);
        for part in [
            "Started: 2026-02-05T14:30:22Z\nEnded: 2026-02-05T14:52:10Z\nDuration: 21m 48s\n",
            "Passed: 1\nPartial: 0\nFailed: 1\nNot started: 1\n",
            "| 2 | Parse a\\|b | FAIL | 1/3 | 2m 34s | N/A |\n",
            "\n## Not Started\n- [7] Deploy – now — waits for 2, which failed\n",
        ] {
            assert!(text.contains(part), "{part} is missing from\n{text}");
        }
        assert_eq!(parse_rows(&text), summary.rows);
    }
}
