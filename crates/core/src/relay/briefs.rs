//! Briefs: proposed by a controller, seen by the operator.
//!
//! Owns what may be proposed, and how each brief is and stands when somebody looks. A retry within
//! five minutes is answered with the brief it repeats.

use flagpost_disk::{
    self as disk,
    dialects::relay::{self as layout, EnvelopePart},
};
use flagpost_model::{
    Seq, WorkerId,
    decision::{self, Decision, DecisionRecord, DecisionState, Prints, Via, WithheldReason},
    envelope::{Brief, BriefKind, Direction, Extras, Key, VERSION, summary_of},
};
use jiff::Timestamp;

use super::{
    LOOK_BACK, Locked, Mail, PAGE, broken,
    decide::{self, Gate},
    decision_records::verdict_of,
    envelope_files::{EnvelopeFiles, Understood, Unreadable},
    foreign, page,
    publication::Appears,
    record::{BriefRecord, Certainty, RecordedProposal as OnRecord},
    skipped,
};
use crate::{Error, Result, Skipped, policy};

/// What a controller wants to say.
#[derive(Debug, Clone)]
pub struct NewBrief {
    /// What it is about.
    pub kind: BriefKind,
    /// The ticket it is about.
    pub ticket: Option<String>,
    /// What it says.
    pub body: String,
    /// The same in a line; without one, the first line of the body.
    pub summary: Option<String>,
    /// From when on nobody may decide on it.
    pub expires_at: Option<Timestamp>,
    /// The message that it answers.
    pub in_reply_to: Option<Seq>,
    /// The session that says it; without one, who acts.
    pub controller: Option<String>,
    /// Our additions.
    pub extras: Extras,
}

/// A brief that was proposed.
///
/// After 'flagpost assign', 'flagpost relay redirect' and merge.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
pub struct Proposed {
    /// The brief.
    pub brief: Brief,
    /// It was there already: this was a retry.
    pub replay: bool,
    /// The decision on record; null where there is none.
    pub verdict: Option<DecisionRecord>,
    /// Why the policy could not be asked.
    pub policy_fault: Option<String>,
}

/// How far a brief is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BriefStatus {
    /// It waits for a decision.
    Pending,
    /// Nobody decided in time.
    Expired,
    /// Decided, and not given to the worker yet.
    Decided(Decision),
    /// The worker was given it.
    Offered(Decision),
    /// The worker has it.
    Read(Decision),
    /// Whoever wrote it took it back.
    Withdrawn,
}

impl BriefStatus {
    /// The stage in a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Expired => "expired",
            Self::Decided(decision) => decision.as_str(),
            Self::Offered(_) => "offered",
            Self::Read(_) => "read",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// A brief as the operator sees it.
#[derive(Debug, Clone)]
pub struct BriefView {
    /// The brief.
    pub brief: Brief,
    /// Its body.
    pub body: String,
    /// How it stands.
    pub standing: DecisionState,
    /// How far it is.
    pub stage: BriefStatus,
    /// What it is recognised by, as it is now.
    pub prints: Prints,
    /// Why it is withheld, if it is.
    pub held: Option<WithheldReason>,
    /// What is on record of it, as far as that is known.
    pub(super) told: BriefRecord,
    /// What lies in the place of its decision, where that is on record.
    pub(super) filed: Filed,
    /// Its time is over.
    pub(super) is_late: bool,
    /// What lies under its number.
    pub(super) slot: EnvelopeFiles,
}

/// What lies in the place of a decision that is on record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filed {
    /// That decision.
    It,
    /// The same, which does not say where its line is.
    Unnumbered,
    /// Another one, or none that can be understood.
    Other,
    /// Nothing.
    Nothing,
}

impl Filed {
    fn of(on_record: &DecisionRecord, file: Option<&Understood<DecisionRecord>>) -> Self {
        match file {
            None => Self::Nothing,
            Some(Ok(it)) if !it.says(on_record) => Self::Other,
            Some(Ok(it)) if it.line.is_none() => Self::Unnumbered,
            Some(Ok(_)) => Self::It,
            Some(Err(_)) => Self::Other,
        }
    }
}

impl BriefView {
    /// What is on record of it is known now.
    pub(super) fn know(&mut self, told: BriefRecord) {
        self.told = told;
        let proposed = self.told.proposed.as_ref();
        let proposed = proposed.map(|it| (&it.sha256, it.envelope.as_ref()));
        let held = decision::held(&self.standing, &self.prints, proposed);
        let is_undecided = self.standing == DecisionState::Pending;
        self.held = match self.slot.has(EnvelopePart::Withdrawn) {
            true if self.told.is_withdrawn || !self.told.is_all => None,
            true => held.or(Some(WithheldReason::Marked)),
            false if is_undecided && self.slot.is_marked() => held.or(Some(WithheldReason::Marked)),
            false => held,
        };
    }

