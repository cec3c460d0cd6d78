//! The JSON bridge from outside: started, asked, stopped.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::Stdio,
};

use flagpost_testkit::{background::Background, race::until, sealed::World};
use insta::assert_snapshot;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::{world, world_without_repository};

fn put(world: &World, items: &Value) {
    fs::create_dir_all(world.home()).unwrap();
    let next = world.home().join("next");
    fs::write(&next, items.to_string()).unwrap();
    fs::rename(next, inbox(world)).unwrap();
}

fn inbox(world: &World) -> PathBuf {
    world.home().join("agent-inbox.json")
}

fn send(world: &World, command: &Value) -> (i32, Value) {
    world.json(["bridge", "send", &command.to_string()])
}

#[test]
fn a_round_in_the_words_of_the_protocol() {
    let world = world();
    put(
        &world,
        &json!([
            {"id": "a", "command": "create", "payload": {"title": "Fix login bug"}},
            {"id": "b", "command": "show", "payload": {"taskId": "9"}},
            null,
        ]),
    );
    transcript!(world, @r"
    $ bridge start --once
    Processing: create 'Fix login bug' → ok
    Processing: show 9 → error: there is no task 9 in list web
    Processing: no command → error: a command must be an object; it is null
    $ bridge start --once
    $ bridge outbox
    COMMAND  ANSWER
    a        ok: Fix login bug (id: 1)
    b        error: there is no task 9 in list web
    none     error: a command must be an object; it is null
    $ bridge status
    Agent bridge: stopped
      files in [dir]/home/.flagpost
    $ list
    ID  STATE    SUBJECT
    1   pending  Fix login bug
    $ bridge clear
    cleared 3 answers
    $ bridge outbox
    the outbox is empty
    ");
}

#[test]
fn a_known_id_a_part_of_a_list_and_what_is_no_answer_are_called_so() {
    let world = world();
    for title in ["One", "Two"] {
        put(
            &world,
            &json!([{"id": "a", "command": "create", "payload": {"title": title}}]),
        );
        world.ok(["bridge", "start", "--once"]);
    }
    put(
        &world,
        &json!([{"id": "a", "command": "create", "payload": {"title": "Three"}}]),
    );
    transcript!(world, @r#"
    $ bridge start --once
    Processing: create 'Three' → error: the id "a" was used before, by another command; a new command needs a new id
    $ list
    ID  STATE    SUBJECT
    1   pending  One
    "#);
    world.ok(["add", "Two"]);
    let part = json!({"command": "list", "payload": {"limit": 1}}).to_string();
    assert_snapshot!(world.ok(["bridge", "send", &part]), @r"
    ✓ ok: 1 of 2
      1 One [todo]
    ");
    let outbox = world.home().join("agent-outbox.json");
    fs::write(
        outbox,
        r#"[1, null, {"a": 2}, {"commandId": "b", "status": "ok"}]"#,
    )
    .unwrap();
    transcript!(world, @r"
    $ bridge outbox
    COMMAND  ANSWER
    none     no answer of a bridge
    none     no answer of a bridge
    none     no answer of a bridge
    b        ok
    $ bridge send {} --timeout banana
    exit 2
    2> flagpost: invalid value 'banana' for '--timeout <TIME>': use a time, as in 30s or 5m
    2>   hint: 'flagpost bridge send --help' shows how
    ");
}

#[test]
fn a_running_bridge_tells_what_it_does_answers_and_stops() {
    let world = world();
    world.ok(["init", "--no-instructions"]);
    let mut command = world.command();
    command
        .args(["bridge", "start", "--interval", "10ms"])
        .stdout(Stdio::piped());
    let mut bridge = command.spawn().unwrap();
    let mut lines = BufReader::new(bridge.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap);
    assert_eq!(
        lines.next().unwrap(),
        "Agent bridge listening... (poll: 10ms)"
    );

    let (code, error) = world.json(["bridge", "start"]);
    assert_eq!((code, &error["kind"]), (4, &json!("conflict")));
    let (code, told) = send(
        &world,
        &json!({"command": "create", "payload": {"title": "Fix bug"}}),
    );
    assert_eq!((code, &told["answer"]["data"]["id"]), (0, &json!("1")));
    assert_eq!(lines.next().unwrap(), "Processing: create 'Fix bug' → ok");
    until("the count is told", || {
        let (_, status) = world.json(["bridge", "status"]);
        status["running"]["processed"] == 1
    });
    let (_, status) = world.json(["bridge", "status"]);
    assert_eq!(status["running"]["pid"], bridge.id());
    assert_eq!(status["running"]["poll_seconds"], json!(0.01));

    let (code, stopped) = world.json(["bridge", "stop"]);
    assert_eq!((code, &stopped["stopped"]), (0, &json!(bridge.id())));
    assert!(bridge.wait().unwrap().success());
    assert_eq!(lines.next(), None);
    let (_, again) = world.json(["bridge", "stop"]);
    assert_eq!(again["stopped"], Value::Null);
}

#[test]
fn each_line_of_a_stream_is_an_event() {
    let world = world();
    put(
        &world,
        &json!({"id": "a", "command": "create", "payload": {"title": "x"}}),
    );
    let (code, event) = world.json(["bridge", "start", "--once"]);
    assert_eq!(
        (code, &event["cursor"], &event["command"]),
        (0, &json!(1), &json!("create 'x'"))
    );
    assert_eq!(event["answer"]["status"], "ok");
}

#[test]
fn a_command_that_is_sent_is_carried_out_where_its_sender_stands() {
    let world = world();
    let (code, told) = send(
        &world,
        &json!({"command": "create", "payload": {"title": "x"}}),
    );
    assert_eq!((code, &told["answer"]["data"]["title"]), (0, &json!("x")));
    let (code, told) = send(
        &world,
        &json!({"command": "complete", "payload": {"taskId": "7"}}),
    );
    assert_eq!((code, &told["answer"]["status"]), (1, &json!("error")));
    assert_eq!(
        fs::read_to_string(inbox(&world)).unwrap(),
        "[]\n",
        "nothing is left behind"
    );
    for (bad, code) in [
        ("[]", 6),
        ("{", 6),
        ("{\"id\": 5, \"command\": \"list\"}", 6),
    ] {
        assert_eq!(world.flagpost(["bridge", "send", bad]).code, code, "{bad}");
    }
    assert_eq!(world.flagpost(["bridge", "send"]).code, 2);
}

#[test]
fn a_command_that_nobody_answers_in_time_stays_in_the_inbox() {
    let world = world();
    world.ok(["init", "--no-instructions"]);
    let lock = fs::File::create(world.home().join(".agent-bridge.lock")).unwrap();
    lock.lock().unwrap();
    let sent = world.flagpost([
        "bridge",
        "send",
        "--timeout",
        "100ms",
        r#"{"id": "c", "command": "stats"}"#,
    ]);
    assert_eq!(sent.code, 5, "{sent}");
    lock.unlock().unwrap();
    let told = world.ok(["bridge", "start", "--once"]);
    assert_eq!(told, "Processing: stats → ok\n");
}

#[test]
fn the_files_are_where_the_configuration_says() {
    let world = world();
    let told = |place: PathBuf| place.join("agent-outbox.json").exists();
    let command = r#"{"command": "stats"}"#;
    world.ok(["config", "set", "bridge.compat", "tsk"]);
    world.ok(["bridge", "send", command]);
    assert!(told(world.outside().join("home/.tsk")));
    let dir = world.outside().join("elsewhere");
    world.ok(["config", "set", "bridge.dir", dir.to_str().unwrap()]);
    world.ok(["bridge", "send", command]);
    assert!(told(dir.clone()) && !told(world.home()));
    assert!(
        world.ok(["bridge", "snippet"]).contains(
            &format!("{}/agent-inbox.json", dir.display())
                .replace(&world.outside().display().to_string(), "[dir]")
        )
    );
    world.ok(["config", "set", "integrations.agent.enabled", "true"]);
    let text = fs::read_to_string(world.home().join("config.toml")).unwrap();
    assert!(text.contains("enabled = true"), "{text}");
}

#[test]
fn where_no_repository_is_a_list_must_be_named() {
    let world = world_without_repository();
    assert_eq!(world.flagpost(["bridge", "start", "--once"]).code, 3);
    let ran = world.flagpost(["bridge", "send", r#"{"command": "list"}"#]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stdout.contains("the command must name one"), "{ran}");
    assert!(
        world
            .ok(["bridge", "snippet"])
            .contains("~/.flagpost/agent-inbox.json")
    );
}

#[test]
fn the_daemon_runs_it_and_leaves_it_alone_when_it_is_told() {
    let world = world();
    world.ok(["init", "--no-instructions"]);
    let _daemon = crate::daemon::Daemon(&world);
    transcript!(world, @r"
    $ config set integrations.agent.enabled true
    integrations.agent.enabled = true
    $ bridge status
    Agent bridge: stopped
      'flagpost daemon up' runs it: integrations.agent.enabled is set
      files in [dir]/home/.flagpost
    ");
    world.ok(["up"]);
    until("the daemon runs it", || {
        let (_, status) = world.json(["bridge", "status"]);
        status["running"]["host"] == "daemon" && status["running"]["poll_seconds"] == 2.0
    });
    let (code, error) = world.json(["bridge", "start"]);
    assert_eq!((code, &error["kind"]), (4, &json!("conflict")));
    world.ok([
        "bridge",
        "send",
        r#"{"command": "create", "payload": {"title": "a"}}"#,
    ]);
    until("the count is told", || {
        let (_, status) = world.json(["bridge", "status"]);
        status["running"]["processed"] == 1
    });
    transcript!(world, @r#"
    $ bridge status
    Agent bridge: running in the daemon (poll: 2s, processed: 1 commands)
      files in [dir]/home/.flagpost
    $ bridge stop
    Agent bridge: stopped (pid [pid])
      the daemon leaves it alone until it is started anew
    $ bridge stop
    Agent bridge: stopped; none was running
      the daemon leaves it alone until it is started anew
    $ bridge status
    Agent bridge: stopped
      the daemon leaves it alone until it is started anew
      files in [dir]/home/.flagpost
    $ bridge status --json
    {"schema":"flagpost.agent_status/1","running":null,"dir":"[dir]/home/.flagpost","enabled":true,"stopped":true}
    "#);
    // Whoever starts it by hand means it.
    world.ok(["bridge", "start", "--once"]);
    world.ok(["down"]);
    world.ok(["up"]);
    until("the next one runs it", || {
        let (_, status) = world.json(["bridge", "status"]);
        status["running"]["host"] == "daemon"
    });
}

#[test]
fn a_command_need_not_wait_for_the_next_look() {
    let world = world();
    let args = ["bridge", "start", "--interval", "1h"];
    let mut bridge = Background::start(world.command().args(args));
    until("it listens", || bridge.stdout().contains("listening"));
    for n in 1..=3 {
        let id = format!("c{n}");
        put(
            &world,
            &json!([{"id": id, "command": "create", "payload": {"title": id}}]),
        );
        let done = format!("create '{id}' → ok");
        until("it is carried out", || bridge.stdout().contains(&done));
    }
    bridge.signal(Signal::TERM);
    assert_eq!(bridge.end().code, 0);
}
