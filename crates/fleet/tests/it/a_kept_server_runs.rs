//! A server that a machine keeps: it lets in and shuts out while it runs, comes back when it dies, and
//! ends with its keeper.

use std::{
    collections::HashSet,
    net::TcpListener,
    path::Path,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, Instant},
};

use flagpost_fleet::{
    AppendError, Change, FleetError, KeeperEvent, KeptServer, Lane, MayDecide, RepoStream,
    ServerError,
};
use flagpost_testkit::{
    background::{is_alive, kill},
    patience::patience,
    race::{self, Children, until},
};
use jiff::Timestamp;
use rustix::process::Signal;

use crate::{
    kept::Kept,
    world::{Machine, headers, say},
};

const CHILDREN: Children = Children::of("a_kept_server_runs::child");

/// What one machine has stored while the server was changed under it.
#[derive(Default)]
struct Work {
    stored: AtomicU64,
    longest_ms: AtomicU64,
    unknown: AtomicU64,
    unreachable: AtomicU64,
    done: AtomicBool,
}

/// Says that it is done, also where a test fails.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Appends without a pause, as the only one, until it is told to end.
fn work_on(stream: &RepoStream, machine: &Machine, work: &Work) -> u64 {
    let mut after = stream.last().unwrap().map_or(0, |last| last.seq);
    while !work.done.load(Ordering::Relaxed) {
        let change = Change {
            machine: &machine.id,
            lane: Lane::Own,
            headers: headers(after + 1),
            body: b"x",
        };
        let began = Instant::now();
        let mut outcome = stream.append(after, &change);
        while outcome == Err(AppendError::Unknown) {
            work.unknown.fetch_add(1, Ordering::Relaxed);
            outcome = stream.settle(after, &change);
        }
        match outcome {
            Ok(seq) => {
                assert_eq!(seq, after + 1);
                after = seq;
                work.stored.fetch_add(1, Ordering::Relaxed);
                let took = u64::try_from(began.elapsed().as_millis()).unwrap();
                work.longest_ms.fetch_max(took, Ordering::Relaxed);
            }
            Err(AppendError::Unreachable { .. }) => {
                work.unreachable.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => panic!("{error}"),
        }
    }
    after
}

#[test]
fn machines_are_let_in_while_another_one_works() {
    let Some(kept) = Kept::start() else { return };
    let first = kept.let_in(0, MayDecide::No);
    let repo = kept.share();
    let stream = kept.open(&first, &repo);
    let work = Work::default();
    let mut opened = Vec::new();
    let last = std::thread::scope(|scope| {
        let worker = scope.spawn(|| work_on(&stream, &first, &work));
        let _at_the_end = Done(&work.done);
        for number in 1..=8 {
            let before = work.stored.load(Ordering::Relaxed);
            let machine = kept.let_in(number, MayDecide::No);
            let hub = kept.hub(&machine.seed);
            let theirs = RepoStream::open(&hub, &repo).unwrap();
            // Each of its imports: what is stored, a reader with all that was stored and is stored now, and
            // its own subject, where it is only overtaken.
            assert!(theirs.get(1).unwrap().is_some());
            let mut reader = theirs.read_from(1).unwrap();
            let mut read = 0;
            while read <= before + 5 {
                let next = reader.next(patience()).unwrap().unwrap();
                assert_eq!(next.seq, read + 1);
                read = next.seq;
            }
            assert!(hub.syncs_always().unwrap());
            assert_eq!(
                say(&theirs, &machine.id, 0, "x"),
                Err(AppendError::Overtaken)
            );
            let others = say(&theirs, &first.id, 0, "x");
            assert!(
                matches!(others, Err(AppendError::NotAllowed { .. })),
                "{others:?}"
            );
            opened.push((machine, theirs));
        }
        until("the first goes on", || {
            work.stored.load(Ordering::Relaxed) > 100
        });
        work.done.store(true, Ordering::Relaxed);
        worker.join().unwrap()
    });
    let count = |it: &AtomicU64| it.load(Ordering::Relaxed);
    println!(
        "{} stored, the slowest after {} ms, {} unknown, {} unreachable",
        count(&work.stored),
        count(&work.longest_ms),
        count(&work.unknown),
        count(&work.unreachable)
    );
    assert_eq!(last, count(&work.stored));
    // All of them write.
    for (at, (machine, theirs)) in (last..).zip(&opened) {
        assert_eq!(say(theirs, &machine.id, at, "x"), Ok(at + 1));
    }
}

fn speaks_for_the_gate(stream: &RepoStream, machine: &Machine) -> Option<bool> {
    let after = stream.last().ok()?.map_or(0, |last| last.seq);
    let change = Change {
        machine: &machine.id,
        lane: Lane::Gate,
        headers: headers(after + 1),
        body: b"x",
    };
    match stream.append(after, &change) {
        Ok(_) => Some(true),
        Err(AppendError::NotAllowed { .. }) => Some(false),
        Err(_) => None,
    }
}

#[test]
fn what_a_machine_may_is_changed_while_it_is_connected() {
    let Some(kept) = Kept::start() else { return };
    let machine = kept.let_in(0, MayDecide::No);
    let repo = kept.share();
    let stream = kept.open(&machine, &repo);
    assert_eq!(speaks_for_the_gate(&stream, &machine), Some(false));
    for (may_decide, speaks) in [
        (MayDecide::Yes, true),
        (MayDecide::No, false),
        (MayDecide::Yes, true),
    ] {
        kept.allow(&machine, may_decide).unwrap();
        until("the server knows", || {
            speaks_for_the_gate(&stream, &machine) == Some(speaks)
        });
        let after = stream.last().unwrap().map_or(0, |last| last.seq);
        assert_eq!(say(&stream, &machine.id, after, "x"), Ok(after + 1));
    }
}

#[test]
fn a_machine_that_is_shut_out_is_gone_and_the_others_stay() {
    let Some(kept) = Kept::start() else { return };
    let (stays, goes) = (
        kept.let_in(0, MayDecide::No),
        kept.let_in(1, MayDecide::Yes),
    );
    let repo = kept.share();
    let stream = kept.open(&stays, &repo);
    let theirs = kept.open(&goes, &repo);
    assert_eq!(say(&theirs, &goes.id, 0, "x"), Ok(1));
    let hasty = kept.connect_for(&goes.seed, Duration::from_secs(1));
    let hasty = RepoStream::open(&hasty.unwrap(), &repo).unwrap();
    let mut reader = theirs.read_from(1).unwrap();
    assert!(reader.next(patience()).unwrap().is_some());
    let gone = kept.server.shut_out(&goes.id, Timestamp::now()).unwrap();
    assert_eq!(gone.unwrap().machine, goes.id);
    until("it is not let in again", || {
        matches!(kept.connect(&goes.seed), Err(FleetError::NotAllowed { .. }))
    });
    // It hears and says nothing any more.
    assert_eq!(say(&stream, &stays.id, 1, "y"), Ok(2));
    assert!(say(&hasty, &goes.id, 2, "x").is_err());
    let heard = reader.next(Duration::from_millis(500));
    assert!(!matches!(heard, Ok(Some(_))), "{heard:?}");
    assert_eq!(stream.last().unwrap().unwrap().seq, 2);
    // It may come back with another key, and its old one does not open.
    let back = kept.let_in(1, MayDecide::No);
    let theirs = kept.open(&back, &repo);
    assert_eq!(say(&theirs, &back.id, 2, "x"), Ok(3));
    assert!(kept.connect(&goes.seed).is_err());
}

#[test]
fn a_server_that_is_killed_comes_back_with_all_that_it_had() {
    let Some(kept) = Kept::start() else { return };
    let machine = kept.let_in(0, MayDecide::No);
    let repo = kept.share();
    let stream = kept.open(&machine, &repo);
    let mut pid = kept.server_pid();
    let mut pids = HashSet::from([pid]);
    let mut after = 0;
    for _ in 0..3 {
        for _ in 0..50 {
            after = say(&stream, &machine.id, after, "x").unwrap();
        }
        kill(pid, Signal::KILL);
        let keeper = kept.keeper.as_ref().unwrap();
        pid = keeper.started();
        assert!(pids.insert(pid));
        until(
            "the stream is there again",
            || matches!(stream.last(), Ok(Some(last)) if last.seq == after),
        );
    }
    let mut reader = stream.read_from(1).unwrap();
    for seq in 1..=after {
        let read = reader.next(patience()).unwrap().unwrap();
        assert_eq!(read.seq, seq);
    }
}

#[test]
fn a_keeper_that_ends_ends_its_server() {
    let Some(mut kept) = Kept::start() else {
        return;
    };
    let pid = kept.server_pid();
    kept.keeper.take().unwrap().end().unwrap();
    assert!(!is_alive(pid));
    assert!(
        kept.log().contains("Server Exiting"),
        "it was asked to end\n{}",
        kept.log()
    );
    assert!(matches!(
        kept.connect(&kept.admin),
        Err(FleetError::Unreachable { .. })
    ));
    // One that does not hear is killed.
    let keeper = kept.keep();
    let pid = keeper.started();
    kill(pid, Signal::STOP);
    keeper.end().unwrap();
    assert!(!is_alive(pid));
    assert_eq!(kept.server.keeper().unwrap(), None);
}

#[test]
fn a_second_keeper_is_refused() {
    let Some(kept) = Kept::start() else { return };
    let pid = kept.server_pid();
    let second = kept.keep().end().unwrap_err();
    let ServerError::Kept { holder, .. } = &second else {
        panic!("{second:?}");
    };
    assert_eq!(holder.as_ref().unwrap().pid, std::process::id());
    let named = format!("pid {}", std::process::id());
    assert!(second.to_string().contains(&named), "{second}");
    assert_eq!(
        kept.server.keeper().unwrap().unwrap().pid,
        std::process::id()
    );
    assert!(is_alive(pid));
    kept.connect(&kept.admin).unwrap();
}

#[test]
fn a_server_that_a_killed_keeper_left_is_ended_first() {
    let Some(kept) = Kept::found() else { return };
    let machine = kept.let_in(0, MayDecide::No);
    let (mut after, mut repo) = (0, None);
    for is_deaf in [false, true] {
        let child = CHILDREN.start("keep", kept.server.dir());
        let older: u32 = child.next_report().unwrap().parse().unwrap();
        let hub = kept.hub(&machine.seed);
        let repo = repo.get_or_insert_with(|| kept.share());
        let stream = RepoStream::open(&hub, repo).unwrap();
        for _ in 0..50 {
            after = say(&stream, &machine.id, after, "x").unwrap();
        }
        child.kill();
        assert!(is_alive(older));
        assert_eq!(
            stream.last().unwrap().unwrap().seq,
            after,
            "it goes on alone"
        );
        if is_deaf {
            kill(older, Signal::STOP);
        }
        let keeper = kept.keep();
        let ended = keeper.next();
        assert!(
            matches!(ended, KeeperEvent::OlderEnded { pid } if pid == older),
            "{ended:?}"
        );
        assert!(!is_alive(older));
        assert_ne!(keeper.started(), older);
        until(
            "the stream is there again",
            || matches!(stream.last(), Ok(Some(last)) if last.seq == after),
        );
        after = say(&stream, &machine.id, after, "x").unwrap();
        keeper.end().unwrap();
    }
}

/// Keeps the server in `place` until it is killed.
#[test]
fn child() {
    let Some(part) = race::part() else { return };
    assert_eq!(part.role(), "keep");
    let Some(program) = flagpost_testkit::nats::program() else {
        return;
    };
    let server = KeptServer::open(part.place()).unwrap().unwrap();
    let never = AtomicBool::new(false);
    let mut tell = |event| {
        if let KeeperEvent::Started { pid } = event {
            part.report(pid);
        }
    };
    server
        .keep(&program, &never, Timestamp::now(), &mut tell)
        .unwrap();
}

#[test]
fn a_server_that_cannot_start_says_why_and_is_tried_again() {
    let Some(kept) = Kept::found() else { return };
    let taken = TcpListener::bind(kept.listen);
    let keeper = kept.keep();
    keeper.started();
    let mut pauses = Vec::new();
    for _ in 0..3 {
        let died = loop {
            match keeper.next() {
                KeeperEvent::Started { .. } => {}
                other => break other,
            }
        };
        let KeeperEvent::Died { said, pause, .. } = died else {
            panic!("{died:?}");
        };
        assert!(said.unwrap().contains("address already in use"));
        pauses.push(pause);
    }
    assert_eq!(pauses, [100, 200, 400].map(Duration::from_millis));
    drop(taken);
    until("it answers", || kept.connect(&kept.admin).is_ok());
    keeper.end().unwrap();

    let keeper = crate::kept::Keeper::start(&kept.server, Path::new("/nowhere/nats-server"));
    let failed = keeper.next();
    assert!(
        matches!(
            failed,
            KeeperEvent::NotStarted {
                error: ServerError::System { .. },
                ..
            }
        ),
        "{failed:?}"
    );
    keeper.end().unwrap();
}
