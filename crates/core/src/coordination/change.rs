//! One change of a coordination directory: locked, recorded, replaced as a whole.
//!
//! Owns the order: read under the lock → rule → new tables durable under temporary names → lines of
//! the history durable → names change → answer. Invariants: nobody's change is written over, whether
//! they held the lock or not; the table's `last_updated` grows with every change of ours, which is
//! how a line of the history is known to have appeared.

use std::{path::PathBuf, time::Duration};

use flagpost_disk::{
    self as disk,
    dialects::coordination::{self as layout},
    fsx::{self, Batch, Durability},
};
use flagpost_model::{
    TaskId, WorkerId,
    coordination::{
        Board, CoordAgent, CoordEvent, CoordStatus, CoordTask, just_after, micros, transition,
    },
    task::StateName,
};
use jiff::{SignedDuration, Timestamp, civil::DateTime};

use super::{Directory, Tables, unknown, worker::CoordActor};
use crate::{
    error::{Error, Result},
    history::{Entry, History, Kind, detail::TABLE},
    readable::readable,
};

/// Somebody who writes without the lock is given way to so often.
const ATTEMPTS: usize = 5;

/// So long nobody asks again who has just had the lock. It knows no queue: whoever has just had it would
/// have it again before anybody who waits for it has woken up.
pub(crate) const STAND_BACK: Duration = Duration::from_micros(200);

/// A sign of life is not written more often than this.
const HEARTBEAT_INTERVAL: SignedDuration = SignedDuration::from_secs(20);

/// A directory, locked for one change.
#[derive(Debug)]
pub(crate) struct CoordChange {
    /// As it is to be.
    pub board: Board,
    /// When it happens.
    pub now: DateTime,
    at: Timestamp,
    tables: Tables,
    entries: Vec<Entry>,
    pages: Vec<(PathBuf, String)>,
    told: Vec<(String, String)>,
}

impl Directory<'_> {
    /// Carries out a change, durable on return. `work` may be called several times, each time on
    /// what is there then.
    pub(crate) fn change<T>(
        &self,
        actor: &WorkerId,
        mut work: impl FnMut(&mut CoordChange) -> Result<T>,
    ) -> Result<T> {
        self.home.transact(|| {
            let lock = self.lock()?;
            let done = self.attempts(actor, &mut work);
            drop(lock);
            std::thread::sleep(STAND_BACK);
            done
        })
    }

    fn attempts<T>(
        &self,
        actor: &WorkerId,
        work: &mut impl FnMut(&mut CoordChange) -> Result<T>,
    ) -> Result<T> {
        let mut attempt = 1;
        loop {
            let tables = self.read()?;
            let at = self.home.now();
            let mut change = CoordChange {
                board: tables.board(),
                now: self.naive(at),
                at,
                tables,
                entries: Vec::new(),
                pages: Vec::new(),
                told: Vec::new(),
            };
            let answer = work(&mut change)?;
            match self.commit(actor, change) {
                Err(Error::Disk(disk::Error::Changed { .. })) if attempt < ATTEMPTS => attempt += 1,
                done => return done.map(|()| answer),
            }
        }
    }

    /// Makes sure of a directory in ours; other programs make them when they need them.
    pub(crate) fn make_dir(&self, name: &str) -> Result<()> {
        let dir = self.path(name);
        match fsx::stat(self.home.fs(), &dir)? {
            Some(_) => Ok(()),
            None => self.home.make_dirs(&dir),
        }
    }

    fn commit(&self, actor: &WorkerId, change: CoordChange) -> Result<()> {
        let fs = self.home.fs();
        let mut batch = Batch::new();
        let agents = &change.board.agents;
        if !agents.iter().eq(change.tables.agents.contents()) {
            if let Some(reason) = change.tables.agents_fault {
                let path = self.path(layout::AGENTS);
                return Err(disk::Error::Malformed { path, reason }.into());
            }
            let bytes = layout::write_agents(&change.tables.agents, agents);
            batch.put(self.path(layout::AGENTS), readable("table", bytes)?);
        }
        let tasks_changed = !change.board.tasks.iter().eq(change.tables.tasks.contents());
        let earlier = change.tables.tasks.last_updated;
        let updated = earlier.map_or(change.now, |it| change.now.max(just_after(it)));
        if tasks_changed {
            let bytes = layout::write_tasks(&change.tables.tasks, &change.board.tasks, updated);
            batch.put(self.path(layout::TASKS), readable("table", bytes)?);
        }
        let sealed = batch.stage(fs)?;
        let path = self.path(layout::TASKS);
        if fsx::read(fs, &path)?.as_deref() != Some(change.tables.bytes.tasks.as_slice()) {
            return Err(disk::Error::Changed { path }.into());
        }
        // Before the table says that there is one.
        for (path, text) in change.pages {
            self.make_dir(layout::RESULTS)?;
            fsx::replace(fs, &path, &readable("result", text.into_bytes())?)?;
        }
        match self.repository.as_ref().filter(|_| tasks_changed) {
            None => sealed.publish()?,
            Some(repository) => {
                let history = History::of(self.home, repository);
                let writer = history.writer(change.at)?;
                let lines = change.entries.into_iter().map(|it| {
                    it.detail(TABLE, self.dir.to_string_lossy().into_owned())
                        .detail("rev", micros(updated))
                });
                writer.carry_out(actor, lines.collect(), sealed)?;
            }
        }
        for (name, line) in change.told {
            // The tables are the truth: a log that cannot be written takes nothing back.
            let path = self.path(&layout::log(&name));
            let _: Result<()> = self.make_dir(layout::LOGS);
            let _: disk::Result<()> = fsx::append(fs, &path, line.as_bytes(), Durability::Lazy);
        }
        Ok(())
    }
}

