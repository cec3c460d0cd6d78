//! Somebody who listens to the daemon of a soak, and comes again whenever it was killed.
//!
//! Owns what was heard: each transition by its number in the history. It names the last event that
//! it had, as a browser does, and is told what it missed.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::Result;
use serde_json::Value;

use super::PATIENCE;

/// How often it tries to come in.
const TRY: Duration = Duration::from_millis(20);

/// What was heard.
#[derive(Debug, Default, Clone)]
pub struct Heard {
    /// How often each transition was told of, by its number.
    pub told: BTreeMap<u64, usize>,
    /// Why the state was sent in place of transitions.
    pub states: Vec<String>,
    /// The id of the last event.
    last: Option<String>,
}

/// Whoever listens.
#[derive(Debug)]
pub struct EventListener {
    heard: Arc<Mutex<Heard>>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl EventListener {
    /// Begins to listen.
    pub fn start(socket: PathBuf) -> Self {
        let (heard, over) = (Arc::<Mutex<Heard>>::default(), Arc::<AtomicBool>::default());
        let (ours, ended) = (Arc::clone(&heard), Arc::clone(&over));
        let thread = thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                // It is killed again and again: then it is waited for.
                if listen(&socket, &ours).is_err() {
                    thread::sleep(TRY);
                }
            }
        });
        Self {
            heard,
            over,
            thread: Some(thread),
        }
    }

    /// What it has heard so far.
    pub fn heard(&self) -> Heard {
        lock(&self.heard).clone()
    }

    /// Listens no more once the daemon is gone.
    pub fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

impl Drop for EventListener {
    fn drop(&mut self) {
        self.end();
        if let Some(Err(_)) = self.thread.take().map(JoinHandle::join) {
            eprintln!("flagpost-bench: the listener of the soak has failed");
        }
    }
}

/// Listens until the stream ends.
fn listen(socket: &Path, heard: &Mutex<Heard>) -> Result<()> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let last = lock(heard).last.clone();
    let last = last.map(|id| format!("Last-Event-ID: {id}\r\n"));
    let last = last.unwrap_or_default();
    write!(stream, "GET /v1/relay/inbox/events HTTP/1.0\r\n{last}\r\n")?;
    let mut stream = BufReader::new(stream);
    let (mut id, mut line) = (None, String::new());
    while stream.read_line(&mut line)? > 0 {
        match line.trim_end().split_once(": ") {
            Some(("id", text)) => id = Some(text.to_owned()),
            Some(("data", text)) => lock(heard).hear(id.take(), &serde_json::from_str(text)?),
            _ => {}
        }
        line.clear();
    }
    Ok(())
}

impl Heard {
    fn hear(&mut self, id: Option<String>, data: &Value) {
        let number = data.get("line").and_then(|line| line.get("n")?.as_u64());
        match number {
            Some(n) => *self.told.entry(n).or_default() += 1,
            None => {
                let reason = data.get("reason").and_then(Value::as_str);
                self.states.push(reason.unwrap_or_default().to_owned());
            }
        }
        self.last = id.or(self.last.take());
    }
}

fn lock(heard: &Mutex<Heard>) -> MutexGuard<'_, Heard> {
    heard.lock().unwrap_or_else(PoisonError::into_inner)
}
