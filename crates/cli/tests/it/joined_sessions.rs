//! Sessions that a person started, and the workers that they join the fleet as, from outside.

use std::fs;

use flagpost_testkit::sealed::World;
use serde_json::{Value, json};

use crate::{
    exits,
    hooks::{asked, text, without_a_name},
    says, world,
};

/// What a hook of this session is answered at this event, in the fleet's repository.
fn of_session(world: &World, event: &str, session: &str) -> Value {
    because(world, event, session, "")
}

/// The same for an event with a reason.
fn because(world: &World, event: &str, session: &str, why: &str) -> Value {
    let said = if event == "session-end" {
        "reason"
    } else {
        "source"
    };
    let sent = json!({"cwd": world.repository(), "session_id": session, said: why});
    asked(world, event, "claude", &sent)
}

/// Whether a session that starts is told that it is this worker.
fn is_worker(answer: &Value, worker: &str) -> bool {
    text(answer).starts_with(&format!("You are worker {worker} "))
}

/// The words of a verb, and its remarks.
fn said(world: &World, line: &str) -> (String, String) {
    let ran = world.flagpost(line.split(' '));
    assert_eq!(ran.code, 0, "{line}: {ran}");
    (ran.stdout, ran.stderr)
}

#[test]
fn a_session_that_joins_speaks_for_its_worker_until_it_leaves() {
    let mut world = without_a_name();
    let (told, _) = said(&world, "worker join W1");
    assert!(told.contains("the next session"), "{told}");
    let begun = of_session(&world, "session-start", "s-1");
    assert!(is_worker(&begun, "W1"), "{begun}");
    assert_eq!(of_session(&world, "session-start", "s-2"), Value::Null);
    assert!(text(&of_session(&world, "stop", "s-1")).contains("worker ack 1"));
    // What is typed in the session is the worker's, and an agent's.
    world.set("CLAUDE_CODE_SESSION_ID", "s-1");
    said(&world, "worker ack 1");
    for line in ["worker join W7", "worker leave W7"] {
        exits(world.flagpost(line.split(' ')), 4);
    }
    assert_eq!(of_session(&world, "stop", "s-1"), Value::Null);
    // Whoever resumes a session finds it as it was.
    of_session(&world, "session-end", "s-1");
    let resumed = because(&world, "session-start", "s-1", "resume");
    assert!(is_worker(&resumed, "W1"), "{resumed}");
    said(&world, "worker leave");
    assert_eq!(of_session(&world, "session-start", "s-1"), Value::Null);
}

#[test]
fn an_agent_joins_in_its_own_session() {
    let mut world = world();
    world.ok(["init", "--yes"]);
    world.set("CLAUDECODE", "1");
    world.set("CLAUDE_CODE_SESSION_ID", "s-9");
    let (joined, _) = said(&world, "worker join W4 --agent claude");
    assert!(joined.contains("session s-9 is worker W4"), "{joined}");
    said(&world, "worker report Here");
    exits(world.flagpost(["worker", "join", "W4", "--session", ""]), 2);
}

#[test]
fn workers_that_join_one_after_the_other_have_the_next_sessions_in_that_order() {
    let world = without_a_name();
    assert_eq!(said(&world, "worker join W1").1, "");
    let (_, remark) = said(&world, "worker join W7");
    assert!(
        remark.contains("W7 comes after W1: the first session that starts is W1")
            && remark.contains("'flagpost worker leave W1'"),
        "{remark}"
    );
    for (session, worker) in [("s-1", "W1"), ("s-2", "W7")] {
        let begun = of_session(&world, "session-start", session);
        assert!(is_worker(&begun, worker), "{session}: {begun}");
    }
    // One that was typed by mistake is taken back.
    said(&world, "worker join W1");
    said(&world, "worker join W7");
    let (left, _) = said(&world, "worker leave W1");
    assert_eq!(left, "no session is worker W1 any more\n");
    let begun = of_session(&world, "session-start", "s-3");
    assert!(is_worker(&begun, "W7"), "{begun}");
    let (left, _) = said(&world, "worker leave W1");
    assert_eq!(left, "no session was worker W1, and none was to be\n");
}

#[test]
fn a_session_that_loses_its_worker_to_another_is_told_of() {
    let world = without_a_name();
    assert_eq!(said(&world, "worker join W1 --session s-1").1, "");
    assert_eq!(said(&world, "worker join W1 --session s-1").1, "");
    let (_, remark) = said(&world, "worker join W1 --session s-2");
    assert!(
        remark.contains("session s-1 was W1 and is so no longer"),
        "{remark}"
    );
    assert_eq!(of_session(&world, "prompt", "s-1"), Value::Null);
    assert!(text(&of_session(&world, "prompt", "s-2")).contains("worker W1"));
    // It has its worker until the next one starts.
    said(&world, "worker join W1");
    assert!(text(&of_session(&world, "stop", "s-2")).contains("worker W1"));
    assert!(is_worker(&of_session(&world, "session-start", "s-3"), "W1"));
    assert_eq!(of_session(&world, "stop", "s-2"), Value::Null);
}

