//! The leader's side: making the directory, adding tasks, taking them back, summing up.
//!
//! Owns the ids that new tasks get. One that was ever used, as its result shows, is not given again.

use std::{
    path::{Path, PathBuf},
    str::FromStr,
};

use flagpost_disk::{
    self as disk,
    dialects::coordination::{self as layout, TasksFile},
    fsx,
};
use flagpost_model::{
    TaskId, WorkerId,
    coordination::{CoordEvent, CoordStatus, CoordTask, NewCoordTask, check_new, summary},
};

use super::{Directory, Tables, change::CoordChange, worker::CoordActor};
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

/// Makes the directory for a goal. What is there already is left as it is.
pub fn init<'h>(
    home: &'h Home,
    dir: &Path,
    goal: &str,
    approach: Option<&str>,
) -> Result<Directory<'h>> {
    says_something(goal)?;
    lay_out(home, dir, Some(layout::plan(goal, approach)))
}

/// Makes what is missing of a directory.
pub fn lay_out<'h>(home: &'h Home, dir: &Path, plan: Option<String>) -> Result<Directory<'h>> {
    let fs = home.fs();
    for name in [layout::CONTEXT, layout::LOGS, layout::RESULTS] {
        home.make_dirs(&dir.join(name))?;
    }
    let directory = Directory::at(home, dir)?;
    let _lock = directory.lock()?;
    let now = directory.naive(home.now());
    let found = "# Discoveries\n".to_owned();
    let agents = layout::write_agents(&layout::new_table(), &[]);
    let empty: TasksFile = layout::new_table();
    let files = [
        (layout::PLAN, plan.map(String::into_bytes)),
        (layout::DISCOVERIES, Some(found.into_bytes())),
        (layout::AGENTS, Some(agents)),
        // Last: the table says that the directory is one.
        (layout::TASKS, Some(layout::write_tasks(&empty, &[], now))),
    ];
    for (name, bytes) in files {
        let Some(bytes) = bytes else { continue };
        match fsx::publish(fs, &directory.path(name), &bytes) {
            // Somebody began before, perhaps by hand.
            Ok(()) | Err(disk::Error::Conflict { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(directory)
}

/// Says anew what is wanted, durable on return. The rest of the plan stays as it is.
pub fn set_goal(directory: &Directory<'_>, goal: &str) -> Result<()> {
    says_something(goal)?;
    let (fs, path) = (directory.home.fs(), directory.path(layout::PLAN));
    let _lock = directory.lock()?;
    let plan = fsx::read(fs, &path)?.unwrap_or_default();
    let plan = String::from_utf8(plan).map_err(|_| disk::Error::Malformed {
        path: path.clone(),
        reason: "it is no text".to_owned(),
    })?;
    let plan = layout::with_objective(&plan, goal);
    Ok(fsx::replace(fs, &path, plan.as_bytes())?)
}

fn says_something(goal: &str) -> Result<()> {
    match goal.trim() {
        "" => Err(Error::Invalid {
            what: "goal".to_owned(),
            reason: "it says nothing".to_owned(),
        }),
        _ => Ok(()),
    }
}

/// The tasks that a text of this name brings, as JSON or YAML.
pub fn read_drafts(name: &str, text: &str) -> Result<Vec<NewCoordTask>> {
    layout::read_drafts(text).map_err(|reason| Error::Invalid {
        what: name.to_owned(),
        reason,
    })
}

/// Adds tasks, all of them or none. They may name each other by the ids that they bring.
pub fn add(
    directory: &Directory<'_>,
    actor: &WorkerId,
    drafts: &[NewCoordTask],
) -> Result<Vec<CoordTask>> {
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
pub(crate) fn put(
    directory: &Directory<'_>,
    change: &mut CoordChange,
    drafts: Vec<NewCoordTask>,
) -> Result<Vec<CoordTask>> {
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
        let results = self.results()?;
        let rows = tables.tasks.names();
        let numbers = results.iter().map(String::as_str).chain(rows);
        Ok(numbers.filter_map(layout::number).max().unwrap_or_default())
    }

    /// What the results are called, in order.
    fn results(&self) -> Result<Vec<String>> {
        let dir = self.path(layout::RESULTS);
        let names = fsx::names(self.home.fs(), &dir)?;
        let results = names
            .iter()
            .filter_map(|name| Some(name.to_str()?.strip_suffix(".md")?.to_owned()));
        let mut results: Vec<String> = results.collect();
        results.sort();
        Ok(results)
    }

    /// The results with what they say. What is no file that can be read is none.
    fn pages(&self) -> Result<Vec<(String, String)>> {
        let mut pages = Vec::new();
        for name in self.results()? {
            let path = self.path(&format!("{}/{name}.md", layout::RESULTS));
            match fsx::read_lossy(self.home.fs(), &path) {
                Ok(text) => pages.extend(text.map(|text| (name, text))),
                Err(error) if error.is_no_such_file() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(pages)
    }
}

/// Drops tasks, all of them or none.
pub fn cancel(
    directory: &Directory<'_>,
    actor: &WorkerId,
    ids: &[TaskId],
    reason: Option<&str>,
) -> Result<Vec<CoordTask>> {
    let event = CoordEvent::Cancel(reason.map(str::to_owned));
    each(directory, actor, ids, &event, Kind::TaskCancelled)
}

/// Makes tasks available again, all of them or none; without ids, those that failed.
pub fn retry(
    directory: &Directory<'_>,
    actor: &WorkerId,
    ids: &[TaskId],
) -> Result<Vec<CoordTask>> {
    each(
        directory,
        actor,
        ids,
        &CoordEvent::Retry,
        Kind::TaskReopened,
    )
}

fn each(
    directory: &Directory<'_>,
    actor: &WorkerId,
    ids: &[TaskId],
    event: &CoordEvent,
    kind: Kind,
) -> Result<Vec<CoordTask>> {
    directory.change(actor, |change| {
        let failed = change.board.tasks.iter();
        let failed = failed.filter(|it| it.status == CoordStatus::Failed);
        let ids: Vec<TaskId> = match ids.is_empty() {
            true => failed.map(|it| it.id.clone()).collect(),
            false => ids.to_vec(),
        };
        let mut moved = Vec::with_capacity(ids.len());
        for id in ids {
            let task = change.task(&id)?.clone();
            let hand = CoordActor { actor, token: None };
            let after = change.judge(&task, &hand, event.clone())?;
            let told = match event {
                CoordEvent::Cancel(Some(reason)) => format!("{id}: {reason}"),
                _ => id.to_string(),
            };
            change.tell(LEADER, after.status.as_str(), &told);
            change.apply(after.clone(), kind.clone());
            moved.push(after);
        }
        Ok(moved)
    })
}

/// Writes the summary, durable on return.
pub fn aggregate(directory: &Directory<'_>) -> Result<Summary> {
    let look = directory.look()?;
    let pages = directory.pages()?;
    let text = summary(look.goal.as_deref(), &look.board, &pages, look.now);
    let path = directory.path(layout::SUMMARY);
    fsx::replace(directory.home.fs(), &path, text.as_bytes())?;
    Ok(Summary { path, text })
}
