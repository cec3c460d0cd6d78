//! The smoke test of the relay, its ten steps with real processes, for 11 workers and for 25.
//!
//! | step | here |
//! |---|---|
//! | 1 spawn the workers | half of them `contrib/poller.sh`, half `worker next --wait` |
//! | 2 start the daemon | `up` |
//! | 3 connect a client and subscribe | a listener at its socket |
//! | 4 the controller writes a brief for each | `assign` |
//! | 5 each proposal is an event within 100 ms | each once; the slowest is printed |
//! | 6 ratify all | `/ratify all`, sent to the daemon |
//! | 7 each flag is there | yes |
//! | 8 each worker sees its flag and reports | yes |
//! | 9 each report is an event within 1 s | each once; what it took since the word is printed |
//! | 10 kill in the middle; the files are whole; go on | first the daemon while it ratifies, then `ratify all` |
//!
//! No time fails a test: what it took is printed.

use std::{
    collections::BTreeSet,
    fs,
    time::{Duration, Instant},
};

use flagpost_testkit::{background::Background, chance::Chance, race::until};
use rustix::process::Signal;
use serde_json::Value;

use crate::{
    daemon::{Daemon, ask, kill_daemon, request},
    fleet::{Fleet, Way},
    listening::Listening,
};

const DISPATCH: &str = "POST /v1/controller/dispatch";
const RATIFY_ALL: &str = r#"{"command": "/ratify all"}"#;

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
    // As the seed has it: a flag counts, whoever touched it.
    fleet.accept_foreign_flags();
    let running = start_workers(&fleet);
    let _daemon = Daemon(&fleet.world);
    fleet.world.ok(["up"]);
    let client = Listening::to(&fleet.world);

    proposed(&fleet, &client);
    let ratified = Instant::now();
    let said = ask(&fleet.world, DISPATCH, RATIFY_ALL);
    assert_eq!(said["exit_status"], workers, "{said}");
    for worker in &fleet.workers {
        let line = Value::from(format!("RATIFIED #1 Do 1 → {worker}"));
        assert!(said["lines"].as_array().unwrap().contains(&line), "{said}");
        let flag = fs::metadata(fleet.inbox(worker).join("0001.ratified")).unwrap();
        assert_eq!(flag.len(), 0);
    }
    assert_eq!(
        client.until("worker.paste_back", workers),
        each(&fleet, [1])
    );
    println!(
        "{workers} workers had reported, and their reports were told, {:?} after the word",
        ratified.elapsed()
    );

    the_daemon_killed_in_the_middle(&fleet);
    a_ratifier_killed_in_the_middle(&fleet);
    let all = each(&fleet, [1, 2, 3]);
    for name in [
        "controller.brief_proposed",
        "relay.decided",
        "worker.paste_back",
    ] {
        assert_eq!(client.until(name, all.len()), all, "{name}");
    }
    assert_eq!(client.states(), 1, "it went on where it was");
    fleet.stop(running);
    let reports = fleet.world.json(["outbox", "--limit", "0"]).1;
    let answered = reports["reports"].as_array().unwrap().iter().map(|it| {
        let report = &it["report"];
        let worker = report["worker"].as_str().unwrap().to_owned();
        (worker, report["in_reply_to"].as_u64().unwrap())
    });
    let answered: Vec<_> = answered.collect();
    assert_eq!(answered.len(), all.len(), "one report on each brief");
    assert_eq!(answered.into_iter().collect::<BTreeSet<_>>(), all);
}

/// The fourth and the fifth step.
fn proposed(fleet: &Fleet, client: &Listening) {
    let written: Vec<(&String, Instant)> = fleet
        .workers
        .iter()
        .map(|worker| {
            let args = ["assign", "1", worker, "--inline", "Do 1"];
            fleet.world.ok(args);
            (worker, Instant::now())
        })
        .collect();
    let name = "controller.brief_proposed";
    assert_eq!(client.until(name, written.len()), each(fleet, [1]));
    let heard = client.heard(name);
    let took = written.iter().map(|(worker, written)| {
        let heard = heard.iter().find(|it| it.message.0 == **worker).unwrap();
        heard.at.saturating_duration_since(*written)
    });
    let slowest: Option<Duration> = took.max();
    println!("the slowest proposal was told {slowest:?} after it was acknowledged");
    assert!(
        fleet.told("relay.delivered").is_empty(),
        "no flag, no delivery"
    );
}

/// The tenth step, as it is written.
fn the_daemon_killed_in_the_middle(fleet: &Fleet) {
    fleet.assign_each(2);
    let before = fleet.told("relay.decided").len();
    let some = 1 + Chance::of(fleet.workers.len() as u64).below(fleet.workers.len() - 1);
    let asked = request(&fleet.world, DISPATCH, RATIFY_ALL);
    until("some are ratified", || {
        fleet.told("relay.decided").len() >= before + some
    });
    kill_daemon(&fleet.world);
    drop(asked);
    let left = whole_and_left(fleet);
    // Nobody needs it meanwhile.
    let said = fleet.world.flagpost(["slash", "/ratify all"]);
    assert_eq!(said.code, left, "{said}");
    println!("{left} were left when the daemon was killed");
    fleet.world.ok(["up"]);
    assert_eq!(fleet.told_once("relay.decided"), each(fleet, [1, 2]));
    until_read(fleet, 2);
}

/// The same for a command.
fn a_ratifier_killed_in_the_middle(fleet: &Fleet) {
    fleet.assign_each(3);
    let before = fleet.told("relay.decided").len();
    let some = 1 + Chance::of(fleet.workers.len() as u64).below(fleet.workers.len() - 1);
    let mut killed = fleet.start(&["ratify", "all"]);
    until("some are ratified", || {
        !killed.is_running() || fleet.told("relay.decided").len() >= before + some
    });
    killed.signal(Signal::KILL);
    drop(killed);
    let left = whole_and_left(fleet);
    let said = fleet.world.flagpost(["ratify", "all", "--count-status"]);
    assert_eq!(said.code, left, "{said}");
    println!("{left} were left when a ratifier was killed");
    assert_eq!(fleet.told_once("relay.decided"), each(fleet, [1, 2, 3]));
    until_read(fleet, 3);
}

/// No brief is there by half; how many wait.
fn whole_and_left(fleet: &Fleet) -> i32 {
    let (code, left) = fleet.world.json(["inbox", "--briefs", "--limit", "0"]);
    assert_eq!((code, &left["skipped"]), (0, &serde_json::json!([])));
    i32::try_from(left["total"].as_u64().unwrap()).unwrap()
}

fn until_read(fleet: &Fleet, seq: u64) {
    until("every worker has read its brief", || {
        let read = |worker: &String| fleet.inbox(worker).join(format!("{seq:04}.read"));
        fleet.workers.iter().all(|worker| read(worker).is_file())
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
