//! Which daemon a home has.
//!
//! Owns `run/`: the lock that is held for as long as the daemon lives, which alone says whether it
//! does; the note of how it is reached; the token. The note stays when the daemon is gone, so that
//! the next one takes the same port and a page that is open finds it again.

use std::{
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use flagpost_core::{Home, answers::DaemonAnswer, relay::workers::tokens::random};
use flagpost_disk::{
    self as disk,
    fsx::{self, Flock, Holder},
    process::is_alive,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    events::WatchMode,
};

/// Which Flagpost this is.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The name of the log.
const LOG: &str = "daemon.log";

/// So long one that was killed may take to be gone.
const DYING: Duration = Duration::from_secs(10);
/// How often it is looked at meanwhile.
const PAUSE: Duration = Duration::from_millis(10);

/// Where the daemon's own files are.
#[derive(Debug, Clone)]
pub struct Paths {
    /// `run/` in the home.
    pub dir: PathBuf,
    /// What it listens at.
    pub socket: PathBuf,
    /// What programs have to show over the loopback.
    pub token: PathBuf,
    /// What it says.
    pub log: PathBuf,
    lock: PathBuf,
    /// How it is reached.
    pub(crate) note: PathBuf,
}

impl Paths {
    /// Those of a home.
    pub fn of(home: &Home) -> Self {
        let dir = home.root().join("run");
        Self {
            socket: dir.join("daemon.sock"),
            token: dir.join("token"),
            log: dir.join(LOG),
            lock: dir.join("daemon.lock"),
            note: dir.join("daemon.json"),
            dir,
        }
    }
}

/// A daemon that answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instance {
    /// Its process.
    pub pid: u32,
    /// Which Flagpost it is.
    pub version: String,
    /// Since when it runs.
    pub started_at: Timestamp,
    /// Where it is reached over the loopback.
    pub http: String,
    /// How it notices what others do.
    #[serde(default)]
    pub watching: WatchMode,
}

impl Instance {
    /// Whether it is this Flagpost, and no older or newer one.
    pub fn is_of_this_version(&self) -> bool {
        self.version == VERSION
    }
}

impl Instance {
    /// How one that is reached by these paths is answered.
    pub fn answer(&self, paths: &Paths) -> DaemonAnswer {
        DaemonAnswer {
            pid: self.pid,
            version: self.version.clone(),
            started_at: self.started_at,
            http: self.http.clone(),
            watching: self.watching,
            socket: paths.socket.to_string_lossy().into_owned(),
        }
    }

    fn port(&self) -> Option<u16> {
        self.http.rsplit_once(':')?.1.parse().ok()
    }
}

/// Whether a home has a daemon.
#[derive(Debug)]
pub enum DaemonStatus {
    /// None runs.
    Down,
    /// One runs that does not answer yet.
    Starting(Holder),
    /// One runs, and the note of how it is reached cannot be read.
    Unreadable(Holder),
    /// One answers.
    Up(Instance),
}

/// Looks whether a home has a daemon; leaves nothing behind.
pub fn status(home: &Home) -> Result<DaemonStatus> {
    let paths = Paths::of(home);
    let Some(holder) = fsx::holder(home.fs(), &paths.lock)? else {
        return Ok(DaemonStatus::Down);
    };
    Ok(match note(home, &paths)? {
        // One that was killed has left both its note and its name in the lock, which the next one
        // holds before it has signed it.
        InstanceNote::Of(instance) if instance.pid == holder.pid && is_alive(holder.pid) => {
            DaemonStatus::Up(instance)
        }
        InstanceNote::Of(_) | InstanceNote::None => DaemonStatus::Starting(holder),
        InstanceNote::Unreadable => DaemonStatus::Unreadable(holder),
    })
}

/// The note of the daemon that runs, or ran last.
enum InstanceNote {
    None,
    Of(Instance),
    Unreadable,
}

