//! A daemon that serves a home of its own, and a client that says exactly what a test says.

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    net::TcpStream,
    os::unix::net::UnixStream,
    path::PathBuf,
    sync::OnceLock,
    thread::{self, JoinHandle},
};

use flagpost_core::{Environment, Home, Repository};
use flagpost_daemon::{
    DaemonConfig, DaemonStatus, Error, Instance, Paths, WatchMode, run, schemas, status,
};
use flagpost_testkit::{connection::connected, patience::patience, race::found};
use jsonschema::Validator;
use serde_json::Value;
use tokio::sync::oneshot;

/// A home with one repository, `web`.
pub struct Place {
    dir: tempfile::TempDir,
    pub home: Home,
}

impl Place {
    pub fn new() -> Self {
        let dir = flagpost_testkit::scratch::scratch();
        let root = dir.path().join("home");
        let home = Home::at(root);
        let place = Self { dir, home };
        place.register("web");
        place
    }

    /// A place whose owner's home is around all of it.
    pub fn below_a_home() -> Self {
        let place = Self::new();
        let environment = Environment {
            user_home: Some(place.dir.path().to_owned()),
            ..Environment::default()
        };
        let home = place.home.clone().with(environment);
        Self { home, ..place }
    }

    /// A directory beside the repository, which nobody registered.
    pub fn beside(&self, name: &str) -> PathBuf {
        let dir = self.dir.path().join(name);
        std::fs::create_dir_all(&dir).unwrap();
        dir
    }

    pub fn register(&self, name: &str) -> Repository {
        let top = self.dir.path().join(name);
        std::fs::create_dir(&top).unwrap();
        Repository::register(&self.home, &top, &"ann".parse().unwrap()).unwrap()
    }

    pub fn repository(&self) -> Repository {
        flagpost_core::registry::repository(&self.home, "web").unwrap()
    }

    pub fn top(&self) -> PathBuf {
        self.dir.path().join("web")
    }

    pub fn serve(&self) -> Served {
        self.serve_watching(WatchMode::Events)
    }

    pub fn serve_watching(&self, watching: WatchMode) -> Served {
        // Daemons of tests share a process: the note of the one before would pass for this one's.
        let note = Paths::of(&self.home).dir.join("daemon.json");
        let before = std::fs::read(&note).ok();
        let (end, ended) = oneshot::channel::<()>();
        let config = DaemonConfig {
            home: self.home.clone(),
            actor: "ann".parse().unwrap(),
            port: None,
            watching,
            socket: None,
        };
        let thread = thread::spawn(move || {
            run(config, async {
                let _ = ended.await;
            })
        });
        let mut thread = Some(thread);
        let instance = found("it answers", || {
            if let Some(ended) = thread.take_if(|it| it.is_finished()) {
                panic!("{:?}", ended.join());
            }
            match status(&self.home).unwrap() {
                DaemonStatus::Up(instance) if std::fs::read(&note).ok() != before => Some(instance),
                _ => None,
            }
        });
        let paths = Paths::of(&self.home);
        let token = std::fs::read_to_string(&paths.token).unwrap();
        Served {
            paths,
            instance,
            token: token.trim().to_owned(),
            end: Some(end),
            thread,
        }
    }
}

/// A running daemon; it is ended when this goes.
pub struct Served {
    pub paths: Paths,
    pub instance: Instance,
    pub token: String,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Result<(), Error>>>,
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.end.take());
        let ended = self.thread.take().map(JoinHandle::join);
        if !thread::panicking() {
            ended.unwrap().unwrap().unwrap();
        }
    }
}

/// What was answered.
#[derive(Debug, Clone)]
pub struct Told {
    pub status: u16,
    pub head: String,
    pub text: String,
}

impl Told {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

impl Served {
    /// Whether it has ended by itself.
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    pub fn port(&self) -> u16 {
        let (_, port) = self.instance.http.rsplit_once(':').unwrap();
        port.parse().unwrap()
    }

    pub fn tcp(&self) -> TcpStream {
        connected(("127.0.0.1", self.port()))
    }

    pub fn socket(&self) -> UnixStream {
        let socket = &self.paths.socket;
        let stream = found("it listens", || UnixStream::connect(socket).ok());
        stream.set_read_timeout(Some(patience())).unwrap();
        stream
    }

    /// Reads by the socket.
    pub fn get(&self, path: &str) -> Told {
        let head = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        exchange(self.socket(), head.as_bytes())
    }

    /// Writes by the socket.
    pub fn post(&self, path: &str, body: &str) -> Told {
        let len = body.len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {len}\r\n\r\n{body}"
        );
        exchange(self.socket(), head.as_bytes())
    }

    /// Asks over the loopback with these headers and no others. `[port]` and `[token]` are put in.
    pub fn loopback(&self, line: &str, headers: &[&str], body: &str) -> Told {
        let mut request = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
        for header in headers {
            let header = header.replace("[port]", &self.port().to_string());
            request += &format!("{}\r\n", header.replace("[token]", &self.token));
        }
        request += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
        exchange(self.tcp(), request.as_bytes())
    }
}

/// Says this and listens until the other side closes.
pub fn exchange(mut stream: impl Read + Write, request: &[u8]) -> Told {
    // It may answer and close before it has heard all.
    let _ = stream.write_all(request);
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
    let told = Told {
        status: status.unwrap_or_default(),
        head: head.to_ascii_lowercase(),
        text: body.to_owned(),
    };
    check(&told);
    told
}

/// Whatever is told in a shape of ours keeps to it.
pub fn check(told: &Told) {
    static SHAPES: OnceLock<BTreeMap<String, Validator>> = OnceLock::new();
    let shapes = SHAPES.get_or_init(|| {
        let each = schemas().map(|schema| {
            let whole = schema.whole();
            let validator = jsonschema::options()
                .should_validate_formats(true)
                .build(&whole)
                .unwrap();
            (format!("flagpost.{}/1", schema.name), validator)
        });
        each.collect()
    });
    let Ok(value) = serde_json::from_str::<Value>(&told.text) else {
        return;
    };
    if let Some(name) = value["schema"].as_str() {
        let shape = shapes
            .get(name)
            .unwrap_or_else(|| panic!("no shape {name}"));
        let faults: Vec<String> = shape.iter_errors(&value).map(|it| it.to_string()).collect();
        assert!(faults.is_empty(), "{faults:#?}\n{value:#}");
    }
}
