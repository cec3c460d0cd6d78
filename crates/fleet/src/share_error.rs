//! Why a repository or a machine did not come into the fleet, or an order was not begun anew.
//!
//! Owns the reasons that are no other module's.

use flagpost_model::{MachineId, RepoId};

use crate::{error::FleetError, membership::MembershipError, server_error::ServerError};

/// Why a repository or a machine did not come into the fleet.
#[derive(Debug, thiserror::Error)]
pub enum ShareError {
    /// The home belongs to no fleet.
    #[error("this machine belongs to no fleet")]
    NoFleet,
    /// Only the machine that founded the fleet has the administrator's key.
    #[error("only the machine that founded the fleet can do that")]
    NotFounder,
    /// It is no part of the fleet.
    #[error("repository {repo} is not shared")]
    NotShared {
        /// Which.
        repo: RepoId,
    },
    /// Nothing of its order is lost.
    #[error("the fleet has all of repository {repo}: nothing is to be restored")]
    Whole {
        /// Which.
        repo: RepoId,
    },
    /// Another machine has more of it.
    #[error("machine {machine} has lines up to {theirs}, and this one up to {ours}")]
    Behind {
        /// Which machine.
        machine: MachineId,
        /// The number of its last line.
        theirs: u64,
        /// The number of the last line here.
        ours: u64,
    },
    /// Nothing is removed that only one machine has.
    #[error("no other machine that is there has line {n} by now")]
    Unheard {
        /// The number of the last line.
        n: u64,
    },
    /// A clone is known by its first commit, and there is none.
    #[error("a repository without a commit cannot be shared: its clones would not be known")]
    NoCommit,
    /// The others would lose a server.
    #[error("this machine keeps a server of the fleet")]
    KeepsServer,
    /// It is not let in.
    #[error("the fleet has no machine {machine}")]
    NoMachine {
        /// Which.
        machine: MachineId,
    },
    /// It is shared already.
    #[error("repository {repo} is shared already")]
    Shared {
        /// Which.
        repo: RepoId,
    },
    /// The clone is none of what the fleet shares.
    #[error(
        "{dir} is a clone of none of the fleet's repositories, which {}",
        listed(known)
    )]
    Unknown {
        /// Where one stands.
        dir: String,
        /// What it shares, by name.
        known: Vec<String>,
    },
    /// The fleet's order of it has no whole beginning.
    #[error("repository {repo} was not shared wholly: share it again on the machine that began")]
    Unfinished {
        /// Which.
        repo: RepoId,
    },
    /// The home belongs to another fleet.
    #[error("this machine belongs to the fleet at {server} already, as {machine}")]
    Member {
        /// Where that is.
        server: String,
        /// What the machine is called there.
        machine: MachineId,
    },
    /// What the machine knows of its fleet.
    #[error(transparent)]
    Membership(#[from] MembershipError),
    /// The server.
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// The server that is kept here.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The files.
    #[error(transparent)]
    Core(#[from] flagpost_core::Error),
}

fn listed(known: &[String]) -> String {
    match known {
        [] => "shares none yet".to_owned(),
        [one] => format!("is {one}"),
        several => format!("are {}", several.join(", ")),
    }
}
