//! What was begun and not finished, and what cannot be understood.
//!
//! Owns the look that every change of a direction begins with. A decision without its flag gets it;
//! what an unknown hand decided is accepted or put on record; half a brief is moved aside once it is a
//! minute old; a malformed message is copied aside once and left alone; a temporary of another writer
//! is removed once it is as old.

use std::path::Path;

use flagpost_disk::{
    dialects::relay::{self as layout, EnvelopePart},
    fsx::{self, Fs},
};
use flagpost_model::{Seq, WorkerId, envelope::Direction};
use jiff::Timestamp;

use super::{
    Fleet, Locked,
    envelope_files::{EnvelopeFiles, names},
    foreign,
    record::Certainty,
};
use crate::{error::Result, history::Kind, list::quarantine::FEW};

/// A writer may be between sidecar and body for so long.
const PATIENCE_SECONDS: i64 = 60;

impl Fleet<'_> {
    /// Removes what other writers of the format began a minute ago or longer and never renamed; how much
    /// there was.
    pub(crate) fn sweep_temporaries(&self) -> Result<usize> {
        let (fs, now, mut swept) = (self.home.fs(), self.home.now(), 0);
        for mail in self.mails()? {
            for direction in Direction::ALL {
                let dir = mail.dir(*direction);
                for name in names(fs, &dir)? {
                    let path = dir.join(&name);
                    if layout::is_temporary(*direction, &name) && is_old(fs, &path, now)? {
                        fsx::remove(fs, &path)?;
                        swept += 1;
                    }
                }
            }
        }
        Ok(swept)
    }
}

/// Whether it is so long ago that somebody wrote here that nobody is at it any more.
fn is_old(fs: &dyn Fs, path: &Path, now: Timestamp) -> Result<bool> {
    let stat = fsx::stat(fs, path)?.filter(|stat| stat.kind == fsx::FileKind::File);
    Ok(stat.is_some_and(|it| now.as_second() - it.modified / 1_000_000_000 > PATIENCE_SECONDS))
}

impl Locked<'_> {
    /// Finishes and clears away. What the worker has read is not looked at again.
    pub(super) fn repair(&self, actor: &WorkerId) -> Result<()> {
        for (seq, slot) in self.mail.slots(self.direction)? {
            match self.direction {
                Direction::Outbox if !slot.has(EnvelopePart::Read) => {
                    self.repair_report(actor, seq, &slot)?
                }
                // A worker may be quicker than whoever records what was decided by hand.
                Direction::Inbox
                    if slot.has(EnvelopePart::Body)
                        && (!slot.has(EnvelopePart::Read)
                            || slot.is_brief() && !slot.has(EnvelopePart::Decision)) =>
                {
                    self.repair_brief(actor, seq, &slot)?;
                }
                Direction::Inbox | Direction::Outbox => {}
            }
        }
        Ok(())
    }

    fn repair_report(&self, actor: &WorkerId, seq: Seq, slot: &EnvelopeFiles) -> Result<()> {
        if slot.has(EnvelopePart::Report)
            && let Err(unread) = self.mail.report(seq)?
        {
            self.set_aside(actor, &self.path(&unread.name), &unread.reason)?;
        }
        Ok(())
    }

    fn repair_brief(&self, actor: &WorkerId, seq: Seq, slot: &EnvelopeFiles) -> Result<()> {
        if !slot.has(EnvelopePart::Sidecar) {
            return self.quarantine_body(actor, seq);
        }
        let is_settled = slot.has(EnvelopePart::Decision) && slot.flags().len() == 1;
        let is_told = slot.has(EnvelopePart::Foreign) && !slot.has(EnvelopePart::Decision);
        let told = self.mail.told(seq, || Ok(None), Certainty::Known)?;
        // Its worker said that it has it, and its mark never came or was taken away.
        let is_settled = is_settled && (!told.is_read || slot.has(EnvelopePart::Read));
        if is_settled || is_told && !foreign::accepts_flags_of(self.mail, slot)? {
            return Ok(());
        }
        let unread = match slot.is_decided() || told.decided.is_some() {
            true => self.examined(actor, seq, slot)?.err(),
            false => match self.mail.sidecar(seq)? {
                Err(unread) => Some(unread),
                Ok(_) => self.mail.body(seq)?.err(),
            },
        };
        let Some(unread) = unread else {
            return Ok(());
        };
        self.set_aside(actor, &self.path(&unread.name), &unread.reason)?;
        Ok(())
    }

    /// A body whose sidecar never came.
    fn quarantine_body(&self, actor: &WorkerId, seq: Seq) -> Result<()> {
        let (fs, path) = (self.mail.home.fs(), self.path(&layout::body(seq)));
        if !is_old(fs, &path, self.at)? {
            return Ok(());
        }
        if self.copyable(&path)?.is_none() {
            return Ok(());
        }
        self.retire(seq)?;
        if self.set_aside(actor, &path, "it has no sidecar")? {
            fsx::remove(fs, &path)?;
        }
        Ok(())
    }

    /// Keeps a copy of what cannot be understood; whether it was this one's turn: of many, the rest is for the
    /// changes after this one.
    fn set_aside(&self, actor: &WorkerId, path: &Path, reason: &str) -> Result<bool> {
        if self.quarantined.get() == FEW {
            return Ok(false);
        }
        let entry = self.mail.entry(Kind::EnvelopeQuarantined, None);
        let is_new = self.quarantine(actor, path, (vec![entry], &[]), reason)?;
        self.quarantined
            .set(self.quarantined.get() + usize::from(is_new));
        Ok(true)
    }
}
