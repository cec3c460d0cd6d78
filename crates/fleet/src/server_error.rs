//! Why a server cannot be kept.

use std::{io, path::PathBuf};

use flagpost_disk::{self as disk, fsx::Holder};
use flagpost_model::MachineId;

use crate::{address::InvalidInvitation, server_config::Unwritable};

/// A failure to write down, to find or to run the server that a machine keeps.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// A file or a lock failed.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// The directory's name cannot stand in the server's configuration.
    #[error(transparent)]
    Unwritable(#[from] Unwritable),
    /// No key can be made.
    #[error(transparent)]
    Key(#[from] InvalidInvitation),
    /// The directory belongs to a server that was founded otherwise.
    #[error("{} is of a server with {key} = {found}, and {asked} is asked for", dir.display())]
    Otherwise {
        /// The directory.
        dir: PathBuf,
        /// What differs.
        key: &'static str,
        /// What it is.
        found: String,
        /// What was asked for.
        asked: String,
    },
    /// The machine is let in with another key.
    #[error("machine {machine} is let in with another key already")]
    OtherKey {
        /// The machine.
        machine: MachineId,
    },
    /// The key is somebody else's.
    #[error("the key of machine {machine} is {}", owner(of.as_ref()))]
    KeyTaken {
        /// Who was to be let in.
        machine: MachineId,
        /// Whose key it is; `None` for the administrator.
        of: Option<MachineId>,
    },
    /// Somebody keeps this server.
    #[error("the server in {} is kept already{}", dir.display(), holder.as_ref().map(|it| format!(": {it}")).unwrap_or_default())]
    Kept {
        /// The server's directory.
        dir: PathBuf,
        /// Who keeps it, where that is known.
        holder: Option<Holder>,
    },
    /// A server that a former keeper left does not end.
    #[error("an older server, pid {pid}, was told to end and still runs")]
    NotEnded {
        /// Its process.
        pid: u32,
    },
    /// The system refused.
    #[error("cannot {doing}")]
    System {
        /// What was being done.
        doing: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// There is no server to start.
    #[error("there is no nats-server on this machine")]
    NoProgram,
    /// What was found is no server.
    #[error("{} is no nats-server that can be run: {reason}", program.display())]
    NotAServer {
        /// What was found.
        program: PathBuf,
        /// Why.
        reason: String,
    },
    /// A server from before the promises that Flagpost builds on.
    #[error("{} is nats-server {version}, and 2.12 is the oldest that will do", program.display())]
    OldProgram {
        /// What was found.
        program: PathBuf,
        /// Its version.
        version: String,
    },
}

impl ServerError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Disk(error) if error.is_malformed() => {
                "it is left as it is; a newer Flagpost or a hand wrote it: mend it, or take it from a backup"
            }
            Self::Disk(_) | Self::System { .. } | Self::Key(_) => {
                "look at the path and its owner, and try again"
            }
            Self::Unwritable(_) => "move the home to such a path",
            Self::Otherwise { .. } => "use the server as it is, or found one in another directory",
            Self::OtherKey { .. } => "shut it out first",
            Self::KeyTaken { .. } => "each machine wants a key of its own: make a new one",
            Self::Kept { .. } => "use that one, or end its keeper first",
            Self::NotEnded { .. } => "end that process, then try again",
            Self::NoProgram | Self::NotAServer { .. } | Self::OldProgram { .. } => HOW_TO_GET_ONE,
        }
    }

    /// What the system refused, as an error of ours.
    pub(crate) fn system(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { doing, source }
    }
}

/// How a server is got on this system.
const HOW_TO_GET_ONE: &str = if cfg!(target_os = "macos") {
    "brew install nats-server"
} else {
    "put nats-server 2.12 or newer on PATH: from https://github.com/nats-io/nats-server/releases, \
     out of Docker's image nats:2.12, or the system's package where it is new enough (Debian 12 and 13 \
     have 2.9 and 2.10, which are too old)"
};

fn owner(machine: Option<&MachineId>) -> String {
    machine.map_or_else(
        || "the administrator's".to_owned(),
        |machine| format!("machine {machine}'s"),
    )
}
