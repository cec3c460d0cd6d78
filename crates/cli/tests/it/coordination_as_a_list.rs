//! `--list coord:PATH`: every family of verbs on the table of a coordination directory.

use std::fs;

use flagpost_testkit::sealed::{Ran, World};
use serde_json::Value;

use crate::{exits, says, world};

const LIST: &str = "coord:.coordination";

fn begun() -> World {
    let world = world();
    world.ok(["init", "--yes"]);
    world.ok(["coord", "leader", "init", "Build it"]);
    world
}

fn ok(world: &World, args: &[&str]) -> String {
    world.ok([args, &["--list", LIST]].concat())
}

fn json(world: &World, args: &[&str]) -> (i32, Value) {
    world.json([args, &["--list", LIST]].concat())
}

/// A row of the table.
fn row(world: &World, id: &str) -> Value {
    let text = fs::read_to_string(world.repository().join(".coordination/tasks.json")).unwrap();
    let table: Value = serde_json::from_str(&text).unwrap();
    let rows = table["tasks"].as_array().unwrap();
    rows.iter().find(|it| it["id"] == id).unwrap().clone()
}

#[test]
fn each_verb_of_a_list_works_on_the_table() {
    let world = begun();
    assert_eq!(
        ok(&world, &["add", "Write the parser", "--priority", "high"]),
        "added task-001 Write the parser\n"
    );
    ok(
        &world,
        &["add", "Test the parser", "--after", "1", "--tag", "test"],
    );
    ok(&world, &["task", "add", "Publish it"]);
    ok(&world, &["task", "dep", "add", "3", "2"]);
    ok(&world, &["task", "edit", "2", "--project", "web"]);
    ok(&world, &["task", "note", "2", "Mind the gap"]);
    let (code, list) = json(&world, &["list"]);
    assert_eq!(
        (code, &list["list"]),
        (0, &"coord:[dir]/web/.coordination".into())
    );
    assert_eq!(list["tasks"].as_array().unwrap().len(), 3);
    let (_, ready) = json(&world, &["ready"]);
    assert_eq!(ready["tasks"][0]["id"], "task-001");
    let (_, claimed) = json(&world, &["claim", "--next", "--as", "W1"]);
    let token = claimed["claim"]["token"].as_u64().unwrap().to_string();
    assert_eq!(claimed["id"], "task-001", "{claimed}");
    ok(
        &world,
        &["task", "start", "1", "--as", "W1", "--token", &token],
    );
    ok(
        &world,
        &["done", "1", "It parses.", "--as", "W1", "--token", &token],
    );
    let done = row(&world, "task-001");
    tells!(done, {"status": "done", "result/output": "It parses."});
    let (_, shown) = json(&world, &["show", "2"]);
    tells!(shown, {"project": "web", "tags/0": "test"});
    ok(&world, &["claim", "2", "--as", "W2"]);
    ok(&world, &["task", "renew", "2", "--as", "W2"]);
    ok(&world, &["task", "release", "2", "--as", "W2"]);
    ok(&world, &["claim", "2", "--as", "W2"]);
    ok(&world, &["stuck", "2", "Which API?", "--as", "W2"]);
    assert_eq!(row(&world, "task-002")["status"], "blocked");
    ok(&world, &["task", "reopen", "2"]);
    ok(&world, &["task", "cancel", "3"]);
    ok(&world, &["task", "timer", "start", "2"]);
    ok(&world, &["task", "timer", "stop"]);
    for read in ["graph", "stats", "export", "tags"] {
        assert!(!ok(&world, &["task", read]).is_empty(), "{read}");
    }
    ok(&world, &["status"]);
    ok(&world, &["task", "edit", "2", "--project", "app"]);
    assert!(ok(&world, &["task", "undo"]).contains("task-002"));
    assert_eq!(json(&world, &["show", "2"]).1["project"], "web");
    // The directory's own verbs see the same.
    let status = world.ok(["coord", "leader", "status"]);
    assert!(
        status.contains("task-001  done") && status.contains("task-003  cancelled"),
        "{status}"
    );
}

