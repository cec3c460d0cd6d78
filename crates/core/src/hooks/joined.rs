//! Sessions that people started themselves, and the workers that they joined the fleet as.
//!
//! Owns `joined/` in the repository's directory: a file for each client's session with its worker, and
//! `next.json`, which stands for the session that starts next. `FLAGPOST_WORKER` comes before all of it. A
//! session is forgotten when its client says that it ends.

use std::path::PathBuf;

use flagpost_disk::fsx;
use flagpost_model::WorkerId;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    home::Home,
    repository::Repository,
};

/// The directory's name.
const DIR: &str = "joined";
/// Stands for the session that starts next.
const NEXT: &str = "next";
/// So long the session that starts next is waited for.
pub const WAITS: SignedDuration = SignedDuration::from_mins(10);

/// As whom a session speaks.
#[derive(Debug, Serialize, Deserialize)]
struct Joined {
    worker: WorkerId,
    at: Timestamp,
}

/// The sessions of clients that joined the fleet of a repository.
#[derive(Debug)]
pub struct JoinedSessions<'h> {
    home: &'h Home,
    dir: PathBuf,
}

impl<'h> JoinedSessions<'h> {
    /// Those of a repository.
    pub fn of(home: &'h Home, repository: &Repository) -> Self {
        let dir = home.repository_dir(&repository.id).join(DIR);
        Self { home, dir }
    }

    /// Lets a session speak for a worker; durable on return. A session of the same worker that joined
    /// before does so no longer. Without a session it is the one that starts next here.
    pub fn join(&self, worker: &WorkerId, session: Option<&str>) -> Result<()> {
        let path = match session {
            Some(session) => self.path(session).ok_or_else(|| Error::Invalid {
                what: "session".to_owned(),
                reason: format!("{session:?} is no name of a client's session"),
            })?,
            None => self.dir.join(format!("{NEXT}.json")),
        };
        self.home.make_dirs(&self.dir)?;
        self.forget(worker)?;
        let joined = Joined {
            worker: worker.clone(),
            at: self.home.now(),
        };
        self.write(&path, &joined)
    }

    /// The worker of a session, where it joined as one.
    pub fn worker(&self, session: &str) -> Result<Option<WorkerId>> {
        let joined = self
            .path(session)
            .map(|path| self.read(&path))
            .transpose()?;
        Ok(joined.flatten().map(|it| it.worker))
    }

    /// The worker of a session that starts: the one that it joined as before, or that waits for the next.
    pub fn started(&self, session: &str) -> Result<Option<WorkerId>> {
        if let Some(worker) = self.worker(session)? {
            return Ok(Some(worker));
        }
        let next = self.dir.join(format!("{NEXT}.json"));
        let (Some(path), Some(joined)) = (self.path(session), self.read(&next)?) else {
            return Ok(None);
        };
        fsx::remove(self.home.fs(), &next)?;
        if self.home.now().duration_since(joined.at) > WAITS {
            return Ok(None);
        }
        self.write(&path, &joined)?;
        Ok(Some(joined.worker))
    }

    /// A session has ended.
    pub fn ended(&self, session: &str) -> Result<()> {
        match self.path(session) {
            Some(path) if fsx::stat(self.home.fs(), &path)?.is_some() => {
                Ok(fsx::remove(self.home.fs(), &path)?)
            }
            _ => Ok(()),
        }
    }

    /// No session speaks for this worker any more.
    fn forget(&self, worker: &WorkerId) -> Result<()> {
        for name in fsx::names(self.home.fs(), &self.dir)? {
            let path = self.dir.join(name);
            if self.read(&path)?.is_some_and(|it| it.worker == *worker) {
                fsx::remove(self.home.fs(), &path)?;
            }
        }
        Ok(())
    }

    /// Where a session's file is; none for what could lead elsewhere, or means the next one.
    fn path(&self, session: &str) -> Option<PathBuf> {
        let session: WorkerId = session.parse().ok()?;
        (session.as_str() != NEXT).then(|| self.dir.join(format!("{session}.json")))
    }

    /// What a file says; one that cannot be understood says nothing.
    fn read(&self, path: &std::path::Path) -> Result<Option<Joined>> {
        let bytes = fsx::read(self.home.fs(), path)?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    fn write(&self, path: &std::path::Path, joined: &Joined) -> Result<()> {
        let text = serde_json::to_vec(joined).unwrap_or_default();
        Ok(fsx::replace(self.home.fs(), path, &text)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> (tempfile::TempDir, Home, Repository) {
        let scratch = flagpost_testkit::scratch::scratch();
        let home = Home::at(scratch.path().join("home"));
        let dir = scratch.path().join("web");
        fsx::make_dirs(&fsx::RealFs, &dir).unwrap();
        let ann = "ann".parse().unwrap();
        let repository = Repository::register(&home, &dir, &ann).unwrap();
        (scratch, home, repository)
    }

    fn worker(name: &str) -> WorkerId {
        name.parse().unwrap()
    }

    #[test]
    fn a_session_speaks_for_the_worker_that_it_joined_as_until_it_ends() {
        let (_scratch, home, repository) = place();
        let sessions = JoinedSessions::of(&home, &repository);
        assert_eq!(sessions.worker("s-1").unwrap(), None);
        sessions.join(&worker("W3"), Some("s-1")).unwrap();
        assert_eq!(sessions.worker("s-1").unwrap(), Some(worker("W3")));
        // It joined elsewhere meanwhile.
        sessions.join(&worker("W3"), Some("s-2")).unwrap();
        assert_eq!(sessions.worker("s-1").unwrap(), None);
        sessions.ended("s-2").unwrap();
        assert_eq!(sessions.worker("s-2").unwrap(), None);
    }

    #[test]
    fn the_next_session_that_starts_joins_once() {
        let (_scratch, home, repository) = place();
        let sessions = JoinedSessions::of(&home, &repository);
        sessions.join(&worker("W3"), None).unwrap();
        assert_eq!(sessions.started("s-1").unwrap(), Some(worker("W3")));
        assert_eq!(sessions.started("s-2").unwrap(), None);
        assert_eq!(sessions.started("s-1").unwrap(), Some(worker("W3")));
    }

    #[test]
    fn a_name_that_leads_elsewhere_is_none() {
        let (_scratch, home, repository) = place();
        let sessions = JoinedSessions::of(&home, &repository);
        for odd in ["", "..", "../../x", "a/b", "next"] {
            assert!(sessions.join(&worker("W3"), Some(odd)).is_err(), "{odd}");
            assert_eq!(sessions.worker(odd).unwrap(), None, "{odd}");
        }
    }
}
