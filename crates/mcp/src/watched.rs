//! Changes in a home, as whoever watches it tells them.
//!
//! Owns waiting for the next one. What has changed is for others to look at.

use std::time::Duration;

use tokio::{select, sync::watch, time::timeout};

/// How often to look all the same: a brief that expires does so without a notice.
const RECHECK: Duration = Duration::from_secs(1);

/// Tells of changes in the whole home, and that whoever tells of them ends.
#[derive(Debug, Clone)]
pub struct Watched {
    looks: watch::Receiver<u64>,
    ended: watch::Receiver<bool>,
}

impl Watched {
    /// By these.
    pub fn new(looks: watch::Receiver<u64>, ended: watch::Receiver<bool>) -> Self {
        Self { looks, ended }
    }

    /// From here on changes are news.
    pub(crate) fn begin(&mut self) {
        self.looks.mark_unchanged();
    }

    /// Is over with the next change, after a moment, or when nothing more is told.
    pub(crate) async fn change(&mut self, left: Duration) {
        select! {
            _ = timeout(left.min(RECHECK), self.looks.changed()) => {}
            _ = self.ended.wait_for(|it| *it) => {}
        }
    }

    /// Whether nothing more is told.
    pub(crate) fn is_over(&self) -> bool {
        *self.ended.borrow()
    }
}
