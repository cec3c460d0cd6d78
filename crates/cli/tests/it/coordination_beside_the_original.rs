//! What the scripts and people of the original program do at a coordination directory.

use std::{fs, process::Stdio};

use flagpost_testkit::{patience::patience, sealed::World};
use serde_json::{Value, json};

use crate::world;

fn begun() -> World {
    let world = world();
    world.ok(["coord", "leader", "init", "Build it"]);
    world
}

fn read(world: &World, name: &str) -> String {
    fs::read_to_string(world.repository().join(".coordination").join(name)).unwrap()
}

fn table(world: &World) -> Value {
    serde_json::from_str(&read(world, "tasks.json")).unwrap()
}

#[test]
fn a_directory_that_is_there_is_begun_again_without_loss() {
    let world = begun();
    world.ok(["coord", "leader", "add-task", "One"]);
    fs::remove_file(world.repository().join(".coordination/agents.json")).unwrap();
    transcript!(world, @r#"
    $ coord leader init 'Build another'
    [dir]/web/.coordination was there already, and stays as it is
    2> flagpost: its goal is "Build it"; 'flagpost coord leader goal' says another
    "#);
    assert_eq!(table(&world)["tasks"][0]["description"], "One");
    assert!(read(&world, "agents.json").contains("\"agents\""));
}

#[test]
fn the_goal_changes_and_the_rest_of_the_plan_stays() {
    let world = world();
    world.ok([
        "coord",
        "leader",
        "init",
        "Build it",
        "--approach",
        "Slowly",
    ]);
    world.ok(["coord", "leader", "goal", "Build another"]);
    assert_eq!(
        read(&world, "master-plan.md"),
        "# Master plan\n\n## Objective\n\nBuild another\n\n## Approach\n\nSlowly\n"
    );
    let plan = world.repository().join(".coordination/master-plan.md");
    fs::write(plan, "# Ours\n\nBy hand.\n").unwrap();
    world.ok(["coord", "leader", "goal", "A third"]);
    assert_eq!(
        read(&world, "master-plan.md"),
        "# Ours\n\nBy hand.\n\n## Objective\n\nA third\n"
    );
    assert!(
        world
            .ok(["coord", "leader", "status"])
            .starts_with("A third\n")
    );
}

#[test]
fn an_agent_registers_before_there_is_a_table() {
    let world = world();
    transcript!(world, @r"
    $ coord register terminal-2 --can rust
    registered terminal-2
    2> flagpost: made [dir]/web/.coordination
    ");
    assert_eq!(table(&world)["tasks"], json!([]));
    assert!(read(&world, "agents.json").contains("terminal-2"));
}

#[test]
fn who_cancels_says_why() {
    let world = begun();
    world.ok(["coord", "leader", "add-task", "One"]);
    world.ok([
        "coord",
        "leader",
        "cancel",
        "1",
        "--reason",
        "Done elsewhere",
    ]);
    let row = &table(&world)["tasks"][0];
    tells!(row, {"status": "cancelled", "result/error": "Done elsewhere"});
    assert!(read(&world, "logs/leader.log").contains("cancelled: task-001: Done elsewhere"));
}

#[test]
fn one_batch_file_serves_both_programs() {
    let world = begun();
    let feed = |text: &str| world.feed(["coord", "leader", "batch-add", "-"], text.as_bytes());
    let wrapped = r#"{"tasks": [{"description": "One", "priority": 2}]}"#;
    let yaml = "tasks:\n  - description: Two\n    dependencies: [task-001]\n    \
        context:\n      files:\n        - src/two.rs\n  - description: 'Three: the last'\n";
    for text in [wrapped, yaml, "- description: Four\n"] {
        let said = feed(text);
        assert_eq!(said.code, 0, "{text}: {said:?}");
    }
    let rows = table(&world)["tasks"].clone();
    let told: Vec<&Value> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["description"])
        .collect();
    assert_eq!(told, ["One", "Two", "Three: the last", "Four"]);
    tells!(rows, {"1/dependencies": ["task-001"], "1/context/files": ["src/two.rs"]});
    for broken in [
        "tasks: One",
        "tasks:\n  - prio: 1\n",
        "a: &x [1]\nb: *x\n",
        "- a: 1\n---\n- b: 2\n",
    ] {
        assert_eq!(feed(broken).code, 6, "{broken}");
    }
    assert_eq!(table(&world)["tasks"], rows);
}

#[test]
fn the_originals_words_and_options_are_understood() {
    let world = begun();
    world.ok([
        "coord", "leader", "add-task", "One", "-f", "src/a.rs", "src/b.rs",
    ]);
    world.ok("coord leader add-task -f src/c.rs Two --depends task-001".split(' '));
    let rows = table(&world)["tasks"].clone();
    assert_eq!(rows[0]["context"]["files"], json!(["src/a.rs", "src/b.rs"]));
    assert_eq!(rows[1]["description"], "Two");
    tells!(rows, {"1/context/files": ["src/c.rs"], "1/dependencies": ["task-001"]});
    world.ok(["coord", "register", "terminal-2"]);
    transcript!(world, @r"
    $ coord worker claim terminal-2 --quiet
    task-001
    $ coord worker start terminal-2 task-001
    started task-001 One
    $ coord worker heartbeat terminal-2
    terminal-2 is at work
    $ coord worker heartbeat terminal-2 --task task-001
    terminal-2 is at work
    $ coord worker heartbeat terminal-2 --task task-002
    exit 4
    2> flagpost: task-002 is not claimed
    2>   hint: 'flagpost coord worker claim' takes it first
    $ coord worker list terminal-2 --quiet
    task-001
    $ coord worker subtask terminal-2 task-001 'A part' -p 2 -t slow hard -e 30
    added task-003 A part
    $ coord worker complete terminal-2 task-001 'It works' -m src/a.rs src/b.rs -c src/new.rs
    completed task-001 One
    $ coord leader cancel task-002 -r 'Done elsewhere'
    cancelled task-002 Two
    $ coord worker claim --agent-id terminal-3 task-003 --quiet
    task-003
    $ coord worker start nobody task-003
    exit 3
    2> flagpost: there is no coordination task nobody
    2>   hint: 'flagpost coord leader status' shows those there are
    ");
    let rows = table(&world)["tasks"].clone();
    tells!(rows, {
        "0/claimed_by": "terminal-2", "0/result/output": "It works", "2/claimed_by": "terminal-3",
        "0/result/files_modified": ["src/a.rs", "src/b.rs"], "0/result/files_created": ["src/new.rs"],
        "1/result/error": "Done elsewhere", "2/tags": ["slow", "hard"], "2/estimated_duration": 30,
    });
    // The estimate is the list's, and its change the table's.
    world.ok("task edit task-003 --estimate 45m --list coord:".split(' '));
    let row = table(&world)["tasks"][2].clone();
    assert_eq!(row["estimated_duration"], 45, "{row}");
    assert_eq!(row["flagpost"], json!(null), "{row}");
}

#[test]
fn a_claim_waits_until_there_is_a_task() {
    let world = begun();
    let (code, _) = world.json("coord worker claim --wait --timeout 100ms --as W1".split(' '));
    assert_eq!(code, 3);
    let mut command = world.command();
    command
        .args([
            "coord",
            "worker",
            "claim",
            "--wait",
            "--timeout",
            &format!("{}s", patience().as_secs()),
            "--as",
            "W1",
            "--quiet",
        ])
        .stdout(Stdio::piped());
    let child = command.spawn().unwrap();
    world.ok(["coord", "leader", "add-task", "One"]);
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "task-001\n");
}

#[test]
fn a_failed_task_leaves_a_result_and_the_summary_has_what_hands_wrote() {
    let world = begun();
    for title in ["One", "Two", "Three"] {
        world.ok(["coord", "leader", "add-task", title, "--max-retries", "1"]);
    }
    world.ok(["coord", "worker", "claim", "task-001", "--as", "W1"]);
    world.ok([
        "coord",
        "worker",
        "fail",
        "task-001",
        "No network",
        "--as",
        "W1",
    ]);
    assert_eq!(
        read(&world, "results/task-001.md"),
        "# task-001: One\n\n- Worker: W1\n- Outcome: failed\n\nNo network\n"
    );
    world.ok(["coord", "worker", "claim", "task-002", "--as", "W1"]);
    world.ok([
        "coord", "worker", "complete", "task-002", "It works", "--as", "W1",
    ]);
    let results = world.repository().join(".coordination/results");
    fs::write(
        results.join("task-003.md"),
        "# Result\n\nHalf of it.\n\n## Open\n\nThe rest.\n",
    )
    .unwrap();
    fs::write(results.join("notes.md"), "Measured.\n").unwrap();
    let summary = world.ok(["coord", "leader", "aggregate"]);
    let (_, by_hand) = summary.split_once("## Results by hand\n").expect(&summary);
    assert_eq!(
        by_hand,
        "\n### notes\n\nMeasured.\n\n### task-003\n\n#### Result\n\nHalf of it.\n\n##### Open\n\nThe rest.\n"
    );
    assert_eq!(summary.matches("No network").count(), 1, "{summary}");
    assert_eq!(read(&world, "summary.md"), summary);
}
