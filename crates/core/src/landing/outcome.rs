//! The outcome of a landing, as the task and the history keep it.
//!
//! Owns that an outcome and its line are one change. Git knows first: a landing that dies between the
//! move of the target and this record is recalled from git's tags by the next one.

use std::{collections::BTreeSet, ops::ControlFlow};

use flagpost_model::{
    TaskId, WorkerId,
    task::{Landed, Landing, LandingVerdict, Task, TaskEvent, transition},
};
use jiff::SignedDuration;
use serde_json::Value;

use super::{BranchState, QueuedBranch, Target, queue::BranchOwners, refs::BranchRefs};
use crate::{
    error::{Error, Result},
    git::{self, Branch, without_hooks},
    history::{Entry, History, Kind},
    home::Home,
    list::List,
    relay::Fleet,
    repository::Repository,
    reservations::ReservationSelector,
    sessions::Sessions,
};

/// How long the tag of landed work is kept.
const KEPT_FOR: SignedDuration = SignedDuration::from_hours(30 * 24);

/// A task whose work is on the target.
#[derive(Debug, Clone)]
pub struct LandedTask {
    /// Which.
    pub task: TaskId,
    /// Its branch.
    pub branch: Branch,
    /// What the task keeps of it.
    pub landed: Landed,
}

/// Records that the work of these tasks is on the target, and gives back what their workers had reserved
/// for them; says of which tasks. One that somebody opened again or removed meanwhile is left as it is: its
/// work has landed all the same.
pub fn record_landed(
    list: &List<'_>,
    actor: &WorkerId,
    landed: &[LandedTask],
) -> Result<Vec<TaskId>> {
    list.home.transact(|| {
        let mut change = list.change(actor)?;
        let act = change.act();
        let (mut recorded, mut owners) = (Vec::new(), Vec::new());
        for it in landed {
            let task = match change.task(&it.task) {
                Ok(task) => task,
                Err(Error::NotFound { .. }) => continue,
                Err(error) => return Err(error),
            };
            let Ok(after) = transition(task, &act, TaskEvent::Land(it.landed.clone())) else {
                continue;
            };
            *task = after;
            recorded.push(it.task.clone());
            owners.extend(task.owner.clone().map(|owner| (owner, it.task.clone())));
            let entry = change.note(Kind::TaskLanded, &it.task);
            for (key, value) in [
                ("branch", it.branch.as_str()),
                ("commit", &it.landed.commit),
                ("onto", &it.landed.onto),
            ] {
                entry.detail.insert(key.to_owned(), value.into());
            }
        }
        change.commit()?;
        let fleet = Fleet::of(list.home, &list.repository()?);
        for (owner, task) in owners {
            if let Ok(worker) = owner.parse::<WorkerId>() {
                let which = ReservationSelector::Task(task.to_string());
                fleet.reservations().release(&worker, &which)?;
            }
        }
        Ok(recorded)
    })
}

/// Records that a task passed and brought no commit, so that nothing of it lands.
pub fn record_no_commit(list: &List<'_>, actor: &WorkerId, id: &TaskId) -> Result<()> {
    list.home.transact(|| {
        let mut change = list.change(actor)?;
        let act = change.act();
        let task = change.task(id)?;
        *task = transition(task, &act, TaskEvent::NoCommit)?;
        change.note(Kind::TaskNoCommit, id);
        change.commit().map(drop)
    })
}

/// Records that the target moves from one commit to another: by a landing, before it does, or by somebody else. What
/// no line of a landing names, none brought: a name in git can be anybody's.
pub fn record_move(
    kind: Kind,
    (home, repository, actor): (&Home, &Repository, &WorkerId),
    (onto, from, to): (&str, &str, &str),
) -> Result<()> {
    let entry = Entry::new(kind)
        .detail("onto", onto)
        .detail("from", from)
        .detail("to", to);
    let history = History::of(home, &repository.id);
    history.record(actor, home.now(), vec![entry])
}

