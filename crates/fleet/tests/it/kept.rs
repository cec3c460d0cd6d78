//! A server that a keeper of this process keeps.

use std::{
    cell::Cell,
    net::SocketAddr,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use flagpost_disk::process::with_arguments;
use flagpost_fleet::{
    Certificate, Deadlines, FleetError, Hub, Invitation, KeeperEvent, KeptServer, MachineAccess,
    MayDecide, Replicas, RepoStream, Seed, ServerAccess, ServerError, Transport,
};
use flagpost_model::{MachineId, RepoId};
use flagpost_testkit::{background::kill, nats, patience::patience, race::until, scratch::scratch};
use jiff::Timestamp;
use rustix::process::Signal;
use tokio::runtime::Runtime;
use uuid::Uuid;

use crate::world::Machine;

/// A server's directory with its administrator, and perhaps a keeper.
pub struct Kept {
    pub server: KeptServer,
    pub program: PathBuf,
    pub listen: SocketAddr,
    pub transport: Transport,
    pub admin: Seed,
    pub runtime: Runtime,
    pub keeper: Option<Keeper>,
    pid: Cell<u32>,
    _dir: tempfile::TempDir,
}

/// A thread that keeps a server; told to end with its value.
pub struct Keeper {
    thread: Option<JoinHandle<Result<(), ServerError>>>,
    stop: Arc<AtomicBool>,
    events: Receiver<KeeperEvent>,
}

impl Keeper {
    pub fn start(server: &KeptServer, program: &std::path::Path) -> Self {
        let (tell, events) = mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let (server, program, told) = (server.clone(), program.to_owned(), stop.clone());
        let thread = thread::spawn(move || {
            let mut tell = |event| drop(tell.send(event));
            server.keep(&program, &told, Timestamp::now(), &mut tell)
        });
        Self {
            thread: Some(thread),
            stop,
            events,
        }
    }

    /// What happens next.
    pub fn next(&self) -> KeeperEvent {
        let event = self.events.recv_timeout(patience());
        event.expect("something happens")
    }

    /// Waits until a server was started; its process.
    pub fn started(&self) -> u32 {
        loop {
            if let KeeperEvent::Started { pid } = self.next() {
                return pid;
            }
        }
    }

    pub fn end(mut self) -> Result<(), ServerError> {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().unwrap();
        thread.join().unwrap()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Ends what a keeper left that was killed.
impl Drop for Kept {
    fn drop(&mut self) {
        self.keeper = None;
        let config = self.server.dir().join("nats.conf");
        let config = config.as_os_str().as_encoded_bytes();
        for pid in with_arguments(|it| it.last() == Some(&config)) {
            kill(pid, Signal::KILL);
        }
    }
}

impl Kept {
    /// Founded, and nobody keeps it; `None` where there is no server.
    pub fn found() -> Option<Self> {
        let program = nats::program()?;
        let dir = scratch();
        let admin = Seed::generate().unwrap();
        let listen = nats::free_address();
        let at = dir.path().join("fleet/server");
        let key = admin.public_key().unwrap();
        let certificate = Certificate::generate(&[listen.ip()]).unwrap();
        let transport = Transport::from(Some(&certificate));
        let access = ServerAccess::new(listen, key, None).with(Some(certificate));
        let server = KeptServer::found(&at, &access, Timestamp::now()).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        Some(Self {
            server,
            program,
            listen,
            transport,
            admin,
            runtime,
            keeper: None,
            pid: Cell::new(0),
            _dir: dir,
        })
    }

    /// The same, kept and reached.
    pub fn start() -> Option<Self> {
        // Between the choice of a port and its use another may take it.
        for _ in 0..5 {
            let mut kept = Self::found()?;
            let keeper = kept.keep();
            kept.pid.set(keeper.started());
            kept.keeper = Some(keeper);
            let mut answer = Err(None);
            until("it answers, or cannot", || {
                answer = kept.connect(&kept.admin).map(drop).map_err(Some);
                answer.is_ok() || kept.log().contains("address already in use")
            });
            if answer.is_ok() {
                return Some(kept);
            }
        }
        panic!("no port can be had");
    }

    pub fn keep(&self) -> Keeper {
        Keeper::start(&self.server, &self.program)
    }

    /// The process of the server that was started last.
    pub fn server_pid(&self) -> u32 {
        for event in self.keeper.iter().flat_map(|it| it.events.try_iter()) {
            if let KeeperEvent::Started { pid } = event {
                self.pid.set(pid);
            }
        }
        self.pid.get()
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.server.log()).unwrap_or_default()
    }

    pub fn invitation(&self, seed: &Seed) -> Invitation {
        let servers = vec![self.listen.into()];
        Invitation::new(self.transport.clone(), servers, seed.clone()).unwrap()
    }

    pub fn connect(&self, seed: &Seed) -> Result<Hub, FleetError> {
        self.connect_for(seed, patience())
    }

    /// The same for one that gives up an append after so long.
    pub fn connect_for(&self, seed: &Seed, settle: Duration) -> Result<Hub, FleetError> {
        let deadlines = Deadlines {
            settle,
            ..Deadlines::default()
        };
        Hub::connect_within(&self.invitation(seed), self.runtime.handle(), deadlines)
    }

    /// Waits until the server knows a key.
    pub fn hub(&self, seed: &Seed) -> Hub {
        let mut hub = None;
        until("the key is let in", || {
            hub = self.connect(seed).ok();
            hub.is_some()
        });
        hub.unwrap()
    }

    /// A new machine, written down.
    pub fn let_in(&self, number: u8, may_decide: MayDecide) -> Machine {
        let machine = Machine {
            id: MachineId::of_bits([7, 1, 2, 3, number]),
            seed: Seed::generate().unwrap(),
        };
        self.allow(&machine, may_decide).unwrap();
        machine
    }

    pub fn allow(&self, machine: &Machine, may_decide: MayDecide) -> Result<(), ServerError> {
        let access = MachineAccess {
            machine: machine.id.clone(),
            key: machine.seed.public_key().unwrap(),
            may_decide,
        };
        self.server.let_in(access, Timestamp::now())
    }

    /// A new repository's stream, made by the administrator.
    pub fn share(&self) -> RepoId {
        let repo: RepoId = Uuid::new_v4().to_string().parse().unwrap();
        RepoStream::create(&self.hub(&self.admin), &repo, Replicas::One).unwrap();
        repo
    }

    pub fn open(&self, machine: &Machine, repo: &RepoId) -> RepoStream {
        RepoStream::open(&self.hub(&machine.seed), repo).unwrap()
    }
}
