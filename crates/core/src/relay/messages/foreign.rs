//! Reading somebody else's message database.
//!
//! Owns that it is only read: it is copied, with what its SQLite has not put into it yet, and the copy
//! is asked. Opening it where it lies would write beside it, read-only or not. A row that cannot be
//! understood is named and costs no other.

use std::path::{Path, PathBuf};

use flagpost_disk::{
    self as disk,
    fsx::{self, Fs, StagedFile, Stat},
};
use flagpost_model::message::foreign::MessageRow;
use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use rusqlite::{Connection, OpenFlags, types::ValueRef};

use crate::{
    error::{Error, Result},
    home::Home,
    skipped::Skipped,
};

/// What a source has.
#[derive(Debug, Default)]
pub struct ForeignMessages {
    /// Its messages, in the order of their numbers.
    pub rows: Vec<MessageRow>,
    /// What of it cannot be understood.
    pub skipped: Vec<Skipped>,
}

/// What SQLite keeps beside a database: what is not in it yet, what is to be taken back.
const BESIDE: [&str; 2] = ["-wal", "-journal"];

/// So often it is copied again, where somebody wrote to it meanwhile.
const TRIES: usize = 5;

const LARGEST: u64 = 4 << 30;

const ROWS: &str = "SELECT id, subject, from_id, to_id, body, thread_id, created_at, acked_at \
    FROM messages ORDER BY id";

/// Reads all messages of a database with the table `messages` (docs/formats/index.md).
pub fn read(home: &Home, path: &Path) -> Result<ForeignMessages> {
    let fs = home.fs();
    let path = &fs.canonical(path).map_err(disk::Error::io("read", path))?;
    let copy = Copy::of(home, path)?;
    let not_one = |error: rusqlite::Error| Error::Invalid {
        what: path.display().to_string(),
        reason: format!("it is no message database: {error}"),
    };
    let db = copy.open().map_err(not_one)?;
    let mut query = db.prepare(ROWS).map_err(not_one)?;
    let mut rows = query.query([]).map_err(not_one)?;
    let mut source = ForeignMessages::default();
    while let Some(row) = rows.next().map_err(not_one)? {
        let id: i64 = row.get(0).map_err(not_one)?;
        match understand(id, row) {
            Ok(row) => source.rows.push(row),
            Err(reason) => source
                .skipped
                .push(Skipped::new(format!("row {id}"), reason)),
        }
    }
    Ok(source)
}

fn understand(id: i64, row: &rusqlite::Row<'_>) -> std::result::Result<MessageRow, String> {
    let value = |at: usize| row.get_ref(at).map_err(|error| error.to_string());
    let text = |at: usize| value(at).map(text);
    Ok(MessageRow {
        id,
        subject: text(1)?,
        from: text(2)?,
        to: text(3)?,
        body: text(4)?,
        thread: Some(text(5)?).filter(|it| !it.is_empty()),
        at: time(value(6)?)?.ok_or("nobody knows when it was said")?,
        acked: time(value(7)?)?,
    })
}

fn text(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into(),
    }
}

/// A time as SQLite writes it, in UTC, or with a zone, or in seconds since 1970.
fn time(value: ValueRef<'_>) -> std::result::Result<Option<Timestamp>, String> {
    let known = match value {
        ValueRef::Null => return Ok(None),
        ValueRef::Integer(seconds) => Timestamp::from_second(seconds).ok(),
        other => {
            let text = text(other);
            // Go's own form, which its drivers store.
            let plain = text.split(" +0000 UTC").next().unwrap_or_default().trim();
            let zoned = plain.parse::<Timestamp>().ok();
            let bare = || plain.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok();
            zoned.or_else(|| bare().map(|it| it.timestamp()))
        }
    };
    known
        .map(Some)
        .ok_or_else(|| format!("{:?} is no time", text(value)))
}

/// A copy of a database in the home, which goes when it was read.
struct Copy<'h> {
    fs: &'h dyn Fs,
    draft: StagedFile<'h>,
}

impl<'h> Copy<'h> {
    fn of(home: &'h Home, path: &Path) -> Result<Self> {
        let fs = home.fs();
        let copy = Self {
            fs,
            draft: StagedFile::of(fs, &home.root().join("import.db"))?,
        };
        for _ in 0..TRIES {
            let before = stats(fs, path)?;
            copy.take(path)?;
            if stats(fs, path)? == before {
                return Ok(copy);
            }
        }
        Err(Error::Invalid {
            what: path.display().to_string(),
            reason: "somebody is writing to it: stop that, and import it again".to_owned(),
        })
    }

    fn take(&self, path: &Path) -> Result<()> {
        for suffix in std::iter::once("").chain(BESIDE) {
            let (from, to) = (
                with_suffix(path, suffix),
                with_suffix(self.draft.path(), suffix),
            );
            match self.fs.read(&from, 0, LARGEST) {
                Ok(bytes) => self.fs.overwrite(&to, &bytes),
                Err(error)
                    if !suffix.is_empty() && error.kind() == std::io::ErrorKind::NotFound =>
                {
                    fsx::remove(self.fs, &to)?;
                    continue;
                }
                Err(error) => Err(error),
            }
            .map_err(disk::Error::io("read", &from))?;
        }
        Ok(())
    }

    fn open(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Connection::open_with_flags(self.draft.path(), flags)
    }
}

impl Drop for Copy<'_> {
    fn drop(&mut self) {
        for suffix in BESIDE.into_iter().chain(["-shm"]) {
            // Best effort, as for the copy itself.
            let _: std::io::Result<()> = self.fs.remove(&with_suffix(self.draft.path(), suffix));
        }
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn stats(fs: &dyn Fs, path: &Path) -> Result<Vec<Option<Stat>>> {
    let all = std::iter::once("").chain(BESIDE);
    let stats = all.map(|suffix| fsx::stat(fs, &with_suffix(path, suffix)));
    Ok(stats.collect::<disk::Result<_>>()?)
}
