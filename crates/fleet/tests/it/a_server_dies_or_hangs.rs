//! What a server's death or silence leaves: nothing acknowledged is lost, nothing is stored twice, and
//! every unknown is settled by reading back.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Instant,
};

use flagpost_fleet::{AppendError, Change, Deadlines, FleetError, Hub, Lane, RepoStream};
use flagpost_model::MachineId;
use flagpost_testkit::{
    patience::patience,
    race::{ended, until},
};
use uuid::Uuid;

use crate::world::{HASTY, World, headers, say};

/// What an appender was told of one operation.
enum Told {
    /// It is stored there.
    Stored(Uuid, u64),
    /// The same, after nobody had known for a while.
    Settled(Uuid, u64),
    /// It is not stored.
    NotStored(Uuid),
}

/// What all appenders see of each other.
#[derive(Default)]
struct Progress {
    stored: AtomicU64,
    unknown: AtomicU64,
    done: AtomicBool,
}

/// Appends until it is told to end, and settles each unknown before it goes on.
fn append_on(stream: &RepoStream, machine: &MachineId, progress: &Progress) -> Vec<Told> {
    let (mut told, mut after) = (Vec::new(), 0);
    while !progress.done.load(Ordering::Relaxed) {
        let change = Change {
            machine,
            lane: Lane::Own,
            headers: headers(after + 1),
            body: b"x",
        };
        let op = change.headers.op;
        let mut outcome = stream.append(after, &change);
        let was_unknown = outcome == Err(AppendError::Unknown);
        if was_unknown {
            progress.unknown.fetch_add(1, Ordering::Relaxed);
            until("it is settled", || {
                outcome = stream.settle(after, &change);
                outcome != Err(AppendError::Unknown)
            });
        }
        match outcome {
            Ok(seq) => {
                progress.stored.fetch_add(1, Ordering::Relaxed);
                after = seq;
                told.push(if was_unknown {
                    Told::Settled(op, seq)
                } else {
                    Told::Stored(op, seq)
                });
            }
            Err(AppendError::Overtaken | AppendError::Unreachable { .. }) => {
                let last = stream.last().ok().flatten();
                after = last.map_or(after, |it| it.seq);
                told.push(Told::NotStored(op));
            }
            Err(error) => panic!("{error}"),
        }
    }
    told
}

#[test]
fn a_server_killed_while_it_stores_loses_nothing_that_it_acknowledged() {
    const APPENDERS: u8 = 4;
    let Some(mut world) = World::on_disk(APPENDERS) else {
        return;
    };
    let repo = world.share();
    let streams: Vec<(RepoStream, MachineId)> = (0..usize::from(APPENDERS))
        .map(|at| {
            let stream = RepoStream::open(&world.hasty_hub(at), &repo);
            (stream.unwrap(), world.id(at).clone())
        })
        .collect();
    let progress = Progress::default();
    let told: Vec<Told> = std::thread::scope(|scope| {
        let appenders: Vec<_> = streams
            .iter()
            .map(|(stream, machine)| scope.spawn(|| append_on(stream, machine, &progress)))
            .collect();
        for round in 1..=6 {
            until("some are stored", || {
                progress.stored.load(Ordering::Relaxed) >= round * 60
            });
            let before = progress.unknown.load(Ordering::Relaxed);
            world.server.kill();
            // Now and then it stays away until somebody gives up, if anybody was being answered.
            if round % 3 == 0 {
                let began = Instant::now();
                until("somebody does not know", || {
                    let unknown = progress.unknown.load(Ordering::Relaxed);
                    unknown > before || began.elapsed() > 10 * HASTY
                });
            }
            world.server.restart();
        }
        until("some are stored at the end", || {
            progress.stored.load(Ordering::Relaxed) >= 420
        });
        progress.done.store(true, Ordering::Relaxed);
        let told = appenders.into_iter().flat_map(|it| it.join().unwrap());
        told.collect()
    });

    let stream = world.open(0, &repo);
    let last = stream.last().unwrap().unwrap().seq;
    let mut reader = stream.read_from(1).unwrap();
    let mut read = || reader.next(patience()).unwrap().unwrap();
    let places: HashMap<Uuid, u64> = (1..=last).map(|seq| (read().headers.op, seq)).collect();
    assert_eq!(places.len() as u64, last, "an operation is stored twice");
    let (mut stored, mut settled, mut not) = (0, 0, 0);
    for told in &told {
        let (op, place, count) = match told {
            Told::Stored(op, seq) => (op, Some(seq), &mut stored),
            Told::Settled(op, seq) => (op, Some(seq), &mut settled),
            Told::NotStored(op) => (op, None, &mut not),
        };
        assert_eq!(places.get(op), place);
        *count += 1;
    }
    println!("{stored} acknowledged, {settled} settled as stored, {not} not; {last} messages");
    assert_eq!(last, stored + settled);
}

