//! The bridge inside a process that stays, where the configuration wants it.
//!
//! Owns a thread and when it processes: never beside a live processor, never after somebody asked for
//! a stop, and always as the configuration is at this moment. A notice of the system wakes the poll
//! early; the poll alone suffices. What is done is the loop that `flagpost agent start` runs too.

use std::{
    cell::Cell,
    path::PathBuf,
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use flagpost_disk::notices::{WatchLost, Watcher};

use super::{
    Background, Bridge,
    processor::{Processed, Processor},
    serving::{Host, Rest, Service, ServiceEvent, serve},
};
use crate::{
    error::{Error, Result},
    home::Home,
};

/// How often to ask what the configuration wants, and whether somebody else processes.
const LOOK: Duration = Duration::from_secs(1);
/// How often to ask whether the thread has ended.
const PAUSE: Duration = Duration::from_millis(2);

/// The thread that looks after the bridge.
#[derive(Debug)]
pub struct Tended {
    notices: Sender<Notice>,
    thread: JoinHandle<()>,
}

/// What the thread is told.
#[derive(Debug)]
enum Notice {
    /// Something happened to the inbox.
    Inbox,
    /// Its process ends.
    End,
}

/// What happens to a bridge that is looked after.
#[derive(Debug)]
pub enum TendedEvent<'e> {
    /// It runs, on the files of this directory.
    Runs(PathBuf),
    /// An item was dealt with.
    Processed(&'e Processed),
    /// It has stopped after so many items.
    Stopped(u64),
    /// The system does not tell of the inbox: the poll alone has to do.
    Unwatched(WatchLost),
    /// It cannot go on for now.
    Trouble(&'e Error),
}

/// Looks after the bridge of a home from now on. Whoever starts such a process takes back an earlier stop.
pub fn tend(home: Home, host: Host, tell: impl Fn(TendedEvent<'_>) + Send + 'static) -> Tended {
    let (notices, told) = channel();
    let own = notices.clone();
    let thread = thread::spawn(move || {
        let tending = Tending {
            home,
            host,
            tell: Box::new(tell),
            notices: own,
            told,
            last: Cell::new(None),
            is_over: Cell::new(false),
        };
        tending.run();
    });
    Tended { notices, thread }
}

impl Tended {
    /// Ends it, after the command that is being carried out; whether it has ended by then.
    pub fn end(self, moment: Duration) -> bool {
        // It may have ended by itself.
        let _: Result<(), _> = self.notices.send(Notice::End);
        let begun = Instant::now();
        while !self.thread.is_finished() && begun.elapsed() < moment {
            thread::sleep(PAUSE);
        }
        self.thread.is_finished()
    }
}

struct Tending {
    home: Home,
    host: Host,
    tell: Box<dyn Fn(TendedEvent<'_>)>,
    notices: Sender<Notice>,
    told: Receiver<Notice>,
    /// The last trouble that was told of; the same is not told again and again.
    last: Cell<Option<String>>,
    is_over: Cell<bool>,
}

impl Tending {
    fn run(&self) {
        if let Ok(Some(wanted)) = Background::configured(&self.home)
            && let Err(error) = wanted.bridge(&self.home).and_then(|it| it.resume())
        {
            self.trouble(&error);
        }
        while !self.is_over.get() {
            match self.round() {
                Ok(()) => {}
                Err(error) => self.trouble(&error),
            }
            self.rest(LOOK);
        }
    }

    /// Processes, where that is wanted and nobody else does, until something else is wanted.
    fn round(&self) -> Result<()> {
        let Some(wanted) = Background::configured(&self.home)? else {
            return Ok(());
        };
        let bridge = wanted.bridge(&self.home)?;
        if bridge.is_stopped()? {
            return Ok(());
        }
        let Some(mut processor) = Processor::start(&bridge)? else {
            return Ok(());
        };
        let _watcher = self.watch(&bridge);
        let looked = Cell::new(Instant::now());
        let rest = |time| {
            if looked.get().elapsed() >= LOOK {
                looked.set(Instant::now());
                // One that cannot be read in between says nothing new.
                let now = Background::configured(&self.home);
                if now.is_ok_and(|now| now.as_ref() != Some(&wanted)) {
                    return Rest::Stop;
                }
            }
            self.rest(time)
        };
        let service = Service {
            host: self.host,
            poll: wanted.poll,
            rest: &rest,
        };
        (self.tell)(TendedEvent::Runs(bridge.dir().clone()));
        let served = serve(
            &mut processor,
            &bridge,
            &service,
            &mut |event| match event {
                ServiceEvent::Processed(item) => (self.tell)(TendedEvent::Processed(item)),
                ServiceEvent::Trouble(error) => self.trouble(error),
            },
        );
        (self.tell)(TendedEvent::Stopped(served.processed));
        Ok(())
    }

    /// Waits for so long, unless something happens.
    fn rest(&self, time: Duration) -> Rest {
        let rest = match self.told.recv_timeout(time) {
            Ok(Notice::Inbox) => Rest::Woken,
            Err(RecvTimeoutError::Timeout) => Rest::Over,
            Ok(Notice::End) | Err(RecvTimeoutError::Disconnected) => Rest::Stop,
        };
        self.is_over.set(self.is_over.get() || rest == Rest::Stop);
        rest
    }

    /// Wakes the poll where something happens to the inbox, for as long as the answer lives.
    fn watch(&self, bridge: &Bridge<'_>) -> Option<Watcher> {
        let notices = self.notices.clone();
        let watched = bridge.watch(move || {
            // Nobody listens any more once the thread has ended.
            let _: Result<(), _> = notices.send(Notice::Inbox);
        });
        match watched {
            Ok(watcher) => Some(watcher),
            Err(error) => {
                (self.tell)(TendedEvent::Unwatched(error));
                None
            }
        }
    }

    fn trouble(&self, error: &Error) {
        let text = error.to_string();
        if self.last.replace(Some(text.clone())).as_ref() != Some(&text) {
            (self.tell)(TendedEvent::Trouble(error));
        }
    }
}
