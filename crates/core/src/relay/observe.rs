//! What others do to mail by hand, put on record.
//!
//! Owns the comparison of what lies in the directions with what the history tells: a message or a mark
//! that nobody recorded was put there by a foreign writer, and is recorded once, as observed, also
//! where nobody watched when it was put there; so is a brief that was rewritten in its place. Files are
//! looked at before the history: our own lines are durable before their files appear, so none of ours
//! can look foreign. A report is published once: another file under its number breaks the contract.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
    path::PathBuf,
};

use flagpost_disk::{
    dialects::relay::{self as layout, EnvelopePart},
    fsx::{self, Stat},
};
use flagpost_model::{
    Seq, WorkerId,
    decision::{Decision, Via},
    envelope::{Direction, summary_of},
};

use super::{
    Fleet, Locked, Mail, briefs,
    envelope_files::{EnvelopeFiles, FilesByNumber},
    publication::proposed_entry,
    record::Certainty,
    reports,
};
use crate::{
    error::{Error, OrderRefusal, Result},
    history::{Entry, History, Kind, Line, NewLines, Tail},
};

/// What is known of the mail of a fleet.
#[derive(Debug, Default)]
pub struct MailWatch {
    tail: Tail,
    known: BTreeMap<Side, BTreeSet<(Seq, Sign)>>,
    /// How the files of each report lay there, and of each brief that may still be decided on or
    /// delivered; none before the first look. What was rewritten before that is found by whoever decides
    /// on it or delivers it.
    stamps: Option<Stamps>,
}

/// One direction of one worker's mail.
type Side = (WorkerId, Direction);

/// How the sidecar and the body of each brief lay there, and each report.
type Stamps = BTreeMap<(Side, Seq), [Option<Stat>; 2]>;

/// What may lie in a direction without a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sign {
    /// A whole message.
    Message,
    /// Its reader's mark.
    Read,
    /// The mark of a report's own worker.
    Confirmed,
}

