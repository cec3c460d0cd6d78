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
//! Waiting for an answer: 1
//! Cost: $0.42
//!
//! ## Tasks
//! | Task ID | Subject | Status | Attempts | Duration | Token Usage |
//! |---------|---------|--------|----------|----------|-------------|
//! | 1 | Implement auth middleware | PASS | 1/3 | 2m 34s | N/A |
//!
//! ## Not Started
//! - [7] Deploy — waits for 3, which failed
//!
//! ## Waiting for an Answer
//! - [4] Choose the format — TOML or JSON?
//!
//! ## Refused Actions
//! - [1] Implement auth middleware — Bash git push
//! ```
//!
//! Owns this form, for people. The rows are those of the log, so one reader serves both; the rest
//! can be had again from rows and tasks and is not read back.

use flagpost_model::session::{LogRow, Outcome, SessionSummary, TaskRemark};

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
    if !summary.asking.is_empty() {
        out.push_str(&format!(
            "Waiting for an answer: {}\n",
            summary.asking.len()
        ));
    }
    if let Some(cost) = summary.cost_usd {
        out.push_str(&format!("Cost: ${cost:.2}\n"));
    }
    out.push_str("\n## Tasks\n");
    out.push_str(task_log::TABLE_HEAD);
    out.extend(summary.rows.iter().map(task_log::render_row));
    for (heading, remarks) in [
        ("Not Started", &summary.not_started),
        ("Waiting for an Answer", &summary.asking),
        ("Refused Actions", &summary.refused),
    ] {
        if !remarks.is_empty() {
            out.push_str(&format!("\n## {heading}\n"));
        }
        out.extend(remarks.iter().map(remark));
    }
    out
}

fn remark(task: &TaskRemark) -> String {
    let subject = entry_subject(&task.subject);
    let words = or(one_line(&task.words), "no reason was given");
    format!("- [{}] {subject} {DASH} {words}\n", task.id)
}

/// The rows of a summary.
pub fn parse_rows(text: &str) -> Vec<LogRow> {
    task_log::parse(text).rows
}

#[cfg(test)]
mod tests {
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
        let remark = |id: u64, words: &str| TaskRemark {
            id: id.into(),
            subject: "Deploy\n— now".into(),
            words: words.into(),
        };
        let summary = SessionSummary {
            session: "user-auth-20260205-143022".parse().unwrap(),
            list: "web".parse().unwrap(),
            started: "2026-02-05T14:30:22.4Z".parse().unwrap(),
            ended: "2026-02-05T14:52:10.4Z".parse().unwrap(),
            rows: vec![row(1, Outcome::Pass), row(2, Outcome::Fail)],
            not_started: vec![remark(7, "waits for 2, which failed")],
            asking: vec![remark(8, "TOML\nor JSON?")],
            refused: vec![remark(1, "Bash git push")],
            cost_usd: Some(0.4249),
        };
        let text = render(&summary);
        for part in [
            "Started: 2026-02-05T14:30:22Z\nEnded: 2026-02-05T14:52:10Z\nDuration: 21m 48s\n",
            "Failed: 1\nNot started: 1\nWaiting for an answer: 1\nCost: $0.42\n",
            "| 2 | Parse a\\|b | FAIL | 1/3 | 2m 34s | N/A |\n",
            "\n## Not Started\n- [7] Deploy – now — waits for 2, which failed\n",
            "\n## Waiting for an Answer\n- [8] Deploy – now — TOML or JSON?\n",
            "\n## Refused Actions\n- [1] Deploy – now — Bash git push\n",
        ] {
            assert!(text.contains(part), "{part} is missing from\n{text}");
        }
        assert_eq!(parse_rows(&text), summary.rows);
    }
}
