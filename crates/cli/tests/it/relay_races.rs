//! Several processes, and a hand in the files, decide at the same time.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    process::{Child, Stdio},
};

use flagpost_testkit::sealed::World;
use serde_json::Value;

use crate::world;

const BRIEFS: usize = 20;

fn fleet(workers: &[&str], briefs: usize) -> World {
    let world = world();
    for worker in workers {
        world.ok(["worker", "add", worker]);
        for number in 1..=briefs {
            world.ok(["relay", "redirect", worker, &format!("turn {number}")]);
        }
    }
    world
}

fn repository(world: &World) -> PathBuf {
    let repositories = std::fs::read_dir(world.home().join("repos")).unwrap();
    repositories.map(|it| it.unwrap().path()).next().unwrap()
}

fn start(world: &World, args: &[&str]) -> Child {
    let mut command = world.command();
    command
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

/// How often the history says that each brief was decided on, voided lines left out.
fn decisions(world: &World) -> BTreeMap<(String, u64), usize> {
    let text = std::fs::read_to_string(repository(world).join("history.jsonl")).unwrap();
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    let is_void = |it: &Value| {
        let voids = lines.iter().filter(|line| line["kind"] == "history.void");
        voids.into_iter().any(|void| void["detail"]["n"] == it["n"])
    };
    let mut counts = BTreeMap::new();
    for line in lines
        .iter()
        .filter(|it| it["kind"] == "relay.decided" && !is_void(it))
    {
        let worker = line["worker"].as_str().unwrap().to_owned();
        let key = (worker, line["seq"].as_u64().unwrap());
        *counts.entry(key).or_default() += 1;
    }
    counts
}

#[test]
fn trap_31_processes_and_files_by_hand_make_one_decision_each() {
    let world = fleet(&["W1"], BRIEFS);
    let inbox = repository(&world).join("workers/W1/inbox");
    let mut children = Vec::new();
    for number in 1..=BRIEFS {
        let seq = number.to_string();
        children.push(start(&world, &["ratify", "W1", &seq]));
        children.push(start(&world, &["relay", "reject", "W1", &seq]));
        let text = format!("/reject W1 {seq}");
        children.push(start(&world, &["slash", &text]));
        if number % 2 == 0 {
            std::fs::write(inbox.join(format!("{number:04}.rejected")), "").unwrap();
        }
    }
    for mut child in children {
        child.wait().unwrap();
    }
    let decided = decisions(&world);
    assert_eq!(decided.len(), BRIEFS);
    assert!(decided.values().all(|count| *count == 1), "{decided:?}");
    for number in 1..=BRIEFS {
        let path = inbox.join(format!(".{number:04}.decision.json"));
        let verdict: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let flag = verdict["decision"].as_str().unwrap();
        assert!(
            inbox.join(format!("{number:04}.{flag}")).is_file(),
            "{number}"
        );
    }
}

#[test]
fn ratify_all_from_two_desks_counts_each_brief_once() {
    let workers = ["W1", "W2", "W3", "W4", "W5"];
    let world = fleet(&workers, 4);
    let all = ["ratify", "all", "--count-status"];
    let children = [start(&world, &all), start(&world, &all)];
    let counts = children.map(|mut child| child.wait().unwrap().code().unwrap());
    assert_eq!(counts.iter().sum::<i32>(), 20, "{counts:?}");
    let decided = decisions(&world);
    assert_eq!(decided.len(), 20);
    assert!(decided.values().all(|count| *count == 1), "{decided:?}");
}
