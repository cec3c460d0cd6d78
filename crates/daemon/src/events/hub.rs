//! The one place that reads the histories on, for all who listen.
//!
//! Owns, for each repository, the last transitions that were told. Looks when it is woken, and now and
//! then in any case. A listener takes what it has not had when it is ready for it, so a slow one lags
//! behind by itself, and is told so once what it lacks is not kept here any more.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use flagpost_core::{
    Home,
    history::{History, NewLines, Tail},
    order, registry,
};
use flagpost_model::{RepoId, machines::FleetSight};
use tokio::{
    sync::{Notify, watch},
    time::timeout,
};
use tracing::warn;

use super::{FeedEvent, WatchMode, lists::ListFeed};

/// So many transitions of a repository are kept, and so many bytes of them.
const KEPT: usize = 2048;
const KEPT_BYTES: usize = 4 << 20;
/// So many are handed out at once.
const HANDFUL: usize = 64;
/// How often to look where the system tells of changes: no event is the only copy of anything.
const RECHECK: Duration = Duration::from_secs(30);
/// How often to look where it does not.
const POLL: Duration = Duration::from_secs(1);
/// How soon to look again for a change that is recorded and has not appeared; twice as late each time.
const SOON: Duration = Duration::from_millis(4);
/// What happens right after a directory was made may come before it is watched.
const ECHO: Duration = Duration::from_millis(100);

/// What all who listen share.
#[derive(Debug)]
pub(crate) struct Hub {
    pub(crate) home: Home,
    told: Mutex<BTreeMap<RepoId, Ring>>,
    looked: watch::Sender<u64>,
    watching: watch::Sender<WatchMode>,
    /// What is told of lists.
    pub(crate) lists: ListFeed,
    /// How the fleet of machines stands.
    fleet: Mutex<ToldFleet>,
    /// Somebody changed something.
    pub(crate) wake: Notify,
}

/// The last transitions of one repository.
#[derive(Debug)]
struct Ring {
    kept: VecDeque<Arc<FeedEvent>>,
    bytes: usize,
    /// All up to this number came before what is kept.
    begins: u64,
    /// All up to this number was told.
    ends: u64,
    /// Which history this is: another one in its place is another life.
    life: u64,
}

/// How the fleet of machines stands; none where the home is in none.
#[derive(Debug, Clone, Default)]
pub(crate) struct ToldFleet {
    /// Moves on when it says something else.
    pub(crate) n: u64,
    pub(crate) sight: Option<FleetSight>,
}

/// A place in what was told of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) n: u64,
    pub(crate) life: u64,
}

/// What comes after a place.
#[derive(Debug)]
pub(crate) enum After {
    /// These transitions; none where there are none yet.
    These(Vec<Arc<FeedEvent>>),
    /// It is not kept any more, or of another history.
    Lost,
}

impl Hub {
    pub(crate) fn new(home: Home, watching: WatchMode) -> Self {
        Self {
            home,
            told: Mutex::default(),
            looked: watch::Sender::new(0),
            watching: watch::Sender::new(watching),
            lists: ListFeed::default(),
            fleet: Mutex::default(),
            wake: Notify::new(),
        }
    }

    /// Moves on after each look.
    pub(crate) fn looks(&self) -> watch::Receiver<u64> {
        self.looked.subscribe()
    }

    /// Wakes those who listen: there is something to tell that no history tells.
    pub(crate) fn wake_listeners(&self) {
        self.looked.send_modify(|n| *n += 1);
    }

    /// How changes are noticed.
    pub(crate) fn watching(&self) -> WatchMode {
        *self.watching.borrow()
    }

    /// The system cannot tell of all changes.
    pub(crate) fn poll_from_now(&self) {
        self.watching.send_replace(WatchMode::Polling);
        self.wake.notify_one();
    }

    /// Looks again and again.
    pub(crate) async fn run(self: Arc<Self>, mut tails: Tails) {
        let mut soon = SOON;
        // One more look, a moment after the last one that somebody asked for.
        let mut echo: Option<Instant> = None;
        loop {
            let hub = Arc::clone(&self);
            let looked = tokio::task::spawn_blocking(move || {
                let waits = hub.look(&mut tails);
                (tails, waits)
            });
            let Ok((back, waits)) = looked.await else {
                warn!("listening to the histories has ended");
                return;
            };
            tails = back;
            let pause = match self.watching() {
                WatchMode::Events => RECHECK,
                WatchMode::Polling => POLL,
            };
            let pause = if waits { soon.min(pause) } else { pause };
            soon = if waits { later(soon) } else { SOON };
            let left = echo.map(|at| at.saturating_duration_since(Instant::now()));
            let pause = left.map_or(pause, |left| left.min(pause));
            if timeout(pause, self.wake.notified()).await.is_ok() {
                soon = SOON;
                echo = Some(Instant::now() + ECHO);
            } else if left == Some(pause) {
                echo = None;
            }
        }
    }

