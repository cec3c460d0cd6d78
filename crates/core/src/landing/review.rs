//! What a person says of work before it lands: approved, or returned with words.
//!
//! Owns that an approval is of one commit, and that the history's line of it counts: a task's file, which any program
//! may write, only repeats it. Who may say so is for the face to ask: a person, and never an agent.

use std::{
    collections::BTreeSet,
    fmt::{self, Display, Formatter},
    ops::ControlFlow,
    str::FromStr,
};

use flagpost_model::{
    TaskId, WorkerId,
    task::{Approval, Landing, Task, TaskEvent, transition},
};
use serde_json::Value;

use super::{BranchState, LandingQueue, LandingRefusal, QueuedBranch, Target, TaskChange};
use crate::{
    config::{Config, keys::LAND_REVIEW},
    error::{Error, Result},
    git::Git,
    history::{History, Kind},
    home::Home,
    list::List,
    repository::Repository,
};

/// Whether work lands that no person approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewRule {
    /// It does.
    Optional,
    /// It does not.
    Required,
}

impl ReviewRule {
    /// As the setting of a repository has it.
    pub fn of(home: &Home, repository: &Repository) -> Result<Self> {
        let config = Config::of(home, &repository.name)?;
        Ok(match config.need(&LAND_REVIEW)? {
            true => Self::Required,
            false => Self::Optional,
        })
    }
}

/// A remark on a line of a file, as a person types it: `src/parser.rs:12 Name the constant`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineRemark {
    /// The file, from the top.
    pub path: String,
    /// The line's number after the change, from 1 on.
    pub line: usize,
    /// What is said of it.
    pub words: String,
}

/// A text that is no remark on a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is no remark on a line: write 'PATH:LINE WORDS', as in 'src/parser.rs:12 Name the constant'"
)]
pub struct InvalidRemark(String);

impl FromStr for LineRemark {
    type Err = InvalidRemark;

    fn from_str(text: &str) -> Result<Self, InvalidRemark> {
        let text = text.trim();
        // A path may have colons and spaces: the first number after a colon ends it.
        let colons = text.match_indices(':').map(|(at, _)| at);
        let mut found = colons.filter_map(|at| {
            let rest = &text[at + 1..];
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (line, words) = rest.split_at(digits);
            let line: usize = line.parse().ok().filter(|it| *it > 0)?;
            let words = words.strip_prefix(':').unwrap_or(words);
            let is_apart = words.starts_with(char::is_whitespace);
            (at > 0 && is_apart && !words.trim().is_empty()).then(|| Self {
                path: text[..at].to_owned(),
                line,
                words: words.trim().to_owned(),
            })
        });
        found.next().ok_or_else(|| InvalidRemark(text.to_owned()))
    }
}

impl Display for LineRemark {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.place(), self.words)
    }
}

/// Why work is returned.
#[derive(Debug, Clone, Default)]
pub struct ReviewWords {
    /// What is said of all of it, Markdown.
    pub general: String,
    /// What is said of its lines.
    pub lines: Vec<LineRemark>,
    /// The commit that was looked at, or how it begins; none is whatever is there.
    pub seen: Option<String>,
}

/// Approves the work of these tasks, all or none; `seen` is the commit that the person looked at, where there is one
/// task.
pub fn approve(
    list: &List<'_>,
    actor: &WorkerId,
    queue: &LandingQueue,
    (ids, seen): (&[TaskId], Option<&str>),
) -> Result<Vec<Task>> {
    list.home.transact(|| {
        let mut change = list.change(actor)?;
        let act = change.act();
        for id in ids {
            let task = change.task(id)?;
            let Some(branch) = queue.branch_of(id) else {
                // The rules have the better words for what is not done or has landed.
                transition(task, &act, TaskEvent::Approve(String::new()))?;
                return Err(LandingRefusal::nothing_of(task, &queue.target.branch).into());
            };
            branch.must_be_as_seen(seen)?;
            if branch.approval.is_some() {
                // It is approved so already: nothing that 'undo' would take back alone.
                continue;
            }
            *task = transition(task, &act, TaskEvent::Approve(branch.tip.clone()))?;
            let entry = change.note(Kind::TaskApproved, id);
            for (key, value) in [
                ("branch", branch.branch.as_str()),
                ("commit", &branch.tip),
                ("onto", &queue.target.branch),
            ] {
                entry.detail.insert(key.to_owned(), value.into());
            }
        }
        let mut written = change.commit()?;
        ids.iter()
            .map(|id| match written.remove(id) {
                Some(task) => Ok(task),
                // It was approved so before.
                None => Ok(list.task(id)?.task),
            })
            .collect()
    })
}

