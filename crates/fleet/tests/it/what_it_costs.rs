//! What an append, a connection and a reader cost, beside a sync of the disk, a bare key and PostgreSQL.
//! Measures; nothing fails by being slow.

use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use flagpost_fleet::{AppendError, Hub, RepoStream};
use flagpost_testkit::{nats::Storage, patience::patience, repository};
use rustix::process::{Pid, Signal, kill_process};

use crate::world::{World, say};

/// How long machines ask.
const ASKING: Duration = Duration::from_secs(10);

/// So many as fast as they can.
const HAMMERING: usize = 16;

/// So many once in a second.
const MACHINES: u8 = 20;

/// The middle and the slow end of what was measured.
fn row(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100];
    println!(
        "{what}: p50 {:?}, p95 {:?}, p99 {:?}",
        at(50),
        at(95),
        at(99)
    );
}

fn timed(times: usize, mut work: impl FnMut(usize)) -> Vec<Duration> {
    let one = |at| {
        let began = Instant::now();
        work(at);
        began.elapsed()
    };
    (0..times).map(one).collect()
}

#[test]
#[ignore = "measures"]
fn an_append_a_connection_and_a_reader() {
    let Some(world) = World::on_disk(2) else {
        return;
    };
    let repo = world.share();
    let (here, there) = (world.open(0, &repo), world.open(1, &repo));
    let body = "x".repeat(750);
    let append = |at: usize| {
        say(&here, world.id(0), at as u64, &body).unwrap();
    };
    row("append of 750 B", timed(2000, append));
    let connect = |_| {
        Hub::connect(
            &world.invitation(&world.machines[0].seed),
            world.runtime.handle(),
        )
        .unwrap();
    };
    row("connect", timed(100, connect));
    row(
        "last message",
        timed(500, |_| assert!(there.last().unwrap().is_some())),
    );

    let began = Instant::now();
    let mut reader = there.read_from(1).unwrap();
    for _ in 0..2000 {
        reader.next(patience()).unwrap().unwrap();
    }
    println!("2000 messages read in {:?}", began.elapsed());

    let mut known = Vec::new();
    for at in 2000..2500 {
        let began = Instant::now();
        thread::scope(|scope| {
            scope.spawn(|| append(at));
            reader.next(patience()).unwrap().unwrap();
            known.push(began.elapsed());
        });
    }
    row("asked here to known there", known);
}

#[test]
#[ignore = "measures"]
fn sixteen_machines_at_once_beside_a_sync_a_bare_key_and_postgresql() {
    let dir = tempfile::TempDir::new_in(repository::root().join("target")).unwrap();
    let body = "x".repeat(750);
    let mut file = File::create(dir.path().join("floor")).unwrap();
    let sync = |_| {
        file.write_all(body.as_bytes()).unwrap();
        file.sync_data().unwrap();
    };
    row("floor: 750 B and a sync", timed(500, sync));
    for servers in [1, 3] {
        let world = match servers {
            1 => World::on_disk(MACHINES),
            _ => World::three(MACHINES, Storage::Disk),
        };
        let Some(world) = world else { return };
        println!("-- servers: {servers}");
        let repo = world.share();
        let alone = world.open(0, &repo);
        let append = |at: usize| {
            say(&alone, world.id(0), at as u64, &body).unwrap();
        };
        row("append, one machine", timed(1000, append));
        let streams: Vec<_> = (0..MACHINES.into())
            .map(|at| world.open(at, &repo))
            .collect();
        ask(&world, &streams[..HAMMERING], Duration::ZERO);
        ask(&world, &streams, Duration::from_secs(1));
        bare_key(&world, &body);
    }
    postgresql(dir.path());
}

