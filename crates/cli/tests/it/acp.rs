//! Agents that speak the Agent Client Protocol, played by a script: what is said to them, and who lets go of what when
//! one of the processes dies. What real ones do is tried in `agents`.

use std::{fs, process::Command};

use flagpost_testkit::{background::Background, race::until};
use rustix::process::Signal;
use serde_json::Value;

use crate::run_stage::Stage;

/// An agent that begins in a mode in which nobody is asked, and has heard its prompt.
const BEGINS: &str = r#"
said() { printf '%s\n' "$1"; }
hear() { IFS= read -r frame || exit 0; printf '%s\n' "$frame" >> "$place/heard"; }
# ask NUMBER COMMAND: asks whether it may run this; what it is answered is heard.
ask() {
    said "{\"id\":\"a-$1\",\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"s-1\",
        \"toolCall\":{\"toolCallId\":\"c-$1\",\"kind\":\"execute\",\"title\":\"$2\"},\"options\":[
        {\"optionId\":\"for-ever\",\"kind\":\"allow_always\"},{\"optionId\":\"once\",\"kind\":\"allow_once\"},
        {\"optionId\":\"no\",\"kind\":\"reject_once\"}]}}" | tr -d '\n'
    echo
    hear
}
hear
said '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentInfo":{"name":"fake","version":"7"}}}'
hear
said '{"id":2,"result":{"sessionId":"s-1","modes":{"currentModeId":"yolo",
    "availableModes":[{"id":"yolo"},{"id":"default"}]}}}' | tr -d '\n'
echo
hear
said '{"id":3,"result":{}}'
hear
"#;

/// A list of one task, and an agent called `fake` that begins and then does this.
fn stage(then: &str) -> Stage {
    let stage = Stage::of_equal(1);
    let command = stage.agent(&format!("{BEGINS}{then}"));
    let set = ["config", "set", "run.agents.fake.command", &command];
    stage.world.ok(set);
    stage
}

fn begin(stage: &Stage) -> Background {
    let mut command: Command = stage.world.command();
    command.args(["run", "--agent", "acp:fake", "--retries", "1"]);
    Background::start(&mut command)
}

/// The number of the one request that waits.
fn waiting(stage: &Stage) -> Option<u64> {
    let (_, shown) = stage.world.json(["permission", "list"]);
    shown["requests"][0]["request"].as_u64()
}

fn allow(stage: &Stage) {
    until("it asks", || waiting(stage).is_some());
    let number = waiting(stage).unwrap().to_string();
    stage.world.ok(["allow", &number]);
}

/// What the agent heard.
fn heard(stage: &Stage) -> Vec<Value> {
    let frames = stage.left("heard");
    let frames = frames.lines().map(serde_json::from_str);
    frames.collect::<Result<_, _>>().unwrap()
}

#[test]
fn an_agent_is_set_to_ask_is_answered_and_does_not_outlive_its_task() {
    let stage = stage(
        r#"
        ask 1 'rm -r build'
        said '{"id":7,"method":"fs/write_text_file","params":{}}'
        hear
        flagpost done "$task" 'Removed' > /dev/null
        said '{"id":4,"result":{"stopReason":"end_turn","usage":{"inputTokens":70,"outputTokens":5}}}'
        # It ends neither with its input nor by a signal.
        trap '' TERM
        while :; do sleep 60; done
        "#,
    );
    let mut run = begin(&stage);
    allow(&stage);
    until("it ends", || !run.is_running());
    let ran = run.end();
    assert_eq!(
        (ran.code, stage.state("1")),
        (0, "completed".to_owned()),
        "{ran}"
    );
    let heard = heard(&stage);
    let methods: Vec<&str> = heard
        .iter()
        .filter_map(|it| it["method"].as_str())
        .collect();
    let expected = [
        "initialize",
        "session/new",
        "session/set_mode",
        "session/prompt",
    ];
    assert_eq!(methods, expected);
    tells!(heard[0], {"params/clientCapabilities/terminal": false, "params/protocolVersion": 1});
    tells!(heard[1], {"params/mcpServers/0/name": "flagpost", "params/mcpServers/0/args/0": "mcp"});
    tells!(heard[2], {"params/modeId": "default"});
    tells!(heard[4], {"id": "a-1", "result/outcome/outcome": "selected", "result/outcome/optionId": "once"});
    tells!(heard[5], {"id": 7, "error/code": -32601});
    stage.assert_no_process();
}

#[test]
fn a_request_is_given_up_when_its_agent_is_gone() {
    let stage = stage(
        r#"
        ask 1 'rm -r build' &
        mark asked
        await gone
        kill -9 $$
        "#,
    );
    let mut run = begin(&stage);
    until("it asks", || waiting(&stage).is_some());
    stage.mark("gone");
    until("it ends", || !run.is_running());
    let ran = run.end();
    assert_eq!(ran.code, 1, "{ran}");
    assert_eq!(waiting(&stage), None);
    let ends = stage.world.history();
    let ends = ends
        .iter()
        .filter(|it| it["kind"] == "permission.withdrawn");
    assert_eq!(ends.count(), 1, "{ran}");
    assert!(
        ran.stdout.contains("its program ended before its turn did"),
        "{ran}"
    );
    stage.assert_no_process();
}

#[test]
fn a_request_outlives_the_run_that_it_came_from() {
    let stage = stage(
        r#"
        ask 1 'rm -r build'
        mark answered
        await released
        "#,
    );
    let mut run = begin(&stage);
    until("it asks", || waiting(&stage).is_some());
    run.signal(Signal::KILL);
    until("it is gone", || !run.is_running());
    run.end();
    allow(&stage);
    stage.await_mark("answered");
    let answer = heard(&stage).pop().unwrap();
    tells!(answer, {"result/outcome/optionId": "once"});
    stage.mark("released");
}

#[test]
fn an_agent_whose_command_nobody_knows_is_named_before_anything_starts() {
    let stage = Stage::of_equal(1);
    let ran = stage.world.flagpost(["run", "--agent", "acp:kiro"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.stderr.contains("run.agents.kiro.command"), "{ran}");
    let ran = stage.world.flagpost(["run", "--agent", "acp"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.stderr.contains("acp:NAME"), "{ran}");
    assert!(fs::read_dir(&stage.place).unwrap().next().is_none());
}
