//! What a machine knows of the fleet that it belongs to.
//!
//! Owns `fleet/machine.json` of a home, 0600 since a key is in it: the server, the key that opens it, and on
//! the machine that founded the fleet the administrator's key. A machine is called after its key, so that an
//! invitation is one line. A file that cannot be read is an error, and never written over.

use std::path::PathBuf;

use flagpost_core::{
    Home,
    order::{fleet_dir, membership_file},
};
use flagpost_disk::fsx::{self, Batch};
use flagpost_model::{MachineId, envelope::Hash};
use serde::{Deserialize, Serialize};

use crate::address::{Invitation, PublicKey, Seed};

const VERSION: u32 = 1;

/// A machine of a fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// Where the server is, and the key of this machine.
    pub invitation: Invitation,
    /// What the machine is called.
    pub machine: MachineId,
    /// The administrator's key, on the machine that founded the fleet.
    pub admin: Option<Seed>,
}

#[derive(Debug, Serialize, Deserialize)]
struct MembershipFile {
    version: u32,
    invitation: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    admin: Option<String>,
}

/// A file that says of no fleet, or cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum MembershipError {
    /// It cannot be understood.
    #[error("{} does not say which fleet this machine belongs to: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The disk.
    #[error(transparent)]
    Disk(#[from] flagpost_disk::Error),
    /// Its key is damaged.
    #[error(transparent)]
    Key(#[from] crate::address::InvalidInvitation),
}

/// What a machine with this key is called.
pub fn machine_of(key: &PublicKey) -> MachineId {
    let hash = Hash::of(key.as_str().as_bytes());
    let mut bits = [0; 5];
    for (bit, pair) in bits.iter_mut().zip(hash.as_str().as_bytes().chunks(2)) {
        let digits = std::str::from_utf8(pair).unwrap_or_default();
        *bit = u8::from_str_radix(digits, 16).unwrap_or_default();
    }
    MachineId::of_bits(bits)
}

impl Membership {
    /// Of the machine that has this invitation.
    pub fn of(invitation: Invitation, admin: Option<Seed>) -> Result<Self, MembershipError> {
        let machine = machine_of(&invitation.seed().public_key()?);
        Ok(Self {
            invitation,
            machine,
            admin,
        })
    }

    /// That of this home; `None` where it belongs to no fleet.
    pub fn read(home: &Home) -> Result<Option<Self>, MembershipError> {
        let path = membership_file(home);
        let Some(bytes) = fsx::read(home.fs(), &path)? else {
            return Ok(None);
        };
        let malformed = |reason: String| MembershipError::Malformed {
            path: path.clone(),
            reason,
        };
        let file: MembershipFile =
            serde_json::from_slice(&bytes).map_err(|error| malformed(error.to_string()))?;
        if file.version != VERSION {
            let version = file.version;
            return Err(malformed(format!(
                "its version {version} is a newer Flagpost's"
            )));
        }
        let invitation = file.invitation.parse();
        let invitation = invitation.map_err(|error| malformed(format!("{error}")))?;
        let admin = file.admin.as_deref().map(str::parse).transpose();
        let admin = admin.map_err(|error| malformed(format!("{error}")))?;
        Ok(Some(Self::of(invitation, admin)?))
    }

    /// Writes it down, durable on return.
    pub fn write(&self, home: &Home) -> Result<(), MembershipError> {
        let dir = fleet_dir(home);
        fsx::must_not_be_linked(home.fs(), home.root(), &dir)?;
        fsx::make_dirs(home.fs(), &dir)?;
        fsx::close_to_others(home.fs(), &dir)?;
        let file = MembershipFile {
            version: VERSION,
            invitation: self.invitation.reveal(),
            admin: self.admin.as_ref().map(|seed| seed.reveal().to_owned()),
        };
        // Texts and numbers are always JSON.
        let text = serde_json::to_vec_pretty(&file).unwrap_or_default();
        let mut batch = Batch::new();
        batch.put(membership_file(home), text);
        Ok(batch.stage(home.fs())?.publish()?)
    }

    /// Forgets it, durable on return.
    pub fn forget(home: &Home) -> Result<(), MembershipError> {
        Ok(fsx::remove(home.fs(), &membership_file(home))?)
    }
}
