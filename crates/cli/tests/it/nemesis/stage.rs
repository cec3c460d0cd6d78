//! Three homes with a clone and a daemon each, three servers, and a way that can be cut between any two of
//! them.

use std::{
    collections::BTreeMap,
    fs,
    net::Ipv4Addr,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use flagpost_core::{Home, Repository};
use flagpost_fleet::{
    Certificate, Cluster, FleetError, FleetRecord, Hub, Invitation, MachineAccess, MachineRecord,
    MayDecide, Membership, Replicas, Runtime, Seed, ServerConfig, Transport, WIRE, machine_of,
    runtime, share,
};
use flagpost_model::RepoId;
use flagpost_testkit::{
    background::Background,
    fleet_log::HomeAfter,
    nats::{NatsServer, Place, Storage, ThreeServers},
    passage::{Passage, PassageState},
    race::until,
    repository,
    sealed::World,
};

use crate::{schemas, world};

/// How many machines there are, beside the one that comes last.
pub const MACHINES: usize = 3;

/// The machines' clocks: no two of those that work are alike.
const CLOCKS: [&str; MACHINES + 1] = ["+0s", "+40s", "-40s", "+0s"];

/// Everything that a nemesis can get at.
pub struct Stage {
    /// The machines, the last of which has joined nothing yet.
    pub machines: Vec<World>,
    daemons: Mutex<Vec<Option<Background>>>,
    three: Mutex<ThreeServers>,
    /// From each machine to each server.
    ways: Vec<Vec<Passage>>,
    transport: Transport,
    seeds: Vec<Seed>,
    admin: Seed,
    repo: Option<RepoId>,
    runtime: Runtime,
    /// When it began.
    pub began: Instant,
}

impl Stage {
    /// Founded and joined, with so many tasks; none, and a line that says so, where there is no server.
    pub fn set(storage: Storage, tasks: usize) -> Option<Self> {
        let certificate = Certificate::generate(&[Ipv4Addr::LOCALHOST.into()]).unwrap();
        let admin = Seed::generate().unwrap();
        let seeds: Vec<Seed> = (0..=MACHINES).map(|_| Seed::generate().unwrap()).collect();
        let three =
            NatsServer::start_three(storage, |place| config(place, &certificate, &admin, &seeds))?;
        let ways = [(); MACHINES + 1].map(|()| {
            three
                .servers
                .each_ref()
                .map(|it| Passage::to(it.address()))
                .into()
        });
        let mut stage = Self {
            machines: CLOCKS.map(|clock| machine(storage, clock)).into(),
            daemons: Mutex::new((0..MACHINES).map(|_| None).collect()),
            three: Mutex::new(three),
            ways: ways.into(),
            transport: Transport::from(Some(&certificate)),
            seeds,
            admin,
            repo: None,
            runtime: runtime("three servers").unwrap(),
            began: Instant::now(),
        };
        stage.repo = Some(stage.found(tasks));
        for machine in 1..MACHINES {
            stage.join(machine);
        }
        for machine in 0..MACHINES {
            stage.start_daemon(machine);
        }
        Some(stage)
    }

    fn found(&self, tasks: usize) -> RepoId {
        let admin = self.invitation(0).with_seed(self.admin.clone());
        let connect = || Hub::connect(&admin, self.runtime.handle());
        until("somebody leads", || {
            connect().is_ok_and(|hub| matches!(hub.fleet(), Err(FleetError::Gone { .. })))
        });
        let record = FleetRecord {
            name: "team".to_owned(),
            epoch: 1,
            wire_min: 1,
            replicas: Replicas::Three,
        };
        connect().unwrap().found(&record).unwrap();
        let first = &self.machines[0];
        git(
            &first.repository(),
            &["commit", "--quiet", "--allow-empty", "-m", "first"],
        );
        let plan: String = (1..=tasks)
            .map(|task| format!("- [ ] Task {task}\n"))
            .collect();
        let imported = first.feed(["import", "-"], plan.as_bytes());
        assert_eq!(imported.code, 0, "{imported}");
        for worker in super::mail::WORKERS {
            first.ok(["worker", "add", worker]);
        }
        let home = Home::at(first.home());
        let member = Membership::of(self.invitation(0), Some(self.admin.clone())).unwrap();
        member.write(&home).unwrap();
        let repository = Repository::find(&home, &first.repository())
            .unwrap()
            .unwrap();
        share(&home, &repository, &"ann".parse().unwrap()).unwrap();
        repository.id
    }

    /// Makes a machine's home one of the fleet, in a clone of the first one's repository.
    pub fn join(&self, machine: usize) {
        let (from, to) = (
            self.machines[0].repository(),
            self.machines[machine].repository(),
        );
        fs::remove_dir_all(&to).unwrap();
        git(
            to.parent().unwrap(),
            &[
                "clone",
                "--quiet",
                from.to_str().unwrap(),
                to.to_str().unwrap(),
            ],
        );
        let record = MachineRecord {
            host: format!("machine {machine}"),
            flagpost: "0".to_owned(),
            wire: WIRE,
            joined: jiff::Timestamp::UNIX_EPOCH,
            left: None,
        };
        let home = Home::at(self.machines[machine].home());
        let joined = flagpost_fleet::join(&home, &self.invitation(machine), &record, &to).unwrap();
        assert!(joined.repository.is_some());
    }

    fn invitation(&self, machine: usize) -> Invitation {
        let servers = self.ways[machine].iter().map(|it| it.address().into());
        let seed = self.seeds[machine].clone();
        Invitation::new(self.transport.clone(), servers.collect(), seed).unwrap()
    }

    /// The servers.
    pub fn three(&self) -> MutexGuard<'_, ThreeServers> {
        self.three.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn start_daemon(&self, machine: usize) {
        let mut command = self.machines[machine].command();
        let started = Background::start(command.args(["up", "--foreground"]));
        self.daemons.lock().unwrap()[machine] = Some(started);
    }

    /// Kills it as `kill -9` does.
    pub fn kill_daemon(&self, machine: usize) {
        self.daemons.lock().unwrap()[machine] = None;
    }

    /// What each daemon said last.
    pub fn said_by_daemons(&self) -> Vec<String> {
        let daemons = self.daemons.lock().unwrap();
        let said = daemons.iter().flatten().map(Background::stderr);
        said.collect()
    }

    /// Which server leads the repository's order, by what each last said of it.
    pub fn leader(&self) -> usize {
        let name = format!(
            "new stream leader for 'FLEET > FP_{}'",
            self.repo.as_ref().unwrap()
        );
        let said = self.three().servers.each_ref().map(|server| {
            let log = server.log();
            let last = log.lines().rfind(|line| line.contains(&name));
            // The time stands in front, behind the process.
            last.and_then(|line| Some(line.split_once(' ')?.1.to_owned()))
        });
        (0..3).max_by_key(|at| said[*at].clone()).unwrap()
    }

    /// Cuts machines from servers, or mends that.
    pub fn to_servers(&self, cut: impl Fn(usize, usize) -> bool, state: PassageState) {
        for (machine, ways) in self.ways.iter().enumerate() {
            for (server, link) in ways.iter().enumerate() {
                if cut(machine, server) {
                    link.set(state);
                }
            }
        }
    }

    fn repository_dir(&self, machine: usize) -> PathBuf {
        let repo = self.repo.as_ref().unwrap().as_str();
        self.machines[machine].home().join("repos").join(repo)
    }

    /// The history of a machine.
    pub fn history(&self, machine: usize) -> String {
        fs::read_to_string(self.repository_dir(machine).join("history.jsonl")).unwrap()
    }

    /// What a machine holds.
    pub fn after(&self, machine: usize) -> HomeAfter {
        let home = self.machines[machine].home();
        let mut files = BTreeMap::new();
        collect(&home, &self.machines[machine].list("web"), &mut files);
        collect(
            &home,
            &self.repository_dir(machine).join("workers"),
            &mut files,
        );
        HomeAfter {
            name: format!("machine {machine}"),
            history: self.history(machine),
            files,
        }
    }
}

/// The files in a directory. Hidden ones, leases of mail, counters and signs of life are a machine's own.
fn collect(home: &Path, dir: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        let is_own = name.starts_with('.')
            || name.ends_with(".offered")
            || ["seq", "worker.json"].contains(&name.as_str());
        if is_own {
            continue;
        }
        if path.is_dir() {
            collect(home, &path, files);
        } else {
            let place = path.strip_prefix(home).unwrap().to_str().unwrap();
            files.insert(place.to_owned(), fs::read(&path).unwrap());
        }
    }
}

