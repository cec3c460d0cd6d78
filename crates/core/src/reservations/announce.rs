//! What a worker's PROGRESS and DONE say about the files it works on.
//!
//! Owns that such a word reserves what is free and never fails by it: what is somebody else's stays
//! his, and the answer says so.

use std::path::{Path, PathBuf};

use flagpost_model::{
    WorkerId,
    reservation::{
        LEASE, Pattern, Reservation, ReservationConflict, ReservationMode, ReservationRequest,
    },
};

use super::{Renew, ReservationSelector, Reservations};
use crate::error::Result;

/// The outcome of naming files.
#[derive(Debug, Clone, Default, serde::Serialize, schemars::JsonSchema)]
pub struct Announced {
    /// The worker's reservations of them.
    pub held: Vec<Reservation>,
    /// Those that somebody else holds.
    pub refused: Vec<ReservationConflict>,
    /// Why others were not reserved or given back.
    pub faults: Vec<String>,
}

impl Reservations<'_> {
    /// Reserves the files that a worker names, as far as they are free. A name below one of `roots`
    /// may be absolute.
    pub(crate) fn announce(
        &self,
        holder: &WorkerId,
        files: &[String],
        task: Option<&str>,
        roots: &[PathBuf],
    ) -> Announced {
        let mut announced = Announced::default();
        if files.is_empty() {
            return announced;
        }
        let mut wanted = Vec::new();
        for file in files {
            match below(file, roots).parse::<Pattern>() {
                Ok(path) => wanted.push(ReservationRequest {
                    path,
                    holder: holder.clone(),
                    mode: ReservationMode::Exclusive,
                    task: task.map(str::to_owned),
                    reason: None,
                }),
                Err(error) => announced.faults.push(error.to_string()),
            }
        }
        match self.take_free(holder, wanted) {
            Ok((held, refused)) => (announced.held, announced.refused) = (held, refused),
            Err(error) => announced.faults.push(error.to_string()),
        }
        announced
    }

    fn take_free(
        &self,
        holder: &WorkerId,
        wanted: Vec<ReservationRequest>,
    ) -> Result<(Vec<Reservation>, Vec<ReservationConflict>)> {
        let mut change = self.change()?;
        let take = |wanted| change.take(wanted, LEASE, Renew::WhenDue).err();
        let refused = wanted.into_iter().filter_map(take).collect();
        Ok((change.commit(holder)?, refused))
    }

    /// The worker has ended a task: what it reserved for it is free. Why it is not, where that fails.
    pub(crate) fn end_task(&self, holder: &WorkerId, task: &str) -> Announced {
        let released = self.release(holder, &ReservationSelector::Task(task.to_owned()));
        let faults = released.err().map(|error| error.to_string());
        Announced {
            faults: faults.into_iter().collect(),
            ..Announced::default()
        }
    }
}

/// The path from the top of its working tree, where it lies in one of them.
fn below<'f>(file: &'f str, roots: &[PathBuf]) -> &'f str {
    let mut inner = roots
        .iter()
        .filter_map(|root| Path::new(file).strip_prefix(root).ok());
    inner
        .find_map(|it| it.to_str())
        .map_or(file, |it| match it {
            "" => ".",
            it => it,
        })
}
