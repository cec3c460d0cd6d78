//! The file of the index: opening it, knowing it again, setting it aside.
//!
//! Owns `index.db`. It is SQLite's to write, in its write-ahead mode, and only under `.index.lock`,
//! so that nobody sets aside what another one is writing. A new one is filled under another name and
//! without any care for a crash, which leaves nothing of it. Invariant: whatever is wrong with it costs
//! time and nothing else: one of another version is made anew, a broken one is kept beside as
//! `index.db.broken` and made anew, and where it cannot be written at all the same is built in memory.

use std::{path::PathBuf, time::Duration};

use flagpost_disk::{
    self as disk,
    fsx::{self, Lock, Rank, StagedFile},
};
use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig};

use crate::{
    error::{Error, Result},
    home::Home,
};

/// Grows with every change of the schema, or of what a row means.
const VERSION: i64 = 3;

/// Says that a database is ours: "flag".
const APPLICATION: i64 = 0x666c_6167;

const TABLES: &str = include_str!("tables.sql");
const INDEXES: &str = include_str!("indexes.sql");

/// Nobody sees a new one before it is full: it needs no journal, and memory makes it faster.
const FILLING: &str = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; \
    PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -65536;";

/// Another one may be making it anew.
const WAIT: Duration = Duration::from_secs(30);

/// A foreign program may be writing into it. It should not, and is not waited for any longer.
const BUSY: Duration = Duration::from_secs(2);

/// The index's file.
pub(super) fn path(home: &Home) -> PathBuf {
    home.root().join("index.db")
}

/// Keeps others from bringing it up to date meanwhile.
pub(super) fn lock(home: &Home) -> Result<Lock> {
    let path = home.root().join(".index.lock");
    Ok(fsx::lock(home.fs(), &path, Rank::Index, WAIT, home.now())?)
}

/// Opens the file under its lock; `None` where there is none that could be brought up to date.
pub(super) fn open(home: &Home) -> Result<Option<Connection>> {
    let path = path(home);
    match fsx::stat(home.fs(), &path)? {
        None => return Ok(None),
        Some(stat) if stat.kind == fsx::FileKind::File => {}
        Some(_) => {
            return Err(disk::Error::Malformed {
                path,
                reason: "it is not a regular file".to_owned(),
            }
            .into());
        }
    }
    let db = connect(home)?;
    let number = |name: &str| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    match (number("application_id")?, number("user_version")?) {
        (APPLICATION, VERSION) => Ok(Some(db)),
        (APPLICATION, _) => Ok(None),
        (0, 0) if is_empty(&db)? => Ok(None),
        _ => {
            drop(db);
            quarantine(home)?;
            Ok(None)
        }
    }
}

/// A new one, to be filled and then put in its place.
pub(super) fn draft(home: &Home) -> Result<(Connection, StagedFile<'_>)> {
    // SQLite would make a file that others may read.
    let draft = StagedFile::of(home.fs(), &path(home))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(draft.path(), flags)?;
    create(&db)?;
    Ok((db, draft))
}

/// Puts a full one in its place, and opens it there.
pub(super) fn put(home: &Home, db: Connection, draft: StagedFile<'_>) -> Result<Connection> {
    db.close().map_err(|(_, error)| error)?;
    remove(home)?;
    draft.publish()?;
    connect(home)
}

/// The same, in memory.
pub(super) fn in_memory() -> Result<Connection> {
    let db = Connection::open_in_memory()?;
    create(&db)?;
    Ok(db)
}

fn connect(home: &Home) -> Result<Connection> {
    let path = path(home);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(&path, flags)?;
    db.busy_timeout(BUSY)?;
    // Closing would remove the write-ahead log by its name, which may be that of a newer file.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let mode: String = db.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if mode != "wal" {
        return Err(disk::Error::Malformed {
            path,
            reason: format!("its journal mode is {mode}"),
        }
        .into());
    }
    db.pragma_update(None, "synchronous", "normal")?;
    Ok(db)
}

fn is_empty(db: &Connection) -> Result<bool> {
    let count: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(count == 0)
}

fn create(db: &Connection) -> Result<()> {
    db.execute_batch(&format!(
        "{FILLING} BEGIN IMMEDIATE; {TABLES} PRAGMA application_id = {APPLICATION}; \
         PRAGMA user_version = {VERSION}; COMMIT;"
    ))?;
    Ok(())
}

/// What finds the rows again, once they are there.
pub(super) fn make_indexes(db: &Connection) -> Result<()> {
    Ok(db.execute_batch(INDEXES)?)
}

/// Removes the file and what SQLite keeps beside it, which is worth nothing without it.
pub(super) fn remove(home: &Home) -> Result<()> {
    let path = path(home);
    let stat = fsx::stat(home.fs(), &path)?;
    if stat.is_some_and(|stat| stat.kind != fsx::FileKind::File) {
        let reason = "it is not a regular file; nothing of ours is in it: move it away".to_owned();
        return Err(disk::Error::Malformed { path, reason }.into());
    }
    remove_companions(home)?;
    Ok(fsx::remove(home.fs(), &path)?)
}

/// Keeps a broken file for whoever wants to see it; only the last one.
pub(super) fn quarantine(home: &Home) -> Result<()> {
    remove_companions(home)?;
    let path = path(home);
    if fsx::stat(home.fs(), &path)?.is_none() {
        return Ok(());
    }
    let aside = home.root().join("index.db.broken");
    fsx::remove(home.fs(), &aside)?;
    Ok(fsx::move_files(home.fs(), &[(path, aside)])?)
}

fn remove_companions(home: &Home) -> Result<()> {
    for name in ["index.db-wal", "index.db-shm"] {
        fsx::remove(home.fs(), &home.root().join(name))?;
    }
    Ok(())
}

/// What a failure says about the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Blame {
    /// The file is broken.
    File,
    /// The file may be in order; it cannot be used here and now.
    Circumstance,
    /// It is not the index that failed.
    Elsewhere,
}

/// What failed.
pub(super) fn blame(error: &Error) -> Blame {
    let Error::Index(error) = error else {
        return Blame::Elsewhere;
    };
    match error.sqlite_error_code() {
        Some(
            ErrorCode::PermissionDenied
            | ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::OutOfMemory
            | ErrorCode::ReadOnly
            | ErrorCode::OperationInterrupted
            | ErrorCode::SystemIoFailure
            | ErrorCode::DiskFull
            | ErrorCode::CannotOpen
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::NoLargeFileSupport,
        ) => Blame::Circumstance,
        // A table that is missing, a value of another type: somebody else has been at it.
        _ => Blame::File,
    }
}