/// A home and a repository where syncs are as real as those of the servers.
fn machine(storage: Storage, clock: &str) -> World {
    let made = match storage {
        Storage::Memory => world(),
        Storage::Disk => {
            let below = repository::root().join("target");
            World::below(&below, env!("CARGO_BIN_EXE_flagpost"), schemas::check)
        }
    };
    made.with("FLAGPOST_CLOCK", clock)
}

fn config(place: &Place<'_>, certificate: &Certificate, admin: &Seed, seeds: &[Seed]) -> String {
    let file = place.store.with_extension("pem");
    fs::write(&file, certificate.pem()).unwrap();
    let access = seeds.iter().enumerate().map(|(at, seed)| {
        let key = seed.public_key().unwrap();
        MachineAccess {
            machine: machine_of(&key),
            key,
            may_decide: if at == 0 {
                MayDecide::Yes
            } else {
                MayDecide::No
            },
        }
    });
    let config = ServerConfig {
        listen: place.listen,
        certificate: Some(file),
        store: place.store.to_owned(),
        store_bytes: 20 << 30,
        admin: admin.public_key().unwrap(),
        machines: access.collect(),
        cluster: Some(Cluster {
            listen: place.cluster,
            servers: *place.servers,
            secret: "abc".to_owned(),
        }),
    };
    config.text().unwrap()
}

fn git(dir: &Path, args: &[&str]) {
    let author = ["-c", "user.name=a", "-c", "user.email=a@b"];
    let done = Command::new("git")
        .current_dir(dir)
        .args(author)
        .args(args)
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
}
