//! Somebody who listens to a world's daemon, and comes again when it was gone.
//!
//! Owns what was heard and when. It names the last event that it had, as a browser does.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    path::Path,
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use flagpost_testkit::{race::until, sealed::World};
use serde_json::Value;

/// An event about a message.
#[derive(Debug, Clone)]
pub struct Heard {
    pub name: String,
    pub message: (String, u64),
    pub at: Instant,
}

#[derive(Debug, Default)]
struct Ear {
    heard: Vec<Heard>,
    states: usize,
    last: Option<String>,
    stream: Option<UnixStream>,
    is_over: bool,
}

/// Whoever listens.
pub struct Listening {
    ear: Arc<Mutex<Ear>>,
    thread: Option<JoinHandle<()>>,
}

impl Listening {
    /// Listens to all mail, from when this returns.
    pub fn to(world: &World) -> Self {
        Self::at(&world.home().join("run/daemon.sock"))
    }

    /// The same where the world's home lies elsewhere.
    pub fn at(socket: &Path) -> Self {
        let ear = Arc::<Mutex<Ear>>::default();
        let (socket, ours) = (socket.to_owned(), Arc::clone(&ear));
        let thread = Some(thread::spawn(move || while listen(&socket, &ours) {}));
        let listening = Self { ear, thread };
        until("somebody listens", || listening.states() > 0);
        listening
    }

    /// How often the state was sent.
    pub fn states(&self) -> usize {
        self.ear.lock().unwrap().states
    }

    /// What was heard under this name.
    pub fn heard(&self, name: &str) -> Vec<Heard> {
        let ear = self.ear.lock().unwrap();
        let named = ear.heard.iter().filter(|it| it.name == name);
        named.cloned().collect()
    }

    /// Waits until so many were heard under this name; of which messages, none of them twice.
    pub fn until(&self, name: &str, count: usize) -> BTreeSet<(String, u64)> {
        until(&format!("{count} of {name} were heard"), || {
            self.heard(name).len() >= count
        });
        let heard = self.heard(name);
        let once: BTreeSet<_> = heard.iter().map(|it| it.message.clone()).collect();
        assert_eq!(once.len(), heard.len(), "{name} twice: {heard:?}");
        once
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if let Ok(mut ear) = self.ear.lock() {
            ear.is_over = true;
            // It may be closed already.
            let _ = ear.stream.take().map(|it| it.shutdown(Shutdown::Both));
        }
        let ended = self.thread.take().map(JoinHandle::join);
        if !thread::panicking() {
            ended.unwrap().unwrap();
        }
    }
}

/// Listens until the stream ends; whether to come again.
fn listen(socket: &Path, ear: &Mutex<Ear>) -> bool {
    if let Some(stream) = connect(socket, ear) {
        let (mut id, mut name) = (None, String::new());
        for line in BufReader::new(stream).lines() {
            let Ok(line) = line else { break };
            match line.split_once(": ") {
                Some(("id", text)) => id = Some(text.to_owned()),
                Some(("event", text)) => text.clone_into(&mut name),
                Some(("data", text)) => hear(ear, id.take(), &name, text),
                _ => {}
            }
        }
    }
    thread::sleep(Duration::from_millis(5));
    !ear.lock().unwrap().is_over
}

fn connect(socket: &Path, ear: &Mutex<Ear>) -> Option<UnixStream> {
    let mut stream = UnixStream::connect(socket).ok()?;
    let mut ear = ear.lock().unwrap();
    let last = ear.last.as_ref();
    let last = last.map(|id| format!("Last-Event-ID: {id}\r\n"));
    let last = last.unwrap_or_default();
    let request = format!("GET /v1/relay/inbox/events HTTP/1.0\r\n{last}\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    ear.stream = (!ear.is_over).then(|| stream.try_clone().unwrap());
    ear.stream.is_some().then_some(stream)
}

fn hear(ear: &Mutex<Ear>, id: Option<String>, name: &str, data: &str) {
    let at = Instant::now();
    let Ok(data) = serde_json::from_str::<Value>(data) else {
        // A daemon that was killed may have been in the middle of it.
        return;
    };
    let line = &data["line"];
    let message = line["worker"].as_str().zip(line["seq"].as_u64());
    let mut ear = ear.lock().unwrap();
    match message {
        Some((worker, seq)) => ear.heard.push(Heard {
            name: name.to_owned(),
            message: (worker.to_owned(), seq),
            at,
        }),
        None => ear.states += usize::from(name == "daemon.resync"),
    }
    ear.last = id.or(ear.last.take());
}
