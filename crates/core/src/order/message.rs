//! A message of a repository's order: a change, or a part of what it began with.
//!
//! Owns what tells one from the other, and that what a newer version wrote is refused before it is read
//! further. Each message is read once.

use flagpost_model::RepoId;
use serde::{Deserialize, de::DeserializeOwned};

use super::{
    BasePart, OrderRefusal, SharedChange,
    shared_change::{WIRE, WireChange},
};
use crate::error::Result;

/// What a message says.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// A part of what the order began with.
    Base(BasePart),
    /// A change.
    Change(SharedChange),
}

/// What each version's messages have.
#[derive(Debug, Deserialize)]
struct MessageSort {
    wire: u32,
    #[serde(default)]
    part: Option<usize>,
}

impl Message {
    /// Reads what another machine published in this repository.
    pub fn parse(repo: &RepoId, bytes: &[u8]) -> Result<Self> {
        let sort: MessageSort = json(repo, bytes)?;
        match sort {
            MessageSort { wire, .. } if wire > WIRE => Err(OrderRefusal::Frozen {
                repo: repo.clone(),
                reason: "a newer Flagpost changes it; update this machine's".to_owned(),
            }
            .into()),
            MessageSort { part: Some(_), .. } => Ok(Self::Base(json(repo, bytes)?)),
            MessageSort { part: None, .. } => {
                let change: WireChange = json(repo, bytes)?;
                Ok(Self::Change(SharedChange::read(repo, change)?))
            }
        }
    }
}

fn json<T: DeserializeOwned>(repo: &RepoId, bytes: &[u8]) -> Result<T> {
    let read = serde_json::from_slice(bytes).map_err(|error| OrderRefusal::Frozen {
        repo: repo.clone(),
        reason: format!("a message cannot be read: {error}"),
    });
    Ok(read?)
}