#[test]
fn a_bulk_a_query_and_an_import_work_on_the_table() {
    let world = begun();
    let plan = world.repository().join("plan.md");
    fs::write(&plan, "- [ ] One\n- [ ] Two\n").unwrap();
    ok(&world, &["task", "import", "plan.md"]);
    let (_, again) = json(&world, &["task", "import", "plan.md"]);
    assert_eq!(again["added"], 0, "{again}");
    ok(
        &world,
        &[
            "task",
            "edit",
            "--where",
            "state=pending",
            "--group",
            "auth",
            "--yes",
        ],
    );
    let (_, all) = json(&world, &["list", "group=auth"]);
    assert_eq!(all["tasks"].as_array().unwrap().len(), 2, "{all}");
}

#[test]
fn what_a_table_cannot_do_is_said() {
    let world = begun();
    ok(&world, &["add", "One"]);
    for (args, code) in [
        (&["task", "rm", "1", "--yes"][..], 4),
        (&["task", "move", "1", "--to", "web"], 4),
        (&["task", "undo"], 4),
        (&["search", "One"], 4),
        (&["show", "9"], 3),
    ] {
        let (told, error) = json(&world, args);
        assert_eq!(told, code, "{args:?}: {error}");
    }
    ok(&world, &["done", "1"]);
    assert_eq!(json(&world, &["task", "reopen", "1"]).0, 4);
    exits(world.flagpost(["list", "--list", "coord:nowhere"]), 3);
    exits(world.flagpost(["list", "--list", "a:b"]), 6);
}

#[test]
fn a_longer_lease_than_the_directory_s_is_not_promised() {
    let world = begun();
    ok(&world, &["add", "One"]);
    let (_, claimed) = json(&world, &["claim", "1", "--as", "W1", "--lease", "2h"]);
    assert_eq!(claimed["claim"]["expires_at"], "2026-05-13T14:40:00Z");
    let renewed = ok(&world, &["task", "renew", "1", "--as", "W1"]);
    assert!(renewed.contains("ends in 15m"), "{renewed}");
}

#[test]
fn a_dry_run_says_what_the_table_would_say() {
    let world = begun();
    ok(&world, &["add", "One"]);
    ok(&world, &["done", "1"]);
    fs::write(world.repository().join("plan.md"), "- [ ] Two\n").unwrap();
    let before = fs::read(world.repository().join(".coordination/tasks.json")).unwrap();
    for (args, code, said) in [
        (
            &["task", "reopen", "1", "--dry-run"][..],
            4,
            "would not reopen task-001 One: task-001 is done",
        ),
        (&["task", "undo", "--dry-run"], 4, "task-001 is done"),
        (&["task", "import", "plan.md", "--dry-run"], 0, "task-002"),
    ] {
        let told = exits(world.flagpost([args, &["--list", LIST]].concat()), code);
        let text = [told.stdout.as_str(), &told.stderr].concat();
        assert!(text.contains(said), "{told}");
    }
    world.ok(["add", "Elsewhere"]);
    let (code, error) = world.json(["task", "move", "1", "--to", LIST, "--dry-run"]);
    assert_eq!(code, 4, "{error}");
    let after = fs::read(world.repository().join(".coordination/tasks.json")).unwrap();
    assert_eq!(before, after);
}

#[test]
fn the_place_may_be_left_out_and_may_be_elsewhere() {
    let world = begun();
    world.ok(["add", "One", "--list", "coord:"]);
    let dir = world.repository().join(".coordination");
    let place = format!("coord:{}", dir.display());
    assert!(world.ok(["list", "--list", &place]).contains("One"));
    let mut outside = world.command();
    outside
        .current_dir(world.outside())
        .env("FLAGPOST_LIST", &place)
        .args(["done", "1"]);
    exits(world.run(&mut outside), 0);
    assert_eq!(row(&world, "task-001")["status"], "done");
}

/// Runs the table with this shell script as the agent.
fn run(world: &World, agent: &str, args: &[&str]) -> Ran {
    let script = world.outside().join("agent.sh");
    fs::write(&script, agent).unwrap();
    let agent = format!("sh {}", script.display());
    let mut run = world.command();
    run.args(["run", "--agent", &agent, "--list", LIST])
        .args(["--retries", "1", "--max-parallel", "2"])
        .args(args)
        .env("FLAGPOST_CLOCK", "");
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_flagpost"))
        .parent()
        .unwrap();
    let path = std::env::var("PATH").unwrap();
    run.env("PATH", format!("{}:{path}", binary.display()));
    world.run(&mut run)
}

