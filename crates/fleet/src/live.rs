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
    /// Since when it is there.
    pub since: Timestamp,
    /// How many agents work on it.
    #[serde(default)]
    pub load: u32,
}

/// A worker that is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveWorker {
    /// Since when it is there.
    pub since: Timestamp,
}

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
        self.put(machine.as_str(), sign)
    }

    /// A machine gives a sign of one of its workers.
    pub fn put_worker(
        &self,
        machine: &MachineId,
        worker: &WorkerId,
        sign: &LiveWorker,
    ) -> Result<(), FleetError> {
        self.put(&format!("{machine}.{worker}"), sign)
    }

    /// The machines that are there.
    pub fn machines(&self) -> Result<Vec<(MachineId, LiveMachine)>, FleetError> {
        let mut machines = Vec::new();
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

    /// The workers of a machine that are there.
    pub fn workers(&self, machine: &MachineId) -> Result<Vec<(WorkerId, LiveWorker)>, FleetError> {
        let mut workers = Vec::new();
        for worker in self.bucket.keys(&format!("{machine}."))? {
            let Ok(id) = worker.parse::<WorkerId>() else {
                continue;
            };
            if let Some(sign) = self.bucket.get(&format!("{machine}.{worker}"))? {
                workers.push((id, sign));
            }
        }
        Ok(workers)
    }

    fn put<T: Serialize>(&self, key: &str, sign: &T) -> Result<(), FleetError> {
        self.bucket.put(key, sign, Over::Anything, Some(SECONDS))
    }
}
