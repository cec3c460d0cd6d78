//! A home has one daemon, which comes and goes without a trace in what anybody did.

use std::{
    io::{Read, Write},
    os::unix::{fs::PermissionsExt, net::UnixListener},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use flagpost_core::Repository;
use flagpost_daemon::{DaemonConfig, DaemonStatus, Error, Started, WatchMode, run, start, status};
use flagpost_disk::fsx::{self, Flock, RealFs};
use flagpost_testkit::race::{ended, until};

use crate::served::Place;

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path)
        .unwrap()
        .permissions()
        .mode()
        & 0o777
}

#[test]
fn trap_43_a_second_one_says_who_runs() {
    let place = Place::new();
    let served = place.serve();
    let config = DaemonConfig {
        home: place.home.clone(),
        actor: "ben".parse().unwrap(),
        port: None,
        watching: WatchMode::Events,
        socket: None,
    };
    let refused = run(config, std::future::ready(())).unwrap_err();
    let Error::Running {
        holder: Some(holder),
    } = &refused
    else {
        panic!("{refused}")
    };
    assert_eq!(holder.pid, served.instance.pid);
    assert_eq!(served.get("/v1/daemon").status, 200);
}

/// The lock of a daemon with the name of a process in it.
fn lock_of(place: &Place, pid: u32) -> PathBuf {
    let run = place.home.root().join("run");
    std::fs::create_dir_all(&run).unwrap();
    let lock = run.join("daemon.lock");
    let name = format!("pid: {pid}\ncommand: flagpost\nsince: 2026-05-13T14:25:00Z\n");
    std::fs::write(&lock, name).unwrap();
    lock
}

/// What that process says of itself as a daemon that is up.
fn note_of(place: &Place, pid: u32) {
    let note = format!(
        r#"{{"pid": {pid}, "version": "0", "started_at": "2026-05-13T14:25:00Z", "http": "http://127.0.0.1:1"}}"#
    );
    std::fs::write(place.home.root().join("run/daemon.json"), note).unwrap();
}

/// It was killed, and its parent has not asked how it ended. `up` would end the next one.
#[test]
fn a_dead_one_does_not_answer_while_the_next_one_takes_its_lock() {
    let place = Place::new();
    let mut dead = Command::new("true").spawn().unwrap();
    let pid = dead.id();
    let lock = lock_of(&place, pid);
    note_of(&place, pid);
    let _next = fsx::try_hold(&RealFs, &lock).unwrap().unwrap();
    until("the dead one does not count as up", || {
        matches!(status(&place.home).unwrap(), DaemonStatus::Starting(_))
    });
    dead.wait().unwrap();
}

/// The system frees a lock once the last thread of a process is gone, which a disk may hold up.
#[test]
fn what_is_left_of_one_that_was_killed_is_waited_for() {
    let place = Place::new();
    let mut dead = Command::new("true").spawn().unwrap();
    let pid = dead.id();
    dead.wait().unwrap();
    let lock = lock_of(&place, pid);
    let left = fsx::try_hold(&RealFs, &lock).unwrap().unwrap();
    std::thread::scope(|scope| {
        let next = scope.spawn(|| drop(place.serve()));
        // Longer than any lock is waited for that somebody only looks at.
        for _ in 0..50 {
            assert!(!next.is_finished(), "it gave up");
            std::thread::sleep(Duration::from_millis(10));
        }
        drop(left);
        next.join().unwrap();
    });
}

/// Says in `run/` that this process is a daemon that is up, and holds its lock.
fn standing_in(place: &Place) -> Box<dyn Flock> {
    let pid = std::process::id();
    let lock = lock_of(place, pid);
    note_of(place, pid);
    let held = fsx::try_hold(&RealFs, &lock).unwrap().unwrap();
    assert!(matches!(status(&place.home).unwrap(), DaemonStatus::Up(_)));
    held
}

/// What starts no daemon, and shows that one was to be started.
fn nothing(place: &Place) -> flagpost_daemon::Result<Started> {
    start(&place.home, Path::new("/bin/false"), &[])
}

#[test]
fn one_that_answers_runs_already() {
    let place = Place::new();
    let served = place.serve();
    let started = nothing(&place).unwrap();
    assert!(started.already);
    assert_eq!(started.instance, served.instance);
}

