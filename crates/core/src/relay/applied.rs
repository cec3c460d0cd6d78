//! Whether what a line of the history tells of a mail has appeared.
//!
//! Owns the file that each kind of line stands for. It is asked about the last change only, before
//! the next one; a message cannot have been archived since. A file that somebody removed is no change
//! that never appeared: the kept words show that a brief was published, and a decision whose line is
//! durable was made.

use flagpost_disk::{dialects::relay as layout, fsx};
use flagpost_model::{RepoId, decision::Decision, envelope::Direction, worker::WorkerStatus};
use serde_json::Value;

use super::{Fleet, leases};
use crate::{
    error::Result,
    history::{Entry, Fate, Kind},
    home::Home,
};

/// Whether the file that the entry of line `n` stands for is there, or was; an entry that stands for none
/// has always appeared.
pub(crate) fn is_applied(
    (home, repo): (&Home, &RepoId),
    (n, entry): (u64, &Entry),
    fate: Fate,
) -> Result<bool> {
    let Some(worker) = &entry.worker else {
        return Ok(true);
    };
    let mail = Fleet::of(home, repo).directory(worker);
    match entry.kind {
        Kind::WorkerRegistered => return mail.stands(WorkerStatus::Active),
        Kind::WorkerRetired => return mail.stands(WorkerStatus::Retired),
        Kind::TokenIssued => return mail.has_token_of(entry),
        _ => {}
    }
    let Some(seq) = entry.seq else {
        return Ok(true);
    };
    let inbox = mail.dir(Direction::Inbox);
    let there =
        |name: String| -> Result<bool> { Ok(fsx::stat(home.fs(), &inbox.join(name))?.is_some()) };
    // A power cut may have left either half, or a mark alone.
    let is_of_brief = match entry.kind {
        Kind::BriefProposed | Kind::BriefDecided | Kind::BriefRead => true,
        Kind::MessageSent | Kind::MessageImported | Kind::MessageAcked => {
            direction(entry) == Direction::Inbox
        }
        _ => false,
    };
    if is_of_brief && !(there(layout::sidecar(seq))? && there(layout::body(seq))?) {
        return mail.was_published(seq);
    }
    if entry.kind == Kind::BriefDecided {
        if fate == Fate::CutShort {
            return Ok(true);
        }
        let there = mail.verdict(seq)?;
        return Ok(there.is_ok_and(|it| it.line == Some(n)));
    }
    let (direction, name) = match entry.kind {
        Kind::BriefProposed => (Direction::Inbox, layout::body(seq)),
        Kind::BriefDelivered => (Direction::Inbox, layout::offered(seq)),
        Kind::BriefRead => (Direction::Inbox, layout::read_flag(seq)),
        Kind::Reported => (Direction::Outbox, layout::report(seq)),
        Kind::ReportRead => (Direction::Outbox, layout::read_flag(seq)),
        Kind::ReportConfirmed => (Direction::Outbox, layout::flag(seq, Decision::Ratified)),
        Kind::MessageSent | Kind::MessageImported => match direction(entry) {
            Direction::Inbox => (Direction::Inbox, layout::body(seq)),
            Direction::Outbox => (Direction::Outbox, layout::report(seq)),
        },
        Kind::MessageReceived => match entry.detail.get("count").and_then(Value::as_u64) {
            None => (direction(entry), layout::read_flag(seq)),
            Some(count) => {
                let lease = leases::read(home, &mail.dir(direction(entry)), seq)?;
                return Ok(lease.is_some_and(|lease| lease.count >= count));
            }
        },
        Kind::MessageWithdrawn => (Direction::Inbox, layout::withdrawn(seq)),
        Kind::MessageAcked => (direction(entry), layout::read_flag(seq)),
        _ => return Ok(true),
    };
    let path = inbox.with_file_name(direction.as_str()).join(name);
    Ok(fsx::stat(home.fs(), &path)?.is_some())
}

/// The direction that a line about a message names.
pub(super) fn direction(entry: &Entry) -> Direction {
    let word = entry.detail.get("direction").and_then(Value::as_str);
    word.and_then(|word| word.parse().ok())
        .unwrap_or(Direction::Inbox)
}
