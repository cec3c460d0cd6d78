//! A person is told of what waits: once each, and never of what is settled.
//!
//! A channel here is a real program that the daemon starts. That nothing more is told is shown by the next
//! notice, which is of the next item alone.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use flagpost_testkit::{background::is_alive, patience::under_a_limit, race::until, sealed::World};
use insta::assert_snapshot;
use serde_json::Value;

use crate::{
    daemon::{Daemon, kill_daemon},
    doctor_faults::{finds, is_healthy},
    world,
};

/// A world with a worker whose daemon tells each item at once by this script.
fn telling(script: &str) -> World {
    let mut world = world();
    // Of the machine.
    world.set("FLAGPOST_CLOCK", "");
    for words in [
        &["worker", "add", "W1"][..],
        &["config", "set", "notify.channels", "command"],
        &["config", "set", "notify.command", "--", "sh", "-c", script],
        &["config", "set", "notify.grace", "0s"],
        &["config", "set", "notify.batch", "0s"],
    ] {
        world.ok(words);
    }
    world
}

/// One that keeps what it is told in a file.
fn keeping() -> World {
    let world = telling("");
    let script = format!("cat >> {}", kept(&world).display());
    world.ok(["config", "set", "notify.command", "--", "sh", "-c", &script]);
    world
}

fn kept(world: &World) -> PathBuf {
    world.outside().join("notices")
}

fn notices(world: &World) -> Vec<Value> {
    let text = fs::read_to_string(kept(world)).unwrap_or_default();
    let whole = text.split_inclusive('\n').filter(|it| it.ends_with('\n'));
    whole.map(|it| serde_json::from_str(it).unwrap()).collect()
}

/// What was told once there are so many notices: the item and the count of each.
fn told(world: &World, count: usize) -> Vec<(String, u64)> {
    until("it is told", || notices(world).len() >= count);
    let of = |it: &Value| {
        let item = it["item"].as_str().unwrap();
        (item.to_owned(), it["count"].as_u64().unwrap())
    };
    notices(world).iter().map(of).collect()
}

fn one(item: &str) -> (String, u64) {
    (item.to_owned(), 1)
}

fn assign(world: &World, ticket: &str) {
    world.ok(["assign", ticket, "W1", "--inline", "Merge the seal"]);
}

fn pid_in(file: &Path) -> Option<u32> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[test]
fn each_item_is_told_once_whoever_the_daemon_is() {
    let world = keeping();
    let _daemon = Daemon(&world);
    assign(&world, "1");
    let url = world.ok(["up", "--quiet"]);
    assert_eq!(told(&world, 1), [one("W1/inbox/0001")]);
    let notice = notices(&world).remove(0);
    tells!(notice, {"schema": "flagpost.notice/1", "kind": "brief"});
    assert_eq!(notice["link"], format!("{}/inbox/W1/1", url.trim()));
    assert_eq!(notice["summary"], Value::Null);
    crate::schemas::check(&[], &notice.to_string());
    world.ok(["down"]);
    world.ok(["up"]);
    assign(&world, "2");
    let both = [one("W1/inbox/0001"), one("W1/inbox/0002")];
    assert_eq!(told(&world, 2), both);
    kill_daemon(&world);
    world.ok(["up"]);
    world.ok(["add", "Parse"]);
    world.ok(["claim", "1", "--as", "W1"]);
    world.ok(["stuck", "1", "Which API?", "--as", "W1"]);
    assert_eq!(told(&world, 3)[2], one("web/1"));
    world.ok(["config", "set", "notify.body", "summary"]);
    world.ok(["answer", "1", "The new one"]);
    world.ok(["claim", "1", "--as", "W1"]);
    world.ok(["fail", "1", "It has none", "--as", "W1"]);
    assert_eq!(told(&world, 4)[3], one("web/1"));
    let last = notices(&world).remove(3);
    tells!(last, {"kind": "failed", "summary": "Parse"});
}

#[test]
fn what_is_settled_in_time_is_never_told() {
    under_a_limit(Duration::from_secs(3), |limit| {
        let world = keeping();
        let _daemon = Daemon(&world);
        let grace = format!("{}s", limit.as_secs());
        world.ok(["config", "set", "notify.grace", &grace]);
        world.ok(["up"]);
        let proposed = Instant::now();
        assign(&world, "1");
        world.ok(["ratify", "W1", "1"]);
        if proposed.elapsed() >= limit {
            return None;
        }
        assign(&world, "2");
        assert_eq!(told(&world, 1), [one("W1/inbox/0002")]);
        Some(())
    });
}

