//! What an agent wants to do is asked, decided once, and answered to its client: from outside, with what Claude
//! Code's hook sends and reads.

mod rules;

use std::{fs, path::PathBuf, process::Stdio};

use flagpost_testkit::{background::Background, race::until, sealed::World};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::{exits, world};

/// A world with two workers, and the operator in it.
fn with_workers() -> World {
    let world = world();
    world.ok(["init", "--yes"]);
    world.ok(["worker", "add", "W1"]);
    world.ok(["worker", "add", "W2"]);
    world
}

/// What the client of a worker sends when its agent wants to run this.
fn wants(world: &World, worker: &str, command: &str) -> Value {
    json!({
        "session_id": format!("session of {worker}"),
        "cwd": world.repository(),
        "hook_event_name": "PermissionRequest",
        "tool_name": "Bash",
        "tool_input": {"command": command},
    })
}

/// A client's hook that waits for a decision.
fn asks(world: &World, worker: &str, sent: &Value) -> Background {
    let mut hook = world.command();
    hook.env("FLAGPOST_WORKER", worker);
    hook.args(["hook", "permission-request", "--agent", "claude"]);
    let before = waiting(world).len();
    let hook = Background::fed(&mut hook, sent.to_string().as_bytes());
    until("the request to wait", || waiting(world).len() == before + 1);
    hook
}

fn json(world: &World, args: &[&str]) -> Value {
    let (code, shown) = world.json(args);
    assert_eq!(code, 0, "{shown}");
    shown
}

/// The numbers of the requests that wait.
fn waiting(world: &World) -> Vec<u64> {
    let shown = json(world, &["permission", "list"]);
    let requests = shown["requests"].as_array().unwrap();
    requests
        .iter()
        .map(|it| it["request"].as_u64().unwrap())
        .collect()
}

/// What the client is answered; null where nothing is.
fn answer(hook: Background) -> Value {
    let ended = hook.end();
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended}");
    serde_json::from_str(&ended.stdout).unwrap_or_default()
}

fn decision(hook: Background) -> (String, String) {
    let answer = answer(hook);
    let decision = &answer["hookSpecificOutput"]["decision"];
    let text = |key: &str| decision[key].as_str().unwrap_or_default().to_owned();
    (text("behavior"), text("message"))
}

fn file(world: &World, n: u64) -> PathBuf {
    world.kept().join(format!("requests/{n}.json"))
}

/// The kinds of the history's lines about permissions, in order.
fn told(world: &World) -> Vec<String> {
    let lines = world.history();
    let kinds = lines.iter().filter_map(|it| it["kind"].as_str());
    let kinds = kinds.filter_map(|it| it.strip_prefix("permission."));
    kinds.map(str::to_owned).collect()
}

#[test]
fn the_client_goes_on_with_what_the_operator_decides() {
    let world = with_workers();
    let hook = asks(&world, "W1", &wants(&world, "W1", "npm test"));
    let n = waiting(&world)[0];
    let needs = json(&world, &["status"]);
    tells!(needs["needs"]["needs"][0], {
        "kind": "permission",
        "item": format!("requests/{n}"),
        "line": "W1: Bash: npm test",
        "settle_with": format!("flagpost allow {n}"),
    });
    world.ok(["allow", &n.to_string()]);
    assert_eq!(decision(hook), ("allow".to_owned(), String::new()));

    let hook = asks(&world, "W1", &wants(&world, "W1", "rm -rf target"));
    let n = waiting(&world)[0].to_string();
    world.ok(["deny", &n, "Run cargo clean"]);
    let denied = "The operator denied this: Run cargo clean".to_owned();
    assert_eq!(decision(hook), ("deny".to_owned(), denied));
    assert_eq!(told(&world), ["asked", "allowed", "asked", "denied"]);
    assert_eq!(waiting(&world), [0_u64; 0]);
    for again in ["allow", "deny"] {
        let late = exits(world.flagpost([again, &n]), 4);
        assert!(late.stderr.contains("is denied already by"), "{late}");
    }
}

#[test]
fn one_decision_answers_all_who_ask_the_same_and_nobody_else() {
    let world = with_workers();
    let hooks = ["W1", "W2", "W1"].map(|it| asks(&world, it, &wants(&world, it, "npm install")));
    let other = asks(&world, "W2", &wants(&world, "W2", "npm publish"));
    let needs = json(&world, &["status"]);
    assert_eq!(needs["needs"]["total"], 2, "{needs}");
    tells!(needs["needs"]["needs"][0], {"line": "W1, W2: Bash: npm install"});
    let settle = needs["needs"]["needs"][0]["settle_with"].as_str().unwrap();
    world.ok(settle.split(' ').skip(1));
    for hook in hooks {
        assert_eq!(decision(hook).0, "allow");
    }
    let left = waiting(&world);
    assert_eq!(left.len(), 1);
    world.ok(["deny", &left[0].to_string()]);
    assert_eq!(decision(other).1, "The operator denied this.");
}

