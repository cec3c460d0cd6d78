//! What `status` tells of tasks whose workers show no sign of work.

use flagpost_core::sessions::Session;
use flagpost_model::task::Outline;
use jiff::Timestamp;

use crate::{screen::Screen, terminal::line};

/// A stalled task, and what there is to say of it.
pub struct Stalled<'t> {
    pub task: &'t Outline,
    since: Timestamp,
}

impl Stalled<'_> {
    /// The same for a program.
    pub fn said(&self) -> String {
        let since = self.since;
        format!("stalled: no message, no output and no changed file since {since}")
    }
}

/// The stalled tasks of a session that lives.
pub fn open<'t>(session: Option<&Session>, held: &[&'t Outline]) -> Vec<Stalled<'t>> {
    let stalled = session.into_iter().flat_map(Session::stalled);
    let stalled = stalled.filter_map(|(task, since)| {
        let task = *held.iter().find(|outline| outline.id == task.id)?;
        Some(Stalled { task, since })
    });
    stalled.collect()
}

/// A stalled task in a line.
pub fn words(screen: Screen, stalled: &Stalled<'_>) -> String {
    let Stalled { task, since } = stalled;
    format!(
        "{} {}: stalled, the last sign of work {}",
        task.id,
        line(&task.subject),
        screen.time(*since)
    )
}
