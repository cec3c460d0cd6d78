//! Sessions that people started themselves, and the workers that they joined the fleet as.
//!
//! Owns `joined.json` in the repository's directory: which session speaks for which worker, and the workers
//! that wait for the sessions which start next. `FLAGPOST_WORKER` comes before all of it. A worker has one
//! session at most. Its session keeps it when it ends and is resumed, and when it is compacted; where its
//! client says that it is cleared, the one that follows in the same process has it. All changes are made
//! under one lock.

use std::{collections::BTreeMap, path::PathBuf};

use flagpost_disk::fsx::{self, Rank};
use flagpost_model::{WorkerId, hook::Turnover};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    home::Home,
    relay::Fleet,
    repository::Repository,
};

/// So long a worker waits for a session that starts.
const WAITS: SignedDuration = SignedDuration::from_mins(10);
/// A session that follows a cleared one starts before this: the client is not asked in between.
const FOLLOWS: SignedDuration = SignedDuration::from_mins(1);

/// What the file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Joined {
    /// The sessions that speak for a worker, by their client's name for them.
    sessions: BTreeMap<String, JoinedSession>,
    /// The workers that wait, in the order in which they get a session.
    next: Vec<WaitingWorker>,
}

/// As whom a session speaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct JoinedSession {
    worker: WorkerId,
    /// Where and when it was cleared, until another one follows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    cleared: Option<Cleared>,
}

/// That a session was cleared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Cleared {
    /// The process of its client.
    client: u32,
    at: Timestamp,
}

/// A worker that waits for a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct WaitingWorker {
    worker: WorkerId,
    since: Timestamp,
}

impl Joined {
    fn worker(&self, session: &str) -> Option<&WorkerId> {
        self.sessions.get(session).map(|it| &it.worker)
    }

    /// Lets a session speak for a worker, and no other do so; the one that did.
    fn join(&mut self, worker: &WorkerId, session: &str) -> Option<String> {
        let before = self.leave(worker).filter(|it| it != session);
        let joined = JoinedSession {
            worker: worker.clone(),
            cleared: None,
        };
        self.sessions.insert(session.to_owned(), joined);
        before
    }

    /// Lets no session speak for a worker, nor wait it for one; the session that did.
    fn leave(&mut self, worker: &WorkerId) -> Option<String> {
        self.next.retain(|it| it.worker != *worker);
        let mut sessions = self.sessions.iter();
        let session = sessions.find(|(_, it)| it.worker == *worker)?.0.clone();
        self.sessions.remove(&session);
        Some(session)
    }

    /// Lets a worker wait; those that wait already, and have their session before.
    fn wait(&mut self, worker: &WorkerId, now: Timestamp) -> Vec<WorkerId> {
        let is_due = |it: &WaitingWorker| now.duration_since(it.since) <= WAITS;
        self.next.retain(|it| is_due(it) && it.worker != *worker);
        let before = self.next.iter().map(|it| it.worker.clone()).collect();
        self.next.push(WaitingWorker {
            worker: worker.clone(),
            since: now,
        });
        before
    }

    /// A session starts in a client's process: it stays the worker that it was, follows one that was cleared
    /// there, or is the first worker that waits.
    fn start(&mut self, session: &str, turnover: Turnover, client: u32, now: Timestamp) {
        let follows = |it: &&JoinedSession| {
            let cleared = it.cleared.as_ref();
            cleared.is_some_and(|it| it.client == client && now.duration_since(it.at) <= FOLLOWS)
        };
        let next = |it: &&WaitingWorker| now.duration_since(it.since) <= WAITS;
        let next = self.next.iter().find(next).map(|it| &it.worker);
        let worker = match (self.worker(session), turnover) {
            (Some(own), _) => Some(own),
            (None, Turnover::Clear) => {
                let followed = self.sessions.values().find(follows);
                followed.map(|it| &it.worker).or(next)
            }
            (None, Turnover::Other) => next,
            // It goes on.
            (None, Turnover::Compact) => None,
        };
        if let Some(worker) = worker.cloned() {
            self.join(&worker, session);
        }
    }

    /// A session is cleared in a client's process.
    fn clear(&mut self, session: &str, client: u32, at: Timestamp) {
        if let Some(it) = self.sessions.get_mut(session) {
            it.cleared = Some(Cleared { client, at });
        }
    }
}

/// The sessions of clients that joined the fleet of a repository.
#[derive(Debug)]
pub struct JoinedSessions<'h> {
    home: &'h Home,
    fleet: Fleet<'h>,
    dir: PathBuf,
}

impl<'h> JoinedSessions<'h> {
    /// Those of a repository.
    pub fn of(home: &'h Home, repository: &Repository) -> Self {
        Self {
            home,
            fleet: Fleet::of(home, &repository.id),
            dir: home.repository_dir(&repository.id),
        }
    }