#[test]
fn an_agent_decides_nothing_whichever_way_it_tries() {
    let mut world = with_workers();
    let hook = asks(&world, "W1", &wants(&world, "W1", "curl example.org"));
    let n = waiting(&world)[0];
    let number = n.to_string();
    world.set("FLAGPOST_WORKER", "W1");
    for verb in ["allow", "deny"] {
        let denied = exits(world.flagpost([verb, &number]), 4);
        assert!(
            denied.stderr.contains("decides on no permission"),
            "{denied}"
        );
    }
    world.unset("FLAGPOST_WORKER");
    // It writes the decision itself, as if the line before had been that.
    let asked = fs::read_to_string(file(&world, n)).unwrap();
    let mut forged: Value = serde_json::from_str(&asked).unwrap();
    forged["decision"] = json!({"verdict": "allowed", "by": "ann", "at": forged["at"], "line": n});
    fs::write(file(&world, n), forged.to_string()).unwrap();
    let is_back = || fs::read_to_string(file(&world, n)).is_ok_and(|it| it == asked);
    until("the request to be as it was asked", is_back);
    // It puts something harmless in the place of what it asks.
    let harmless = asked.replace("curl example.org", "ls");
    fs::write(file(&world, n), harmless).unwrap();
    until("the request to be as it was asked", is_back);
    fs::remove_file(file(&world, n)).unwrap();
    until("the request to be as it was asked", is_back);
    let changes = told(&world)
        .iter()
        .filter(|it| *it == "changed_outside")
        .count();
    assert_eq!(changes, 3, "{:?}", told(&world));
    world.ok(["deny", &number]);
    assert_eq!(decision(hook).0, "deny");
}

/// What somebody does to a request's file.
type Forge = fn(&std::path::Path);

#[test]
fn a_decision_holds_whatever_becomes_of_its_file_before_it_is_read() {
    let forges: [(&str, Forge); 3] = [
        ("the other word", |path| {
            let text = fs::read_to_string(path).unwrap();
            fs::write(path, text.replace("denied", "allowed")).unwrap();
        }),
        ("no file", |path| fs::remove_file(path).unwrap()),
        ("no directory", |path| {
            fs::remove_dir_all(path.parent().unwrap()).unwrap()
        }),
    ];
    for (what, forge) in forges {
        let world = with_workers();
        let mut hook = asks(&world, "W1", &wants(&world, "W1", "make"));
        let n = waiting(&world)[0];
        hook.signal(Signal::STOP);
        world.ok(["deny", &n.to_string(), "No"]);
        forge(&file(&world, n));
        let again = world.flagpost(["allow", &n.to_string()]);
        assert!([3, 4].contains(&again.code), "{what}: {again}");
        hook.signal(Signal::CONT);
        assert_eq!(decision(hook).0, "deny", "{what}");
    }
}

#[test]
fn long_lines_of_the_history_hide_no_request() {
    let world = with_workers();
    let hook = asks(&world, "W1", &wants(&world, "W1", "make"));
    world.ok(["add", &"y".repeat(70_000)]);
    let n = waiting(&world)[0].to_string();
    let refused = exits(world.flagpost(["deny", &n, &"x".repeat(501)]), 6);
    assert!(
        refused.stderr.contains("more than 500 characters"),
        "{refused}"
    );
    world.ok(["allow", &n]);
    assert_eq!(decision(hook).0, "allow");
}

#[test]
fn what_was_changed_while_nobody_watches_is_not_allowed() {
    let world = with_workers();
    let mut hook = asks(&world, "W1", &wants(&world, "W1", "curl example.org"));
    let n = waiting(&world)[0];
    hook.signal(Signal::STOP);
    let asked = fs::read_to_string(file(&world, n)).unwrap();
    fs::write(file(&world, n), asked.replace("curl example.org", "ls")).unwrap();
    let number = n.to_string();
    let refused = exits(world.flagpost(["allow", &number]), 4);
    assert!(
        refused.stderr.contains("was changed by an unknown hand"),
        "{refused}"
    );
    let needs = json(&world, &["status"]);
    tells!(needs["needs"]["needs"][0], {"settle_with": format!("flagpost permission show {n}")});
    world.ok(["deny", &number]);
    hook.signal(Signal::CONT);
    assert_eq!(decision(hook).0, "deny");
}