#[test]
fn an_eager_run_starts_a_row_the_moment_its_dependencies_are_done() {
    let world = begun();
    for text in ["Slow", "First"] {
        ok(&world, &["add", text]);
    }
    ok(&world, &["add", "Second", "--after", "2"]);
    world.ok([
        "coord", "leader", "add-task", "Third", "--after", "task-003",
    ]);
    // The slow one waits for the end of the chain: only who does not wait for waves comes there.
    let mark = world.outside().join("third");
    let agent = format!(
        r#"case "$FLAGPOST_TASK" in
            task-001)
                looked=0
                until [ -e '{mark}' ]; do
                    looked=$((looked + 1)); [ $looked -lt 3000 ] || exit 1; sleep 0.02
                done ;;
            task-004) : > '{mark}' ;;
        esac"#,
        mark = mark.display()
    );
    let ran = exits(run(&world, &agent, &["--schedule", "eager"]), 0);
    assert!(!ran.stderr.contains("wave"), "{ran}");
    for id in ["task-001", "task-002", "task-003", "task-004"] {
        assert_eq!(row(&world, id)["status"], "done", "{ran}");
    }
}

#[test]
fn a_run_works_on_the_table_and_its_agents_by_the_table_s_verbs() {
    let world = begun();
    for text in ["One", "Two", "Three"] {
        ok(&world, &["add", text]);
    }
    world.ok(["coord", "leader", "add-task", "Four", "--after", "task-001"]);
    let agent = r#"case "$FLAGPOST_TASK" in
        task-001) flagpost done "by a list's verb" ;;
        task-002) flagpost coord worker complete 2 "by the directory's verb" --as "$FLAGPOST_WORKER" ;;
        task-003) exit 3 ;;
        task-004) exit 0 ;;
    esac"#;
    let ran = run(&world, agent, &[]);
    assert!(ran.stdout.contains("3 of 4 passed, 1 failed"), "{ran}");
    for (id, status, said) in [
        ("task-001", "done", "by a list's verb"),
        ("task-002", "done", "by the directory's verb"),
        ("task-003", "failed", "it exited with code 3"),
        ("task-004", "done", ""),
    ] {
        let row = row(&world, id);
        let result = &row["result"];
        let text = result["output"].as_str().or(result["error"].as_str());
        assert_eq!(row["status"], status, "{ran}");
        assert_eq!(text.unwrap_or_default(), said, "{ran}");
    }
    let pointer = fs::read_to_string(
        world
            .repository()
            .join(".coordination/execution_pointer.md"),
    );
    assert!(
        std::path::Path::new(pointer.unwrap().trim())
            .join("session_summary.md")
            .exists()
    );
}

#[test]
fn where_there_is_no_table_the_way_to_one_is_told() {
    let world = world();
    let dir = world.repository().join(".coordination");
    says(
        world.flagpost(["list", "--list", "coord:"]),
        3,
        &["there is no coordination directory "],
    );
    fs::create_dir(dir).unwrap();
    for verb in ["list", "ready", "add x", "claim --next", "run --agent true"] {
        let ran = world.flagpost(verb.split(' ').chain(["--list", "coord:"]));
        assert_eq!(ran.code, 3, "{verb}: {ran}");
        assert_eq!(
            ran.stderr,
            "flagpost: there is no tasks.json in the directory [dir]/web/.coordination\n  \
             hint: 'flagpost coord leader init GOAL' makes it there; --dir, or --list coord:PATH, names another\n",
        );
    }
    world.ok(["coord", "leader", "init", "Build it"]);
    assert!(
        world
            .ok(["list", "--list", "coord:"])
            .contains("has no tasks yet")
    );
}

#[test]
fn a_search_says_that_it_does_not_look_into_a_table() {
    let world = begun();
    world.ok(["add", "Write the parser"]);
    ok(&world, &["add", "Test the parser"]);
    let ran = world.flagpost(["search", "parser"]);
    assert_eq!(ran.stdout, "1 Write the parser (pending)\n");
    let told = "not looked through: the tasks in [dir]/web/.coordination; \
                'flagpost list --list coord: WORD' does\n";
    assert!(ran.stderr.contains(told), "{ran}");
    assert!(ok(&world, &["list", "parser"]).contains("Test the parser"));
    for elsewhere in [&["--kind", "report"][..], &["--list", "web"]] {
        let ran = world.flagpost([&["search", "parser"], elsewhere].concat());
        assert!(!ran.stderr.contains("not looked through"), "{ran}");
    }
}
