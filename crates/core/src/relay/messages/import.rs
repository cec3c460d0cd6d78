//! Taking over the messages of somebody else's database.
//!
//! Owns what a row becomes: an envelope with the row's own time, under an id that its content gives
//! it, so that nothing comes twice. What was acknowledged there is acknowledged here; a brief that
//! was not waits for the operator, as every brief does.

use std::collections::BTreeMap;

use flagpost_disk::dialects::relay as layout;
use flagpost_model::{
    Seq, WorkerId,
    decision::{Decision, Verdict, Via},
    envelope::{Brief, BriefKind, Direction, Extras, Hash, Key, Report, ReportKind, VERSION},
    message::{
        Message, Place, State, Subject,
        foreign::{self, Row},
    },
};
use jiff::Timestamp;
use serde_json::json;

use super::{Source, line, survey};
use crate::{
    error::Result,
    history::Kind,
    list::Skipped,
    readable::readable,
    relay::{Fleet, Transition, workers},
};

/// What became of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is an envelope now.
    Added,
    /// It was one already, and is acknowledged now, as it is there.
    Acked,
    /// It was one already.
    Unchanged,
}

/// What an import did, or would do.
#[derive(Debug, Default)]
pub struct Imported {
    /// The workers that were registered.
    pub workers: Vec<WorkerId>,
    /// What became of each row, by its number.
    pub rows: Vec<(i64, Fate)>,
    /// What was left out.
    pub skipped: Vec<Skipped>,
}

/// Takes over what a source has, durable on return; with `dry_run` only says what would be done.
pub fn import(
    fleet: &Fleet<'_>,
    actor: &WorkerId,
    source: &Source,
    dry_run: bool,
) -> Result<Imported> {
    let mut imported = Imported {
        skipped: source.skipped.clone(),
        ..Imported::default()
    };
    let registered = fleet.mails()?;
    let known: Vec<WorkerId> = registered.iter().map(|it| it.worker.clone()).collect();
    let workers = foreign::workers(&source.rows, &known);
    let here: BTreeMap<String, (Place, State)> = survey::all(fleet)?
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
        let id = id_of(row);
        let (fate, place) = match here.get(&id) {
            None => (Fate::Added, None),
            Some((_, State::Acked)) => (Fate::Unchanged, None),
            Some(_) if row.acked.is_none() => (Fate::Unchanged, None),
            Some((place, _)) => (Fate::Acked, Some(place.seq)),
        };
        imported.rows.push((row.id, fate));
        if fate != Fate::Unchanged {
            planned.push(Planned {
                row,
                id,
                side,
                fate,
                seq: place,
            });
        }
    }
    if dry_run {
        return Ok(imported);
    }
    for worker in &imported.workers {
        workers::register(fleet, actor, worker, workers::Traits::default())?;
    }
    for some in planned.chunks_mut(TOGETHER) {
        number(fleet, actor, some)?;
        let mut transition = Transition::default();
        let at = fleet.home.now();
        for it in some {
            it.enter(fleet, (actor, at), &mut transition)?;
        }
        transition.carry_out(fleet.home, &fleet.repo, (actor, at))?;
    }
    Ok(imported)
}

/// So many rows appear in one step. What they become has numbers of its own, so no direction has to
/// be locked meanwhile; somebody who takes one all the same ends the import, and the next goes on.
const TOGETHER: usize = 500;

/// A row that is to be taken over.
struct Planned<'r> {
    row: &'r Row,
    id: String,
    /// Whose mail, and which direction.
    side: (WorkerId, Direction),
    /// Added, or acknowledged since it came.
    fate: Fate,
    /// Its number, once it has one.
    seq: Option<Seq>,
}

/// Gives each row that has none its number, in the rows' order.
fn number(fleet: &Fleet<'_>, actor: &WorkerId, rows: &mut [Planned<'_>]) -> Result<()> {
    let mut sides: BTreeMap<(WorkerId, Direction), Vec<&mut Option<Seq>>> = BTreeMap::new();
    for row in rows.iter_mut().filter(|it| it.seq.is_none()) {
        sides
            .entry(row.side.clone())
            .or_default()
            .push(&mut row.seq);
    }
    for ((worker, direction), open) in sides {
        let mail = fleet.mail(&worker)?;
        let locked = mail.lock(direction)?;
        locked.tidy(actor)?;
        let first = locked.numbers(open.len() as u64)?.get();
        for (number, seq) in (first..).zip(open) {
            *seq = Seq::try_from(number).ok();
        }
    }
    Ok(())
}