/// Each machine appends, again where another one was first, and then after this pause once more.
fn ask(world: &World, streams: &[RepoStream], pause: Duration) {
    let (began, overtaken) = (Instant::now(), AtomicU64::new(0));
    let times: Vec<Vec<Duration>> = thread::scope(|scope| {
        let each = streams.iter().enumerate().map(|(at, stream)| {
            let overtaken = &overtaken;
            scope.spawn(move || {
                // They do not ask in step.
                thread::sleep(pause * at as u32 / streams.len() as u32);
                let (mut times, mut asked) = (Vec::new(), Instant::now());
                while began.elapsed() < ASKING {
                    let last = stream.last_with((1, 0)).unwrap().map_or(0, |last| last.seq);
                    match say(stream, world.id(at), last, "claimed") {
                        Ok(_) => {
                            times.push(asked.elapsed());
                            thread::sleep(pause);
                            asked = Instant::now();
                        }
                        Err(AppendError::Overtaken) => {
                            overtaken.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
                times
            })
        });
        let each: Vec<_> = each.collect();
        each.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let taken: usize = times.iter().map(Vec::len).sum();
    let fewest = times.iter().map(Vec::len).min().unwrap_or_default();
    println!(
        "{} machines, {pause:?} between: {:.0} changes a second, {} overtaken, the slowest machine made {fewest}",
        streams.len(),
        taken as f64 / began.elapsed().as_secs_f64(),
        overtaken.into_inner(),
    );
    row("  each waits", times.concat());
}

/// What a claim would cost that is one key's compare and set, and nothing else.
fn bare_key(world: &World, body: &str) {
    let subject = format!("$KV.bare.{}", world.id(0));
    world.runtime.block_on(async {
        let to = world.invitation(&world.admin);
        let options = async_nats::ConnectOptions::with_nkey(world.admin.reveal().to_owned());
        let client = options
            .connect(to.to_string().split(',').next().unwrap())
            .await
            .unwrap();
        let config = serde_json::json!({
            "name": "KV_bare", "subjects": ["$KV.bare.>"], "max_msgs_per_subject": 1,
            "discard": "new", "num_replicas": world.beside.len() + 1,
        });
        let made = client.request("$JS.API.STREAM.CREATE.KV_bare", config.to_string().into());
        made.await.unwrap();
        let (mut times, mut seq) = (Vec::new(), 0_u64);
        for _ in 0..1000 {
            let began = Instant::now();
            let mut headers = async_nats::HeaderMap::new();
            headers.insert(
                "Nats-Expected-Last-Subject-Sequence",
                seq.to_string().as_str(),
            );
            let answer = client
                .request_with_headers(subject.clone(), headers, body.to_owned().into())
                .await
                .unwrap();
            let answer: serde_json::Value = serde_json::from_slice(&answer.payload).unwrap();
            seq = answer["seq"].as_u64().unwrap();
            times.push(began.elapsed());
        }
        row("bare key, one machine", times);
    });
}

/// Claims of a table's rows with `SKIP LOCKED`, on the same disk. PostgreSQL runs as nobody but root.
fn postgresql(dir: &Path) {
    let Some(bin) = programs() else {
        return println!("-- PostgreSQL is not installed");
    };
    let data = dir.join("pg");
    std::fs::create_dir(&data).unwrap();
    let owner = rustix::process::geteuid().is_root().then_some("postgres");
    if let Some(owner) = owner {
        let owned = [dir, &data].iter().all(|it| {
            let mut chown = Command::new("chown");
            chown.arg(owner).arg(it).status().unwrap().success()
        });
        assert!(owned, "{owner} can own a directory");
    }
    let run = |program: &str, args: &[&str]| {
        let program = bin.join(program);
        let mut command = match owner {
            None => Command::new(program),
            Some(owner) => {
                let mut command = Command::new("runuser");
                command.args(["-u", owner, "--"]).arg(program);
                command
            }
        };
        command.current_dir(dir).args(args);
        command
    };
    let ok = |mut command: Command| {
        let done = command.output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{said}");
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    let (data, socket) = (data.to_str().unwrap(), dir.to_str().unwrap());
    ok(run("initdb", &["-A", "trust", "-U", "it", "-D", data]));
    let options = format!("-c listen_addresses= -k {socket}");
    ok(run(
        "pg_ctl",
        &[
            "start", "-w", "-s", "-D", data, "-l", "pg/log", "-o", &options,
        ],
    ));
    let pid = std::fs::read_to_string(Path::new(data).join("postmaster.pid")).unwrap();
    let pid = pid
        .lines()
        .next()
        .and_then(|it| it.parse().ok())
        .and_then(Pid::from_raw);
    let server = Ended(pid.unwrap());
    let make = "create table task (id serial primary key, owner text, body text);
        insert into task (body) select repeat('x', 750) from generate_series(1, 200000);
        create index on task (id) where owner is null;";
    ok(run(
        "psql",
        &["-q", "-h", socket, "-U", "it", "-c", make, "postgres"],
    ));
    let claim = "update task set owner = 'w' where id = (select id from task where owner is null
        order by id for update skip locked limit 1);";
    std::fs::write(dir.join("claim.sql"), claim.replace('\n', " ")).unwrap();
    for clients in ["1", "16"] {
        let said = ok(run(
            "pgbench",
            &[
                "-n",
                "-h",
                socket,
                "-U",
                "it",
                "-c",
                clients,
                "-T",
                "10",
                "-f",
                "claim.sql",
                "postgres",
            ],
        ));
        let told = said
            .lines()
            .filter(|it| it.contains("latency average") || it.contains("tps"));
        println!(
            "PostgreSQL, {clients} clients: {}",
            Vec::from_iter(told).join(", ")
        );
    }
    drop(server);
}

/// A PostgreSQL that is told to end with its value.
struct Ended(Pid);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = kill_process(self.0, Signal::INT);
    }
}

/// Where PostgreSQL's programs are.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut bins = versions.filter_map(|it| Some(it.ok()?.path().join("bin")));
    bins.find(|it| it.join("pgbench").exists())
}