    /// Lets a session speak for a worker; durable on return. The session that did so before, and does so no
    /// longer.
    pub fn join(&self, worker: &WorkerId, session: &str) -> Result<Option<String>> {
        self.change(|joined| joined.join(worker, session))
    }

    /// Lets a session that starts next speak for a worker; durable on return. The workers that wait already,
    /// and have their session before.
    pub fn wait(&self, worker: &WorkerId) -> Result<Vec<WorkerId>> {
        self.change(|joined| {
            joined.next.retain(|it| self.is_in_fleet(&it.worker));
            joined.wait(worker, self.home.now())
        })
    }

    /// Lets no session speak for a worker, nor wait it for one; whether one did, or it waited.
    pub fn leave(&self, worker: &WorkerId) -> Result<bool> {
        let before = self.read()?;
        self.change(|joined| joined.leave(worker))?;
        Ok(before != self.read()?)
    }

    /// The worker of a session, where it joined as one that is in the fleet.
    pub fn worker(&self, session: &str) -> Result<Option<WorkerId>> {
        let worker = self.read()?.worker(session).cloned();
        Ok(worker.filter(|it| self.is_in_fleet(it)))
    }

    /// The same for a session that starts in a client's process.
    pub fn started(
        &self,
        session: &str,
        turnover: Turnover,
        client: u32,
    ) -> Result<Option<WorkerId>> {
        self.change_of_some(|joined| {
            joined.next.retain(|it| self.is_in_fleet(&it.worker));
            joined.start(session, turnover, client, self.home.now());
        })?;
        self.worker(session)
    }

    /// The same for a session that its client's process clears: another one follows.
    pub fn cleared(&self, session: &str, client: u32) -> Result<Option<WorkerId>> {
        self.change_of_some(|joined| joined.clear(session, client, self.home.now()))?;
        self.worker(session)
    }

    /// One that was taken off the fleet has no session, until it comes back.
    fn is_in_fleet(&self, worker: &WorkerId) -> bool {
        // Of one whose file cannot be read, whoever uses it is told so.
        !self.fleet.has_retired(worker).unwrap_or_default()
    }

    /// Changes what is there; writes nothing where nothing is changed by it.
    fn change_of_some(&self, change: impl Fn(&mut Joined)) -> Result<()> {
        let mut joined = self.read()?;
        let before = joined.clone();
        change(&mut joined);
        match joined == before {
            true => Ok(()),
            false => self.change(change),
        }
    }

    fn change<T>(&self, change: impl FnOnce(&mut Joined) -> T) -> Result<T> {
        let (lock, wait) = (self.dir.join(".joined.lock"), fsx::DEFAULT_WAIT);
        let _lock = fsx::lock(self.home.fs(), &lock, Rank::Session, wait, self.home.now())?;
        let mut joined = self.read()?;
        let before = joined.clone();
        let changed = change(&mut joined);
        if joined != before {
            let mut text = serde_json::to_vec_pretty(&joined).unwrap_or_default();
            text.push(b'\n');
            fsx::replace(self.home.fs(), &self.path(), &text)?;
        }
        Ok(changed)
    }

    fn read(&self) -> Result<Joined> {
        let Some(bytes) = fsx::read(self.home.fs(), &self.path())? else {
            return Ok(Joined::default());
        };
        serde_json::from_slice(&bytes).map_err(|error| Error::Invalid {
            what: self.path().display().to_string(),
            reason: error.to_string(),
        })
    }

    fn path(&self) -> PathBuf {
        self.dir.join("joined.json")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(name: &str) -> WorkerId {
        name.parse().unwrap()
    }

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_second(minute * 60).unwrap()
    }

    /// What becomes of these: `join W3 a`, `wait W3`, `start a` in a client's process with why, `clear a` in
    /// one, `leave W3`, `pass` for some minutes; and who speaks for whom then.
    fn after(events: &str) -> String {
        let (mut joined, mut minute) = (Joined::default(), 0);
        for event in events.split(", ") {
            let words: Vec<&str> = event.split(' ').collect();
            match words.as_slice() {
                ["join", who, session] => drop(joined.join(&worker(who), session)),
                ["wait", who] => drop(joined.wait(&worker(who), at(minute))),
                ["leave", who] => drop(joined.leave(&worker(who))),
                ["start", session, client, rest @ ..] => {
                    let turnover = match rest {
                        ["clear"] => Turnover::Clear,
                        ["compact"] => Turnover::Compact,
                        _ => Turnover::Other,
                    };
                    joined.start(session, turnover, client.parse().unwrap(), at(minute));
                }
                ["clear", session, client] => {
                    joined.clear(session, client.parse().unwrap(), at(minute));
                }
                ["pass", minutes] => minute += minutes.parse::<i64>().unwrap(),
                _ => panic!("{event}"),
            }
        }
        let sessions = joined.sessions.iter();
        let said: Vec<String> = sessions
            .map(|(session, it)| format!("{session}={}", it.worker))
            .collect();
        said.join(" ")
    }

