//! Waiting for a change of the files.
//!
//! Owns waiting where the system tells of a change, else a look twice a second. A look now and then in
//! any case, since no event is the only copy of anything, and a lease ends without one.

use std::{
    path::PathBuf,
    sync::mpsc,
    time::{Duration, Instant},
};

use flagpost_disk::notices::Watcher;
use jiff::SignedDuration;

use crate::error::Result;

/// How often to look where nothing tells of changes.
const POLL: Duration = Duration::from_millis(500);

/// How often to look all the same.
const RECHECK: Duration = Duration::from_secs(10);

/// Looks until there is something, or the time is over; at once when one of the directories changes.
pub fn until<T>(
    dirs: &[PathBuf],
    timeout: Option<SignedDuration>,
    mut look: impl FnMut() -> Result<Option<T>>,
) -> Result<Option<T>> {
    let begun = Instant::now();
    let limit = timeout.map(|it| it.unsigned_abs());
    let (send, events) = mpsc::channel();
    // Kept here as well, so that the channel stays open where nothing can be watched.
    let told = send.clone();
    let mut watcher = Watcher::new(move |_| {
        // Nobody listens any more once there is something.
        told.send(()).ok();
    });
    let watched = watcher
        .as_mut()
        .is_ok_and(|it| dirs.iter().all(|dir| it.add(dir).is_ok()));
    let pause = if watched { RECHECK } else { POLL };
    loop {
        if let Some(found) = look()? {
            return Ok(Some(found));
        }
        let left = limit.map(|limit| limit.saturating_sub(begun.elapsed()));
        if left.is_some_and(|left| left.is_zero()) {
            return Ok(None);
        }
        let pause = left.map_or(pause, |left| left.min(pause));
        // An event, or time to look all the same. Those that came together are one.
        if events.recv_timeout(pause).is_ok() {
            while events.try_recv().is_ok() {}
        }
    }
}
