//! Bringing the index up to date.
//!
//! Owns the order: the history first, then what it tells of, then the numbers of the messages; all
//! of it in one transaction. A new one takes the same way, and gets its indexes once it has rows. What
//! cannot be read keeps the rows that it had and is reported; nothing else is held up by it.

mod history;
mod mail;
mod messages;
mod sessions;
mod tasks;

use std::{collections::HashSet, ffi::OsString, path::Path};

use flagpost_disk::{self as disk, fsx::Stat};
use flagpost_model::{
    RepoId,
    search::{SearchKind, SearchText},
};
use jiff::Timestamp;
use rusqlite::{Connection, TransactionBehavior, params};

use super::{
    IndexFault, Owner,
    dir_cache::{self, DirCache, FileTable},
    store::{self, Blame},
};
use crate::{
    error::{Error, Result},
    home::Home,
};

/// What a refresh is at.
struct Projection<'c> {
    home: &'c Home,
    db: &'c Connection,
    state: IndexState,
    /// When it began.
    looked_at: Timestamp,
    /// The directories that are there, or may be.
    places: HashSet<i64>,
    faults: Vec<IndexFault>,
}

/// What the index holds so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IndexState {
    /// Nothing, and no indexes either.
    New,
    /// What the last one found.
    Earlier,
}

/// What texts are of.
struct TextOwner<'s> {
    kind: SearchKind,
    /// Its row.
    thing: i64,
    /// Its list or repository.
    scope: &'s str,
    /// What a person calls it there.
    name: &'s str,
    /// When it was said, in nanoseconds; 0 where that does not matter.
    at: i64,
}

/// Brings the index up to date; what could not be read.
pub(super) fn refresh(home: &Home, db: &mut Connection) -> Result<Vec<IndexFault>> {
    project(home, db, IndexState::Earlier)
}

/// Fills a new one; what could not be read.
pub(super) fn build(home: &Home, db: &mut Connection) -> Result<Vec<IndexFault>> {
    project(home, db, IndexState::New)
}

fn project(home: &Home, db: &mut Connection, state: IndexState) -> Result<Vec<IndexFault>> {
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut projection = Projection {
        home,
        db: &transaction,
        state,
        looked_at: home.now(),
        places: HashSet::new(),
        faults: Vec::new(),
    };
    projection.all()?;
    let faults = projection.faults;
    transaction.commit()?;
    Ok(faults)
}

impl<'c> Projection<'c> {
    fn all(&mut self) -> Result<()> {
        let before = self.db.total_changes();
        self.tasks()?;
        let repositories = self.home.ids_in::<RepoId>(&self.home.repositories_root())?;
        self.forget_repositories(&repositories)?;
        for repo in &repositories {
            self.repository(repo)?;
        }
        let mut gone = Vec::new();
        let mut query = self.db.prepare_cached("SELECT id FROM place")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let place = row.get(0)?;
            if !self.places.contains(&place) {
                gone.push(place);
            }
        }
        drop(rows);
        drop(query);
        dir_cache::forget_places(self.db, &gone)?;
        if self.state == IndexState::Earlier && self.db.total_changes() == before {
            return Ok(());
        }
        self.resolve_messages()?;
        if self.state == IndexState::New {
            store::make_indexes(self.db)?;
        }
        self.number_the_messages()
    }

    fn repository(&mut self, repo: &RepoId) -> Result<()> {
        let parts: [fn(&mut Self, &RepoId) -> Result<()>; 3] =
            [Self::history, Self::mail, Self::sessions];
        for part in parts {
            if let Err(error) = part(self, repo) {
                self.give_up(Owner::Repository(repo.clone()), repo.as_str(), error)?;
            }
        }
        Ok(())
    }

    /// Keeps what the index has of an owner that cannot be looked at. What the index itself cannot do
    /// is nobody else's fault.
    fn give_up(&mut self, owner: Owner, scope: &str, error: Error) -> Result<()> {
        if store::blame(&error) != Blame::Elsewhere {
            return Err(error);
        }
        self.fault(owner, None, error.to_string());
        self.keep("SELECT id FROM place WHERE scope = ?", &[scope])
    }

    fn keep(&mut self, places: &str, of: &[&str]) -> Result<()> {
        let mut query = self.db.prepare_cached(places)?;
        let mut rows = query.query(rusqlite::params_from_iter(of))?;
        while let Some(row) = rows.next()? {
            self.places.insert(row.get(0)?);
        }
        Ok(())
    }

    fn fault(&mut self, owner: Owner, file: Option<String>, reason: String) {
        self.faults.push(IndexFault {
            owner,
            file,
            reason,
        });
    }

    /// A directory's rows, to be compared with what is there.
    fn dir_cache(&mut self, table: FileTable, dir: &Path, scope: &str) -> Result<DirCache<'c>> {
        let shelf = DirCache::of(self.db, table, dir, scope)?;
        self.places.insert(shelf.place());
        Ok(shelf)
    }

    /// The texts of a thing.
    fn texts(&self, of: &TextOwner<'_>, texts: &[SearchText<'_>]) -> Result<()> {
        let mut insert = self.db.prepare_cached(
            "INSERT INTO passage(kind, thing, scope, name, at, field, n, text) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        for (place, n, text) in texts.iter().filter(|(_, _, text)| !text.is_empty()) {
            insert.execute(params![
                of.kind.as_str(),
                of.thing,
                of.scope,
                of.name,
                of.at,
                place.as_str(),
                n,
                text
            ])?;
        }
        Ok(())
    }
}

/// The files of a directory with what is there; none where there is no directory.
fn scan_dir(
    home: &Home,
    dir: &Path,
    wanted: &(dyn Fn(&str) -> bool + Sync),
) -> Result<Vec<(OsString, Stat)>> {
    let wanted = |name: &[u8]| std::str::from_utf8(name).is_ok_and(wanted);
    match home.fs().scan_dir(dir, &wanted) {
        Ok(files) => Ok(files),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(disk::Error::io("list", dir)(error).into()),
    }
}

/// A time in nanoseconds, as far as they reach: to the year 2262.
pub(super) fn nanoseconds(at: Timestamp) -> i64 {
    let nanoseconds = at.as_nanosecond();
    i64::try_from(nanoseconds).unwrap_or(if nanoseconds < 0 { i64::MIN } else { i64::MAX })
}
