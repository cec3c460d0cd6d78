//! A server, an administrator and some machines.

use std::{
    fs,
    net::Ipv4Addr,
    path::{Path, PathBuf},
    time::Duration,
};

use flagpost_fleet::{
    AppendError, Certificate, Change, ChangeHeaders, Cluster, Deadlines, FleetError, Hub,
    Invitation, Lane, MachineAccess, MayDecide, Numbers, Replicas, RepoStream, Seed, ServerConfig,
    Transport, WIRE, machine_of,
};
use flagpost_model::{MachineId, RepoId};
use flagpost_testkit::{
    nats::{NatsServer, Place, ServerWays, Storage, ThreeServers},
    race::until,
};
use tokio::runtime::Runtime;
use uuid::Uuid;

/// What the server may store.
pub const STORE_BYTES: u64 = 20 << 30;

/// How long a hasty machine waits for an answer.
pub const HASTY: Duration = Duration::from_millis(500);

/// The first machine may decide, the others may not.
pub struct World {
    pub server: NatsServer,
    /// The two servers that keep the orders with it, where there are three.
    pub beside: Vec<NatsServer>,
    /// Between the three.
    pub ways: Option<ServerWays>,
    pub runtime: Runtime,
    pub transport: Transport,
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
        let (admin, machines) = keys(machines);
        let config = |listen, store: &Path| {
            let config = ServerConfig {
                listen,
                certificate: None,
                store: store.to_owned(),
                store_bytes,
                admin: admin.public_key().unwrap(),
                machines: access(&machines),
                cluster: None,
            };
            change(config.text().unwrap())
        };
        let server = NatsServer::start_on(storage, config)?;
        Some(Self::of(server, Vec::new(), admin, machines))
    }

    /// The same with three servers, which have chosen who leads, and encrypted ways.
    pub fn three(machines: u8, storage: Storage) -> Option<Self> {
        let certificate = Certificate::generate(&[Ipv4Addr::LOCALHOST.into()]).unwrap();
        Self::three_with(machines, storage, Some(&certificate))
    }

    /// The same with this certificate.
    pub fn three_with(
        machines: u8,
        storage: Storage,
        certificate: Option<&Certificate>,
    ) -> Option<Self> {
        let (admin, machines) = keys(machines);
        let config = |place: &Place<'_>| {
            let config = ServerConfig {
                listen: place.listen,
                certificate: certificate.map(|it| written(it, place.store)),
                store: place.store.to_owned(),
                store_bytes: STORE_BYTES,
                admin: admin.public_key().unwrap(),
                machines: access(&machines),
                cluster: Some(Cluster {
                    listen: place.cluster,
                    servers: *place.servers,
                    secret: "abc".to_owned(),
                }),
            };
            config.text().unwrap()
        };
        let ThreeServers { servers, ways } = NatsServer::start_three(storage, config)?;
        let [server, beside @ ..] = servers;
        let mut world = Self::of(server, beside.into(), admin, machines);
        world.ways = Some(ways);
        world.transport = Transport::from(certificate);
        let admin = world.admin();
        until("somebody leads", || {
            matches!(admin.fleet(), Err(FleetError::Gone { .. }))
        });
        Some(world)
    }

    fn of(
        server: NatsServer,
        beside: Vec<NatsServer>,
        admin: Seed,
        machines: Vec<Machine>,
    ) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        Self {
            server,
            beside,
            ways: None,
            runtime,
            transport: Transport::Plain,
            admin,
            machines,
        }
    }

    /// On how many servers its orders lie.
    fn replicas(&self) -> Replicas {
        match self.beside.is_empty() {
            true => Replicas::One,
            false => Replicas::Three,
        }
    }

    pub fn invitation(&self, seed: &Seed) -> Invitation {
        let servers = [&self.server].into_iter().chain(&self.beside);
        let servers = servers.map(|it| it.address().into()).collect();
        Invitation::new(self.transport.clone(), servers, seed.clone()).unwrap()
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
        self.hub_within(machine, HASTY, Duration::from_secs(3))
    }

    /// A machine that waits so long for an answer, and so long until a change is settled.
    pub fn hub_within(&self, machine: usize, answer: Duration, settle: Duration) -> Hub {
        let to = self.invitation(&self.machines[machine].seed);
        let deadlines = Deadlines {
            answer,
            settle,
            ..Deadlines::default()
        };
        Hub::connect_within(&to, self.runtime.handle(), deadlines).unwrap()
    }

    /// A new repository's stream, made by the administrator.
    pub fn share(&self) -> RepoId {
        let repo: RepoId = Uuid::new_v4().to_string().parse().unwrap();
        RepoStream::create(&self.admin(), &repo, self.replicas()).unwrap();
        repo
    }

    /// A machine's view of it.
    pub fn open(&self, machine: usize, repo: &RepoId) -> RepoStream {
        RepoStream::open(&self.hub(machine), repo).unwrap()
    }

    pub fn id(&self, machine: usize) -> &MachineId {
        &self.machines[machine].id
    }
}

/// The file of a certificate, beside the store of the server that shows it.
fn written(certificate: &Certificate, store: &Path) -> PathBuf {
    let file = store.with_extension("pem");
    fs::write(&file, certificate.pem()).unwrap();
    file
}

/// New keys: the administrator's, and so many machines'.
fn keys(machines: u8) -> (Seed, Vec<Machine>) {
    let machine = |_| {
        let seed = Seed::generate().unwrap();
        let id = machine_of(&seed.public_key().unwrap());
        Machine { id, seed }
    };
    let admin = Seed::generate().unwrap();
    (admin, (0..machines).map(machine).collect())
}

/// What a server is to let in.
fn access(machines: &[Machine]) -> Vec<MachineAccess> {
    let access = |(at, machine): (usize, &Machine)| MachineAccess {
        machine: machine.id.clone(),
        key: machine.seed.public_key().unwrap(),
        may_decide: if at == 0 {
            MayDecide::Yes
        } else {
            MayDecide::No
        },
    };
    machines.iter().enumerate().map(access).collect()
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
