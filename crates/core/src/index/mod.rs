//! The index: everything that the files say, in one SQLite file that can be deleted at any time.
//!
//! Owns `index.db` and what it is good for: searching, and the `messages` table for programs that
//! want SQL (docs/formats/index.md). It is a projection: whoever asks brings it up to date first, from
//! the files, and no writer has to know of it. Invariants: what it holds is a function of the files,
//! whether it was built in one go or bit by bit; a busy, broken or unwritable index costs time, and
//! never an answer. It must never be the only place of anything.

mod dir_cache;
mod project;
mod query;
mod search;
mod store;

use std::path::PathBuf;

use flagpost_disk::fsx;
use flagpost_model::{ListId, RepoId};
use rusqlite::Connection;
use schemars::JsonSchema;
use serde::Serialize;

pub use query::{Rows, SqlValue};
pub use search::{Hit, SearchRequest, SearchResult, SearchScope, Thing};
use store::Blame;

use crate::{error::Result, home::Home};

/// An index that was up to date when it was opened.
#[derive(Debug)]
pub struct Index {
    db: Connection,
    faults: Vec<IndexFault>,
    in_memory: bool,
}

/// Something that could not be read, and so is not in the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexFault {
    /// Whose it is.
    pub owner: Owner,
    /// The file, if it is about one: its name in the list's directory, or below the workers'.
    pub file: Option<String>,
    /// Why.
    pub reason: String,
}

/// Whose a thing in the index is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// It is of the home: a directory of lists, the repositories.
    Home,
    /// It is of a list.
    List(ListId),
    /// It is of a repository.
    Repository(RepoId),
}

/// How the index is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexStatus {
    /// Its file.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// It could not be written, and was built in memory for this once.
    pub in_memory: bool,
    /// How much of each kind is in it.
    pub counts: IndexCounts,
    /// What is not in it.
    pub faults: Vec<IndexFault>,
}

/// How much of each kind is in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct IndexCounts {
    /// In all lists.
    pub tasks: u64,
    /// Live and archived.
    pub messages: u64,
    /// Directories with what sessions left behind.
    pub sessions: u64,
    /// Lines.
    pub history: u64,
}

/// Asks the index, brought up to date. Where its file breaks, it is made anew; where it cannot be
/// used, the same is built in memory.
pub fn ask<T>(home: &Home, question: impl Fn(&Index) -> Result<T>) -> Result<T> {
    for _ in 0..2 {
        match on_disk(home).and_then(|index| question(&index)) {
            Err(error) => match store::blame(&error) {
                Blame::File => {
                    let aside = store::lock(home).and_then(|_lock| store::quarantine(home));
                    if aside.is_err() {
                        break;
                    }
                }
                Blame::Circumstance => break,
                Blame::Elsewhere => return Err(error),
            },
            answered => return answered,
        }
    }
    let mut db = store::in_memory()?;
    let faults = project::build(home, &mut db)?;
    question(&Index {
        db,
        faults,
        in_memory: true,
    })
}

/// Where the index's file is.
pub fn path(home: &Home) -> PathBuf {
    store::path(home)
}

/// Makes the index anew, from the files alone.
pub fn rebuild(home: &Home) -> Result<IndexStatus> {
    if is_home(home)? {
        let _lock = store::lock(home)?;
        store::remove(home)?;
    }
    ask(home, |index| index.status(home))
}

/// Nothing is made where there is no home yet.
fn is_home(home: &Home) -> Result<bool> {
    Ok(fsx::stat(home.fs(), home.root())?.is_some())
}

/// Any failure to get at the file is the file's: what is asked is never the reason.
fn on_disk(home: &Home) -> Result<Index> {
    let unusable = || {
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN);
        rusqlite::Error::SqliteFailure(code, None)
    };
    if !is_home(home)? {
        return Err(unusable().into());
    }
    let _lock = store::lock(home).map_err(|_| unusable())?;
    current(home).map_err(|error| match store::blame(&error) {
        Blame::Elsewhere => unusable().into(),
        Blame::File | Blame::Circumstance => error,
    })
}

/// The one on disk, brought up to date or made anew, under its lock.
fn current(home: &Home) -> Result<Index> {
    let (db, faults) = match store::open(home)? {
        Some(mut db) => {
            let faults = refresh(home, &mut db)?;
            (db, faults)
        }
        None => {
            let (mut db, draft) = store::draft(home)?;
            let faults = project::build(home, &mut db)?;
            (store::put(home, db, draft)?, faults)
        }
    };
    Ok(Index {
        db,
        faults,
        in_memory: false,
    })
}

fn refresh(home: &Home, db: &mut Connection) -> Result<Vec<IndexFault>> {
    let before = db.total_changes();
    let faults = project::refresh(home, db)?;
    if db.total_changes() != before {
        // Nobody else writes now. A reader may hold it up: then the next one does it.
        let _: rusqlite::Result<()> =
            db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }
    Ok(faults)
}

impl Index {
    /// What could not be read.
    pub fn faults(&self) -> &[IndexFault] {
        &self.faults
    }

    /// How it is.
    pub fn status(&self, home: &Home) -> Result<IndexStatus> {
        let count = |sql: &str| -> Result<u64> {
            let count: i64 = self.db.query_row(sql, [], |row| row.get(0))?;
            Ok(u64::try_from(count).unwrap_or_default())
        };
        let path = store::path(home);
        let bytes = fsx::stat(home.fs(), &path)?.map_or(0, |stat| stat.len);
        Ok(IndexStatus {
            bytes: if self.in_memory { 0 } else { bytes },
            path,
            in_memory: self.in_memory,
            counts: IndexCounts {
                tasks: count("SELECT count(*) FROM task")?,
                messages: count("SELECT count(*) FROM messages")?,
                sessions: count("SELECT count(DISTINCT place) FROM log")?,
                history: count("SELECT count(*) FROM history")?,
            },
            faults: self.faults.clone(),
        })
    }
}
