//! Every JSON object that the binary prints has a schema and keeps to it.
//!
//! Owns [`check`], which each world holds to whatever its runs print, and the tests of the schemas
//! themselves.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    process::Command,
    sync::OnceLock,
};

use insta::assert_snapshot;
use jsonschema::{Draft, Validator};
use serde_json::Value;

use crate::{daemon::Daemon, run_stage::Stage, world, world_with};

/// The schemas as the binary prints them, compiled once for all tests.
fn schemas() -> &'static BTreeMap<String, (Value, Validator)> {
    static SCHEMAS: OnceLock<BTreeMap<String, (Value, Validator)>> = OnceLock::new();
    SCHEMAS.get_or_init(|| {
        let names = printed(&["schema", "--quiet"]);
        let compiled = |name: &str| {
            let schema: Value = serde_json::from_str(&printed(&["schema", name])).unwrap();
            let validator = jsonschema::options()
                .with_draft(Draft::Draft202012)
                .should_validate_formats(true)
                .build(&schema)
                .unwrap_or_else(|error| panic!("the schema {name} is none: {error}"));
            (format!("flagpost.{name}/1"), (schema, validator))
        };
        names.lines().map(compiled).collect()
    })
}

/// What the binary prints, without a world: worlds use the schemas.
fn printed(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_flagpost"))
        .args(args)
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// What a run with these arguments printed: each JSON object keeps to its schema, a document over
/// several lines as well, and under `--json` there is nothing else.
pub fn check(args: &[&OsStr], stdout: &str) {
    let options = || args.iter().take_while(|arg| **arg != "--");
    let is_told = |arg: &&OsStr| {
        ["--help", "-h", "--version", "-V"]
            .iter()
            .any(|it| arg == it)
    };
    let is_json = options().any(|arg| *arg == "--json") && !options().any(is_told);
    for line in stdout.lines() {
        if is_json || line.starts_with(r#"{"schema":"#) {
            let value: Value = serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("{args:?}: not JSON: {error}\n{line}"));
            let faults = faults(&value);
            assert!(faults.is_empty(), "{args:?}: {faults:#?}\n{line}");
        }
    }
    if stdout.starts_with("{\n  \"schema\":") {
        let document: Value = serde_json::from_str(stdout).unwrap();
        let faults = faults(&document);
        assert!(faults.is_empty(), "{args:?}: {faults:#?}\n{stdout}");
    }
}

/// What is wrong with an answer.
fn faults(answer: &Value) -> Vec<String> {
    let name = answer["schema"].as_str().unwrap_or_default();
    match schemas().get(name) {
        None => vec![format!("there is no schema {name:?}")],
        Some((_, validator)) => validator
            .iter_errors(answer)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect(),
    }
}

/// Every schema below a schema, itself included.
fn each_below<'s>(schema: &'s Value, see: &mut impl FnMut(&'s Value)) {
    see(schema);
    match schema {
        Value::Object(map) => map.values().for_each(|below| each_below(below, see)),
        Value::Array(items) => items.iter().for_each(|below| each_below(below, see)),
        _ => {}
    }
}

/// What only some of the verbs tell that answer with a task; and what a client may not tell
/// of an attempt, since an unknown number is absent and never 0. A notification has a link where a daemon
/// runs. Only a command looks for the daemon.
const RARE: &str = "parts existed daemon next version model session usage input cached output \
    reasoning cost_usd turns denied end link";

/// Refers to nothing elsewhere, and leaves nothing open but what a few verbs tell besides.
#[test]
fn every_schema_is_valid_alone_and_complete() {
    for (name, (schema, _)) in schemas() {
        jsonschema::draft202012::meta::validate(schema).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(schema["title"].is_string(), "{name}");
        assert!(schema["description"].is_string(), "{name}");
        assert_eq!(schema["properties"]["schema"]["const"], **name);
        each_below(schema, &mut |below| {
            if let (Some(all), Some(required)) = (
                below["properties"].as_object(),
                below["required"].as_array(),
            ) {
                let optional = all
                    .keys()
                    .filter(|key| !required.contains(&Value::from(key.as_str())));
                let optional: Vec<_> = optional.collect();
                assert!(
                    optional
                        .iter()
                        .all(|it| RARE.split(' ').any(|rare| rare == **it)),
                    "{name}: {optional:?}"
                );
            }
        });
    }
}

