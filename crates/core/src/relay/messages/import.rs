//! Taking over the messages of somebody else's database.
//!
//! Owns which rows come, and how far each is: what was acknowledged there is acknowledged here; a
//! brief that was not waits for the operator, as every brief does, unless it is a TASK that its worker
//! has reported done. Invariants: a row comes once, however often it is imported, and a number that
//! somebody else took stays theirs.

mod envelope;

use std::{collections::BTreeMap, path::Path};

use flagpost_disk::{self as disk, dialects::relay as layout};
use flagpost_model::{
    Seq, WorkerId,
    decision::{Decision, DecisionRecord, Via},
    envelope::{Direction, Hash},
    message::{
        Message, MessageAddress, MessageStatus, Subject, concerns,
        foreign::{self, MessageRow},
    },
};
use jiff::Timestamp;

use super::{ForeignMessages, MessageView, Party, in_charge, line, scan, withdraw};
use crate::{
    error::{Error, Result},
    history::Kind,
    readable::readable,
    relay::{Fleet, Transition, workers},
    skipped::Skipped,
};

/// What became of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowOutcome {
    /// It is an envelope now.
    Added,
    /// It was one already, and is acknowledged now, as it is there.
    Acked,
    /// It was one already.
    Unchanged,
}

/// What an import did, or would do.
#[derive(Debug, Default)]
pub struct ImportedMessages {
    /// The workers that were registered.
    pub workers: Vec<WorkerId>,
    /// What became of each row, by its number.
    pub rows: Vec<(i64, RowOutcome)>,
    /// What was left out.
    pub skipped: Vec<Skipped>,
}

/// Takes over what a source has, durable on return; with `dry_run` only says what would be done.
pub fn import(
    fleet: &Fleet<'_>,
    actor: &WorkerId,
    source: &ForeignMessages,
    dry_run: bool,
) -> Result<ImportedMessages> {
    let (imported, mut planned) = plan(fleet, source)?;
    if dry_run {
        return Ok(imported);
    }
    for worker in &imported.workers {
        workers::register(fleet, actor, worker, workers::Traits::default())?;
    }
    for mail in fleet.mails()? {
        for direction in Direction::ALL {
            fleet
                .home
                .transact(|| mail.lock(*direction)?.repair(actor))?;
        }
    }
    for _ in 1..TRIES {
        match enter(fleet, actor, &mut planned) {
            // What came before it is here, and a new look knows that.
            Err(Error::Disk(disk::Error::Conflict { path })) => {
                yield_number(fleet, actor, &planned, &path)?;
                planned = plan(fleet, source)?.1;
            }
            entered => {
                entered?;
                return settle(fleet, actor, source).map(|()| imported);
            }
        }
    }
    enter(fleet, actor, &mut planned)?;
    settle(fleet, actor, source).map(|()| imported)
}

/// Takes back each TASK that came undecided, and that its worker has reported done since: nobody is to do
/// it again. An import that was cut short before this is made up for by the next.
fn settle(fleet: &Fleet<'_>, actor: &WorkerId, source: &ForeignMessages) -> Result<()> {
    let rows = source.rows.iter().enumerate();
    let rows = rows.flat_map(|(n, row)| {
        [envelope::id_of(row), envelope::earlier_id_of(row)].map(|id| (id, n))
    });
    let (rows, all): (BTreeMap<String, usize>, _) = (rows.collect(), scan::all(fleet)?.messages);
    let row = |message: &Message| rows.get(message.id.as_ref()?);
    let all: Vec<_> = all.iter().enumerate().collect();
    let of = |subject| {
        let told = all.iter().copied();
        told.filter(move |(_, it)| it.message.subject == Some(subject))
    };
    let speaker = &in_charge(actor)?;
    for (at, task) in of(Subject::Task) {
        let told = row(&task.message);
        let is_open = told.is_some() && task.state == MessageStatus::Undecided;
        // A message stands behind those that its worker has here already, however old it is.
        let is_later = |(n, done): &(usize, &MessageView)| match row(&done.message) {
            Some(row) => Some(row) > told,
            None => *n > at,
        };
        let mut later = of(Subject::Done).filter(is_later);
        if is_open && later.any(|(_, done)| concerns(&done.message, &task.message)) {
            let party = &Party { fleet, speaker };
            withdraw(
                party,
                &task.message.place,
                "its worker has reported it done",
            )?;
        }
    }
    Ok(())
}

