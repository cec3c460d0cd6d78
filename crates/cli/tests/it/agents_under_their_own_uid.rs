//! Agents under a uid of their own, as `docs/security.md` sets them up: they do their work, and come
//! neither at the home nor at the daemon.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use flagpost_testkit::sealed::{Ran, World};
use serde_json::{Value, json};

use crate::{
    daemon::Daemon,
    doctor_faults::{is_healthy, mode},
    exits, is_root, world,
};

/// Nobody's: no process of the operator's has it.
const AGENT: [&str; 3] = ["--reuid=65534", "--regid=65534", "--clear-groups"];

/// What each attempt came to, in the order of the attempts, in the working tree.
const SAID: &str = "said";

/// A repository that everybody may write, beside a home that is its owner's alone, with a brief that
/// waits for a decision.
fn walled() -> Option<World> {
    if !is_root("acting under two uids") {
        return None;
    }
    let world = world();
    for dir in [world.outside(), &world.outside().join("home")] {
        mode(dir, 0o755);
    }
    mode(&world.repository(), 0o777);
    world.ok(["worker", "add", "W1"]);
    world.ok(["assign", "7", "W1", "--inline", "Do it"]);
    world.ok(["add", "Write the parser"]);
    Some(world)
}

/// A program under the agent's uid.
fn as_agent(world: &World, args: &[&str]) -> Ran {
    let mut command: Command = world.command_of("setpriv");
    world.run(command.args(AGENT).args(args))
}

/// The script of an agent that goes as far as it can, and then does its work.
fn script(world: &World) -> PathBuf {
    let home = world.home();
    let inbox = world.kept().join("workers/W1/inbox");
    let script = format!(
        r#"cat > prompt
try() {{ what=$1; shift; if "$@" > /dev/null 2>&1; then echo "$what: yes"; else echo "$what: no"; fi >> {SAID}; }}
echo "uid: $(id -u)" >> {SAID}
try "looks into the home" ls {home}
try "reads the history" cat {history}
try "edits the history" sh -c 'echo x >> {history}'
try "reads the token" cat {home}/run/token
try "reads a brief" cat {inbox}/0001.brief
try "makes a flag" touch {inbox}/0001.ratified
try "changes a setting" sh -c 'echo x >> {home}/config.toml'
try "asks at the socket" curl -sS --unix-socket {home}/run/daemon.sock http://flagpost/v1/relay/inbox
try "decides by a verb" {flagpost} ratify W1
try "does its work" touch parser.c
"#,
        home = home.display(),
        history = world.kept().join("history.jsonl").display(),
        inbox = inbox.display(),
        flagpost = env!("CARGO_BIN_EXE_flagpost"),
    );
    let path = world.outside().join("agent.sh");
    fs::write(&path, script).unwrap();
    mode(&path, 0o755);
    path
}

fn history(world: &World) -> Vec<u8> {
    fs::read(world.kept().join("history.jsonl")).unwrap()
}

#[test]
fn an_agent_does_its_work_and_comes_at_nothing_of_the_operators() {
    let world = or_skip!(walled());
    let script = script(&world);
    let agent = format!("setpriv {} sh {}", AGENT.join(" "), script.display());
    world.ok(["config", "set", "run.agents.walled.command", &agent]);
    let before = history(&world).len();
    world.ok(["run", "--agent", "walled"]);
    let said = fs::read_to_string(world.repository().join(SAID)).unwrap();
    let expected = [
        "uid: 65534",
        "looks into the home: no",
        "reads the history: no",
        "edits the history: no",
        "reads the token: no",
        "reads a brief: no",
        "makes a flag: no",
        "changes a setting: no",
        "asks at the socket: no",
        "decides by a verb: no",
        "does its work: yes",
    ];
    assert_eq!(said.lines().collect::<Vec<_>>(), expected);
    let prompt = fs::read_to_string(world.repository().join("prompt")).unwrap();
    assert!(prompt.contains("Write the parser"), "{prompt}");
    assert!(world.ok(["list", "--all"]).contains("completed"));
    // Nobody decided on what waits: all that was added is the run's.
    let added = String::from_utf8_lossy(&history(&world)[before..]).into_owned();
    assert!(!added.contains("\"worker\":\"W1\""), "{added}");
    is_healthy(&world);
}

