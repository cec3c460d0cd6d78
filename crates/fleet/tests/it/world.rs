//! A server, an administrator and some machines.

use std::{path::Path, time::Duration};

use flagpost_fleet::{
    AppendError, Change, ChangeHeaders, Deadlines, Hub, Invitation, Lane, MachineAccess, MayDecide,
    Numbers, Replicas, RepoStream, Seed, ServerConfig, Transport, WIRE, machine_of,
};
use flagpost_model::{MachineId, RepoId};
use flagpost_testkit::nats::{NatsServer, Storage};
use tokio::runtime::Runtime;
use uuid::Uuid;

/// What the server may store.
pub const STORE_BYTES: u64 = 20 << 30;

/// How long a hasty machine waits for an answer.
pub const HASTY: Duration = Duration::from_millis(500);

/// The first machine may decide, the others may not.
pub struct World {
    pub server: NatsServer,
    pub runtime: Runtime,
    pub admin: Seed,
    pub machines: Vec<Machine>,
}

/// A machine with its key.
pub struct Machine {
    pub id: MachineId,
    pub seed: Seed,
}

impl World {
    /// With so many machines; `None` where there is no server.
    pub fn start(machines: u8) -> Option<Self> {
        Self::with(machines, STORE_BYTES, Storage::Memory)
    }

    /// The same with a server whose syncs are real.
    pub fn on_disk(machines: u8) -> Option<Self> {
        Self::with(machines, STORE_BYTES, Storage::Disk)
    }

    /// The same with a server that may store so much, there.
    pub fn with(machines: u8, store_bytes: u64, storage: Storage) -> Option<Self> {
        Self::configured(machines, store_bytes, storage, |text| text)
    }

    /// The same with a server whose configuration somebody changed.
    pub fn configured(
        machines: u8,
        store_bytes: u64,
        storage: Storage,
        change: impl Fn(String) -> String,
    ) -> Option<Self> {
        let admin = Seed::generate().unwrap();
        let machine = |_| {
            let seed = Seed::generate().unwrap();
            let id = machine_of(&seed.public_key().unwrap());
            Machine { id, seed }
        };
        let machines: Vec<Machine> = (0..machines).map(machine).collect();
        let access = |(at, machine): (usize, &Machine)| MachineAccess {
            machine: machine.id.clone(),
            key: machine.seed.public_key().unwrap(),
            may_decide: if at == 0 {
                MayDecide::Yes
            } else {
                MayDecide::No
            },
        };
        let config = |listen, store: &Path| {
            let text = ServerConfig {
                listen,
                store: store.to_owned(),
                store_bytes,
                admin: admin.public_key().unwrap(),
                machines: machines.iter().enumerate().map(access).collect(),
            }
            .text();
            change(text.unwrap())
        };
        let server = NatsServer::start_on(storage, config)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        Some(Self {
            server,
            runtime,
            admin,
            machines,
        })
    }

    pub fn invitation(&self, seed: &Seed) -> Invitation {
        let address = self.server.address();
        let host = address.ip().to_string();
        Invitation::new(Transport::Plain, &host, address.port(), seed.clone()).unwrap()
    }

    pub fn admin(&self) -> Hub {
        Hub::connect(&self.invitation(&self.admin), self.runtime.handle()).unwrap()
    }

    pub fn hub(&self, machine: usize) -> Hub {
        let to = self.invitation(&self.machines[machine].seed);
        Hub::connect(&to, self.runtime.handle()).unwrap()
    }

    /// A machine that gives up sooner.
    pub fn hasty_hub(&self, machine: usize) -> Hub {
        let to = self.invitation(&self.machines[machine].seed);
        let deadlines = Deadlines {
            answer: HASTY,
            settle: Duration::from_secs(3),
            ..Deadlines::default()
        };
        Hub::connect_within(&to, self.runtime.handle(), deadlines).unwrap()
    }

    /// A new repository's stream, made by the administrator.
    pub fn share(&self) -> RepoId {
        let repo: RepoId = Uuid::new_v4().to_string().parse().unwrap();
        RepoStream::create(&self.admin(), &repo, Replicas::One).unwrap();
        repo
    }

    /// A machine's view of it.
    pub fn open(&self, machine: usize, repo: &RepoId) -> RepoStream {
        RepoStream::open(&self.hub(machine), repo, Replicas::One).unwrap()
    }

    pub fn id(&self, machine: usize) -> &MachineId {
        &self.machines[machine].id
    }
}

/// Headers of one operation's change whose one line has this number.
pub fn headers(n: u64) -> ChangeHeaders {
    ChangeHeaders {
        wire: WIRE,
        numbers: Numbers::new(n, n).unwrap(),
        op: Uuid::now_v7(),
        epoch: 1,
    }
}

/// Appends a small change with new headers.
pub fn say(
    stream: &RepoStream,
    machine: &MachineId,
    after: u64,
    body: &str,
) -> Result<u64, AppendError> {
    let change = Change {
        machine,
        lane: Lane::Own,
        headers: headers(after + 1),
        body: body.as_bytes(),
    };
    stream.append(after, &change)
}
