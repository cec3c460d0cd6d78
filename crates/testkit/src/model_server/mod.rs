//! A model server on loopback that plays scripts, so that real clients can be tested without a model.
//!
//! Owns what a test says of it: scripts, a marker each, and the requests that came. A request belongs
//! to the first script whose marker begins a line of something that it says; a Flagpost prompt
//! begins with `# Task N: `, so each task of a run has a script of its own. Each main request of a script
//! spends one of its steps; after the last, the model says "DONE". Everything else (titles, summaries,
//! counts) is answered aside and spends nothing.
//!
//! It lives on a thread of its own and ends with its value, within a few seconds, whatever hangs.

mod anthropic;
mod chat;
mod gemini;
mod limits;
mod pack;
mod request;
mod responses;
mod server;
mod step;

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
};

pub use limits::{burst, usage_limit, used};
pub use request::{Api, Request};
pub use step::{Call, ModelAnswer, Step};
use tokio::sync::oneshot;

/// The tokens that every answer claims to have cost.
pub const INPUT: u64 = 1200;
/// Of these, those that were cached.
pub const CACHED: u64 = 200;
/// The tokens that every answer claims to be.
pub const OUTPUT: u64 = 30;

/// What the model says after the last step of a script.
pub const DONE: &str = "DONE";

/// What the model says to a request that is no turn of a conversation.
const SIDE: &str = "side";

/// The server, listening.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    play: Arc<Play>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The scripts and what came of them.
#[derive(Debug, Default)]
struct Play {
    scripts: Mutex<Vec<Script>>,
    requests: Mutex<Vec<Request>>,
}

#[derive(Debug)]
struct Script {
    /// `None` for the one that plays where no other does.
    marker: Option<String>,
    steps: VecDeque<Step>,
}

impl ModelServer {
    /// A server at a port that was free.
    ///
    /// # Panics
    /// Where it cannot listen.
    pub fn start() -> Self {
        let play = Arc::new(Play::default());
        let (stop, stopped) = oneshot::channel();
        let (address, thread) = server::start(Arc::clone(&play), stopped);
        Self {
            address,
            play,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Where it listens, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it plays for conversations in which a line begins with the marker, in place of what was
    /// said for that marker before.
    pub fn script(&self, marker: &str, steps: impl IntoIterator<Item = Step>) {
        self.play.cast(Some(marker.to_owned()), steps);
    }

    /// What it plays for all others.
    pub fn otherwise(&self, steps: impl IntoIterator<Item = Step>) {
        self.play.cast(None, steps);
    }

    /// Every request so far, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.play.requests).clone()
    }

    /// How many requests there were so far.
    pub fn count(&self) -> usize {
        lock(&self.play.requests).len()
    }

    /// The requests that were turns of the script with this marker, oldest first.
    pub fn turns(&self, marker: &str) -> Vec<Request> {
        let mut requests = self.requests();
        requests.retain(|request| request.is_main() && request.opens_a_line_with(marker));
        requests
    }

    /// The turns of all scripts.
    pub fn all_turns(&self) -> Vec<Request> {
        self.turns("")
    }

    /// The steps of a script that nobody has asked for yet.
    pub fn left(&self, marker: &str) -> usize {
        let scripts = lock(&self.play.scripts);
        let script = scripts
            .iter()
            .find(|it| it.marker.as_deref() == Some(marker));
        script.map_or(0, |script| script.steps.len())
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        // Who is gone needs no word.
        let _ = self.stop.take().map(|stop| stop.send(()));
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Play {
    fn cast(&self, marker: Option<String>, steps: impl IntoIterator<Item = Step>) {
        let steps = steps.into_iter().collect();
        let mut scripts = lock(&self.scripts);
        match scripts.iter_mut().find(|it| it.marker == marker) {
            Some(script) => script.steps = steps,
            None => scripts.push(Script { marker, steps }),
        }
    }

    /// Keeps a request; the step that it spends, where it is a turn.
    fn take(&self, request: &Request) -> Option<Step> {
        lock(&self.requests).push(request.clone());
        request.is_main().then(|| {
            let mut scripts = lock(&self.scripts);
            let named = |script: &Script| {
                let marker = script.marker.as_deref();
                marker.is_some_and(|marker| request.opens_a_line_with(marker))
            };
            let at = scripts.iter().position(named);
            let at = at.or_else(|| scripts.iter().position(|script| script.marker.is_none()));
            let script = at.and_then(|at| scripts.get_mut(at));
            script
                .and_then(|script| match script.steps.front() {
                    Some(step) if step.stays => Some(step.clone()),
                    _ => script.steps.pop_front(),
                })
                .unwrap_or_else(|| Step::text(DONE))
        })
    }
}

/// What a panic elsewhere left locked is whole: nothing is changed in two steps.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
