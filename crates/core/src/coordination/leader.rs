//! The leader's side: making the directory, adding tasks, taking them back, summing up.
//!
//! Owns the ids that new tasks get. One that was ever used, as its result shows, is not given again.

use std::{path::PathBuf, str::FromStr};

use flagpost_disk::{
    self as disk,
    dialects::coordination::{self as layout, TasksFile},
    fsx,
};
use flagpost_model::{
    TaskId, WorkerId,
    coordination::{Draft, Event, Status, Task, check_new, summary},
};

use super::{Directory, Tables, change::Change, worker::Hand};
use crate::{
    error::{Error, Result},
    history::Kind,
    home::Home,
};

/// In whose log the leader's deeds are.
const LEADER: &str = "leader";

/// What is written for a person.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Where it is.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
}

/// Makes the directory for a goal. What is there already is left as it is, and refused where it is
/// a table.
pub fn init<'h>(
    home: &'h Home,
    dir: &std::path::Path,
    goal: &str,
    approach: Option<&str>,
) -> Result<Directory<'h>> {
    if goal.trim().is_empty() {
        return Err(Error::Invalid {
            what: "goal".to_owned(),
            reason: "it says nothing".to_owned(),
        });
    }
    let fs = home.fs();
    for name in [layout::CONTEXT, layout::LOGS, layout::RESULTS] {
        home.make_dirs(&dir.join(name))?;
    }
    let directory = Directory::at(home, dir)?;
    let _lock = directory.lock()?;
    let now = directory.naive(home.now());
    let path = directory.path(layout::TASKS);
    if fsx::stat(fs, &path)?.is_some() {
        return Err(disk::Error::Conflict { path }.into());
    }
    let found = "# Discoveries\n".to_owned();
    let agents = layout::write_agents(&layout::new_table(), &[]);
    let files = [
        (layout::PLAN, layout::plan(goal, approach).into_bytes()),
        (layout::DISCOVERIES, found.into_bytes()),
        (layout::AGENTS, agents),
    ];
    for (name, bytes) in files {
        match fsx::publish(fs, &directory.path(name), &bytes) {
            // Somebody began by hand.
            Ok(()) | Err(disk::Error::Conflict { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // Last: the table says that the directory is one.
    let empty: TasksFile = layout::new_table();
    fsx::publish(fs, &path, &layout::write_tasks(&empty, &[], now))?;
    Ok(directory)
}

/// Adds tasks, all of them or none. They may name each other by the ids that they bring.
pub fn add(directory: &Directory<'_>, actor: &WorkerId, drafts: &[Draft]) -> Result<Vec<Task>> {
    directory.change(actor, |change| {
        let added = put(directory, change, drafts.to_vec())?;
        for task in &added {
            let told = format!("{}: {}", task.id, task.description);
            change.tell(LEADER, "ADD_TASK", &told);
        }
        Ok(added)
    })
}

/// Adds tasks to the table of a change.
pub(super) fn put(
    directory: &Directory<'_>,
    change: &mut Change,
    drafts: Vec<Draft>,
) -> Result<Vec<Task>> {
    if drafts.iter().any(|it| it.description.trim().is_empty()) {
        return Err(Error::Invalid {
            what: "description".to_owned(),
            reason: "a task needs one".to_owned(),
        });
    }
    let mut highest = directory.highest(change.tables())?;
    let given = drafts.iter().filter_map(|it| it.id.as_ref());
    let given = given.filter_map(|id| layout::number(id.as_str()));
    highest = given.fold(highest, u64::max);
    let mut new = Vec::with_capacity(drafts.len());
    for mut draft in drafts {
        let id = match draft.id.take() {
            Some(id) => id,
            None => {
                highest = highest.saturating_add(1);
                TaskId::from_str(&layout::numbered(highest))?
            }
        };
        new.push(draft.into_task(id, change.now));
    }
    check_new(&change.board, &new)?;
    for task in &new {
        change.push(task.clone());
    }
    Ok(new)
}

impl Directory<'_> {
    /// The highest number that a task has, or had when its result was written. Rows that cannot be
    /// read count as well.
    pub(crate) fn highest(&self, tables: &Tables) -> Result<u64> {
        let dir = self.path(layout::RESULTS);
        let names = match self.home.fs().names(&dir) {
            Ok(names) => names,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(disk::Error::io("list", &dir)(error).into()),
        };
        let results = names
            .iter()
            .filter_map(|name| name.to_str()?.strip_suffix(".md"));
        let rows = tables.tasks.names();
        let numbers = results.chain(rows).filter_map(layout::number);
        Ok(numbers.max().unwrap_or_default())
    }
}

/// Drops tasks, all of them or none.
pub fn cancel(directory: &Directory<'_>, actor: &WorkerId, ids: &[TaskId]) -> Result<Vec<Task>> {
    each(directory, actor, ids, &Event::Cancel, Kind::TaskCancelled)
}

/// Makes tasks available again, all of them or none; without ids, those that failed.
pub fn retry(directory: &Directory<'_>, actor: &WorkerId, ids: &[TaskId]) -> Result<Vec<Task>> {
    each(directory, actor, ids, &Event::Retry, Kind::TaskReopened)
}

fn each(
    directory: &Directory<'_>,
    actor: &WorkerId,
    ids: &[TaskId],
    event: &Event,
    kind: Kind,
) -> Result<Vec<Task>> {
    directory.change(actor, |change| {
        let failed = change.board.tasks.iter();
        let failed = failed.filter(|it| it.status == Status::Failed);
        let ids: Vec<TaskId> = match ids.is_empty() {
            true => failed.map(|it| it.id.clone()).collect(),
            false => ids.to_vec(),
        };
        let mut moved = Vec::with_capacity(ids.len());
        for id in ids {
            let task = change.task(&id)?.clone();
            let hand = Hand { actor, token: None };
            let after = change.judge(&task, &hand, event.clone())?;
            change.tell(LEADER, after.status.as_str(), id.as_str());
            change.apply(after.clone(), kind.clone());
            moved.push(after);
        }
        Ok(moved)
    })
}

/// Writes the summary, durable on return.
pub fn aggregate(directory: &Directory<'_>) -> Result<Summary> {
    let look = directory.look()?;
    let text = summary(look.goal.as_deref(), &look.board, look.now);
    let path = directory.path(layout::SUMMARY);
    fsx::replace(directory.home.fs(), &path, text.as_bytes())?;
    Ok(Summary { path, text })
}
