//! Retention: older mail moves to the archive.
//!
//! Owns what may go: all but the newest hundred of a direction, as far as it was read or taken back.
//! What waits for anybody stays, and so does a TASK that its worker has not ended. The body goes first, and durably: what is left of a move that was cut short is no
//! message, and the next run finishes it.

use std::collections::BTreeSet;

use flagpost_disk::{
    dialects::relay::{self as layout, EnvelopePart},
    fsx,
};
use flagpost_model::{Seq, WorkerId, envelope::Direction};
use jiff::Timestamp;

use super::{Locked, Mail, envelope_files::EnvelopeFiles, messages};
use crate::{error::Result, history::Kind};

/// So many messages of a direction stay where they are.
pub const KEEP: usize = 100;

/// What was archived of one direction.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
pub struct Archived {
    /// Whose mail.
    pub worker: WorkerId,
    /// Which direction.
    pub direction: Direction,
    /// Which messages.
    pub seqs: Vec<Seq>,
}

/// Archives what may go of a worker's mail; with `dry_run` only says what would.
pub fn archive(mail: &Mail<'_>, actor: &WorkerId, dry_run: bool) -> Result<Vec<Archived>> {
    let mut archived = Vec::new();
    for direction in Direction::ALL {
        let archive = || mail.lock(*direction)?.archive(actor, dry_run);
        let seqs = mail.home.transact(archive)?;
        if !seqs.is_empty() {
            archived.push(Archived {
                worker: mail.worker.clone(),
                direction: *direction,
                seqs,
            });
        }
    }
    Ok(archived)
}

impl Locked<'_> {
    fn archive(&self, actor: &WorkerId, dry_run: bool) -> Result<Vec<Seq>> {
        let going = self.going()?;
        let seqs: Vec<Seq> = going.iter().map(|(seq, _)| *seq).collect();
        if dry_run || seqs.is_empty() {
            return Ok(seqs);
        }
        let (fs, main) = (self.mail.home.fs(), self.main());
        let (mut first, mut rest) = (Vec::new(), Vec::new());
        let names = super::envelope_files::names(fs, &self.dir)?;
        for (seq, month) in going {
            let to = self.mail.archive_of(&month, self.direction);
            self.mail.home.make_dirs(&to)?;
            for name in &names {
                match layout::parse(self.direction, name) {
                    Some((of, part)) if of == seq => {
                        let moved = (self.path(name), to.join(name));
                        if part == main { &mut first } else { &mut rest }.push(moved);
                    }
                    _ => {}
                }
            }
        }
        let numbers: Vec<u64> = seqs.iter().map(|seq| seq.get()).collect();
        let entry = self
            .mail
            .entry(Kind::EnvelopesArchived, None)
            .detail("direction", self.direction.as_str())
            .detail("seqs", numbers);
        // Cut short, the next run tells of the rest again.
        self.record(actor, vec![entry])?;
        self.note_archived(&seqs)?;
        fsx::move_files(fs, &first)?;
        fsx::move_files(fs, &rest)?;
        Ok(seqs)
    }

    /// The file whose appearance is the message.
    fn main(&self) -> EnvelopePart {
        match self.direction {
            Direction::Inbox => EnvelopePart::Body,
            Direction::Outbox => EnvelopePart::Report,
        }
    }

    /// What goes, and under which month.
    fn going(&self) -> Result<Vec<(Seq, String)>> {
        let slots = self.mail.slots(self.direction)?;
        let main = self.main();
        let whole: Vec<&Seq> = slots
            .iter()
            .filter(|(_, it)| it.has(main))
            .map(|(seq, _)| seq)
            .collect();
        let old = whole.len().saturating_sub(KEEP);
        let in_hand = match (old, self.direction) {
            (0, _) | (_, Direction::Outbox) => BTreeSet::new(),
            (_, Direction::Inbox) => messages::in_hand(self.mail)?,
        };
        let mut going = Vec::new();
        for seq in whole.into_iter().take(old) {
            let Some(slot) = slots.get(seq) else { continue };
            let is_over = slot.has(EnvelopePart::Read) || slot.has(EnvelopePart::Withdrawn);
            if is_over
                && !in_hand.contains(seq)
                && let Some(at) = self.time_of(*seq, slot)?
            {
                going.push((*seq, layout::month(at)));
            }
        }
        for (seq, _) in slots.iter().filter(|(_, slot)| !slot.has(main)) {
            going.extend(
                self.mail
                    .archived_in(self.direction, *seq)?
                    .map(|month| (*seq, month)),
            );
        }
        Ok(going)
    }

    fn time_of(&self, seq: Seq, slot: &EnvelopeFiles) -> Result<Option<Timestamp>> {
        Ok(match self.direction {
            Direction::Inbox if !slot.is_brief() => None,
            Direction::Inbox => self
                .mail
                .sidecar(seq)?
                .ok()
                .map(|it| it.content.submitted_at),
            Direction::Outbox => self.mail.report(seq)?.ok().map(|it| it.content.produced_at),
        })
    }
}

impl Mail<'_> {
    /// The month whose archive holds the message already.
    pub(super) fn archived_in(&self, direction: Direction, seq: Seq) -> Result<Option<String>> {
        let name = match direction {
            Direction::Inbox => layout::body(seq),
            Direction::Outbox => layout::report(seq),
        };
        for month in self.months()? {
            let path = self.archive_of(&month, direction).join(&name);
            if fsx::stat(self.home.fs(), &path)?.is_some() {
                return Ok(Some(month));
            }
        }
        Ok(None)
    }
}
