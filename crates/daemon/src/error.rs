//! Why the daemon does not run.

use std::{io, path::PathBuf};

use flagpost_core as core;
use flagpost_disk as disk;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure to start, to find or to stop the daemon.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An operation failed.
    #[error(transparent)]
    Core(#[from] core::Error),
    /// A file or lock failed.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// This home has one.
    #[error("the daemon runs already{}", holder.as_ref().map(|it| format!(": {it}")).unwrap_or_default())]
    Running {
        /// Which one.
        holder: Option<disk::fsx::Holder>,
    },
    /// The port is not to be had.
    #[error("cannot listen at 127.0.0.1:{port}")]
    Port {
        /// Which.
        port: u16,
        /// Why.
        source: io::Error,
    },
    /// The system refused.
    #[error("cannot {doing}")]
    System {
        /// What was being done.
        doing: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// The process that was started ended, or did not get ready in time.
    #[error("the daemon did not start: {reason}")]
    NotStarted {
        /// What it said last.
        reason: String,
        /// Where it says more.
        log: PathBuf,
    },
    /// One runs, and nobody knows how to reach it.
    #[error("the daemon, pid {pid}, runs, and {} cannot be read, which tells how to reach it", note.display())]
    Unreadable {
        /// Its process.
        pid: u32,
        /// The file that tells how it is reached.
        note: PathBuf,
    },
    /// One runs that does not answer, and does not end either.
    #[error("the daemon, pid {pid}, runs and does not answer")]
    Silent {
        /// Its process.
        pid: u32,
    },
    /// It does not end.
    #[error("the daemon, pid {pid}, was told to end and still runs")]
    NotStopped {
        /// Its process.
        pid: u32,
    },
}

impl Error {
    /// What the system refused, as an error of ours.
    pub(crate) fn system(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { doing, source }
    }
}
