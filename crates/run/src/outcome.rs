//! How an attempt ended.
//!
//! Owns who is believed. The first acknowledged word stands (ADR 10): what the agent said through
//! `flagpost done|fail|stuck` was acknowledged when it was said; its report file is read when its process
//! has ended. Where neither says anything, a plain command line's exit code counts, and a client's never
//! does: it ends quietly whatever became of the task. Pure: the driver gathers the evidence.

use std::{collections::BTreeSet, os::unix::process::ExitStatusExt, process::ExitStatus};

use flagpost_core::shell::quoted;
use flagpost_model::{
    permission::{SHELL, rule::RuleInput},
    session::{Denied, Outcome, TaskReport},
    task::Ending,
};

use crate::client::{Limit, backtrace};

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
    /// Stopped by us: a person goes on with its conversation.
    HandedOver,
}

/// How a process ended that nobody stopped.
pub fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Code(-1),
    }
}

/// What is made of an attempt.
#[derive(Debug, Clone, PartialEq)]
pub enum Assessment {
    /// It has a verdict.
    Judged(Judged),
    /// It asks a person.
    Asks(String),
    /// Its client ended without saying how; in these last words.
    Unreported(String),
    /// Its account is at a limit.
    Limited(Limit),
}

/// A verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// How it ended.
    pub outcome: Outcome,
    /// Whether another attempt may help.
    pub retryable: bool,
    /// What there is to say: a summary, or why it failed.
    pub words: String,
}

/// All that is known of an attempt that ended.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'e> {
    /// Its report file.
    pub report: Option<&'e TaskReport>,
    /// How the task stands by the agent's own word, with its text.
    pub said: Option<(Ending, &'e str)>,
    /// How its process ended.
    pub exit: Exit,
    /// The end of its output.
    pub tail: &'e str,
    /// What its client told; none of a plain command line.
    pub client: Option<ClientReport<'e>>,
}

/// What a client told of its attempt.
#[derive(Debug, Clone, Copy)]
pub struct ClientReport<'e> {
    /// How its account stands with its limits, where it said.
    pub limit: Option<&'e Limit>,
    /// With which error its turn ended, where it did with one.
    pub error: Option<&'e str>,
    /// Its agent's last words.
    pub last_words: &'e str,
    /// The actions that it refused.
    pub denied: &'e [Denied],
}

/// Judges an attempt.
pub fn judge(evidence: Evidence<'_>) -> Assessment {
    let Evidence {
        report, said, exit, ..
    } = evidence;
    if exit == Exit::ClaimLost {
        return failed(false, "its claim was taken away while it ran", "");
    }
    let later = report.and_then(|report| Some((report, report.outcome?)));
    if let Some((ending, text)) = said {
        return match ending {
            Ending::Completed => passed(&contradicted(text, Outcome::Pass, later)),
            Ending::Failed => failed(
                true,
                &contradicted(text, Outcome::Fail, later),
                "it said that it failed",
            ),
            Ending::Stuck => Assessment::Asks(match text.trim() {
                "" => "it said that it is stuck, and not why".to_owned(),
                text => text.to_owned(),
            }),
        };
    }
    if let Some((report, outcome)) = later {
        let words = match outcome {
            Outcome::Pass => report.summary.clone(),
            Outcome::Partial | Outcome::Fail => joined(&report.issues, &report.summary),
        };
        return Assessment::Judged(Judged {
            outcome,
            retryable: true,
            words: with_rest(words, report.left_out),
        });
    }
    // It meant to say something: an exit code that says "done" must not speak over it.
    let unclear = report.and_then(|report| report.unclear.as_deref());
    match evidence.client {
        None => by_exit(evidence, unclear),
        Some(client) => silent(evidence, client, unclear),
    }
}

/// Nothing was said by a plain command line: its exit code counts.
fn by_exit(evidence: Evidence<'_>, unclear: Option<&str>) -> Assessment {
    match (evidence.exit, unclear) {
        (Exit::Code(0), Some(why)) => failed(true, why, ""),
        (Exit::Code(0), None) => passed(evidence.report.map_or("", |report| &report.summary)),
        (exit, _) => failed(true, &with_tail(&of_exit(exit), evidence.tail), ""),
    }
}

