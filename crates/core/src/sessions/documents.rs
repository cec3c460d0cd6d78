//! What a session wrote for people: its Markdown files.
//!
//! Owns which files these are, and their order. They are another program's, or an agent's: what cannot be
//! read costs its neighbours nothing.

use std::path::Path;

use flagpost_disk::{self as disk, fsx};
use jiff::Timestamp;

use crate::{error::Result, home::Home};

/// What comes first; the rest follows by name.
const FIRST: [&str; 4] = [
    "execution_context",
    "task_log",
    "execution_plan",
    "session_summary",
];

/// A Markdown file of a session.
#[derive(Debug)]
pub struct SessionDocument {
    /// Its name, without the ending.
    pub name: String,
    /// What is in it.
    pub text: String,
    /// When it was written last.
    pub changed: Timestamp,
}

/// The documents in a session's directory, the plan first. Notes of single tasks are none.
pub fn documents(home: &Home, dir: &Path) -> Result<Vec<SessionDocument>> {
    let names = home.fs().names(dir).map_err(disk::Error::io("list", dir))?;
    let mut documents = Vec::new();
    for name in names.iter().filter_map(|name| name.to_str()) {
        let Some(stem) = name.strip_suffix(".md").filter(|stem| is_document(stem)) else {
            continue;
        };
        let path = dir.join(name);
        // It may be gone by now.
        if let (Ok(Some(stat)), Ok(Some(text))) = (
            fsx::stat(home.fs(), &path),
            fsx::read_lossy(home.fs(), &path),
        ) {
            let changed = Timestamp::from_nanosecond(stat.modified.into());
            documents.push(SessionDocument {
                name: stem.to_owned(),
                text,
                changed: changed.unwrap_or_default(),
            });
        }
    }
    documents.sort_by_key(|it| {
        let rank = FIRST.iter().position(|first| *first == it.name);
        (rank.unwrap_or(FIRST.len()), it.name.clone())
    });
    Ok(documents)
}

/// Whether a Markdown file of this name is one of them.
pub(crate) fn is_document(stem: &str) -> bool {
    !stem.starts_with('.') && !stem.starts_with("context-task-")
}
