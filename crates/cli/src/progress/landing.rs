//! The events of a landing in words.
//!
//! Owns one line for each. Where a landing stands behind a run, they stand between the run's own.

use flagpost_run::events::{LandingAgain, RunEvent};

use super::format::{brief, one_line};
use crate::terminal::counted;

/// How many characters of a commit's name are shown.
pub const SHORT: usize = 10;

/// So much of a commit's name as people use.
pub fn short(commit: &str) -> &str {
    commit.get(..SHORT).unwrap_or(commit)
}

/// An event of a landing; none where it is none.
pub fn words(event: &RunEvent) -> Option<String> {
    Some(match event {
        RunEvent::LandStarted { onto, tasks, check } => {
            let check = match check {
                Some(check) => format!("checked by '{}'", one_line(check)),
                None => "nothing is checked: 'flagpost config set land.check CMD' sets a check"
                    .to_owned(),
            };
            let branches = counted(tasks.len(), "branch", "branches");
            format!("landing {branches} on {}; {check}", one_line(onto))
        }
        RunEvent::LandChecking { tasks, check } => {
            format!("  check {}: {}", checked(tasks), one_line(check))
        }
        RunEvent::LandChecked {
            tasks,
            passed,
            seconds,
        } => {
            let how = match (passed, tasks.len()) {
                (true, _) => "passed",
                (false, 0 | 1) => "failed",
                (false, _) => "failed; they are tried in halves",
            };
            format!("  check {}: {how} ({seconds} s)", checked(tasks))
        }
        RunEvent::LandLanded {
            task,
            subject,
            commit,
            onto,
            unreserved,
            ..
        } => {
            let stray = match unreserved.is_empty() {
                true => String::new(),
                false => format!(
                    "; it touched files that its worker did not hold: {}",
                    unreserved.join(", ")
                ),
            };
            let (subject, onto, commit) = (one_line(subject), one_line(onto), short(commit));
            format!(
                "  landed {task} {subject} on {onto} ({commit}){}",
                one_line(&stray)
            )
        }
        RunEvent::LandRefused {
            task,
            subject,
            why,
            next,
        } => {
            let next = match next {
                LandingAgain::Again => "it is done again",
                LandingAgain::Asks => "it asks you",
                LandingAgain::Left => "its branch stays as it is",
            };
            format!(
                "  refused {task} {}: {next}. {}",
                one_line(subject),
                brief(why)
            )
        }
        RunEvent::LandStaged { why, take, .. } => {
            format!(
                "  passed, and not taken: {}; take it with '{take}'",
                one_line(why)
            )
        }
        RunEvent::LandPushed {
            onto,
            remote,
            commit,
        } => format!(
            "  pushed {} to {} ({})",
            one_line(onto),
            one_line(remote),
            short(commit)
        ),
        RunEvent::LandRequested {
            task,
            subject,
            url,
            existed,
        } => {
            let did = match existed {
                true => "updated the pull request of",
                false => "opened a pull request for",
            };
            format!("  {did} {task} {}: {}", one_line(subject), one_line(url))
        }
        _ => return None,
    })
}

/// What a check is of: the tasks, or the target without any.
fn checked(tasks: &[flagpost_model::TaskId]) -> String {
    match tasks {
        [] => "without their work".to_owned(),
        tasks => ids(tasks),
    }
}

fn ids(tasks: &[flagpost_model::TaskId]) -> String {
    let ids: Vec<&str> = tasks.iter().map(flagpost_model::TaskId::as_str).collect();
    ids.join(", ")
}
