//! What `.cache` looks like.
//!
//! Owns its form: what each task was made of is found by its file's name, beside the stamp that the
//! file had; standings and outlines are read only by who needs them. Another version is no cache.

use std::borrow::Borrow;

use flagpost_disk::fsx::Stat;
use flagpost_model::task::{Outline, TaskSummary};
use serde::{Deserialize, Serialize, Serializer};

/// Grows with every change of the cached form.
const VERSION: u32 = 8;

/// What changes whenever a file's content does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    len: u64,
    inode: u64,
    modified: i64,
    changed: i64,
}

impl From<Stat> for Stamp {
    fn from(stat: Stat) -> Self {
        Self {
            len: stat.len,
            inode: stat.inode,
            modified: stat.modified,
            changed: stat.changed,
        }
    }
}

impl Stamp {
    /// No file has it: what it stands for is read again.
    pub(super) const NONE: Self = Self {
        len: 0,
        inode: 0,
        modified: 0,
        changed: 0,
    };
    const BYTES: usize = 32;

    fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.len.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.inode.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.modified.to_le_bytes());
        bytes[24..].copy_from_slice(&self.changed.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let word = |n: usize| std::array::from_fn(|at| bytes[8 * n + at]);
        Self {
            len: u64::from_le_bytes(word(0)),
            inode: u64::from_le_bytes(word(1)),
            modified: i64::from_le_bytes(word(2)),
            changed: i64::from_le_bytes(word(3)),
        }
    }
}

/// A cache as it was read: of each task, at the same place, the id, the file's stamp, the standing
/// and the outline.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Form<'b> {
    version: u32,
    #[serde(borrow)]
    pub(super) names: Vec<&'b str>,
    #[serde(serialize_with = "whole")]
    stamps: &'b [u8],
    #[serde(serialize_with = "whole")]
    standings: &'b [u8],
    #[serde(serialize_with = "whole")]
    outlines: &'b [u8],
}

/// Not byte by byte, as serde would.
fn whole<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_bytes(bytes)
}

impl<'b> Form<'b> {
    /// Of a list of which nothing is known.
    pub(super) const EMPTY: Self = Self {
        version: VERSION,
        names: Vec::new(),
        stamps: &[],
        standings: &[],
        // How many there are.
        outlines: &[0],
    };

    pub(super) fn decode(bytes: &'b [u8]) -> Option<Self> {
        let (version, _) = postcard::take_from_bytes::<u32>(bytes).ok()?;
        let form: Self = (version == VERSION)
            .then(|| postcard::from_bytes(bytes).ok())
            .flatten()?;
        (form.stamps.len() == form.len() * Stamp::BYTES).then_some(form)
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn stamps(&self) -> Vec<Stamp> {
        let (stamps, _) = self.stamps.as_chunks();
        stamps.iter().map(Stamp::from_bytes).collect()
    }

    pub(super) fn summaries(&self) -> Option<Vec<TaskSummary>> {
        self.each::<TaskSummary, _>(self.standings)
    }

    pub(super) fn outlines<O: From<Outline>>(&self) -> Option<Vec<O>> {
        let (number, outlines) = postcard::take_from_bytes::<usize>(self.outlines).ok()?;
        (number == self.len())
            .then(|| self.each::<Outline, _>(outlines))
            .flatten()
    }

    /// One of each task.
    fn each<R: Deserialize<'b>, T: From<R>>(&self, mut rest: &'b [u8]) -> Option<Vec<T>> {
        // Memory that grows step by step is moved each time, while others look.
        let mut all = Vec::with_capacity(self.len());
        for _ in 0..self.len() {
            let (one, after) = postcard::take_from_bytes::<R>(rest).ok()?;
            all.push(one.into());
            rest = after;
        }
        rest.is_empty().then_some(all)
    }
}

pub(super) fn encode<O: Borrow<Outline>>(
    stamps: &[Stamp],
    outlines: &[O],
) -> postcard::Result<Vec<u8>> {
    let outlines: Vec<&Outline> = outlines.iter().map(Borrow::borrow).collect();
    let stamps: Vec<u8> = stamps.iter().flat_map(|stamp| stamp.to_bytes()).collect();
    let mut standings = Vec::new();
    for outline in &outlines {
        standings = postcard::to_extend(&TaskSummary::from(*outline), standings)?;
    }
    postcard::to_stdvec(&Form {
        version: VERSION,
        names: outlines.iter().map(|it| it.id.as_str()).collect(),
        stamps: &stamps,
        standings: &standings,
        outlines: &postcard::to_stdvec(&outlines)?,
    })
}
