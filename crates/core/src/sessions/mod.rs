//! Sessions of a repository (`tree.md` §3).
//!
//! Owns `{repository}/.claude/sessions/`: beginning one, keeping its files, archiving and
//! recovering. Invariants: one live session per repository, and whoever is refused leaves the live
//! one's files as they were; nothing of a session is ever removed before what replaces it is
//! durable.

pub mod agent_requests;
mod archive;
mod attempt;
mod begin;
mod conversations;
mod documents;
mod excess;
mod knowledge;
mod left;
mod live;
mod output;
mod pointer;
mod recover;
mod requests;
mod timeline;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::Duration,
};

use flagpost_disk::{
    self as disk,
    dialects::session::{layout, lock, plan, progress, summary, task_log},
    fsx::{self, Flock, Lock, Rank},
    process,
};
use flagpost_model::{
    ListRef, RepoId, SessionId, TaskId, names,
    session::{self, ActiveTask, LockStatus, LogRow, Pid, Sighting},
};
use jiff::{Timestamp, tz::TimeZone};

pub use flagpost_disk::dialects::session::render_duration;

pub use archive::{archive, archive_complete};
pub use attempt::{AttemptDir, record_attempt};
pub use begin::{Begun, Start, begin, unsure};
pub use conversations::{Remains, SessionAttempts, TAKEN_OVER, conversation, remains};
pub(crate) use documents::is_document;
pub use documents::{SessionDocument, documents};
pub use left::{How, Left};
pub use live::{EventPlace, Live};
pub use output::{Outlook, Output, OutputPart, PartPlace, TaskOutput};
pub use pointer::{pointed, shown};
pub use recover::{Recovered, reconcile_ended, recover, recover_unsure, to_give_back};
pub use requests::{Asked, Stop, StopRequest, ask_to_stop, running};

use serde_json::{Map, Value};

use crate::{
    error::{Error, Result},
    git::worktrees,
    home::Home,
    list::List,
    repository::Repository,
};

/// Largest account of events that is read: 256 MiB. A run of 10,000 tasks has some ten.
const EVENTS_LIMIT: u64 = 256 << 20;

/// Held for a moment by whoever starts, looks at, ends or recovers a session.
const START_LOCK: &str = ".start.lock";

/// The sessions' directory of one repository.
#[derive(Debug, Clone)]
pub struct Sessions<'h> {
    home: &'h Home,
    repository: RepoId,
    top: PathBuf,
    root: PathBuf,
}

/// A session's directory, live or ended, as far as it can be read.
#[derive(Debug)]
pub struct Session {
    /// Its directory's name: its id, or `__live_session__`.
    pub name: String,
    /// Its directory.
    pub dir: PathBuf,
    /// What its lock says.
    pub lock: session::Lock,
    /// Whether it runs, ended, or died.
    pub stage: SessionStatus,
    /// How far it got; nothing is active in one that does not run.
    pub progress: progress::Reading,
    /// What ended in it.
    pub rows: Vec<LogRow>,
    /// What was begun, has no end and is not at work now.
    pub left: Vec<Left>,
    /// What it set out to do and has not begun, or never did.
    pub unbegun: Vec<(TaskId, String)>,
    /// How many reports of its tasks are among its files.
    pub results: usize,
    /// Its files that could not be read, by name.
    pub unread: Vec<String>,
}

/// A session that is over: its directory's name, and what its lock says. One that cannot be read
/// says nothing.
#[derive(Debug)]
pub struct Ended {
    /// The directory's name.
    pub id: SessionId,
    /// The lock.
    pub lock: session::Lock,
}

names! {
    /// Where a session is in its life.
    SessionStatus {
        /// Somebody runs it.
        Live = "live",
        /// Its runner is gone and nobody has recovered it.
        Dead = "dead",
        /// Its runner is gone, and it was recovered.
        Interrupted = "interrupted",
        /// It came to its end.
        Archived = "archived",
    }
}

impl Session {
    /// Its id; the live directory's name where its lock names none.
    pub fn title(&self) -> String {
        match (self.stage, &self.lock.session) {
            (SessionStatus::Live | SessionStatus::Dead, Some(id)) => id.to_string(),
            _ => self.name.clone(),
        }
    }

