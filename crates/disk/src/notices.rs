//! Being told by the system that files changed.
//!
//! Owns what counts as a change: never that something was read, since our own looks would keep us
//! awake, and neither a lock nor a temporary. A notice only wakes; what happened is read from the
//! files, also by those who are told nothing.

use std::path::{Path, PathBuf};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

/// Why the system tells of nothing, or not of all.
pub type WatchLost = notify::Error;

/// What the system tells.
#[derive(Debug)]
pub enum Notice {
    /// These changed; none are named where it lost count.
    Changed(Vec<PathBuf>),
    /// It cannot tell of all changes any more.
    Deaf(WatchLost),
}

/// Is told of changes for as long as it lives.
#[derive(Debug)]
pub struct Watcher(RecommendedWatcher);

impl Watcher {
    /// Calls `told` with every notice, from a thread of its own.
    pub fn new(mut told: impl FnMut(Notice) + Send + 'static) -> Result<Self, WatchLost> {
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            if let Some(notice) = notice(event) {
                told(notice);
            }
        });
        watcher.map(Self)
    }

    /// Has it watch what lies in this directory as well.
    pub fn add(&mut self, dir: &Path) -> Result<(), WatchLost> {
        self.0.watch(dir, RecursiveMode::NonRecursive)
    }
}

fn notice(event: notify::Result<notify::Event>) -> Option<Notice> {
    match event {
        Ok(event) if event.need_rescan() => Some(Notice::Changed(Vec::new())),
        Ok(event) => is_change(&event).then_some(Notice::Changed(event.paths)),
        Err(error) => Some(Notice::Deaf(error)),
    }
}

/// Whether it tells of a change, or that some were lost.
pub fn is_change(event: &notify::Event) -> bool {
    let is_read = matches!(event.kind, EventKind::Access(_));
    let passes = is_read || event.paths.iter().all(|path| is_passing(path));
    event.need_rescan() || !passes
}

/// Locks and temporaries.
fn is_passing(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') && (name.ends_with(".lock") || name.contains(".tmp-"))
}

#[cfg(test)]
mod tests {
    use notify::event::{AccessKind, AccessMode, CreateKind, DataChange, Event, Flag, ModifyKind};

    use super::*;

    fn wakes(kind: EventKind, names: &[&str]) -> bool {
        let at = |name: &&str| Path::new("/home/inbox").join(name);
        let event = names.iter().map(at).fold(Event::new(kind), Event::add_path);
        notice(Ok(event)).is_some()
    }

    #[test]
    fn what_our_own_looks_cause_wakes_nobody() {
        let written = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        let made = EventKind::Create(CreateKind::File);
        let read = EventKind::Access(AccessKind::Open(AccessMode::Any));
        assert!(!wakes(read, &["0001.brief"]));
        assert!(!wakes(written, &[".lock"]));
        assert!(!wakes(written, &[".history.lock"]));
        assert!(!wakes(made, &[".0001.brief.tmp-7-ab"]));
    }

    #[test]
    fn what_appears_or_changes_does() {
        let written = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        let made = EventKind::Create(CreateKind::File);
        assert!(wakes(written, &["history.jsonl"]));
        assert!(wakes(made, &["0001.ratified"]));
        assert!(wakes(made, &[".0001.decision.json"]));
        assert!(wakes(written, &[".1.json.tmp-7-ab", "1.json"]));
    }

    #[test]
    fn who_lost_count_wakes_for_anything() {
        let lost = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        assert!(matches!(notice(Ok(lost)), Some(Notice::Changed(paths)) if paths.is_empty()));
        let error = notify::Error::generic("gone");
        assert!(matches!(notice(Err(error)), Some(Notice::Deaf(_))));
    }
}
