//! The daemon comes and goes, and no command's result depends on it.

use std::{
    collections::BTreeSet,
    fs,
    io::{Read, Write},
    net::TcpStream,
    os::unix::net::UnixStream,
    path::Path,
};

use flagpost_testkit::{
    background::{Background, is_alive, kill, none_is_left_with},
    connection::connected,
    race::{found, until},
    sealed::World,
};
use insta::assert_snapshot;
use rustix::process::Signal;
use serde_json::Value;

use crate::{exits, world, world_with};

/// Sees to it that a world's daemon is gone with the test.
pub struct Daemon<'w>(pub &'w World);

impl Drop for Daemon<'_> {
    fn drop(&mut self) {
        let ran = self.0.flagpost(["down"]);
        if !std::thread::panicking() {
            assert_eq!(ran.code, 0, "{ran}");
        }
    }
}

pub fn pid(world: &World) -> Option<u32> {
    let (_, status) = world.json(["status"]);
    u32::try_from(status["daemon"]["pid"].as_u64()?).ok()
}

/// Asks the daemon by its socket, and does not wait for its answer.
pub fn request(world: &World, line: &str, body: &str) -> UnixStream {
    request_at(&world.home().join("run/daemon.sock"), line, body)
}

fn request_at(socket: &Path, line: &str, body: &str) -> UnixStream {
    let mut stream = found("the daemon listens", || UnixStream::connect(socket).ok());
    let len = body.len();
    let head =
        format!("{line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {len}\r\n\r\n");
    stream
        .write_all(format!("{head}{body}").as_bytes())
        .unwrap();
    stream
}

/// What it answers; none where it was killed before.
pub fn answer(mut stream: UnixStream) -> Option<Value> {
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    serde_json::from_str(text.split_once("\r\n\r\n")?.1).ok()
}

/// What the daemon answers by its socket.
pub fn ask(world: &World, line: &str, body: &str) -> Value {
    answer(request(world, line, body)).unwrap()
}

/// The same where the world's home lies elsewhere.
pub fn ask_at(socket: &Path, line: &str, body: &str) -> Value {
    answer(request_at(socket, line, body)).unwrap()
}

/// Kills it as `kill -9` does, and waits until it is gone.
pub fn kill_daemon(world: &World) {
    let killed = pid(world).expect("a daemon runs");
    kill(killed, Signal::KILL);
    until("it is gone", || pid(world) != Some(killed));
}

/// The same with the daemon's port by its name.
fn redacted(world: &World, text: &str) -> String {
    let note = fs::read_to_string(world.home().join("run/daemon.json")).unwrap();
    let note: Value = serde_json::from_str(&note).unwrap();
    text.replace(note["http"].as_str().unwrap(), "[http]")
}

