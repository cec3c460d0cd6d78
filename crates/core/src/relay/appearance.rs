//! Whether what a line of the history tells of a mail has appeared.
//!
//! Owns the file that each kind of line stands for. It is asked about the last change only, before
//! the next one; a message cannot have been archived since.

use flagpost_disk::{dialects::relay as layout, fsx};
use flagpost_model::{RepoId, envelope::Direction};

use super::Fleet;
use crate::{
    error::Result,
    history::{Entry, Kind},
    home::Home,
};

/// Whether the file that the entry stands for is there; an entry that stands for none has always
/// appeared.
pub(crate) fn appeared(home: &Home, repo: &RepoId, entry: &Entry) -> Result<bool> {
    let (Some(worker), Some(seq)) = (&entry.worker, entry.seq) else {
        return Ok(true);
    };
    let inbox = Fleet::of(home, repo)
        .directory(worker)
        .dir(Direction::Inbox);
    // A power cut may have left either half.
    let is_half = entry.kind == Kind::BriefProposed
        && fsx::stat(home.fs(), &inbox.join(layout::sidecar(seq)))?.is_none();
    if is_half {
        return Ok(false);
    }
    let (direction, name) = match entry.kind {
        Kind::BriefProposed => (Direction::Inbox, layout::body(seq)),
        Kind::BriefDecided => (Direction::Inbox, layout::decision(seq)),
        Kind::BriefDelivered => (Direction::Inbox, layout::offered(seq)),
        Kind::BriefRead => (Direction::Inbox, layout::read_flag(seq)),
        Kind::Reported => (Direction::Outbox, layout::report(seq)),
        Kind::ReportRead => (Direction::Outbox, layout::read_flag(seq)),
        _ => return Ok(true),
    };
    let path = inbox.with_file_name(direction.as_str()).join(name);
    Ok(fsx::stat(home.fs(), &path)?.is_some())
}