/// Returns the work of a task: it is pending again, and whoever does it reads the words.
pub fn return_work(
    list: &List<'_>,
    actor: &WorkerId,
    (repository, onto): (&Repository, Option<&str>),
    id: &TaskId,
    words: &ReviewWords,
) -> Result<Task> {
    let target = Target::of(repository, onto)?;
    let seen = match TaskChange::of(repository, list, &list.task(id)?.task, onto) {
        // Whoever looked at the change saw these lines.
        Ok(change) => {
            if let Some(branch) = &change.queued {
                branch.must_be_as_seen(words.seen.as_deref())?;
            }
            change.after.unwrap_or_else(|| target.tip.clone())
        }
        Err(Error::Landing(LandingRefusal::NoChange { .. })) => target.tip.clone(),
        Err(error) => return Err(error),
    };
    let why = words.told(repository, id, &seen)?;
    list.home.transact(|| {
        let mut change = list.change(actor)?;
        let act = change.act();
        let event = TaskEvent::Return {
            why: why.clone(),
            onto: target.branch.clone(),
        };
        let task = change.task(id)?;
        *task = transition(task, &act, event)?;
        let entry = change.note(Kind::TaskReturned, id);
        for (key, value) in [("onto", &target.branch), ("why", &why)] {
            entry.detail.insert(key.to_owned(), value.as_str().into());
        }
        crate::tasks::finish(change, id)
    })
}

impl ReviewWords {
    /// All of it as one text: a line of code stands below its place, so that it is found also where it moved.
    fn told(&self, repository: &Repository, task: &TaskId, commit: &str) -> Result<String> {
        let general = self.general.trim();
        if general.is_empty() && self.lines.is_empty() {
            return Err(Error::Invalid {
                what: "review".to_owned(),
                reason: "say what is to be different".to_owned(),
            });
        }
        let mut parts = Vec::new();
        parts.extend((!general.is_empty()).then(|| general.to_owned()));
        for it in &self.lines {
            let code = it.code(repository, task, commit)?;
            parts.push(format!("{}\n> {}\n{}", it.place(), code.trim(), it.words));
        }
        Ok(parts.join("\n\n"))
    }
}

impl LineRemark {
    /// Where it is, as in `src/parser.rs:12`.
    fn place(&self) -> String {
        format!("{}:{}", self.path, self.line)
    }

    /// The line, as the commit has it.
    fn code(&self, repository: &Repository, task: &TaskId, commit: &str) -> Result<String> {
        let refused = |why: String| LandingRefusal::NoLine {
            task: task.clone(),
            place: self.place(),
            why,
        };
        let mut look = Git::at(&repository.top).args(&["cat-file", "blob"]);
        look = look.arg(format!("{commit}:{}", self.path));
        let answer = look.ask()?;
        if answer.code() != Some(0) {
            return Err(refused("there is no such file".to_owned()).into());
        }
        let text = String::from_utf8_lossy(&answer.out);
        match text.lines().nth(self.line - 1) {
            Some(code) => Ok(code.to_owned()),
            None => {
                Err(refused(format!("the file ends with line {}", text.lines().count())).into())
            }
        }
    }
}

impl LandingQueue {
    /// The branch of a task, where it waits here.
    pub fn branch_of(&self, task: &TaskId) -> Option<&QueuedBranch> {
        self.branches.iter().find(|it| it.task == *task)
    }

    /// The branches that wait for a person's approval.
    pub fn to_review(&self) -> impl Iterator<Item = &QueuedBranch> {
        let waits = |it: &&QueuedBranch| it.state == BranchState::Unapproved;
        self.branches.iter().filter(waits)
    }
}