    #[test]
    fn a_worker_has_one_session_through_all_that_clients_do() {
        for (events, wanted) in [
            ("join W3 a", "a=W3"),
            ("join W3 a, join W3 b", "b=W3"),
            ("join W3 a, join W4 a", "a=W4"),
            ("join W3 a, leave W3", ""),
            ("join W3 a, leave W4", "a=W3"),
            // Those that wait have a session each, in their order, once.
            ("wait W3, start a 1", "a=W3"),
            ("wait W3, start a 1, start b 2", "a=W3"),
            ("wait W3, wait W4, start a 1, start b 2", "a=W3 b=W4"),
            ("wait W3, wait W4, wait W3, start a 1", "a=W4"),
            ("wait W3, leave W3, start a 1", ""),
            ("wait W3, pass 11, start a 1", ""),
            ("wait W3, pass 11, wait W4, start a 1", "a=W4"),
            // A session speaks for its worker until the one starts that it waits for.
            ("join W3 a, wait W3", "a=W3"),
            ("join W3 a, wait W3, start b 2", "b=W3"),
            // It is resumed, or compacted.
            ("wait W3, start a 1, pass 99, start a 2", "a=W3"),
            ("wait W3, start a 1, start a 1 compact", "a=W3"),
            ("wait W3, start a 1 compact", ""),
            // It is cleared: what follows in its process has its worker, and nothing else has.
            ("join W3 a, clear a 1, start b 1 clear", "b=W3"),
            ("join W3 a, clear a 1, start b 2 clear", "a=W3"),
            ("join W3 a, clear a 1, start b 1", "a=W3"),
            ("join W3 a, clear a 1, pass 2, start b 1 clear", "a=W3"),
            ("join W3 a, start b 1 clear", "a=W3"),
            (
                "join W3 a, clear a 1, start b 1 clear, start c 1 clear",
                "b=W3",
            ),
            (
                "join W3 a, join W4 b, clear a 1, clear b 2, start c 2 clear, start d 1 clear",
                "c=W4 d=W3",
            ),
            (
                "join W3 a, wait W4, clear a 1, start b 1 clear, start c 2",
                "b=W3 c=W4",
            ),
            ("wait W3, start a 1 clear", "a=W3"),
        ] {
            assert_eq!(after(events), wanted, "{events}");
        }
    }

    fn place() -> (tempfile::TempDir, Home, Repository) {
        let scratch = flagpost_testkit::scratch::scratch();
        let home = Home::at(scratch.path().join("home"));
        let dir = scratch.path().join("web");
        fsx::make_dirs(&fsx::RealFs, &dir).unwrap();
        let ann = "ann".parse().unwrap();
        let repository = Repository::register(&home, &dir, &ann).unwrap();
        (scratch, home, repository)
    }

    #[test]
    fn of_sessions_that_start_at_once_one_is_the_worker() {
        let (_scratch, home, repository) = place();
        let sessions = JoinedSessions::of(&home, &repository);
        for round in 0..20 {
            sessions.wait(&worker("W3")).unwrap();
            let gate = std::sync::Barrier::new(4);
            let begin = |n: u32| {
                let sessions = JoinedSessions::of(&home, &repository);
                gate.wait();
                let session = format!("{round}-{n}");
                sessions.started(&session, Turnover::Other, n).unwrap()
            };
            let told: Vec<_> = std::thread::scope(|scope| {
                let begun: Vec<_> = (0..4).map(|n| scope.spawn(move || begin(n))).collect();
                begun.into_iter().map(|it| it.join().unwrap()).collect()
            });
            let told = told.into_iter().flatten().count();
            assert_eq!(told, 1, "round {round}");
        }
    }

    #[test]
    fn what_is_none_of_ours_is_kept_and_told_of() {
        let (_scratch, home, repository) = place();
        let sessions = JoinedSessions::of(&home, &repository);
        assert_eq!(sessions.started("a", Turnover::Other, 1).unwrap(), None);
        assert!(!sessions.path().exists(), "nothing is made unasked");
        std::fs::write(sessions.path(), "{").unwrap();
        assert!(sessions.worker("a").is_err());
        assert!(sessions.join(&worker("W3"), "a").is_err());
        assert_eq!(std::fs::read(sessions.path()).unwrap(), b"{");
    }
}
