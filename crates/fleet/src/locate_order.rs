//! Where a repository's order is, as a machine finds it.
//!
//! Owns the look at a stream before it is read or believed. It is the order by which this machine goes; or a
//! later one, which this machine takes over from its base; or one that is being begun; or what is there is
//! less than what this machine knows, and nothing is changed any more.

use std::{cmp::Ordering, path::PathBuf, time::Duration};

use flagpost_core::{
    Home, Result,
    order::{self, BasePart, Message},
};
use flagpost_model::RepoId;

use crate::{
    error::FleetError,
    fleet_record::RepoRecord,
    link::Link,
    refusals::refusal,
    stored::{Stored, before_first},
    stream::{RepoStream, StreamEnd},
};

/// How long a reader waits for a message that is there.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// What was found.
#[derive(Debug)]
pub(crate) enum OrderLocation {
    /// The order by which this machine goes.
    Here(Box<OrderEnd>),
    /// One that is not whole yet, or not there yet.
    Begins,
    /// Less than this machine knows, for this reason.
    Lost(String),
}

/// An order, and where it ends.
#[derive(Debug)]
pub(crate) struct OrderEnd {
    pub(crate) stream: RepoStream,
    pub(crate) last: Stored,
    /// Nothing is appended to it any more: it is to begin anew.
    pub(crate) is_sealed: bool,
    /// What was kept in quarantine as this machine came to it.
    pub(crate) aside: Vec<PathBuf>,
}

impl Link {
    /// Looks, and takes over an order that began since.
    pub(crate) fn stand(&self, home: &Home, repo: &RepoId) -> Result<OrderLocation> {
        let said = |error: FleetError| flagpost_core::Error::from(refusal(repo, &error));
        // First: the order may be ahead of what is known here, and never behind it.
        let (known, applied) = (order::epoch(home, repo)?, order::last(home, repo)?);
        let found = self.stream(repo);
        let found = found.and_then(|it| Ok((it.end_with((known, applied))?, it)));
        let (StreamEnd { last, is_sealed }, stream) = match found {
            Err(FleetError::Gone { .. }) => return self.absent(repo, known).map_err(said),
            found => found.map_err(said)?,
        };
        let Some(last) = last else {
            return self.absent(repo, known).map_err(said);
        };
        let epoch = last.headers.epoch;
        let n = last.headers.numbers.last();
        let aside = match epoch.cmp(&known) {
            Ordering::Less => {
                return Ok(OrderLocation::Lost(format!(
                    "its server has an older order of it, number {epoch}, and this machine goes by number {known}"
                )));
            }
            Ordering::Equal if n < applied => {
                return Ok(OrderLocation::Lost(format!(
                    "its server has it up to line {n}, and this machine up to line {applied}"
                )));
            }
            Ordering::Equal => Vec::new(),
            Ordering::Greater => match base(&stream, &last)? {
                None => return Ok(OrderLocation::Begins),
                Some(parts) => order::take_over(home, (repo, epoch), parts)?.aside,
            },
        };
        Ok(OrderLocation::Here(Box::new(OrderEnd {
            stream,
            last,
            is_sealed,
            aside,
        })))
    }

    /// Whether an order that is not there is to be.
    fn absent(&self, repo: &RepoId, known: u64) -> Result<OrderLocation, FleetError> {
        let lost = OrderLocation::Lost("its server has nothing of it".to_owned());
        let record = match self.hub.fleet() {
            Ok(fleet) => fleet.get::<RepoRecord>(repo)?,
            Err(FleetError::Gone { .. }) => return Ok(lost),
            Err(error) => return Err(error),
        };
        match record.is_some_and(|it| it.epoch > known) {
            true => Ok(OrderLocation::Begins),
            false => Ok(lost),
        }
    }
}

/// The last whole base of an order; none where it has none yet.
pub(crate) fn base(stream: &RepoStream, last: &Stored) -> Result<Option<Vec<BasePart>>> {
    let repo = stream.repo();
    let said = |error: FleetError| flagpost_core::Error::from(refusal(repo, &error));
    let first = before_first(last.headers.epoch) + 1;
    let mut reader = stream.read_from(first).map_err(said)?;
    let (mut whole, mut begun) = (None, Vec::new());
    while reader.next_seq() <= last.seq {
        let Some(stored) = reader.next(PATIENCE).map_err(said)? else {
            break;
        };
        // What follows the beginning is no part of it.
        let Message::Base(part) = Message::parse(repo, &stored.body)? else {
            break;
        };
        if part.is_first() {
            begun.clear();
        }
        let is_last = part.is_last();
        begun.push(part);
        if is_last {
            whole = Some(std::mem::take(&mut begun));
        }
    }
    Ok(whole)
}