    /// The command that shows a brief in full; of one that is withheld, also what settles it.
    pub fn shown_by(&self) -> String {
        let (worker, seq) = (&self.brief.target_worker, self.brief.seq.get());
        format!("flagpost inbox {worker} {seq}")
    }

    /// Whether it is not what was decided on any more. Of what was rejected nothing reaches its worker
    /// but that it was, so that is not withheld.
    pub fn is_rewritten(&self) -> bool {
        let DecisionState::Decided(on) = &self.standing else {
            return false;
        };
        !self.prints.are_on_record(&on.sha256, on.envelope.as_ref())
    }

    /// Whether its worker acknowledged words that nobody let through, or that were changed since.
    pub fn is_misread(&self) -> bool {
        self.held.is_some() && matches!(self.stage, BriefStatus::Read(_))
    }

    /// Why it is withheld, in words.
    pub fn why_withheld(&self) -> Option<String> {
        let held = self.held?;
        let read = match self.is_misread() {
            true => ", and its worker acknowledged it",
            false => "",
        };
        Some(format!("{}{read}", held.describe()))
    }

    /// The command that settles it: lets a withheld brief through, or keeps it back as that hand did,
    /// or as its time says: for who has been shown it.
    pub fn resolving_command(&self) -> Option<String> {
        let (worker, seq) = (&self.brief.target_worker, self.brief.seq.get());
        let now = &self.prints.envelope;
        let is_rejected = self.standing.decision() == Some(Decision::Rejected);
        Some(match self.held? {
            WithheldReason::Proposed | WithheldReason::Decided if !self.is_late => {
                format!("flagpost ratify {worker} {seq} --seen {now}")
            }
            WithheldReason::Foreign | WithheldReason::Marked if !self.is_late && !is_rejected => {
                format!("flagpost ratify {worker} {seq}")
            }
            WithheldReason::Proposed
            | WithheldReason::Decided
            | WithheldReason::Foreign
            | WithheldReason::Marked => {
                format!("flagpost reject {worker} {seq}")
            }
        })
    }

    /// Whether it waits, and an unknown hand put it there: nobody is on record for proposing it.
    pub fn is_unproposed(&self) -> bool {
        let on_record = self.told.proposed.as_ref().is_some_and(|it| !it.observed);
        self.stage == BriefStatus::Pending && !on_record
    }

    /// The same for its worker. Of what was rejected it is told the words only where they are those that
    /// were proposed: what an unknown hand wrote says nothing to anybody.
    pub(super) fn for_its_worker(mut self, mail: &Mail<'_>) -> Result<Self> {
        if self.standing.decision() != Some(Decision::Rejected) {
            return Ok(self);
        }
        let seq = self.brief.seq;
        let hint = mail.kept_words(seq, &self.slot)?.map(|words| words.line);
        let proposed = mail.proposal(seq, hint)?;
        let is_it = |it: OnRecord| {
            !it.observed && self.prints.are_on_record(&it.sha256, it.envelope.as_ref())
        };
        if !proposed.is_some_and(is_it) {
            self.body.clear();
            self.brief.summary.clear();
            self.brief.controller_session_id.clear();
            self.brief.target_ticket = None;
            self.brief.kind = BriefKind::Freeform;
            self.brief.extras = Extras::default();
        }
        Ok(self)
    }

    /// The flags beside it that say something else than the decision on record.
    pub fn contradicting_flags(&self) -> Vec<Decision> {
        let DecisionState::Decided(verdict) = &self.standing else {
            return Vec::new();
        };
        let mut flags = self.slot.flags();
        flags.retain(|flag| *flag != verdict.decision && !self.slot.is_over());
        flags
    }

    /// Whether a person may be asked about it: it waits, and nobody changed or decided it unseen.
    pub fn waits(&self) -> bool {
        self.stage == BriefStatus::Pending || self.held.is_some()
    }
}

/// Proposes a brief, durable on return; the policy may let it through.
pub fn propose(mail: &Mail<'_>, actor: &WorkerId, proposal: NewBrief) -> Result<Proposed> {
    propose_through(mail, actor, proposal, Gate::Policy, &|| Ok(()))
}