fn note(home: &Home, paths: &Paths) -> Result<InstanceNote> {
    let bytes = match fsx::read(home.fs(), &paths.note) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(InstanceNote::None),
        Err(error) if error.is_no_such_file() => return Ok(InstanceNote::Unreadable),
        Err(error) => return Err(error.into()),
    };
    Ok(serde_json::from_slice(&bytes).map_or(InstanceNote::Unreadable, InstanceNote::Of))
}

/// The one instance of a home, for as long as this lives.
#[derive(Debug)]
pub(crate) struct InstanceLock {
    pub(crate) paths: Paths,
    pub(crate) claim: HomeClaim,
    _lock: Box<dyn Flock>,
}

/// By what a daemon knows that a home is still the one that it holds: the lock file under that name is the
/// one that it locked. A home may be removed and made anew under a daemon, which then has another one.
#[derive(Debug, Clone)]
pub(crate) struct HomeClaim {
    home: Home,
    lock: PathBuf,
    inode: Option<u64>,
}

impl HomeClaim {
    /// The home.
    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    /// Whether it is. Where nobody can look, it is taken to be.
    pub(crate) fn holds(&self) -> bool {
        match fsx::stat(self.home.fs(), &self.lock) {
            Ok(stat) => stat.map(|it| it.inode) == self.inode,
            Err(_) => true,
        }
    }
}

impl InstanceLock {
    /// Becomes the home's daemon, unless it has one.
    pub(crate) fn take(home: &Home) -> Result<Self> {
        let (fs, paths) = (home.fs(), Paths::of(home));
        home.make_dirs(&paths.dir)?;
        fsx::close_to_others(fs, &paths.dir)?;
        let begun = Instant::now();
        loop {
            if let Some(lock) = fsx::hold(fs, &paths.lock, home.now())? {
                let claim = HomeClaim {
                    home: home.clone(),
                    lock: paths.lock.clone(),
                    inode: fsx::stat(fs, &paths.lock)?.map(|it| it.inode),
                };
                return Ok(Self {
                    paths,
                    claim,
                    _lock: lock,
                });
            }
            let holder = fsx::holder(fs, &paths.lock)?;
            // One that was killed has it until the last of its threads is gone.
            let is_over = holder.as_ref().is_none_or(|it| !is_alive(it.pid));
            if !is_over || begun.elapsed() > DYING {
                return Err(Error::Running { holder });
            }
            thread::sleep(PAUSE);
        }
    }

    /// The port of the daemon before.
    pub(crate) fn last_port(&self, home: &Home) -> Result<Option<u16>> {
        Ok(match note(home, &self.paths)? {
            InstanceNote::Of(last) => last.port(),
            InstanceNote::None | InstanceNote::Unreadable => None,
        })
    }

    /// Says how this daemon is reached: from now on it counts as up.
    pub(crate) fn announce(&self, home: &Home, port: u16, watching: WatchMode) -> Result<Instance> {
        let instance = Instance {
            pid: std::process::id(),
            version: VERSION.to_owned(),
            started_at: home.now(),
            http: format!("http://127.0.0.1:{port}"),
            watching,
        };
        let text = serde_json::to_value(&instance).map(|it| format!("{it:#}\n"));
        let text = text.map_err(|error| disk::Error::Malformed {
            path: self.paths.note.clone(),
            reason: error.to_string(),
        })?;
        fsx::replace(home.fs(), &self.paths.note, text.as_bytes())?;
        Ok(instance)
    }

    /// The token of this daemon, another than that of the one before.
    pub(crate) fn token(&self, home: &Home) -> Result<String> {
        let token = random();
        let text = format!("{token}\n");
        fsx::replace(home.fs(), &self.paths.token, text.as_bytes())?;
        Ok(token)
    }

    /// Takes the socket away.
    pub(crate) fn leave(&self, home: &Home) -> Result<()> {
        Ok(fsx::remove(home.fs(), &self.paths.socket)?)
    }
}
