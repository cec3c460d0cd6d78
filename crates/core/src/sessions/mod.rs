//! Sessions of a repository (`tree.md` §3).
//!
//! Owns `{repository}/.claude/sessions/`: beginning one, keeping its files, archiving and
//! recovering. Invariants: one live session per repository, and whoever is refused leaves the live
//! one's files as they were; nothing of a session is ever removed before what replaces it is
//! durable.

mod archive;
mod begin;
mod live;
mod recover;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use flagpost_disk::{
    self as disk,
    dialects::{
        claude_tasks::POINTER,
        session::{context, layout, lock, progress, summary, task_log},
    },
    fsx::{self, Flock, Lock, Rank},
    process,
};
use flagpost_model::{
    SessionId,
    session::{self, LogRow, Pid, Sighting, Standing},
};
use jiff::Timestamp;

pub use archive::{archive, archive_complete};
pub use begin::{Begun, Start, begin};
pub use live::Live;
pub use recover::{Recovered, recover};

use crate::{
    error::{Error, Result},
    home::Home,
    list::List,
    repository::Repository,
};

/// The sessions' directory of one repository.
#[derive(Debug, Clone)]
pub struct Sessions<'h> {
    home: &'h Home,
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
    pub stage: Stage,
    /// How far it got.
    pub progress: progress::Reading,
    /// What ended in it.
    pub rows: Vec<LogRow>,
}

/// Where a session is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Somebody runs it.
    Live,
    /// Its runner is gone and nobody has recovered it.
    Dead,
    /// Its runner is gone, and it was recovered.
    Interrupted,
    /// It came to its end.
    Archived,
}

impl Stage {
    /// The stage in a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Dead => "dead",
            Self::Interrupted => "interrupted",
            Self::Archived => "archived",
        }
    }
}

impl<'h> Sessions<'h> {
    /// The sessions of a repository.
    pub fn of(home: &'h Home, repository: &Repository) -> Self {
        Self {
            home,
            root: repository.top.join(layout::SESSIONS),
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

    /// The ended sessions, oldest first: by the time in their lock, else in their name.
    pub fn ended(&self) -> Result<Vec<SessionId>> {
        let mut ended: Vec<(Option<Timestamp>, SessionId)> = Vec::new();
        for id in self.home.ids_in::<SessionId>(&self.root)? {
            let dir = self.dir(&id);
            if fsx::stat(self.home.fs(), &dir)?.is_some_and(|stat| stat.kind == fsx::Kind::Dir) {
                let started = read_lock(self.home, &dir)?.unwrap_or_default().started;
                ended.push((started.and_then(session::Stamp::shown), id));
            }
        }
        ended.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.as_str().cmp(b.1.as_str())));
        Ok(ended.into_iter().map(|(_, id)| id).collect())
    }

    /// All sessions: the ended ones, oldest first, then the live one.
    pub fn all(&self) -> Result<Vec<Session>> {
        let mut all = Vec::new();
        for id in self.ended()? {
            let stage = match session::is_interrupted(&id) {
                true => Stage::Interrupted,
                false => Stage::Archived,
            };
            all.push(read_session(
                self.home,
                self.dir(&id),
                id.to_string(),
                stage,
            )?);
        }
        all.extend(self.current()?);
        Ok(all)
    }

    /// The session in the live directory, if something is there.
    pub fn current(&self) -> Result<Option<Session>> {
        let dir = self.live_dir();
        if is_empty(self.home, &dir)? {
            return Ok(None);
        }
        let stage = match look(self.home, &dir)?.standing {
            Standing::Live(_) => Stage::Live,
            Standing::Dead(_) => Stage::Dead,
        };
        read_session(self.home, dir, layout::LIVE.to_owned(), stage).map(Some)
    }