#[test]
fn a_change_whose_answer_was_lost_is_found_where_it_lies() {
    let Some(mut world) = World::start(1) else {
        return;
    };
    let repo = world.share();
    let hub = world.hub_within(0, HASTY, patience());
    let stream = RepoStream::open(&hub, &repo).unwrap();
    let machine = world.id(0).clone();
    let change = Change {
        machine: &machine,
        lane: Lane::Own,
        headers: headers(1),
        body: b"x",
    };
    // What lies in the connection that was given up is stored, or what was sent again is: one of them.
    std::thread::scope(|scope| {
        world.server.stop();
        let began = Instant::now();
        let append = scope.spawn(|| stream.append(0, &change));
        until("the first answer is given up", || {
            began.elapsed() > 2 * HASTY
        });
        world.server.cont();
        assert_eq!(append.join().unwrap(), Ok(1));
    });
    // It is the one that is there, however it is asked for.
    assert_eq!(stream.append(0, &change), Ok(1));
    assert_eq!(stream.settle(0, &change), Ok(1));
    let other = Change {
        headers: headers(1),
        ..change
    };
    assert_eq!(stream.append(0, &other), Err(AppendError::Overtaken));
    assert_eq!(stream.settle(0, &other), Err(AppendError::Overtaken));
    assert_eq!(stream.last().unwrap().unwrap().seq, 1);
}

#[test]
fn a_server_that_hangs_past_the_deadline_gives_unknown_and_what_it_has_is_settled_later() {
    let Some(mut world) = World::start(1) else {
        return;
    };
    let repo = world.share();
    let stream = RepoStream::open(&world.hub(0), &repo).unwrap();
    let machine = world.id(0).clone();
    let change = Change {
        machine: &machine,
        lane: Lane::Own,
        headers: headers(1),
        body: b"x",
    };
    world.server.stop();
    let began = Instant::now();
    assert_eq!(stream.append(0, &change), Err(AppendError::Unknown));
    let took = began.elapsed();
    println!("unknown after {took:?}");
    assert!(took >= Deadlines::default().settle, "{took:?}");
    // Nobody is asked while it hangs, and that is said: this one was never sent.
    let second = say(&stream, world.id(0), 0, "y");
    assert!(
        matches!(
            second,
            Err(AppendError::Unreachable { .. } | AppendError::Unknown)
        ),
        "{second:?}"
    );
    world.server.cont();
    // What hung in the server's socket may be stored now, the second too; each is told of truly.
    let mut settled = Err(AppendError::Unknown);
    until("it is settled", || {
        settled = stream.settle(0, &change);
        !matches!(
            settled,
            Err(AppendError::Unknown | AppendError::Unreachable { .. })
        )
    });
    let first = stream.get(1).unwrap().unwrap();
    let mine = first.headers.op == change.headers.op;
    assert_eq!(
        settled,
        if mine {
            Ok(1)
        } else {
            Err(AppendError::Overtaken)
        }
    );
    assert_eq!(stream.last().unwrap().unwrap().seq, 1);
}

#[test]
fn without_a_server_nothing_is_stored_and_that_is_known() {
    let Some(mut world) = World::start(1) else {
        return;
    };
    let repo = world.share();
    let stream = RepoStream::open(&world.hasty_hub(0), &repo).unwrap();
    world.server.kill();
    let mut unknown = 0;
    until("the connection is seen to be gone", || {
        let said = say(&stream, world.id(0), 0, "x");
        unknown += u32::from(said == Err(AppendError::Unknown));
        said != Err(AppendError::Unknown)
    });
    let refused = say(&stream, world.id(0), 0, "x");
    assert!(
        matches!(refused, Err(AppendError::Unreachable { .. })),
        "{refused:?}"
    );
    assert!(matches!(stream.last(), Err(FleetError::Unreachable { .. })));
    world.server.restart();
    until("the connection stands again", || stream.last().is_ok());
    // What nobody knew of may have waited for the connection.
    let last = stream.last().unwrap();
    assert!(last.is_none() || unknown > 0, "{last:?}");
}

#[test]
fn nobody_hangs_where_there_is_no_server_to_connect_to() {
    let Some(mut world) = World::start(1) else {
        return;
    };
    let to = world.invitation(&world.machines[0].seed);
    let handle = world.runtime.handle().clone();
    let connect = || {
        let (to, handle) = (to.clone(), handle.clone());
        let connect = move || Hub::connect(&to, &handle).unwrap_err();
        ended("it gives up", connect)
    };
    world.server.stop();
    let silent = connect();
    assert!(
        matches!(silent, FleetError::Unreachable { .. }),
        "{silent:?}"
    );
    world.server.kill();
    assert!(matches!(connect(), FleetError::Unreachable { .. }));
}
