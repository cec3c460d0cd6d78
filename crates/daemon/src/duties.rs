//! What the daemon does by itself: the sweep at the start, retention, and a record of what others do by
//! hand.
//!
//! Owns when. What is done is an operation of `core`, the same as a command's, and every command does
//! without it.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use flagpost_core::{
    Home, registry,
    relay::{Fleet, observe::Watch},
    upkeep,
};
use flagpost_model::{RepoId, WorkerId};
use tokio::{task::spawn_blocking, time::sleep};
use tracing::{info, warn};

use crate::events::Hub;

/// Changes that come together are looked at together.
const BREATH: Duration = Duration::from_millis(5);
/// How often to ask whether a quarter has ended.
const HOUR: Duration = Duration::from_secs(3600);

/// Sweeps once, and archives at each quarter's boundary.
pub(crate) async fn upkeep(home: Home, actor: WorkerId) {
    let swept = home.clone();
    let swept = spawn_blocking(move || upkeep::sweep(&swept)).await;
    match swept {
        Ok(Ok(0)) | Err(_) => {}
        Ok(Ok(count)) => info!(count, "removed what dead writers left"),
        Ok(Err(error)) => warn!(%error, "what dead writers left stays"),
    }
    loop {
        let (home, actor) = (home.clone(), actor.clone());
        let archived = spawn_blocking(move || upkeep::archive_at_the_quarter(&home, &actor));
        match archived.await {
            Ok(Ok(0)) | Err(_) => {}
            Ok(Ok(count)) => info!(count, "archived older messages"),
            Ok(Err(error)) => warn!(%error, "older messages stay where they are"),
        }
        sleep(HOUR).await;
    }
}

/// Puts on record what others do to mail by hand, whenever something may have changed.
pub(crate) async fn observe(home: Home, hub: Arc<Hub>, mut watches: Watches) {
    let mut looks = hub.looks();
    loop {
        let at = home.clone();
        let looked = spawn_blocking(move || {
            watches.look(&at);
            watches
        });
        let Ok(back) = looked.await else {
            return;
        };
        watches = back;
        if looks.changed().await.is_err() {
            return;
        }
        sleep(BREATH).await;
    }
}

/// What is known of each repository's mail.
#[derive(Debug, Default)]
pub(crate) struct Watches(BTreeMap<RepoId, Watch>);

impl Watches {
    /// Begins with what is there now.
    pub(crate) fn begin(home: &Home) -> Self {
        let mut watches = Self::default();
        watches.look(home);
        watches
    }

    fn look(&mut self, home: &Home) {
        let repositories = match registry::repositories(home) {
            Ok(repositories) => repositories,
            Err(error) => {
                warn!(%error, "the repositories cannot be read");
                return;
            }
        };
        self.0
            .retain(|id, _| repositories.iter().any(|it| it.id == *id));
        for repository in repositories {
            let fleet = Fleet::of(home, &repository.id);
            let looked = match self.0.get_mut(&repository.id) {
                Some(watch) => watch.look(&fleet, &WorkerId::operator()),
                None => Watch::begin(&fleet).map(|watch| {
                    self.0.insert(repository.id.clone(), watch);
                    0
                }),
            };
            match looked {
                Ok(0) => {}
                Ok(count) => info!(count, repo = %repository.name, "recorded what others did"),
                Err(error) => warn!(%error, repo = %repository.name, "mail cannot be looked at"),
            }
        }
    }
}