/// So often somebody may take a number from under our hands before we give up.
const TRIES: usize = 8;

/// What is to become of each row, and those of which something is.
fn plan<'s>(
    fleet: &Fleet<'_>,
    source: &'s ForeignMessages,
) -> Result<(ImportedMessages, Vec<Planned<'s>>)> {
    let mut imported = ImportedMessages {
        skipped: source.skipped.clone(),
        ..ImportedMessages::default()
    };
    let registered = fleet.mails()?;
    let known: Vec<WorkerId> = registered.iter().map(|it| it.worker.clone()).collect();
    let workers = foreign::workers(&source.rows, &known);
    let here: BTreeMap<String, (MessageAddress, MessageStatus)> = scan::all(fleet)?
        .messages
        .into_iter()
        .filter_map(|it| Some((it.message.id?, (it.message.place, it.state))))
        .collect();
    let mut planned = Vec::new();
    for row in &source.rows {
        let side = match foreign::place(row, &workers) {
            Ok(side) => side,
            Err(reason) => {
                let name = format!("row {}", row.id);
                imported.skipped.push(Skipped::new(name, reason));
                continue;
            }
        };
        if !known.contains(&side.0) && !imported.workers.contains(&side.0) {
            imported.workers.push(side.0.clone());
        }
        let id = envelope::id_of(row);
        let known = here.get(&id);
        let known = known.or_else(|| here.get(&envelope::earlier_id_of(row)));
        let (fate, place) = match known {
            None => (RowOutcome::Added, None),
            Some((_, MessageStatus::Acked)) => (RowOutcome::Unchanged, None),
            Some(_) if row.acked.is_none() => (RowOutcome::Unchanged, None),
            Some((place, _)) => (RowOutcome::Acked, Some(place.seq)),
        };
        imported.rows.push((row.id, fate));
        if fate != RowOutcome::Unchanged {
            planned.push(Planned {
                row,
                id,
                side,
                fate,
                seq: place,
            });
        }
    }
    Ok((imported, planned))
}

/// So many rows appear in one step. What they become has numbers of its own, so no direction has to
/// be locked meanwhile.
const TOGETHER: usize = 500;

fn enter(fleet: &Fleet<'_>, actor: &WorkerId, planned: &mut [Planned<'_>]) -> Result<()> {
    for some in planned.chunks_mut(TOGETHER) {
        number(fleet, some)?;
        fleet.home.transact(|| {
            let mut transition = Transition::default();
            let at = fleet.home.now();
            for it in &*some {
                it.enter(fleet, (actor, at), &mut transition)?;
            }
            transition.carry_out(fleet.home, &fleet.repo, (actor, at))
        })?;
    }
    Ok(())
}

/// Leaves a number to whoever took it without asking.
fn yield_number(
    fleet: &Fleet<'_>,
    actor: &WorkerId,
    planned: &[Planned<'_>],
    taken: &Path,
) -> Result<()> {
    let name = taken.file_name().unwrap_or_default().to_string_lossy();
    for it in planned {
        let mail = fleet.mail(&it.side.0)?;
        let (dir, number) = (mail.dir(it.side.1), layout::parse(it.side.1, &name));
        if let Some((seq, _)) = number
            && it.seq == Some(seq)
            && taken.parent() == Some(&dir)
        {
            let names = [layout::sidecar(seq), layout::body(seq)];
            let ours = match it.side.1 {
                Direction::Inbox => names.map(|name| dir.join(name)).to_vec(),
                Direction::Outbox => Vec::new(),
            };
            let give = || mail.lock(it.side.1)?.yield_number(actor, seq, taken, &ours);
            return fleet.home.transact(give);
        }
    }
    Ok(())
}

/// A row that is to be taken over.
struct Planned<'r> {
    row: &'r MessageRow,
    id: String,
    /// Whose mail, and which direction.
    side: (WorkerId, Direction),
    /// Added, or acknowledged since it came.
    fate: RowOutcome,
    /// Its number, once it has one.
    seq: Option<Seq>,
}

