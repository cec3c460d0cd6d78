//! Operations on tasks.
//!
//! Owns adding, editing, linking, removing and moving tasks through their states. Invariant:
//! `blocks` and `blockedBy` are kept mirrored, and no change closes a circle.

use std::collections::BTreeSet;

use flagpost_model::{
    TaskId, WorkerId,
    plan::Graph,
    refusal::Refusal,
    task::{Act, Ending, Event, Outline, Priority, State, Task, TaskResult, transition},
};
use jiff::{Timestamp, civil::Date};

use crate::{
    change::Change,
    error::{Error, Result},
    history::Kind,
    list::List,
};

/// What a new task is made of, and what an edit may set: `None` leaves a field as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields {
    /// One line: what is to be done.
    pub subject: Option<String>,
    /// The rest, Markdown.
    pub description: Option<String>,
    /// The subject as an activity.
    pub active_form: Option<String>,
    /// How urgent it is; `Some(None)` takes the priority away.
    pub priority: Option<Option<Priority>>,
    /// How large it is.
    pub complexity: Option<String>,
    /// The feature it belongs to.
    pub group: Option<String>,
    /// The project it belongs to.
    pub project: Option<String>,
    /// Free labels, all of them.
    pub tags: Option<Vec<String>>,
    /// When it is due; `Some(None)` takes the date away.
    pub due: Option<Option<Date>>,
    /// The planner's name for it.
    pub uid: Option<String>,
}

impl Fields {
    /// Sets these fields. An empty text takes an optional field away.
    pub(crate) fn apply(&self, task: &mut Task) {
        fn set<T: Clone>(field: &mut T, value: &Option<T>) {
            if let Some(value) = value {
                field.clone_from(value);
            }
        }
        fn set_optional(field: &mut Option<String>, value: &Option<String>) {
            if let Some(value) = value {
                *field = (!value.is_empty()).then(|| value.clone());
            }
        }
        set(&mut task.subject, &self.subject);
        set(&mut task.description, &self.description);
        set(&mut task.active_form, &self.active_form);
        set(&mut task.priority, &self.priority);
        set(&mut task.tags, &self.tags);
        set_optional(&mut task.complexity, &self.complexity);
        set_optional(&mut task.group, &self.group);
        set_optional(&mut task.project, &self.project);
        set_optional(&mut task.uid, &self.uid);
        set(&mut task.due, &self.due);
    }
}

/// Adds a task that waits for those in `after`.
pub fn add(list: &List<'_>, actor: &WorkerId, fields: &Fields, after: &[TaskId]) -> Result<Task> {
    subject_is_told(fields.subject.as_deref())?;
    let mut change = list.change(actor)?;
    let id = change.new_ids(1)?.next().unwrap_or_else(|| TaskId::from(1));
    let mut task = Task::new(id.clone(), "");
    fields.apply(&mut task);
    change.create(task);
    for blocker in after {
        link_in(&mut change, &id, blocker)?;
    }
    if !after.is_empty() {
        // Others may have named the id before it was given out.
        let outlines = change.load()?.outlines;
        let graph = Graph::new(&outlines);
        if let Some(path) = after.iter().find_map(|it| graph.closes_cycle(&id, it)) {
            return Err(Refusal::Cycle { path }.into());
        }
    }
    change.note(Kind::TaskCreated, &id);
    finish(change, &id)
}

/// Sets fields. The owner's edit renews the lease.
pub fn edit(list: &List<'_>, actor: &WorkerId, id: &TaskId, fields: &Fields) -> Result<Task> {
    if fields.subject.is_some() {
        subject_is_told(fields.subject.as_deref())?;
    }
    let mut change = list.change(actor)?;
    let at = change.at();
    let task = change.task(id)?;
    let before = task.clone();
    fields.apply(task);
    if *task == before {
        return Ok(before);
    }
    renew_own(task, actor, at);
    change.note(Kind::TaskEdited, id);
    finish(change, id)
}