#[test]
fn a_storm_is_one_notice() {
    let world = keeping();
    let _daemon = Daemon(&world);
    world.ok(["add", "x"]);
    world.ok(["up"]);
    world.ok(["claim", "1", "--as", "W1"]);
    world.ok(["fail", "1", "no", "--as", "W1"]);
    assert_eq!(told(&world, 1), [one("web/1")]);
    let failed = fs::read_to_string(world.list("web").join("1.json")).unwrap();
    let mut failed: Value = serde_json::from_str(&failed).unwrap();
    let storm = world.outside().join("storm");
    fs::create_dir(&storm).unwrap();
    for n in 1..=1000 {
        failed["id"] = n.to_string().into();
        fs::write(storm.join(format!("{n}.json")), failed.to_string()).unwrap();
    }
    fs::rename(storm, world.list("storm")).unwrap();
    assign(&world, "2");
    let told = told(&world, 2);
    let counts: Vec<u64> = told.iter().map(|(_, count)| *count).collect();
    // The brief may be among them.
    assert!(
        matches!(counts[..], [1, 1000 | 1001] | [1, 1000, 1] | [1, 1, 1000]),
        "{told:?}"
    );
}

#[test]
fn the_daemon_ends_at_once_and_takes_a_hanging_program_with_it() {
    let world = telling("");
    let child = world.outside().join("child");
    let script = format!("sleep 300 & echo $! > {}; wait", child.display());
    world.ok(["config", "set", "notify.command", "--", "sh", "-c", &script]);
    let _daemon = Daemon(&world);
    world.ok(["up"]);
    assign(&world, "1");
    until("it hangs", || pid_in(&child).is_some());
    world.ok(["down"]);
    // The program had as long as a program may take before it.
    let log = fs::read_to_string(world.home().join("run/daemon.log")).unwrap();
    assert!(
        log.contains("ended") && !log.contains("took longer"),
        "{log}"
    );
    until("its child is gone", || {
        !pid_in(&child).is_some_and(is_alive)
    });
}

#[test]
fn a_program_that_hangs_is_killed_and_the_doctor_names_it() {
    let world = telling("");
    let child = world.outside().join("child");
    let script = format!("sleep 300 & echo $! > {}; wait", child.display());
    world.ok(["config", "set", "notify.command", "--", "sh", "-c", &script]);
    let (code, answer) = world.json(["notify", "test"]);
    assert_eq!(code, 1, "{answer}");
    let tried = &answer["channels"][0];
    assert_eq!(tried["result"], "failed", "{answer}");
    assert_eq!(tried["why"], "sh took longer than 10 s and was killed");
    let pid = pid_in(&child).unwrap();
    until("its child is gone", || !is_alive(pid));
    finds(&world, 0, "notice-failed");
    world.ok(["config", "set", "notify.command", "true"]);
    world.ok(["notify", "test"]);
    is_healthy(&world);
}

#[test]
fn a_record_that_cannot_be_read_is_kept_and_named() {
    let world = keeping();
    let record = world.home().join("run/notified.json");
    let _daemon = Daemon(&world);
    world.ok(["up"]);
    assign(&world, "1");
    told(&world, 1);
    world.ok(["down"]);
    crate::doctor_faults::put(&record, "{");
    finds(&world, 1, "notices-unreadable");
    world.ok(["up"]);
    assign(&world, "2");
    let log = || world.ok(["daemon", "logs"]).contains("notified.json");
    until("it is logged", log);
    assert_eq!(fs::read_to_string(&record).unwrap(), "{");
    assert_eq!(notices(&world).len(), 1);
}

#[test]
fn each_channel_can_be_tried() {
    let mut world = world();
    let bin = world.outside().join("bin");
    fs::create_dir(&bin).unwrap();
    let words = world.outside().join("words");
    let script = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > {}\n", words.display());
    fs::write(bin.join("notify-send"), script).unwrap();
    crate::doctor_faults::mode(&bin.join("notify-send"), 0o755);
    transcript!(world, @r#"
    $ notify test
    terminal: skipped: stderr is no terminal; the cockpit tells its own
    $ notify test terminal --quiet
    terminal
    $ notify test command
    exit 1
    command: failed: notify.command is not set: 'flagpost config set notify.command -- PROGRAM ARGS' sets it
    $ notify test --json
    {"schema":"flagpost.notify_test/1","channels":[{"channel":"terminal","result":"skipped","why":"stderr is no terminal; the cockpit tells its own"}]}
    $ notify test pigeon
    exit 2
    2> flagpost: invalid value 'pigeon' for '[CHANNEL]': use one of terminal, desktop, command
    2>   hint: 'flagpost notify test --help' shows how
    $ config set notify.command /nowhere/ntfy publish fleet
    notify.command = ["/nowhere/ntfy","publish","fleet"]
    $ notify test command
    exit 1
    command: failed: /nowhere/ntfy cannot be started: No such file or directory (os error 2)
    "#);
    assert!(
        !world.home().join("run").exists(),
        "a channel that is off leaves no record"
    );
    let path = std::env::var("PATH").unwrap();
    world.set("PATH", format!("{}:{path}", bin.display()));
    if cfg!(target_os = "linux") {
        assert_eq!(world.ok(["notify", "test", "desktop"]), "desktop: sent\n");
        assert_snapshot!(fs::read_to_string(words).unwrap(), @r"
        --app-name=Flagpost
        --
        Flagpost
        a test: nothing waits for you
        ");
    }
}
