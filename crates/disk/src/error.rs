//! What can go wrong with a file, always with its path.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::holder::Holder;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure on disk that a caller can act on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// What was being done, as a verb: "read", "sync".
        doing: &'static str,
        /// To which file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The target of a publication exists; nothing was overwritten.
    #[error("{} exists already", path.display())]
    Conflict {
        /// The target.
        path: PathBuf,
    },
    /// Somebody else changed the file while it was being written anew; it is as they left it.
    #[error("{} was changed by somebody else just now", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A lock was not free within the bound.
    #[error("{} is locked{}; waited {:.1} s", path.display(), held_by(holder.as_ref()), waited.as_secs_f32())]
    Busy {
        /// The lock file.
        path: PathBuf,
        /// Who holds it, as far as the lock file says.
        holder: Option<Holder>,
        /// How long we waited.
        waited: Duration,
    },
    /// A file whose content is not what its name promises. It is left as it is.
    #[error("{} is malformed: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file that ends in what nothing of ours is. It is left as it is.
    #[error("{} is damaged from byte {from} on", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where that begins.
        from: u64,
    },
    /// A directory of ours in whose place, or on the way to which, a link lies; nothing was written.
    #[error("{} is a link: nothing is written to where it leads", path.display())]
    Linked {
        /// The link.
        path: PathBuf,
    },
    /// A path that leads out of the directory it must stay in.
    #[error("{} leads outside {}", path.display(), root.display())]
    Outside {
        /// The path.
        path: PathBuf,
        /// Where it must stay.
        root: PathBuf,
    },
}

impl Error {
    /// For `map_err`: an I/O failure while `doing` something to `path`.
    pub fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            doing,
            path: path.to_owned(),
            source,
        }
    }

    /// Whether this says that what is there is no file of ours, and will not be until somebody mends
    /// it: malformed, too large, a directory, a link, a pipe.
    pub fn is_no_such_file(&self) -> bool {
        match self {
            Self::Malformed { .. } => true,
            Self::Io {
                doing: "read",
                source,
                ..
            } => {
                matches!(
                    source.kind(),
                    io::ErrorKind::FileTooLarge | io::ErrorKind::InvalidData
                )
            }
            _ => false,
        }
    }

    /// Whether this says that one file cannot be read, by us or by anybody: its neighbours can.
    pub fn is_unreadable_file(&self) -> bool {
        let is_read = matches!(self, Self::Io { doing: "read", .. });
        self.is_no_such_file() || is_read && self.is_denied()
    }

    /// Why, for whoever has named the file already.
    pub fn reason(&self) -> String {
        match self {
            Self::Malformed { reason, .. } => reason.clone(),
            Self::Io { source, .. } => source.to_string(),
            other => other.to_string(),
        }
    }

    /// Whether this says that a file stands on the way, in the place of a directory.
    pub fn is_not_a_directory(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotADirectory)
    }

    /// Whether this says that we may not.
    pub fn is_denied(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied)
    }

    /// Whether this says that we may read there at best: the file system, or its owner, lets nobody write.
    pub fn is_unwritable(&self) -> bool {
        let Self::Io { doing, source, .. } = self else {
            return false;
        };
        let refused = [
            io::ErrorKind::ReadOnlyFilesystem,
            io::ErrorKind::PermissionDenied,
        ];
        *doing != "read" && refused.contains(&source.kind())
    }

    /// Whether this says that there is no room, on the disk or in what we may have of it.
    pub fn is_full(&self) -> bool {
        let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
        matches!(self, Self::Io { source, .. } if full.contains(&source.kind()))
    }

    /// Whether this says that the target exists.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Conflict { .. })
    }

    /// Whether this says that the content is not what the file's name promises.
    pub fn is_malformed(&self) -> bool {
        matches!(self, Self::Malformed { .. })
    }

    /// Whether this says that the file is not there.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// `Ok(None)` where the file is not there.
pub(crate) fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn held_by(holder: Option<&Holder>) -> String {
    holder.map(|h| format!(" by {h}")).unwrap_or_default()
}
