//! Taking over the messages of somebody else's database.
//!
//! Owns what a row becomes: an envelope with the row's own time, under an id that its content gives
//! it, so that nothing comes twice. What was acknowledged there is acknowledged here; a brief that
//! was not waits for the operator, as every brief does.

use std::collections::BTreeMap;

use flagpost_disk::{dialects::relay as layout, fsx::Batch};
use flagpost_model::{
    Seq, WorkerId,
    decision::{Decision, Verdict, Via},
    envelope::{Brief, BriefKind, Direction, Extras, Hash, Key, Report, ReportKind, VERSION},
    message::{
        Message, Place, State, Subject,
        foreign::{self, Row},
    },
};
use serde_json::json;

use super::{Source, line, survey};
use crate::{
    error::Result,
    history::Kind,
    list::Skipped,
    relay::{Fleet, Locked, readable, workers},
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
    for row in &source.rows {
        let (worker, direction) = match foreign::place(row, &workers) {
            Ok(place) => place,
            Err(reason) => {
                let name = format!("row {}", row.id);
                imported.skipped.push(Skipped::new(name, reason));
                continue;
            }
        };
        if !known.contains(&worker) && !imported.workers.contains(&worker) {
            if !dry_run {
                workers::register(fleet, actor, &worker, workers::Traits::default())?;
            }
            imported.workers.push(worker.clone());
        }
        let id = id_of(row);
        let fate = match here.get(&id) {
            None => Fate::Added,
            Some((_, State::Acked)) => Fate::Unchanged,
            Some(_) if row.acked.is_none() => Fate::Unchanged,
            Some(_) => Fate::Acked,
        };
        imported.rows.push((row.id, fate));
        if dry_run || fate == Fate::Unchanged {
            continue;
        }
        let mail = fleet.mail(&worker)?;
        let locked = mail.lock(direction)?;
        locked.tidy(actor)?;
        match here.get(&id) {
            None => locked
                .under_a_new_number(|seq, batch| locked.take_over(actor, row, &id, (seq, batch)))?,
            Some((place, _)) => locked.take_over_ack(actor, row, &id, place.seq)?,
        }
    }
    Ok(imported)
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

impl Locked<'_> {
    fn take_over(
        &self,
        actor: &WorkerId,
        row: &Row,
        id: &str,
        (seq, mut batch): (Seq, Batch),
    ) -> Result<()> {
        let message = match self.direction {
            Direction::Inbox => {
                let brief = self.brief_of(row, id, seq);
                let meta = readable("summary", layout::write_brief(None, &brief))?;
                batch.create(self.path(&layout::sidecar(seq)), meta);
                let body = readable("brief", row.body.as_bytes().to_owned())?;
                batch.create(self.path(&layout::body(seq)), body);
                Message::of_brief(&brief, &row.body)
            }
            Direction::Outbox => {
                let report = self.report_of(row, id, seq);
                let bytes = readable("report", layout::write_report(None, &report))?;
                batch.create(self.path(&layout::report(seq)), bytes);
                Message::of_report(&report)
            }
        };
        self.put_row(actor, row, &message, batch)
    }

    /// It was acknowledged since it came.
    fn take_over_ack(&self, actor: &WorkerId, row: &Row, id: &str, seq: Seq) -> Result<()> {
        let message = match self.direction {
            Direction::Inbox => Message::of_brief(&self.brief_of(row, id, seq), &row.body),
            Direction::Outbox => Message::of_report(&self.report_of(row, id, seq)),
        };
        self.put_row(actor, row, &message, Batch::new())
    }

    /// An acknowledged brief was delivered, so somebody there had let it through.
    fn put_row(
        &self,
        actor: &WorkerId,
        row: &Row,
        message: &Message,
        mut batch: Batch,
    ) -> Result<()> {
        let seq = message.place.seq;
        let mut entry = line(Kind::MessageImported, message, None)
            .detail("row", row.id)
            .detail("subject", row.subject.as_str());
        let mut flags = Vec::new();
        if let Some(at) = row.acked {
            entry = entry.detail("acked_at", at.to_string());
            let slots = self.mail.slots(self.direction)?;
            let is_decided = slots.get(&seq).is_some_and(|slot| slot.is_decided());
            if self.direction == Direction::Inbox && !is_decided {
                let verdict = Verdict {
                    decision: Decision::Ratified,
                    by: actor.clone(),
                    at: self.at,
                    sha256: Hash::of(row.body.as_bytes()),
                    via: Via::External,
                    reason: None,
                    rule: None,
                };
                let decision = self.path(&layout::decision(seq));
                batch.create(decision, layout::write_verdict(&verdict));
                flags.push(self.path(&layout::flag(seq, Decision::Ratified)));
            }
            flags.push(self.path(&layout::read_flag(seq)));
        }
        self.commit(actor, vec![entry], batch, &flags)
    }

    fn brief_of(&self, row: &Row, id: &str, seq: Seq) -> Brief {
        let mut brief = Brief {
            seq,
            version: VERSION,
            kind: BriefKind::Freeform,
            submitted_at: row.at,
            controller_session_id: row.from.clone(),
            target_worker: self.mail.worker.clone(),
            target_ticket: None,
            expires_at: None,
            summary: String::new(),
            in_reply_to: None,
            idempotency_key: Key::of(&row.body),
            extras: extras(row, id, &row.from),
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

    fn report_of(&self, row: &Row, id: &str, seq: Seq) -> Report {
        let kind = row.known_subject().map(Subject::report_kind);
        let mut report = Report {
            seq,
            version: VERSION,
            kind: kind.unwrap_or(ReportKind::Freeform),
            produced_at: row.at,
            worker_id: self.mail.worker.clone(),
            ticket_id: None,
            claude_session_id: row.from.clone(),
            body: row.body.clone(),
            pr_number: None,
            next_action: None,
            in_reply_to: None,
            idempotency_key: Key::of(&row.body),
            extras: extras(row, id, &row.to),
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
