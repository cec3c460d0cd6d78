//! How far landing is, as text: of a list, of a session's work, in a line, and of one branch in a few words.

use flagpost_core::{
    answers::LandingAnswer,
    landing::{BranchState, LandingView, QueuedBranch, SessionLanding},
    status::ToLand,
};
use flagpost_model::{TaskId, task::NO_COMMIT};

use super::ids;
use crate::{
    context::Context,
    output::Answer,
    progress::short,
    screen::Screen,
    terminal::{line, title},
};

/// So many of the last lines of a failed check are shown.
const WORDS: usize = 5;

/// How far landing is, and what landed last.
pub fn status(context: &Context, view: &LandingView) -> Answer {
    let screen = Screen::of(context);
    let mut text = String::new();
    if let Some(doing) = &view.activity {
        let (step, tasks) = (doing.step, ids(&doing.tasks));
        text += &format!("{step} {tasks} since {}\n", screen.time(doing.since));
    }
    if let Some(failed) = &view.failure {
        let (why, at) = (line(&failed.why), screen.time(failed.at));
        text += &format!("the last landing ended early, {at}: {why}\n");
    }
    text += &match view.queue.branches.is_empty() {
        true => format!(
            "nothing is to land on {}\n",
            line(&view.queue.target.branch)
        ),
        false => rows(screen, view.branches()),
    };
    for (branch, _) in view.branches() {
        if let BranchState::Refused(refused) = &branch.state {
            let mut words = refused.why.lines().filter(|it| !it.trim().is_empty());
            let first = words.next().unwrap_or_default();
            text += &format!("{}: {}\n", branch.task, line(first));
            let last: Vec<&str> = words.collect();
            for words in &last[last.len().saturating_sub(WORDS)..] {
                text += &format!("    {}\n", line(words));
            }
        }
    }
    if view.queue.staged.is_some() {
        text += "a tested commit waits: 'flagpost land' takes it, once your working tree and the remote let it\n";
    }
    for it in &view.landed {
        let detail = |key: &str| it.entry.detail.get(key).and_then(|it| it.as_str());
        let task = it
            .entry
            .task
            .as_ref()
            .map(TaskId::as_str)
            .unwrap_or_default();
        text += &format!(
            "landed {task} on {} ({}) {}\n",
            line(detail("onto").unwrap_or_default()),
            short(detail("commit").unwrap_or_default()),
            screen.time(it.at)
        );
    }
    for (task, at) in &view.no_commit {
        text += &format!("{task} {NO_COMMIT}, {}\n", screen.time(*at));
    }
    Answer::of(&LandingAnswer::from(view))
        .text(text)
        .ids(view.branches().map(|(it, _)| &it.task))
}

/// The same of the work of one session.
pub fn of_session(screen: Screen, landing: &SessionLanding) -> String {
    let mut text = String::new();
    if landing.branches().next().is_some() {
        text += &format!("\n{}", rows(screen, landing.branches()));
    }
    for (task, landed) in &landing.landed {
        let (onto, commit) = (line(&landed.onto), short(&landed.commit));
        text += &format!(
            "  landed {task} on {onto} ({commit}) {}\n",
            screen.time(landed.at)
        );
    }
    for (task, at) in &landing.no_commit {
        text += &format!("  {task} {NO_COMMIT}, {}\n", screen.time(*at));
    }
    text
}

/// What is to land, and what did not, in a line.
pub fn in_a_line(found: &ToLand) -> String {
    let parts = [
        (found.ready, "to land"),
        (found.to_review, "to review"),
        (found.changed, "changed since they passed"),
        (found.waits, "behind others"),
        (found.refused, "refused"),
    ];
    let parts = parts.iter().filter(|(n, _)| *n > 0);
    let mut parts: Vec<String> = parts.map(|(n, what)| format!("{n} {what}")).collect();
    if found.staged {
        parts.push("a tested commit waits for your working tree".to_owned());
    }
    format!("{}: {}; flagpost land", line(&found.onto), parts.join(", "))
}

/// The branches, a row each.
pub fn rows<'q>(screen: Screen, branches: impl Iterator<Item = (&'q QueuedBranch, u64)>) -> String {
    let rows = branches.map(|(it, ahead)| {
        vec![
            it.task.to_string(),
            state_of(it),
            ahead.to_string(),
            title(&it.subject),
            it.branch.to_string(),
        ]
    });
    screen.fitted(
        &["ID", "LANDING", "AHEAD", "SUBJECT", "BRANCH"],
        rows.collect(),
        &[4],
    )
}

/// Where a branch stands, in a few words.
pub fn state_of(branch: &QueuedBranch) -> String {
    match (&branch.state, &branch.approval) {
        (BranchState::Queued, Some(approval)) => format!("approved by {}", approval.by),
        (BranchState::Queued, None) => "queued".to_owned(),
        (BranchState::Changed { .. }, _) => "changed since it passed".to_owned(),
        (BranchState::Unapproved, _) => "to review".to_owned(),
        (BranchState::Waits { on }, _) => format!("waits for {}", ids(on)),
        (BranchState::Refused(refused), _) => match &refused.by {
            Some(by) => format!("returned by {by}"),
            None => format!("refused {}×", refused.times.max(1)),
        },
        (BranchState::Staged, _) => "passed".to_owned(),
    }
}