/// An answer that lacks something, says more, or says it otherwise.
#[test]
fn a_wrong_answer_is_caught() {
    let (_, task) = world_with(&["a"]).json(["show", "1"]);
    assert_eq!(faults(&task), [""; 0]);
    let wrong = |pointer: &str, value: Value| {
        let mut task = task.clone();
        match pointer.strip_prefix('+') {
            Some(name) => task[name] = value,
            None => *task.pointer_mut(pointer).unwrap() = value,
        }
        faults(&task).len()
    };
    for (pointer, value) in [
        ("/schema", "flagpost.nothing/1".into()),
        ("/schema", "flagpost.tasks/1".into()),
        ("/state", "done".into()),
        ("/rev", "1".into()),
        ("/due", "2026-02-30".into()),
        ("/provenance/at", "yesterday".into()),
        ("/blocks", Value::from(vec![7])),
        ("+surplus", Value::Null),
    ] {
        assert_ne!(wrong(pointer, value.clone()), 0, "{pointer}: {value}");
    }
    let mut short = task;
    short.as_object_mut().unwrap().remove("late");
    assert_eq!(faults(&short).len(), 1);
}

/// All but `demo`, which takes seconds, and what only the daemon answers.
#[test]
fn every_schema_is_that_of_an_answer() {
    let stage = Stage::new("- [ ] A\n- [ ] B\n");
    let world = &stage.world;
    let agent = stage.agent("echo seen; report PASS");
    let script = format!(
        "init
        init --check
        init --remove
        status
        lst
        schema
        schema task
        instructions
        completions bash
        man
        man --out pages
        config list
        config set run.retries 2
        config get run.retries
        hooks install --agent claude --print
        hooks status --agent claude
        config unset run.retries
        config path
        doctor
        PATH=/usr/bin:/bin doctor --agents
        run --dry-run
        run --agent {agent:?}
        session list
        session show
        session show --events
        session timeline
        logs 1
        session recover
        add 'c d'
        add e
        task start 4 --as W3
        stuck 4 which --as W3
        answer 4 this
        task import {plan} --dry-run
        task export
        list
        task tags
        task projects
        task stats
        task graph
        task edit 3,4 --priority high
        task edit 3 --tag x --dry-run
        task undo
        worker add W1
        worker list
        worker token W1
        assign 1 W1 --inline a
        inbox
        inbox --briefs
        inbox W1 1
        ratify all
        worker wait --as W1
        worker next --as W1
        worker ack 1 --as W1
        worker next --as W1
        worker report b --as W1
        outbox
        outbox W1 1
        worker confirm 1 --as W1
        relay gc
        msg send --to W1 --subject QUERY c
        msg list
        msg unacked
        msg show W1/inbox/1
        msg send --subject DONE --task 1 d --as W1
        msg wait --timeout 0s
        msg wait --as orchestrator
        msg recv --as orchestrator
        msg recv --as orchestrator
        msg ack W1/outbox/2 --as orchestrator
        index path
        msg import {index} --dry-run
        slash /inbox
        coord leader init x
        coord leader add-task x
        coord leader aggregate
        coord export
        coord import
        coord leader retry
        coord register W1
        coord discoveries list
        reserve add src --as W1
        reserve check
        task timer start 3
        task timer show
        search c
        history
        index status
        index sql 'SELECT 1'
        task move 3 --to other --create
        task rm 4 --dry-run
        notify test
        bridge status
        bridge start --once
        bridge send '{{\"command\": \"list\"}}'
        bridge outbox
        bridge clear
        bridge stop
        bridge snippet
        session archive
        worktree list
        worktree clean
        up
        daemon logs
        logs
        board
        board --sign-out
        down",
        plan = world.outside().join("PLAN.md").display(),
        index = world.home().join("index.db").display(),
    );
    let _daemon = Daemon(world);
    std::fs::create_dir_all(world.home()).unwrap();
    std::fs::write(
        world.home().join("agent-inbox.json"),
        r#"{"id": "c", "command": "stats"}"#,
    )
    .unwrap();
    let mut seen = BTreeSet::new();
    for line in script.lines() {
        if line.ends_with("archive") {
            // As a run leaves it that was killed at its very end.
            std::fs::rename(stage.archived(), stage.live()).unwrap();
        }
        let told = world.transcript(&format!("{} --json", line.trim()));
        for line in told.lines().filter(|line| line.starts_with('{')) {
            let answer: Value = serde_json::from_str(line).unwrap();
            seen.insert(answer["schema"].as_str().unwrap().to_owned());
        }
    }
    let exported: Value = serde_json::from_str(&world.ok(["task", "export"])).unwrap();
    seen.insert(exported["schema"].as_str().unwrap().to_owned());
    let all: BTreeSet<String> = schemas().keys().cloned().collect();
    let unseen: Vec<String> = all.difference(&seen).cloned().collect();
    // The demonstration, a stream, a notification, permissions, what is asked of a run and several machines have tests of their own;
    // the daemon's tests look at the others.
    let elsewhere = "browsers change daemon demo fleet fleet_begun fleet_change fleet_invitation fleet_joined \
        fleet_left fleet_removed fleet_serving fleet_shared fleet_up graph_layout history_line \
        inbox kept landed landing landing_event landing_plan link list_change log_none log_part \
        notice number operations permission permissions policy_accepted repositories resync said session_documents signed_out stop_asked \
        transition worktree";
    let elsewhere = elsewhere.split(' ').map(|it| format!("flagpost.{it}/1"));
    assert_eq!(unseen, elsewhere.collect::<Vec<_>>());
}

