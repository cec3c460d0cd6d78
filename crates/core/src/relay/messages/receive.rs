//! Receiving: each message to one receiver at a time, under a lease.
//!
//! Owns what is given out next, and to whom. Several receivers under one name get a message each;
//! one that was not acknowledged when its lease is over is given out again and says so. PROGRESS
//! needs no acknowledgement: whoever is given it has it.

use flagpost_disk::{
    dialects::relay::{self as layout, EnvelopePart},
    fsx::Batch,
};
use flagpost_model::{
    WorkerId,
    decision::Delivery,
    envelope::Direction,
    message::{LEASE, Lease, Message, in_order},
};
use jiff::SignedDuration;

use super::{Filter, Party, line};
use crate::{
    error::{Error, Result},
    history::Kind,
    relay::{Locked, Mail, briefs, deliver, envelope_files::EnvelopeFiles, workers},
};

/// What somebody wants to receive.
#[derive(Debug, Clone)]
pub struct Ask {
    /// Only of these.
    pub of: Filter,
    /// How long it is the receiver's.
    pub lease: SignedDuration,
    /// Whoever held messages under this name is gone: they are given out again at once.
    pub restart: bool,
}

impl Default for Ask {
    fn default() -> Self {
        Self {
            of: Filter::default(),
            lease: LEASE,
            restart: false,
        }
    }
}

/// A message in its receiver's hands.
///
/// After 'flagpost msg recv'.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
pub struct Received {
    /// The message.
    pub message: Message,
    /// Until when it is the receiver's; null where nobody has to acknowledge it.
    pub lease: Option<Lease>,
    /// It was given out before.
    pub redelivered: bool,
    /// The message itself, or a notice that it was rejected.
    pub delivery: Delivery,
    /// Why it was rejected, in the decider's words.
    pub reason: Option<String>,
}

impl Ask {
    fn may_take(&self, mail: &Mail<'_>, lease: Option<&Lease>) -> bool {
        self.restart || !lease.is_some_and(|lease| lease.is_live(mail.home.now()))
    }
}

/// The next message; `None` where there is none.
pub fn receive(party: &Party<'_>, ask: &Ask) -> Result<Option<Received>> {
    party.fleet.home.transact(|| {
        if !ask.lease.is_positive() {
            return Err(Error::Invalid {
                what: "lease".to_owned(),
                reason: "it must be a time, as in 30s or 15m".to_owned(),
            });
        }
        match party.own()? {
            Some(mail) => from_inbox(party, &mail, ask),
            None => from_outboxes(party, ask),
        }
    })
}

/// Whether there is one. Takes no lock and gives nothing out.
pub fn is_waiting(party: &Party<'_>, ask: &Ask) -> Result<bool> {
    let Some(mail) = party.own()? else {
        return Ok(!waiting_reports(party, ask)?.is_empty());
    };
    workers::seen_at_work(&mail)?;
    for (seq, slot) in mail.slots(Direction::Inbox)? {
        if slot.is_open_to_the_worker()
            && ask.may_take(&mail, mail.lease(Direction::Inbox, seq, &slot)?.as_ref())
            && let Ok(letter) = briefs::brief_view(&mail, seq, &slot)?
            && ask
                .of
                .wants(&Message::of_brief(&letter.brief, &letter.body))
            && deliver::deliverable(&mail, &letter).is_some()
        {
            return Ok(true);
        }
    }
    Ok(false)
}

fn from_inbox(party: &Party<'_>, mail: &Mail<'_>, ask: &Ask) -> Result<Option<Received>> {
    workers::seen_at_work(mail)?;
    let is_open = |slot: &EnvelopeFiles| slot.is_open_to_the_worker();
    if !mail.slots(Direction::Inbox)?.values().any(is_open) {
        return Ok(None);
    }
    let locked = mail.lock(Direction::Inbox)?;
    locked.repair(party.name())?;
    for (seq, slot) in mail.slots(Direction::Inbox)? {
        if !slot.is_open_to_the_worker() {
            continue;
        }
        let lease = mail.lease(Direction::Inbox, seq, &slot)?;
        if !ask.may_take(mail, lease.as_ref()) {
            continue;
        }
        let Ok(letter) = locked.examined(party.name(), seq, &slot)? else {
            continue;
        };
        let message = Message::of_brief(&letter.brief, &letter.body);
        if !ask.of.wants(&message) {
            continue;
        }
        let Some(delivery) = deliver::passed(&locked, party.name(), &letter)? else {
            continue;
        };
        let mut received = locked.give(party, message, (&slot, lease), ask)?;
        let letter = letter.for_its_worker(mail)?;
        if delivery == Delivery::Rejection {
            received.message = Message::of_brief(&letter.brief, &letter.body);
        }
        (received.delivery, received.reason) = (delivery, letter.standing.into_reason());
        return Ok(Some(received));
    }
    Ok(None)
}

