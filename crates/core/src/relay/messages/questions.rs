//! Questions: what workers ask a person about the tasks that they have.
//!
//! Owns when a question still waits: it is the worker's last word about its task, and nobody has
//! written a REPLY to it. Read from the newest report backwards, so that a long mail costs little.

use flagpost_disk::dialects::relay::Part;
use flagpost_model::{
    TaskId, WorkerId,
    decision::Decision,
    envelope::Direction,
    message::{Body, Message, Needs, Subject},
};
use jiff::Timestamp;

use crate::{
    error::{Error, Result},
    relay::{Fleet, Mail, briefs},
};

/// What a worker asks about a task that it has had since then; none where it asks nothing, or is no
/// worker of the fleet.
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
        if !slot.has(Part::Report) {
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
        let asks = matches!(message.typed(), Some(Body::Stuck(it)) if it.needs == Needs::Guidance);
        return match asks && !has_reply(&mail, &message)? {
            true => Ok(Some(message)),
            false => Ok(None),
        };
    }
    Ok(None)
}

/// Whether somebody has answered; that answer may itself wait for the operator.
fn has_reply(mail: &Mail<'_>, question: &Message) -> Result<bool> {
    for (seq, slot) in mail.slots(Direction::Inbox)?.iter().rev() {
        if !slot.has(Part::Body) {
            continue;
        }
        let Ok(letter) = briefs::letter(mail, *seq, slot)? else {
            continue;
        };
        let reply = Message::of_brief(&letter.brief, &letter.body);
        if reply.at < question.at {
            break;
        }
        let is_reply = reply.subject == Some(Subject::Reply)
            && reply.answers.as_ref() == Some(&question.place)
            && letter.standing.decision() != Some(Decision::Rejected);
        if is_reply {
            return Ok(true);
        }
    }
    Ok(false)
}