#[test]
fn a_day_of_it() {
    let world = world_with(&["a"]);
    let _daemon = Daemon(&world);
    transcript!(world, @r#"
    $ down
    no daemon runs
    $ daemon logs
    exit 3
    2> flagpost: there is no log [dir]/home/.flagpost/run/daemon.log
    2>   hint: 'flagpost daemon up' starts the daemon, which keeps it; 'flagpost logs' lists what tasks' agents printed
    $ daemon logs --json
    exit 3
    {"schema":"flagpost.error/1","kind":"not_found","exit_code":3,"message":"there is no log [dir]/home/.flagpost/run/daemon.log","hint":"'flagpost daemon up' starts the daemon, which keeps it; 'flagpost logs' lists what tasks' agents printed","causes":[]}
    "#);
    transcript!(world, |told| redacted(&world, told), @r"
    $ up
    the daemon is up: pid [pid], [http]
    $ up
    the daemon runs already: pid [pid], [http]
    $ up --quiet
    [http]
    $ up --foreground
    exit 4
    2> flagpost: the daemon runs already: pid [pid] (flagpost) since 2026-05-13T14:25:00Z
    2>   hint: a home has one; 'flagpost status' tells how it is reached
    $ status
    web: 1 task (1 pending)

    Ready
      1 a

    daemon: pid [pid], [http]
    ");
    let (_, up) = world.json(["up"]);
    assert_eq!(up["already"], true);
    let pid = pid(&world).unwrap();
    assert_eq!(up["daemon"]["pid"], pid);
    assert!(is_alive(pid));
    let logs = world.ok(["daemon", "logs"]);
    assert!(logs.contains("ready"), "{logs}");
    let (_, again) = world.json(["daemon", "up"]);
    assert_eq!(again["already"], true);
    let (_, down) = world.json(["daemon", "down"]);
    assert_eq!(down["pid"], pid);
    assert!(!is_alive(pid));
    let (code, line) = world.json(["daemon", "logs", "-n", "1"]);
    assert!(
        code == 0 && line["line"].as_str().unwrap().contains("ended"),
        "{line}"
    );
    transcript!(world, @r"
    $ down
    no daemon runs
    $ down --quiet
    $ status
    web: 1 task (1 pending)

    Ready
      1 a
    ");
}

#[test]
fn trap_43_many_starts_make_one_daemon() {
    let world = world();
    let _daemon = Daemon(&world);
    let started: Vec<Background> = (0..8)
        .map(|_| Background::start(world.command().args(["up", "--json"])))
        .collect();
    let pids: BTreeSet<u64> = started
        .into_iter()
        .map(|it| {
            let ended = exits(it.end(), 0);
            let up: Value = serde_json::from_str(&ended.stdout).unwrap();
            up["daemon"]["pid"].as_u64().unwrap()
        })
        .collect();
    assert_eq!(pids.len(), 1, "{pids:?}");
    assert_eq!(pid(&world).map(u64::from), pids.first().copied());
    // None of those that came too late waits to take its place.
    world.ok(["down"]);
    let ours = format!("FLAGPOST_HOME={}", world.home().display());
    none_is_left_with(&ours);
}

#[test]
fn in_the_foreground_a_signal_ends_it() {
    for signal in [Signal::TERM, Signal::INT] {
        let world = world();
        let mut daemon = Background::start(world.command().args(["up", "--foreground"]));
        daemon.until("it is up", |it| pid(&world) == Some(it.id()));
        daemon.signal(signal);
        let ended = daemon.end();
        assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{ended}");
        assert!(ended.stderr.contains("ended"), "{ended}");
        assert_eq!(pid(&world), None);
    }
}

#[test]
fn a_killed_one_is_no_obstacle() {
    let world = world_with(&["a"]);
    let _daemon = Daemon(&world);
    world.ok(["up"]);
    let killed = pid(&world).unwrap();
    kill_daemon(&world);
    world.ok(["list"]);
    world.ok(["up"]);
    assert_ne!(pid(&world).unwrap(), killed);
    assert_eq!(ask(&world, "GET /v1/tasks", "")["total"], 1);
}

#[test]
fn a_port_that_is_taken_is_said() {
    let world = world();
    let _daemon = Daemon(&world);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ran = exits(world.flagpost(["up", "--port", &port]), 1);
    let told = ran.to_string().replace(&port, "[port]");
    assert_snapshot!(told, @r"
    exit 1
    2> flagpost: the daemon did not start: cannot listen at 127.0.0.1:[port]: Address already in use (os error 98)
    2>   hint: [dir]/home/.flagpost/run/daemon.log tells more
    ");
    assert_eq!(pid(&world), None);
}

/// An agent that happens to start it is not who acts from then on.
#[test]
fn it_acts_for_whoever_asks() {
    let world = world();
    let _daemon = Daemon(&world);
    world.ok(["worker", "add", "W1"]);
    world.ok(["assign", "1", "W1", "--inline", "a"]);
    world.ok(["up", "--as", "W9"]);
    ask(
        &world,
        "POST /v1/relay/outbox/ratify",
        r#"{"worker":"W1","seq":1}"#,
    );
    let letter = ask(&world, "GET /v1/relay/inbox/W1/1", "");
    assert_eq!(letter["verdict"]["by"], "ann");
}

#[test]
fn a_log_is_followed() {
    let world = world();
    let _daemon = Daemon(&world);
    world.ok(["up"]);
    let mut following = Background::start(
        world
            .command()
            .args(["daemon", "logs", "--follow", "--json"]),
    );
    world.ok(["down"]);
    following.until("the end is told", |it| it.stdout().contains("ended"));
}

#[test]
fn a_running_one_stays_as_it_is_and_up_says_so() {
    let world = world();
    let _daemon = Daemon(&world);
    world.ok(["up"]);
    transcript!(world, |told| redacted(&world, told), @r"
    $ up --port 7717
    the daemon runs already: pid [pid], [http]
    2> flagpost: ignored, since it runs already: --port; 'flagpost daemon down' first
    $ up --port 7717 --poll --quiet
    [http]
    2> flagpost: ignored, since it runs already: --port, --poll; 'flagpost daemon down' first
    ");
}

#[test]
fn a_note_that_cannot_be_read_is_no_riddle() {
    let world = world();
    let _daemon = Daemon(&world);
    world.ok(["up"]);
    let note = world.home().join("run/daemon.json");
    fs::write(&note, "{").unwrap();
    transcript!(world, @r"
    $ status
    no tasks here yet
    next: flagpost add 'What is to be done', or flagpost demo
    2> flagpost: the daemon, pid [pid], runs, and run/daemon.json cannot be read: 'flagpost daemon down', then 'flagpost daemon up' writes it anew
    $ up
    exit 1
    2> flagpost: the daemon, pid [pid], runs, and [dir]/home/.flagpost/run/daemon.json cannot be read, which tells how to reach it
    2>   hint: 'flagpost daemon down', then 'flagpost daemon up' writes it anew
    $ down
    the daemon, pid [pid], has ended
    ");
    fs::remove_file(&note).unwrap();
    fs::write(&note, "{").unwrap();
    // What a dead one left is no obstacle.
    world.ok(["up"]);
    assert!(pid(&world).is_some());
}

/// Listens at the daemon's socket and becomes the daemon, as systemd does when somebody asks.
const ACTIVATE: &str = "
import os, select, socket, sys
path, binary = sys.argv[1:]
os.makedirs(os.path.dirname(path), 0o700)
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen()
print('listening', flush=True)
select.select([listener], [], [])
os.dup2(listener.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='1')
os.execv(binary, [binary, 'up', '--foreground'])
";

#[test]
fn whoever_asks_at_a_socket_of_systemd_starts_it() {
    let world = world();
    let socket = world.home().join("run/daemon.sock");
    let binary = world.command().get_program().to_owned();
    let mut command = std::process::Command::new("python3");
    command.args(["-c", ACTIVATE]).arg(&socket).arg(&binary);
    for (name, value) in world.command().get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.current_dir(world.command().get_current_dir().unwrap());
    let mut daemon = Background::start(&mut command);
    daemon.until("somebody listens", |it| it.stdout().contains("listening"));
    assert_eq!(pid(&world), None);
    // This waits until the daemon is there that it starts.
    let told = ask(&world, "GET /v1/daemon", "");
    assert_eq!(told["daemon"]["pid"], daemon.id());
    daemon.signal(Signal::TERM);
    exits(daemon.end(), 0);
    // Whoever gave it the socket goes on listening.
    assert!(socket.exists());
    assert_eq!(pid(&world), None);
}

/// What anybody does in a day, with what every command prints.
const DAY: &str = "
    add 'Write the parser' --priority high
    add 'Test it' --after 1
    ready
    claim --next --as W1
    task start 1 --as W1
    done 1 'Written' --as W1 --token 4
    claim 2 --as W2
    claim 2 --as W1
    task release 2 --as W2
    list --all
    task rm 2 --yes
    task undo
    worker add W1
    worker add W2
    assign 7 W1 --inline 'Seven'
    assign 8 W2 --inline 'Eight'
    inbox
    ratify all --count-status
    ratify W1 1
    relay reject W1 1
    worker next --as W1
    worker ack 1 --as W1
    worker report 'Done' --as W1
    outbox
    slash '/search Done'
    relay gc
    doctor
    done 9
    show 1";

#[test]
fn it_changes_no_result_of_any_command() {
    let alone = world().transcript(DAY);
    let world = world();
    let _daemon = Daemon(&world);
    let mut beside = String::new();
    for (n, line) in DAY.trim().lines().enumerate() {
        match n % 5 {
            0 => drop(world.ok(["up"])),
            2 => kill(pid(&world).unwrap(), Signal::KILL),
            4 if n % 2 == 0 => drop(world.ok(["down"])),
            _ => {}
        }
        beside += &world.transcript(line);
    }
    assert_eq!(without_numbers(&beside), without_numbers(&alone));
}

/// Without the numbers of the history's lines: the daemon's own, that W1 gave a sign of life, is between them.
fn without_numbers(told: &str) -> String {
    let line = |line: &str| match line.strip_prefix("history ").map(|it| it.split_once(": ")) {
        Some(Some((_, words))) => format!("history: {words}\n"),
        _ => format!("{line}\n"),
    };
    told.lines().map(line).collect()
}

#[test]
fn with_few_open_files_those_who_show_nothing_keep_out_nobody() {
    let world = world_with(&["a"]);
    let _daemon = Daemon(&world);
    let mut up = world.command_of("sh");
    let up = up.args(["-c", "ulimit -n 64; exec \"$1\" up --quiet", "sh"]);
    let ran = exits(world.run(up.arg(world.command().get_program())), 0);
    let host = ran.stdout.trim().strip_prefix("http://").unwrap();
    let token = fs::read_to_string(world.home().join("run/token")).unwrap();
    let ask = |token: &str| {
        let mut stream = connected(host);
        let head = format!(
            "GET /v1/daemon HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\r\n",
            token.trim()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    };
    let strangers: Vec<TcpStream> = (0..100).map(|_| connected(host)).collect();
    for _ in 0..10 {
        let told = ask(&token);
        assert!(told.starts_with("HTTP/1.1 200"), "{told}");
        let told = ask("x");
        assert!(told.starts_with("HTTP/1.1 401"), "{told}");
    }
    assert_eq!(told_pid(&world), pid(&world));
    drop(strangers);
}

/// Which the daemon says that it is, by its socket.
fn told_pid(world: &World) -> Option<u32> {
    let told = ask(world, "GET /v1/daemon", "");
    u32::try_from(told["daemon"]["pid"].as_u64()?).ok()
}
