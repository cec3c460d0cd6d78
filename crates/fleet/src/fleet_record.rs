//! What a fleet is: its name, its repositories and lists, its machines.
//!
//! Owns the keys of the bucket `FP_fleet` and what is under them. Readers leave keys of a record that
//! they do not know; a record is replaced only by who made it.

use std::{fmt::Display, str::FromStr};

use flagpost_model::{ListId, MachineId, RepoId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    bucket::{Bucket, Keeping, Over},
    error::FleetError,
    hub::Hub,
    live::Live,
    server_config::MachineAccess,
    stream::Replicas,
};

const BUCKET: &str = "FP_fleet";

/// The streams in which a fleet's records and signs of life lie.
pub(crate) const RECORDS: [&str; 2] = ["KV_FP_fleet", "KV_FP_live"];

/// The key of the fleet's own record.
const FLEET: &str = "fleet";

/// The key of whom its servers let in.
const ACCESS: &str = "access";

/// The fleet itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetRecord {
    /// What people call it.
    pub name: String,
    /// Always 1: each repository counts its own.
    pub epoch: u64,
    /// The oldest wire that its machines may speak.
    pub wire_min: u32,
    /// On how many servers its orders and records lie.
    #[serde(default)]
    pub replicas: Replicas,
}

/// A repository that is shared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepoRecord {
    /// What people call it.
    pub name: String,
    /// Its first commit, by which a clone is known.
    pub root_commit: Option<String>,
    /// Who shared it.
    pub created_by: MachineId,
    /// Which order it goes by, or is to go by as soon as that has begun.
    #[serde(default = "first")]
    pub epoch: u64,
}

fn first() -> u64 {
    1
}

/// A list of tasks, whose name is the fleet's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListRecord {
    /// Its repository.
    pub repo: RepoId,
}

/// A machine that joined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineRecord {
    /// What it is called.
    pub host: String,
    /// The version of its Flagpost.
    pub flagpost: String,
    /// The wire that it speaks.
    pub wire: u32,
    /// When it joined.
    pub joined: Timestamp,
    /// It left, or was shut out.
    #[serde(default)]
    pub left: Option<Timestamp>,
}

/// A record that a fleet has many of.
pub trait Keyed: Serialize + DeserializeOwned {
    /// The first part of its keys.
    const FAMILY: &'static str;
    /// What tells one from the other.
    type Id: Display + FromStr<Err: Display>;
}

impl Keyed for RepoRecord {
    const FAMILY: &'static str = "repo";
    type Id = RepoId;
}

impl Keyed for ListRecord {
    const FAMILY: &'static str = "list";
    type Id = ListId;
}

impl Keyed for MachineRecord {
    const FAMILY: &'static str = "m";
    type Id = MachineId;
}

/// A fleet's records.
#[derive(Debug, Clone)]
pub struct Fleet {
    bucket: Bucket,
    live: Live,
}

impl Hub {
    /// Founds a fleet, which only the administrator may, and only once.
    pub fn found(&self, fleet: &FleetRecord) -> Result<Fleet, FleetError> {
        let bucket = Bucket::create(self, BUCKET, Keeping::Ever, fleet.replicas)?;
        let live = Live::create(self, fleet.replicas)?;
        // Of several who found at once, one writes this.
        match bucket.put(FLEET, fleet, Over::Nothing, None) {
            Err(FleetError::Exists { .. }) => Err(FleetError::Exists {
                what: "a fleet".to_owned(),
            }),
            founded => founded.map(|()| Fleet { bucket, live }),
        }
    }

    /// The fleet that was founded here.
    pub fn fleet(&self) -> Result<Fleet, FleetError> {
        Ok(Fleet {
            bucket: Bucket::open(self, BUCKET, Keeping::Ever)?,
            live: Live::open(self)?,
        })
    }
}

impl Fleet {
    /// The fleet's own record.
    pub fn record(&self) -> Result<FleetRecord, FleetError> {
        self.bucket.get(FLEET)?.ok_or_else(|| FleetError::Gone {
            name: format!("{FLEET} of {BUCKET}"),
        })
    }

    /// Whom its servers let in; none where nobody has said.
    pub(crate) fn access(&self) -> Result<Option<Vec<MachineAccess>>, FleetError> {
        self.bucket.get(ACCESS)
    }

    /// Says whom its servers let in, which only the administrator may.
    pub(crate) fn put_access(&self, machines: &[MachineAccess]) -> Result<(), FleetError> {
        self.bucket.put(ACCESS, &machines, Over::Anything, None)
    }

    /// Signs of life.
    pub fn live(&self) -> &Live {
        &self.live
    }

    /// Writes a record that is not there yet.
    pub fn create<T: Keyed>(&self, id: &T::Id, record: &T) -> Result<(), FleetError> {
        self.bucket.put(&key::<T>(id), record, Over::Nothing, None)
    }

    /// Makes a list's name a repository's, unless another one has it; whose it is.
    pub fn name_list(&self, list: &ListId, repo: &RepoId) -> Result<RepoId, FleetError> {
        let record = ListRecord { repo: repo.clone() };
        let by = match self.create(list, &record) {
            Err(FleetError::Exists { .. }) => self.get::<ListRecord>(list)?,
            made => made.map(|()| None)?,
        };
        Ok(by.unwrap_or(record).repo)
    }

    /// Writes a machine's own record, in place of an older one.
    pub fn put_machine(&self, id: &MachineId, record: &MachineRecord) -> Result<(), FleetError> {
        let key = key::<MachineRecord>(id);
        self.bucket.put(&key, record, Over::Anything, None)
    }

    /// Gives a repository's next order its number, which is above `above`. Where there is no record of it,
    /// that is made as `record` says.
    pub(crate) fn next_epoch(
        &self,
        repo: &RepoId,
        above: u64,
        record: RepoRecord,
    ) -> Result<u64, FleetError> {
        let key = key::<RepoRecord>(repo);
        let (over, mut record) = match self.bucket.get_with_place(&key)? {
            Some((place, record)) => (Over::That(place), record),
            None => (Over::Nothing, record),
        };
        record.epoch = record.epoch.max(above) + 1;
        self.bucket.put(&key, &record, over, None)?;
        Ok(record.epoch)
    }

    /// A record.
    pub fn get<T: Keyed>(&self, id: &T::Id) -> Result<Option<T>, FleetError> {
        self.bucket.get(&key::<T>(id))
    }

    /// All records of a kind.
    pub fn all<T: Keyed>(&self) -> Result<Vec<(T::Id, T)>, FleetError> {
        let mut all = Vec::new();
        for key in self.bucket.keys(&format!("{}.", T::FAMILY))? {
            let id: T::Id = key.replace('=', ".").parse().map_err(|error| {
                FleetError::malformed(format!("the key {key:?} of {BUCKET}"), error)
            })?;
            if let Some(record) = self.get(&id)? {
                all.push((id, record));
            }
        }
        Ok(all)
    }
}

fn key<T: Keyed>(id: &T::Id) -> String {
    // A name may begin, end and go on with dots, and a key may not.
    format!("{}.{}", T::FAMILY, id.to_string().replace('.', "="))
}
