//! What the index has of one directory, beside what is there now.
//!
//! Owns telling what is as it was, what changed, and what is gone. A file is as it was when its stamp
//! is: size, inode, times of change. One that changed just before it was looked at has no stamp,
//! since a second change in the same tick of the clock would not show.

use std::{collections::HashMap, os::unix::ffi::OsStrExt, path::Path};

use flagpost_disk::fsx::Stat;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use crate::error::Result;

/// The tables whose rows are read from files of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileTable {
    Task,
    Envelope,
    Log,
}

impl FileTable {
    pub(super) const ALL: [Self; 3] = [Self::Task, Self::Envelope, Self::Log];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Envelope => "envelope",
            Self::Log => "log",
        }
    }

    /// The kinds of its passages.
    fn kinds(self) -> &'static str {
        match self {
            Self::Task => "'task'",
            Self::Envelope => "'brief', 'report'",
            Self::Log => "'session'",
        }
    }
}

/// The stamp of something that is read from these files; empty, and equal to none, where one of them
/// changed just now.
pub(super) fn stamp(stats: &[Stat], looked_at: Timestamp) -> Vec<u8> {
    if !stats.iter().all(|stat| stat.is_settled(looked_at)) {
        return Vec::new();
    }
    let words = |stat: &Stat| {
        let (modified, changed) = (stat.modified.to_le_bytes(), stat.changed.to_le_bytes());
        [
            stat.len.to_le_bytes(),
            stat.inode.to_le_bytes(),
            modified,
            changed,
        ]
        .concat()
    };
    stats.iter().flat_map(words).collect()
}

/// One directory's rows of one table.
#[derive(Debug)]
pub(super) struct DirCache<'c> {
    db: &'c Connection,
    table: FileTable,
    place: i64,
    stamp: Vec<u8>,
    known: HashMap<String, (i64, Vec<u8>)>,
}

impl<'c> DirCache<'c> {
    /// The rows of a directory, which belongs to a list or a repository.
    pub(super) fn of(
        db: &'c Connection,
        table: FileTable,
        dir: &Path,
        scope: &str,
    ) -> Result<Self> {
        let path = dir.as_os_str().as_bytes();
        let there = db
            .prepare_cached("SELECT id, stamp FROM place WHERE path = ?")?
            .query_row([path], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let (place, stamp) = match there {
            Some(there) => there,
            None => {
                db.prepare_cached("INSERT INTO place(path, scope, stamp) VALUES (?, ?, x'')")?
                    .execute(params![path, scope])?;
                (db.last_insert_rowid(), Vec::new())
            }
        };
        Ok(Self {
            db,
            table,
            place,
            stamp,
            known: HashMap::new(),
        })
    }

    pub(super) fn place(&self) -> i64 {
        self.place
    }

    /// Whether the directory itself is as it was.
    pub(super) fn is_untouched(&self, stamp: &[u8]) -> bool {
        !stamp.is_empty() && self.stamp == stamp
    }

    /// Remembers how the directory was before it was looked through.
    pub(super) fn remember(&self, stamp: &[u8]) -> Result<()> {
        if self.stamp != stamp {
            self.db
                .prepare_cached("UPDATE place SET stamp = ? WHERE id = ?")?
                .execute(params![stamp, self.place])?;
        }
        Ok(())
    }

    /// Gets the rows out, to be compared.
    pub(super) fn load(&mut self) -> Result<()> {
        let table = self.table.name();
        let sql = format!("SELECT name, id, stamp FROM {table} WHERE place = ?");
        let mut query = self.db.prepare_cached(&sql)?;
        let mut rows = query.query([self.place])?;
        while let Some(row) = rows.next()? {
            let stamped = (row.get(1)?, row.get(2)?);
            self.known.insert(row.get(0)?, stamped);
        }
        Ok(())
    }

    /// Whether what is here under this name now is what the index has. If not, its texts are out.
    pub(super) fn has(&mut self, name: &str, stamp: &[u8]) -> Result<bool> {
        let Some((id, known)) = self.known.remove(name) else {
            return Ok(false);
        };
        if !stamp.is_empty() && known == stamp {
            return Ok(true);
        }
        self.forget_texts(id)?;
        Ok(false)
    }

    /// Takes out what turned out to be unreadable.
    pub(super) fn forget(&self, name: &str) -> Result<()> {
        let table = self.table.name();
        let sql = format!("DELETE FROM {table} WHERE place = ? AND name = ?");
        self.db
            .prepare_cached(&sql)?
            .execute(params![self.place, name])?;
        Ok(())
    }

    /// Takes out what is gone: whatever nobody asked for.
    pub(super) fn forget_the_rest(self) -> Result<()> {
        let table = self.table.name();
        let sql = format!("DELETE FROM {table} WHERE id = ?");
        for (id, _) in self.known.values() {
            self.forget_texts(*id)?;
            self.db.prepare_cached(&sql)?.execute([id])?;
        }
        Ok(())
    }

    fn forget_texts(&self, id: i64) -> Result<()> {
        let kinds = self.table.kinds();
        let sql = format!("DELETE FROM passage WHERE kind IN ({kinds}) AND thing = ?");
        self.db.prepare_cached(&sql)?.execute([id])?;
        Ok(())
    }
}

/// Takes out the rows of every directory that is not there any more.
pub(super) fn forget_places(db: &Connection, gone: &[i64]) -> Result<()> {
    for place in gone {
        for table in FileTable::ALL {
            let (name, kinds) = (table.name(), table.kinds());
            let of_place = format!("SELECT id FROM {name} WHERE place = ?");
            let texts =
                format!("DELETE FROM passage WHERE kind IN ({kinds}) AND thing IN ({of_place})");
            db.execute(&texts, [place])?;
            db.execute(&format!("DELETE FROM {name} WHERE place = ?"), [place])?;
        }
        db.execute("DELETE FROM place WHERE id = ?", [place])?;
    }
    Ok(())
}