#[test]
fn the_verb() {
    let world = world();
    transcript!(world, @r#"
    $ schema config_path
    {
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "$id": "urn:flagpost:config_path:1",
      "title": "Where the settings are kept",
      "description": "After 'flagpost config path'.",
      "type": "object",
      "properties": {
        "schema": {
          "const": "flagpost.config_path/1"
        },
        "path": {
          "type": "string"
        },
        "exists": {
          "type": "boolean"
        }
      },
      "required": [
        "schema",
        "path",
        "exists"
      ],
      "additionalProperties": false
    }
    $ schema flagpost.config_path/1 --quiet
    config_path
    $ schema archive --json
    {"schema":"flagpost.schema/1","name":"archive","json_schema":{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"urn:flagpost:archive:1","title":"Where a session was archived","description":"After 'flagpost session archive'.","type":"object","properties":{"schema":{"const":"flagpost.archive/1"},"dir":{"type":"string"}},"required":["schema","dir"],"additionalProperties":false}}
    $ schema tsk
    exit 3
    2> flagpost: there is no schema "tsk"
    2>   hint: do you mean task?
    $ schema tsk --json
    exit 3
    {"schema":"flagpost.error/1","kind":"not_found","exit_code":3,"message":"there is no schema \"tsk\"","hint":"do you mean task?","causes":[]}
    $ schema '' extra
    exit 2
    2> flagpost: unexpected argument 'extra' found
    2>   hint: 'flagpost schema --help' shows how
    "#);
    let list = world.ok(["schema"]);
    let first: Vec<&str> = list.lines().take(3).collect();
    assert_snapshot!(first.join("\n"), @r"
    NAME                  ANSWERS WITH
    ack                   A brief that its worker has read
    agent_answer          What the bridge answered
    ");
    let listed = world.json(["schema"]).1;
    let names = listed["schemas"].as_array().unwrap();
    assert_eq!(names.len(), schemas().len());
    assert_eq!(world.ok(["schema", "--quiet"]).lines().count(), names.len());
}