impl LandingRefusal {
    /// Why a task has nothing to land on this branch.
    pub fn nothing_of(task: &Task, onto: &str) -> Self {
        let why = match &task.landing {
            Some(Landing::NoCommit(_)) => "it passed without a commit".to_owned(),
            Some(Landing::Landed(landed)) => {
                format!("it landed on {} with {:.12}", landed.onto, landed.commit)
            }
            Some(Landing::Refused(_) | Landing::Approved(_)) | None => {
                format!("no branch of it holds commits that {onto} lacks, or it has not passed")
            }
        };
        Self::NothingToLand {
            task: task.id.clone(),
            why,
        }
    }
}

impl QueuedBranch {
    fn must_be_as_seen(&self, seen: Option<&str>) -> Result<()> {
        match seen {
            Some(seen) if !self.tip.starts_with(seen) => Err(LandingRefusal::NotAsSeen {
                task: self.task.clone(),
                seen: seen.to_owned(),
                tip: self.tip.clone(),
            }
            .into()),
            Some(_) | None => Ok(()),
        }
    }
}

/// Those of these approvals that a person made and that still count, as the history has it: who returned or opened the
/// work since took them back, whatever a task's file says.
pub(super) fn on_record(
    list: &List<'_>,
    repository: &Repository,
    claimed: &[(TaskId, Approval)],
) -> Result<BTreeSet<TaskId>> {
    let (mut found, mut open) = (BTreeSet::new(), claimed.to_vec());
    if open.is_empty() {
        return Ok(found);
    }
    let mut undone = BTreeSet::new();
    History::of(list.home, &repository.id).backward(u64::MAX, &mut |line| {
        let entry = &line.entry;
        let number = |key: &str| entry.detail.get(key).and_then(Value::as_u64);
        let is_undone = [Some(line.n), number("op")];
        let is_undone = is_undone.iter().flatten().any(|it| undone.contains(it));
        let commit = match entry.kind {
            _ if !list.concerns(entry) || is_undone => return ControlFlow::Continue(()),
            _ if number("undoes").is_some() => {
                undone.extend(number("undoes"));
                return ControlFlow::Continue(());
            }
            Kind::TaskApproved => entry.detail.get("commit").and_then(Value::as_str),
            Kind::TaskReturned | Kind::TaskRefused | Kind::TaskReopened | Kind::TaskCancelled => {
                None
            }
            _ => return ControlFlow::Continue(()),
        };
        open.retain(|(task, approval)| {
            let is_about = entry.task.as_ref() == Some(task);
            if is_about && commit == Some(&approval.commit) {
                found.insert(task.clone());
            }
            !is_about
        });
        match open.is_empty() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    Ok(found)
}

/// What is to land of a list on the target of this name, as a person sees it.
pub fn reviewed(
    list: &List<'_>,
    repository: &Repository,
    onto: Option<&str>,
) -> Result<LandingQueue> {
    let sessions = crate::sessions::Sessions::of(list.home, repository);
    let target = Target::of(repository, onto)?;
    let rule = ReviewRule::of(list.home, repository)?;
    super::queue(&sessions, repository, list, (target, rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_on_a_line_is_a_path_a_number_and_words() {
        let rows = [
            ("src/a.rs:12 Name it", Some(("src/a.rs", 12, "Name it"))),
            ("a.md:3: Say: why", Some(("a.md", 3, "Say: why"))),
            ("a b:c.txt:7 x", Some(("a b:c.txt", 7, "x"))),
            ("a:1b:2 x", Some(("a:1b", 2, "x"))),
            ("a.rs:0 x", None),
            ("a.rs:12", None),
            ("a.rs:12   ", None),
            (":12 x", None),
            ("a.rs 12 x", None),
            ("", None),
        ];
        for (text, expected) in rows {
            let remark: Option<LineRemark> = text.parse().ok();
            let parts = remark.as_ref().map(|it| (&*it.path, it.line, &*it.words));
            assert_eq!(parts, expected, "{text}");
        }
    }
}