/// Nothing was said by a client's agent: it never passes.
fn silent(evidence: Evidence<'_>, client: ClientReport<'_>, unclear: Option<&str>) -> Assessment {
    match (evidence.exit, client.limit) {
        (Exit::Stopped | Exit::TimedOut | Exit::HandedOver, _)
        | (_, None | Some(Limit::Open { .. } | Limit::Warning { .. })) => {}
        (Exit::Code(0), _) if client.error.is_none() => {}
        (_, Some(limit)) => return Assessment::Limited(limit.clone()),
    }
    match (evidence.exit, client.error) {
        // Its last words are those of a turn that was broken off.
        (Exit::HandedOver, _) => Assessment::Unreported(String::new()),
        (Exit::Code(0), None) => Assessment::Unreported(match unclear {
            Some(why) => why.to_owned(),
            None => client.last_words.to_owned(),
        }),
        (exit @ (Exit::TimedOut | Exit::Stopped | Exit::ClaimLost), _) => {
            failed(true, &with_tail(&of_exit(exit), client.last_words), "")
        }
        (exit, Some(error)) => failed(true, &format!("{}: {error}", of_exit(exit)), ""),
        (exit, None) => {
            let error = backtrace::error(evidence.tail).map(|error| format!(": {error}"));
            let what = of_exit(exit) + &error.unwrap_or_default();
            failed(true, &with_tail(&what, evidence.tail), "")
        }
    }
}

fn of_exit(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("it exited with code {code}"),
        Exit::Signal(signal) => format!("signal {signal} ended it"),
        Exit::TimedOut => "it did not end in time".to_owned(),
        Exit::Stopped => "it was stopped by the operator".to_owned(),
        Exit::ClaimLost => "its claim was taken away while it ran".to_owned(),
        Exit::HandedOver => "a person goes on with its conversation".to_owned(),
    }
}

/// The words of an unreported attempt, where nobody is left to ask.
pub fn unreported(last_words: &str, denied: &[Denied]) -> String {
    let mut words = match last_words.trim() {
        "" => "It ended without saying how, and said nothing else.".to_owned(),
        last => format!("It ended without saying how. Its last words: {last}"),
    };
    if !denied.is_empty() {
        words += &format!("\n\n{}", refused(denied));
    }
    words
}

/// The refused actions in words. A report that was refused is the preset's fault and not the agent's.
pub fn refused(denied: &[Denied]) -> String {
    let each = denied.iter().map(|it| format!("- {} {}", it.tool, it.what));
    let each: Vec<String> = each.collect();
    let is_report = |it: &Denied| {
        let verbs = [
            "flagpost done",
            "flagpost fail",
            "flagpost stuck",
            "report.md",
        ];
        verbs.iter().any(|verb| it.what.contains(verb))
    };
    let fault = match denied.iter().any(is_report) {
        true => " The report itself was refused: that is a fault of the preset, not of the agent.",
        false => "",
    };
    format!("Its client refused:{fault}\n{}", each.join("\n"))
}

/// What a person reads of refused actions beside their task: the same, and what allows those commands the next time
/// where its client asks Flagpost.
pub fn refusals(denied: &[Denied]) -> String {
    let is_command = |it: &&Denied| it.tool == SHELL && RuleInput::commands(&it.what).is_ok();
    let commands: BTreeSet<&str> = denied
        .iter()
        .filter(is_command)
        .map(|it| it.what.as_str())
        .collect();
    let words = refused(denied);
    match commands.is_empty() {
        true => words,
        false => {
            let allow: String = commands
                .into_iter()
                .map(|it| format!(" --allow {}", quoted(it)))
                .collect();
            format!("{words}\nThe next run allows it with: flagpost run{allow}")
        }
    }
}

fn passed(words: &str) -> Assessment {
    Assessment::Judged(Judged {
        outcome: Outcome::Pass,
        retryable: true,
        words: words.to_owned(),
    })
}

fn failed(retryable: bool, words: &str, otherwise: &str) -> Assessment {
    let words = if words.trim().is_empty() {
        otherwise
    } else {
        words
    };
    Assessment::Judged(Judged {
        outcome: Outcome::Fail,
        retryable,
        words: words.to_owned(),
    })
}

/// The acknowledged words, and what a later report says otherwise.
fn contradicted(text: &str, stands: Outcome, later: Option<(&TaskReport, Outcome)>) -> String {
    match later {
        Some((report, outcome)) if outcome != stands => {
            let report = joined(&report.issues, &report.summary);
            let report = format!("(its report, which came later, says {outcome}: {report})");
            match text.trim() {
                "" => report,
                text => format!("{text}\n\n{report}"),
            }
        }
        _ => text.to_owned(),
    }
}

/// The two parts of a report that say why, in one text.
pub fn joined(issues: &str, summary: &str) -> String {
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
mod tests;
