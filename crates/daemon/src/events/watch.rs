//! Being told by the system that something changed.
//!
//! Owns what counts: any change of a file in the home's tasks and repositories, or in another root of
//! tasks, but for locks and temporaries, and never that something was read: our own looks would
//! keep us awake. A notice only wakes; what happened is read from the files. Where the system cannot
//! tell of everything, one looks each second instead.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use flagpost_core::{Home, roots};
use flagpost_disk::fsx;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use serde::{Deserialize, Serialize};
use tracing::warn;

use super::Hub;
use crate::error::Result;

/// How changes are noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Watching {
    /// The system tells of them.
    #[default]
    Events,
    /// By looking once a second.
    Polling,
}

/// Wakes the hub with every change, for as long as the answer lives.
pub(crate) fn watch(home: &Home, hub: &Arc<Hub>) -> Result<Option<RecommendedWatcher>> {
    if hub.watching() == Watching::Polling {
        return Ok(None);
    }
    for dir in [home.tasks_root(), home.repositories_root()] {
        fsx::make_dirs(home.fs(), &dir)?;
    }
    Ok(match begin(home, hub) {
        Ok(watcher) => Some(watcher),
        Err(error) => {
            warn!(%error, "the system does not tell of changes: looking once a second");
            hub.poll_from_now();
            None
        }
    })
}

fn begin(home: &Home, hub: &Arc<Hub>) -> notify::Result<RecommendedWatcher> {
    let woken = Arc::clone(hub);
    let mut watcher =
        notify::recommended_watcher(move |told: notify::Result<notify::Event>| match told {
            Ok(event) if event.need_rescan() || matters(&event) => woken.wake.notify_one(),
            Ok(_) => {}
            Err(error) => {
                warn!(%error, "the system does not tell of all changes: looking once a second");
                woken.poll_from_now();
            }
        })?;
    for dir in dirs(home) {
        watcher.watch(&dir, RecursiveMode::Recursive)?;
    }
    Ok(watcher)
}

fn dirs(home: &Home) -> Vec<PathBuf> {
    let mut dirs = vec![home.tasks_root(), home.repositories_root()];
    // One that cannot be read has lists that cannot be read either.
    let others = roots::survey(home).unwrap_or_default();
    let others = others.into_iter().filter(|root| match root.standing {
        roots::Standing::Readable { .. } => true,
        roots::Standing::Missing | roots::Standing::Unreadable(_) => false,
    });
    dirs.extend(others.map(|root| root.dir));
    dirs
}

fn matters(event: &notify::Event) -> bool {
    !matches!(event.kind, EventKind::Access(_)) && !event.paths.iter().all(|it| is_passing(it))
}

/// Locks and temporaries.
fn is_passing(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') && (name.ends_with(".lock") || name.contains(".tmp-"))
}

#[cfg(test)]
mod tests {
    use notify::event::{AccessKind, AccessMode, CreateKind, DataChange, Event, ModifyKind};

    use super::*;

    fn event(kind: EventKind, names: &[&str]) -> Event {
        let at = |name: &&str| Path::new("/home/inbox").join(name);
        let event = Event::new(kind);
        names.iter().map(at).fold(event, Event::add_path)
    }

    #[test]
    fn what_our_own_looks_cause_wakes_nobody() {
        let written = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        let made = EventKind::Create(CreateKind::File);
        let read = EventKind::Access(AccessKind::Open(AccessMode::Any));
        assert!(!matters(&event(read, &["0001.brief"])));
        assert!(!matters(&event(written, &[".lock"])));
        assert!(!matters(&event(written, &[".history.lock"])));
        assert!(!matters(&event(made, &[".0001.brief.tmp-7-ab"])));
    }

    #[test]
    fn what_appears_or_changes_does() {
        let written = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        let made = EventKind::Create(CreateKind::File);
        assert!(matters(&event(written, &["history.jsonl"])));
        assert!(matters(&event(made, &["0001.ratified"])));
        assert!(matters(&event(made, &[".0001.decision.json"])));
        assert!(matters(&event(written, &[".1.json.tmp-7-ab", "1.json"])));
    }
}
