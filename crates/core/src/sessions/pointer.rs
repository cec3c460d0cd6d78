//! A list's pointer to the session that runs it, or ran it last.
//!
//! Owns `execution_pointer.md`. It is a file that anybody may write, so what it names is looked at
//! before it is believed: a session's directory of this repository, or nothing. Invariant: the end
//! of one repository's session never takes the pointer from another's that runs the same list.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use flagpost_disk::{
    self as disk,
    dialects::{claude_tasks::POINTER, session::layout},
    fsx,
};
use flagpost_model::SessionId;

use super::{Ended, Sessions, is_empty, read_lock};
use crate::{error::Result, home::Home, list::List, registry};

/// The session directory that a list's pointer names, resolved. `None` where it names nothing that
/// is a session of this repository; a path that leads out of it is refused.
pub fn pointed(home: &Home, list: &List<'_>, sessions: &Sessions<'_>) -> Result<Option<PathBuf>> {
    sessions.stay_inside()?;
    let Some(named) = read(home, list)? else {
        return Ok(None);
    };
    if !named.is_absolute() {
        return Err(disk::Error::Outside {
            path: named,
            root: sessions.root().to_owned(),
        }
        .into());
    }
    let Some(dir) = fsx::within_if_there(home.fs(), sessions.root(), &named)? else {
        return Ok(None);
    };
    let root = home.fs().canonical(sessions.root());
    let is_child = root.is_ok_and(|root| dir.parent() == Some(&root));
    let is_dir = fsx::stat(home.fs(), &dir)?.is_some_and(|stat| stat.kind == fsx::FileKind::Dir);
    Ok((is_child && is_dir).then_some(dir))
}

/// The session directory that a list's readers are shown: one of a repository that is registered, or
/// any below the user's home, but ours, however it is named. What leads elsewhere is none.
pub fn shown(home: &Home, list: &List<'_>) -> Result<Option<PathBuf>> {
    let Some(named) = read(home, list)?.filter(|named| named.is_absolute()) else {
        return Ok(None);
    };
    let mut is_ours = false;
    for repository in registry::repositories(home)? {
        is_ours |= named.starts_with(&repository.top);
        // One that is gone, or whose sessions lead elsewhere, is not the one.
        if let Ok(Some(dir)) = pointed(home, list, &Sessions::of(home, &repository)) {
            return Ok(Some(dir));
        }
    }
    let user_home = home.environment().user_home.as_ref().filter(|_| !is_ours);
    let Some(user_home) = user_home else {
        return Ok(None);
    };
    let fs = home.fs();
    let below = |root: &Path| fsx::within_if_there(fs, root, &named);
    let Ok(Some(dir)) = below(user_home) else {
        return Ok(None);
    };
    let is_home = matches!(fs.canonical(user_home), Ok(real) if real == dir);
    let is_kept = matches!(below(home.root()), Ok(Some(_)));
    let is_dir = fsx::stat(fs, &dir)?.is_some_and(|stat| stat.kind == fsx::FileKind::Dir);
    Ok((is_dir && !is_home && !is_kept).then_some(dir))
}

/// Makes a list's pointer name a session's directory.
pub(super) fn point(home: &Home, list: &List<'_>, dir: &Path) -> Result<()> {
    // As bytes: a repository's path need not be UTF-8.
    let line = [dir.as_os_str().as_bytes(), b"/\n"].concat();
    Ok(fsx::replace(home.fs(), &list.dir().join(POINTER), &line)?)
}

/// Makes the pointer follow a session whose files moved from `live` to `dir`, unless it names a
/// session that another repository runs on the list.
pub(super) fn follow(home: &Home, list: &List<'_>, live: &Path, dir: &Path) -> Result<()> {
    if let Ok(Some(named)) = read(home, list)
        && named != live
        && names_a_session_elsewhere(home, &named)
    {
        return Ok(());
    }
    point(home, list, dir)
}

/// Mends the pointer where an archival was cut off before it: it names the live directory, where
/// nothing is.
pub(super) fn heal(sessions: &Sessions<'_>, list: &List<'_>) -> Result<()> {
    let (home, live) = (sessions.home, sessions.live_dir());
    if !matches!(read(home, list), Ok(Some(named)) if named == live) || !is_empty(home, &live)? {
        return Ok(());
    }
    let ours = |ended: &&Ended| ended.lock.list.as_ref() == Some(list.id());
    match sessions.ended()?.iter().rev().find(ours) {
        Some(newest) => point(home, list, &sessions.dir(&newest.id)),
        None => Ok(()),
    }
}

/// The id of the session that the pointer names, wherever it runs: another must not have its name,
/// since claims tell sessions apart by nothing else.
pub(super) fn session_named(home: &Home, list: &List<'_>) -> Option<SessionId> {
    let named = read(home, list).ok().flatten()?;
    if !names_a_session_elsewhere(home, &named) {
        return None;
    }
    read_lock(home, &named).ok().flatten()?.session
}

fn names_a_session_elsewhere(home: &Home, named: &Path) -> bool {
    named.is_absolute()
        && named.ends_with(Path::new(layout::SESSIONS).join(layout::LIVE))
        && is_empty(home, named).is_ok_and(|empty| !empty)
}

/// What the pointer says; `None` without a pointer. A relative path begins at the user's home, as for the
/// original program.
fn read(home: &Home, list: &List<'_>) -> Result<Option<PathBuf>> {
    let bytes = fsx::read(home.fs(), &list.dir().join(POINTER))?;
    let path = |bytes: Vec<u8>| -> PathBuf {
        // Through components: the slash at its end goes.
        let path = Path::new(OsStr::from_bytes(bytes.trim_ascii()));
        let path: PathBuf = path.components().collect();
        match &home.environment().user_home {
            Some(user_home) if !path.as_os_str().is_empty() => user_home.join(path),
            _ => path,
        }
    };
    Ok(bytes.map(path))
}
