//! Shell agents that know `flagpost msg` and nothing else: they work through a run, one after
//! another and side by side, and what a killed one held is given to the next.

use std::{
    collections::BTreeMap,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
};

use flagpost_testkit::{race::until, sealed::World};
use serde_json::Value;

use crate::world;

const SHELLS: [&str; 2] = ["dash", "bash"];

/// A fleet whose orchestrator's words need no person, on the machine's own clock.
fn fleet(workers: &[&str]) -> World {
    let world = world();
    for worker in workers {
        world.ok(["worker", "add", worker]);
    }
    on_the_path(&world);
    let rule = "[[rule]]\ncontroller = \"orchestrator\"\nthen = \"ratify\"\n";
    std::fs::write(world.home().join("policy.toml"), rule).unwrap();
    world.ok(["policy", "accept", "--yes"]);
    world
}

/// Puts the binary where shells find it.
pub fn on_the_path(world: &World) {
    let bin = world.outside().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_flagpost"), bin.join("flagpost")).unwrap();
}

/// A program in this world that finds `flagpost`, on the machine's own clock.
pub fn program(world: &World, name: &str) -> Command {
    let mut command = world.command_of(name);
    let path = std::env::var_os("PATH").unwrap();
    let dirs = std::env::split_paths(&path).collect::<Vec<_>>();
    let bin = [world.outside().join("bin")];
    let path = std::env::join_paths(bin.iter().chain(&dirs)).unwrap();
    command
        .env("PATH", path)
        .env_remove("FLAGPOST_CLOCK")
        .stdout(Stdio::null());
    command
}

/// A script of `contrib/` in a shell.
fn script(world: &World, shell: &str, name: &str) -> Command {
    let mut command = program(world, shell);
    let contrib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib");
    command.arg(contrib.join(name));
    command
}

/// A worker that gives each prompt to a command.
pub fn worker(world: &World, shell: &str, name: &str, command: &[&str]) -> Child {
    let mut worker = script(world, shell, "msg-worker.sh");
    worker.env("FLAGPOST_WORKER", name).args(command);
    worker.spawn().unwrap()
}

/// An orchestrator with these prompts.
fn orchestrator(world: &World, shell: &str, workers: &[&str], prompts: &str) -> Child {
    let plan = world.outside().join("prompts");
    std::fs::write(&plan, prompts).unwrap();
    let mut orchestrator = script(world, shell, "msg-orchestrator.sh");
    let stdin = std::fs::File::open(plan).unwrap();
    let command = orchestrator.arg("epic-1").args(workers).stdin(stdin);
    command.spawn().unwrap()
}

/// Children that are killed by their own ids, whatever happens to the test.
pub struct Children(pub Vec<Child>);

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // One that has ended is not signalled.
            drop(child.kill().and_then(|()| child.wait()));
        }
    }
}

pub fn finish(children: &mut Children) {
    for child in &mut children.0 {
        assert!(child.wait().unwrap().success());
    }
}

pub fn listed(world: &World) -> Vec<Value> {
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

fn work_through(shell: &str, workers: &[&str], tasks: usize) -> World {
    let world = fleet(workers);
    let prompts: String = (1..=tasks).map(|n| format!("Do number {n}\n")).collect();
    let mut children = Children(Vec::new());
    for name in workers {
        children.0.push(worker(&world, shell, name, &["cat"]));
    }
    children
        .0
        .push(orchestrator(&world, shell, workers, &prompts));
    finish(&mut children);
    world
}

/// What the orchestrator's thread says, one word a message.
fn subjects(world: &World) -> Vec<String> {
    let (_, thread) = world.json(["msg", "thread", "epic-1"]);
    let messages = thread["messages"].as_array().unwrap().iter();
    let subject = |it: &Value| it["message"]["subject"].as_str().unwrap().to_owned();
    messages.map(subject).collect()
}

#[test]
fn sequential_auto() {
    for shell in SHELLS {
        let world = work_through(shell, &["W1"], 3);
        assert_eq!(done(&world).len(), 3);
        assert_eq!(subjects(&world), ["TASK", "PROGRESS", "DONE"].repeat(3));
        assert_eq!(
            world.ok(["msg", "unacked", "--quiet"]),
            "W1/outbox/7\n",
            "its goodbye"
        );
    }
}

#[test]
fn parallel_auto() {
    let workers = ["W1", "W2", "W3"];
    let world = work_through("dash", &workers, 9);
    let done = done(&world);
    assert_eq!(done.len(), 9);
    for worker in workers {
        assert!(done.values().any(|it| it == worker), "{done:?}");
    }
    let history = std::fs::read_dir(world.home().join("repos")).unwrap();
    let history = history.map(|it| it.unwrap().path()).next().unwrap();
    let text = std::fs::read_to_string(history.join("history.jsonl")).unwrap();
    let count = |kind: &str| text.matches(&format!(r#""kind":"{kind}""#)).count();
    // Nine tasks with a PROGRESS and a DONE each; three goodbyes and their replies, which nobody
    // receives.
    assert_eq!(count("message.sent"), 33);
    assert_eq!(count("message.acked"), 21);
    assert!(
        count("message.received") <= 30,
        "a PROGRESS at the end may be left"
    );
}

#[test]
fn a_stuck_worker_goes_on_with_the_operators_word() {
    let world = fleet(&["W1"]);
    let agent = r#"read -r line; case $line in
        Do*) echo 'Which one?' >&2; exit 1 ;;
        *) echo "took $line" ;;
    esac"#;
    let mut children = Children(vec![
        worker(&world, "dash", "W1", &["sh", "-c", agent]),
        orchestrator(&world, "dash", &["W1"], "Do it\n"),
    ]);
    let asked = ["msg", "list", "--subject", "STUCK", "--quiet"];
    until("it asks", || !world.ok(asked).is_empty());
    let question = world.ok(asked);
    let reply = ["msg", "send", "--subject", "REPLY", "--re", question.trim()];
    world.ok(reply.iter().chain(&["the first", "--ratify"]));
    finish(&mut children);
    // The second 'at it' says again what the first said a moment ago.
    let expected = ["TASK", "PROGRESS", "STUCK", "REPLY", "DONE"];
    assert_eq!(subjects(&world), expected);
    let line = ["msg", "list", "--subject", "DONE", "--quiet"];
    let at = world.ok(line);
    let said = world.ok(["msg", "show", at.trim(), "--field", "summary"]);
    assert_eq!(said.trim(), "took the first");
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
    let mut command = program(&world, "sh");
    command.args(["-c", &script]).env("FLAGPOST_WORKER", "W1");
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
    tells!(again, {"redelivered": true, "message/place": "W1/inbox/1", "lease/count": 2});
}
