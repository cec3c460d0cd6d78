//! Archiving a session.
//!
//! Owns the end of a session: its directory becomes `{session-id}/` by one rename, and the list's
//! pointer follows, so that a finished run stays on the screens that follow it.

use std::path::PathBuf;

use flagpost_disk::{
    dialects::session::{layout, progress, summary},
    fsx,
};
use flagpost_model::{
    WorkerId,
    session::{Progress, SessionSummary},
};

use super::{Live, point};
use crate::{
    error::Result,
    history::{Entry, History, Kind},
    list::List,
};

/// Ends a session; answers with where its files are now.
pub fn archive(
    live: Live<'_>,
    list: &List<'_>,
    actor: &WorkerId,
    progress: &Progress,
    account: &SessionSummary,
) -> Result<PathBuf> {
    let home = live.home();
    let fs = home.fs();
    let from = live.dir().to_owned();
    let to = from.with_file_name(live.id().as_str());
    let mut batch = fsx::Batch::new();
    batch.put(
        from.join(layout::PROGRESS),
        progress::render(progress).into_bytes(),
    );
    batch.put(
        from.join(layout::SUMMARY),
        summary::render(account).into_bytes(),
    );
    batch.seal(fs)?.reveal()?;
    fsx::move_dir(fs, &from, &to)?;
    point(home, list, &to)?;
    // Other programs watch the live directory and expect it to stay.
    fsx::make_dirs(fs, &from)?;
    let mut entry = Entry::new(Kind::SessionArchived).session(live.id());
    entry.list = Some(list.id().clone());
    History::of(home, live.repository()).record(actor, home.now(), vec![entry])?;
    Ok(to)
}