    /// The conversation that its tasks were given in: named like the session, also where its files are
    /// elsewhere since.
    pub fn thread(&self) -> Option<&str> {
        self.lock.session.as_ref().map(SessionId::as_str)
    }

    /// Whether somebody runs it.
    pub fn runs(&self) -> bool {
        self.stage == SessionStatus::Live
    }

    /// Its tasks whose workers show no sign of work, and since when.
    pub fn stalled(&self) -> impl Iterator<Item = (&ActiveTask, Timestamp)> {
        let active = self.progress.active.iter().filter(|_| self.runs());
        active.filter_map(|task| Some((task, task.stalled_since()?)))
    }

    /// Its events after a cursor, as recorded. A line that is torn, or still being written, is none.
    pub fn events(&self, home: &Home, since: u64) -> Result<Vec<Map<String, Value>>> {
        events(home, &self.dir, since)
    }
}

/// The working tree in which the run of a task's worktree is: the one with a live session, else the main one. None
/// where `top` is no worktree that a run made.
fn run_tree(home: &Home, top: &Path) -> Option<PathBuf> {
    let ours = home.fs().canonical(&home.root().join("worktrees")).ok()?;
    if !top.starts_with(&ours) {
        return None;
    }
    let trees = worktrees::entries(top).ok()?.into_iter();
    let trees = trees.map(|it| it.path).filter(|it| !it.starts_with(&ours));
    let trees: Vec<PathBuf> = trees.collect();
    let place = Path::new(layout::SESSIONS).join(layout::LIVE);
    let live = trees.iter().find(|it| it.join(&place).is_dir());
    live.or(trees.first()).cloned()
}

impl<'h> Sessions<'h> {
    /// The sessions of a repository. Who stands in a task's worktree means those of the tree that its run is in.
    pub fn of(home: &'h Home, repository: &Repository) -> Self {
        let top = run_tree(home, &repository.top).unwrap_or_else(|| repository.top.clone());
        Self {
            home,
            repository: repository.id.clone(),
            root: top.join(layout::SESSIONS),
            top,
        }
    }

    /// Their directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The live session's directory.
    pub fn live_dir(&self) -> PathBuf {
        self.root.join(layout::LIVE)
    }

    fn dir(&self, session: &SessionId) -> PathBuf {
        self.root.join(session.as_str())
    }

    /// Refuses where the sessions' directory leads out of the repository, or the live one is none:
    /// a repository comes from somebody else, links included.
    fn stay_inside(&self) -> Result<()> {
        let fs = self.home.fs();
        for dir in [&*self.root, self.root.parent().unwrap_or(&self.root)] {
            if fsx::within_if_there(fs, &self.top, dir)?.is_some() {
                break;
            }
        }
        let live = self.live_dir();
        match fsx::stat(fs, &live)? {
            Some(stat) if stat.kind != fsx::FileKind::Dir => Err(disk::Error::Malformed {
                path: live,
                reason: "it has to be a directory and no link to one".to_owned(),
            }
            .into()),
            _ => Ok(()),
        }
    }

    /// The ended sessions, oldest first: by the time in their lock, else in their name.
    pub fn ended(&self) -> Result<Vec<Ended>> {
        self.stay_inside()?;
        let mut ended: Vec<(Option<Timestamp>, Ended)> = Vec::new();
        for id in self.home.ids_in::<SessionId>(&self.root)? {
            let dir = self.dir(&id);
            if fsx::stat(self.home.fs(), &dir)?.is_some_and(|stat| stat.kind == fsx::FileKind::Dir)
            {
                let lock = read_lock(self.home, &dir)
                    .ok()
                    .flatten()
                    .unwrap_or_default();
                let started = lock.started.and_then(session::LockTime::shown);
                let named = || {
                    let at = session::named_at(&id)?.to_zoned(TimeZone::UTC).ok()?;
                    Some(at.timestamp())
                };
                ended.push((started.or_else(named), Ended { id, lock }));
            }
        }
        ended.sort_by(|a, b| {
            a.0.cmp(&b.0)
                .then_with(|| a.1.id.as_str().cmp(b.1.id.as_str()))
        });
        Ok(ended.into_iter().map(|(_, ended)| ended).collect())
    }

