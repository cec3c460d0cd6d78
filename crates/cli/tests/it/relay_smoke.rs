//! The smoke test of the relay, its ten steps with real processes, for 11 workers and for 25.
//!
//! | step | here |
//! |---|---|
//! | 1 spawn the workers | half of them `contrib/poller.sh`, half `worker next --wait` |
//! | 2 start the daemon | with the daemon's own tests |
//! | 3 connect a client and subscribe | with the daemon's own tests |
//! | 4 the controller writes a brief for each | `assign` |
//! | 5 each proposal is an event within 100 ms | the lines that the events are made of; the push and its time with the daemon |
//! | 6 ratify all | `/ratify all` |
//! | 7 each flag is there | yes |
//! | 8 each worker sees its flag and reports | yes |
//! | 9 each report is an event within 1 s | as 5 |
//! | 10 kill in the middle; the files are whole; go on | `ratify all` is killed; killing the daemon with the daemon |
//!
//! No time fails a test: what it took is printed.

use std::{collections::BTreeSet, fs, time::Instant};

use flagpost_testkit::{background::Background, chance::Chance, race::until};
use rustix::process::Signal;

use crate::fleet::{Fleet, Way};

fn start_workers(fleet: &Fleet) -> Vec<Background> {
    let ways = [Way::Poller, Way::Waiting].into_iter().cycle();
    let workers = fleet.workers.iter().zip(ways);
    workers
        .map(|(worker, way)| fleet.work(worker, way))
        .collect()
}

fn each(fleet: &Fleet, seqs: impl IntoIterator<Item = u64> + Clone) -> BTreeSet<(String, u64)> {
    let of = |worker: &String| {
        let worker = worker.clone();
        seqs.clone()
            .into_iter()
            .map(move |seq| (worker.clone(), seq))
    };
    fleet.workers.iter().flat_map(of).collect()
}

fn smoke(workers: usize) {
    let fleet = Fleet::of(workers);
    let running = start_workers(&fleet);

    fleet.assign_each(1);
    assert_eq!(fleet.told_once("relay.brief_proposed"), each(&fleet, [1]));
    assert!(
        fleet.told("relay.delivered").is_empty(),
        "no flag, no delivery"
    );

    let ratified = Instant::now();
    let said = fleet.world.flagpost(["slash", "/ratify all"]);
    assert_eq!(said.code, i32::try_from(workers).unwrap(), "{said}");
    for worker in &fleet.workers {
        let line = format!("RATIFIED #1 Do 1 → {worker}\n");
        assert!(said.stdout.contains(&line), "{said}");
        let flag = fs::metadata(fleet.inbox(worker).join("0001.ratified")).unwrap();
        assert_eq!(flag.len(), 0);
    }

    until("every worker has reported", || {
        fleet.told("worker.paste_back").len() == workers
    });
    println!(
        "{workers} workers reported {:?} after the word",
        ratified.elapsed()
    );

    killed_in_the_middle(&fleet, workers);
    fleet.stop(running);
    let reports = fleet.world.json(["outbox", "--limit", "0"]).1;
    let answered = reports["reports"].as_array().unwrap().iter().map(|it| {
        let report = &it["report"];
        let worker = report["worker"].as_str().unwrap().to_owned();
        (worker, report["in_reply_to"].as_u64().unwrap())
    });
    let answered: Vec<_> = answered.collect();
    assert_eq!(answered.len(), 2 * workers, "one report on each brief");
    assert_eq!(
        answered.into_iter().collect::<BTreeSet<_>>(),
        each(&fleet, [1, 2])
    );
}

/// The tenth step.
fn killed_in_the_middle(fleet: &Fleet, workers: usize) {
    fleet.assign_each(2);
    let mut chance = Chance::of(workers as u64);
    let mut killed = fleet.start(&["ratify", "all"]);
    let some = 1 + chance.below(workers - 1);
    until("some are ratified", || {
        !killed.is_running() || fleet.told("relay.decided").len() > workers + some
    });
    killed.signal(Signal::KILL);
    drop(killed);
    let (code, left) = fleet.world.json(["inbox", "--limit", "0"]);
    assert_eq!(
        (code, &left["skipped"]),
        (0, &serde_json::json!([])),
        "no half brief"
    );
    let left = left["total"].as_u64().unwrap();
    let said = fleet.world.flagpost(["ratify", "all", "--count-status"]);
    assert_eq!(said.code, i32::try_from(left).unwrap(), "{said}");
    println!("{left} of {workers} were left when it was killed");
    assert_eq!(fleet.told_once("relay.decided"), each(fleet, [1, 2]));
    until("every worker has read both of its briefs", || {
        each(fleet, [1, 2]).iter().all(|(worker, seq)| {
            let read = fleet.inbox(worker).join(format!("{seq:04}.read"));
            read.is_file()
        })
    });
}

#[test]
fn the_smoke_test_with_11_workers() {
    smoke(11);
}

#[test]
fn the_smoke_test_with_25_workers() {
    smoke(25);
}
