//! Leases of messages: in whose hands each is, as files.
//!
//! Owns `.NNNN.offered` where it has content. A worker's word renews the leases of its inbox: that
//! of the task it names, else all. Asking for more renews none: it may be somebody who was restarted
//! and knows of nothing. A mark that cannot be read is a mark without a lease.

use std::path::Path;

use flagpost_disk::{
    dialects::relay::{self as layout, EnvelopePart},
    fsx::{self, Batch},
};
use flagpost_model::{
    Seq,
    envelope::Direction,
    message::{LEASE, Lease, Message, Subject},
};

use super::{Locked, Mail, envelope_files::EnvelopeFiles};
use crate::{error::Result, home::Home, reservations::Reservations};

/// In whose hands a message is; none where nobody was ever given it under a lease.
pub(super) fn read(home: &Home, dir: &Path, seq: Seq) -> Result<Option<Lease>> {
    let bytes = fsx::read(home.fs(), &dir.join(layout::offered(seq)))?;
    Ok(bytes.and_then(|bytes| layout::read_lease(&bytes).ok().flatten()))
}

impl Mail<'_> {
    /// In whose hands a message is.
    pub(super) fn lease(
        &self,
        direction: Direction,
        seq: Seq,
        slot: &EnvelopeFiles,
    ) -> Result<Option<Lease>> {
        match slot.has(EnvelopePart::Offered) {
            true => read(self.home, &self.dir(direction), seq),
            false => Ok(None),
        }
    }

    /// Renews what the worker has in hand: of a task, only that; without one, all. What it reserved
    /// it goes on holding in any case.
    pub(super) fn renew(&self, task: Option<&str>) -> Result<()> {
        // One that could not be renewed ends in its time: no reason to keep a worker's word back.
        let _: Result<()> = Reservations::of(self.home, &self.repo).renew(&self.worker);
        let slots = self.slots(Direction::Inbox)?;
        let mut due = Vec::new();
        for (seq, slot) in &slots {
            let lease = self.lease(Direction::Inbox, *seq, slot)?;
            let Some(lease) = lease.and_then(|it| it.renewed(self.home.now())) else {
                continue;
            };
            if task.is_none() || self.task_of(*seq)?.as_deref() == task {
                due.push((*seq, lease));
            }
        }
        if due.is_empty() {
            return Ok(());
        }
        let locked = self.lock(Direction::Inbox)?;
        for (seq, lease) in due {
            // Somebody may have been given it meanwhile.
            let now = read(self.home, &locked.dir, seq)?;
            if now.is_some_and(|it| it.count == lease.count) {
                locked.hold(seq, &lease)?;
            }
        }
        Ok(())
    }

    /// The task that a brief is; none where it is none, or cannot be read.
    fn task_of(&self, seq: Seq) -> Result<Option<String>> {
        let (Ok(brief), Ok(body)) = (self.sidecar(seq)?, self.body(seq)?) else {
            return Ok(None);
        };
        let message = Message::of_brief(&brief.content, &body);
        Ok(message
            .task()
            .filter(|_| message.subject == Some(Subject::Task)))
    }

    /// The worker goes on with a task.
    pub(super) fn take_up(&self, seq: Seq) -> Result<()> {
        self.change_lease(seq, |locked, before| Some(locked.of_task(before)))
    }

    /// The worker has ended a task: it is in nobody's hands any more.
    pub(super) fn end_task(&self, seq: Seq) -> Result<()> {
        self.change_lease(seq, |locked, before| {
            let live = before.filter(|it| it.is_live(locked.at))?.clone();
            let until = locked.at;
            Some(Lease { until, ..live })
        })
    }

    fn change_lease(
        &self,
        seq: Seq,
        change: impl FnOnce(&Locked<'_>, Option<&Lease>) -> Option<Lease>,
    ) -> Result<()> {
        let locked = self.lock(Direction::Inbox)?;
        let slots = self.slots(Direction::Inbox)?;
        let Some(slot) = slots.get(&seq) else {
            return Ok(());
        };
        let before = self.lease(Direction::Inbox, seq, slot)?;
        match change(&locked, before.as_ref()) {
            Some(lease) => locked.hold(seq, &lease),
            None => Ok(()),
        }
    }
}

impl Locked<'_> {
    /// The lease of a task from now on: as long as it was before, given out as often.
    pub(super) fn of_task(&self, before: Option<&Lease>) -> Lease {
        let length = before.map(|it| it.until.duration_since(it.at));
        let length = length.filter(|it| it.is_positive()).unwrap_or(LEASE);
        let count = before.map_or(0, |it| it.count.saturating_sub(1));
        Lease::new(&self.mail.worker, count, self.at, length)
    }

    /// Puts a lease down.
    fn hold(&self, seq: Seq, lease: &Lease) -> Result<()> {
        let path = self.path(&layout::offered(seq));
        Ok(fsx::replace(
            self.mail.home.fs(),
            &path,
            &layout::write_lease(lease),
        )?)
    }

    /// The same as part of a change.
    pub(super) fn hold_within(&self, batch: &mut Batch, seq: Seq, lease: &Lease) {
        batch.put(self.path(&layout::offered(seq)), layout::write_lease(lease));
    }
}