#[test]
fn a_decision_that_nobody_made_keeps_the_operator_from_none() {
    let world = with_workers();
    let mut hook = asks(&world, "W1", &wants(&world, "W1", "make"));
    let n = waiting(&world)[0];
    hook.signal(Signal::STOP);
    let asked = fs::read_to_string(file(&world, n)).unwrap();
    let mut forged: Value = serde_json::from_str(&asked).unwrap();
    forged["decision"] = json!({"verdict": "allowed", "by": "ann", "at": forged["at"], "line": n});
    fs::write(file(&world, n), forged.to_string()).unwrap();
    world.ok(["deny", &n.to_string(), "No"]);
    hook.signal(Signal::CONT);
    assert_eq!(decision(hook).0, "deny");
    assert_eq!(told(&world), ["asked", "denied"]);
}

#[test]
fn what_was_changed_beside_a_decision_that_nobody_made_is_not_allowed() {
    let world = with_workers();
    let mut hook = asks(&world, "W1", &wants(&world, "W1", "curl example.org"));
    let n = waiting(&world)[0];
    hook.signal(Signal::STOP);
    let asked = fs::read_to_string(file(&world, n)).unwrap();
    let mut forged: Value = serde_json::from_str(&asked.replace("curl example.org", "ls")).unwrap();
    forged["decision"] = json!({"verdict": "denied", "by": "ann", "at": forged["at"], "line": n});
    fs::write(file(&world, n), forged.to_string()).unwrap();
    let refused = exits(world.flagpost(["allow", &n.to_string()]), 4);
    assert!(
        refused.stderr.contains("was changed by an unknown hand"),
        "{refused}"
    );
    hook.signal(Signal::CONT);
    until("it is as it was asked", || {
        fs::read_to_string(file(&world, n)).is_ok_and(|it| it == asked)
    });
    world.ok(["deny", &n.to_string()]);
    assert_eq!(decision(hook).0, "deny");
}

#[test]
fn nobody_is_asked_about_a_request_that_nobody_made() {
    let world = with_workers();
    let hook = asks(&world, "W1", &wants(&world, "W1", "ls"));
    let n = waiting(&world)[0];
    let asked = fs::read_to_string(file(&world, n)).unwrap();
    fs::write(file(&world, 1), asked).unwrap();
    assert_eq!(waiting(&world), [n]);
    let shown = json(&world, &["permission", "list"]);
    tells!(shown["skipped"][0], {"file": "requests/1.json", "reason": "nobody asked for it"});
    let found = world.flagpost(["doctor"]);
    assert!(
        found.stdout.contains("requests/1.json is no request"),
        "{found}"
    );
    world.ok(["allow", &n.to_string()]);
    answer(hook);
}

#[test]
fn a_request_ends_with_whoever_waits_for_it() {
    let world = with_workers();
    // Its hook is killed: it waits no more, and says nothing.
    let mut hook = asks(&world, "W1", &wants(&world, "W1", "make a"));
    let n = waiting(&world)[0].to_string();
    hook.signal(Signal::KILL);
    until("it waits no more", || waiting(&world).is_empty());
    let gone = exits(world.flagpost(["allow", &n]), 4);
    assert!(gone.stderr.contains("waits no more"), "{gone}");
    // Its client is gone: the hook goes too.
    let mut hook = world.command();
    hook.env("FLAGPOST_WORKER", "W1");
    hook.args(["hook", "permission-request", "--agent", "claude"]);
    hook.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut hook = hook.spawn().unwrap();
    let sent = wants(&world, "W1", "make b").to_string();
    std::io::Write::write_all(&mut hook.stdin.take().unwrap(), sent.as_bytes()).unwrap();
    until("the request to wait", || waiting(&world).len() == 1);
    drop(hook.stdout.take());
    until("it waits no more", || waiting(&world).is_empty());
    assert!(hook.wait().unwrap().success());
    assert_eq!(told(&world).last().unwrap(), "withdrawn");
}

