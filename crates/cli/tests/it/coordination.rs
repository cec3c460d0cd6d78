//! `coord`: many processes and other programs at one table.

use std::{collections::BTreeSet, fs, process::Stdio};

use flagpost_testkit::sealed::World;
use serde_json::Value;

use crate::{world, world_without_repository};

fn begun() -> World {
    let world = world();
    world.ok(["coord", "leader", "init", "Build it"]);
    world
}

fn add(world: &World, args: &[&str]) {
    world.ok([&["coord", "leader", "add-task"], args].concat());
}

fn table(world: &World) -> Value {
    let text = fs::read_to_string(world.repository().join(".coordination/tasks.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn trap_19_forty_processes_add_forty_tasks() {
    let world = begun();
    let children: Vec<_> = (0..40)
        .map(|n| {
            let description = format!("Do {n}");
            let mut command = world.command();
            command
                .args(["coord", "leader", "add-task", &description, "--quiet"])
                .stdout(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    let told: BTreeSet<String> = children
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        })
        .collect();
    let table = table(&world);
    let rows = table["tasks"].as_array().unwrap();
    let ids = rows
        .iter()
        .map(|row| row["id"].as_str().unwrap().to_owned());
    assert_eq!((told.len(), rows.len()), (40, 40));
    assert_eq!(ids.collect::<BTreeSet<_>>(), told);
}

#[test]
fn each_refusal_has_its_code_and_says_what_to_do() {
    let world = world().with("TZ", "UTC");
    transcript!(world, @r#"
    $ coord leader status
    exit 3
    2> flagpost: there is no coordination directory [dir]/web/.coordination
    2>   hint: 'flagpost coord leader init GOAL' makes one; --dir, or --list coord:PATH, names another
    $ coord leader init ' '
    exit 6
    2> flagpost: goal: it says nothing
    $ coord leader init 'Build it'
    made [dir]/web/.coordination
    $ coord leader init 'Build it'
    [dir]/web/.coordination was there already, and stays as it is
    $ coord leader add-task
    exit 2
    2> flagpost: say what is to be done, as in add-task 'Write it'
    2>   hint: flagpost --help shows how
    $ coord leader add-task ' '
    exit 6
    2> flagpost: description: a task needs one
    $ coord leader add-task One --after task-009
    exit 6
    2> flagpost: task-001 names task-009, and there is no such task
    2>   hint: 'flagpost coord leader status' shows what there is
    $ coord leader add-task One
    added task-001 One
    $ coord leader add-task Two --after task-001 --needs rust
    added task-002 Two
    $ coord worker claim task-002 --as W1
    exit 4
    2> flagpost: task-002 waits for task-001
    2>   hint: 'flagpost coord worker list' shows what can be claimed now
    $ coord worker start task-001 --as W1
    exit 4
    2> flagpost: task-001 is not claimed
    2>   hint: 'flagpost coord worker claim' takes it first
    $ coord worker claim task-001 --as W1
    claimed task-001 One (token 1778682300000000)
    $ coord worker claim task-001 --as W1
    exit 4
    2> flagpost: you hold task-001 already (token 1778682300000000)
    2>   hint: go on with it
    $ coord worker claim task-001 --as W2
    exit 4
    2> flagpost: task-001 is held by W1 until 2026-05-13T14:40:00
    2>   hint: 'flagpost coord worker claim' gives you another task
    $ coord worker complete task-001 --token 1 --as W1
    exit 4
    2> flagpost: token 1 for task-001 is stale
    2>   hint: your claim is over; 'flagpost coord worker claim' asks for a new one
    $ coord worker complete task-001 'Mine!' --as W2
    exit 4
    2> flagpost: task-001 is held by W1 until 2026-05-13T14:40:00; what you said is kept in [dir]/web/.coordination/results/late/task-001.md
    2>   hint: stop working on this task; 'flagpost coord leader status' tells who has it
    $ coord worker subtask task-001 Part --as W2
    exit 4
    2> flagpost: task-001 is held by W1 until 2026-05-13T14:40:00
    2>   hint: 'flagpost coord worker claim' gives you another task
    $ coord worker complete task-001 Done --as W1
    completed task-001 One
    $ coord worker fail task-001 'Not done' --as W1
    exit 4
    2> flagpost: task-001 is done and cannot be failed; what you said is kept in [dir]/web/.coordination/results/late/task-001.md
    2>   hint: stop working on this task; 'flagpost coord leader status' tells who has it
    $ coord leader cancel task-001
    exit 4
    2> flagpost: task-001 is done and cannot be cancelled
    2>   hint: 'flagpost coord leader add-task' adds what is left to do
    $ coord leader retry task-001
    exit 4
    2> flagpost: task-001 is done and cannot be retried
    2>   hint: 'flagpost coord leader add-task' adds what is left to do
    $ coord worker claim --as W1
    exit 3
    2> flagpost: there is no task for W1 now: 1 for others' capabilities
    2>   hint: 'flagpost coord leader status' shows what the rest waits for
    $ coord worker start task-007 --as W1
    exit 3
    2> flagpost: there is no coordination task task-007
    2>   hint: 'flagpost coord leader status' shows those there are
    $ coord leader cancel task
    exit 4
    2> flagpost: task could be any of task-001, task-002
    2>   hint: type more of the id
    $ coord leader retry
    no task failed
    $ coord register W1 --can ' '
    registered W1
    "#);
}

#[test]
fn every_verb_answers_in_json() {
    let world = begun();
    let ok = |args: &[&str]| -> Value {
        let (code, value) = world.json([&["coord"], args].concat());
        assert_eq!(code, 0, "{args:?}: {value}");
        value
    };
    let task = ok(&[
        "leader",
        "add-task",
        "One",
        "-p",
        "1",
        "-f",
        "a,b",
        "--hints",
        "h",
        "--tag",
        "t",
        "--max-retries",
        "1",
    ]);
    tells!(task, {"task/files": ["a", "b"], "task/created_at": "2026-05-13T14:25:00Z"});
    ok(&["register", "W1", "--can", "rust"]);
    let token = ok(&["worker", "claim", "--as", "W1"])["task"]["token"].clone();
    let token = token.to_string();
    ok(&[
        "worker", "start", "task-001", "--token", &token, "--as", "W1",
    ]);
    ok(&["worker", "subtask", "task-001", "Part", "--as", "W1"]);
    assert_eq!(ok(&["worker", "list", "--as", "W1"])["total"], 2);
    let failed = ok(&["worker", "fail", "task-001", "no", "--as", "W1"]);
    assert_eq!(failed["task"]["next_retry_at"], "2026-05-13T14:25:30Z");
    ok(&["leader", "retry", "task-001"]);
    ok(&["leader", "cancel", "task-002"]);
    ok(&["worker", "heartbeat", "--as", "W1"]);
    ok(&["discoveries", "add", "A thing", "--as", "W1"]);
    tells!(ok(&["discoveries", "list"]), {"discoveries/0/text": "A thing"});
    ok(&["leader", "aggregate"]);
    let status = ok(&["leader", "status"]);
    tells!(status, {"counts/cancelled": 1, "tasks/0/standing": "ready"});
}

#[test]
fn trap_23_other_programs_read_our_times_wherever_we_are() {
    let world = begun().with("TZ", "PST8");
    add(&world, &["One"]);
    world.ok(["coord", "worker", "claim", "--as", "W1"]);
    let table = table(&world);
    tells!(table, {"tasks/0/claimed_at": "2026-05-13T06:25:00.000000"});
    let (_, status) = world.json(["coord", "leader", "status"]);
    tells!(status, {"tasks/0/task/claimed_at": "2026-05-13T14:25:00Z"});
    let reader = "\
import json, sys
from datetime import datetime
now = datetime(2026, 5, 13, 6, 30)
for name in 'tasks.json', 'agents.json':
    for row in [*json.load(open('.coordination/' + name)).values()][-1]:
        for key in 'created_at', 'claimed_at', 'registered_at', 'last_seen':
            if key in row:
                assert (now - datetime.fromisoformat(row[key])).total_seconds() == 300, row
";
    let mut python = world.command_of("python3");
    let ran = world.run(python.args(["-c", reader]));
    assert_eq!(ran.code, 0, "{ran}");
}

#[test]
fn trap_24_a_broken_row_is_skipped_and_stays() {
    let world = begun();
    add(&world, &["One"]);
    let path = world.repository().join(".coordination/tasks.json");
    let text = fs::read_to_string(&path).unwrap();
    let broken = r#""tasks": [{"id": "task-009", "status": "available", "mine": 1.50},"#;
    fs::write(&path, text.replacen(r#""tasks": ["#, broken, 1)).unwrap();
    let status = world.flagpost(["coord", "leader", "status"]);
    assert!(status.stdout.contains("task-001"), "{status}");
    let told = "flagpost: skipped tasks.json: task-009: it has no description\n";
    assert_eq!(status.stderr, told);
    world.ok(["coord", "worker", "claim", "--as", "W1"]);
    // Its id is not given to another task.
    assert_eq!(
        world.ok(["coord", "leader", "add-task", "Two", "--quiet"]),
        "task-010\n"
    );
    let rows = &table(&world)["tasks"];
    assert_eq!(
        rows[0].to_string(),
        r#"{"id":"task-009","status":"available","mine":1.50}"#
    );
    assert_eq!(rows[1]["status"], "claimed");
}

#[test]
fn the_directory_is_found_from_below_or_as_said() {
    let world = begun();
    add(&world, &["One"]);
    let below = world.repository().join("src/deep");
    fs::create_dir_all(&below).unwrap();
    let ids = |world: &World, args: &[&str]| {
        let mut command = world.command();
        let args = [&["coord", "leader", "status", "--quiet"], args].concat();
        world
            .run(command.args(args).current_dir(&below))
            .to_string()
    };
    assert_eq!(ids(&world, &[]), "task-001\n");
    let other = world.outside().join("shared");
    let world = world.with("COORDINATION_DIR", &other);
    assert!(ids(&world, &[]).starts_with("exit 3"));
    world.ok(["coord", "leader", "init", "Other"]);
    assert_eq!(ids(&world, &[]), "");
    assert_eq!(ids(&world, &["--dir", "../../.coordination"]), "task-001\n");
    assert!(other.join("tasks.json").is_file());
}

#[test]
fn a_directory_works_where_no_repository_is() {
    let world = world_without_repository();
    world.ok(["coord", "leader", "init", "Build it"]);
    world.ok(["coord", "leader", "add-task", "One"]);
    assert_eq!(
        world.ok(["coord", "worker", "claim", "--as", "W1", "--quiet"]),
        "task-001\n"
    );
    assert!(!world.home().exists(), "it needs no home");
}

#[test]
fn a_batch_is_added_whole_or_not_at_all() {
    let world = begun();
    let feed = |text: &str| world.feed(["coord", "leader", "batch-add", "-"], text.as_bytes());
    for (text, code) in [
        ("", 6),
        ("{}", 6),
        (
            r#"[{"description": "One"}, {"prio": 1, "description": "Two"}]"#,
            6,
        ),
        (
            r#"[{"description": "One"}, {"description": "Two", "dependencies": ["x"]}]"#,
            6,
        ),
        (
            r#"[{"id": "a", "description": "One", "dependencies": ["b"]},
             {"id": "b", "description": "Two", "dependencies": ["a"]}]"#,
            6,
        ),
        (
            r#"[{"id": "a", "description": "One"}, {"id": "a", "description": "Two"}]"#,
            4,
        ),
    ] {
        assert_eq!(feed(text).code, code, "{text}");
        assert_eq!(
            table(&world)["tasks"].as_array().unwrap().len(),
            0,
            "{text}"
        );
    }
    let ran = feed(
        r#"[{"id": "task-004", "description": "One"}, {"description": "Two", "dependencies": ["task-004"]}]"#,
    );
    assert_eq!(ran.stdout, "added 2 tasks, task-004 to task-005\n");
}

#[test]
fn a_lists_tasks_go_to_the_table_and_come_back_to_what_they_were() {
    let world = begun().with("TZ", "UTC");
    world.ok(["add", "Parse", "--priority", "high", "--tag", "core"]);
    world.ok(["add", "Test", "--after", "1"]);
    world.ok(["add", "Held"]);
    world.ok(["add", "Over"]);
    world.ok(["claim", "3", "--as", "W9"]);
    world.ok(["done", "4"]);
    transcript!(world, @r#"
    $ coord import
    3 added, 0 there already
    2> flagpost: blocked here, because somebody holds them in the list: 1 task
    $ coord import
    0 added, 3 there already
    $ coord leader status --quiet
    task-001
    task-002
    task-003
    $ coord worker claim --as W1
    claimed task-001 Parse (token 1778682300000000)
    $ coord worker complete 1 'It parses.' --as W1
    completed task-001 Parse
    $ coord leader add-task 'Publish' --after task-002 --files CHANGES -p 1
    added task-004 Publish
    $ coord export --dry-run
    1 would be added to web, 2 would be updated, 1 unchanged
    $ coord export
    1 added to web, 2 updated, 1 unchanged
    $ coord export
    0 added to web, 0 updated, 4 unchanged
    $ coord import
    0 added, 3 there already
    $ list --state pending,claimed,completed
    ID  STATE      PRIORITY  OWNER  TAGS  WAITS FOR  SUBJECT
    1   completed  high      W1     core             Parse
    2   pending                                      Test
    3   claimed              W9                      Held
    4   completed            ann                     Over
    5   pending    critical               2          Publish
    "#);
    let (_, parsed) = world.json(["show", "1"]);
    tells!(parsed, {
        "state": "completed", "priority": "high", "tags": ["core"], "result/text": "It parses.",
    });
    let (_, publish) = world.json(["show", "5"]);
    tells!(publish, {"blocked_by": ["2"], "metadata/files": ["CHANGES"]});
    let rows = table(&world)["tasks"].as_array().unwrap().clone();
    assert_eq!(rows[1]["dependencies"], serde_json::json!(["task-001"]));
    assert_eq!(
        rows[2]["status"], "blocked",
        "somebody holds it in the list"
    );
}

#[test]
fn broken_agents_stop_nobody_from_looking_and_are_written_over_by_nobody() {
    let world = begun();
    add(&world, &["One"]);
    let agents = world.repository().join(".coordination/agents.json");
    fs::write(&agents, "{ broken").unwrap();
    let (code, status) = world.json(["coord", "leader", "status"]);
    assert_eq!((code, &status["total"]), (0, &1.into()), "{status}");
    let skipped = status["skipped"][0].to_string();
    assert!(skipped.contains("agents.json"), "{skipped}");
    add(&world, &["Two"]);
    let claim = world.flagpost(["coord", "worker", "claim", "--as", "a1"]);
    assert_eq!(claim.code, 6, "{claim}");
    assert_eq!(fs::read_to_string(agents).unwrap(), "{ broken");
    assert_eq!(table(&world)["tasks"][0]["status"], "available");
}

#[test]
fn logs_that_cannot_be_kept_are_told_of() {
    let world = begun();
    let logs = world.repository().join(".coordination/logs");
    fs::remove_dir_all(&logs).unwrap();
    fs::write(&logs, "").unwrap();
    add(&world, &["One"]);
    let status = world.flagpost(["coord", "leader", "status"]);
    assert_eq!(status.code, 0, "{status}");
    assert!(status.stderr.contains("nobody's log is kept"), "{status}");
}
