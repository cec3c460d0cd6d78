//! What lies in a worker's mail, live and archived, as any program finds it.
//!
//! Owns a second opinion: it asks neither the history nor the operations that are tried.

use std::{
    collections::BTreeMap,
    io::ErrorKind::{NotADirectory, NotFound},
    path::{Path, PathBuf},
};

use anyhow::Result;
use flagpost_core::relay::Mail;
use flagpost_model::envelope::Direction;
use serde_json::Value;

/// How often each is there, by the number of a brief.
#[derive(Debug, Default)]
pub struct FileCounts {
    /// Bodies.
    pub briefs: BTreeMap<u64, usize>,
    /// Reports that reply to it.
    pub replies: BTreeMap<u64, usize>,
}

impl FileCounts {
    /// Those of a worker, once nobody writes any more.
    pub fn of(mail: &Mail<'_>) -> Result<Self> {
        let mut files = Self::default();
        for path in all(mail, Direction::Inbox)? {
            let name = path.file_name().and_then(|it| it.to_str());
            let number = name.and_then(|it| it.strip_suffix(".brief")?.parse().ok());
            if let Some(number) = number {
                *files.briefs.entry(number).or_default() += 1;
            }
        }
        for path in all(mail, Direction::Outbox)? {
            let name = path.file_name().and_then(|it| it.to_str());
            let number = name.and_then(|it| it.strip_suffix(".json")?.parse::<u64>().ok());
            if number.is_some() {
                let report: Value = serde_json::from_slice(&std::fs::read(&path)?)?;
                let to = report.get("in_reply_to").and_then(Value::as_u64);
                *files.replies.entry(to.unwrap_or_default()).or_default() += 1;
            }
        }
        Ok(files)
    }
}

/// The files of a direction and of its archive.
fn all(mail: &Mail<'_>, direction: Direction) -> Result<Vec<PathBuf>> {
    let live = mail.dir(direction);
    let mut paths = names(&live)?;
    if let (Some(worker), Some(name)) = (live.parent(), live.file_name()) {
        for month in names(&worker.join("archive"))? {
            paths.extend(names(&month.join(name))?);
        }
    }
    Ok(paths)
}

/// What is in a directory; nothing where there is none, or a note.
fn names(dir: &Path) -> Result<Vec<PathBuf>> {
    let read = match std::fs::read_dir(dir) {
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => return Ok(Vec::new()),
        read => read?,
    };
    let paths = read.map(|entry| Ok(entry?.path()));
    Ok(paths.collect::<std::io::Result<_>>()?)
}
