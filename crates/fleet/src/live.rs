//! Signs of life: who is there now, and how far it has read.
//!
//! Owns the bucket `FP_live`. Each sign goes by itself half a minute after it was given, and nothing is
//! decided by one.

use std::collections::BTreeMap;

use flagpost_model::{MachineId, RepoId, WorkerId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    bucket::{Bucket, Keeping, Over},
    error::FleetError,
    hub::Hub,
    stream::Replicas,
};

const BUCKET: &str = "FP_live";

/// How long a sign lasts, in seconds.
const SECONDS: u32 = 30;

/// A machine that is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveMachine {
    /// The last history number that it has applied, of each repository.
    #[serde(default)]
    pub applied: BTreeMap<RepoId, u64>,
    /// When workers that are live there were seen last, of each repository.
    #[serde(default)]
    pub workers: BTreeMap<RepoId, BTreeMap<WorkerId, Timestamp>>,
    /// Since when it is there.
    pub since: Timestamp,
}

/// The machines that are there.
pub type LiveMachines = Vec<(MachineId, LiveMachine)>;

/// The signs.
#[derive(Debug, Clone)]
pub struct Live {
    bucket: Bucket,
}

impl Live {
    pub(crate) fn create(hub: &Hub, replicas: Replicas) -> Result<Self, FleetError> {
        let bucket = Bucket::create(hub, BUCKET, Keeping::ForAWhile, replicas)?;
        Ok(Self { bucket })
    }

    pub(crate) fn open(hub: &Hub) -> Result<Self, FleetError> {
        let bucket = Bucket::open(hub, BUCKET, Keeping::ForAWhile)?;
        Ok(Self { bucket })
    }

    /// A machine gives a sign of itself.
    pub fn put_machine(&self, machine: &MachineId, sign: &LiveMachine) -> Result<(), FleetError> {
        let key = machine.as_str();
        self.bucket.put(key, sign, Over::Anything, Some(SECONDS))
    }

    /// The machines that are there.
    pub fn machines(&self) -> Result<LiveMachines, FleetError> {
        let mut machines = LiveMachines::new();
        for key in self.bucket.keys("")? {
            let Ok(machine) = key.parse::<MachineId>() else {
                continue;
            };
            // It may have gone since it was named.
            if let Some(sign) = self.bucket.get(&key)? {
                machines.push((machine, sign));
            }
        }
        Ok(machines)
    }
}
