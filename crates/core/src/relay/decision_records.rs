//! Decisions on record.
//!
//! Owns the decision file, which with its line in the history is the decision: it names that line, is
//! created where there was none, or none that counts, and is durable before its flag appears.

use flagpost_disk::{
    dialects::relay::{self as layout, EnvelopePart},
    fsx::Batch,
    process,
};
use flagpost_model::{
    Seq, WorkerId,
    decision::{Decision, DecisionRecord, Prints, Via, WithheldReason},
    envelope::{Direction, Hash},
};
use serde_json::json;

use super::{Locked, Mail, Transition, briefs::BriefView};
use crate::{
    error::Result,
    history::{Entry, Kind},
};

/// A decision on what is recognised by these.
pub(super) fn verdict_of(
    locked: &Locked<'_>,
    actor: &WorkerId,
    on: Prints,
    (decision, via): (Decision, Via),
) -> DecisionRecord {
    DecisionRecord {
        decision,
        by: actor.clone(),
        at: locked.at,
        sha256: on.sha256,
        envelope: Some(on.envelope),
        via,
        reason: None,
        rule: None,
        policy: None,
        hand: Some(process::own_identity().clone()),
        line: None,
    }
}

impl Mail<'_> {
    /// The brief that names the greatest line of the history, up to `most`: that of its decision, or of
    /// the words that were kept of it. None where no brief names one.
    pub(crate) fn furthest(&self, most: u64) -> Result<Option<(u64, Seq)>> {
        let mut furthest = None;
        for (seq, slot) in self.slots(Direction::Inbox)? {
            let decided = match slot.has(EnvelopePart::Decision) {
                true => self.verdict(seq)?.ok().and_then(|it| it.line),
                false => None,
            };
            let kept = self.kept_words(seq, &slot)?.map(|it| it.line);
            let lines = [decided, kept].into_iter().flatten();
            let lines = lines.filter(|line| *line <= most).map(|line| (line, seq));
            furthest = furthest.max(lines.max());
        }
        Ok(furthest)
    }
}

impl Locked<'_> {
    /// Puts decisions on record, and then their flags up.
    pub(super) fn put(
        &self,
        actor: &WorkerId,
        verdicts: Vec<(BriefView, DecisionRecord)>,
    ) -> Result<()> {
        self.put_with(Batch::new(), actor, verdicts)
    }

    /// The same in a batch that holds what is decided on.
    pub(super) fn put_with(
        &self,
        batch: Batch,
        actor: &WorkerId,
        verdicts: Vec<(BriefView, DecisionRecord)>,
    ) -> Result<()> {
        if verdicts.is_empty() {
            return Ok(());
        }
        let put = self.commit_numbered(actor, |first| {
            let mut made = Transition {
                entries: Vec::new(),
                batch,
            };
            for (line, (letter, verdict)) in (first..).zip(&verdicts) {
                let line = Some(line);
                let verdict = DecisionRecord {
                    line,
                    ..verdict.clone()
                };
                self.decide_in(&mut made.batch, letter, &verdict)?;
                self.unmark(&mut made.batch, letter);
                let flag = layout::flag(letter.brief.seq, verdict.decision);
                made.batch.flag(self.path(&flag));
                made.entries
                    .push(self.verdict_entry(letter.brief.seq, &verdict));
            }
            Ok(made)
        });
        let first = match put {
            Ok(first) => first,
            Err(error) => {
                // Should that fail too, the next look does it.
                let _: Result<()> = self.repair(actor);
                return Err(error);
            }
        };
        for (line, (letter, verdict)) in (first..).zip(&verdicts) {
            self.keep_what_was_decided(line, letter, verdict)?;
        }
        Ok(())
    }

    /// Takes down the marks that an unknown hand made before this decision, and of what its worker
    /// acknowledged before: the decision reaches it anew.
    fn unmark(&self, batch: &mut Batch, letter: &BriefView) {
        let (seq, slot) = (letter.brief.seq, &letter.slot);
        if slot.has(EnvelopePart::Read) {
            batch.remove(self.path(&layout::read_flag(seq)));
        }
        if slot.has(EnvelopePart::Withdrawn) {
            batch.remove(self.path(&layout::withdrawn(seq)));
        }
    }

    /// Keeps the words that were decided on, where they are not those that were proposed.
    fn keep_what_was_decided(
        &self,
        line: u64,
        letter: &BriefView,
        verdict: &DecisionRecord,
    ) -> Result<()> {
        let is_as_proposed = letter
            .held
            .is_none_or(|it| matches!(it, WithheldReason::Foreign | WithheldReason::Marked));
        if is_as_proposed && verdict.decision != Decision::Edited {
            return Ok(());
        }
        let seq = letter.brief.seq;
        if let Ok(sidecar) = self.mail.sidecar(seq)? {
            self.keep_words(seq, line, (sidecar, &letter.body));
        }
        Ok(())
    }

    pub(super) fn verdict_entry(&self, seq: Seq, verdict: &DecisionRecord) -> Entry {
        let mut entry = self
            .mail
            .entry(Kind::BriefDecided, Some(seq))
            .detail("decision", verdict.decision.as_str())
            .detail("by", verdict.by.as_str())
            .detail("via", verdict.via.as_str())
            .detail("sha256", verdict.sha256.as_str());
        let told = [
            ("envelope", verdict.envelope.as_ref().map(Hash::as_str)),
            ("reason", verdict.reason.as_deref()),
            ("rule", verdict.rule.as_deref()),
            ("policy", verdict.policy.as_ref().map(Hash::as_str)),
        ];
        for (key, text) in told {
            if let Some(text) = text {
                entry = entry.detail(key, text);
            }
        }
        match &verdict.hand {
            Some(hand) => entry.detail("hand", json!(hand)),
            None => entry,
        }
    }
}
