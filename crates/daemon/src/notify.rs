//! The daemon tells a person of the items that wait: it is the one sender where it runs.
//!
//! Owns when it looks, and the sending. The desktop and the user's program are its channels; a terminal
//! is told by the cockpit in it. What is told, and when, is `core`'s. It looks when the hub was woken
//! and when a notice is due; where the settings name no channel of its own, it only reads them.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use flagpost_core::{
    Home, ListReader, Result, describe,
    notifications::{self, ChannelFault, NoticeSettings, Notices},
};
use flagpost_model::notification::{Channel, Notice};
use tokio::{
    task::spawn_blocking,
    time::{sleep, timeout},
};
use tracing::{info, warn};

use crate::events::Hub;

/// Changes that come together are looked at together.
const BREATH: Duration = Duration::from_secs(1);
/// Looks take at most one part in so many of the time.
const SHARE: u32 = 10;
/// How often to look in any case.
const RECHECK: Duration = Duration::from_secs(60);

/// Sends the notices of one daemon.
pub(crate) struct Sender {
    home: Home,
    notices: Notices,
    /// The daemon's address.
    base: String,
    /// Ends what is being sent.
    stop: Arc<AtomicBool>,
    /// The last trouble that was logged; the same is not logged again and again.
    trouble: Option<String>,
}

/// Tells a person, again and again.
pub(crate) async fn notify(mut sender: Sender, hub: Arc<Hub>) {
    let mut looks = hub.looks();
    loop {
        let begun = Instant::now();
        let looked = spawn_blocking(move || {
            let pause = sender.look_and_tell();
            (sender, pause)
        });
        let Ok((back, pause)) = looked.await else {
            return;
        };
        sender = back;
        let breath = BREATH.max(begun.elapsed() * SHARE).min(RECHECK);
        sleep(breath).await;
        if let Ok(Err(_)) = timeout(pause.saturating_sub(breath), looks.changed()).await {
            return;
        }
    }
}

impl Sender {
    /// One for this home, whose sending ends when `stop` is set.
    pub(crate) fn new(
        home: &Home,
        lists: ListReader,
        base: String,
        stop: &Arc<AtomicBool>,
    ) -> Self {
        Self {
            home: home.clone(),
            notices: Notices::begin(home, lists),
            base,
            stop: Arc::clone(stop),
            trouble: None,
        }
    }

    /// Tells what is due; how long nothing will be, should nothing change.
    fn look_and_tell(&mut self) -> Duration {
        match self.tell() {
            Ok(pause) => pause,
            Err(error) => {
                self.log(&describe(&error));
                RECHECK
            }
        }
    }

    fn tell(&mut self) -> Result<Duration> {
        let settings = NoticeSettings::read(&self.home)?;
        let channels = settings.of_daemon();
        if channels.is_empty() {
            return Ok(RECHECK);
        }
        let due = self.notices.due(&settings, Some(&self.base))?;
        match due.faults.is_empty() {
            true => self.trouble = None,
            false => self.log(&due.faults.join("; ")),
        }
        if let Some(notice) = &due.notice {
            self.notices.record(&due)?;
            for channel in channels {
                self.send(channel, &settings, notice)?;
            }
        }
        let next = due.next.map(|next| next.duration_since(self.home.now()));
        let next = next.and_then(|next| Duration::try_from(next).ok());
        Ok(next.unwrap_or(RECHECK).min(RECHECK))
    }

    fn send(&self, channel: Channel, settings: &NoticeSettings, notice: &Notice) -> Result<()> {
        let failed = match notifications::tell(channel, settings, notice, &self.stop) {
            // The daemon ends.
            None | Some(Err(ChannelFault::Stopped)) => return Ok(()),
            Some(Ok(())) => {
                info!(%channel, count = notice.count, "told you what waits");
                None
            }
            Some(Err(fault)) => {
                let why = describe(&fault);
                warn!(%channel, "you were not told what waits: {why}");
                Some(why)
            }
        };
        notifications::note_outcome(&self.home, channel, failed)
    }

    fn log(&mut self, trouble: &str) {
        if self.trouble.as_deref() != Some(trouble) {
            warn!("not everything that waits for you is known: {trouble}");
            self.trouble = Some(trouble.to_owned());
        }
    }
}
