//! What a hand that nobody knows did to a brief.
//!
//! Owns that it is put on record once; that a decision without a line in the history counts only where
//! the policy accepts it, and then has a line of its own; and that the flags say what the decision on
//! record says. What was put in the place of something of ours is copied aside before it goes.

use flagpost_disk::{
    dialects::relay::{self as layout, Part},
    fsx::{self, Batch},
};
use flagpost_model::{
    Seq, WorkerId,
    decision::{Decision, Held, Standing, Verdict, Via},
};

use super::{
    Locked, Transition,
    briefs::{self, Letter},
    policy,
    publication::proposed_entry,
    record::Look,
    slots::{Slot, Understood},
};
use crate::{
    error::Result,
    history::{Entry, Kind},
};

impl Locked<'_> {
    /// A brief as it is, once what others did to it is on record and set right as far as it can be.
    pub(super) fn examined(
        &self,
        actor: &WorkerId,
        seq: Seq,
        slot: &Slot,
    ) -> Result<Understood<Letter>> {
        let mut letter = match briefs::read(self.mail, seq, slot)? {
            Ok(letter) => letter,
            Err(unread) => return Ok(Err(unread)),
        };
        if slot.is_over() && slot.has(Part::Decision) {
            return Ok(Ok(letter));
        }
        if let Standing::Pending | Standing::Flagged(_) | Standing::Foreign(_) = letter.standing
            && letter.proposed.is_none()
        {
            self.be_sure_of_the_proposal(&mut letter)?;
        }
        let is_other = match (&letter.standing, letter.held) {
            (Standing::Flagged(decision), None) => {
                self.accept(actor, &letter, *decision)?;
                true
            }
            (Standing::Foreign(decision) | Standing::Flagged(decision), _) => {
                self.unmask(actor, &letter, *decision)?
            }
            (Standing::Decided(verdict), _) => self.set_flags_right(actor, &letter, verdict)?,
            (Standing::Pending, _) => false,
        };
        if !is_other {
            self.tell_of_change(actor, &letter)?;
            return Ok(Ok(letter));
        }
        let slots = self.mail.slots(self.direction)?;
        let slot = slots.get(&seq).unwrap_or(slot);
        let read = briefs::read(self.mail, seq, slot)?;
        if let Ok(letter) = &read {
            self.tell_of_change(actor, letter)?;
        }
        Ok(read)
    }

    /// Looks through all of the history where its end does not tell as what a brief was proposed. One
    /// that nobody recorded is recorded now, as what it is.
    fn be_sure_of_the_proposal(&self, letter: &mut Letter) -> Result<()> {
        let (mail, seq) = (self.mail, letter.brief.seq);
        let mut proposal = mail.proposal(seq, || Ok(None), Look::Sure)?;
        if proposal.is_none() {
            let actor = letter.brief.controller_session_id.parse();
            let actor = actor.unwrap_or_else(|_| WorkerId::operator());
            let entry = proposed_entry(mail, &letter.brief, &letter.prints);
            let entry = entry.detail("observed", true);
            let told = Transition {
                entries: vec![entry],
                ..Transition::default()
            };
            let line = self.carry_out(&actor, told)?;
            if let Ok(sidecar) = mail.sidecar(seq)? {
                self.keep_words(seq, line, (sidecar, &letter.body));
            }
            proposal = mail.proposal(seq, || Ok(None), Look::Near)?;
        }
        letter.know_the_proposal(proposal);
        Ok(())
    }

    /// Makes a decision of one that an unknown hand made, and that the policy accepts: on the brief as
    /// it is now.
    fn accept(&self, actor: &WorkerId, letter: &Letter, decision: Decision) -> Result<()> {
        let seq = letter.brief.seq;
        let policy = policy::of(self.mail.home, &self.mail.repo)?;
        let verdict = Verdict {
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
            let verdict = Verdict {
                line: Some(line),
                ..verdict
            };
            self.decide_in(&mut made.batch, letter, &verdict)?;
            let entry = self.verdict_entry(seq, &verdict).detail("observed", true);
            made.entries.push(entry);
            Ok(made)
        })?;
        Ok(())
    }

    /// Tells whose a decision is that is not known to be on record: somebody's after all, who decided
    /// long ago, or an unknown hand's. Whether it is on record after all.
    fn unmask(&self, actor: &WorkerId, letter: &Letter, decision: Decision) -> Result<bool> {
        let (mail, seq, slot) = (self.mail, letter.brief.seq, &letter.slot);
        if slot.has(Part::Foreign) {
            return Ok(false);
        }
        let mut what = layout::flag(seq, decision);
        if slot.has(Part::Decision)
            && let Ok(verdict) = mail.verdict(seq)?
        {
            if let Some(line) = mail.decision_line(seq, &verdict, Look::Sure)? {
                let verdict = Verdict {
                    line: Some(line),
                    ..verdict
                };
                let path = self.path(&layout::decision(seq));
                fsx::replace(mail.home.fs(), &path, &layout::write_verdict(&verdict))?;
                return Ok(true);
            }
            what = layout::decision(seq);
        }
        let entry = self
            .outside(letter)
            .detail("decision", decision.as_str())
            .detail("via", Via::External.as_str())
            .detail("file", what);
        let mark = self.path(&layout::foreign(seq));
        self.commit(actor, vec![entry], Batch::new(), &[mark])?;
        Ok(false)
    }

    /// Puts the flag of the decision on record up, and takes any other down. Whether there was one.
    fn set_flags_right(
        &self,
        actor: &WorkerId,
        letter: &Letter,
        verdict: &Verdict,
    ) -> Result<bool> {
        let (seq, flags) = (letter.brief.seq, letter.slot.flags());
        let path = |decision| self.path(&layout::flag(seq, decision));
        let right = path(verdict.decision);
        let wrong: Vec<Decision> = flags
            .iter()
            .copied()
            .filter(|flag| *flag != verdict.decision)
            .collect();
        if wrong.is_empty() {
            if flags.is_empty() {
                fsx::flags(self.mail.home.fs(), &[right])?;
            }
            return Ok(false);
        }
        let names: Vec<&str> = wrong.iter().map(|it| it.as_str()).collect();
        let entry = self
            .outside(letter)
            .detail("flags", names.join(", "))
            .detail("decision", verdict.decision.as_str());
        let mut batch = Batch::new();
        for flag in wrong {
            batch.remove(path(flag));
        }
        self.commit(actor, vec![entry], batch, &[right])?;
        Ok(true)
    }

    /// Puts on record, once for each content, that a brief is not what it was, and keeps a copy of that.
    pub(super) fn tell_of_change(&self, actor: &WorkerId, letter: &Letter) -> Result<()> {
        let (mail, seq) = (self.mail, letter.brief.seq);
        let (since, was) = match (letter.held, &letter.standing, &letter.proposed) {
            (Some(Held::Decided), Standing::Decided(it), _) => ("decided", it.sha256.clone()),
            (Some(Held::Proposed), _, Some(it)) => ("proposed", it.sha256.clone()),
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
        if letter.held == Some(Held::Decided) {
            entries.push(mail.entry(Kind::BriefWithheld, Some(seq)));
        }
        let reason = format!("it was changed after it was {since}");
        self.quarantine(actor, &self.path(&file), entries, &reason)
    }

    fn outside(&self, letter: &Letter) -> Entry {
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
        letter: &Letter,
        verdict: &Verdict,
    ) -> Result<()> {
        let (seq, slot, fs) = (letter.brief.seq, &letter.slot, self.mail.home.fs());
        let path = self.path(&layout::decision(seq));
        let bytes = layout::write_verdict(verdict);
        if slot.has(Part::Decision) {
            if let Some(there) = self.copyable(&path)? {
                fsx::keep(fs, &path, &there, "another decision took its place")?;
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
        if slot.has(Part::Foreign) {
            batch.remove(self.path(&layout::foreign(seq)));
        }
        Ok(())
    }
}
