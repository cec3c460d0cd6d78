//! The real server of a fleet's order, alone or one of three, for a test.
//!
//! Owns where the program is, its directory and its ports. It listens on loopback only, syncs every
//! message, and is ended by its own id with its value. `./check` puts the program into
//! `target/nats/`; `NATS_SERVER_BIN=/path` names another. Where there is none, a test says that it is
//! skipped.

use std::{
    fs::{self, File},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    ops::Range,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
};

use rustix::process::Signal;

use crate::{
    background::Background,
    passage::{Passage, PassageState},
    race::{found, until},
    repository,
};

/// The ports of servers of tests. Those of connections are above 32767, and no server of one is [`BEHIND`]
/// another's.
const PORTS: [Range<u16>; 3] = [20_000..22_000, 24_000..26_000, 28_000..30_000];
/// Where a kept server of three listens for the two others: so much above its port.
const BEHIND: u16 = 2000;

/// Where a server of a test listens, and where it stores.
#[derive(Debug)]
pub struct Place<'a> {
    /// For machines.
    pub listen: SocketAddr,
    /// For the other servers.
    pub cluster: SocketAddr,
    /// Where it reaches each server, itself included.
    pub servers: &'a [SocketAddr; 3],
    /// The directory of its store.
    pub store: &'a Path,
}

/// Three servers that keep their orders together, and the ways between them.
#[derive(Debug)]
pub struct ThreeServers {
    /// The servers.
    pub servers: [NatsServer; 3],
    /// From one to another.
    pub ways: ServerWays,
}

/// The ways between three servers, from one to another.
#[derive(Debug)]
pub struct ServerWays(Vec<((usize, usize), Passage)>);

impl ServerWays {
    /// Keeps what passes from now on.
    pub fn overhear(&self) {
        self.0.iter().for_each(|(_, way)| way.overhear());
    }

    /// What passed on all of them.
    pub fn heard(&self) -> Vec<u8> {
        self.0.iter().flat_map(|(_, way)| way.heard()).collect()
    }

    /// Cuts a server from the other two, or mends that.
    pub fn set_alone(&self, server: usize, state: PassageState) {
        let cut = self
            .0
            .iter()
            .filter(|((from, to), _)| *from == server || *to == server);
        cut.for_each(|(_, way)| way.set(state));
    }
}

/// A server that runs, or is to run again.
#[derive(Debug)]
pub struct NatsServer {
    program: PathBuf,
    address: SocketAddr,
    dir: tempfile::TempDir,
    process: Option<Background>,
}

/// Where the server stores its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// In memory where the machine has such a place: fast, and as good for all but measuring.
    Memory,
    /// On the disk of the build, where a sync is one.
    Disk,
}

impl NatsServer {
    /// Starts one and waits until it accepts. `config` makes the text of its configuration from the
    /// address it is to listen at and the directory of its store. `None`, and a line that says so, where
    /// there is no server.
    ///
    /// # Panics
    /// Where it does not start; what it said is shown.
    pub fn start(config: impl Fn(SocketAddr, &Path) -> String) -> Option<Self> {
        Self::start_on(Storage::Memory, config)
    }

    /// The same, and where it stores.
    ///
    /// # Panics
    /// Where it does not start; what it said is shown.
    pub fn start_on(
        storage: Storage,
        config: impl Fn(SocketAddr, &Path) -> String,
    ) -> Option<Self> {
        let mut server = Self::new(&program()?, storage);
        // Between the choice of a port and its use another may take it.
        for attempt in 0.. {
            server.configure(&config);
            match server.launch() {
                Ok(()) => return Some(server),
                Err(said) if attempt < 5 && is_taken(&said) => server.address = free_address(),
                Err(said) => panic!("the server does not start\n{said}"),
            }
        }
        None
    }