    /// What the lock of each session says, by its id: the ended ones, oldest first, then the live one, whoever
    /// runs it.
    pub fn locks(&self) -> Result<Vec<(SessionId, session::Lock)>> {
        // Read first: one that is archived meanwhile is in both places, and never in neither.
        let live = read_lock(self.home, &self.live_dir()).ok().flatten();
        let id = |ended: &Ended| ended.lock.session.clone().unwrap_or(ended.id.clone());
        let ended = self.ended()?.into_iter();
        let mut locks: Vec<_> = ended.map(|it| (id(&it), it.lock)).collect();
        if let Some(lock) = live
            && let Some(id) = lock.session.clone()
            && locks.iter().all(|(ended, _)| *ended != id)
        {
            locks.push((id, lock));
        }
        Ok(locks)
    }

    /// The directory of each, by name; that of the live one too, whoever runs it.
    pub(crate) fn dirs(&self) -> Result<Vec<(String, PathBuf)>> {
        // Looked at first: one that is archived meanwhile is in both places, and never in neither.
        let is_there = fsx::stat(self.home.fs(), &self.live_dir())?.is_some();
        let ended = self.ended()?.into_iter();
        let live = (layout::LIVE.to_owned(), self.live_dir());
        Ok(ended
            .map(|it| (it.id.to_string(), self.dir(&it.id)))
            .chain(is_there.then_some(live))
            .collect())
    }

    /// All sessions: the ended ones, oldest first, then the live one.
    pub fn all(&self) -> Result<Vec<Session>> {
        // Looked at first: one that is archived meanwhile is in both places, and never in neither.
        let current = self.current()?;
        let mut all = Vec::new();
        for ended in self.ended()? {
            all.push(self.read_ended(&ended)?);
        }
        let has_ended = |it: &Session| {
            let id = it.lock.session.as_ref();
            id.is_some() && all.iter().any(|ended| ended.lock.session.as_ref() == id)
        };
        let current = current.filter(|it| !has_ended(it));
        all.extend(current);
        Ok(all)
    }

    /// The session in the live directory, if something is there.
    pub fn current(&self) -> Result<Option<Session>> {
        self.stay_inside()?;
        if is_empty(self.home, &self.live_dir())? {
            return Ok(None);
        }
        // A look takes the lock for a moment: beside it a start would find the session alive.
        let _gate = self.lock_gate()?;
        self.read_current()
    }

    /// As [`Sessions::current`], leaving nothing behind; `None` too while somebody starts, ends or
    /// recovers one.
    pub fn glimpse(&self) -> Result<Option<Session>> {
        self.beside_no_start(Self::read_current)
    }

    /// The lock of what is in the live directory, and whether somebody runs it; otherwise as
    /// [`Sessions::glimpse`]. It is asked for again and again, and reads no other file.
    pub fn status(&self) -> Result<Option<(SessionStatus, session::Lock)>> {
        self.beside_no_start(Self::read_status)
    }

    /// Looks, and leaves nothing behind; `None` while somebody starts, ends or recovers a session.
    fn beside_no_start<T>(&self, look: impl Fn(&Self) -> Result<Option<T>>) -> Result<Option<T>> {
        self.stay_inside()?;
        let fs = self.home.fs();
        let gate = self.root.join(START_LOCK);
        let _gate = match fsx::stat(fs, &gate)? {
            None => None,
            Some(_) => match fsx::try_hold(fs, &gate) {
                Ok(None) => return Ok(None),
                Ok(held) => held,
                // Nobody starts where nobody may write.
                Err(_) => None,
            },
        };
        look(self)
    }

    fn read_current(&self) -> Result<Option<Session>> {
        let Some((stage, _)) = self.read_status()? else {
            return Ok(None);
        };
        read_session(self.home, self.live_dir(), layout::LIVE.to_owned(), stage).map(Some)
    }

    fn read_status(&self) -> Result<Option<(SessionStatus, session::Lock)>> {
        let dir = self.live_dir();
        if is_empty(self.home, &dir)? {
            return Ok(None);
        }
        let LockCheck { standing, lock, .. } = look(self.home, &dir)?;
        let stage = match standing {
            LockStatus::Live(_) => SessionStatus::Live,
            LockStatus::Dead(_) => SessionStatus::Dead,
        };
        Ok(Some((stage, lock)))
    }