/// Makes `id` wait for all of `blockers`, or for none of them where one cannot be waited for. Doing
/// it again changes nothing.
pub fn link(list: &List<'_>, actor: &WorkerId, id: &TaskId, blockers: &[TaskId]) -> Result<Task> {
    let mut change = list.change(actor)?;
    let loaded = change.load()?;
    let graph = Graph::new(&loaded.outlines);
    for blocker in blockers {
        if let Some(path) = graph.closes_cycle(id, blocker) {
            return Err(Refusal::Cycle { path }.into());
        }
        if link_in(&mut change, id, blocker)? {
            let entry = change.note(Kind::TaskLinked, id);
            let blocker = blocker.as_str();
            entry.detail.insert("blocked_by".to_owned(), blocker.into());
        }
    }
    finish(change, id)
}

/// Makes both files say what one of them says already: who waits for whom. Links that neither file
/// tells of any more stay undone. Answers with those that it mended.
pub(crate) fn mirror(
    list: &List<'_>,
    actor: &WorkerId,
    links: &[(TaskId, TaskId)],
) -> Result<Vec<(TaskId, TaskId)>> {
    let mut change = list.change(actor)?;
    let mut mended = Vec::new();
    for (waiting, blocker) in links {
        let waits = change.task(waiting)?.blocked_by.contains(blocker);
        let blocks = change.task(blocker)?.blocks.contains(waiting);
        if waits == blocks {
            continue;
        }
        link_in(&mut change, waiting, blocker)?;
        let entry = change.note(Kind::TaskLinked, waiting);
        let named = blocker.as_str();
        entry.detail.insert("blocked_by".to_owned(), named.into());
        mended.push((waiting.clone(), blocker.clone()));
    }
    change.commit()?;
    Ok(mended)
}

/// Takes a task that does not exist out of those that `blocking` blocks; whether it was there.
pub(crate) fn unblock(
    list: &List<'_>,
    actor: &WorkerId,
    blocking: &TaskId,
    missing: &TaskId,
) -> Result<bool> {
    let mut change = list.change(actor)?;
    match change.task(missing) {
        Err(Error::NotFound { .. }) => {}
        Ok(_) => return Ok(false),
        Err(error) => return Err(error),
    }
    let task = change.task(blocking)?;
    if !task.blocks.contains(missing) {
        return Ok(false);
    }
    task.blocks.retain(|id| id != missing);
    let entry = change.note(Kind::TaskUnlinked, missing);
    let blocker = blocking.as_str();
    entry.detail.insert("blocked_by".to_owned(), blocker.into());
    change.commit()?;
    Ok(true)
}

/// Makes `id` not wait for `blocker` any more. Doing it again changes nothing.
pub fn unlink(list: &List<'_>, actor: &WorkerId, id: &TaskId, blocker: &TaskId) -> Result<Task> {
    let mut change = list.change(actor)?;
    let task = change.task(id)?;
    let was_linked = task.blocked_by.contains(blocker);
    task.blocked_by.retain(|other| other != blocker);
    // An unknown blocker has no file to keep mirrored.
    let was_mirrored = match change.task(blocker) {
        Ok(blocker) => {
            let before = blocker.blocks.len();
            blocker.blocks.retain(|other| other != id);
            blocker.blocks.len() != before
        }
        Err(Error::NotFound { .. }) => false,
        Err(error) => return Err(error),
    };
    if was_linked || was_mirrored {
        let entry = change.note(Kind::TaskUnlinked, id);
        entry
            .detail
            .insert("blocked_by".to_owned(), blocker.as_str().into());
    }
    finish(change, id)
}

