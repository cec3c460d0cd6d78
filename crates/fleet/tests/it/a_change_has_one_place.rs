//! Of all who append after one message, one does, and all read the same.

use std::time::Duration;

use flagpost_fleet::{AppendError, Change, Lane};
use flagpost_testkit::patience::patience;
use jiff::Timestamp;

use crate::world::{World, headers, say};

#[test]
fn what_one_appends_another_reads() {
    let Some(world) = World::start(2) else { return };
    let repo = world.share();
    let (here, there) = (world.open(0, &repo), world.open(1, &repo));
    assert_eq!(there.last().unwrap(), None);
    assert_eq!(there.get(1).unwrap(), None);

    let before = Timestamp::now();
    let headers = headers(1);
    let body = "{\"lines\":[\"ä\"]}\0\r\n".as_bytes();
    let lane = Lane::Gate;
    let machine = world.id(0);
    let change = Change {
        machine,
        lane,
        headers,
        body,
    };
    assert_eq!(here.append(0, &change), Ok(1));

    let mut reader = there.read_from(1).unwrap();
    let read = reader.next(patience()).unwrap().unwrap();
    assert_eq!((read.seq, &read.machine, read.lane), (1, machine, lane));
    assert_eq!((read.headers, read.body.as_slice()), (headers, body));
    assert!(
        before <= read.at && read.at <= Timestamp::now(),
        "{}",
        read.at
    );
    assert_eq!(there.get(1).unwrap().as_ref(), Some(&read));
    assert_eq!(there.last().unwrap(), Some(read));
}

#[test]
fn who_comes_second_is_overtaken() {
    let Some(world) = World::start(2) else { return };
    let repo = world.share();
    let (here, there) = (world.open(0, &repo), world.open(1, &repo));
    assert_eq!(say(&here, world.id(0), 0, "one"), Ok(1));
    assert_eq!(
        say(&there, world.id(1), 0, "two"),
        Err(AppendError::Overtaken)
    );
    assert_eq!(
        say(&there, world.id(1), 5, "two"),
        Err(AppendError::Overtaken)
    );
    assert_eq!(say(&there, world.id(1), 1, "two"), Ok(2));
    assert_eq!(there.last().unwrap().unwrap().body, b"two");
}

#[test]
fn sixteen_who_race_get_each_place_once() {
    const EACH: usize = 25;
    let Some(world) = World::start(16) else {
        return;
    };
    let repo = world.share();
    let won: Vec<Vec<u64>> = std::thread::scope(|scope| {
        let racers: Vec<_> = (0..16)
            .map(|machine| {
                let (world, repo) = (&world, &repo);
                scope.spawn(move || {
                    let stream = world.open(machine, repo);
                    let mut won = Vec::new();
                    let mut after = 0;
                    while won.len() < EACH {
                        match say(&stream, world.id(machine), after, "x") {
                            Ok(seq) => {
                                won.push(seq);
                                after = seq;
                            }
                            Err(AppendError::Overtaken) => {
                                after = stream.last().unwrap().unwrap().seq;
                            }
                            Err(error) => panic!("{error}"),
                        }
                    }
                    won
                })
            })
            .collect();
        racers.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let stream = world.open(0, &repo);
    let mut reader = stream.read_from(1).unwrap();
    for seq in 1..=16 * EACH as u64 {
        let read = reader.next(patience()).unwrap().unwrap();
        let winner = world.machines.iter().position(|it| it.id == read.machine);
        assert_eq!(read.seq, seq);
        assert!(won[winner.unwrap()].contains(&seq), "{seq}");
    }
    assert_eq!(won.iter().map(Vec::len).sum::<usize>(), 16 * EACH);
    assert_eq!(reader.next(Duration::ZERO).unwrap(), None);
}

#[test]
fn a_change_that_is_too_large_is_said_to_be() {
    let Some(world) = World::start(1) else { return };
    let repo = world.share();
    let stream = world.open(0, &repo);
    // With the headers, one is just too large for the stream; the other is for the connection too.
    for bytes in [(8 << 20) - 50, 9 << 20] {
        let refused = say(&stream, world.id(0), 0, &"x".repeat(bytes));
        assert_eq!(refused, Err(AppendError::TooLarge { bytes }));
    }
    let large = "x".repeat(8_000_000);
    for after in 0..3 {
        assert_eq!(say(&stream, world.id(0), after, &large), Ok(after + 1));
    }
    let read = stream.get(1).unwrap().unwrap();
    assert_eq!(read.body.len(), large.len());
    let mut reader = stream.read_from(1).unwrap();
    for seq in 1..=3 {
        let read = reader.next(patience()).unwrap().unwrap();
        assert_eq!((read.seq, read.body.len()), (seq, large.len()));
    }
}
