//! Reports: made by a worker, read by whoever controls it.
//!
//! Owns the publication of one under a number of its own, and the mark that somebody has read it. A
//! retry within five minutes is answered with the report it repeats.

use flagpost_disk::{
    self as disk,
    dialects::relay::{self as layout, EnvelopePart},
    fsx::Batch,
};
use flagpost_model::{
    Seq, WorkerId,
    decision::Decision,
    envelope::{Direction, Extras, Key, Report, ReportKind, VERSION},
    message::{Message, Subject, repeats},
};

use super::{
    Fleet, LOOK_BACK, Locked, Mail, PAGE, envelope_files::EnvelopeFiles, messages, page, skipped,
    workers,
};
use crate::{
    error::{Error, Result},
    history::Kind,
    readable::readable,
    skipped::Skipped,
};

/// What a worker wants to say.
#[derive(Debug, Clone)]
pub struct NewReport {
    /// What it is about.
    pub kind: ReportKind,
    /// The ticket; without one, that of the brief it answers.
    pub ticket: Option<String>,
    /// What it says.
    pub body: String,
    /// The pull request it is about.
    pub pr: Option<u64>,
    /// What should happen next.
    pub next_action: Option<String>,
    /// The brief that it answers.
    pub in_reply_to: Option<Seq>,
    /// The session that says it; without one, who acts.
    pub session: Option<String>,
    /// Our additions.
    pub extras: Extras,
}

/// The worker's own mark on its report, which the format calls ratified.
pub(super) const CONFIRMED: EnvelopePart = EnvelopePart::Flag(Decision::Ratified);

/// A report that was made.
///
/// After 'flagpost worker report'.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
pub struct Reported {
    /// The report.
    pub report: Report,
    /// It was there already: this was a retry.
    pub replay: bool,
}

/// A report in full.
///
/// After 'flagpost outbox WORKER SEQ'.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
pub struct ReportView {
    /// The report.
    pub report: Report,
    /// Somebody has read it before.
    pub read: bool,
    /// Its worker says that it came full circle.
    pub confirmed: bool,
}

/// Publishes a report, durable on return.
pub fn publish(mail: &Mail<'_>, actor: &WorkerId, draft: NewReport) -> Result<Reported> {
    mail.home.transact(|| {
        check(&draft)?;
        workers::seen_at_work(mail)?;
        mail.renew(
            draft
                .ticket
                .as_deref()
                .filter(|_| draft.extras.subject.is_some()),
        )?;
        let ticket = match (&draft.ticket, draft.in_reply_to) {
            (None, Some(seq)) => match mail.sidecar(seq)? {
                Ok(brief) => brief.content.target_ticket,
                Err(_) => return Err(mail.not_found("brief", seq)),
            },
            (given, _) => given.clone(),
        };
        let locked = mail.lock(Direction::Outbox)?;
        locked.repair(actor)?;
        let mut report = Report {
            seq: Seq::FIRST,
            version: VERSION,
            kind: draft.kind,
            produced_at: locked.at,
            worker_id: mail.worker.clone(),
            ticket_id: ticket,
            claude_session_id: draft.session.clone().unwrap_or_else(|| actor.to_string()),
            idempotency_key: Key::of(&draft.body),
            body: draft.body.clone(),
            pr_number: draft.pr,
            next_action: draft.next_action.clone(),
            in_reply_to: draft.in_reply_to,
            extras: draft.extras.clone(),
        };
        if let Some(earlier) = locked.repeated(&report)? {
            return Ok(Reported {
                report: earlier,
                replay: true,
            });
        }
        if report.extras.id.is_none() {
            report.extras.id = Some(mail.home.fs().dated_id().to_string());
        }
        locked.under_a_new_number(|seq, batch| {
            report.seq = seq;
            locked.post(actor, &report, batch)
        })?;
        Ok(Reported {
            report,
            replay: false,
        })
    })
}

