//! Telling the person at this terminal of what waits, where nobody else does.
//!
//! Owns when the cockpit is the sender: for its own terminal only, and not where a daemon with channels of
//! its own runs. What is told, and when, is `core`'s; it is recorded before it is told, so that nothing is
//! told twice. It is asked behind each look at the files, and looks itself when that cost little of the
//! time so far, or when a notice is due.

use std::time::{Duration, Instant};

use flagpost_core::{
    Result,
    notifications::{NoticeSettings, Notices},
};
use flagpost_model::notification::{Channel, Signal};

use crate::{event::Input, snapshot::Place};

/// After a look that took one unit of time, the next waits for so many.
const REST: u32 = 100;
/// Changes that come together are looked at together.
const TOGETHER: Duration = Duration::from_secs(1);
/// How often to look all the same.
const RECHECK: Duration = Duration::from_secs(60);

/// What this terminal is told, and when the next look is.
#[derive(Debug)]
pub struct TerminalNotices<'p> {
    place: &'p Place,
    notices: Notices,
    /// No look before.
    rested: Instant,
    /// A look then, at the latest.
    next: Instant,
}

impl<'p> TerminalNotices<'p> {
    /// Nothing looked at yet.
    pub fn new(place: &'p Place) -> Self {
        let now = Instant::now();
        Self {
            place,
            notices: Notices::begin(&place.home, place.lists.clone()),
            rested: now,
            next: now,
        }
    }

    /// How long nothing need be asked.
    pub fn pause(&self) -> Duration {
        let next = self.next.max(self.rested);
        next.saturating_duration_since(Instant::now())
    }

    /// What is to be told now. `changed` where something may wait that did not before.
    pub fn due(&mut self, changed: bool, has_daemon: bool) -> Option<Input> {
        let begun = Instant::now();
        if changed {
            self.next = self.next.min(begun + TOGETHER);
        }
        if begun < self.next.max(self.rested) {
            return None;
        }
        let (told, pause) = match self.look(has_daemon) {
            Ok(it) => it,
            // The screens say what cannot be read.
            Err(_) => (None, RECHECK),
        };
        self.next = begun + pause;
        self.rested = Instant::now() + begun.elapsed() * REST;
        told.map(|(signal, text)| Input::Notice(signal, text))
    }

    /// What is to be told now, and how long nothing will be, should nothing change.
    fn look(&mut self, has_daemon: bool) -> Result<(Option<(Signal, String)>, Duration)> {
        let home = &self.place.home;
        let settings = NoticeSettings::read(home)?;
        let is_mine = !has_daemon || settings.of_daemon().is_empty();
        if !is_mine || !settings.channels.contains(&Channel::Terminal) {
            return Ok((None, RECHECK));
        }
        let due = self.notices.due(&settings, None)?;
        let next = due.next.map(|next| next.duration_since(home.now()));
        let next = next.and_then(|next| Duration::try_from(next).ok());
        let next = next.unwrap_or(RECHECK).min(RECHECK);
        let Some(notice) = &due.notice else {
            return Ok((None, next));
        };
        self.notices.record(&due)?;
        Ok((Some((settings.signal, notice.text())), next))
    }
}
