//! Moves between lists that were cut short: the task is there twice, and both may be worked on. Where one of
//! them is over, nobody works on it twice.

use std::collections::{BTreeMap, BTreeSet};

use flagpost_model::{ListId, TaskId, finding::Code};
use serde_json::Value;

use super::{Finding, world::World};
use crate::{
    error::Result,
    history::{Entry, History, Kind},
};

type TaskRef = (ListId, TaskId);

/// Tasks whose original is still where a move took it from, or would have. A copy that went on to
/// another list, or back, is still a copy.
pub(super) fn check(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    let there: BTreeSet<TaskRef> = world
        .lists
        .iter()
        .flat_map(|seen| {
            let open = seen.outlines.iter().filter(|it| !it.state.is_over());
            let ids = open.map(|it| it.id.clone());
            ids.map(|id| (seen.id().clone(), id))
        })
        .collect();
    let mut origins: BTreeMap<TaskRef, TaskRef> = BTreeMap::new();
    for id in world.repositories.keys() {
        // One that cannot be read is told of elsewhere.
        let lines = History::of(world.home, id).since(0).unwrap_or_default();
        origins.extend(lines.iter().filter_map(|line| copied(&line.entry)));
    }
    for seen in &world.lists {
        for task in seen
            .outlines
            .iter()
            .filter(|it| !it.state.is_over())
            .map(|it| &it.id)
        {
            let copy = (seen.id().clone(), task.clone());
            let mut walked = BTreeSet::from([&copy]);
            let mut place = origins.get(&copy);
            while let Some(origin) = place.filter(|origin| walked.insert(origin)) {
                if there.contains(origin) {
                    let (list, original) = origin;
                    let what = format!(
                        "task {task} of {} is a copy of task {original} of {list}, whose move was cut short",
                        seen.id()
                    );
                    let shown = "'flagpost show' shows both: cancel the one that nobody needs";
                    let hint = match origins.get(&copy) == Some(origin) {
                        true => format!("{shown}, or repeat the move, which goes on from there"),
                        false => shown.to_owned(),
                    };
                    let finding = Finding::new(Code::TaskTwice, what).at(seen.list.task_path(task));
                    findings.push(finding.list(seen.id()).task(task).by_hand(hint));
                    break;
                }
                place = origins.get(origin);
            }
        }
    }
    Ok(())
}

/// Where a task was moved to, and from where.
fn copied(entry: &Entry) -> Option<(TaskRef, TaskRef)> {
    if entry.kind != Kind::TaskCreated {
        return None;
    }
    let from = entry.detail.get("moved_from")?;
    let list = from.get("list").and_then(Value::as_str)?.parse().ok()?;
    let task = from.get("task").and_then(Value::as_str)?.parse().ok()?;
    let copy = (entry.list.clone()?, entry.task.clone()?);
    Some((copy, (list, task)))
}
