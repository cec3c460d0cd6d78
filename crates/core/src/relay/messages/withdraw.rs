//! Taking back what was sent and is not wanted any more.
//!
//! Owns the flag `NNNN.withdrawn`. What carries it is offered to nobody and in nobody's hands; what its
//! worker says about it all the same is kept. It must never unsay what was said: the message stays.

use flagpost_disk::dialects::relay::{self as layout, EnvelopePart};
use flagpost_model::{WorkerId, envelope::Direction, message::MessageAddress};

use super::{Party, line, scan};
use crate::{error::Result, history::Kind};

/// Takes a message to a worker back; whether it was not before.
pub fn withdraw(party: &Party<'_>, place: &MessageAddress, because: &str) -> Result<bool> {
    party.fleet.home.transact(|| {
        let message = scan::at(party.fleet, place)?;
        let mail = party.fleet.mail(&place.worker)?;
        let locked = mail.lock(Direction::Inbox)?;
        let slots = mail.slots(Direction::Inbox)?;
        let slot = slots
            .get(&place.seq)
            .filter(|it| it.has(EnvelopePart::Body));
        let slot = slot.ok_or_else(|| mail.not_found("brief", place.seq))?;
        if slot.has(EnvelopePart::Withdrawn) {
            return Ok(false);
        }
        let by = party.speaker.by.as_ref().map(WorkerId::as_str);
        let entry = line(Kind::MessageWithdrawn, &message, by).detail("because", because);
        let flag = locked.path(&layout::withdrawn(place.seq));
        locked.commit_flag(party.name(), vec![entry], flag)?;
        Ok(true)
    })
}
