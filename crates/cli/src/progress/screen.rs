//! A run on a terminal: who draws when.
//!
//! Owns the thread that draws while nothing happens, since times pass and windows change, and what
//! must go before others get the terminal: the shell after Ctrl-Z, the words of a panic. Invariant:
//! when it is dropped, nothing of the frame is left.

use std::{
    io,
    sync::{
        Arc, Mutex,
        mpsc::{self, RecvTimeoutError},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use flagpost_run::events::RunEvent;
use rustix::{process, termios};
use signal_hook::{
    consts::SIGTSTP,
    iterator::{Handle, Signals},
    low_level::emulate_default_handler,
};

use super::{
    Clock,
    account::{ElapsedTime, RunProgress},
    canvas::{Canvas, Size},
    locked, results,
};
use crate::{context::Context, screen::is_coloured, signals::is_ignored};

/// How often to look whether there is anything to draw.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// How large a terminal is that does not say so.
const USUAL: Size = Size {
    columns: 80,
    rows: 24,
};

/// A run on a terminal.
pub struct RunScreen {
    canvas: Arc<Mutex<Canvas>>,
    account: Arc<Mutex<RunProgress>>,
    /// Dropped to end the one who draws meanwhile.
    goes_on: Option<mpsc::Sender<()>>,
    drawer: Option<JoinHandle<()>>,
    stops: Option<Handle>,
}

impl RunScreen {
    /// The screen that stderr goes to.
    pub fn new(
        context: &Context,
        account: &Arc<Mutex<RunProgress>>,
        clock: &Clock,
    ) -> anyhow::Result<Self> {
        let painted = is_coloured(context, true);
        let canvas = Canvas::new(Box::new(io::stderr()), Box::new(measure), painted);
        let canvas = Arc::new(Mutex::new(canvas));
        clear_before_panics(&canvas);
        let (goes_on, ended) = mpsc::channel();
        let drawer = {
            let (canvas, account, clock) = (canvas.clone(), account.clone(), clock.clone());
            thread::spawn(move || {
                while ended.recv_timeout(LOOK_AGAIN) == Err(RecvTimeoutError::Timeout) {
                    let account = locked(&account);
                    locked(&canvas).draw(&account, clock.moment());
                }
            })
        };
        let stops = clear_before_stops(&canvas)?;
        Ok(Self {
            canvas,
            account: account.clone(),
            goes_on: Some(goes_on),
            drawer: Some(drawer),
            stops,
        })
    }

    /// Shows what happened.
    pub fn see(&self, event: &RunEvent, begins_to_wait: bool, moment: ElapsedTime) {
        // Always in this order.
        let account = locked(&self.account);
        let mut canvas = locked(&self.canvas);
        canvas.add(&account, moment, |columns, painted| {
            results::lines(event, &account, columns, painted)
        });
        if begins_to_wait {
            canvas.ring();
        }
    }
}

impl Drop for RunScreen {
    fn drop(&mut self) {
        drop(self.goes_on.take());
        if let Some(drawer) = self.drawer.take() {
            // Where it panicked it has said so.
            let _: thread::Result<()> = drawer.join();
        }
        if let Some(stops) = &self.stops {
            stops.close();
        }
        locked(&self.canvas).clear();
    }
}

/// How large the terminal is; none while it is in the hands of others, as after Ctrl-Z and `bg`.
fn measure() -> Option<Size> {
    let stderr = io::stderr();
    let in_front = termios::tcgetpgrp(&stderr);
    if in_front.is_ok_and(|group| group != process::getpgrp()) {
        return None;
    }
    let size = termios::tcgetwinsize(&stderr).ok();
    let size = size.map(|size| Size {
        columns: size.ws_col.into(),
        rows: size.ws_row.into(),
    });
    size.filter(|size| size.columns > 0 && size.rows > 0)
        .or(Some(USUAL))
}

/// The words of a panic are not written into the frame.
fn clear_before_panics(canvas: &Arc<Mutex<Canvas>>) {
    let canvas = Arc::downgrade(canvas);
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if let Some(canvas) = canvas.upgrade()
            && let Ok(mut canvas) = canvas.try_lock()
        {
            canvas.clear();
        }
        told(panic);
    }));
}

/// Ctrl-Z gives the terminal back as it was; whoever started us with that signal ignored is heeded.
fn clear_before_stops(canvas: &Arc<Mutex<Canvas>>) -> io::Result<Option<Handle>> {
    if is_ignored(SIGTSTP) {
        return Ok(None);
    }
    let mut signals = Signals::new([SIGTSTP])?;
    let handle = signals.handle();
    let canvas = canvas.clone();
    thread::spawn(move || {
        for signal in signals.forever() {
            // Nobody draws until we go on.
            let mut canvas = locked(&canvas);
            canvas.clear();
            let _: io::Result<()> = emulate_default_handler(signal);
        }
    });
    Ok(Some(handle))
}