/// Whether a landing set out to move this target to a commit.
pub(super) fn is_of_a_landing(
    home: &Home,
    repository: &Repository,
    move_to: (&str, &str),
) -> Result<bool> {
    is_on_record(home, repository, &[Kind::TargetMoving], move_to)
}

/// Whether a line of these kinds names the move of a target to a commit.
pub(super) fn is_on_record(
    home: &Home,
    repository: &Repository,
    kinds: &[Kind],
    (onto, commit): (&str, &str),
) -> Result<bool> {
    let mut is_named = false;
    History::of(home, &repository.id).backward(u64::MAX, &mut |line| {
        let says = |key: &str, value: &str| {
            let told = line.entry.detail.get(key);
            told.and_then(Value::as_str) == Some(value)
        };
        is_named |= kinds.contains(&line.entry.kind) && says("onto", onto) && says("to", commit);
        match is_named {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    Ok(is_named)
}

/// Sends a task's work back: it is done again, or asks a person where that was tried often enough.
pub fn refuse(
    list: &List<'_>,
    actor: &WorkerId,
    id: &TaskId,
    verdict: LandingVerdict,
) -> Result<Task> {
    list.home.transact(|| {
        let mut change = list.change(actor)?;
        let act = change.act();
        let task = change.task(id)?;
        let onto = verdict.onto.clone();
        *task = transition(task, &act, TaskEvent::Refuse(verdict.clone()))?;
        let entry = change.note(Kind::TaskRefused, id);
        entry.detail.insert("onto".to_owned(), onto.into());
        crate::tasks::finish(change, id)
    })
}

/// Records what git says has landed and no task says: a landing died before its record, or a person took
/// what waited. Tags older than thirty days go; their work is on the target for good.
pub fn recall(
    sessions: &Sessions<'_>,
    repository: &Repository,
    list: &List<'_>,
    (actor, target): (&WorkerId, &Target),
) -> Result<Vec<(QueuedBranch, Landed)>> {
    let top = &repository.top;
    let refs = BranchRefs::of(top, target)?;
    if refs.tags.is_empty() {
        return Ok(Vec::new());
    }
    let outlines = list.load()?.outlines;
    let owners = BranchOwners::of(sessions, repository, list, &outlines)?;
    let ends = list.home.now().as_second() - KEPT_FOR.as_secs();
    let (mut missed, mut old) = (Vec::new(), Vec::new());
    for (name, tag) in refs.tags.iter().filter(|(_, it)| it.onto == target.branch) {
        let Some(owner) = owners.find(name) else {
            continue;
        };
        let Ok(file) = list.task(&owner.task.id) else {
            continue;
        };
        let task = file.task;
        let known = task.landing.as_ref().and_then(Landing::landed);
        // Work that was done again and landed anew is told by a later tag.
        if known.is_some_and(|it| it.tip == tag.tip || it.at.as_second() >= tag.at) {
            old.extend((tag.at < ends).then_some(name));
            continue;
        }
        let is_over = task
            .not_landed()
            .is_some_and(|it| it.at.as_second() > tag.at);
        if is_over || !git::is_ancestor(top, &tag.commit, &target.tip)? {
            continue;
        }
        let branch = QueuedBranch {
            task: task.id,
            subject: task.subject,
            branch: tag.branch.clone(),
            session: owner.session,
            tip: tag.tip.clone(),
            approval: None,
            builds_on: BTreeSet::new(),
            state: BranchState::Staged,
        };
        missed.push((branch, tag.outcome()));
    }
    if !missed.is_empty() {
        let landed = missed.iter().map(|(it, landed)| LandedTask {
            task: it.task.clone(),
            branch: it.branch.clone(),
            landed: landed.clone(),
        });
        let recorded = record_landed(list, actor, &landed.collect::<Vec<_>>())?;
        missed.retain(|(it, _)| recorded.contains(&it.task));
    }
    if !old.is_empty() {
        let deletes = old.iter().map(|name| format!("delete {name}\n"));
        without_hooks(top)
            .args(&["update-ref", "--stdin"])
            .input(deletes.collect::<String>())
            .run_patiently()?;
    }
    Ok(missed)
}
