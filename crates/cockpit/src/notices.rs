//! Telling the person at this terminal of what waits, where nobody else does.
//!
//! Owns when the cockpit is the sender: for its own terminal only, and not where a daemon with channels of
//! its own runs. What is told, and when, is `core`'s; it is recorded before it is told, so that nothing is
//! told twice. It looks whenever the screens' data was read, and when a notice is due.

use std::{
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use flagpost_core::{
    Result,
    notifications::{NoticeSettings, Notices},
};
use flagpost_model::notification::{Channel, Signal};

use crate::{snapshot::Place, update::Input};

/// After a look that took one unit of time, the next waits for so many.
const REST: u32 = 20;
/// How often to look all the same.
const RECHECK: Duration = Duration::from_secs(60);

/// Looks from a thread of its own whenever it is told whether a daemon runs.
pub fn start(place: Arc<Place>, send: Sender<Input>) -> Sender<bool> {
    let (look, looks) = mpsc::channel();
    thread::spawn(move || watch(&place, &looks, &send));
    look
}

fn watch(place: &Place, looks: &Receiver<bool>, send: &Sender<Input>) {
    let mut notices = Notices::begin(&place.home);
    let (mut has_daemon, mut pause) = (false, RECHECK);
    loop {
        match looks.recv_timeout(pause) {
            Ok(it) => has_daemon = looks.try_iter().last().unwrap_or(it),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let begun = Instant::now();
        let (told, next) = match look(&mut notices, place, has_daemon) {
            Ok(it) => it,
            // The screens say what cannot be read.
            Err(_) => (None, RECHECK),
        };
        if let Some((signal, text)) = told
            && send.send(Input::Notice(signal, text)).is_err()
        {
            return;
        }
        pause = next;
        thread::sleep(begun.elapsed() * REST);
    }
}

/// What is to be told now, and how long nothing will be, should nothing change.
fn look(
    notices: &mut Notices,
    place: &Place,
    has_daemon: bool,
) -> Result<(Option<(Signal, String)>, Duration)> {
    let settings = NoticeSettings::read(&place.home)?;
    let is_mine = !has_daemon || settings.of_daemon().is_empty();
    if !is_mine || !settings.channels.contains(&Channel::Terminal) {
        return Ok((None, RECHECK));
    }
    let due = notices.due(&settings, None)?;
    let next = due.next.map(|next| next.duration_since(place.home.now()));
    let next = next.and_then(|next| Duration::try_from(next).ok());
    let next = next.unwrap_or(RECHECK).min(RECHECK);
    let Some(notice) = &due.notice else {
        return Ok((None, next));
    };
    notices.record(&due)?;
    Ok((Some((settings.signal, notice.text())), next))
}
