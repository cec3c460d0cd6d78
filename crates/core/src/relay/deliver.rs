//! Delivery: the oldest decided brief, again and again, until the worker says that it has it.
//!
//! Owns the two marks of a delivery: `.NNNN.offered`, raised with the first offer, and `NNNN.read`,
//! the worker's own; and what of a brief its worker may read at all. Invariant: a body that is not the one that was decided on is never handed out, nor
//! a task that its worker has answered.

use flagpost_disk::{
    dialects::relay::{self as layout, EnvelopePart},
    fsx::Batch,
};
use flagpost_model::{
    Seq, WorkerId,
    decision::{self, Decision, DecisionRefusal, DecisionState, Delivery},
    envelope::{Brief, Direction},
    message::{Message, Subject, TaskReply, answer},
};

use super::{
    Locked, Mail,
    briefs::{self, BriefStatus, BriefView},
    envelope_files::EnvelopeFiles,
    messages,
    record::Certainty,
    workers,
};
use crate::{
    error::{Error, Result},
    history::Kind,
};

/// A decided brief for its worker.
///
/// After 'flagpost worker next'.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
pub struct Offer {
    /// The brief.
    pub brief: Brief,
    /// The brief itself, or a notice that it was rejected.
    pub delivery: Delivery,
    /// The decision.
    pub decision: Decision,
    /// The decider's words.
    pub reason: Option<String>,
    /// Markdown.
    pub body: String,
    /// The file of the body.
    pub path: String,
    /// It was offered before.
    pub again: bool,
}

