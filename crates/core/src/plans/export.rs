//! Tasks that leave.
//!
//! Owns which tasks an export holds, and the name by which an import finds each again. What is left
//! out is said; nothing is left out that was not asked to be.

use std::collections::BTreeSet;

use flagpost_disk::dialects::{
    exchange::{self, Exported},
    markdown_plan,
};
use flagpost_model::{
    ListRef, TaskId,
    intake::Spelling,
    plan::Graph,
    task::{State, Task},
};

use crate::{
    error::{Error, Result},
    list::{List, table::TableList},
    skipped::Skipped,
};

/// Which tasks leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportScope {
    /// All of them.
    Everything,
    /// Those that are neither completed nor cancelled.
    Open,
}

/// What leaves.
#[derive(Debug, Clone)]
pub struct Export {
    list: ListRef,
    /// The tasks, by id.
    pub tasks: Vec<Task>,
    uids: Vec<String>,
    name: String,
    /// Links to tasks that are left out, which are left out too.
    pub cut: usize,
    /// The files that are no tasks.
    pub skipped: Vec<Skipped>,
}

/// What a list is called among all lists: those of its tasks that have no name of their own are
/// called `{name}/{id}`.
pub(super) fn name(list: &List<'_>) -> String {
    if let Some(name) = list.table().and_then(TableList::name) {
        return format!("coordination:{name}");
    }
    let list_id = list.id();
    match list.repository() {
        Ok(repository) => format!("flagpost:{repository}/{list_id}"),
        // A list that somebody made by hand is nobody's yet.
        Err(_) => format!("flagpost:{list_id}"),
    }
}

/// Reads what leaves a list.
pub fn export(list: &List<'_>, scope: ExportScope) -> Result<Export> {
    let loaded = list.load()?;
    let graph = Graph::new(&loaded.outlines);
    let mut export = Export {
        list: list.id().clone(),
        tasks: Vec::with_capacity(loaded.outlines.len()),
        uids: Vec::new(),
        name: name(list),
        cut: 0,
        skipped: Vec::new(),
    };
    let left_out: BTreeSet<&TaskId> = loaded
        .outlines
        .iter()
        .filter(|it| scope == ExportScope::Open && is_finished(&it.state))
        .map(|it| &it.id)
        .collect();
    for outline in &loaded.outlines {
        if left_out.contains(&outline.id) {
            continue;
        }
        let mut task = match list.task(&outline.id) {
            Ok(file) => file.task,
            // Somebody removed it since the list was read.
            Err(Error::NotFound { .. }) => continue,
            Err(error) => return Err(error),
        };
        for blocker in graph.blockers(&outline.id) {
            if !task.blocked_by.contains(&blocker.id) {
                task.blocked_by.push(blocker.id.clone());
            }
        }
        let links = task.blocked_by.len() + usize::from(task.parent.is_some());
        task.blocked_by.retain(|id| !left_out.contains(id));
        task.parent = task.parent.filter(|id| !left_out.contains(id));
        export.cut += links - task.blocked_by.len() - usize::from(task.parent.is_some());
        let uid = task.uid.clone().filter(|uid| !uid.is_empty());
        let own = || format!("{}/{}", export.name, task.id);
        export.uids.push(uid.unwrap_or_else(own));
        export.tasks.push(task);
    }
    export.skipped = loaded.skipped;
    Ok(export)
}

fn is_finished(state: &State) -> bool {
    matches!(state, State::Completed | State::Cancelled)
}

impl Export {
    /// Each task with its name for good.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&Task, &str)> {
        self.tasks.iter().zip(self.uids.iter().map(String::as_str))
    }

    /// The text of it.
    pub fn spell(&self, spelling: Spelling) -> Result<String> {
        let exported: Vec<Exported<'_>> = self
            .tasks
            .iter()
            .zip(&self.uids)
            .map(|(task, uid)| Exported {
                task,
                uid,
                list: &self.name,
            })
            .collect();
        match spelling {
            Spelling::Json => Ok(exchange::to_json(&self.list, &exported)),
            Spelling::Jsonl => Ok(exchange::to_jsonl(&exported)),
            Spelling::Csv => exchange::to_csv(&exported).map_err(|reason| Error::Invalid {
                what: "csv".to_owned(),
                reason,
            }),
            Spelling::Markdown => {
                let tasks = exported.iter().map(|it| (it.task, it.uid));
                let tasks: Vec<_> = tasks.collect();
                Ok(markdown_plan::write(self.list.as_str(), &tasks))
            }
        }
    }

    /// How many tasks have something that this spelling has no place for.
    pub fn losses(&self, spelling: Spelling) -> usize {
        match spelling {
            Spelling::Json | Spelling::Jsonl | Spelling::Csv => 0,
            Spelling::Markdown => {
                let lossy = self.tasks.iter();
                lossy.filter(|task| markdown_plan::leaves_out(task)).count()
            }
        }
    }
}
