//! Why a change of a shared repository did not become the next one.
//!
//! Owns the words, and of which reports are kept meanwhile. What they mean for an exit code and what to do next
//! is in `failure`.

use std::path::PathBuf;

use flagpost_model::{ListId, RepoId};

/// Why a change did not become the next one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderRefusal {
    /// Another change has this place: another machine's, or one of this machine that waits to be told. Or
    /// this machine has not carried out the last one. Nothing happened.
    #[error("another machine was first")]
    Overtaken {
        /// Which repository.
        repo: RepoId,
    },
    /// Nobody could be asked. Nothing happened.
    #[error("this repository is shared, and cannot be changed now: {reason}")]
    Unreachable {
        /// Which repository.
        repo: RepoId,
        /// What was tried.
        reason: String,
    },
    /// It was asked for and not answered.
    #[error("nobody knows yet whether this change has happened")]
    Unsettled {
        /// Which repository.
        repo: RepoId,
    },
    /// This machine may not make such a change. Nothing happened.
    #[error("this machine may not do that: {reason}")]
    NotAllowed {
        /// Which repository.
        repo: RepoId,
        /// What it may not.
        reason: String,
    },
    /// It is more than a message may hold. Nothing happened.
    #[error("a change of {bytes} bytes is more than the fleet takes at once")]
    TooLarge {
        /// Which repository.
        repo: RepoId,
        /// How large it would be.
        bytes: usize,
    },
    /// Another list has its name on this machine. Until that one has another, nothing is changed.
    #[error("the fleet has a list {list}, and here {} is another one", dir.display())]
    ListHere {
        /// Which repository.
        repo: RepoId,
        /// Which list.
        list: ListId,
        /// Where the other one is.
        dir: PathBuf,
    },
    /// Another repository has a list of its name in the fleet. Nothing happened.
    #[error("another repository of the fleet has a list {list}")]
    ListThere {
        /// Which repository.
        repo: RepoId,
        /// Which list.
        list: ListId,
    },
    /// What the order has does not fit what is here; until somebody looked, nothing is changed.
    #[error("this shared repository is not changed any more: {reason}")]
    Frozen {
        /// Which repository.
        repo: RepoId,
        /// What does not fit.
        reason: String,
    },
}

impl OrderRefusal {
    /// The repository of which agents' reports are kept while this stands in the way: nobody can be asked, or
    /// nothing is changed until somebody looked.
    pub fn keeps_reports(&self) -> Option<&RepoId> {
        match self {
            Self::Unreachable { repo, .. } | Self::Frozen { repo, .. } => Some(repo),
            Self::Overtaken { .. }
            | Self::Unsettled { .. }
            | Self::NotAllowed { .. }
            | Self::TooLarge { .. }
            | Self::ListHere { .. }
            | Self::ListThere { .. } => None,
        }
    }
}
