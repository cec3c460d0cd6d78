//! What was begun and not finished, and what cannot be understood.
//!
//! Owns the look that every change of a direction begins with. A decision without its flag gets it;
//! a flag without a decision gets one, `external`; half a brief is moved aside once it is a minute
//! old; a malformed message is copied aside once and left alone.

use flagpost_disk::{
    dialects::relay::{self as layout, Part},
    fsx::{self, Batch},
};
use flagpost_model::{
    Seq, WorkerId,
    decision::{Decision, Standing, Verdict, Via},
    envelope::{Direction, Hash},
};

use super::{Locked, slots::Slot};
use crate::{error::Result, history::Kind};

/// A writer may be between sidecar and body for so long.
const PATIENCE_SECONDS: i64 = 60;

impl Locked<'_> {
    /// Finishes and clears away. What the worker has read is not looked at again.
    pub(super) fn tidy(&self, actor: &WorkerId) -> Result<()> {
        for (seq, slot) in self.mail.slots(self.direction)? {
            match self.direction {
                Direction::Outbox if !slot.has(Part::Read) => {
                    self.tidy_report(actor, seq, &slot)?
                }
                // A worker may be quicker than whoever records what was decided by hand.
                Direction::Inbox
                    if slot.has(Part::Body)
                        && (!slot.has(Part::Read)
                            || slot.is_brief() && !slot.has(Part::Decision)) =>
                {
                    self.tidy_brief(actor, seq, &slot)?;
                }
                Direction::Inbox | Direction::Outbox => {}
            }
        }
        Ok(())
    }

    fn tidy_report(&self, actor: &WorkerId, seq: Seq, slot: &Slot) -> Result<()> {
        if slot.has(Part::Report)
            && let Err(unread) = self.mail.report(seq)?
        {
            let entry = self.mail.entry(Kind::EnvelopeQuarantined, None);
            let path = self.path(&unread.name);
            self.quarantine(actor, &path, entry, &unread.reason)?;
        }
        Ok(())
    }

    fn tidy_brief(&self, actor: &WorkerId, seq: Seq, slot: &Slot) -> Result<()> {
        if !slot.has(Part::Sidecar) {
            return self.put_half_aside(actor, seq);
        }
        let is_settled = slot.has(Part::Decision) && !slot.flags().is_empty();
        if is_settled {
            return Ok(());
        }
        let parts = (
            self.mail.sidecar(seq)?.err(),
            self.mail.body(seq)?,
            self.mail.standing(seq, slot)?,
        );
        match parts {
            (None, Ok(_), Ok(Standing::Pending)) => Ok(()),
            (None, Ok(_), Ok(Standing::Decided(verdict))) => {
                let flag = self.path(&layout::flag(seq, verdict.decision));
                Ok(fsx::flags(self.mail.home.fs(), &[flag])?)
            }
            (None, Ok(body), Ok(Standing::Flagged(decision))) => {
                self.adopt(actor, seq, decision, &body)
            }
            (Some(unread), ..) | (_, Err(unread), _) | (.., Err(unread)) => {
                let entry = self.mail.entry(Kind::EnvelopeQuarantined, None);
                let path = self.path(&unread.name);
                self.quarantine(actor, &path, entry, &unread.reason)
            }
        }
    }

    /// Writes the decision that a flag touched by hand stands for, on the body as it is now.
    fn adopt(&self, actor: &WorkerId, seq: Seq, decision: Decision, body: &str) -> Result<()> {
        let verdict = Verdict {
            decision,
            by: Via::External.as_str().parse()?,
            at: self.at,
            sha256: Hash::of(body.as_bytes()),
            via: Via::External,
            reason: None,
            rule: None,
        };
        let mut batch = Batch::new();
        batch.create(
            self.path(&layout::decision(seq)),
            layout::write_verdict(&verdict),
        );
        let entry = self.verdict_entry(seq, &verdict).detail("observed", true);
        self.commit(actor, vec![entry], batch, &[])
    }

    /// A body whose sidecar never came.
    fn put_half_aside(&self, actor: &WorkerId, seq: Seq) -> Result<()> {
        let (fs, path) = (self.mail.home.fs(), self.path(&layout::body(seq)));
        let Some(stat) = fsx::stat(fs, &path)? else {
            return Ok(());
        };
        if self.at.as_second() - stat.modified / 1_000_000_000 <= PATIENCE_SECONDS {
            return Ok(());
        }
        if self.copyable(&path)?.is_none() {
            return Ok(());
        }
        self.retire(seq)?;
        let entry = self.mail.entry(Kind::EnvelopeQuarantined, None);
        self.quarantine(actor, &path, entry, "it has no sidecar")?;
        Ok(fsx::remove(fs, &path)?)
    }
}
