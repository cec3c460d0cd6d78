//! Hooks from outside: what a client is answered.

use std::{
    fs,
    io::{Read as _, Write as _},
    path::Path,
    process::Stdio,
};

use flagpost_testkit::{race::until, sealed::World};
use serde_json::{Value, json};

use crate::{locks::hold, world, world_without_repository};

/// A world with two workers and a brief that W1 may read; `FLAGPOST_WORKER` is W1.
pub fn with_a_brief() -> World {
    let mut world = without_a_name();
    world.set("FLAGPOST_WORKER", "W1");
    world
}

/// The same without `FLAGPOST_WORKER`.
pub fn without_a_name() -> World {
    let world = world();
    world.ok(["init", "--yes"]);
    world.ok(["worker", "add", "W1"]);
    world.ok(["worker", "add", "W7"]);
    world.ok(["assign", "9", "W1", "--inline", "# Rebase on main first"]);
    world.ok(["ratify", "W1"]);
    world
}

/// What is answered; null where nothing is.
pub fn asked(world: &World, event: &str, client: &str, sent: &Value) -> Value {
    let ran = world.feed(
        ["hook", event, "--agent", client],
        sent.to_string().as_bytes(),
    );
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran}");
    match ran.stdout.as_str() {
        "" => Value::Null,
        text => serde_json::from_str(text).unwrap(),
    }
}

pub fn text(answer: &Value) -> &str {
    let told = &answer["hookSpecificOutput"];
    let said = [
        &told["additionalContext"],
        &told["permissionDecisionReason"],
        &answer["reason"],
    ];
    said.into_iter().find_map(Value::as_str).unwrap_or_default()
}

#[test]
fn a_brief_is_told_of_once_and_holds_the_end_until_it_is_acknowledged() {
    let world = with_a_brief();
    let dir = json!({"cwd": world.repository()});
    let told = asked(&world, "batch", "claude", &dir);
    assert!(
        text(&told).contains("It is acknowledged with: flagpost worker ack 1"),
        "{told}"
    );
    assert_eq!(
        asked(&world, "batch", "claude", &dir),
        Value::Null,
        "not twice in ten minutes"
    );
    for client in ["claude", "codex", "gemini"] {
        let begun = asked(&world, "session-start", client, &dir);
        assert!(
            text(&begun).starts_with("You are worker W1 of the Flagpost fleet of web."),
            "{begun}"
        );
        assert!(
            text(&begun).contains("#1 'Rebase on main first'"),
            "{begun}"
        );
    }
    assert_eq!(
        asked(&world, "prompt", "claude", &dir),
        Value::Null,
        "the beginning told of it"
    );
    let held = json!({"cwd": world.repository(), "stop_hook_active": true});
    for (n, sent) in [&dir, &held, &held].into_iter().enumerate() {
        let answer = asked(&world, "stop", "claude", sent);
        assert_eq!(answer["decision"] == "block", n < 2, "{n}: {answer}");
    }
    world.ok(["worker", "ack", "1"]);
    assert_eq!(asked(&world, "stop", "claude", &dir), Value::Null);
}

#[test]
fn a_file_that_another_reserved_is_denied_and_no_other() {
    let world = with_a_brief();
    let top = world.repository();
    fs::create_dir_all(top.join("src")).unwrap();
    std::os::unix::fs::symlink("src", top.join("link")).unwrap();
    let mut other = world.command();
    other.env("FLAGPOST_WORKER", "W7");
    let reserved = world.run(other.args(["reserve", "add", "src/**", "--reason", "the new lexer"]));
    assert_eq!(reserved.code, 0, "{reserved}");
    world.ok(["reserve", "add", "docs/**"]);
    let edit =
        |path: &str| json!({"cwd": top, "tool_name": "Edit", "tool_input": {"file_path": path}});
    for (path, is_denied) in [
        ("src/a.rs", true),
        ("link/a.rs", true),
        ("./docs/../src/new/b.rs", true),
        ("docs/a.md", false),
        ("README.md", false),
        ("/etc/hosts", false),
    ] {
        let answer = asked(&world, "pre-tool", "claude", &edit(path));
        let denied = answer["hookSpecificOutput"]["permissionDecision"] == "deny";
        assert_eq!(denied, is_denied, "{path}: {answer}");
        if is_denied {
            assert!(
                text(&answer).contains("is reserved by W7 until"),
                "{answer}"
            );
            assert!(text(&answer).contains("(the new lexer)"), "{answer}");
        }
    }
    let patch = json!({"cwd": top, "tool_name": "apply_patch", "tool_input": {
        "command": "*** Begin Patch\n*** Add File: x\n+\n*** Update File: src/a.rs\n*** End Patch",
    }});
    assert_eq!(
        asked(&world, "pre-tool", "codex", &patch)["hookSpecificOutput"]["permissionDecision"],
        "deny"
    );
}

