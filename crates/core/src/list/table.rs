//! The table of a coordination directory as a list.
//!
//! Owns how it is read: as a whole, and understood anew only where its bytes differ from those that
//! were understood last. Invariant: whoever writes into it in place shows nobody half of it who waits
//! for the lock.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use flagpost_disk::{TaskFile, dialects::coordination as layout};
use flagpost_model::{
    TaskId, WorkerId,
    coordination::{Board, ViewContext},
    task::Outline,
};
use jiff::Timestamp;

use super::{Loaded, rows};
use crate::{
    coordination::{Directory, Locks, STAND_BACK, Tables},
    error::Result,
    skipped::Skipped,
};

/// The table as a list.
#[derive(Debug)]
pub(crate) struct TableList<'h> {
    /// Where it is.
    pub directory: Directory<'h>,
    last: Mutex<Option<Arc<View>>>,
    is_ours: AtomicBool,
}

/// The table as it was read.
#[derive(Debug)]
pub(crate) struct View {
    /// Its bytes, and what they say.
    pub tables: Tables,
    /// The tasks, by id.
    pub files: BTreeMap<TaskId, TaskFile>,
}

/// The table's lock, held.
#[derive(Debug)]
pub(crate) struct TableLock<'t> {
    lock: Option<Locks>,
    is_ours: &'t AtomicBool,
}

impl Drop for TableLock<'_> {
    fn drop(&mut self) {
        self.is_ours.store(false, Ordering::Relaxed);
        drop(self.lock.take());
        thread::sleep(STAND_BACK);
    }
}

impl<'h> TableList<'h> {
    /// The table of this directory.
    pub fn of(directory: Directory<'h>) -> Self {
        Self {
            directory,
            last: Mutex::default(),
            is_ours: AtomicBool::new(false),
        }
    }

    /// Locks it for one change.
    pub fn lock(&self) -> Result<TableLock<'_>> {
        let lock = self.directory.lock()?;
        self.is_ours.store(true, Ordering::Relaxed);
        Ok(TableLock {
            lock: Some(lock),
            is_ours: &self.is_ours,
        })
    }

    /// All of it as it is now.
    pub fn view(&self) -> Result<Arc<View>> {
        match self.is_ours.load(Ordering::Relaxed) {
            // It would wait for us.
            true => self.look(),
            false => self
                .directory
                .read_whole(|| self.look(), |view| &view.tables),
        }
    }

    fn look(&self) -> Result<Arc<View>> {
        let bytes = self.directory.bytes()?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(view) = last.as_ref().filter(|it| it.tables.bytes == bytes) {
            return Ok(Arc::clone(view));
        }
        let view = Arc::new(View::of(&self.directory, self.directory.tables(bytes)?));
        *last = Some(Arc::clone(&view));
        Ok(view)
    }

    /// What it is called for good, wherever it is moved.
    pub fn name(&self) -> Option<String> {
        let view = self.view().ok()?;
        Some(self.directory.name(&view.tables))
    }

    /// The task that an id means: itself, or the number in one of ours.
    pub fn named(&self, given: &TaskId) -> Result<Option<TaskId>> {
        let view = self.view()?;
        let numbered = given.counted().map(layout::numbered);
        let numbered = numbered.and_then(|it| it.parse::<TaskId>().ok());
        let names = [Some(given.clone()), numbered].into_iter().flatten();
        Ok(names.into_iter().find(|id| view.files.contains_key(id)))
    }

    /// Those of `ready` that this worker may be given, in the table's own order.
    pub fn in_order(
        &self,
        actor: &WorkerId,
        at: Timestamp,
        ready: &[TaskId],
    ) -> Result<Vec<TaskId>> {
        let board = self.view()?.tables.board();
        let (queue, _) = board.queue(actor, self.directory.naive(at));
        Ok(queue.into_iter().filter(|it| ready.contains(it)).collect())
    }

    /// The task as a row says it that is not in the table.
    pub fn read_row(&self, raw: &rows::Raw) -> Result<TaskFile, String> {
        let zone = self.directory.zone();
        let row = layout::read_row(raw, &zone)?;
        let board = self
            .view()
            .map_err(|error| error.to_string())?
            .tables
            .board();
        let seen = ViewContext {
            held_until: board.held_until(&row),
            zone: &zone,
        };
        Ok(rows::read(&row, raw, seen))
    }
}

impl View {
    /// The tables as tasks of a list.
    pub fn of(directory: &Directory<'_>, tables: Tables) -> Self {
        let (board, zone) = (tables.board(), directory.zone());
        let files = tables.tasks.rows().map(|(row, raw)| {
            let seen = ViewContext {
                held_until: board.held_until(row),
                zone: &zone,
            };
            (row.id.clone(), rows::read(row, raw, seen))
        });
        let mut files: BTreeMap<TaskId, TaskFile> = files.collect();
        mirror(&board, &mut files);
        Self { tables, files }
    }

    /// What a list that is loaded says.
    pub fn loaded(&self) -> Loaded {
        let outlines = self.files.values().map(|it| Outline::from(&it.task));
        Loaded {
            outlines: outlines.collect(),
            skipped: self.skipped(),
        }
    }

    /// The rows that are no tasks.
    pub fn skipped(&self) -> Vec<Skipped> {
        self.tables.skipped()
    }
}

/// The table says only who waits for whom; a list says it from both sides.
fn mirror(board: &Board, files: &mut BTreeMap<TaskId, TaskFile>) {
    for row in &board.tasks {
        for dependency in &row.dependencies {
            if let Some(file) = files.get_mut(dependency)
                && !file.task.blocks.contains(&row.id)
            {
                file.task.blocks.push(row.id.clone());
            }
        }
    }
}
