//! The tasks of every list.
//!
//! Owns their rows and texts. A file that is no task is reported each time it is met.

use flagpost_model::{
    ListId,
    search::{SearchKind, of_task},
};
use rusqlite::params;

use super::{Projection, TextOwner};
use crate::{
    error::{Error, Result},
    index::{
        Owner,
        dir_cache::{FileTable, stamp},
        store::{self, Blame},
    },
    list::List,
    roots::{self, RootStatus},
};

impl Projection<'_> {
    pub(super) fn tasks(&mut self) -> Result<()> {
        let mut lists = self.home.lists()?;
        match roots::scan(self.home) {
            Ok(found) => {
                for root in found {
                    match root.standing {
                        RootStatus::Readable { lists: more, .. } => lists.extend(more),
                        RootStatus::Missing => {}
                        RootStatus::Unreadable(error) => self.lost_root(error.into())?,
                    }
                }
            }
            Err(error) => self.lost_root(error)?,
        }
        for id in lists {
            if let Err(error) = self.list(&id) {
                self.give_up(Owner::List(id.clone()), id.as_str(), error)?;
            }
        }
        Ok(())
    }

    /// Nobody knows which lists it has: what the index has of any stays.
    fn lost_root(&mut self, error: Error) -> Result<()> {
        if store::blame(&error) != Blame::Elsewhere {
            return Err(error);
        }
        self.fault(Owner::Home, None, error.to_string());
        self.keep("SELECT place FROM task", &[])
    }

    fn list(&mut self, id: &ListId) -> Result<()> {
        let list = List::open(self.home, id)?;
        let files = list.scan_files()?;
        let mut shelf = self.dir_cache(FileTable::Task, list.dir(), id.as_str())?;
        shelf.load()?;
        for (file, stat) in files {
            let name = file.to_string_lossy();
            let stamp = stamp(&[stat], self.looked_at);
            if shelf.has(&name, &stamp)? {
                continue;
            }
            let task = match list.read(&file, stat) {
                Ok(Some(file)) => file.task,
                Ok(None) => {
                    shelf.forget(&name)?;
                    continue;
                }
                Err(reason) => {
                    shelf.forget(&name)?;
                    self.fault(Owner::List(id.clone()), Some(name.into_owned()), reason);
                    continue;
                }
            };
            let row = self
                .db
                .prepare_cached(
                    "INSERT INTO task(place, name, stamp, list, task, subject, state, owner) \
                     VALUES (?, ?, ?, ?, ?, ?, ?, ?) \
                     ON CONFLICT(place, name) DO UPDATE SET stamp = excluded.stamp, \
                     subject = excluded.subject, state = excluded.state, owner = excluded.owner \
                     RETURNING id",
                )?
                .query_row(
                    params![
                        shelf.place(),
                        name,
                        stamp,
                        id.as_str(),
                        task.id.as_str(),
                        task.subject,
                        task.state.name().as_str(),
                        task.owner
                    ],
                    |row| row.get(0),
                )?;
            let source = TextOwner {
                kind: SearchKind::Task,
                thing: row,
                scope: id.as_str(),
                name: task.id.as_str(),
                at: 0,
            };
            self.texts(&source, &of_task(&task))?;
        }
        shelf.forget_the_rest()
    }
}
