//! Delivery: the oldest decided brief, again and again, until the worker says that it has it.
//!
//! Owns the two marks of a delivery: `.NNNN.offered`, raised with the first offer, and `NNNN.read`,
//! the worker's own. Invariant: a body that is not the one that was decided on is never handed out.

use flagpost_disk::{
    dialects::relay::{self as layout, Part},
    fsx::Batch,
};
use flagpost_model::{
    Seq, WorkerId,
    decision::{self, Decision, Delivery, Refusal, Standing, Subject},
    envelope::{Brief, Direction, Hash},
};

use super::{
    Mail,
    briefs::{self, Letter},
    slots::Slot,
    workers,
};
use crate::{
    error::{Error, Result},
    history::Kind,
};

/// What a worker is offered.
#[derive(Debug, Clone)]
pub struct Offer {
    /// The brief.
    pub brief: Brief,
    /// The brief itself, or a notice that it was rejected.
    pub delivery: Delivery,
    /// What was decided.
    pub decision: Decision,
    /// Its body.
    pub body: String,
    /// Why, in the decider's words.
    pub reason: Option<String>,
    /// It was offered before.
    pub again: bool,
}

/// Whether a brief waits for the worker. Takes no lock and marks nothing.
pub fn is_waiting(mail: &Mail<'_>) -> Result<bool> {
    for (seq, slot) in mail.slots(Direction::Inbox)? {
        if slot.is_open_to_the_worker()
            && let Ok(letter) = briefs::letter(mail, seq, &slot)?
            && deliverable(mail, &letter).is_ok()
        {
            return Ok(true);
        }
    }
    Ok(false)
}

fn deliverable(mail: &Mail<'_>, letter: &Letter) -> Result<Delivery, Refusal> {
    let on = Subject {
        worker: &mail.worker,
        seq: letter.brief.seq,
        expires_at: letter.brief.expires_at,
    };
    decision::deliverable(&letter.standing, on, &Hash::of(letter.body.as_bytes()))
}

/// The oldest brief that the worker may see and has not read; `None` where there is none.
pub fn next(mail: &Mail<'_>, actor: &WorkerId) -> Result<Option<Offer>> {
    workers::seen_at_work(mail)?;
    let slots = mail.slots(Direction::Inbox)?;
    if !slots.values().any(Slot::is_open_to_the_worker) {
        return Ok(None);
    }
    let locked = mail.lock(Direction::Inbox)?;
    locked.tidy(actor)?;
    for (seq, slot) in mail.slots(Direction::Inbox)? {
        if !slot.is_open_to_the_worker() {
            continue;
        }
        let Ok(letter) = briefs::letter(mail, seq, &slot)? else {
            continue;
        };
        let delivery = match deliverable(mail, &letter) {
            Ok(delivery) => delivery,
            Err(Refusal::Changed { .. }) => {
                let entry = mail.entry(Kind::BriefWithheld, Some(seq));
                let reason = "it was changed after the decision on it";
                locked.quarantine(actor, &mail.body_path(seq), entry, reason)?;
                continue;
            }
            Err(_) => continue,
        };
        let again = slot.has(Part::Offered);
        if !again {
            let mark = locked.path(&layout::offered(seq));
            let entry = mail.entry(Kind::BriefDelivered, Some(seq));
            locked.commit(actor, vec![entry], Batch::new(), &[mark])?;
        }
        return Ok(offer(letter, delivery, again));
    }
    Ok(None)
}

fn offer(letter: Letter, delivery: Delivery, again: bool) -> Option<Offer> {
    Some(Offer {
        decision: letter.standing.decision()?,
        delivery,
        reason: match letter.standing {
            Standing::Decided(verdict) => verdict.reason,
            Standing::Pending | Standing::Flagged(_) => None,
        },
        body: letter.body,
        brief: letter.brief,
        again,
    })
}

/// The worker has a brief; whether it had said so before.
pub fn ack(mail: &Mail<'_>, actor: &WorkerId, seq: Seq) -> Result<bool> {
    workers::seen_at_work(mail)?;
    let locked = mail.lock(Direction::Inbox)?;
    locked.tidy(actor)?;
    let slots = mail.slots(Direction::Inbox)?;
    let slot = slots.get(&seq).filter(|slot| slot.is_brief());
    let slot = slot.ok_or_else(|| mail.not_found("brief", seq))?;
    if slot.has(Part::Read) {
        return Ok(true);
    }
    if !slot.is_decided() {
        let worker = mail.worker.clone();
        return Err(Error::Gate(Refusal::Undecided { worker, seq }));
    }
    let entry = mail.entry(Kind::BriefRead, Some(seq));
    let mark = locked.path(&layout::read_flag(seq));
    locked.commit(actor, vec![entry], Batch::new(), &[mark])?;
    Ok(false)
}