/// Gives each row that has none its number, in the rows' order.
fn number(fleet: &Fleet<'_>, rows: &mut [Planned<'_>]) -> Result<()> {
    let mut sides: BTreeMap<(WorkerId, Direction), Vec<&mut Option<Seq>>> = BTreeMap::new();
    for row in rows.iter_mut().filter(|it| it.seq.is_none()) {
        sides
            .entry(row.side.clone())
            .or_default()
            .push(&mut row.seq);
    }
    for ((worker, direction), open) in sides {
        let mail = fleet.mail(&worker)?;
        let first = mail.lock(direction)?.numbers(open.len() as u64)?.get();
        for (number, seq) in (first..).zip(open) {
            *seq = Seq::try_from(number).ok();
        }
    }
    Ok(())
}

impl Planned<'_> {
    /// Adds what the row becomes. An acknowledged brief was delivered, so somebody there had let it
    /// through.
    fn enter(
        &self,
        fleet: &Fleet<'_>,
        (actor, now): (&WorkerId, Timestamp),
        transition: &mut Transition,
    ) -> Result<()> {
        let Some(seq) = self.seq else { return Ok(()) };
        let (row, (worker, direction)) = (self.row, &self.side);
        let mail = fleet.mail(worker)?;
        let path = |name: String| mail.dir(*direction).join(name);
        let is_new = self.fate == RowOutcome::Added;
        let mut prints = None;
        let message = match direction {
            Direction::Inbox => {
                let brief = envelope::brief(row, &self.id, (worker, seq));
                if is_new {
                    let meta = readable("summary", layout::write_brief(None, &brief))?;
                    transition.batch.create(path(layout::sidecar(seq)), meta);
                    let body = readable("brief", row.body.as_bytes().to_owned())?;
                    transition.batch.create(path(layout::body(seq)), body);
                }
                prints = Some(layout::new_brief(&brief).prints(&row.body));
                Message::of_brief(&brief, &row.body)
            }
            Direction::Outbox => {
                let report = envelope::report(row, &self.id, (worker, seq));
                if is_new {
                    let bytes = readable("report", layout::write_report(None, &report))?;
                    transition.batch.create(path(layout::report(seq)), bytes);
                }
                Message::of_report(&report)
            }
        };
        let mut entry = line(Kind::MessageImported, &message, None)
            .detail("row", row.id)
            .detail("subject", row.subject.as_str());
        if let Some(prints) = prints.filter(|_| is_new) {
            entry = entry
                .detail("sha256", prints.sha256.as_str())
                .detail("envelope", prints.envelope.as_str());
        }
        if let Some(at) = row.acked {
            entry = entry.detail("acked_at", at.to_string());
            let is_decided = !is_new && {
                let slots = mail.slots(*direction)?;
                slots.get(&seq).is_some_and(|slot| slot.is_decided())
            };
            if *direction == Direction::Inbox && !is_decided {
                let verdict = DecisionRecord {
                    decision: Decision::Ratified,
                    by: actor.clone(),
                    at: now,
                    sha256: Hash::of(row.body.as_bytes()),
                    envelope: None,
                    via: Via::External,
                    reason: None,
                    rule: None,
                    policy: None,
                    hand: None,
                    line: None,
                };
                let decision = path(layout::decision(seq));
                let verdict = layout::write_verdict(&verdict);
                transition.batch.create(decision, verdict);
                let flag = path(layout::flag(seq, Decision::Ratified));
                transition.batch.flag(flag);
            }
            transition.batch.flag(path(layout::read_flag(seq)));
        }
        transition.entries.push(entry);
        Ok(())
    }
}