impl CoordChange {
    /// A task as it is.
    pub fn task(&self, id: &TaskId) -> Result<&CoordTask> {
        self.board.task(id).ok_or_else(|| unknown(id))
    }

    /// Moves a task, as the rules let it.
    pub fn apply(&mut self, after: CoordTask, kind: Kind) {
        let place = self.board.tasks.iter_mut().find(|it| it.id == after.id);
        let Some(place) = place else {
            return;
        };
        let mut entry = Entry::new(kind);
        entry.task = Some(after.id.clone());
        entry.from = Some(state(place.status));
        entry.to = Some(state(after.status));
        if let Some(token) = after.holder().and_then(|it| it.token()) {
            entry.detail.insert("token".to_owned(), token.0.into());
        }
        self.entries.push(entry);
        *place = after;
    }

    /// What the rules make of an event.
    pub fn judge(
        &self,
        task: &CoordTask,
        hand: &CoordActor<'_>,
        event: CoordEvent,
    ) -> Result<CoordTask> {
        let act = self.board.act(task, hand.actor, hand.token, self.now);
        Ok(transition(task, &act, event)?)
    }

    /// Says how a task stands that was added just now.
    pub fn set_status(&mut self, id: &TaskId, status: CoordStatus) {
        if let Some(task) = self.board.tasks.iter_mut().find(|it| it.id == *id) {
            task.status = status;
        }
        let its = |entry: &&mut Entry| entry.task.as_ref() == Some(id);
        if let Some(entry) = self.entries.iter_mut().find(its) {
            entry.to = Some(state(status));
        }
    }

    /// A name for the table, for good.
    pub fn name(&self, directory: &Directory<'_>) -> String {
        directory.name(&self.tables)
    }

    /// Adds a task.
    pub fn push(&mut self, task: CoordTask) {
        let mut entry = Entry::new(Kind::TaskCreated);
        entry.task = Some(task.id.clone());
        entry.to = Some(state(task.status));
        self.entries.push(entry);
        self.board.tasks.push(task);
    }

    /// The tables as they are.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// An agent's sign of life; not written more often than need be.
    pub fn seen(&mut self, id: &WorkerId) {
        let now = self.now;
        let fresh = |it: &CoordAgent| {
            it.last_seen
                .is_some_and(|it| now.duration_since(it) <= HEARTBEAT_INTERVAL)
        };
        if !self.board.agent(id.as_str()).is_some_and(fresh) {
            self.agent(id).last_seen = Some(now);
        }
    }

    /// An agent, known from now on.
    pub fn agent(&mut self, id: &WorkerId) -> &mut CoordAgent {
        let agents = &mut self.board.agents;
        let at = agents.iter().position(|it| it.id == *id);
        let at = at.unwrap_or_else(|| {
            agents.push(CoordAgent {
                id: id.clone(),
                capabilities: Vec::new(),
                registered_at: Some(self.now),
                last_seen: Some(self.now),
            });
            agents.len() - 1
        });
        &mut agents[at]
    }

    /// Writes a page together with the tables.
    pub fn page(&mut self, path: PathBuf, text: String) {
        self.pages.push((path, text));
    }

    /// A line in somebody's log.
    pub fn tell(&mut self, name: &str, action: &str, detail: &str) {
        let line = layout::log_line(self.now, action, detail);
        self.told.push((name.to_owned(), line));
    }
}

/// The status in the words of the history.
fn state(status: CoordStatus) -> StateName {
    match status {
        CoordStatus::Available => StateName::Pending,
        CoordStatus::Claimed => StateName::Claimed,
        CoordStatus::InProgress => StateName::InProgress,
        CoordStatus::Done => StateName::Completed,
        CoordStatus::Failed => StateName::Failed,
        CoordStatus::Cancelled => StateName::Cancelled,
        CoordStatus::Blocked => StateName::Stuck,
    }
}
