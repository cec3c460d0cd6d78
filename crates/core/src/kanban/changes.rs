//! What changed in the files of a list and of its session, as clients of the Kanban bus are told.
//!
//! Owns the comparison of two looks. What happened in between and is over is not seen; the history
//! has it, where the list has one.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf};

use flagpost_disk::{dialects::claude_tasks::id_of, fsx::Stat};
use flagpost_model::ListRef;
use serde_json::{Value, json};

use super::session_dir;
use crate::{
    error::{Error, Result},
    home::Home,
    list::List,
    sessions::is_document,
};

/// The files at one time.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FileSnapshot {
    tasks: BTreeMap<OsString, Stat>,
    artifacts: BTreeMap<PathBuf, Stat>,
}

/// The files as they are.
pub fn files(home: &Home, list: &ListRef) -> Result<FileSnapshot> {
    let tasks = match List::find(home, list) {
        Ok(list) => list.scan_files()?.into_iter().collect(),
        Err(Error::NotFound { .. }) => BTreeMap::new(),
        Err(error) => return Err(error),
    };
    let artifacts = match session_dir(home, list)? {
        Some(dir) => artifacts(home, dir)?,
        None => BTreeMap::new(),
    };
    Ok(FileSnapshot { tasks, artifacts })
}

fn artifacts(home: &Home, dir: PathBuf) -> Result<BTreeMap<PathBuf, Stat>> {
    let wanted = |name: &[u8]| {
        let name = String::from_utf8_lossy(name);
        let stem = name.strip_suffix(".md").or(name.strip_suffix(".txt"));
        stem.is_some_and(is_document)
    };
    match home.fs().scan_dir(&dir, &wanted) {
        Ok(files) => Ok(files
            .into_iter()
            .map(|(name, stat)| (dir.join(name), stat))
            .collect()),
        // It is being archived.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(flagpost_disk::Error::io("list", &dir)(error).into()),
    }
}

/// The events between two looks: their names and what is said of them. A new file that is no task yet,
/// as its writer is in the middle of it, is forgotten in the second: it comes once it is whole.
pub fn changes(
    home: &Home,
    list: &ListRef,
    before: &FileSnapshot,
    after: &mut FileSnapshot,
) -> Result<Vec<(&'static str, Value)>> {
    let mut told = Vec::new();
    let name_of = |file: &OsString| file.to_str().and_then(id_of);
    for file in before.tasks.keys() {
        if !after.tasks.contains_key(file) {
            told.extend(name_of(file).map(|id| {
                let kind = "task:deleted";
                (
                    kind,
                    json!({"type": kind, "taskListId": list, "taskId": id}),
                )
            }));
        }
    }
    let mut halves = Vec::new();
    for (file, stat) in &after.tasks {
        let known = before.tasks.get(file);
        let kind = match known {
            None => "task:created",
            Some(known) if known != stat => "task:updated",
            Some(_) => continue,
        };
        // It may be gone, and what is no task is none here either.
        let read = List::find(home, list).map(|list| list.read(file, *stat));
        if let (Some(id), Ok(Ok(Some(task)))) = (name_of(file), read) {
            let body = json!({
                "type": kind, "taskListId": list, "taskId": id, "task": task.normalised(),
            });
            told.push((kind, body));
        } else if known.is_none() {
            halves.push(file.clone());
        }
    }
    after.tasks.retain(|file, _| !halves.contains(file));
    if before.artifacts != after.artifacts {
        let kind = "execution:updated";
        told.push((kind, json!({"type": kind, "taskListId": list})));
    }
    Ok(told)
}