    /// The session that a person means: the live one by `live`, else an id or a unique prefix.
    pub fn find(&self, given: &str) -> Result<Session> {
        let all = self.all()?;
        let fits = |session: &&Session| {
            let id = session.lock.session.as_ref().map(SessionId::as_str);
            session.name.starts_with(given)
                || id.is_some_and(|id| id.starts_with(given))
                || (given == "live" && session.name == layout::LIVE)
        };
        let exact = |session: &&Session| session.name == given;
        let mut fitting: Vec<Session> = match all.iter().position(|session| exact(&session)) {
            Some(at) => all.into_iter().skip(at).take(1).collect(),
            None => {
                let keep: Vec<bool> = all.iter().map(|session| fits(&session)).collect();
                all.into_iter()
                    .zip(keep)
                    .filter_map(|(session, keep)| keep.then_some(session))
                    .collect()
            }
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

    /// One start, recovery or archival at a time.
    fn lock_gate(&self) -> Result<Lock> {
        let gate = self.root.join(".start.lock");
        Ok(fsx::lock(
            self.home.fs(),
            &gate,
            Rank::Session,
            fsx::DEFAULT_WAIT,
            self.home.now(),
        )?)
    }

    /// Ids of sessions that are known to be over.
    fn dead(&self) -> Result<BTreeSet<SessionId>> {
        let mut dead = BTreeSet::new();
        for id in self.ended()? {
            let lock = read_lock(self.home, &self.dir(&id))?.unwrap_or_default();
            dead.extend(lock.session);
            dead.insert(id);
        }
        Ok(dead)
    }
}

/// The session directory that a list's pointer names, resolved, if it lies among the sessions of
/// a repository: a pointer is a file that anybody may write.
pub fn pointed(home: &Home, list: &List<'_>, sessions: &Sessions<'_>) -> Result<Option<PathBuf>> {
    let Some(text) = fsx::read_lossy(home.fs(), &list.dir().join(POINTER))? else {
        return Ok(None);
    };
    match fsx::within(home.fs(), sessions.root(), Path::new(text.trim())) {
        Ok(dir) => Ok(Some(dir)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Makes a list's pointer name a session's directory.
fn point(home: &Home, list: &List<'_>, dir: &Path) -> Result<()> {
    let text = format!("{}/\n", dir.display());
    Ok(fsx::replace(
        home.fs(),
        &list.dir().join(POINTER),
        text.as_bytes(),
    )?)
}

/// A look at the live directory's lock.
struct Look {
    lock: session::Lock,
    standing: Standing,
    /// The lock's flock, where nobody held it.
    flock: Option<Box<dyn Flock>>,
}

/// Whether the session in `dir` stands. Changes nothing.
fn look(home: &Home, dir: &Path) -> Result<Look> {
    let path = dir.join(layout::LOCK);
    let Some(stat) = fsx::stat(home.fs(), &path)? else {
        // Without a lock nobody claims the directory.
        let standing = Standing::Dead(session::Evidence::Flock);
        return Ok(Look {
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
    Ok(Look {
        standing: lock.standing(seen),
        lock,
        flock,
    })
}

fn read_lock(home: &Home, dir: &Path) -> Result<Option<session::Lock>> {
    let text = fsx::read_lossy(home.fs(), &dir.join(layout::LOCK))?;
    Ok(text.map(|text| lock::parse(&text)))
}

fn read_session(home: &Home, dir: PathBuf, name: String, stage: Stage) -> Result<Session> {
    let text = |file: &str| -> Result<String> {
        Ok(fsx::read_lossy(home.fs(), &dir.join(file))?.unwrap_or_default())
    };
    let log = task_log::parse(&text(layout::TASK_LOG)?).rows;
    let rows = if log.is_empty() {
        summary::parse_rows(&text(layout::SUMMARY)?)
    } else {
        log
    };
    Ok(Session {
        lock: read_lock(home, &dir)?.unwrap_or_default(),
        progress: progress::parse(&text(layout::PROGRESS)?),
        rows,
        name,
        dir,
        stage,
    })
}

fn is_empty(home: &Home, dir: &Path) -> Result<bool> {
    match home.fs().names(dir) {
        Ok(names) => Ok(names.is_empty()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(disk::Error::io("list", dir)(error).into()),
    }
}

/// The shared context in a session's directory, with the notes that a crash left unmerged.
fn read_context(home: &Home, dir: &Path) -> Result<session::SharedContext> {
    let text = fsx::read_lossy(home.fs(), &dir.join(layout::CONTEXT))?.unwrap_or_default();
    let mut shared = context::parse(&text);
    for name in home.fs().names(dir).map_err(disk::Error::io("list", dir))? {
        let Some(id) = name.to_str().and_then(layout::task_of_context) else {
            continue;
        };
        let notes = fsx::read_lossy(home.fs(), &dir.join(&name))?.unwrap_or_default();
        shared.merge(&context::parse_notes(
            &notes,
            &id,
            "",
            session::Outcome::Partial,
        ));
    }
    Ok(shared)
}