fn check(draft: &NewReport) -> Result<()> {
    let invalid = |what: &str, reason: &str| Error::Invalid {
        what: what.to_owned(),
        reason: reason.to_owned(),
    };
    if draft.body.trim().is_empty() {
        return Err(invalid("report", "it says nothing"));
    }
    if draft.pr == Some(0) {
        return Err(invalid("pull request", "their numbers begin with 1"));
    }
    if draft.kind == ReportKind::MergeGoRequest && draft.pr.is_none() {
        return Err(invalid(
            "pull request",
            "who asks for leave to merge says which",
        ));
    }
    Ok(())
}

impl Locked<'_> {
    fn post(&self, actor: &WorkerId, report: &Report, mut batch: Batch) -> Result<()> {
        let seq = report.seq;
        let bytes = readable("report", layout::write_report(None, report))?;
        batch.create(self.path(&layout::report(seq)), bytes);
        let message = Message::of_report(report);
        let entry = self
            .mail
            .entry(Kind::Reported, Some(seq))
            .detail("kind", report.kind.as_str())
            .detail("ticket", report.ticket_id.clone())
            .detail("pr", report.pr_number)
            .detail("summary", message.line());
        let sent = messages::event_for(Kind::MessageSent, &message);
        let entries = [entry].into_iter().chain(sent).collect();
        let posted = self.commit(actor, entries, batch);
        if let Err(Error::Disk(disk::Error::Conflict { path })) = &posted {
            self.yield_number(actor, seq, path, &[])?;
        }
        posted
    }

    /// The report that this new one repeats. A task is done once, however late it is said again, and one id
    /// is one report.
    fn repeated(&self, report: &Report) -> Result<Option<Report>> {
        let new = Message::of_report(report);
        let (is_done, id) = (new.subject == Some(Subject::Done), &report.extras.id);
        let slots = self.mail.slots(Direction::Outbox)?;
        let reports = slots.iter().rev();
        let reports = reports.filter(|(_, slot)| slot.has(EnvelopePart::Report));
        for (at, (seq, _)) in reports.enumerate() {
            // A task or an id is looked for among all.
            if at >= LOOK_BACK && id.is_none() && !is_done {
                break;
            }
            let Ok(earlier) = self.mail.report(*seq)? else {
                continue;
            };
            let is_same = id.is_some() && *id == earlier.content.extras.id;
            let again = is_same || is_done && repeats(&new, &Message::of_report(&earlier.content));
            if again || report.replays(&earlier.content) {
                return Ok(Some(earlier.content));
            }
        }
        Ok(None)
    }
}

/// The newest reports of a worker, by number, and what cannot be understood, or is too much to be read.
pub fn list(mail: &Mail<'_>) -> Result<(Vec<ReportView>, Vec<Skipped>)> {
    let slots = mail.slots(Direction::Outbox)?;
    let there = slots.iter().filter(|(_, it)| it.has(EnvelopePart::Report));
    let there: Vec<_> = there.collect();
    let (newest, counted) = page(mail, Direction::Outbox, (&there, PAGE));
    let (mut papers, mut unread) = (Vec::new(), Vec::from_iter(counted));
    for (seq, slot) in newest {
        match mail.report(**seq)? {
            Ok(file) => papers.push(ReportView {
                report: file.content,
                confirmed: slot.has(CONFIRMED),
                read: slot.has(EnvelopePart::Read),
            }),
            Err(it) => {
                let name = format!("{}/{}/{}", mail.worker, Direction::Outbox, it.name);
                unread.push(skipped(name, it.reason));
            }
        }
    }
    Ok((papers, unread))
}

/// A report, live or archived, which stays as unread as it was.
pub fn show(mail: &Mail<'_>, seq: Seq) -> Result<ReportView> {
    live(
        &mail.shelf_of(Direction::Outbox, (seq, EnvelopePart::Report))?,
        seq,
    )
}