impl MailWatch {
    /// Begins to watch: what the history tells of is known. It is read back from its end as far as
    /// it takes to find a line for everything that is there.
    pub fn begin(fleet: &Fleet<'_>) -> Result<Self> {
        let history = History::of(fleet.home, &fleet.repo);
        // Before the files: what is told while these are looked at is read on later.
        let tail = Tail::at_end(&history)?;
        let (mut known, mut untold) = (BTreeMap::new(), BTreeSet::new());
        for mail in fleet.mails()? {
            for direction in Direction::ALL {
                let side = (mail.worker.clone(), *direction);
                let signs = signs(&mail, *direction)?;
                untold.extend(signs.iter().map(|sign| (side.clone(), *sign)));
                known.insert(side, signs);
            }
        }
        if !untold.is_empty() {
            history.backward(u64::MAX, &mut |line| {
                for one in signs_in(line) {
                    untold.remove(&one);
                }
                match untold.is_empty() {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            })?;
        }
        for (side, sign) in untold {
            known.entry(side).or_default().remove(&sign);
        }
        Ok(Self {
            tail,
            known,
            stamps: None,
        })
    }

    /// Records what came by other hands since, and finishes what they left half done. Answers with how
    /// much was recorded. What could not be is for the next look.
    pub fn look(&mut self, fleet: &Fleet<'_>, actor: &WorkerId) -> Result<usize> {
        let home = fleet.home;
        let mut strange = Vec::new();
        let mut stamps = BTreeMap::new();
        let (mut recorded, mut too_large) = (0, None);
        // It stands in the way of nothing else.
        let mut unless_too_large = |looked: Result<usize>| match looked {
            Err(error @ Error::Order(OrderRefusal::TooLarge { .. })) => {
                too_large = Some(error);
                Ok(None)
            }
            looked => looked.map(Some),
        };
        for mail in fleet.mails()? {
            for direction in Direction::ALL {
                let slots = mail.slots(*direction)?;
                if slots.values().any(is_unfinished) {
                    home.transact(|| mail.lock(*direction)?.repair(actor))?;
                }
                let looked = match direction {
                    Direction::Inbox => {
                        self.look_for_rewritten(&mail, &slots, (actor, &mut stamps))
                    }
                    Direction::Outbox => {
                        self.look_for_replaced(&mail, &slots, (actor, &mut stamps))
                    }
                };
                recorded += unless_too_large(looked)?.unwrap_or_default();
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
        self.stamps = Some(stamps);
        let history = History::of(home, &fleet.repo);
        for (mail, direction, mut new) in strange {
            let side = (mail.worker.clone(), direction);
            let observed = home.transact(|| {
                // Another machine may have told of it meanwhile.
                self.read_on(&history)?;
                let known = self.known.entry(side.clone()).or_default();
                new.retain(|sign| !known.contains(sign));
                mail.lock(direction)?.observe(&new)
            });
            if let Some(count) = unless_too_large(observed)? {
                recorded += count;
                self.known.entry(side).or_default().extend(new);
            }
        }
        too_large.map_or(Ok(recorded), Err)
    }

    /// Puts on record what was rewritten since the last look of what may still be decided on or
    /// delivered; how much that is.
    fn look_for_rewritten(
        &self,
        mail: &Mail<'_>,
        slots: &FilesByNumber,
        (actor, stamps): (&WorkerId, &mut Stamps),
    ) -> Result<usize> {
        let (fs, dir) = (mail.home.fs(), mail.dir(Direction::Inbox));
        let mut recorded = 0;
        let open = |it: &&EnvelopeFiles| it.is_brief() && !it.is_over();
        for (seq, slot) in slots.iter().filter(|(_, slot)| open(slot)) {
            let key = ((mail.worker.clone(), Direction::Inbox), *seq);
            let now = [
                fsx::stat(fs, &dir.join(layout::sidecar(*seq)))?,
                fsx::stat(fs, &dir.join(layout::body(*seq)))?,
            ];
            let then = self.stamps.as_ref().map(|it| it.get(&key));
            let may_be_other = match then {
                None => false,
                Some(Some(then)) => *then != now,
                // It is new. Somebody may have been quicker than this look.
                Some(None) => {
                    briefs::brief_view(mail, *seq, slot)?.is_ok_and(|letter| letter.held.is_some())
                }
            };
            if !may_be_other {
                stamps.insert(key, now);
                continue;
            }
            recorded += mail.home.transact(|| {
                let locked = mail.lock(Direction::Inbox)?;
                // It may have been decided on meanwhile.
                let slots = mail.slots(Direction::Inbox)?;
                let Some(slot) = slots.get(seq).filter(open) else {
                    return Ok(0);
                };
                let letter = locked.examined(actor, *seq, slot)?;
                Ok(usize::from(letter.is_ok_and(|it| it.held.is_some())))
            })?;
            stamps.insert(key, now);
        }
        Ok(recorded)
    }

    /// Puts on record the reports over which another file was renamed since the last look; how many.
    fn look_for_replaced(
        &self,
        mail: &Mail<'_>,
        slots: &FilesByNumber,
        (actor, stamps): (&WorkerId, &mut Stamps),
    ) -> Result<usize> {
        let (dir, mut entries) = (mail.dir(Direction::Outbox), Vec::new());
        let reports = slots.iter().filter(|(_, it)| it.has(EnvelopePart::Report));
        for (seq, _) in reports {
            let (key, name) = (
                ((mail.worker.clone(), Direction::Outbox), *seq),
                layout::report(*seq),
            );
            let now = fsx::stat(mail.home.fs(), &dir.join(&name))?;
            let then = self.stamps.as_ref().and_then(|it| it.get(&key)?[0]);
            // A file of its own: what was edited in its place still has the number that it was given.
            if then.is_some_and(|then| now.is_some_and(|now| now.inode != then.inode)) {
                let entry = mail.entry(Kind::ContractViolated, Some(*seq));
                entries.push(Entry {
                    actor: Via::External.as_str().parse().ok(),
                    ..entry
                        .detail("observed", true)
                        .detail("file", name)
                        .detail("reason", "another file was renamed over this report")
                });
            }
            stamps.insert(key, [now, None]);
        }
        let count = entries.len();
        // Machines that share a repository put reports in each other's place themselves.
        if count == 0 || mail.history().is_shared()? {
            return Ok(0);
        }
        let record = || mail.lock(Direction::Outbox)?.record(actor, entries.clone());
        mail.home.transact(record).map(|()| count)
    }

    fn read_on(&mut self, history: &History<'_>) -> Result<()> {
        let lines = match self.tail.read_on(history)? {
            NewLines::Lines(lines) => lines,
            // Another history may tell of all of it.
            NewLines::Rewritten => history.since(0)?,
        };
        for line in lines.iter().chain(self.tail.held()) {
            for (side, sign) in signs_in(line) {
                self.known.entry(side).or_default().insert(sign);
            }
        }
        Ok(())
    }
}

/// What a line tells of.
fn signs_in(line: &Line) -> Vec<(Side, (Seq, Sign))> {
    let entry = &line.entry;
    let (direction, signs): (_, &[Sign]) = match entry.kind {
        Kind::BriefProposed => (Direction::Inbox, &[Sign::Message]),
        Kind::BriefRead => (Direction::Inbox, &[Sign::Read]),
        Kind::Reported => (Direction::Outbox, &[Sign::Message]),
        Kind::ReportRead => (Direction::Outbox, &[Sign::Read]),
        Kind::ReportConfirmed => (Direction::Outbox, &[Sign::Confirmed]),
        Kind::MessageSent => (entry.direction(), &[Sign::Message]),
        Kind::MessageAcked => (entry.direction(), &[Sign::Read]),
        // It may have come with its acknowledgement.
        Kind::MessageImported => (entry.direction(), &[Sign::Message, Sign::Read]),
        // With a count it tells of a lease, and of no mark.
        Kind::MessageReceived if !entry.detail.contains_key("count") => {
            (entry.direction(), &[Sign::Read])
        }
        _ => return Vec::new(),
    };
    let (Some(worker), Some(seq)) = (&entry.worker, entry.seq) else {
        return Vec::new();
    };
    let each = signs
        .iter()
        .map(|sign| ((worker.clone(), direction), (seq, *sign)));
    each.collect()
}

fn signs(mail: &Mail<'_>, direction: Direction) -> Result<BTreeSet<(Seq, Sign)>> {
    let mut signs = BTreeSet::new();
    for (seq, slot) in mail.slots(direction)? {
        let is_whole = match direction {
            Direction::Inbox => slot.is_brief(),
            Direction::Outbox => slot.has(EnvelopePart::Report),
        };
        if is_whole {
            signs.insert((seq, Sign::Message));
            if slot.has(EnvelopePart::Read) {
                signs.insert((seq, Sign::Read));
            }
            if direction == Direction::Outbox && slot.has(reports::CONFIRMED) {
                signs.insert((seq, Sign::Confirmed));
            }
        }
    }
    Ok(signs)
}

/// A flag that stands for a decision, a decision that lacks its flag, or half a brief.
fn is_unfinished(slot: &EnvelopeFiles) -> bool {
    let is_half = slot.has(EnvelopePart::Body) && !slot.has(EnvelopePart::Sidecar);
    let is_settled = match (slot.flags().len(), slot.has(EnvelopePart::Decision)) {
        (0, false) | (1, true) => true,
        // Once it is on record as that of an unknown hand, it waits for a person.
        (_, false) => slot.has(EnvelopePart::Foreign),
        (_, true) => false,
    };
    is_half || (slot.is_brief() && !is_settled)
}

impl Locked<'_> {
    /// Puts on record what foreign writers did; how much of it could be understood.
    fn observe(&self, signs: &[(Seq, Sign)]) -> Result<usize> {
        let mut entries = Vec::new();
        for sign in signs {
            let entry = self.entry_of(*sign)?;
            entries.extend(entry.map(|(actor, entry)| (actor, entry, self.files_of(*sign))));
        }
        // Each line has one actor, and those of one actor are written together; where their files go along,
        // each by itself.
        let is_shared = self.mail.history().is_shared()?;
        for of_one in entries.chunk_by(|one, other| one.0 == other.0 && !is_shared) {
            let (actor, ..) = &of_one[0];
            let lines = of_one.iter().map(|(_, entry, _)| entry.clone()).collect();
            let found: Vec<PathBuf> = of_one.iter().flat_map(|it| it.2.clone()).collect();
            self.record_found(actor, (lines, &found))?;
        }
        Ok(entries.len())
    }

    /// The files that a sign is.
    fn files_of(&self, (seq, sign): (Seq, Sign)) -> Vec<PathBuf> {
        let name = match (self.direction, sign) {
            (Direction::Inbox, Sign::Message) => return self.words_at(seq),
            (Direction::Outbox, Sign::Message) => layout::report(seq),
            (_, Sign::Read) => layout::read_flag(seq),
            (_, Sign::Confirmed) => layout::flag(seq, Decision::Ratified),
        };
        vec![self.path(&name)]
    }

    /// What is to be recorded of something that a foreign writer did, and who did it; none where it
    /// cannot be understood.
    fn entry_of(&self, (seq, sign): (Seq, Sign)) -> Result<Option<(WorkerId, Entry)>> {
        let worker = self.mail.worker.clone();
        let observed = match (self.direction, sign) {
            (Direction::Inbox, Sign::Read) => (worker, self.foreign(Kind::BriefRead, seq)),
            (Direction::Outbox, Sign::Read) => {
                (WorkerId::operator(), self.foreign(Kind::ReportRead, seq))
            }
            (_, Sign::Confirmed) => (worker, self.foreign(Kind::ReportConfirmed, seq)),
            (Direction::Inbox, Sign::Message) => {
                let (Ok(sidecar), Ok(body)) = (self.mail.sidecar(seq)?, self.mail.body(seq)?)
                else {
                    self.repair(&WorkerId::operator())?;
                    return Ok(None);
                };
                // It was taken away and put back, or something else was in its place.
                let words = || {
                    let slots = self.mail.slots(Direction::Inbox)?;
                    let kept = slots.get(&seq).map(|slot| self.mail.kept_words(seq, slot));
                    Ok(kept.transpose()?.flatten().map(|words| words.line))
                };
                if self
                    .mail
                    .told(seq, words, Certainty::Near)?
                    .proposed
                    .is_some()
                {
                    return Ok(None);
                }
                let brief = &sidecar.content;
                let actor = brief.controller_session_id.parse();
                let entry = proposed_entry(self.mail, brief, &sidecar.prints(&body));
                let entry = entry.detail("observed", true);
                (actor.unwrap_or_else(|_| WorkerId::operator()), entry)
            }
            (Direction::Outbox, Sign::Message) => {
                let Ok(report) = self.mail.report(seq)? else {
                    self.repair(&WorkerId::operator())?;
                    return Ok(None);
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
        Ok(Some(observed))
    }

    fn foreign(&self, kind: Kind, seq: Seq) -> Entry {
        self.mail.entry(kind, Some(seq)).detail("observed", true)
    }
}