/// Proposes a brief, and lets it through where the gate says so; durable on return. A retry is
/// answered with the brief it repeats, and lets that one through where nobody had decided yet.
/// `may` has the last word, asked when nobody else can write into the inbox any more.
pub(super) fn propose_through(
    mail: &Mail<'_>,
    actor: &WorkerId,
    proposal: NewBrief,
    gate: Gate<'_>,
    may: &dyn Fn() -> Result<()>,
) -> Result<Proposed> {
    mail.home.transact(|| {
        check(&proposal)?;
        let locked = mail.lock(Direction::Inbox)?;
        locked.repair(actor)?;
        may()?;
        let (mut brief, body) = locked.brief(actor, proposal.clone());
        let (mut replay, mut passed) = (true, None);
        match locked.replayed(&brief)? {
            Some(earlier) => brief = earlier,
            None => {
                replay = false;
                if brief.extras.id.is_none() {
                    brief.extras.id = Some(mail.home.fs().dated_id().to_string());
                }
                locked.under_a_new_number(|seq, batch| {
                    brief.seq = seq;
                    passed = decide::by_its_writer(&locked, (&brief, &body), actor, gate)?;
                    let appears = passed.as_ref().map_or(Appears::Proposed, Appears::Decided);
                    locked.publish(actor, &brief, (&body, appears), batch)
                })?;
            }
        }
        let letter = show(mail, brief.seq)?;
        let asked = match letter.stage == BriefStatus::Pending {
            true => decide::at_once(&locked, &letter, actor, gate),
            false => Ok(passed),
        };
        let (verdict, policy_fault) = match (asked, gate) {
            (Ok(None), Gate::Policy) => (None, policy::fault(mail.home, &mail.repo)),
            (Ok(verdict), _) => (verdict, None),
            // The brief is published all the same, and waits for a person.
            (Err(error), Gate::Policy) => (None, Some(error.to_string())),
            (Err(error), Gate::Writer(_) | Gate::Run(_)) => return Err(error),
        };
        Ok(Proposed {
            brief,
            replay,
            verdict,
            policy_fault,
        })
    })
}

/// Publishes a brief that is let through and in its worker's hands the moment it appears, in one step:
/// that of a run for a process of its own. It is given out once, so it repeats none.
pub(super) fn hand_over(
    mail: &Mail<'_>,
    actor: &WorkerId,
    proposal: NewBrief,
    session: &str,
) -> Result<(Brief, String)> {
    mail.home.transact(|| {
        check(&proposal)?;
        let locked = mail.lock(Direction::Inbox)?;
        let (mut brief, body) = locked.brief(actor, proposal.clone());
        locked.under_a_new_number(|seq, batch| {
            brief.seq = seq;
            let prints = layout::new_brief(&brief).prints(&body);
            let verdict = DecisionRecord {
                rule: Some(session.to_owned()),
                ..verdict_of(&locked, actor, prints, (Decision::Ratified, Via::Run))
            };
            locked.publish(actor, &brief, (&body, Appears::Taken(&verdict)), batch)
        })?;
        Ok((brief, body))
    })
}

fn check(proposal: &NewBrief) -> Result<()> {
    let invalid = |what: &str, reason: &str| Error::Invalid {
        what: what.to_owned(),
        reason: reason.to_owned(),
    };
    if proposal.body.trim().is_empty() {
        return Err(invalid("brief", "it says nothing"));
    }
    if proposal.kind == BriefKind::Dispatch && proposal.ticket.is_none() {
        return Err(invalid("ticket", "a dispatch brief is about one"));
    }
    Ok(())
}

impl Locked<'_> {
    /// The brief that is proposed, without its number, and its body.
    fn brief(&self, actor: &WorkerId, proposal: NewBrief) -> (Brief, String) {
        let brief = Brief {
            seq: Seq::FIRST,
            version: VERSION,
            kind: proposal.kind,
            submitted_at: self.at,
            controller_session_id: proposal.controller.unwrap_or_else(|| actor.to_string()),
            target_worker: self.mail.worker.clone(),
            target_ticket: proposal.ticket,
            expires_at: proposal.expires_at,
            summary: proposal
                .summary
                .unwrap_or_else(|| summary_of(&proposal.body)),
            in_reply_to: proposal.in_reply_to,
            idempotency_key: Key::of(&proposal.body),
            extras: proposal.extras,
        };
        (brief, proposal.body)
    }

    /// The brief that this new one repeats. What was rejected, or expired, is none: who proposes it
    /// again wants it to arrive.
    fn replayed(&self, brief: &Brief) -> Result<Option<Brief>> {
        let slots = self.mail.slots(Direction::Inbox)?;
        let briefs = slots.iter().rev().filter(|(_, slot)| slot.is_brief());
        for (seq, slot) in briefs.take(LOOK_BACK) {
            let Ok(earlier) = self.mail.sidecar(*seq)? else {
                continue;
            };
            if brief.replays(&earlier.content) && self.may_arrive(*seq, slot)? {
                return Ok(Some(earlier.content));
            }
        }
        Ok(None)
    }

    /// Whether what a brief says reaches its worker yet, or did.
    fn may_arrive(&self, seq: Seq, slot: &EnvelopeFiles) -> Result<bool> {
        Ok(match brief_view(self.mail, seq, slot)? {
            Ok(letter) => match letter.stage {
                BriefStatus::Expired | BriefStatus::Withdrawn => false,
                BriefStatus::Pending
                | BriefStatus::Decided(_)
                | BriefStatus::Offered(_)
                | BriefStatus::Read(_) => letter.standing.decision() != Some(Decision::Rejected),
            },
            Err(_) => false,
        })
    }
}