#[test]
fn the_session_that_follows_a_cleared_one_in_its_client_has_its_worker() {
    let mut world = without_a_name();
    world.set("CLAUDE_PID", "4711");
    said(&world, "worker join W1");
    assert!(is_worker(&of_session(&world, "session-start", "s-1"), "W1"));
    world.set("CLAUDE_PID", "4712");
    said(&world, "worker join W7");
    assert!(is_worker(&of_session(&world, "session-start", "s-2"), "W7"));
    assert_eq!(because(&world, "session-end", "s-2", "clear"), Value::Null);
    world.set("CLAUDE_PID", "4711");
    // Claude Code tells its hooks the session by a variable too.
    world.set("CLAUDE_CODE_SESSION_ID", "s-1");
    assert_eq!(because(&world, "session-end", "s-1", "clear"), Value::Null);
    world.unset("CLAUDE_CODE_SESSION_ID");
    let (_, shown) = world.json(["worker", "show", "W1"]);
    assert_eq!(shown["liveness"], "heartbeat", "{shown}");
    let next = because(&world, "session-start", "s-3", "clear");
    assert!(is_worker(&next, "W1"), "{next}");
    assert_eq!(of_session(&world, "stop", "s-1"), Value::Null);
    assert!(text(&of_session(&world, "stop", "s-3")).contains("worker ack 1"));
    world.set("CLAUDE_PID", "4712");
    let next = because(&world, "session-start", "s-4", "clear");
    assert!(is_worker(&next, "W7"), "{next}");
    // What is compacted goes on, and is no session that starts.
    said(&world, "worker join W9");
    assert_eq!(
        because(&world, "session-start", "s-5", "compact"),
        Value::Null
    );
    let same = because(&world, "session-start", "s-4", "compact");
    assert!(is_worker(&same, "W7"), "{same}");
}

#[test]
fn what_codexs_shared_server_has_in_its_environment_is_of_another_session() {
    let mut world = without_a_name();
    let sent = json!({"cwd": world.repository(), "session_id": "t-2"});
    let starts = |world: &World| asked(world, "session-start", "codex", &sent);
    world.set("FLAGPOST_WORKER", "W1");
    let path = std::env::var_os("PATH").unwrap();
    let within = |dirs: &[&str]| {
        let dirs = dirs
            .iter()
            .map(Into::into)
            .chain(std::env::split_paths(&path));
        std::env::join_paths(dirs).unwrap()
    };
    let (daemon, own) = (
        "/h/.codex/packages/app-server-daemon/releases/0.169.0/codex-path",
        "/opt/codex/vendor/codex-path",
    );
    // A run's Codex in a session of the shared one.
    world.set("PATH", within(&[own, daemon]));
    assert!(is_worker(&starts(&world), "W1"));
    world.set("PATH", within(&["/x", daemon, own]));
    assert_eq!(starts(&world), Value::Null);
    // A session that joined is known by its name, in its hooks and in its commands.
    world.unset("FLAGPOST_WORKER");
    said(&world, "worker join W7");
    world.set("FLAGPOST_WORKER", "W1");
    assert!(is_worker(&starts(&world), "W7"));
    world.set("CODEX_THREAD_ID", "t-2");
    let (_, status) = world.json(["worker", "heartbeat"]);
    assert_eq!(status["id"], "W7", "{status}");
    exits(world.flagpost(["worker", "ack", "1", "--as", "W1"]), 4);
}

#[test]
fn a_worker_that_was_taken_off_the_fleet_speaks_no_more() {
    let mut world = without_a_name();
    said(&world, "worker join W1 --session s-1");
    said(&world, "worker join W7");
    for worker in ["W1", "W7"] {
        said(&world, &format!("worker rm {worker} --force"));
    }
    for event in ["session-start", "prompt", "stop", "pre-tool", "session-end"] {
        for session in ["s-1", "s-2"] {
            assert_eq!(of_session(&world, event, session), Value::Null, "{event}");
        }
    }
    // Its session can be another worker.
    world.set("CLAUDE_CODE_SESSION_ID", "s-1");
    said(&world, "worker join W3");
    assert!(is_worker(&of_session(&world, "session-start", "s-1"), "W3"));
    world.set("FLAGPOST_WORKER", "W1");
    assert_eq!(of_session(&world, "session-start", "s-1"), Value::Null);
    world.set("FLAGPOST_WORKER", "W3");
    assert!(is_worker(&of_session(&world, "session-start", "s-1"), "W3"));
}

#[test]
fn joined_sessions_that_cannot_be_read_keep_hooks_silent_and_stay() {
    let mut world = without_a_name();
    said(&world, "worker join W1 --session s-1");
    let repository = world.home().join("repos");
    let repository = fs::read_dir(repository).unwrap().next().unwrap().unwrap();
    let file = repository.path().join("joined.json");
    fs::write(&file, "{").unwrap();
    for event in ["session-start", "stop", "session-end"] {
        assert_eq!(of_session(&world, event, "s-1"), Value::Null, "{event}");
    }
    world.set("CLAUDE_CODE_SESSION_ID", "s-1");
    says(world.flagpost(["worker", "ack", "1"]), 6, &["joined.json"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "{");
}
