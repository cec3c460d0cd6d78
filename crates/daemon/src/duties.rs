//! What the daemon does by itself: the sweep at the start, retention, and a record of what others do by
//! hand.
//!
//! Owns when. What is done is an operation of `core`, the same as a command's, and every command does
//! without it.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use flagpost_core::{
    Home, Result,
    history::{History, Kind, Line, NewLines, Tail},
    registry,
    relay::{Fleet, liveness, observe as mail},
    tasks::observe as tasks,
    upkeep,
};
use flagpost_model::{RepoId, WorkerId};
use serde_json::Value;
use tokio::{
    task::spawn_blocking,
    time::{sleep, timeout},
};
use tracing::{info, warn};

use crate::{events::Hub, instance::HomeClaim};

/// How often to ask whether a quarter has ended.
const HOUR: Duration = Duration::from_secs(3600);
/// How often to ask whether the home is still the daemon's.
const CLAIM_RECHECK: Duration = Duration::from_secs(1);

/// Sweeps now and then, and archives at each quarter's boundary.
pub(crate) async fn upkeep(home: Home, actor: WorkerId) {
    loop {
        let swept = home.clone();
        let swept = spawn_blocking(move || upkeep::sweep(&swept)).await;
        match swept {
            Ok(Ok(0)) | Err(_) => {}
            Ok(Ok(count)) => info!(count, "removed what dead writers left"),
            Ok(Err(error)) => warn!(%error, "what dead writers left stays"),
        }
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

/// Is over when the home is not the daemon's any more.
pub(crate) async fn home_lost(claim: HomeClaim) {
    while claim.holds() {
        sleep(CLAIM_RECHECK).await;
    }
}

/// Puts on record what others do by hand, whenever something may have changed.
pub(crate) async fn observe<W: WatchDuty>(
    claim: HomeClaim,
    hub: Arc<Hub>,
    mut watches: Watches<W>,
) {
    let mut looks = hub.looks();
    loop {
        let at = claim.clone();
        let looked = spawn_blocking(move || {
            // What a new daemon records is not recorded twice.
            if at.holds() {
                watches.look(at.home());
            }
            watches
        });
        let Ok(back) = looked.await else {
            return;
        };
        watches = back;
        match timeout(W::RECHECK, looks.changed()).await {
            Ok(Ok(())) => sleep(W::BREATH).await,
            Ok(Err(_)) => return,
            Err(_) => {}
        }
    }
}

/// A watch over what others do in a repository.
pub(crate) trait WatchDuty: Sized + Send + 'static {
    /// Changes that come together are looked at together.
    const BREATH: Duration;
    /// How often to look in any case.
    const RECHECK: Duration = HOUR;
    /// Begins, with what is known already.
    fn begin(home: &Home, repo: &RepoId) -> Result<Self>;
    /// Records what came since; how much that was.
    fn look(&mut self, home: &Home, repo: &RepoId) -> Result<usize>;
}

impl WatchDuty for mail::MailWatch {
    const BREATH: Duration = Duration::from_millis(5);
    // Half a brief is one for a minute, and then a trouble.
    const RECHECK: Duration = Duration::from_secs(60);

    fn begin(home: &Home, repo: &RepoId) -> Result<Self> {
        Self::begin(&Fleet::of(home, repo))
    }

    fn look(&mut self, home: &Home, repo: &RepoId) -> Result<usize> {
        Self::look(self, &Fleet::of(home, repo), &WorkerId::operator())
    }
}

impl WatchDuty for liveness::LivenessWatch {
    const BREATH: Duration = Duration::from_millis(5);
    // A worker falls silent without a notice.
    const RECHECK: Duration = Duration::from_secs(5);

    fn begin(home: &Home, repo: &RepoId) -> Result<Self> {
        Self::begin(&Fleet::of(home, repo))
    }

    fn look(&mut self, home: &Home, repo: &RepoId) -> Result<usize> {
        Self::look(self, &Fleet::of(home, repo), &WorkerId::operator())
    }
}

impl WatchDuty for tasks::TaskWatch {
    // A list may be long.
    const BREATH: Duration = Duration::from_millis(300);

    fn begin(home: &Home, repo: &RepoId) -> Result<Self> {
        Self::begin(home, repo)
    }

    fn look(&mut self, home: &Home, repo: &RepoId) -> Result<usize> {
        Self::look(self, home, repo)
    }
}

/// Whatever goes wrong in a repository's mail, for the log: its history tells of it, whoever found it.
pub(crate) struct Troubles(Tail);

impl WatchDuty for Troubles {
    const BREATH: Duration = Duration::from_millis(300);

    fn begin(home: &Home, repo: &RepoId) -> Result<Self> {
        let history = History::of(home, repo);
        Ok(Self(Tail::at_end(&history)?))
    }

    fn look(&mut self, home: &Home, repo: &RepoId) -> Result<usize> {
        if let NewLines::Lines(lines) = self.0.read_on(&History::of(home, repo))? {
            lines.iter().for_each(warn_of);
        }
        Ok(0)
    }
}

/// Says that a message cannot be understood, or that somebody broke the contract of the mail: took a
/// number without asking for one, or wrote over a message that has one.
fn warn_of(line: &Line) {
    let entry = &line.entry;
    let said = |key: &str| entry.detail.get(key).and_then(Value::as_str);
    let file = said("file").unwrap_or_default();
    let worker = entry.worker.as_ref().map_or("", WorkerId::as_str);
    let reason = said("reason").unwrap_or("somebody took a number that was not given out");
    let kind = entry.kind.as_str();
    match entry.kind {
        Kind::EnvelopeQuarantined => warn!(worker, file, kind, "{reason}"),
        Kind::ContractViolated => warn!(worker, file, kind, "contract violation: {reason}"),
        // Other such lines tell of marks.
        Kind::ChangedOutside if said("since").is_some() => {
            warn!(worker, file, kind, "contract violation: {reason}");
        }
        _ => {}
    }
}

/// What is known of each repository.
#[derive(Debug)]
pub(crate) struct Watches<W>(BTreeMap<RepoId, W>);

impl<W> Default for Watches<W> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<W: WatchDuty> Watches<W> {
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
            let looked = match self.0.get_mut(&repository.id) {
                Some(watch) => watch.look(home, &repository.id),
                None => W::begin(home, &repository.id).and_then(|mut watch| {
                    let count = watch.look(home, &repository.id)?;
                    self.0.insert(repository.id.clone(), watch);
                    Ok(count)
                }),
            };
            match looked {
                Ok(0) => {}
                Ok(count) => info!(count, repo = %repository.name, "recorded what others did"),
                Err(error) => warn!(%error, repo = %repository.name, "it cannot be looked at"),
            }
        }
    }
}
