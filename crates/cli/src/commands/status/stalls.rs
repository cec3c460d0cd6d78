//! What `status` tells of tasks whose workers show no sign of work.

use flagpost_core::sessions::{Session, SessionStatus};
use flagpost_model::task::Outline;

use crate::terminal::line;

/// A stalled task, and what there is to say of it.
pub struct Stalled<'t> {
    pub task: &'t Outline,
    pub said: String,
}

/// The stalled tasks of a session that lives.
pub fn open<'t>(session: Option<&Session>, held: &[&'t Outline]) -> Vec<Stalled<'t>> {
    let live = session.filter(|session| session.stage == SessionStatus::Live);
    let active = live.into_iter().flat_map(|it| &it.progress.active);
    let stalled = active.filter_map(|task| {
        let since = task.stalled_since()?;
        let task = *held.iter().find(|outline| outline.id == task.id)?;
        let said = format!("stalled: no message, no output and no changed file since {since}");
        Some(Stalled { task, said })
    });
    stalled.collect()
}

/// A stalled task in a line.
pub fn words(stalled: &Stalled<'_>) -> String {
    let Stalled { task, said } = stalled;
    format!("{} {}: {said}", task.id, line(&task.subject))
}