/// A report that marks may be put on: none that is archived.
fn live(mail: &Mail<'_>, seq: Seq) -> Result<ReportView> {
    let slots = mail.slots(Direction::Outbox)?;
    let slot = slots
        .get(&seq)
        .filter(|slot: &&EnvelopeFiles| slot.has(EnvelopePart::Report));
    let slot = slot.ok_or_else(|| mail.not_found("report", seq))?;
    let file = mail.report(seq)?.map_err(|unread| disk::Error::Malformed {
        path: mail.dir(Direction::Outbox).join(&unread.name),
        reason: unread.reason,
    })?;
    Ok(ReportView {
        report: file.content,
        confirmed: slot.has(CONFIRMED),
        read: slot.has(EnvelopePart::Read),
    })
}

/// The worker says that a report of its own came full circle: what it asked for, or told of, is dealt
/// with. Whether it had said so before.
pub fn confirm(mail: &Mail<'_>, actor: &WorkerId, seq: Seq) -> Result<bool> {
    mail.home.transact(|| {
        workers::seen_at_work(mail)?;
        let locked = mail.lock(Direction::Outbox)?;
        if live(mail, seq)?.confirmed {
            return Ok(true);
        }
        let mark = locked.path(&layout::flag(seq, Decision::Ratified));
        let entry = mail.entry(Kind::ReportConfirmed, Some(seq));
        locked.commit_flag(actor, vec![entry], mark)?;
        Ok(false)
    })
}

/// Reads a report, and marks it read. One that is addressed to somebody stays unread until that one
/// has it, and one that another worker, the `agent`, looks at stays so too: who looks over a shoulder
/// acknowledges nothing.
pub fn read(
    mail: &Mail<'_>,
    actor: &WorkerId,
    agent: Option<&WorkerId>,
    seq: Seq,
) -> Result<ReportView> {
    mail.home.transact(|| {
        let paper = show(mail, seq)?;
        let to = Message::of_report(&paper.report).to;
        match agent {
            _ if paper.read => Ok(paper),
            Some(agent) if *agent != mail.worker && agent.as_str() != to => Ok(paper),
            _ => acknowledge(mail, actor, None, seq),
        }
    })
}

/// The same, where somebody else speaks in the reader's name.
pub(super) fn acknowledge(
    mail: &Mail<'_>,
    actor: &WorkerId,
    by: Option<&WorkerId>,
    seq: Seq,
) -> Result<ReportView> {
    let locked = mail.lock(Direction::Outbox)?;
    let paper = live(mail, seq)?;
    let message = Message::of_report(&paper.report);
    let is_others = message.subject.is_some() && message.to != actor.as_str();
    if !paper.read && !is_others {
        let entry = mail.entry(Kind::ReportRead, Some(seq));
        let acked =
            messages::event_on_behalf(Kind::MessageAcked, &message, by.map(WorkerId::as_str));
        let mark = locked.path(&layout::read_flag(seq));
        let entries = [entry].into_iter().chain(acked).collect();
        locked.commit_flag(actor, entries, mark)?;
    }
    Ok(paper)
}

/// Who reported last on a pull request, and the report.
pub(crate) fn of_pull_request(fleet: &Fleet<'_>, pr: u64) -> Result<(WorkerId, Report)> {
    let mut newest: Option<(WorkerId, Report)> = None;
    for mail in fleet.mails()? {
        for paper in list(&mail)?.0 {
            let is_newer = newest
                .as_ref()
                .is_none_or(|(_, it)| it.produced_at <= paper.report.produced_at);
            if paper.report.pr_number == Some(pr) && is_newer {
                newest = Some((mail.worker.clone(), paper.report));
            }
        }
    }
    newest.ok_or_else(|| Error::NotFound {
        what: "worker that reported on pull request",
        id: format!("#{pr}"),
        list: None,
    })
}
