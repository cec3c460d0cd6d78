//! Archiving a session.
//!
//! Owns the end of a session: its directory becomes `{session-id}/` by one rename, and the list's
//! pointer follows, so that a finished run stays on the screens that follow it.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use flagpost_disk::{
    dialects::session::{layout, progress, summary},
    fsx,
};
use flagpost_model::{
    WorkerId,
    session::{Outcome, Progress, ProgressStatus, SessionSummary},
};

use super::{
    Live, Sessions,
    begin::{Doubt, free_id, refuse_if_live},
    gate, is_empty, other_list,
    pointer::follow,
};
use crate::{
    config::{Config, keys},
    error::{Error, Result},
    history::{Entry, History, Kind},
    list::List,
};

/// A run of hours is not lost to somebody who holds the start for a moment too long.
const PATIENCE: Duration = Duration::from_secs(60);

/// Ends a session; answers with where its files are now. Where that failed it can be asked for again,
/// and goes on from there.
pub fn archive(
    live: &mut Live<'_>,
    list: &List<'_>,
    actor: &WorkerId,
    progress: &Progress,
    account: &SessionSummary,
) -> Result<PathBuf> {
    let (home, fs) = (live.home(), live.home().fs());
    let from = live.dir().with_file_name(layout::LIVE);
    let to = from.with_file_name(live.id().as_str());
    // Whoever begins next waits, so that its pointer comes after ours.
    let root = from.parent().unwrap_or(&from);
    let gate = if live.is_archived() {
        gate(home, root, PATIENCE)?
    } else {
        write_account(fs, &from, progress, account)?;
        let_results_go(live, account)?;
        let gate = gate(home, root, PATIENCE)?;
        fsx::move_dir(fs, &from, &to)?;
        live.moved_to(&to);
        gate
    };
    // Another one may have begun since the files moved: then the pointer is its own.
    if is_empty(home, &from)? {
        follow(home, list, &from, &to)?;
        // Other programs watch the live directory and expect it to stay.
        fsx::make_dirs(fs, &from)?;
    }
    drop(gate);
    let mut entry = Entry::new(Kind::SessionArchived).session(live.id());
    list.sign(&mut entry);
    History::of(home, live.repository()).record(actor, home.now(), vec![entry])?;
    Ok(to)
}

/// What a session leaves to be read when it ends.
fn write_account(
    fs: &dyn fsx::Fs,
    from: &Path,
    progress: &Progress,
    account: &SessionSummary,
) -> Result<()> {
    let mut batch = fsx::Batch::new();
    batch.put(
        from.join(layout::PROGRESS),
        progress::render(progress).into_bytes(),
    );
    batch.put(
        from.join(layout::SUMMARY),
        summary::render(account).into_bytes(),
    );
    Ok(batch.stage(fs)?.publish()?)
}

/// Removes the reports of tasks that passed, where they are not wanted. What they said is in the tasks
/// and the summary, which are durable by now. A setting that cannot be read lets nothing go.
fn let_results_go(live: &Live<'_>, account: &SessionSummary) -> Result<()> {
    let setting = Config::read(live.home()).and_then(|it| it.need(&keys::SESSION_KEEP_RESULTS));
    if setting.unwrap_or(true) {
        return Ok(());
    }
    for row in account.rows.iter().filter(|it| it.outcome == Outcome::Pass) {
        fsx::remove(live.home().fs(), &live.result_path(&row.id))?;
    }
    Ok(())
}

/// Archives a session that came to its end and was left in the live directory, as other programs'
/// runners may leave theirs when they are cut off.
pub fn archive_complete(
    sessions: &Sessions<'_>,
    list: &List<'_>,
    actor: &WorkerId,
) -> Result<PathBuf> {
    let home = sessions.home;
    let from = sessions.live_dir();
    let Some(current) = sessions.current()? else {
        return Err(Error::NoSession { dir: from });
    };
    let gate = sessions.lock_gate()?;
    let Some(look) = refuse_if_live(sessions, &from, Doubt::Refuses)? else {
        return Err(Error::NoSession { dir: from });
    };
    let named = look.lock.session;
    if current.progress.status != Some(ProgressStatus::Complete) {
        let session = named.map_or_else(|| "of unknown name".to_owned(), |id| id.to_string());
        return Err(Error::SessionIncomplete { session });
    }
    let id = match named {
        Some(id) if fsx::stat(home.fs(), &sessions.dir(&id))?.is_none() => id,
        _ => free_id(sessions, None, &sessions.dead()?)?,
    };
    let to = sessions.dir(&id);
    let other = other_list(home, list, look.lock.list.as_ref())?;
    let list = other.as_ref().unwrap_or(list);
    fsx::move_dir(home.fs(), &from, &to)?;
    follow(home, list, &from, &to)?;
    fsx::make_dirs(home.fs(), &from)?;
    drop((look.flock, gate));
    let mut entry = Entry::new(Kind::SessionArchived).session(&id);
    list.sign(&mut entry);
    History::of(home, &list.repository()?).record(actor, home.now(), vec![entry])?;
    Ok(to)
}