/// The newest briefs of a worker, by number, and what cannot be understood, or is too much to be read.
pub fn list(mail: &Mail<'_>) -> Result<(Vec<BriefView>, Vec<Skipped>)> {
    list_as(mail, Certainty::Near, PAGE)
}

/// The same by all of the history.
pub(crate) fn list_surely(mail: &Mail<'_>) -> Result<(Vec<BriefView>, Vec<Skipped>)> {
    list_as(mail, Certainty::Sure, PAGE)
}

/// All briefs of a worker that can be understood, however many they are.
pub(super) fn all(mail: &Mail<'_>) -> Result<Vec<BriefView>> {
    Ok(list_as(mail, Certainty::Near, usize::MAX)?.0)
}

fn list_as(
    mail: &Mail<'_>,
    look: Certainty,
    most: usize,
) -> Result<(Vec<BriefView>, Vec<Skipped>)> {
    let slots = mail.slots(Direction::Inbox)?;
    let bodies = slots.iter().filter(|(_, it)| it.has(EnvelopePart::Body));
    let bodies: Vec<_> = bodies.collect();
    let (newest, counted) = page(mail, Direction::Inbox, (&bodies, most));
    let (mut letters, mut unread) = (Vec::new(), Vec::from_iter(counted));
    for (seq, slot) in newest {
        match letter_as(mail, **seq, slot, look)? {
            Ok(letter) => letters.push(letter),
            Err(_) if slot.has(EnvelopePart::Withdrawn) && mail.is_put_away(**seq, look)? => {}
            Err(skipped) => unread.push(skipped),
        }
    }
    unread.extend(broken::lost(mail, &slots, look)?);
    Ok((letters, unread))
}

/// One brief.
pub fn show(mail: &Mail<'_>, seq: Seq) -> Result<BriefView> {
    show_as(mail, seq, Certainty::Near)
}

/// One brief, as surely as somebody has to know it.
pub(super) fn show_as(mail: &Mail<'_>, seq: Seq, look: Certainty) -> Result<BriefView> {
    let slots = mail.slots(Direction::Inbox)?;
    let slot = slots.get(&seq).filter(|slot| slot.has(EnvelopePart::Body));
    let slot = slot.ok_or_else(|| mail.not_found("brief", seq))?;
    understood(mail, seq, slot, look)?.map_err(|unread| {
        let path = mail.dir(Direction::Inbox).join(unread.name);
        let reason = unread.reason;
        disk::Error::Malformed { path, reason }.into()
    })
}

/// The newest briefs of a worker that wait for a decision, by number. One that expired waits for nobody.
pub(super) fn waiting(mail: &Mail<'_>) -> Result<Vec<BriefView>> {
    let mut waiting = newest_waiting(mail, PAGE, usize::MAX)?;
    waiting.reverse();
    Ok(waiting)
}

/// The number of the newest of them. One that cannot be understood cannot be decided on.
pub fn newest_pending(mail: &Mail<'_>) -> Result<Seq> {
    let newest = newest_waiting(mail, usize::MAX, 1)?;
    let worker = mail.worker.clone();
    let newest = newest.first().map(|it| it.brief.seq);
    newest.ok_or(Error::NothingPending { worker })
}

/// The newest of them first: of so many undecided ones, so many.
fn newest_waiting(mail: &Mail<'_>, of: usize, most: usize) -> Result<Vec<BriefView>> {
    let slots = mail.slots(Direction::Inbox)?;
    let undecided = slots.iter().rev().filter(|(_, slot)| slot.is_undecided());
    let letters = undecided
        .take(of)
        .map(|(seq, slot)| brief_view(mail, *seq, slot));
    let is_pending = |it: &BriefView| it.stage == BriefStatus::Pending;
    let pending = letters.filter_map(|it| it.map(|it| it.ok().filter(is_pending)).transpose());
    pending.take(most).collect()
}

