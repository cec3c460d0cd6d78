//! What others do to mail by hand, put on record.
//!
//! Owns the comparison of what lies in the directions with what the history tells: a message or a mark
//! that nobody recorded was put there by a foreign writer, and is recorded once, as observed. What
//! was there when the watch began is nobody's news. Files are looked at before the history: our own
//! lines are durable before their files appear, so none of ours can look foreign.

use std::collections::{BTreeMap, BTreeSet};

use flagpost_disk::dialects::relay::Part;
use flagpost_model::{
    Seq, WorkerId,
    envelope::{Direction, Hash, summary_of},
};

use super::{Fleet, Locked, Mail, appearance::direction, slots::Slot};
use crate::{
    error::Result,
    history::{Entry, History, Kind, Line, News, Tail},
};

/// What is known of the mail of a fleet.
#[derive(Debug, Default)]
pub struct Watch {
    tail: Tail,
    known: BTreeMap<(WorkerId, Direction), BTreeSet<(Seq, Sign)>>,
}

/// What may lie in a direction without a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sign {
    /// A whole message.
    Message,
    /// Its reader's mark.
    Read,
}

impl Watch {
    /// Begins to watch: what is there counts as known.
    pub fn begin(fleet: &Fleet<'_>) -> Result<Self> {
        let history = History::of(fleet.home, &fleet.repo);
        let mut watch = Self {
            tail: Tail::at_end(&history)?,
            known: BTreeMap::new(),
        };
        for mail in fleet.mails()? {
            for direction in Direction::ALL {
                let place = (mail.worker.clone(), *direction);
                watch.known.insert(place, signs(&mail, *direction)?);
            }
        }
        Ok(watch)
    }

    /// Records what came by other hands since, and finishes what they left half done. Answers with how
    /// much was recorded.
    pub fn look(&mut self, fleet: &Fleet<'_>, actor: &WorkerId) -> Result<usize> {
        let mut strange = Vec::new();
        for mail in fleet.mails()? {
            for direction in Direction::ALL {
                let slots = mail.slots(*direction)?;
                if slots.values().any(is_unfinished) {
                    mail.lock(*direction)?.tidy(actor)?;
                }
                let place = (mail.worker.clone(), *direction);
                let known = self.known.entry(place).or_default();
                let now = signs(&mail, *direction)?;
                // What was archived is forgotten.
                known.retain(|sign| now.contains(sign));
                let new: Vec<(Seq, Sign)> = now.difference(known).copied().collect();
                if !new.is_empty() {
                    strange.push((mail.clone(), *direction, new));
                }
            }
        }
        if strange.is_empty() {
            return Ok(0);
        }
        self.read_on(&History::of(fleet.home, &fleet.repo))?;
        let mut recorded = 0;
        for (mail, direction, new) in strange {
            let known = self.known.entry((mail.worker.clone(), direction));
            let known = known.or_default();
            for sign in new {
                if known.insert(sign) {
                    recorded += usize::from(mail.lock(direction)?.observe(sign)?);
                }
            }
        }
        Ok(recorded)
    }

    fn read_on(&mut self, history: &History<'_>) -> Result<()> {
        let lines = match self.tail.read_on(history)? {
            News::Lines(lines) => lines,
            // Another history may tell of all of it.
            News::Rewritten => history.since(0)?,
        };
        for line in lines.iter().chain(self.tail.held()) {
            if let Some((place, sign)) = told(line) {
                self.known.entry(place).or_default().insert(sign);
            }
        }
        Ok(())
    }
}

/// What a line tells of.
fn told(line: &Line) -> Option<((WorkerId, Direction), (Seq, Sign))> {
    let entry = &line.entry;
    let (direction, sign) = match entry.kind {
        Kind::BriefProposed => (Direction::Inbox, Sign::Message),
        Kind::BriefRead => (Direction::Inbox, Sign::Read),
        Kind::Reported => (Direction::Outbox, Sign::Message),
        Kind::ReportRead => (Direction::Outbox, Sign::Read),
        Kind::MessageSent => (direction(entry), Sign::Message),
        Kind::MessageAcked => (direction(entry), Sign::Read),
        // With a count it tells of a lease, and of no mark.
        Kind::MessageReceived if !entry.detail.contains_key("count") => {
            (direction(entry), Sign::Read)
        }
        _ => return None,
    };
    Some(((entry.worker.clone()?, direction), (entry.seq?, sign)))
}

fn signs(mail: &Mail<'_>, direction: Direction) -> Result<BTreeSet<(Seq, Sign)>> {
    let mut signs = BTreeSet::new();
    for (seq, slot) in mail.slots(direction)? {
        let is_whole = match direction {
            Direction::Inbox => slot.is_brief(),
            Direction::Outbox => slot.has(Part::Report),
        };
        if is_whole {
            signs.insert((seq, Sign::Message));
            if slot.has(Part::Read) {
                signs.insert((seq, Sign::Read));
            }
        }
    }
    Ok(signs)
}

/// A flag that stands for a decision, a decision that lacks its flag, or half a brief.
fn is_unfinished(slot: &Slot) -> bool {
    let is_half = slot.has(Part::Body) && !slot.has(Part::Sidecar);
    let is_flagged = !slot.flags().is_empty();
    is_half || (slot.is_brief() && slot.has(Part::Decision) != is_flagged)
}

impl Locked<'_> {
    /// Puts on record what a foreign writer did; whether it could be understood.
    fn observe(&self, (seq, sign): (Seq, Sign)) -> Result<bool> {
        let worker = self.mail.worker.clone();
        let (actor, entry) = match (self.direction, sign) {
            (Direction::Inbox, Sign::Read) => (worker, self.foreign(Kind::BriefRead, seq)),
            (Direction::Outbox, Sign::Read) => {
                (WorkerId::operator(), self.foreign(Kind::ReportRead, seq))
            }
            (Direction::Inbox, Sign::Message) => {
                let (Ok(sidecar), Ok(body)) = (self.mail.sidecar(seq)?, self.mail.body(seq)?)
                else {
                    self.tidy(&WorkerId::operator())?;
                    return Ok(false);
                };
                let brief = sidecar.content;
                let actor = brief.controller_session_id.parse();
                let entry = self
                    .foreign(Kind::BriefProposed, seq)
                    .detail("kind", brief.kind.as_str())
                    .detail("ticket", brief.target_ticket)
                    .detail("summary", brief.summary)
                    .detail("sha256", Hash::of(body.as_bytes()).as_str());
                (actor.unwrap_or_else(|_| WorkerId::operator()), entry)
            }
            (Direction::Outbox, Sign::Message) => {
                let Ok(report) = self.mail.report(seq)? else {
                    self.tidy(&WorkerId::operator())?;
                    return Ok(false);
                };
                let report = report.content;
                let entry = self
                    .foreign(Kind::Reported, seq)
                    .detail("kind", report.kind.as_str())
                    .detail("ticket", report.ticket_id)
                    .detail("pr", report.pr_number)
                    .detail("summary", summary_of(&report.body));
                (worker, entry)
            }
        };
        self.record(&actor, entry)?;
        Ok(true)
    }

    fn foreign(&self, kind: Kind, seq: Seq) -> Entry {
        self.mail.entry(kind, Some(seq)).detail("observed", true)
    }
}