#[test]
fn what_was_answered_in_the_clients_own_window_waits_no_more() {
    let world = with_workers();
    let sent = wants(&world, "W1", "make");
    let goes_on = |event: &str, told: &Value| {
        let mut hook = world.command();
        hook.env("FLAGPOST_WORKER", "W1");
        hook.args(["hook", event, "--agent", "claude"]);
        let ended = Background::fed(&mut hook, told.to_string().as_bytes()).end();
        assert_eq!(ended.code, 0, "{ended}");
    };
    let called = |command: &str| {
        let call = json!({"tool_name": "Bash", "tool_input": {"command": command}});
        json!({"session_id": "session of W1", "cwd": world.repository(), "tool_calls": [call]})
    };
    let hook = asks(&world, "W1", &sent);
    goes_on("batch", &called("another"));
    assert_eq!(waiting(&world).len(), 1, "something else was called");
    goes_on("batch", &called("make"));
    assert_eq!(answer(hook), Value::Null);
    let hook = asks(&world, "W1", &sent);
    let mut ended = json!({"session_id": "session of W1", "cwd": world.repository()});
    ended["background_tasks"] = json!([{"id": 1}]);
    goes_on("stop", &ended);
    assert_eq!(waiting(&world).len(), 1, "an agent in the background waits");
    goes_on("session-end", &ended);
    assert_eq!(answer(hook), Value::Null);
    assert_eq!(waiting(&world).len(), 0);
}

#[test]
fn where_nobody_decides_in_time_a_run_goes_on_without_it_and_a_person_is_asked_by_the_client() {
    let mut world = with_workers();
    world.set("FLAGPOST_GATE_WAIT", "50ms");
    let hook = |world: &World| {
        let sent = wants(world, "W1", "make").to_string();
        let mut hook = world.command();
        hook.env("FLAGPOST_WORKER", "W1");
        hook.args(["hook", "permission-request", "--agent", "claude"]);
        Background::fed(&mut hook, sent.as_bytes())
    };
    assert_eq!(answer(hook(&world)), Value::Null);
    assert_eq!(told(&world), ["asked", "expired"]);
    world.set("FLAGPOST_REPORT", world.outside().join("report.md"));
    let (behavior, words) = decision(hook(&world));
    assert_eq!(behavior, "deny");
    assert!(words.starts_with("Nobody decided in time."), "{words}");
    world.set("FLAGPOST_GATE_WAIT", "0s");
    let before = told(&world).len();
    assert_eq!(answer(hook(&world)), Value::Null, "nobody is asked");
    assert_eq!(told(&world).len(), before);
}

#[test]
fn many_requests_at_once_each_get_their_own_answer() {
    let world = with_workers();
    let hooks: Vec<Background> = (0..10)
        .map(|n| {
            let mut hook = world.command();
            hook.env("FLAGPOST_WORKER", if n % 2 == 0 { "W1" } else { "W2" });
            hook.args(["hook", "permission-request", "--agent", "claude"]);
            let sent = wants(&world, "W1", &format!("make {n}")).to_string();
            Background::fed(&mut hook, sent.as_bytes())
        })
        .collect();
    until("all wait", || waiting(&world).len() == 10);
    let shown = json(&world, &["permission", "list"]);
    for it in shown["requests"].as_array().unwrap() {
        let is_even = it["line"]
            .as_str()
            .unwrap()
            .ends_with(['0', '2', '4', '6', '8']);
        let verb = if is_even { "allow" } else { "deny" };
        world.ok([verb, &it["request"].to_string()]);
    }
    for (n, hook) in hooks.into_iter().enumerate() {
        let expected = if n % 2 == 0 { "allow" } else { "deny" };
        assert_eq!(decision(hook).0, expected, "{n}");
    }
}

#[test]
fn what_cannot_be_meant_is_refused_and_nothing_is_decided() {
    let world = with_workers();
    let hook = asks(&world, "W1", &wants(&world, "W1", "make"));
    let n = waiting(&world)[0].to_string();
    for (args, code, words) in [
        (vec!["allow", "999"], 3, "there is no request 999"),
        (vec!["allow", &n, "999"], 3, "there is no request 999"),
        (vec!["allow", "W2"], 3, "W2 waits for no permission"),
        (vec!["allow", "W1"], 2, "nobody is there to be asked"),
        (vec!["allow", "all"], 2, "nobody is there to be asked"),
        (vec!["allow", "all", &n], 2, "all takes no other request"),
        (
            vec!["allow", &n, "--scope", "W*"],
            2,
            "--scope goes with all",
        ),
        (vec!["allow", "a b"], 6, "is not a worker id"),
        (
            vec!["permission", "show", "999"],
            3,
            "there is no request 999",
        ),
        (vec!["permission", "show", "x"], 2, "invalid value 'x'"),
    ] {
        let refused = exits(world.flagpost(&args), code);
        assert!(refused.stderr.contains(words), "{args:?}: {refused}");
    }
    assert_eq!(waiting(&world).len(), 1);
    let shown = json(&world, &["permission", "show", &n]);
    tells!(shown["input"], {"command": "make"});
    world.ok(["allow", &n]);
    answer(hook);
}