    /// An ended session's files.
    pub fn read_ended(&self, ended: &Ended) -> Result<Session> {
        let stage = match session::is_interrupted(&ended.id) {
            true => SessionStatus::Interrupted,
            false => SessionStatus::Archived,
        };
        read_session(self.home, self.dir(&ended.id), ended.id.to_string(), stage)
    }

    /// The session that a person means: the live one by `live`, else an id or a unique prefix.
    pub fn find(&self, given: &str) -> Result<Session> {
        let all = self.all()?;
        let id = |session: &Session| session.lock.session.clone();
        let exact = |session: &Session| session.name == given;
        let by_id = |session: &Session| id(session).is_some_and(|id| id.as_str() == given);
        let live = |session: &Session| given == "live" && session.name == layout::LIVE;
        let begins = |session: &Session| {
            session.name.starts_with(given)
                || id(session).is_some_and(|id| id.as_str().starts_with(given))
        };
        let tiers: [&dyn Fn(&Session) -> bool; 4] = [&exact, &live, &by_id, &begins];
        let tier = tiers.iter().find(|fits| all.iter().any(fits));
        let mut fitting: Vec<Session> = match tier {
            Some(fits) => all.into_iter().filter(|session| fits(session)).collect(),
            None => Vec::new(),
        };
        match (fitting.pop(), fitting.is_empty()) {
            (Some(session), true) => Ok(session),
            (None, _) => Err(Error::NotFound {
                what: "session",
                id: given.to_owned(),
                list: None,
            }),
            (Some(last), false) => Err(Error::Ambiguous {
                given: given.to_owned(),
                candidates: fitting
                    .iter()
                    .chain([&last])
                    .map(|session| session.name.clone())
                    .collect(),
            }),
        }
    }

    fn lock_gate(&self) -> Result<Lock> {
        gate(self.home, &self.root, fsx::DEFAULT_WAIT)
    }

    /// Ids of sessions that are known to be over.
    fn dead(&self) -> Result<BTreeSet<SessionId>> {
        let mut dead = BTreeSet::new();
        for Ended { id, lock } in self.ended()? {
            dead.extend(lock.session);
            dead.insert(id);
        }
        Ok(dead)
    }
}

/// One start, look, recovery or archival at a time.
fn gate(home: &Home, root: &Path, wait: Duration) -> Result<Lock> {
    let path = root.join(START_LOCK);
    Ok(fsx::lock(
        home.fs(),
        &path,
        Rank::Session,
        wait,
        home.now(),
    )?)
}

/// The list that a session's lock names, where it is another than `list` and there is one.
fn other_list<'h>(
    home: &'h Home,
    list: &List<'_>,
    named: Option<&ListRef>,
) -> Result<Option<List<'h>>> {
    match named.filter(|named| *named != list.id()) {
        None => Ok(None),
        Some(named) => match List::find(home, named) {
            Ok(other) => Ok(Some(other)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        },
    }
}

/// A look at the live directory's lock.
struct LockCheck {
    lock: session::Lock,
    standing: LockStatus,
    /// The lock's flock, where nobody held it.
    flock: Option<Box<dyn Flock>>,
}

/// Whether the session in `dir` stands. Changes nothing.
fn look(home: &Home, dir: &Path) -> Result<LockCheck> {
    let path = dir.join(layout::LOCK);
    let Some(stat) = fsx::stat(home.fs(), &path)? else {
        // Without a lock nobody claims the directory.
        let standing = LockStatus::Dead(session::Evidence::Flock);
        return Ok(LockCheck {
            lock: session::Lock::default(),
            standing,
            flock: None,
        });
    };
    let flock = fsx::try_hold(home.fs(), &path)?;
    let lock = read_lock(home, dir)?.unwrap_or_default();
    let pid_alive = match lock.pid {
        Pid::Number(pid) => process::is_alive(pid),
        Pid::Word(_) | Pid::Missing => false,
    };
    let modified =
        Timestamp::from_nanosecond(stat.modified.into()).unwrap_or(Timestamp::UNIX_EPOCH);
    let seen = Sighting {
        now: home.now(),
        modified,
        flock_held: flock.is_none(),
        pid_alive,
    };
    Ok(LockCheck {
        standing: lock.status(seen),
        lock,
        flock,
    })
}

