//! Somebody who listens to a stream of events.

use std::{
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    time::Instant,
};

use flagpost_testkit::patience::patience;
use serde_json::Value;

use crate::served::{Served, Told, check};

/// An event as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub id: String,
    pub name: String,
    pub data: Value,
}

impl Event {
    /// The kind and the number of the transition.
    pub fn line(&self) -> (String, u64) {
        let line = &self.data["line"];
        let kind = line["kind"].as_str().unwrap_or_else(|| panic!("{self:?}"));
        (kind.to_owned(), line["n"].as_u64().unwrap())
    }
}

/// A stream that is being listened to.
pub struct Listening {
    stream: BufReader<UnixStream>,
}

impl Listening {
    /// Listens from now on. What comes first is the state.
    pub fn to(served: &Served, path: &str) -> Self {
        Self::after(served, path, None)
    }

    /// Listens on where somebody stopped.
    pub fn after(served: &Served, path: &str, last: Option<&str>) -> Self {
        let mut stream = served.socket();
        let last = last.map(|id| format!("Last-Event-ID: {id}\r\n"));
        // In HTTP/1.0 the body is what comes until the end.
        let request = format!("GET {path} HTTP/1.0\r\n{}\r\n", last.unwrap_or_default());
        stream.write_all(request.as_bytes()).unwrap();
        let mut listening = Self {
            stream: BufReader::new(stream),
        };
        let status = listening.line();
        assert!(status.contains(" 200 "), "{status}");
        while !listening.line().is_empty() {}
        listening
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The next event.
    pub fn next(&mut self) -> Event {
        let mut event = Event {
            id: String::new(),
            name: String::new(),
            data: Value::Null,
        };
        // A stream with nothing to tell says now and then that it lives.
        let deadline = Instant::now() + patience();
        loop {
            assert!(Instant::now() < deadline, "waited in vain for an event");
            let mut line = String::new();
            let read = self.stream.read_line(&mut line).unwrap();
            assert!(read > 0, "the stream has ended");
            let line = line.trim_end_matches('\n');
            match line.split_once(": ") {
                Some(("id", id)) => id.clone_into(&mut event.id),
                Some(("event", name)) => name.clone_into(&mut event.name),
                Some(("data", data)) => {
                    check(&Told {
                        status: 200,
                        head: String::new(),
                        text: data.to_owned(),
                    });
                    event.data = serde_json::from_str(data).unwrap();
                }
                _ if line.is_empty() && !event.name.is_empty() => return event,
                _ => {}
            }
        }
    }

    /// The names of the next so many events.
    pub fn names(&mut self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.next().name).collect()
    }

    /// Whether the stream ends without another event.
    pub fn ends(mut self) -> bool {
        loop {
            let mut line = String::new();
            match self.stream.read_line(&mut line) {
                Ok(0) | Err(_) => return true,
                Ok(_) if line.starts_with(':') || line == "\n" => {}
                Ok(_) => return false,
            }
        }
    }
}
