//! The JSON bridge: an agent that can only read and write files takes part fully (`tree.md` §5).
//!
//! Owns the way of a command: taken in by a rename, carried out by the operations that every face
//! uses, kept in the ledger, answered in the outbox. Invariants: a command id is executed once,
//! whatever crashes; every item of an inbox is answered; an answer is durable before what it answers
//! goes; one process at a time processes. Holds no rule and keeps no task.

mod answers;
mod background;
mod command_context;
mod execution;
mod inbox;
mod ledger;
mod outbox;
mod processor;
mod serving;
mod tending;
mod traces;

use std::{path::PathBuf, time::Duration};

use flagpost_disk::{
    dialects::bridge::{INBOX, OUTBOX, RUNNER, STOP},
    fsx,
    notices::{Notice, WatchLost, Watcher},
};
use flagpost_model::ListId;

pub use background::Background;
pub use inbox::{NewCommand, send};
pub use processor::{Processed, Processor};
pub use serving::{Host, Rest, Running, Served, Service, ServiceEvent, serve};
pub use tending::{Tended, TendedEvent, tend};

use crate::{
    config::{Config, keys},
    error::{Error, Result},
    home::Home,
    roots,
};

/// How long a text that is no JSON is watched before it counts as all there is of it.
const PAUSE: Duration = Duration::from_millis(100);

/// How often it must be found unchanged.
const LOOKS: u32 = 3;

/// The bridge of a home.
#[derive(Debug)]
pub struct Bridge<'h> {
    home: &'h Home,
    dir: PathBuf,
    list: Option<ListId>,
}

impl<'h> Bridge<'h> {
    /// The bridge as the configuration has it; commands that name no list are about `list`, unless
    /// the configuration names one.
    pub fn of(home: &'h Home, list: Option<ListId>) -> Result<Self> {
        let config = Config::read(home)?;
        let dir = match config.get(&keys::BRIDGE_DIR)? {
            Some(dir) => roots::expand(home, &keys::BRIDGE_DIR.about, &dir)?,
            None => match config.get(&keys::BRIDGE_COMPAT)? {
                Some(program) => roots::expand(home, &keys::BRIDGE_COMPAT.about, program.dir())?,
                None => home.root().clone(),
            },
        };
        let list = config.get(&keys::BRIDGE_LIST)?.or(list);
        Ok(Self { home, dir, list })
    }

    /// Where its files are.
    pub fn dir(&self) -> &PathBuf {
        &self.dir
    }

    /// Calls `woken` whenever something happens to the inbox, for as long as the answer lives. Who
    /// polls does without it.
    pub fn watch(&self, woken: impl Fn() + Send + 'static) -> Result<Watcher, WatchLost> {
        let mut watcher = Watcher::new(move |notice| match notice {
            Notice::Changed(paths)
                if paths.is_empty() || paths.iter().any(|path| path.ends_with(INBOX)) =>
            {
                woken();
            }
            Notice::Changed(_) | Notice::Deaf(_) => {}
        })?;
        watcher.add(&self.dir)?;
        Ok(watcher)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Asks whoever processes to stop, and waits until it has; who it was, and none where nobody
    /// does. A daemon that runs the bridge leaves it alone from then on, until [`Self::resume`].
    pub fn stop(&self, wait: Duration) -> Result<Option<Running>> {
        let running = self.running()?;
        let by_daemon = Background::is_enabled(self.home)?;
        if running.is_none() && !by_daemon {
            return Ok(None);
        }
        self.home.make_dirs(&self.dir)?;
        let flag = self.path(STOP);
        fsx::flag(self.home.fs(), &flag)?;
        let holds = self.home.fs().flock(&self.path(RUNNER), wait);
        let holds = holds.map_err(flagpost_disk::Error::io("lock", &flag))?;
        if holds.is_none() {
            return Err(flagpost_disk::Error::Busy {
                path: self.path(RUNNER),
                holder: None,
                waited: wait,
            }
            .into());
        }
        if !by_daemon {
            self.resume()?;
        }
        Ok(running)
    }

    /// Whether somebody asked for a stop, and nobody has begun anew since.
    pub fn is_stopped(&self) -> Result<bool> {
        Ok(fsx::stat(self.home.fs(), &self.path(STOP))?.is_some())
    }

    /// Takes back that somebody asked for a stop.
    pub fn resume(&self) -> Result<()> {
        Ok(fsx::remove(self.home.fs(), &self.path(STOP))?)
    }

    fn invalid(&self, what: &str, reason: impl Into<String>) -> Error {
        Error::Invalid {
            what: what.to_owned(),
            reason: reason.into(),
        }
    }

    /// Where answers are.
    pub fn outbox_path(&self) -> PathBuf {
        self.path(OUTBOX)
    }
}