    /// Starts three that keep their orders together, and waits until each accepts; they have not chosen
    /// yet who leads.
    ///
    /// # Panics
    /// Where one does not start; what it said is shown.
    pub fn start_three(
        storage: Storage,
        config: impl Fn(&Place<'_>) -> String,
    ) -> Option<ThreeServers> {
        let program = program()?;
        for attempt in 0.. {
            let cluster = [(); 3].map(|()| free_address());
            let mut servers = cluster.map(|_| Self::new(&program, storage));
            let mut ways = Vec::new();
            let launched = servers.iter_mut().enumerate().try_for_each(|(at, server)| {
                let mut reached = cluster;
                for to in (0..3).filter(|to| *to != at) {
                    let way = Passage::to(cluster[to]);
                    reached[to] = way.address();
                    ways.push(((at, to), way));
                }
                server.configure(&|listen, store| {
                    let text = config(&Place {
                        listen,
                        cluster: cluster[at],
                        servers: &reached,
                        store,
                    });
                    // Servers tell each other where they listen, and would go around a way that is cut: they
                    // are told a place where nobody is.
                    let told =
                        text.replacen("cluster {", "cluster { advertise: \"127.0.0.1:1\",", 1);
                    assert_ne!(told, text, "a server of three knows the others");
                    told
                });
                server.launch()
            });
            match launched {
                Ok(()) => {
                    let ways = ServerWays(ways);
                    return Some(ThreeServers { servers, ways });
                }
                Err(said) => assert!(attempt < 5 && is_taken(&said), "no server starts\n{said}"),
            }
        }
        None
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it has said so far.
    pub fn log(&self) -> String {
        self.process
            .as_ref()
            .map_or_else(String::new, Background::stderr)
    }

    /// Kills it as `kill -9` does, and waits until it is gone.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Ends it as a person would, and waits until it is gone.
    ///
    /// # Panics
    /// Where it does not run, or does not end.
    pub fn terminate(&mut self) {
        self.signal(Signal::TERM);
        drop(self.process.take().map(Background::end));
    }

    /// Holds it, and waits until it stands still: it takes connections, and answers nothing.
    ///
    /// # Panics
    /// Where it does not run.
    pub fn stop(&mut self) {
        self.signal(Signal::STOP);
        let id = self.process.as_ref().map_or(0, Background::id);
        until("the server stands still", || stands_still(id));
    }

    /// Lets it go on.
    ///
    /// # Panics
    /// Where it does not run.
    pub fn cont(&mut self) {
        self.signal(Signal::CONT);
    }

    /// Starts it again on the same store and port.
    ///
    /// # Panics
    /// Where it does not start; what it said is shown.
    pub fn restart(&mut self) {
        self.kill();
        // A port may stay taken for a moment.
        let mut said = String::new();
        until("the server starts again", || {
            let launched = self.launch();
            said = launched.err().unwrap_or_default();
            said.is_empty() || !is_taken(&said)
        });
        assert!(said.is_empty(), "the server does not start again\n{said}");
    }

    /// Loses all that it stored, and starts again.
    ///
    /// # Panics
    /// Where it does not start; what it said is shown.
    pub fn restart_empty(&mut self) {
        self.kill();
        fs::remove_dir_all(self.dir.path().join("store")).expect("its store can be removed");
        self.restart();
    }

    /// One that does not run yet.
    fn new(program: &Path, storage: Storage) -> Self {
        let dir = match storage {
            Storage::Memory => crate::scratch::scratch(),
            Storage::Disk => tempfile::TempDir::new_in(repository::root().join("target"))
                .expect("a directory can be made"),
        };
        Self {
            program: program.to_owned(),
            address: free_address(),
            dir,
            process: None,
        }
    }

    fn configure(&self, config: &dyn Fn(SocketAddr, &Path) -> String) {
        let text = config(self.address, &self.dir.path().join("store"));
        fs::write(self.config(), text).expect("a configuration can be written");
    }

    fn config(&self) -> PathBuf {
        self.dir.path().join("nats.conf")
    }

    fn signal(&mut self, signal: Signal) {
        let process = self.process.as_mut().expect("the server runs");
        process.signal(signal);
    }

    /// Starts it and waits until it says that it is ready and accepts; what it said, where it ends.
    fn launch(&mut self) -> Result<(), String> {
        let mut command = Command::new(&self.program);
        command.arg("--config").arg(self.config());
        let mut process = Background::start(&mut command);
        let config = fs::read_to_string(self.config()).unwrap_or_default();
        let ready = match config.contains("cluster {") {
            // One of three is ready before it has the port for the others.
            true => "Listening for route connections",
            false => "Server is ready",
        };
        let is_up = found("the server is up", || {
            let ended = !process.is_running();
            let is_ready = process.stderr().contains(ready);
            (is_ready || ended).then_some(is_ready)
        });
        if !is_up {
            return Err(process.stderr());
        }
        self.process = Some(process);
        Ok(())
    }
}

/// Whether each thread of a process is stopped; where there is no `/proc`, it is believed.
fn stands_still(process: u32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else {
        return true;
    };
    let is_stopped = |thread: fs::DirEntry| {
        let status = fs::read_to_string(thread.path().join("status"));
        status.map_or(true, |it| it.contains("State:\tT"))
    };
    threads.flatten().all(is_stopped)
}

/// Whether a server says that another has its port.
fn is_taken(said: &str) -> bool {
    said.contains("address already in use")
}

/// The program, or `None` and a line that says what is skipped.
pub fn program() -> Option<PathBuf> {
    let named = std::env::var_os("NATS_SERVER_BIN").filter(|path| !path.is_empty());
    let program = named.map_or_else(
        || repository::root().join("target/nats/nats-server"),
        PathBuf::from,
    );
    if program.exists() {
        return Some(program);
    }
    eprintln!(
        "skipped: there is no nats-server (./check puts one into target/nats/, or set NATS_SERVER_BIN)"
    );
    None
}

/// A port of loopback that nobody has, and nobody has the one `BEHIND` it: no test takes it while this
/// process lives, and the system gives it to no connection.
///
/// # Panics
/// Where there is none.
pub fn free_address() -> SocketAddr {
    static TAKEN: Mutex<Vec<File>> = Mutex::new(Vec::new());
    let dir = std::env::temp_dir().join("flagpost-test-ports");
    fs::create_dir_all(&dir).expect("a directory can be made");
    let free = PORTS.into_iter().flatten().find_map(|port| {
        let lock = File::create(dir.join(port.to_string())).ok()?;
        lock.try_lock().ok()?;
        for port in [port, port + BEHIND] {
            TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok()?;
        }
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        taken.push(lock);
        Some(port)
    });
    (Ipv4Addr::LOCALHOST, free.expect("a port is free")).into()
}