/// Removes a task and its name from its neighbours. One that somebody holds is refused.
pub fn remove(list: &List<'_>, actor: &WorkerId, id: &TaskId) -> Result<Task> {
    let mut change = list.change(actor)?;
    let at = change.at();
    let task = change.task(id)?.clone();
    if let Some(claim) = task.state.live_claim(at).filter(|claim| claim.by != *actor) {
        return Err(Refusal::Held {
            task: id.clone(),
            holder: claim.by.clone(),
            until: claim.expires_at,
            token: claim.token,
        }
        .into());
    }
    let outlines = change.load()?.outlines;
    for neighbour in neighbours(&outlines, &task) {
        match change.task(neighbour) {
            Ok(neighbour) => {
                neighbour.blocks.retain(|other| other != id);
                neighbour.blocked_by.retain(|other| other != id);
            }
            Err(Error::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    change.remove(id)?;
    let entry = change.note(Kind::TaskRemoved, id);
    entry.from = Some(task.state.name());
    entry
        .detail
        .insert("subject".to_owned(), task.subject.as_str().into());
    entry
        .detail
        .insert("rev".to_owned(), task.rev.saturating_add(1).into());
    change.commit()?;
    Ok(task)
}

/// Every task that names this one or is named by it.
fn neighbours<'t>(outlines: &'t [Outline], task: &'t Task) -> BTreeSet<&'t TaskId> {
    let graph = Graph::new(outlines);
    let known = graph.blockers(&task.id).chain(graph.dependants(&task.id));
    let named = task.blocks.iter().chain(&task.blocked_by);
    known.map(|it| &it.id).chain(named).collect()
}

/// Moves a task through its states: everything but a claim, which [`crate::claims`] makes.
pub fn act(list: &List<'_>, act: &Act, id: &TaskId, event: Move) -> Result<Task> {
    let mut change = list.change(&act.actor)?;
    let act = Act {
        at: change.at(),
        ..act.clone()
    };
    let task = change.task(id)?.clone();
    let kind = event.kind();
    let event = match event {
        Move::Start => Event::Start,
        Move::Renew => Event::Renew,
        Move::Release { force } => Event::Release { force },
        Move::Reopen => Event::Reopen,
        Move::Cancel => Event::Cancel,
        Move::Finish { ending, text } => {
            let open = match task.state {
                State::Pending => open_blockers(list, &task, &named_by_others(list, id)?)?,
                _ => Vec::new(),
            };
            Event::Finish { ending, text, open }
        }
    };
    let late = late_result(&event, &act);
    match transition(&task, &act, event) {
        Ok(next) => {
            *change.task(id)? = next;
            change.note(kind, id);
            finish(change, id)
        }
        Err(refusal) => match late.filter(|late| is_late(&refusal, late)) {
            None => Err(refusal.into()),
            Some(late) => {
                let entry = change.note(Kind::TaskLate, id);
                entry
                    .detail
                    .insert("ending".to_owned(), late.ending.as_str().into());
                let task = change.task(id)?;
                // The same report twice is one report.
                let known = |other: &TaskResult| {
                    TaskResult {
                        at: late.at,
                        ..other.clone()
                    } == late
                };
                if !task.late.iter().any(known) {
                    task.late.push(late);
                    change.commit()?;
                }
                Err(Error::KeptLate(refusal))
            }
        },
    }
}

/// What a caller asks of a task; see [`act`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Move {
    /// Begin the work.
    Start,
    /// Extend the lease.
    Renew,
    /// Give it back; with force, whoever holds it.
    Release {
        /// Whoever holds it.
        force: bool,
    },
    /// Make it pending again.
    Reopen,
    /// It is not wanted any more.
    Cancel,
    /// End the work.
    Finish {
        /// How.
        ending: Ending,
        /// The worker's words.
        text: String,
    },
}

impl Move {
    fn kind(&self) -> Kind {
        match self {
            Self::Start => Kind::TaskStarted,
            Self::Renew => Kind::TaskRenewed,
            Self::Release { .. } => Kind::TaskReleased,
            Self::Reopen => Kind::TaskReopened,
            Self::Cancel => Kind::TaskCancelled,
            Self::Finish {
                ending: Ending::Completed,
                ..
            } => Kind::TaskCompleted,
            Self::Finish {
                ending: Ending::Failed,
                ..
            } => Kind::TaskFailed,
            Self::Finish {
                ending: Ending::Stuck,
                ..
            } => Kind::TaskStuck,
        }
    }
}

fn late_result(event: &Event, act: &Act) -> Option<TaskResult> {
    let Event::Finish { ending, text, .. } = event else {
        return None;
    };
    let (by, token) = (act.actor.clone(), act.token);
    Some(TaskResult {
        by,
        token,
        at: act.at,
        ending: *ending,
        text: text.clone(),
    })
}

/// A report is worth keeping where its claim is over and it says something.
fn is_late(refusal: &Refusal, late: &TaskResult) -> bool {
    match refusal {
        Refusal::StaleToken { .. } => true,
        Refusal::Held { .. } | Refusal::WrongState { .. } | Refusal::NotClaimed { .. } => {
            !late.text.is_empty()
        }
        Refusal::AlreadyYours { .. }
        | Refusal::Blocked { .. }
        | Refusal::Cycle { .. }
        | Refusal::UnknownBlocker { .. } => false,
    }
}

/// The blockers of a task that only their own files name: a crash or a foreign writer may leave
/// that. Looks at the whole list.
pub(crate) fn named_by_others(list: &List<'_>, id: &TaskId) -> Result<Vec<TaskId>> {
    let outlines = list.load()?.outlines;
    let graph = Graph::new(&outlines);
    let Some(own) = graph.get(id) else {
        return Ok(Vec::new());
    };
    let others = graph.blockers(id).map(|it| &it.id);
    Ok(others
        .filter(|it| !own.blocked_by.contains(it))
        .cloned()
        .collect())
}

/// The tasks that a task waits for, whichever of the two files says so.
pub fn blockers(list: &List<'_>, task: &Task) -> Result<Vec<TaskId>> {
    let others = named_by_others(list, &task.id)?;
    Ok(task.blocked_by.iter().cloned().chain(others).collect())
}

/// The blockers of a task that are not completed, as its own file names them, and of `others`.
pub(crate) fn open_blockers(
    list: &List<'_>,
    task: &Task,
    others: &[TaskId],
) -> Result<Vec<TaskId>> {
    let mut open = Vec::new();
    for blocker in task.blocked_by.iter().chain(others) {
        match list.task(blocker) {
            Ok(file) if file.task.state == State::Completed => {}
            Ok(_) | Err(Error::NotFound { .. } | Error::Disk(_)) => open.push(blocker.clone()),
            Err(error) => return Err(error),
        }
    }
    Ok(open)
}

/// The tasks of the list that can be claimed now, in the order in which they would be.
pub fn ready(outlines: &[Outline], now: Timestamp) -> Vec<&Outline> {
    flagpost_model::plan::ready(&Graph::new(outlines), now)
}

/// Makes both files say that `id` waits for `blocker`; whether one of them did not say so.
pub(crate) fn link_in(change: &mut Change<'_>, id: &TaskId, blocker: &TaskId) -> Result<bool> {
    if id == blocker {
        return Err(Refusal::Cycle {
            path: vec![id.clone(), id.clone()],
        }
        .into());
    }
    let mut changed = false;
    match change.task(blocker) {
        Ok(blocker) if !blocker.blocks.contains(id) => {
            blocker.blocks.push(id.clone());
            changed = true;
        }
        Ok(_) => {}
        Err(Error::NotFound { .. }) => {
            let (task, missing) = (id.clone(), blocker.clone());
            return Err(Refusal::UnknownBlocker { task, missing }.into());
        }
        Err(error) => return Err(error),
    }
    let task = change.task(id)?;
    if !task.blocked_by.contains(blocker) {
        task.blocked_by.push(blocker.clone());
        changed = true;
    }
    Ok(changed)
}

fn subject_is_told(subject: Option<&str>) -> Result<()> {
    if subject.is_some_and(|subject| !subject.trim().is_empty()) {
        return Ok(());
    }
    Err(Error::Invalid {
        what: "subject".to_owned(),
        reason: "a task needs one".to_owned(),
    })
}

/// Any verb of the owner renews the lease (`tree.md` §2).
fn renew_own(task: &mut Task, actor: &WorkerId, now: Timestamp) {
    match &mut task.state {
        State::Claimed(claim) | State::InProgress(Some(claim)) if claim.by == *actor => {
            *claim = claim.renewed(now);
        }
        _ => {}
    }
}

/// Carries the change out and answers with the task as it is now on disk.
fn finish(mut change: Change<'_>, id: &TaskId) -> Result<Task> {
    let unchanged = change.task(id)?.clone();
    Ok(change.commit()?.remove(id).unwrap_or(unchanged))
}
