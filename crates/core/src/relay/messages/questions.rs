//! Questions: what workers ask a person about the tasks that they have.
//!
//! Owns when a question still waits: it is the worker's last word about its task, and nobody has
//! written a REPLY to it. It belongs to its TASK: a run that dies and one that takes over claim the
//! task anew, and the question is none the older for it. A question that was answered is one still,
//! until its worker says something else.

use std::collections::{BTreeMap, BTreeSet};

use flagpost_disk::dialects::relay::EnvelopePart;
use flagpost_model::{
    TaskId, WorkerId,
    decision::Decision,
    envelope::Direction,
    message::{self, Message, Subject},
};
use jiff::Timestamp;

use super::in_flight::{is_in, task_of};
use crate::{
    error::{Error, Result},
    relay::{Fleet, Mail, briefs},
};

/// What a worker asks about a task that it has had since then, whoever gave it, answered or not; none
/// where it asks nothing, or is no worker of the fleet. Read from the newest report backwards, so that
/// a long mail costs little.
pub fn question(
    fleet: &Fleet<'_>,
    worker: &WorkerId,
    task: &TaskId,
    since: Timestamp,
) -> Result<Option<Message>> {
    let mail = match fleet.mail(worker) {
        Ok(mail) => mail,
        Err(Error::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    for (seq, slot) in mail.slots(Direction::Outbox)?.iter().rev() {
        if !slot.has(EnvelopePart::Report) {
            continue;
        }
        let Ok(file) = mail.report(*seq)? else {
            continue;
        };
        let message = Message::of_report(&file.content);
        if message.at < since {
            break;
        }
        if message.task().as_deref() != Some(task.as_str()) {
            continue;
        }
        return Ok(Some(message).filter(message::asks));
    }
    Ok(None)
}

/// What workers ask about the TASKs of these threads that they have and that are still wanted of
/// them, answered or not.
pub fn questions(
    fleet: &Fleet<'_>,
    threads: &BTreeSet<String>,
    is_wanted: impl Fn(&WorkerId, &TaskId) -> bool,
) -> Result<Vec<Message>> {
    let mut found = Vec::new();
    if threads.is_empty() {
        return Ok(found);
    }
    for mail in fleet.mails()? {
        // A process ends with its run.
        if mail.worker.is_process() {
            continue;
        }
        for task in given(&mail, threads, &is_wanted)?.values() {
            found.extend(last_question(&mail, task)?);
        }
    }
    Ok(found)
}

/// The newest TASK about each task that is wanted and was not taken back.
fn given(
    mail: &Mail<'_>,
    threads: &BTreeSet<String>,
    is_wanted: impl Fn(&WorkerId, &TaskId) -> bool,
) -> Result<BTreeMap<TaskId, Message>> {
    let mut given = BTreeMap::new();
    for (seq, slot) in mail.slots(Direction::Inbox)? {
        if !slot.has(EnvelopePart::Body) || slot.has(EnvelopePart::Withdrawn) {
            continue;
        }
        let Ok(letter) = briefs::brief_view(mail, seq, &slot)? else {
            continue;
        };
        let message = Message::of_brief(&letter.brief, &letter.body);
        if message.subject == Some(Subject::Task)
            && is_in(threads, &message)
            && let Some(task) = task_of(&message)
            && is_wanted(&mail.worker, &task)
        {
            given.insert(task, message);
        }
    }
    Ok(given)
}

/// What its worker asks about a TASK and nobody has answered.
pub(super) fn about(mail: &Mail<'_>, task: &Message) -> Result<Option<Message>> {
    Ok(match last_question(mail, task)? {
        Some(question) if reply_in(mail, &question)?.is_none() => Some(question),
        Some(_) | None => None,
    })
}

/// What its worker asks about a TASK, answered or not.
fn last_question(mail: &Mail<'_>, task: &Message) -> Result<Option<Message>> {
    let mut said = Vec::new();
    for (seq, slot) in mail.slots(Direction::Outbox)? {
        if slot.has(EnvelopePart::Report)
            && let Ok(file) = mail.report(seq)?
        {
            said.push(Message::of_report(&file.content));
        }
    }
    Ok(message::question(task, &said).cloned())
}

/// The newest answer that somebody has written to what a worker said; it may itself wait for the
/// operator.
pub fn reply(fleet: &Fleet<'_>, said: &Message) -> Result<Option<Message>> {
    let mail = fleet.mail(&said.place.worker)?;
    for shelf in [mail.clone()].iter().chain(mail.archived()?.iter().rev()) {
        if let Some(reply) = reply_in(shelf, said)? {
            return Ok(Some(reply));
        }
    }
    Ok(None)
}

fn reply_in(mail: &Mail<'_>, said: &Message) -> Result<Option<Message>> {
    for (seq, slot) in mail.slots(Direction::Inbox)?.iter().rev() {
        if !slot.has(EnvelopePart::Body) {
            continue;
        }
        let Ok(letter) = briefs::brief_view(mail, *seq, slot)? else {
            continue;
        };
        let reply = Message::of_brief(&letter.brief, &letter.body);
        if reply.at < said.at {
            break;
        }
        let is_reply = reply.subject == Some(Subject::Reply)
            && reply.answers.as_ref() == Some(&said.place)
            && letter.standing.decision() != Some(Decision::Rejected);
        if is_reply {
            return Ok(Some(reply));
        }
    }
    Ok(None)
}