/// The brief of a slot whose body is there, or why it is none.
pub(super) fn brief_view(
    mail: &Mail<'_>,
    seq: Seq,
    slot: &EnvelopeFiles,
) -> Result<Result<BriefView, Skipped>> {
    letter_as(mail, seq, slot, Certainty::Near)
}

fn letter_as(
    mail: &Mail<'_>,
    seq: Seq,
    slot: &EnvelopeFiles,
    look: Certainty,
) -> Result<Result<BriefView, Skipped>> {
    let read = understood(mail, seq, slot, look)?;
    Ok(read.map_err(|unread| {
        let name = format!("{}/{}/{}", mail.worker, Direction::Inbox, unread.name);
        skipped(name, unread.reason)
    }))
}

/// The same, where the file that cannot be understood is named as it is in its directory.
fn understood(
    mail: &Mail<'_>,
    seq: Seq,
    slot: &EnvelopeFiles,
    look: Certainty,
) -> Result<Understood<BriefView>> {
    match slot.has(EnvelopePart::Sidecar) {
        true => read(mail, seq, slot, look),
        false => Ok(Err(Unreadable {
            name: layout::body(seq),
            reason: "it has no sidecar".to_owned(),
        })),
    }
}

/// The brief of a slot with a sidecar and a body, or which of its files cannot be understood. A decision
/// on record counts, whatever lies in its place; one that is not on record is no more than a flag, and
/// one that cannot be understood decides nothing and lets nobody else decide.
pub(super) fn read(
    mail: &Mail<'_>,
    seq: Seq,
    slot: &EnvelopeFiles,
    look: Certainty,
) -> Result<Understood<BriefView>> {
    let (sidecar, body) = match (mail.sidecar(seq)?, mail.body(seq)?) {
        (Ok(sidecar), Ok(body)) => (sidecar, body),
        (Err(unread), _) | (_, Err(unread)) => return Ok(Err(unread)),
    };
    let file = match slot.has(EnvelopePart::Decision) {
        true => Some(mail.verdict(seq)?),
        false => None,
    };
    // What is over is many, and hands nothing out.
    let look = match look {
        Certainty::Near if slot.is_over() => Certainty::Known,
        look => look,
    };
    let line = file.as_ref().and_then(|it| it.as_ref().ok()?.line);
    let mut told = mail.told(seq, || Ok(line), look)?;
    if look == Certainty::Near && told.proposed.is_none() && told.decided.is_none() {
        let hint = || Ok(mail.kept_words(seq, slot)?.map(|words| words.line));
        told = mail.told(seq, hint, look)?;
    }
    let brief = sidecar.content.clone();
    let is_late = brief.expires_at.is_some_and(|at| at <= mail.home.now());
    let on_record = told.decided.as_ref();
    let filed = on_record.map_or(Filed::It, |it| Filed::of(it, file.as_ref()));
    let is_read = slot.has(EnvelopePart::Read);
    let standing = match (on_record, file) {
        (Some(it), _) => DecisionState::Decided(Box::new(it.clone())),
        (None, None) => DecisionState::of_flags(&slot.flags()),
        (None, Some(Err(unread))) => return Ok(Err(unread)),
        // Its line lies far back, or is that of an import.
        (None, Some(Ok(it))) if is_read && (told.is_taken || !told.is_all) => {
            DecisionState::Decided(Box::new(it))
        }
        (None, Some(Ok(it))) => DecisionState::Flagged(it.decision),
    };
    let standing = match standing {
        DecisionState::Flagged(decision)
            if is_late && !is_read || !foreign::accepts_flags_of(mail, slot)? =>
        {
            DecisionState::Foreign(decision)
        }
        standing => standing,
    };
    let stage = match standing.decision() {
        _ if slot.has(EnvelopePart::Withdrawn) => BriefStatus::Withdrawn,
        None if is_late => BriefStatus::Expired,
        None => BriefStatus::Pending,
        Some(decision) if is_read || told.is_read => BriefStatus::Read(decision),
        Some(decision) if slot.has(EnvelopePart::Offered) => BriefStatus::Offered(decision),
        Some(decision) => BriefStatus::Decided(decision),
    };
    let mut letter = BriefView {
        prints: sidecar.prints(&body),
        brief,
        body,
        standing,
        stage,
        held: None,
        told: BriefRecord::default(),
        filed,
        is_late,
        slot: slot.clone(),
    };
    letter.know(told);
    Ok(Ok(letter))
}