fn from_outboxes(party: &Party<'_>, ask: &Ask) -> Result<Option<Received>> {
    for message in waiting_reports(party, ask)? {
        let mail = party.fleet.mail(&message.place.worker)?;
        let locked = mail.lock(Direction::Outbox)?;
        let slots = mail.slots(Direction::Outbox)?;
        let seq = message.place.seq;
        let Some(slot) = slots.get(&seq).filter(|it| is_unread(it)) else {
            continue;
        };
        let lease = mail.lease(Direction::Outbox, seq, slot)?;
        // Somebody else may have been given it since it was looked at.
        if ask.may_take(&mail, lease.as_ref()) {
            return locked.give(party, message, (slot, lease), ask).map(Some);
        }
    }
    Ok(None)
}

fn is_unread(slot: &EnvelopeFiles) -> bool {
    slot.has(EnvelopePart::Report) && !slot.has(EnvelopePart::Read)
}

/// The reports that could be given to somebody, in their order.
pub(super) fn waiting_reports(party: &Party<'_>, ask: &Ask) -> Result<Vec<Message>> {
    let mut found = Vec::new();
    // What a worker says lies in its own outbox.
    let from = ask.of.from.as_ref().and_then(|from| from.parse().ok());
    let mails = match from.map(|it| party.fleet.mail(&it)) {
        Some(Err(Error::NotFound { .. })) => Vec::new(),
        Some(mail) => vec![mail?],
        None => party.fleet.mails()?,
    };
    for mail in mails {
        for (seq, slot) in mail.slots(Direction::Outbox)? {
            if !is_unread(&slot) {
                continue;
            }
            let lease = mail.lease(Direction::Outbox, seq, &slot)?;
            if !ask.may_take(&mail, lease.as_ref()) {
                continue;
            }
            let Ok(file) = mail.report(seq)? else {
                mail.lock(Direction::Outbox)?.repair(party.name())?;
                continue;
            };
            let message = Message::of_report(&file.content);
            if message.to == party.name().as_str() && ask.of.wants(&message) {
                found.push(message);
            }
        }
    }
    Ok(in_order(found))
}

impl Locked<'_> {
    /// Gives a message out.
    fn give(
        &self,
        party: &Party<'_>,
        message: Message,
        (slot, before): (&EnvelopeFiles, Option<Lease>),
        ask: &Ask,
    ) -> Result<Received> {
        let by = party.speaker.by.as_ref().map(WorkerId::as_str);
        let seq = message.place.seq;
        let redelivered = slot.has(EnvelopePart::Offered);
        let mut received = line(Kind::MessageReceived, &message, by);
        let (mut batch, mut lease) = (Batch::new(), None);
        if message.needs_ack() {
            let count = before.map_or(u64::from(redelivered), |it| it.count);
            let given = Lease::new(party.name(), count, self.at, ask.lease);
            self.hold_within(&mut batch, seq, &given);
            received = received
                .detail("count", given.count)
                .detail("until", given.until.to_string());
            lease = Some(given);
        } else {
            batch.flag(self.path(&layout::read_flag(seq)));
        }
        let first = message.place.direction == Direction::Inbox && !redelivered;
        let delivered = first.then(|| self.mail.entry(Kind::BriefDelivered, Some(seq)));
        let entries = delivered.into_iter().chain([received]).collect();
        self.commit(party.name(), entries, batch)?;
        Ok(Received {
            message,
            lease,
            redelivered,
            delivery: Delivery::Brief,
            reason: None,
        })
    }
}