/// Whether a brief waits for the worker. Takes no lock and marks nothing.
pub fn is_waiting(mail: &Mail<'_>) -> Result<bool> {
    for (seq, slot) in mail.slots(Direction::Inbox)? {
        if (slot.is_open_to_the_worker() || slot.is_undecided())
            && let Ok(letter) = briefs::brief_view(mail, seq, &slot)?
            && deliverable(mail, &letter).is_some()
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What of a brief may reach its worker; none where it is withheld, over, or not decided.
pub(super) fn deliverable(mail: &Mail<'_>, letter: &BriefView) -> Option<Delivery> {
    let is_over = matches!(letter.stage, BriefStatus::Read(_) | BriefStatus::Withdrawn);
    let on = decision::BriefSubject {
        worker: &mail.worker,
        seq: letter.brief.seq,
        expires_at: letter.brief.expires_at,
    };
    let may = decision::deliverable(&letter.standing, letter.held, on);
    may.ok().filter(|_| !is_over)
}

/// The oldest brief that the worker may see and has not read; `None` where there is none.
pub fn next(mail: &Mail<'_>, actor: &WorkerId) -> Result<Option<Offer>> {
    mail.home.transact(|| {
        workers::seen_at_work(mail)?;
        if !is_any_decided(mail)? {
            return Ok(None);
        }
        let locked = mail.lock(Direction::Inbox)?;
        // What the history says was decided has its files again after that.
        locked.repair(actor)?;
        for (seq, slot) in mail.slots(Direction::Inbox)? {
            if !slot.is_open_to_the_worker() {
                continue;
            }
            let Ok(letter) = locked.examined(actor, seq, &slot)? else {
                continue;
            };
            let Some(delivery) = passed(&locked, actor, &letter)? else {
                continue;
            };
            let again = slot.has(EnvelopePart::Offered);
            if !again {
                let mark = locked.path(&layout::offered(seq));
                let entry = mail.entry(Kind::BriefDelivered, Some(seq));
                locked.commit_flag(actor, vec![entry], mark)?;
            }
            return Ok(offer(mail, letter.for_its_worker(mail)?, delivery, again));
        }
        Ok(None)
    })
}

/// The briefs that the worker may see and has not read, the oldest first. The first of them counts as
/// offered.
pub fn open(mail: &Mail<'_>, actor: &WorkerId) -> Result<Vec<BriefView>> {
    let mut open = Vec::new();
    if next(mail, actor)?.is_none() {
        return Ok(open);
    }
    for (seq, slot) in mail.slots(Direction::Inbox)? {
        if !slot.is_open_to_the_worker() {
            continue;
        }
        let Ok(letter) = briefs::read(mail, seq, &slot, Certainty::Sure)? else {
            continue;
        };
        let message = Message::of_brief(&letter.brief, &letter.body);
        let is_task = message.subject == Some(Subject::Task);
        if deliverable(mail, &letter).is_some()
            && !(is_task && messages::is_answered(mail, &message)?)
        {
            open.push(letter.for_its_worker(mail)?);
        }
    }
    Ok(open)
}

/// A brief as its worker may read it, acknowledged or not: nothing that nobody let through, nor what was
/// changed since.
pub fn delivered(mail: &Mail<'_>, seq: Seq) -> Result<BriefView> {
    let letter = briefs::show_as(mail, seq, Certainty::Sure)?;
    if letter.stage == BriefStatus::Withdrawn {
        let worker = mail.worker.clone();
        return Err(Error::Gate(DecisionRefusal::Withdrawn { worker, seq }));
    }
    must_be_as_decided(mail, &letter)?;
    letter.for_its_worker(mail)
}

/// Whether a worker may be waiting for anything here: by what the files say, or the history, where they
/// lack it.
fn is_any_decided(mail: &Mail<'_>) -> Result<bool> {
    let slots = mail.slots(Direction::Inbox)?;
    if slots.values().any(EnvelopeFiles::is_open_to_the_worker) {
        return Ok(true);
    }
    for (seq, slot) in slots.iter().filter(|(_, slot)| slot.is_undecided()) {
        let letter = briefs::brief_view(mail, *seq, slot)?;
        if letter.is_ok_and(|it| matches!(it.standing, DecisionState::Decided(_))) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What of a brief may reach its worker now. Who has answered a task by hand has it, and is not given
/// it again.
pub(super) fn passed(
    locked: &Locked<'_>,
    actor: &WorkerId,
    letter: &BriefView,
) -> Result<Option<Delivery>> {
    let (mail, seq) = (locked.mail, letter.brief.seq);
    let message = Message::of_brief(&letter.brief, &letter.body);
    match deliverable(mail, letter) {
        Some(Delivery::Brief)
            if message.subject == Some(Subject::Task) && messages::is_answered(mail, &message)? =>
        {
            locked.mark_read((actor, None), seq, Some(&message), Batch::new())?;
            Ok(None)
        }
        may => Ok(may),
    }
}

fn offer(mail: &Mail<'_>, letter: BriefView, delivery: Delivery, again: bool) -> Option<Offer> {
    Some(Offer {
        path: mail.body_path(letter.brief.seq).to_string_lossy().into(),
        decision: letter.standing.decision()?,
        delivery,
        reason: letter.standing.into_reason(),
        body: letter.body,
        brief: letter.brief,
        again,
    })
}

/// The worker has a brief; whether it had said so before.
pub fn ack(mail: &Mail<'_>, actor: &WorkerId, seq: Seq) -> Result<bool> {
    mail.home.transact(|| acknowledge(mail, actor, None, seq))
}

/// The same, where somebody else speaks in the worker's name. A task is in its worker's hands from
/// now on; so is one whose worker has the answer to its question.
pub(super) fn acknowledge(
    mail: &Mail<'_>,
    actor: &WorkerId,
    by: Option<&WorkerId>,
    seq: Seq,
) -> Result<bool> {
    workers::seen_at_work(mail)?;
    let locked = mail.lock(Direction::Inbox)?;
    locked.repair(actor)?;
    let slots = mail.slots(Direction::Inbox)?;
    let slot = slots.get(&seq).filter(|slot| slot.is_brief());
    let slot = slot.ok_or_else(|| mail.not_found("brief", seq))?;
    if slot.has(EnvelopePart::Read) {
        let letter = locked.brief_view(actor, seq)?;
        // The mark may be another hand's: what it acknowledges has to be what was decided on.
        if !letter.told.is_read && !letter.told.is_taken {
            must_be_as_decided(mail, &letter)?;
        }
        return Ok(true);
    }
    if slot.has(EnvelopePart::Withdrawn) {
        let worker = mail.worker.clone();
        return Err(Error::Gate(DecisionRefusal::Withdrawn { worker, seq }));
    }
    if !slot.is_decided() {
        let worker = mail.worker.clone();
        return Err(Error::Gate(DecisionRefusal::Undecided { worker, seq }));
    }
    let letter = locked.brief_view(actor, seq)?;
    if let BriefStatus::Read(_) = letter.stage {
        return Ok(true);
    }
    must_be_as_decided(mail, &letter)?;
    let message = Some(Message::of_brief(&letter.brief, &letter.body));
    let mut batch = Batch::new();
    let subject = message.as_ref().and_then(|it| it.subject);
    if subject == Some(Subject::Task) {
        let before = mail.lease(Direction::Inbox, seq, slot)?;
        locked.hold_within(&mut batch, seq, &locked.of_task(before.as_ref()));
    }
    locked.mark_read((actor, by), seq, message.as_ref(), batch)?;
    drop(locked);
    if subject != Some(Subject::Task) {
        mail.renew(None)?;
    }
    if let (Some(Subject::Reply), Some(question)) = (subject, message.and_then(|it| it.answers))
        && let Ok(asked) = mail.report(question.seq)?
        && let Some(task) = asked.content.in_reply_to
    {
        mail.take_up(task)?;
    }
    Ok(false)
}

/// Refuses to acknowledge what nobody let through as it is.
fn must_be_as_decided(mail: &Mail<'_>, letter: &BriefView) -> Result<()> {
    let (worker, seq) = (mail.worker.clone(), letter.brief.seq);
    let refusal = match (&letter.standing, letter.held) {
        (DecisionState::Pending, _) => DecisionRefusal::Undecided { worker, seq },
        (DecisionState::Foreign(_), _) => DecisionRefusal::Foreign { worker, seq },
        (DecisionState::Decided(_) | DecisionState::Flagged(_), Some(held)) => {
            DecisionRefusal::Unacknowledged { worker, seq, held }
        }
        (DecisionState::Decided(_) | DecisionState::Flagged(_), None) => return Ok(()),
    };
    Err(Error::Gate(refusal))
}

/// A worker that answers a task has it, though it never said so: whoever hears the answer puts that
/// on record.
pub(super) fn answered(mail: &Mail<'_>, hearer: &WorkerId, report: &Message) -> Result<()> {
    for (seq, slot) in mail.slots(Direction::Inbox)? {
        if !slot.is_open_to_the_worker() {
            continue;
        }
        let Ok(letter) = briefs::brief_view(mail, seq, &slot)? else {
            continue;
        };
        let task = Message::of_brief(&letter.brief, &letter.body);
        let is_answered =
            task.subject == Some(Subject::Task) && answer(&task, [report]) != TaskReply::None;
        if !is_answered || deliverable(mail, &letter).is_none() {
            continue;
        }
        let locked = mail.lock(Direction::Inbox)?;
        let slots = mail.slots(Direction::Inbox)?;
        if slots
            .get(&seq)
            .is_some_and(EnvelopeFiles::is_open_to_the_worker)
        {
            let spoken = (&mail.worker, Some(hearer));
            locked.mark_read(spoken, seq, Some(&task), Batch::new())?;
        }
    }
    Ok(())
}

impl Locked<'_> {
    /// Raises the worker's mark with what goes with it; somebody else may have spoken in its name.
    fn mark_read(
        &self,
        (actor, by): (&WorkerId, Option<&WorkerId>),
        seq: Seq,
        message: Option<&Message>,
        mut batch: Batch,
    ) -> Result<()> {
        let entry = self.mail.entry(Kind::BriefRead, Some(seq));
        let acked = message.and_then(|it| {
            messages::event_on_behalf(Kind::MessageAcked, it, by.map(WorkerId::as_str))
        });
        batch.flag(self.path(&layout::read_flag(seq)));
        let entries = [entry].into_iter().chain(acked).collect();
        self.commit(actor, entries, batch)
    }
}