fn read_lock(home: &Home, dir: &Path) -> Result<Option<session::Lock>> {
    let text = fsx::read_lossy(home.fs(), &dir.join(layout::LOCK))?;
    Ok(text.map(|text| lock::parse(&text)))
}

/// The events of the session in this directory after a cursor.
fn events(home: &Home, dir: &Path, since: u64) -> Result<Vec<Map<String, Value>>> {
    let path = dir.join(layout::PROGRESS_EVENTS);
    let bytes = match home.fs().read(&path, 0, EVENTS_LIMIT) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(disk::Error::io("read", &path)(error).into()),
    };
    let event = |line: &[u8]| serde_json::from_slice::<Map<String, Value>>(line).ok();
    let cursor = |event: &Map<String, Value>| event.get("cursor").and_then(Value::as_u64);
    let lines = bytes.split(|byte| *byte == b'\n').filter_map(event);
    Ok(lines
        .filter(|event| cursor(event).is_some_and(|cursor| cursor > since))
        .collect())
}

fn read_session(home: &Home, dir: PathBuf, name: String, stage: SessionStatus) -> Result<Session> {
    let mut unread = Vec::new();
    let mut text = |file: &str| match fsx::read_lossy(home.fs(), &dir.join(file)) {
        Ok(text) => text.unwrap_or_default(),
        Err(_) => {
            unread.push(file.to_owned());
            String::new()
        }
    };
    let lock = lock::parse(&text(layout::LOCK));
    let mut progress = progress::parse(&text(layout::PROGRESS));
    let mut rows = task_log::parse(&text(layout::TASK_LOG)).rows;
    if rows.is_empty() {
        rows = summary::parse_rows(&text(layout::SUMMARY));
    }
    let mut unbegun = plan::parse(&text(layout::PLAN));
    let ended: BTreeSet<&TaskId> = rows.iter().map(|row| &row.id).collect();
    unbegun.retain(|(id, _)| !ended.contains(id));
    let mut left = BTreeMap::new();
    if !unbegun.is_empty() || !progress.active.is_empty() {
        match events(home, &dir, 0) {
            Ok(events) => left = left::of(&events),
            Err(_) => unread.push(layout::PROGRESS_EVENTS.to_owned()),
        }
    }
    // The file goes on naming tasks that ask or were stopped, so that other programs show them.
    let rests = |id: &TaskId| left.get(id).is_some_and(|task| task.how != How::Unended);
    progress.active.retain(|task| !rests(&task.id));
    let active = match stage {
        SessionStatus::Live => progress.active.iter().map(|task| task.id.clone()).collect(),
        SessionStatus::Dead | SessionStatus::Interrupted | SessionStatus::Archived => {
            for task in std::mem::take(&mut progress.active) {
                let id = task.id.clone();
                left.entry(id).or_insert_with(|| left::broken_off(task));
            }
            BTreeSet::new()
        }
    };
    // Its runner may have died between a task's row and what it said of it last.
    left.retain(|id, _| !ended.contains(id) && !active.contains(id));
    unbegun.retain(|(id, _)| !active.contains(id) && !left.contains_key(id));
    let names = home.fs().names(&dir).unwrap_or_default();
    let names = names.iter().filter_map(|name| name.to_str());
    Ok(Session {
        results: names.filter(|name| layout::is_task_result(name)).count(),
        lock,
        progress,
        left: left.into_values().collect(),
        rows,
        unbegun,
        unread,
        name,
        dir,
        stage,
    })
}

/// Whether a directory holds nothing, or nothing but directories that are empty: what a start that
/// was taken back leaves.
fn is_empty(home: &Home, dir: &Path) -> Result<bool> {
    let fs = home.fs();
    for name in fsx::names(fs, dir)? {
        let path = dir.join(name);
        let is_dir = fsx::stat(fs, &path)?.is_some_and(|stat| stat.kind == fsx::FileKind::Dir);
        if !is_dir || !fsx::names(fs, &path)?.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}
