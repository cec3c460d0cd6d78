//! Shell agents that know `flagpost msg` and nothing else: they work through a run, one after
//! another and side by side, and what a killed one held is given to the next.

use std::{
    collections::BTreeMap,
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
};

use flagpost_testkit::{race::until, sealed::World};
use serde_json::Value;

use crate::world;

/// Takes tasks until it is told to stop.
const WORKER: &str = r#"
while place=$(flagpost msg recv --wait --timeout 60s --quiet); do
    flagpost msg ack "$place" --quiet
    case $(flagpost msg show "$place" --json) in
        *'"subject":"QUERY"'*) exit 0 ;;
    esac
    task=$(flagpost msg show "$place" --field bead_id)
    flagpost msg send --subject PROGRESS --task "$task" --percent 50 'at it' --quiet
    flagpost msg show "$place" --field prompt | flagpost msg send --subject DONE --task "$task" - --quiet
done
"#;

/// Gives each of the workers in its arguments a task, and another one whenever one is done, until
/// there are none left; then tells all to stop.
const ORCHESTRATOR: &str = r#"
next=1
give() {
    [ "$next" -le "$TASKS" ] || return 0
    flagpost msg send --to "$1" --subject TASK --thread epic-1 --task "b$next" \
        --num "$next" --total "$TASKS" "Do number $next" --quiet
    next=$((next + 1))
}
for worker; do give "$worker"; done
done=0
while [ "$done" -lt "$TASKS" ]; do
    place=$(flagpost msg recv --wait --timeout 60s --quiet) || exit 1
    case $(flagpost msg show "$place" --json) in
        *'"subject":"DONE"'*)
            done=$((done + 1))
            give "${place%%/*}"
            flagpost msg ack "$place" --quiet ;;
    esac
done
for worker; do flagpost msg send --to "$worker" --subject QUERY 'Stop, please' --quiet; done
"#;

/// A fleet whose orchestrator's words need no person, on the machine's own clock.
fn fleet(workers: &[&str]) -> World {
    let world = world();
    for worker in workers {
        world.ok(["worker", "add", worker]);
    }
    let rule = "[[rule]]\ncontroller = \"orchestrator\"\nthen = \"ratify\"\n";
    std::fs::write(world.home().join("policy.toml"), rule).unwrap();
    let bin = world.outside().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_flagpost"), bin.join("flagpost")).unwrap();
    world
}

/// A script as this agent.
fn agent(world: &World, name: &str, script: &str, args: &[&str]) -> Command {
    let mut command = world.command_of("sh");
    let path = std::env::var_os("PATH").unwrap();
    let dirs = std::env::split_paths(&path).collect::<Vec<_>>();
    let bin = [world.outside().join("bin")];
    let path = std::env::join_paths(bin.iter().chain(&dirs)).unwrap();
    command
        .args(["-c", script, "sh"])
        .args(args)
        .env("PATH", path)
        .env("FLAGPOST_WORKER", name)
        .env_remove("FLAGPOST_CLOCK")
        .stdout(Stdio::null());
    command
}

/// Children that are killed by their own ids, whatever happens to the test.
struct Children(Vec<Child>);

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // One that has ended is not signalled.
            drop(child.kill().and_then(|()| child.wait()));
        }
    }
}

fn finish(children: &mut Children) {
    for child in &mut children.0 {
        assert!(child.wait().unwrap().success());
    }
}

fn listed(world: &World) -> Vec<Value> {
    let (_, answer) = world.json(["msg", "list", "--limit", "0"]);
    answer["messages"].as_array().unwrap().clone()
}

/// Who reported each task done.
fn done(world: &World) -> BTreeMap<String, String> {
    let mut done = BTreeMap::new();
    for seen in listed(world) {
        let message = &seen["message"];
        if message["subject"] == "DONE" {
            let task = message["data"]["bead_id"].as_str().unwrap().to_owned();
            let from = message["from"].as_str().unwrap().to_owned();
            assert_eq!(done.insert(task, from), None, "a task is done once");
        }
    }
    done
}

fn work_through(workers: &[&str], tasks: usize) -> World {
    let world = fleet(workers);
    let mut children = Children(Vec::new());
    for name in workers {
        children
            .0
            .push(agent(&world, name, WORKER, &[]).spawn().unwrap());
    }
    let mut orchestrator = agent(&world, "orchestrator", ORCHESTRATOR, workers);
    let orchestrator = orchestrator.env("TASKS", tasks.to_string()).spawn();
    children.0.push(orchestrator.unwrap());
    finish(&mut children);
    world
}

#[test]
fn sequential_auto() {
    let world = work_through(&["W1"], 3);
    assert_eq!(done(&world).len(), 3);
    let (_, thread) = world.json(["msg", "thread", "epic-1"]);
    let told: Vec<&str> = thread["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["message"]["subject"].as_str().unwrap())
        .collect();
    assert_eq!(told, ["TASK", "PROGRESS", "DONE"].repeat(3));
    assert_eq!(world.ok(["msg", "unacked"]), "nothing is open\n");
}

#[test]
fn parallel_auto() {
    let workers = ["W1", "W2", "W3"];
    let world = work_through(&workers, 9);
    let done = done(&world);
    assert_eq!(done.len(), 9);
    for worker in workers {
        assert!(done.values().any(|it| it == worker), "{done:?}");
    }
    assert_eq!(world.ok(["msg", "unacked"]), "nothing is open\n");
    let history = std::fs::read_dir(world.home().join("repos")).unwrap();
    let history = history.map(|it| it.unwrap().path()).next().unwrap();
    let text = std::fs::read_to_string(history.join("history.jsonl")).unwrap();
    let count = |kind: &str| text.matches(&format!(r#""kind":"{kind}""#)).count();
    // Nine tasks with a PROGRESS and a DONE each, and three goodbyes.
    assert_eq!(count("message.sent"), 30);
    assert_eq!(count("message.acked"), 21);
    assert_eq!(count("message.received"), 30);
}

#[test]
fn trap_28_what_a_killed_receiver_held_is_given_to_the_next() {
    let world = fleet(&["W1"]);
    let send = [
        "msg",
        "send",
        "--to",
        "W1",
        "--subject",
        "TASK",
        "--task",
        "b1",
        "Do it",
    ];
    world.ok(send.iter().chain(&["--as", "orchestrator"]));
    let held = world.outside().join("held");
    let script = format!(
        "flagpost msg recv --quiet > '{}' && exec sleep 600",
        held.display()
    );
    let mut command = agent(&world, "W1", &script, &[]);
    let mut children = Children(vec![command.process_group(0).spawn().unwrap()]);
    until("the worker has received", || {
        std::fs::read_to_string(&held).is_ok_and(|it| it == "W1/inbox/1\n")
    });
    // As `kill -9` does.
    children.0[0].kill().unwrap();
    children.0[0].wait().unwrap();
    let recv = |minutes: i64| {
        let now = jiff::Timestamp::now() + jiff::SignedDuration::from_mins(minutes);
        let mut command = world.command();
        command.args(["msg", "recv", "--as", "W1", "--json"]);
        world.run(command.env("FLAGPOST_CLOCK", now.to_string()))
    };
    assert_eq!(recv(4).code, 3, "it may be alive");
    let again: Value = serde_json::from_str(&recv(6).stdout).unwrap();
    assert_eq!(again["redelivered"], true);
    assert_eq!(again["message"]["place"], "W1/inbox/1");
    assert_eq!(again["lease"]["count"], 2);
}
