//! What an append, a connection and a reader cost. Measures; nothing fails by being slow.

use std::time::{Duration, Instant};

use flagpost_fleet::Hub;

use crate::world::{World, say};

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
        reader.next(Duration::from_secs(20)).unwrap().unwrap();
    }
    println!("2000 messages read in {:?}", began.elapsed());

    let mut known = Vec::new();
    for at in 2000..2500 {
        let began = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| append(at));
            reader.next(Duration::from_secs(20)).unwrap().unwrap();
            known.push(began.elapsed());
        });
    }
    row("asked here to known there", known);
}
