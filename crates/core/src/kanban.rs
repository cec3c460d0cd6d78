//! Lists as the clients of the Kanban bus expect them.
//!
//! Owns the shapes of an interface that is not ours, field for field: lists with the number of their
//! files, tasks as normalised files, the artifacts of the session that a list's pointer names. It
//! reads and never writes.

pub mod changes;

use std::path::{Path, PathBuf};

use flagpost_disk::dialects::{
    claude_tasks::is_task_name,
    session::{layout, progress},
};
use flagpost_model::{ListId, ListRef};
use serde_json::{Map, Value, json};

use crate::{
    error::{Error, Result},
    home::Home,
    list::List,
    roots, sessions,
};

/// Every list, in the order of `collated`: those of ours, and those that can only be read.
pub fn every(home: &Home) -> Result<Vec<ListRef>> {
    let mut every = roots::foreign(home)?;
    every.extend(roots::lists(home)?.into_iter().map(ListRef::from));
    every.sort_by_cached_key(|it| collated(it.as_str()));
    Ok(every)
}

/// The place of a name in the order that these clients expect, which is JavaScript's `localeCompare`:
/// signs, digits, letters whatever their case and accents; then accents, and capitals last. Letters with
/// accents are those of Latin-1.
fn collated(name: &str) -> (Vec<(u8, char)>, String, String) {
    let base = |c: char| match c {
        'à'..='å' => 'a',
        'ç' => 'c',
        'è'..='ë' => 'e',
        'ì'..='ï' => 'i',
        'ñ' => 'n',
        'ò'..='ö' => 'o',
        'ù'..='ü' => 'u',
        'ý' | 'ÿ' => 'y',
        other => other,
    };
    let small = name.to_lowercase();
    let letters = small.chars().map(|c| match c {
        c if c.is_ascii_digit() => (1, c),
        c if c.is_alphabetic() => (2, base(c)),
        c => (0, c),
    });
    // Where only the case differs, small letters come first.
    let swapped = name.chars().map(|c| match c {
        c if c.is_ascii_uppercase() => c.to_ascii_lowercase(),
        c => c.to_ascii_uppercase(),
    });
    (letters.collect(), small.clone(), swapped.collect())
}

/// Whether this could be the name of a directory beside others: what might climb cannot be asked for.
pub fn is_name(name: &str) -> bool {
    !matches!(name, "" | ".") && !name.contains("..") && !name.contains(['/', '\0'])
}

/// The list of this name, whoever's name it is; none where no list can be called that.
pub fn named(name: &str) -> Option<ListRef> {
    let ours = name.parse::<ListId>().ok().map(ListRef::from);
    ours.or_else(|| ListRef::foreign(name))
}

/// The lists that hold at least one file, by name.
pub fn lists(home: &Home) -> Result<Value> {
    let mut lists = Vec::new();
    for id in every(home)? {
        let count = match List::find(home, &id) {
            Ok(list) => count(home, list.dir())?,
            // Its directory leads elsewhere, or is gone.
            Err(_) => 0,
        };
        if count > 0 {
            lists.push(json!({"id": id, "name": id, "taskCount": count}));
        }
    }
    Ok(json!({"taskLists": lists}))
}

fn count(home: &Home, dir: &Path) -> Result<usize> {
    let names = home.fs().names(dir);
    let names = names.map_err(flagpost_disk::Error::io("list", dir))?;
    let is_task = |name: &&std::ffi::OsString| is_task_name(name.as_encoded_bytes());
    Ok(names.iter().filter(is_task).count())
}

/// The tasks of a list, by id; none where there is no such list.
pub fn tasks(home: &Home, list: &ListRef) -> Result<Value> {
    let tasks: Vec<Value> = match List::find(home, list) {
        Ok(list) => {
            let (files, _) = list.examine()?;
            let raw = files.iter().map(|file| file.normalised());
            raw.map(Value::Object).collect()
        }
        Err(Error::NotFound { .. }) => Vec::new(),
        Err(error) => return Err(error),
    };
    // Made by hand, since `json!` would spell the numbers of the files anew.
    let tasks = ("tasks".to_owned(), Value::Array(tasks));
    Ok(Value::Object(Map::from_iter([tasks])))
}

/// What the session that a list's pointer names has written so far.
pub fn execution_context(home: &Home, list: &ListRef) -> Result<Value> {
    let context = match session_dir(home, list)? {
        Some(dir) => context(home, &dir)?,
        None => Value::Null,
    };
    Ok(json!({"executionContext": context}))
}

/// The directory of the session that runs a list, or ran it last.
pub fn session_dir(home: &Home, list: &ListRef) -> Result<Option<PathBuf>> {
    let list = match List::find(home, list) {
        Ok(list) => list,
        Err(Error::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    sessions::shown(home, &list)
}

fn context(home: &Home, dir: &Path) -> Result<Value> {
    let documents = sessions::documents(home, dir)?;
    if documents.is_empty() {
        return Ok(Value::Null);
    }
    let progress = documents
        .iter()
        .find(|it| format!("{}.md", it.name) == layout::PROGRESS);
    let progress = progress.and_then(|it| shown(&it.text));
    let artifacts = documents.iter().map(|it| {
        let at = it.changed.as_millisecond();
        json!({"name": it.name, "content": it.text, "lastModified": at})
    });
    Ok(json!({
        "executionDir": dir.to_string_lossy(),
        "artifacts": artifacts.collect::<Vec<_>>(),
        "progress": progress,
    }))
}

/// How far a session is, as its file says; none where it has no status or no time, so that the file itself
/// is shown. Both are passed on as they are written, a time with its zone.
fn shown(text: &str) -> Option<Value> {
    let progress = &progress::parse(text);
    let status = progress::header_value(text, "Status")?;
    let updated = progress::header_value(text, "Updated")?;
    let (wave, of) = progress.wave.unwrap_or((1, 1));
    let active = progress
        .active
        .iter()
        .map(|task| json!({"id": task.id, "subject": task.subject, "phase": task.phase}));
    let completed = progress
        .completed
        .iter()
        .map(|task| json!({"id": task.id, "subject": task.subject, "result": task.result}));
    let mut shown = json!({
        "status": status,
        "wave": wave,
        "totalWaves": of,
        "updated": updated,
        "activeTasks": active.collect::<Vec<_>>(),
        "completedTasks": completed.collect::<Vec<_>>(),
    });
    if let Some(most) = progress.max_parallel {
        shown["maxParallel"] = most.into();
    }
    Some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order is that of V8 in the locale `en`.
    #[test]
    fn names_come_as_a_browser_orders_them() {
        let ordered = [
            "_x", "10", "2", "a b", "Alpha", "alpha-2", "äpfel", "beta", "web", "zeta", "Zeta",
            "日本",
        ];
        let mut names = ordered;
        names.reverse();
        names.sort_by_cached_key(|it| collated(it));
        assert_eq!(names, ordered);
    }
}