/// What the tools answer an agent that has nothing but an address and its token.
fn asked(world: &World, (http, token): (&str, &str), tool: &str, arguments: &Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let (url, token) = (
        format!("{http}/mcp"),
        format!("Authorization: Bearer {token}"),
    );
    let accept = "Accept: application/json, text/event-stream";
    let body = body.to_string();
    let curl = [
        "curl", "-sS", &url, "-H", &token, "-H", accept, "--json", &body,
    ];
    let ran = exits(as_agent(world, &curl), 0);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran}"))
}

#[test]
fn an_agent_works_as_its_worker_with_a_token_alone() {
    let mut world = or_skip!(walled());
    world.set("FLAGPOST_CLOCK", "");
    let up = world.json(["up"]).1;
    let _daemon = Daemon(&world);
    let http = up["daemon"]["http"].as_str().unwrap().to_owned();
    let mut made = world.command();
    let made = made.args(["worker", "token", "W1", "--quiet"]).output();
    let token = String::from_utf8(made.unwrap().stdout).unwrap();
    let way = (http.as_str(), token.trim());
    let answer = |tool: &str, arguments: Value| {
        asked(&world, way, tool, &arguments)["result"]["structuredContent"].clone()
    };
    assert_eq!(answer("status", json!({}))["you"], "W1");
    assert_eq!(answer("inbox", json!({}))["items"], json!([]));
    world.ok(["ratify", "W1", "1"]);
    assert_eq!(answer("inbox", json!({}))["items"][0]["seq"], 1);
    assert_eq!(answer("ack", json!({"seq": 1}))["again"], false);
    let claimed = answer("claim", json!({"task": 1}));
    let end =
        json!({"task": 1, "token": claimed["token"], "outcome": "stuck", "text": "Which one?"});
    assert_eq!(answer("end", end)["state"], "stuck");
    // It decides on nothing, and comes at nothing of its own accord.
    let refused = asked(&world, way, "ratify", &json!({"worker": "W1"}));
    assert!(refused["error"].is_object(), "{refused}");
    let inbox = format!("{http}/v1/relay/inbox");
    let header = format!("Authorization: Bearer {}", token.trim());
    let ran = as_agent(&world, &["curl", "-sSf", &inbox, "-H", &header]);
    assert_ne!(ran.code, 0, "{ran}");
    is_healthy(&world);
}

/// Whoever opens the doors by mistake is told, and the daemon still asks who it is that came.
#[test]
fn the_daemon_turns_another_uid_away_even_where_the_doors_stand_open() {
    let mut world = or_skip!(walled());
    world.set("FLAGPOST_CLOCK", "");
    world.ok(["up"]);
    let _daemon = Daemon(&world);
    let socket = world.home().join("run/daemon.sock");
    open(&[&world.home(), &world.home().join("run"), &socket]);
    let url = "http://flagpost/v1/relay/inbox";
    let asked = [
        "curl",
        "-sS",
        "--fail",
        "--unix-socket",
        socket.to_str().unwrap(),
        url,
    ];
    let theirs = as_agent(&world, &asked);
    assert_ne!(theirs.code, 0, "{theirs}");
    assert_eq!(theirs.stdout, "", "{theirs}");
    let mut ours = world.command_of(asked[0]);
    exits(world.run(ours.args(&asked[1..])), 0);
    let told = world.ok(["doctor"]);
    assert!(told.contains("home-open"), "{told}");
}

fn open(paths: &[&Path]) {
    for path in paths {
        mode(path, 0o777);
    }
}