#[test]
fn whatever_goes_wrong_a_hook_ends_with_0_and_says_nothing() {
    let world = with_a_brief();
    for sent in [&b""[..], b"{", b"\xff\xfe", b"[1]", b"null"] {
        let ran = world.feed(["hook", "pre-tool", "--agent", "claude"], sent);
        assert_eq!(
            (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
            (0, "", ""),
            "{ran}"
        );
    }
    let mut garbage: Vec<u8> = (0..100_u32 << 20).map(|n| (n % 251) as u8).collect();
    for begins in ["\u{0}", "{", "[[[[", "{\"cwd\": \""] {
        garbage[..begins.len()].copy_from_slice(begins.as_bytes());
        let ran = world.feed(["hook", "pre-tool", "--agent", "claude"], &garbage);
        assert_eq!(
            (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
            (0, "", "")
        );
    }
    // A word that it does not know would be an answer that forbids, were it told by the exit code.
    let ran = world.flagpost(["hook", "nonsense", "--agent", "claude"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran}");
    let elsewhere = world_without_repository().with("FLAGPOST_WORKER", "W1");
    assert_eq!(asked(&elsewhere, "stop", "claude", &json!({})), Value::Null);
    // A worker's file that is none is a fault of ours: it is in the log, and nowhere else.
    fs::write(world.kept().join("workers/W1/worker.json"), "{").unwrap();
    assert_eq!(asked(&world, "stop", "claude", &json!({})), Value::Null);
    let log = fs::read_to_string(world.home().join("hooks/W1.jsonl")).unwrap();
    assert!(log.contains("\"answer\":\"failed\""), "{log}");
}

#[test]
fn a_client_that_sends_nothing_and_closes_nothing_is_not_waited_for() {
    let world = with_a_brief();
    let mut hook = world.command();
    hook.args(["hook", "stop", "--agent", "claude"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut hook = hook.spawn().unwrap();
    let mut stdin = hook.stdin.take().unwrap();
    stdin.write_all(b"{").unwrap();
    let mut ended = None;
    until("the hook to end", || {
        ended = hook.try_wait().unwrap();
        ended.is_some()
    });
    // It ended before its stdin did.
    drop(stdin);
    assert_eq!(ended.and_then(|it| it.code()), Some(0));
    let mut said = String::new();
    hook.stdout.unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
}

#[test]
fn an_event_with_pictures_in_it_is_read_like_any_other() {
    let world = with_a_brief();
    let picture = "A".repeat(5 << 20);
    let calls = json!([{"tool_name": "Read", "tool_response": picture}]);
    let sent = json!({"tool_calls": calls, "cwd": world.repository()});
    let told = asked(&world, "batch", "claude", &sent);
    assert!(text(&told).contains("Rebase on main first"), "{told}");
}

#[test]
fn a_home_that_is_gone_or_elsewhere_keeps_hooks_silent_and_is_not_made() {
    let mut world = with_a_brief();
    let sent = json!({"cwd": world.repository(), "session_id": "s-1"});
    let silent = |world: &World, home: &Path| {
        for event in [
            "session-start",
            "prompt",
            "pre-tool",
            "batch",
            "stop",
            "session-end",
        ] {
            assert_eq!(asked(world, event, "claude", &sent), Value::Null, "{event}");
        }
        assert!(!home.exists(), "{}", home.display());
    };
    let (home, moved) = (world.home(), world.outside().join("moved"));
    fs::rename(&home, &moved).unwrap();
    silent(&world, &home);
    let nowhere = world.outside().join("no/such/home");
    world.set("FLAGPOST_HOME", &nowhere);
    silent(&world, &nowhere);
    // Where it went, it goes on.
    world.set("FLAGPOST_HOME", &moved);
    assert!(text(&asked(&world, "stop", "claude", &sent)).contains("worker ack 1"));
    // A file in its place is no home either.
    let file = world.outside().join("file");
    fs::write(&file, "mine").unwrap();
    world.set("FLAGPOST_HOME", &file);
    assert_eq!(asked(&world, "stop", "claude", &sent), Value::Null);
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn a_lock_that_somebody_holds_is_not_waited_for() {
    let mut world = with_a_brief();
    world.ok(["add", "Write the parser"]);
    let (_, claimed) = world.json(["claim", "1"]);
    let token = claimed["claim"]["token"].to_string();
    for (name, value) in [
        ("FLAGPOST_LIST", "web"),
        ("FLAGPOST_TASK", "1"),
        ("FLAGPOST_TOKEN", &token),
        // More than half of the lease is over.
        ("FLAGPOST_CLOCK", "2026-05-13T14:40:00Z"),
    ] {
        world.set(name, value);
    }
    let held = hold(&world, "");
    assert_eq!(asked(&world, "batch", "claude", &json!({})), Value::Null);
    // It ended before the lock was let go.
    drop(held);
    let told = asked(&world, "batch", "claude", &json!({}));
    assert!(text(&told).contains("Rebase on main first"), "{told}");
}
