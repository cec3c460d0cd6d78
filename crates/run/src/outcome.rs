//! How an attempt ended.
//!
//! Owns who is believed, in this order: the agent's report file, what it said through `flagpost
//! done|fail|stuck`, its exit code. Pure: the driver gathers the evidence.

use flagpost_model::{
    session::{Outcome, TaskReport},
    task::Ending,
};

/// How the agent's process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By a signal that was not ours.
    Signal(i32),
    /// Stopped by us: its time was up.
    TimedOut,
    /// Stopped by us: the operator wanted to end.
    Stopped,
    /// Stopped by us: somebody took its claim away.
    ClaimLost,
}

/// What is made of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// How it ended.
    pub outcome: Outcome,
    /// Whether another attempt may help.
    pub retryable: bool,
    /// What there is to say: a summary, or why it failed.
    pub words: String,
}

/// Judges an attempt. `said` is how the task stands by the agent's own word, with its text;
/// `tail` is the end of its output.
pub fn judge(
    report: Option<&TaskReport>,
    said: Option<(Ending, &str)>,
    exit: Exit,
    tail: &str,
) -> Judged {
    if exit == Exit::ClaimLost {
        let words = "its claim was taken away while it ran".to_owned();
        return Judged {
            outcome: Outcome::Fail,
            retryable: false,
            words,
        };
    }
    if let Some((report, outcome)) = report.and_then(|report| Some((report, report.outcome?))) {
        // An agent that says it is stuck asks for a person, whatever else it wrote.
        let stuck = matches!(said, Some((Ending::Stuck, _)));
        let words = match outcome {
            Outcome::Pass => report.summary.clone(),
            Outcome::Partial | Outcome::Fail => joined(&report.issues, &report.summary),
        };
        return Judged {
            outcome,
            retryable: !stuck,
            words: with_rest(words, report.left_out),
        };
    }
    let unclear = report.and_then(|report| report.unclear.as_deref());
    match said {
        Some((Ending::Completed, text)) => passed(text),
        Some((Ending::Failed, text)) => failed(true, text, "it said that it failed"),
        Some((Ending::Stuck, text)) => failed(false, text, "it said that it is stuck"),
        None => match exit {
            // It meant to say something: an exit code that says "done" must not speak over it.
            Exit::Code(0) => match unclear {
                Some(why) => failed(true, why, ""),
                None => passed(report.map_or("", |report| report.summary.as_str())),
            },
            Exit::Code(code) => failed(
                true,
                &with_tail(&format!("it exited with code {code}"), tail),
                "",
            ),
            Exit::Signal(signal) => failed(
                true,
                &with_tail(&format!("signal {signal} ended it"), tail),
                "",
            ),
            Exit::TimedOut => failed(true, &with_tail("it did not end in time", tail), ""),
            Exit::Stopped => failed(true, "it was stopped by the operator", ""),
            Exit::ClaimLost => failed(false, "its claim was taken away while it ran", ""),
        },
    }
}

fn passed(words: &str) -> Judged {
    Judged {
        outcome: Outcome::Pass,
        retryable: true,
        words: words.to_owned(),
    }
}

fn failed(retryable: bool, words: &str, otherwise: &str) -> Judged {
    let words = if words.trim().is_empty() {
        otherwise
    } else {
        words
    };
    Judged {
        outcome: Outcome::Fail,
        retryable,
        words: words.to_owned(),
    }
}

fn joined(issues: &str, summary: &str) -> String {
    match (issues.trim(), summary.trim()) {
        ("", "") => "its report gives no reason".to_owned(),
        ("", text) | (text, "") => text.to_owned(),
        (issues, summary) => format!("{issues}\n\n{summary}"),
    }
}

/// Says that a report goes on, where it does.
fn with_rest(words: String, left_out: u64) -> String {
    match left_out {
        0 => words,
        _ => format!("{words}\n\n(the last {left_out} bytes of its report were not read)"),
    }
}

fn with_tail(what: &str, tail: &str) -> String {
    match tail.trim() {
        "" => what.to_owned(),
        tail => format!("{what}\n\nThe end of its output:\n{tail}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(outcome: Option<Outcome>) -> TaskReport {
        TaskReport {
            outcome,
            summary: "did it".into(),
            issues: "one test fails".into(),
            ..TaskReport::default()
        }
    }

    #[test]
    fn the_report_is_believed_before_the_word_and_the_word_before_the_exit_code() {
        use Outcome::{Fail, Partial, Pass};
        let completed = Some((Ending::Completed, "done"));
        let failed = Some((Ending::Failed, "no"));
        for (report, said, exit, expected) in [
            (Some(report(Some(Pass))), failed, Exit::Code(1), Pass),
            (Some(report(Some(Fail))), completed, Exit::Code(0), Fail),
            (Some(report(Some(Partial))), None, Exit::Code(0), Partial),
            (Some(report(Some(Pass))), None, Exit::TimedOut, Pass),
            (Some(report(None)), completed, Exit::Code(7), Pass),
            (Some(report(None)), None, Exit::Code(0), Pass),
            (None, completed, Exit::Signal(9), Pass),
            (None, failed, Exit::Code(0), Fail),
            (None, None, Exit::Code(0), Pass),
            (None, None, Exit::Code(2), Fail),
            (None, None, Exit::Signal(9), Fail),
            (None, None, Exit::TimedOut, Fail),
            (None, None, Exit::Stopped, Fail),
            (Some(report(Some(Pass))), completed, Exit::ClaimLost, Fail),
        ] {
            let judged = judge(report.as_ref(), said, exit, "");
            assert_eq!(judged.outcome, expected, "{report:?} {said:?} {exit:?}");
        }
    }

    #[test]
    fn a_verdict_that_nobody_understands_is_not_taken_for_success() {
        let unclear = TaskReport {
            unclear: Some("`result-task-1.md` says \"status: FAILED\"".into()),
            ..report(None)
        };
        let judged = judge(Some(&unclear), None, Exit::Code(0), "");
        assert_eq!((judged.outcome, judged.retryable), (Outcome::Fail, true));
        assert!(judged.words.contains("status: FAILED"), "{}", judged.words);
        let said = Some((Ending::Completed, "done"));
        let judged = judge(Some(&unclear), said, Exit::Code(0), "");
        assert_eq!(judged.outcome, Outcome::Pass);
    }

    #[test]
    fn whoever_asks_for_help_is_not_asked_again() {
        let stuck = Some((Ending::Stuck, "which API?"));
        let judged = judge(None, stuck, Exit::Code(0), "");
        assert_eq!(
            (judged.retryable, judged.words.as_str()),
            (false, "which API?")
        );
        assert!(!judge(Some(&report(Some(Outcome::Fail))), stuck, Exit::Code(0), "").retryable);
    }

    #[test]
    fn a_failure_carries_its_reason() {
        let judged = judge(None, None, Exit::Code(3), "boom\n");
        assert_eq!(
            judged.words,
            "it exited with code 3\n\nThe end of its output:\nboom"
        );
        let judged = judge(Some(&report(Some(Outcome::Fail))), None, Exit::Code(0), "");
        assert_eq!(judged.words, "one test fails\n\ndid it");
        let long = TaskReport {
            left_out: 9,
            ..report(Some(Outcome::Pass))
        };
        let judged = judge(Some(&long), None, Exit::Code(0), "");
        let words = "did it\n\n(the last 9 bytes of its report were not read)";
        assert_eq!(
            (judged.outcome, judged.words.as_str()),
            (Outcome::Pass, words)
        );
    }
}