/// The same for the same row, wherever its database lies.
fn id_of(row: &Row) -> String {
    let Row {
        id, subject, body, ..
    } = row;
    let content = json!([id, subject, row.from, row.to, body, row.thread, row.at]);
    let hash = Hash::of(content.to_string().as_bytes());
    let parts = [(0, 8), (8, 12), (13, 16), (17, 20), (20, 32)];
    let part = |(from, to)| hash.as_str().get(from..to).unwrap_or_default();
    let [a, b, c, d, e] = parts.map(part);
    // A UUID of version 8, which is a hash of whatever its maker says.
    format!("{a}-{b}-8{c}-8{d}-{e}")
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
        let is_new = self.fate == Fate::Added;
        let message = match direction {
            Direction::Inbox => {
                let brief = self.brief(seq);
                if is_new {
                    let meta = readable("summary", layout::write_brief(None, &brief))?;
                    transition.batch.create(path(layout::sidecar(seq)), meta);
                    let body = readable("brief", row.body.as_bytes().to_owned())?;
                    transition.batch.create(path(layout::body(seq)), body);
                }
                Message::of_brief(&brief, &row.body)
            }
            Direction::Outbox => {
                let report = self.report(seq);
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
        if let Some(at) = row.acked {
            entry = entry.detail("acked_at", at.to_string());
            let is_decided = !is_new && {
                let slots = mail.slots(*direction)?;
                slots.get(&seq).is_some_and(|slot| slot.is_decided())
            };
            if *direction == Direction::Inbox && !is_decided {
                let verdict = Verdict {
                    decision: Decision::Ratified,
                    by: actor.clone(),
                    at: now,
                    sha256: Hash::of(row.body.as_bytes()),
                    via: Via::External,
                    reason: None,
                    rule: None,
                };
                let decision = path(layout::decision(seq));
                let verdict = layout::write_verdict(&verdict);
                transition.batch.create(decision, verdict);
                let flag = path(layout::flag(seq, Decision::Ratified));
                transition.flags.push(flag);
            }
            transition.flags.push(path(layout::read_flag(seq)));
        }
        transition.entries.push(entry);
        Ok(())
    }

    fn brief(&self, seq: Seq) -> Brief {
        let row = self.row;
        let mut brief = Brief {
            seq,
            version: VERSION,
            kind: BriefKind::Freeform,
            submitted_at: row.at,
            controller_session_id: row.from.clone(),
            target_worker: self.side.0.clone(),
            target_ticket: None,
            expires_at: None,
            summary: String::new(),
            in_reply_to: None,
            idempotency_key: Key::of(&row.body),
            extras: extras(row, &self.id, &row.from),
        };
        let message = Message::of_brief(&brief, &row.body);
        brief.summary = message.summary();
        if brief.summary.is_empty() {
            brief.summary.clone_from(&row.subject);
        }
        brief.target_ticket = message.task();
        // A TASK that names none is kept as what it says.
        if brief.target_ticket.is_some() && row.known_subject() == Some(Subject::Task) {
            brief.kind = BriefKind::Dispatch;
        }
        brief
    }

    fn report(&self, seq: Seq) -> Report {
        let row = self.row;
        let kind = row.known_subject().map(Subject::report_kind);
        let mut report = Report {
            seq,
            version: VERSION,
            kind: kind.unwrap_or(ReportKind::Freeform),
            produced_at: row.at,
            worker_id: self.side.0.clone(),
            ticket_id: None,
            claude_session_id: row.from.clone(),
            body: row.body.clone(),
            pr_number: None,
            next_action: None,
            in_reply_to: None,
            idempotency_key: Key::of(&row.body),
            extras: extras(row, &self.id, &row.to),
        };
        report.ticket_id = Message::of_report(&report).task();
        report
    }
}

fn extras(row: &Row, id: &str, party: &str) -> Extras {
    Extras {
        id: Some(id.to_owned()),
        subject: Some(row.subject.clone()),
        thread_id: row.thread.clone(),
        party: Some(party.to_owned()),
        by: None,
        data: None,
    }
}
