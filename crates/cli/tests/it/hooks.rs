//! Hooks from outside: what a client is answered, and what becomes of its settings.

use std::{
    collections::BTreeSet,
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use flagpost_testkit::sealed::World;
use serde_json::{Value, json};

use crate::{locks::hold, world, world_without_repository};

/// A world with two workers and a brief that W1 may read; `FLAGPOST_WORKER` is W1.
fn with_a_brief() -> World {
    let mut world = without_a_name();
    world.set("FLAGPOST_WORKER", "W1");
    world
}

/// The same without `FLAGPOST_WORKER`.
fn without_a_name() -> World {
    let world = world();
    world.ok(["init", "--yes"]);
    world.ok(["worker", "add", "W1"]);
    world.ok(["worker", "add", "W7"]);
    world.ok(["assign", "9", "W1", "--inline", "# Rebase on main first"]);
    world.ok(["ratify", "W1"]);
    world
}

/// What is answered; null where nothing is.
fn asked(world: &World, event: &str, client: &str, sent: &Value) -> Value {
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

fn text(answer: &Value) -> &str {
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
    let huge = vec![b'x'; 100 << 20];
    let ran = world.feed(["hook", "pre-tool", "--agent", "claude"], &huge);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    // A word that it does not know would be an answer that forbids, were it told by the exit code.
    let ran = world.flagpost(["hook", "nonsense", "--agent", "claude"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran}");
    let elsewhere = world_without_repository().with("FLAGPOST_WORKER", "W1");
    assert_eq!(asked(&elsewhere, "stop", "claude", &json!({})), Value::Null);
    // A worker's file that is none is a fault of ours: it is in the log, and nowhere else.
    let file = world.home().join("repos");
    let file = fs::read_dir(file).unwrap().next().unwrap().unwrap().path();
    fs::write(file.join("workers/W1/worker.json"), "{").unwrap();
    assert_eq!(asked(&world, "stop", "claude", &json!({})), Value::Null);
    let log = fs::read_to_string(world.home().join("hooks/W1.jsonl")).unwrap();
    assert!(log.contains("\"answer\":\"failed\""), "{log}");
}

#[test]
fn a_client_that_sends_nothing_and_closes_nothing_is_kept_waiting_two_seconds() {
    let world = with_a_brief();
    let mut hook = world.command();
    hook.args(["hook", "stop", "--agent", "claude"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let begun = Instant::now();
    let mut hook = hook.spawn().unwrap();
    let mut stdin = hook.stdin.take().unwrap();
    stdin.write_all(b"{").unwrap();
    let status = hook.wait().unwrap();
    drop(stdin);
    assert_eq!(status.code(), Some(0));
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_lock_that_somebody_holds_keeps_a_client_waiting_two_seconds() {
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
    let begun = Instant::now();
    assert_eq!(asked(&world, "batch", "claude", &json!({})), Value::Null);
    assert!(begun.elapsed() < Duration::from_secs(30));
    drop(held);
    let told = asked(&world, "batch", "claude", &json!({}));
    assert!(text(&told).contains("Rebase on main first"), "{told}");
}

const THEIRS: &str = "{\n  // mine\n  \"model\": \"opus\",\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]}\n}\n";

#[test]
fn settings_full_of_others_hooks_are_left_as_they_were_found() {
    let world = world();
    world.ok(["init", "--yes"]);
    let file = world.repository().join(".claude/settings.local.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, THEIRS).unwrap();
    let install = ["hooks", "install", "--agent", "claude", "--deny-reserved"];
    world.ok(install);
    let installed = fs::read_to_string(&file).unwrap();
    assert!(
        installed.contains("// mine") && installed.contains("say done"),
        "{installed}"
    );
    let (code, again) = world.json(install);
    assert_eq!((code, &again["changed"]), (0, &json!(false)));
    assert_eq!(fs::read_to_string(&file).unwrap(), installed);
    let (_, status) = world.json(["hooks", "status", "--agent", "claude"]);
    let states = status["hooks"].as_array().unwrap();
    assert!(
        states.iter().all(|it| it["state"] == "installed"),
        "{status}"
    );
    world.ok(["hooks", "uninstall", "--agent", "claude"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), THEIRS);
    // What somebody else changed meanwhile stays changed.
    world.ok(install);
    let changed = fs::read_to_string(&file).unwrap().replace("opus", "sonnet");
    fs::write(&file, changed).unwrap();
    world.ok(["hooks", "uninstall", "--agent", "claude"]);
    let left = fs::read_to_string(&file).unwrap();
    assert!(
        left.contains("sonnet") && left.contains("say done") && !left.contains("flagpost"),
        "{left}"
    );
    let beside = fs::read_dir(file.parent().unwrap()).unwrap().count();
    assert_eq!(beside, 1, "nothing is left beside it");
}

#[test]
fn the_copy_of_settings_that_may_hold_a_key_is_the_users_alone() {
    let world = world();
    world.ok(["init", "--yes"]);
    let dir = world.repository().join(".claude");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("settings.local.json"), THEIRS).unwrap();
    world.ok(["hooks", "install", "--agent", "claude"]);
    let copy = dir.join("settings.local.json.flagpost-backup");
    let mode = fs::metadata(copy).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// How each hook of a client stands, once.
fn states(world: &World, client: &str) -> BTreeSet<String> {
    let (_, status) = world.json(["hooks", "status", "--agent", client]);
    let hooks = status["hooks"].as_array().unwrap().iter();
    hooks
        .map(|it| it["state"].as_str().unwrap().to_owned())
        .collect()
}

fn set_of(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|it| (*it).to_owned()).collect()
}

#[test]
fn status_tells_why_an_installed_hook_is_not_called() {
    let mut world = world();
    world.ok(["init", "--yes"]);
    let own = Path::new(env!("CARGO_BIN_EXE_flagpost")).parent().unwrap();
    world.set("PATH", own);
    world.ok(["hooks", "install", "--agent", "claude", "--deny-reserved"]);
    assert_eq!(states(&world, "claude"), set_of(&["installed"]));
    let file = world.repository().join(".claude/settings.local.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen('{', "{\"disableAllHooks\": true,", 1)).unwrap();
    assert_eq!(states(&world, "claude"), set_of(&["disabled"]));
    let other = world.outside().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("flagpost"), "").unwrap();
    world.set("PATH", std::env::join_paths([&*other, own]).unwrap());
    assert_eq!(states(&world, "claude"), set_of(&["shadowed"]));
    world.set("PATH", "/nowhere");
    assert_eq!(states(&world, "claude"), set_of(&["stale"]));
}

#[test]
fn codex_trusts_a_hook_once_its_user_said_so() {
    let world = world();
    world.ok(["init", "--yes"]);
    world.ok(["hooks", "install", "--agent", "codex", "--deny-reserved"]);
    assert_eq!(states(&world, "codex"), set_of(&["untrusted"]));
    let hooks = world.repository().join(".codex/hooks.json");
    let hooks = hooks.canonicalize().unwrap().display().to_string();
    let own = world.outside().join("home/.codex");
    fs::create_dir_all(&own).unwrap();
    let trust = |event: &str| {
        format!("[hooks.state.\"{hooks}:{event}:0:0\"]\ntrusted_hash = \"sha256:00\"\n")
    };
    let some = [trust("stop"), trust("pre_tool_use")].concat();
    fs::write(own.join("config.toml"), some).unwrap();
    assert_eq!(states(&world, "codex"), set_of(&["installed", "untrusted"]));
    let events = [
        "session_start",
        "user_prompt_submit",
        "pre_tool_use",
        "post_tool_use",
        "stop",
        "session_end",
    ];
    fs::write(own.join("config.toml"), events.map(trust).concat()).unwrap();
    assert_eq!(states(&world, "codex"), set_of(&["installed"]));
}

#[test]
fn a_file_that_was_not_there_is_gone_again() {
    let world = world();
    world.ok(["init", "--yes"]);
    for (client, file) in [
        ("claude", ".claude/settings.local.json"),
        ("codex", ".codex/hooks.json"),
        ("gemini", ".gemini/settings.json"),
        ("cursor", ".cursor/hooks.json"),
        ("opencode", ".opencode/plugin/flagpost.js"),
    ] {
        world.ok(["hooks", "install", "--agent", client]);
        assert!(world.repository().join(file).is_file(), "{file}");
        world.ok(["hooks", "uninstall", "--agent", client]);
        assert!(!world.repository().join(file).exists(), "{file}");
        let (code, again) = world.json(["hooks", "uninstall", "--agent", client]);
        assert_eq!((code, &again["changed"]), (0, &json!(false)), "{client}");
    }
}

#[test]
fn settings_that_cannot_be_changed_are_refused_and_stay() {
    let world = world();
    world.ok(["init", "--yes"]);
    let file = world.repository().join(".claude/settings.local.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    for bad in ["{", "[]", "{\"hooks\": []}", "not json"] {
        fs::write(&file, bad).unwrap();
        let ran = world.flagpost(["hooks", "install", "--agent", "claude"]);
        assert_eq!(ran.code, 6, "{ran}");
        assert!(
            ran.stderr.contains("settings.local.json") && ran.stderr.contains("left as it is"),
            "{ran}"
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), bad);
    }
    assert_eq!(
        world
            .flagpost(["hooks", "install", "--agent", "aider"])
            .code,
        6
    );
    assert_eq!(world.flagpost(["hooks", "install"]).code, 2);
    // A link stays one.
    let real = world.outside().join("dotfiles.json");
    fs::write(&real, "{}\n").unwrap();
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(&real, &file).unwrap();
    world.ok(["hooks", "install", "--agent", "claude"]);
    assert!(fs::symlink_metadata(&file).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("flagpost"));
    world.ok(["hooks", "uninstall", "--agent", "claude"]);
    assert_eq!(fs::read_to_string(&real).unwrap(), "{}\n");
    let printed = world.ok(["hooks", "install", "--agent", "claude", "--print"]);
    assert!(printed.contains("PostToolBatch"), "{printed}");
    assert_eq!(fs::read_to_string(&real).unwrap(), "{}\n");
}

/// What a hook of this session is answered at this event, in the fleet's repository.
fn of_session(world: &World, event: &str, session: &str) -> Value {
    let sent = json!({"cwd": world.repository(), "session_id": session});
    asked(world, event, "claude", &sent)
}

#[test]
fn a_session_that_joins_speaks_for_its_worker_until_it_ends() {
    let mut world = without_a_name();
    let joined = world.flagpost(["worker", "join", "W1"]);
    assert_eq!(joined.code, 0, "{joined}");
    assert!(joined.stdout.contains("the next session"), "{joined}");
    let begun = of_session(&world, "session-start", "s-1");
    assert!(text(&begun).contains("You are worker W1"), "{begun}");
    assert_eq!(of_session(&world, "session-start", "s-2"), Value::Null);
    assert!(text(&of_session(&world, "stop", "s-1")).contains("worker ack 1"));
    // What is typed in the session is the worker's, and an agent's.
    world.set("CLAUDE_CODE_SESSION_ID", "s-1");
    let acked = world.flagpost(["worker", "ack", "1"]);
    assert_eq!(acked.code, 0, "{acked}");
    let other = world.flagpost(["worker", "join", "W7"]);
    assert_eq!(other.code, 4, "{other}");
    assert_eq!(of_session(&world, "stop", "s-1"), Value::Null);
    of_session(&world, "session-end", "s-1");
    assert_eq!(of_session(&world, "session-start", "s-1"), Value::Null);
}

#[test]
fn an_agent_joins_in_its_own_session() {
    let mut world = world();
    world.ok(["init", "--yes"]);
    world.set("CLAUDECODE", "1");
    world.set("CLAUDE_CODE_SESSION_ID", "s-9");
    let joined = world.flagpost(["worker", "join", "W4", "--agent", "claude"]);
    assert_eq!(joined.code, 0, "{joined}");
    assert!(
        joined.stdout.contains("session s-9 is worker W4"),
        "{joined}"
    );
    let report = world.flagpost(["worker", "report", "Here I am"]);
    assert_eq!(report.code, 0, "{report}");
    let odd = world.flagpost(["worker", "join", "W4", "--session", "../x"]);
    assert_eq!(odd.code, 6, "{odd}");
}
