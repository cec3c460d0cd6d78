//! What the second and the third of three servers are told, as one file.
//!
//! Owns its spelling. A secret is in it: the key of the machine that is to keep the server. Nothing but
//! [`ReplicaInvite::reveal`] shows it.

use std::{net::SocketAddr, path::PathBuf, str::FromStr};

use flagpost_core::Home;
use flagpost_disk::fsx;
use serde::{Deserialize, Serialize};

use crate::{
    address::{Invitation, Seed},
    membership::Membership,
    server::{KeptServer, ServerAccess},
    server_config::{Cluster, MachineAccess, MayDecide},
    server_error::ServerError,
};

/// What a machine needs to keep one of the fleet's servers.
#[derive(Debug)]
pub struct ReplicaInvite {
    /// Its way to the servers, its own first.
    pub invitation: Invitation,
    /// Where its server listens, and whom it lets in.
    pub access: ServerAccess,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HandoutFile {
    invitation: String,
    access: ServerAccess,
}

/// Text that tells no server anything. It is not repeated, as a secret may be in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this is not what 'flagpost fleet up' wrote for another server: {reason}")]
pub struct InvalidReplicaInvite {
    reason: String,
}

impl ReplicaInvite {
    /// The whole text with its secret.
    pub fn reveal(&self) -> String {
        let file = HandoutFile {
            invitation: self.invitation.reveal(),
            access: self.access.clone(),
        };
        // Texts and lists of them are always JSON.
        serde_json::to_string(&file).unwrap_or_default()
    }
}

/// Lets in the machines of the other two servers, and writes down for each what it is told, once; where each
/// server listens, and the file for it, which nobody else can read.
pub fn hand_out(
    home: &Home,
    server: &KeptServer,
    member: &Membership,
) -> Result<Vec<(SocketAddr, PathBuf)>, ServerError> {
    let Some(cluster) = server.access()?.cluster else {
        return Ok(Vec::new());
    };
    let path = |it: &SocketAddr| {
        let name = format!("for-{it}.json").replace([':', '[', ']'], "-");
        server.dir().join(name)
    };
    let beside: Vec<(SocketAddr, Cluster)> = cluster.beside().collect();
    let mut new = Vec::new();
    for (listen, cluster) in &beside {
        if fsx::stat(home.fs(), &path(listen))?.is_none() {
            let seed = Seed::generate()?;
            server.let_in(MachineAccess::of(&seed, MayDecide::No)?, home.now())?;
            new.push((*listen, cluster.clone(), seed));
        }
    }
    // Each server lets in the machines of all.
    let access = server.access()?;
    for (listen, cluster, seed) in new {
        let handout = ReplicaInvite {
            invitation: member.invitation.nearest(listen.into()).with_seed(seed),
            access: access.seen_by(listen, cluster),
        };
        fsx::replace(home.fs(), &path(&listen), handout.reveal().as_bytes())?;
    }
    Ok(beside.iter().map(|it| (it.0, path(&it.0))).collect())
}

impl FromStr for ReplicaInvite {
    type Err = InvalidReplicaInvite;
    fn from_str(text: &str) -> Result<Self, InvalidReplicaInvite> {
        let invalid = |reason: String| InvalidReplicaInvite { reason };
        let file: HandoutFile = serde_json::from_str(text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            invalid(format!("it cannot be read at line {line}, column {column}"))
        })?;
        let invitation = file.invitation.parse::<Invitation>();
        Ok(Self {
            invitation: invitation.map_err(|error| invalid(error.to_string()))?,
            access: file.access,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn a_handout_is_read_as_it_is_written_and_never_shown_where_it_cannot_be() {
        let (seed, admin) = (Seed::generate().unwrap(), Seed::generate().unwrap());
        let listen = "10.0.0.6:4222".parse().unwrap();
        let handout = ReplicaInvite {
            invitation: format!("nats://10.0.0.6:4222#{}", seed.reveal())
                .parse()
                .unwrap(),
            access: ServerAccess::new(listen, admin.public_key().unwrap(), None),
        };
        let text = handout.reveal();
        let read: ReplicaInvite = text.parse().unwrap();
        assert_eq!(read.invitation, handout.invitation);
        assert_eq!(read.access, handout.access);
        for bad in [
            &text[1..],
            &text.replace("nats:", "http:"),
            &text.replace("version", "vers"),
        ] {
            let refused = bad.parse::<ReplicaInvite>().unwrap_err().to_string();
            assert!(!refused.contains(&seed.reveal()[2..10]), "{refused}");
        }
    }
}
