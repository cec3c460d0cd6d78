//! A run as it happens, for whoever sits before it.
//!
//! Owns the forms that it is told in: a screen on a terminal and plain lines without one (both on
//! stderr), and one JSON object per event on stdout with `--json`. Behind all of them is one account
//! of the run, which the words at its end are taken from.

mod account;
mod canvas;
mod ending;
mod format;
mod frame;
mod landing;
mod outcome;
mod results;
mod screen;
mod words;

#[cfg(test)]
mod tests;

use std::{
    io::IsTerminal,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use flagpost_core::Home;
use flagpost_run::events::RunEvent;
use serde_json::{Map, Value};

pub use account::RunProgress;
pub use ending::{Next, OutcomeCounts, summary};
pub use format::{dollars, tokens};
pub use landing::short;
pub use outcome::outcome;
pub use words::words;

use self::{account::ElapsedTime, screen::RunScreen};
use crate::{context::Context, output::stream_named, streams::say};

/// Shows events.
pub struct Watcher {
    form: Form,
    account: Arc<Mutex<RunProgress>>,
    clock: Clock,
}

enum Form {
    Json,
    Quiet,
    Lines,
    Screen(RunScreen),
}

/// The time of a run: how long it has been going on, and the time of day.
#[derive(Clone)]
struct Clock {
    began: Instant,
    home: Home,
}

impl Clock {
    fn moment(&self) -> ElapsedTime {
        ElapsedTime {
            elapsed: self.began.elapsed(),
            now: self.home.now(),
        }
    }
}

impl Watcher {
    /// The form that fits the options and the terminal.
    pub fn new(context: &Context) -> anyhow::Result<Self> {
        let account = RunProgress::of_list(context.globals.list.as_deref());
        let account = Arc::new(Mutex::new(account));
        let clock = Clock {
            began: Instant::now(),
            home: context.home.clone(),
        };
        let is_screen = std::io::stderr().is_terminal() && !context.settings.dumb_terminal;
        let form = if context.globals.json {
            Form::Json
        } else if context.globals.quiet {
            Form::Quiet
        } else if is_screen {
            Form::Screen(RunScreen::new(context, &account, &clock)?)
        } else {
            Form::Lines
        };
        Ok(Self {
            form,
            account,
            clock,
        })
    }

    /// Shows an event.
    pub fn see(&mut self, event: &RunEvent, line: &Map<String, Value>) {
        let moment = self.clock.moment();
        let begins_to_wait = locked(&self.account).see(event, moment);
        match &mut self.form {
            // Whoever closed the stream_named does not stop the run.
            Form::Json => drop(stream_named("event", line.clone())),
            Form::Quiet => {}
            Form::Lines => words(event).iter().for_each(|line| say(line)),
            Form::Screen(screen) => screen.see(event, begins_to_wait, moment),
        }
    }

    /// Takes the screen away; what is known of the run.
    pub fn end(self) -> RunProgress {
        drop(self.form);
        locked(&self.account).clone()
    }
}

/// What several threads look at. One that panicked leaves an account that is as good as before.
fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
