//! What a hand that nobody knows did to a brief.
//!
//! Owns that it is put on record once; that a decision without a line in the history counts only where
//! the policy accepts it, and then has a line of its own; and that decision file and flags say what the
//! decision on record says. What was put in the place of something of ours is copied aside before it
//! goes.

use std::path::{Path, PathBuf};

use flagpost_disk::{
    dialects::relay::{self as layout, EnvelopePart},
    fsx::{self, Batch},
};
use flagpost_model::{
    Seq, WorkerId,
    decision::{Decision, DecisionRecord, DecisionState, Via, WithheldReason},
};

use super::{
    Locked, Mail, Transition,
    briefs::{self, BriefView, Filed},
    envelope_files::{EnvelopeFiles, Understood},
    publication::proposed_entry,
    record::Certainty,
};
use crate::{
    error::{Error, OrderRefusal, Result},
    history::{Entry, Kind},
    policy,
};

impl Locked<'_> {
    /// A brief as it is, once what others did to it is on record and set right as far as it can be.
    pub(super) fn examined(
        &self,
        actor: &WorkerId,
        seq: Seq,
        slot: &EnvelopeFiles,
    ) -> Result<Understood<BriefView>> {
        let is_over = slot.is_over() && slot.has(EnvelopePart::Decision);
        let look = if is_over {
            Certainty::Near
        } else {
            Certainty::Sure
        };
        let mut letter = match briefs::read(self.mail, seq, slot, look)? {
            Ok(letter) => letter,
            Err(unread) => return Ok(Err(unread)),
        };
        if is_over {
            self.tell_of_change(actor, &letter)?;
            return Ok(Ok(letter));
        }
        let is_on_record = matches!(letter.standing, DecisionState::Decided(_));
        if letter.told.proposed.is_none() && !is_on_record {
            self.record_the_proposal(&mut letter)?;
        }
        let is_other = match (&letter.standing, letter.held) {
            (DecisionState::Flagged(decision), None) => {
                match self.accept(actor, &letter, *decision) {
                    // The policy of a machine without the gate lets nothing through.
                    Err(Error::Order(OrderRefusal::NotAllowed { .. })) => {
                        self.unmask(actor, &letter, *decision)?;
                        false
                    }
                    accepted => accepted.map(|()| true)?,
                }
            }
            (DecisionState::Foreign(decision) | DecisionState::Flagged(decision), _) => {
                self.unmask(actor, &letter, *decision)?;
                false
            }
            (DecisionState::Decided(verdict), _) => self.set_right(actor, &letter, verdict)?,
            (DecisionState::Pending, _) => false,
        };
        if !is_other {
            self.tell_of_change(actor, &letter)?;
            return Ok(Ok(letter));
        }
        let slots = self.mail.slots(self.direction)?;
        let slot = slots.get(&seq).unwrap_or(slot);
        let read = briefs::read(self.mail, seq, slot, Certainty::Near)?;
        if let Ok(letter) = &read {
            self.tell_of_change(actor, letter)?;
        }
        Ok(read)
    }

    /// Records as what a brief was proposed that nobody recorded: as what it is.
    fn record_the_proposal(&self, letter: &mut BriefView) -> Result<()> {
        let (mail, seq) = (self.mail, letter.brief.seq);
        let actor = letter.brief.controller_session_id.parse();
        let actor = actor.unwrap_or_else(|_| WorkerId::operator());
        let entry = proposed_entry(mail, &letter.brief, &letter.prints);
        let entry = entry.detail("observed", true);
        let found = self.words_at(seq);
        let line = self.record_found(&actor, (vec![entry], &found))?;
        if let Ok(sidecar) = mail.sidecar(seq)? {
            self.keep_words(seq, line, (sidecar, &letter.body));
        }
        letter.know(mail.told(seq, || Ok(None), Certainty::Known)?);
        Ok(())
    }

    /// Makes a decision of one that an unknown hand made, and that the policy accepts: on the brief as
    /// it is now.
    fn accept(&self, actor: &WorkerId, letter: &BriefView, decision: Decision) -> Result<()> {
        let seq = letter.brief.seq;
        let policy = policy::of(self.mail.home, &self.mail.repo)?;
        let verdict = DecisionRecord {
            decision,
            by: Via::External.as_str().parse()?,
            at: self.at,
            sha256: letter.prints.sha256.clone(),
            envelope: Some(letter.prints.envelope.clone()),
            via: Via::External,
            reason: None,
            rule: None,
            policy: policy.sha256,
            hand: None,
            line: None,
        };
        self.commit_numbered(actor, |line| {
            let mut made = Transition::default();
            let verdict = DecisionRecord {
                line: Some(line),
                ..verdict
            };
            self.decide_in(&mut made.batch, letter, &verdict)?;
            // It is there, and on no other machine yet.
            made.batch.flag(self.path(&layout::flag(seq, decision)));
            let entry = self.verdict_entry(seq, &verdict).detail("observed", true);
            made.entries.push(entry);
            Ok(made)
        })?;
        Ok(())
    }

    /// Puts on record that a decision is an unknown hand's.
    fn unmask(&self, actor: &WorkerId, letter: &BriefView, decision: Decision) -> Result<()> {
        let (seq, slot) = (letter.brief.seq, &letter.slot);
        if slot.has(EnvelopePart::Foreign) {
            return Ok(());
        }
        let what = match slot.has(EnvelopePart::Decision) {
            true => layout::decision(seq),
            false => layout::flag(seq, decision),
        };
        let entry = self
            .outside(letter)
            .detail("decision", decision.as_str())
            .detail("via", Via::External.as_str())
            .detail("file", what);
        let mark = self.path(&layout::foreign(seq));
        self.commit_flag(actor, vec![entry], mark)
    }

    /// Sees to it that the decision on record has its file and its flag, and no other, and that what its
    /// worker acknowledged says so. Whether anything was otherwise.
    fn set_right(
        &self,
        actor: &WorkerId,
        letter: &BriefView,
        verdict: &DecisionRecord,
    ) -> Result<bool> {
        let (seq, slot, fs) = (letter.brief.seq, &letter.slot, self.mail.home.fs());
        let path = |decision| self.path(&layout::flag(seq, decision));
        let (mut batch, mut was_outside) = (Batch::new(), Vec::new());
        let decision = self.path(&layout::decision(seq));
        match letter.filed {
            Filed::It => {}
            Filed::Unnumbered => batch.put(decision, layout::write_verdict(verdict)),
            Filed::Nothing => {
                batch.create(decision, layout::write_verdict(verdict));
                // Its flag comes after it.
                was_outside.extend((!slot.flags().is_empty()).then(|| layout::decision(seq)));
            }
            // What is no file cannot be replaced, and speaks for nobody.
            Filed::Other if self.is_in_the_way(&decision)? => {}
            Filed::Other => {
                if let Some(there) = self.copyable(&decision)? {
                    fsx::store(fs, &decision, &there, "it is not the decision on record")?;
                }
                batch.put(decision, layout::write_verdict(verdict));
                was_outside.push(layout::decision(seq));
            }
        }
        for flag in slot.flags() {
            if flag != verdict.decision {
                batch.remove(path(flag));
                was_outside.push(layout::flag(seq, flag));
            }
        }
        if !slot.has(EnvelopePart::Flag(verdict.decision)) {
            batch.flag(path(verdict.decision));
        }
        if letter.told.is_read
            && !slot.has(EnvelopePart::Read)
            && self.is_read_for_sure(actor, seq)?
        {
            batch.flag(self.path(&layout::read_flag(seq)));
        }
        if batch.is_empty() {
            return Ok(false);
        }
        let entry = self
            .outside(letter)
            .detail("files", was_outside.join(", "))
            .detail("decision", verdict.decision.as_str());
        if was_outside.is_empty() {
            // Whoever wrote the line may have been stopped before it was durable.
            fsx::sync(fs, self.mail.history().path())?;
        } else {
            self.record(actor, vec![entry])?;
        }
        // The line tells what was decided. Each machine has its own files say so, and asks nobody.
        self.commit(actor, Vec::new(), batch)?;
        Ok(true)
    }

    /// Whether an acknowledgement is on record that was not cut short before its mark.
    fn is_read_for_sure(&self, actor: &WorkerId, seq: Seq) -> Result<bool> {
        self.mail.history().void_unapplied(actor, self.at)?;
        Ok(self.mail.told(seq, || Ok(None), Certainty::Known)?.is_read)
    }

    /// Whether something lies there that no file can take the place of.
    fn is_in_the_way(&self, path: &Path) -> Result<bool> {
        let stat = fsx::stat(self.mail.home.fs(), path)?;
        Ok(stat.is_some_and(|it| it.kind == fsx::FileKind::Dir))
    }

    /// Puts on record, once for each content, that a brief is not what it was, and keeps a copy of that.
    pub(super) fn tell_of_change(&self, actor: &WorkerId, letter: &BriefView) -> Result<()> {
        let (mail, seq) = (self.mail, letter.brief.seq);
        let (since, was) = match (letter.held, &letter.standing, &letter.told.proposed) {
            (Some(WithheldReason::Decided), DecisionState::Decided(it), _) => {
                ("decided", it.sha256.clone())
            }
            (None, DecisionState::Decided(it), _) if letter.is_rewritten() => {
                ("decided", it.sha256.clone())
            }
            (Some(WithheldReason::Proposed), _, Some(it)) => ("proposed", it.sha256.clone()),
            _ => return Ok(()),
        };
        let file = match was == letter.prints.sha256 {
            true => layout::sidecar(seq),
            false => layout::body(seq),
        };
        let mut entries = vec![
            self.outside(letter)
                .detail("since", since)
                .detail("sha256", letter.prints.sha256.as_str())
                .detail("was", was.as_str()),
        ];
        if letter.held == Some(WithheldReason::Decided) {
            entries.push(mail.entry(Kind::BriefWithheld, Some(seq)));
        }
        if letter.told.changes.contains(&letter.prints.envelope) {
            // Another machine told of it.
            entries.clear();
        }
        // Once it is decided on, only what was counts, and other machines have that.
        let found = match letter.standing {
            DecisionState::Decided(_) => Vec::new(),
            DecisionState::Pending | DecisionState::Flagged(_) | DecisionState::Foreign(_) => {
                self.words_at(seq)
            }
        };
        let reason = format!("it was changed after it was {since}");
        self.quarantine(actor, &self.path(&file), (entries, &found), &reason)
            .map(drop)
    }

    /// Where the words of a brief are.
    pub(super) fn words_at(&self, seq: Seq) -> Vec<PathBuf> {
        [layout::sidecar(seq), layout::body(seq)]
            .map(|name| self.path(&name))
            .into()
    }

    fn outside(&self, letter: &BriefView) -> Entry {
        let mut entry = self
            .mail
            .entry(Kind::ChangedOutside, Some(letter.brief.seq))
            .detail("observed", true)
            .detail("envelope", letter.prints.envelope.as_str());
        entry.actor = Via::External.as_str().parse().ok();
        entry
    }

    /// Puts a decision into a batch; what lies in its place is copied aside, and goes.
    pub(super) fn decide_in(
        &self,
        batch: &mut Batch,
        letter: &BriefView,
        verdict: &DecisionRecord,
    ) -> Result<()> {
        let (seq, slot, fs) = (letter.brief.seq, &letter.slot, self.mail.home.fs());
        let path = self.path(&layout::decision(seq));
        let bytes = layout::write_verdict(verdict);
        if slot.has(EnvelopePart::Decision) {
            if let Some(there) = self.copyable(&path)? {
                fsx::store(fs, &path, &there, "another decision took its place")?;
            }
            batch.put(path, bytes);
        } else {
            batch.create(path, bytes);
        }
        for flag in slot.flags() {
            if flag != verdict.decision {
                batch.remove(self.path(&layout::flag(seq, flag)));
            }
        }
        if slot.has(EnvelopePart::Foreign) {
            batch.remove(self.path(&layout::foreign(seq)));
        }
        Ok(())
    }
}
/// Whether a brief's flags that an unknown hand touched count. Of one in a shared repository that is on record as an unknown hand's a person
/// is asked: it may be the hand of a machine that decides nothing.
pub(super) fn accepts_flags_of(mail: &Mail<'_>, slot: &EnvelopeFiles) -> Result<bool> {
    let accepts = policy::accepts_foreign_flags(mail.home, &mail.repo);
    Ok(accepts && !(slot.has(EnvelopePart::Foreign) && mail.history().is_shared()?))
}