/// It was killed or told to end, and holds its lock still. One that ends may even be connected to,
/// and one that was given its socket leaves it open for the next.
#[test]
fn one_that_is_about_to_be_gone_does_not_run_already() {
    let gone = "HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\n\r\n{}";
    for answer in [None, Some(""), Some(gone)] {
        let place = Place::new();
        let left = standing_in(&place);
        let socket = flagpost_daemon::Paths::of(&place.home).socket;
        if let Some(answer) = answer {
            let listener = UnixListener::bind(socket).unwrap();
            std::thread::spawn(move || {
                for stream in listener.incoming() {
                    let mut stream = stream.unwrap();
                    let _ = stream.read(&mut [0; 4096]);
                    let _ = stream.write_all(answer.as_bytes());
                }
            });
        }
        std::thread::scope(|scope| {
            let next = scope.spawn(|| nothing(&place));
            for _ in 0..30 {
                assert!(!next.is_finished(), "{answer:?}: {:?}", next.join());
                std::thread::sleep(Duration::from_millis(10));
            }
            drop(left);
            let started = next.join().unwrap();
            assert!(
                matches!(started, Err(Error::NotStarted { .. })),
                "{started:?}"
            );
        });
    }
}

#[test]
fn nobody_else_gets_at_its_files() {
    let place = Place::new();
    let served = place.serve();
    assert_eq!(mode(&served.paths.dir), 0o700);
    for path in [&served.paths.socket, &served.paths.token] {
        assert_eq!(mode(path), 0o600, "{}", path.display());
    }
    assert_eq!(mode(&served.paths.dir.join("daemon.json")), 0o600);
}

#[test]
fn it_ends_at_once_and_takes_its_socket_along() {
    let place = Place::new();
    let served = place.serve();
    // Those that say nothing, and one in the middle of a request, hold nothing up for long.
    let idle = [served.socket(), served.socket()];
    let mut slow = served.tcp();
    std::io::Write::write_all(&mut slow, b"POST /v1/links HTTP/1.1\r\nHost: ").unwrap();
    let paths = served.paths.clone();
    ended("the daemon ends beside them", || drop(served));
    assert!(matches!(status(&place.home).unwrap(), DaemonStatus::Down));
    assert!(!paths.socket.exists());
    drop((idle, slow));
}

#[test]
fn the_next_one_is_found_where_the_last_one_was() {
    let place = Place::new();
    let before = place.serve().instance.http.clone();
    assert_eq!(place.serve().instance.http, before);
}

#[test]
fn a_socket_that_somebody_left_is_no_obstacle() {
    let place = Place::new();
    let paths = flagpost_daemon::Paths::of(&place.home);
    std::fs::create_dir_all(&paths.dir).unwrap();
    drop(std::os::unix::net::UnixListener::bind(&paths.socket).unwrap());
    drop(std::os::unix::net::UnixListener::bind(paths.dir.join(".sock")).unwrap());
    std::fs::write(paths.dir.join("daemon.json"), "{").unwrap();
    std::fs::write(&paths.token, "of the one before").unwrap();
    let served = place.serve();
    assert_eq!(served.get("/v1/daemon").status, 200);
    assert_eq!(served.token.len(), 64);
}

/// As `rm -rf` and another `init` leave it.
#[test]
fn one_whose_home_was_made_anew_ends_and_leaves_the_next_one_alone() {
    let place = Place::new();
    let before = place.serve();
    std::fs::remove_dir_all(place.home.root()).unwrap();
    Repository::register(&place.home, &place.top(), &"ann".parse().unwrap()).unwrap();
    let next = place.serve();
    until("the one before ends", || before.has_ended());
    assert_eq!(next.get("/v1/daemon").status, 200);
    assert!(next.paths.socket.exists());
}

#[test]
fn one_whose_home_was_removed_ends_and_makes_none() {
    let place = Place::new();
    let served = place.serve();
    // Its note is durable by then.
    until("it is announced", || served.get("/v1/daemon").status == 200);
    std::fs::remove_dir_all(place.home.root()).unwrap();
    until("it ends", || served.has_ended());
    assert!(!place.home.root().exists());
}
