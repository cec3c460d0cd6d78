//! Being told by the system that something changed.
//!
//! Owns where something may change that somebody is told of: each directory is watched by itself, and
//! those that come later from then on. What counts as a change is `flagpost_disk::notices`' to say. A
//! notice only wakes; what happened is read from the files. Where the system cannot tell of everything,
//! one looks each second instead.

use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use flagpost_core::{Home, order::fleet_dir, watch::places};
use flagpost_disk::{fsx, notices};
use notify::{
    EventKind, RecommendedWatcher, RecursiveMode, Watcher,
    event::{ModifyKind, RenameMode},
};
use tokio::{sync::Notify, task::spawn_blocking, time::timeout};
use tracing::warn;

use super::{Hub, WatchMode};
use crate::error::Result;

/// How often to ask whether there are other directories.
const RECHECK: Duration = Duration::from_secs(30);

/// What the system tells of.
#[derive(Debug)]
pub(crate) struct Watched {
    watcher: RecommendedWatcher,
    /// What is watched. A directory that goes is forgotten, so that one in its place is watched anew.
    places: Arc<Mutex<BTreeSet<PathBuf>>>,
    /// There may be others.
    others: Arc<Notify>,
}

/// Wakes the hub with every change, for as long as the answer lives.
pub(crate) fn watch(home: &Home, hub: &Arc<Hub>) -> Result<Option<Watched>> {
    if hub.watching() == WatchMode::Polling {
        return Ok(None);
    }
    for dir in [home.tasks_root(), home.repositories_root()] {
        fsx::make_dirs(home.fs(), &dir)?;
    }
    Ok(match Watched::begin(home, hub) {
        Ok(watched) => Some(watched),
        Err(error) => {
            warn!(%error, "the system does not tell of changes: looking once a second");
            hub.poll_from_now();
            None
        }
    })
}

/// Watches directories that come later, too.
pub(crate) async fn keep(home: Home, hub: Arc<Hub>, mut watched: Watched) {
    let others = Arc::clone(&watched.others);
    loop {
        // No notice is the only one.
        let _: std::result::Result<(), _> = timeout(RECHECK, others.notified()).await;
        let at = home.clone();
        let renewed = spawn_blocking(move || {
            let renewed = watched.renew(&at);
            (watched, renewed)
        });
        let Ok((back, renewed)) = renewed.await else {
            return;
        };
        watched = back;
        match renewed {
            // Something may have come there before it was watched.
            Ok(true) => hub.wake.notify_one(),
            Ok(false) => {}
            Err(error) => {
                warn!(%error, "the system does not tell of all changes: looking once a second");
                hub.poll_from_now();
                return;
            }
        }
    }
}

impl Watched {
    fn begin(home: &Home, hub: &Arc<Hub>) -> notify::Result<Self> {
        let (woken, others) = (Arc::clone(hub), Arc::new(Notify::new()));
        let places: Arc<Mutex<BTreeSet<PathBuf>>> = Arc::default();
        let (more, known) = (Arc::clone(&others), Arc::clone(&places));
        let watcher =
            notify::recommended_watcher(move |told: notify::Result<notify::Event>| match told {
                Ok(event) => {
                    if takes_something_away(&event) {
                        event.paths.iter().for_each(|path| {
                            locked(&known).remove(path);
                        });
                    }
                    if event.need_rescan() || brings_a_directory(&event) {
                        more.notify_one();
                    }
                    if notices::is_change(&event) {
                        woken.wake.notify_one();
                    }
                }
                Err(error) => {
                    warn!(%error, "the system does not tell of all changes: looking once a second");
                    woken.poll_from_now();
                }
            })?;
        let mut watched = Self {
            watcher,
            places,
            others,
        };
        watched.renew(home)?;
        Ok(watched)
    }

    /// Watches what is there now; whether some of it was not watched before.
    fn renew(&mut self, home: &Home) -> notify::Result<bool> {
        let mut is_new = false;
        loop {
            let mut added = false;
            // How a fleet of machines stands is told by the daemon alone, which is the one that writes it.
            let fleet = Some(fleet_dir(home)).filter(|dir| dir.is_dir());
            for place in places(home).into_iter().chain(fleet) {
                // Before it is watched: should it go meanwhile, it is forgotten again.
                if !locked(&self.places).insert(place.clone()) {
                    continue;
                }
                match self.watcher.watch(&place, RecursiveMode::NonRecursive) {
                    Ok(()) => added = true,
                    // It went again.
                    Err(error) if matches!(error.kind, notify::ErrorKind::PathNotFound) => {
                        locked(&self.places).remove(&place);
                    }
                    Err(error) => return Err(error),
                }
            }
            // Within what is watched only now there may be others.
            if !added {
                return Ok(is_new);
            }
            is_new = true;
        }
    }
}

fn locked(places: &Mutex<BTreeSet<PathBuf>>) -> MutexGuard<'_, BTreeSet<PathBuf>> {
    places.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something is not any more where it was.
fn takes_something_away(event: &notify::Event) -> bool {
    matches!(
        event.kind,
        EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(RenameMode::From))
    )
}

/// A directory has come that may have to be watched.
fn brings_a_directory(event: &notify::Event) -> bool {
    let comes = matches!(
        event.kind,
        EventKind::Create(_) | EventKind::Modify(ModifyKind::Name(_))
    );
    comes && event.paths.iter().any(|path| path.is_dir())
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use flagpost_testkit::{patience::patience, scratch::scratch};

    use super::*;

    /// More than the coming of a directory is told by.
    const CHANGES: usize = 10;

    async fn told(notify: &Notify) {
        let told = timeout(patience(), notify.notified()).await;
        told.expect("the system tells of it");
    }

    /// Nothing here looks by itself, as the hub does every now and then.
    #[tokio::test]
    async fn the_system_tells_of_changes_and_of_places_that_came_later() {
        let dir = scratch();
        let home = Home::at(dir.path().join("home"));
        let hub = Arc::new(Hub::new(home.clone(), WatchMode::Events));
        let mut watched = watch(&home, &hub).unwrap().unwrap();
        let change = async |dir: &Path| {
            for n in 0..CHANGES {
                fs::write(dir.join(format!("{n}.json")), "{}").unwrap();
                told(&hub.wake).await;
            }
        };
        change(&home.repositories_root()).await;
        let later = home.tasks_root().join("later");
        fs::create_dir(&later).unwrap();
        told(&watched.others).await;
        assert!(watched.renew(&home).unwrap());
        change(&later).await;
        assert_eq!(hub.watching(), WatchMode::Events);
    }
}