    /// What the histories say now; whether a change is recorded that has not appeared.
    pub(crate) fn look(&self, tails: &mut Tails) -> bool {
        self.look_at_fleet();
        let repositories = match registry::repositories(&self.home) {
            Ok(repositories) => repositories,
            Err(error) => {
                warn!(%error, "the repositories cannot be read");
                return false;
            }
        };
        let mut waits = false;
        for repository in &repositories {
            match self.look_at(&repository.id, tails) {
                Ok(open) => waits |= open,
                Err(error) => warn!(%error, repo = %repository.id, "a history cannot be read"),
            }
        }
        self.rings()
            .retain(|id, _| repositories.iter().any(|it| it.id == *id));
        tails.were_there = true;
        self.looked.send_modify(|n| *n += 1);
        waits
    }

    fn look_at_fleet(&self) {
        let sight = order::sight(&self.home);
        let mut told = self.fleet.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = match (&told.sight, &sight) {
            (None, None) => true,
            (Some(told), Some(sight)) => told.says_the_same(sight),
            _ => false,
        };
        told.n += u64::from(!is_same);
        told.sight = sight;
    }

    /// How the fleet of machines stands.
    pub(crate) fn fleet(&self) -> ToldFleet {
        let told = self.fleet.lock().unwrap_or_else(PoisonError::into_inner);
        told.clone()
    }

    fn look_at(&self, repo: &RepoId, tails: &mut Tails) -> flagpost_core::Result<bool> {
        let history = History::of(&self.home, repo);
        if !tails.all.contains_key(repo) {
            // What was there before the daemon is read from the file by those who ask for it.
            let tail = match tails.were_there {
                false => Tail::at_end(&history)?,
                true => Tail::default(),
            };
            let ring = Ring::begun(tail.read_up_to(), 0);
            self.rings().insert(repo.clone(), ring);
            tails.all.insert(repo.clone(), tail);
        }
        let Some(tail) = tails.all.get_mut(repo) else {
            return Ok(false);
        };
        let news = tail.read_on(&history)?;
        let mut rings = self.rings();
        let life = rings.get(repo).map_or(0, |ring| ring.life);
        match news {
            NewLines::Lines(lines) => {
                let ring = rings.entry(repo.clone());
                let ring = ring.or_insert_with(|| Ring::begun(tail.read_up_to(), life));
                lines.iter().for_each(|line| ring.keep(FeedEvent::of(line)));
                ring.ends = tail.read_up_to();
            }
            NewLines::Rewritten => {
                rings.insert(repo.clone(), Ring::begun(tail.read_up_to(), life + 1));
            }
        }
        Ok(tail.is_waiting())
    }

    /// How far each repository is.
    pub(crate) fn ends(&self) -> BTreeMap<RepoId, Position> {
        let rings = self.rings();
        let end = |ring: &Ring| Position {
            n: ring.ends,
            life: ring.life,
        };
        rings.iter().map(|(id, it)| (id.clone(), end(it))).collect()
    }

    /// What comes after a place, as far as it is kept.
    pub(crate) fn after(&self, repo: &RepoId, at: Position) -> After {
        let rings = self.rings();
        let Some(ring) = rings.get(repo) else {
            return After::These(Vec::new());
        };
        if at.life != ring.life || at.n < ring.begins {
            return After::Lost;
        }
        let from = ring.kept.partition_point(|told| told.n <= at.n);
        let these = ring.kept.range(from..).take(HANDFUL);
        After::These(these.cloned().collect())
    }

    fn rings(&self) -> MutexGuard<'_, BTreeMap<RepoId, Ring>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Twice as late, and never later than one looks in any case.
fn later(soon: Duration) -> Duration {
    (soon * 2).min(RECHECK)
}

/// How far the hub has read each history.
#[derive(Debug, Default)]
pub(crate) struct Tails {
    all: BTreeMap<RepoId, Tail>,
    /// The repositories that were there at the start have been looked at.
    were_there: bool,
}

impl Ring {
    fn begun(n: u64, life: u64) -> Self {
        Self {
            kept: VecDeque::new(),
            bytes: 0,
            begins: n,
            ends: n,
            life,
        }
    }

    fn keep(&mut self, told: FeedEvent) {
        self.bytes += told.len();
        self.kept.push_back(Arc::new(told));
        while self.kept.len() > KEPT || self.bytes > KEPT_BYTES && self.kept.len() > 1 {
            let Some(oldest) = self.kept.pop_front() else {
                return;
            };
            self.bytes -= oldest.len();
            self.begins = oldest.n;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    /// A writer that was killed may leave such a change behind for days.
    #[test]
    fn a_change_that_never_appears_is_waited_for_without_end() {
        let late = (0..1000).fold(SOON, |soon, _| later(soon));
        assert_eq!(late, RECHECK);
    }

    /// A first look, one for the notice, and one after it: then nothing is done until something
    /// happens.
    #[tokio::test]
    async fn a_notice_is_looked_at_twice_and_no_more() {
        let dir = flagpost_testkit::scratch::scratch();
        let home = Home::at(dir.path().into());
        let hub = Arc::new(Hub::new(home, WatchMode::Events));
        let mut looks = hub.looks();
        let running = tokio::spawn(Arc::clone(&hub).run(Tails::default()));
        looks.wait_for(|n| *n == 1).await.unwrap();
        hub.wake.notify_one();
        looks.wait_for(|n| *n == 3).await.unwrap();
        sleep(ECHO * 5).await;
        assert_eq!(*looks.borrow(), 3);
        running.abort();
    }
}
