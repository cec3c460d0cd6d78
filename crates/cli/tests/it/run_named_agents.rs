//! A task that asks for an agent by name is done by that one or not at all.

use insta::assert_snapshot;

use crate::{exits, run_residents, run_stage::Stage};

const ONCE: &[&str] = &["--retries", "1"];

/// Three tasks; the second asks for an agent, and the third waits for it.
fn stage() -> Stage {
    let stage = Stage::new("- [ ] A\n- [ ] B\n- [ ] C (after: 2)\n");
    stage
        .world
        .ok(["task", "edit", "2", "--meta", "agent=codex"]);
    stage
}

#[test]
fn a_task_whose_agent_is_not_there_is_left_alone_and_what_waits_for_it_too() {
    let stage = stage();
    let ran = exits(stage.run("nth; report PASS", ONCE), 1);
    let (told, _) = ran.stdout.split_once("session ").unwrap();
    assert_snapshot!(told, @"
    1 of 3 passed, 2 not done
    skipped 2: needs agent codex, which this run does not have: add --agent codex
    skipped 3: waits for task 2, which did not pass
    ");
    assert_eq!(stage.states(3), ["completed", "pending", "pending"]);
    assert_eq!(stage.left("starts-2"), "");
    let event = stage
        .events()
        .into_iter()
        .find(|it| it["event"] == "task.settled" && it["task"] == "2")
        .unwrap();
    assert_eq!(event["fate"], "skipped");
}

#[test]
fn a_run_that_has_nothing_else_to_do_says_so() {
    let stage = Stage::of_equal(1);
    let name = "agent=it's 'sh x.sh'";
    stage.world.ok(["task", "edit", "1", "--meta", name]);
    let ran = exits(stage.run("nth", ONCE), 1);
    let (told, _) = ran.stdout.split_once("session ").unwrap();
    assert_snapshot!(told, @r#"
    0 of 1 passed, 1 not done
    skipped 1: needs agent it's 'sh x.sh', which this run does not have: add --agent "it's 'sh x.sh'"
    "#);
    assert_eq!(stage.states(1), ["pending"]);
}

#[test]
fn a_task_is_done_by_the_agent_that_it_names() {
    let stage = stage();
    let mine = stage.agent("nth; report PASS 'by the one'");
    stage
        .world
        .ok(["config", "set", "run.agents.codex.command", &mine]);
    let ran = stage.run("nth; report PASS 'by another'", &["--agent", "codex"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(stage.task("2").to_string().contains("by the one"));
}

/// Who asks for a program of a kind did not ask for a worker of whom nobody knows what it is.
#[test]
fn a_task_that_names_an_agent_is_given_to_no_resident_worker() {
    let stage = run_residents::stage("- [ ] A\n", &["W1"]);
    stage
        .world
        .ok(["task", "edit", "1", "--meta", "agent=codex"]);
    let ran = exits(stage.world.flagpost(["run", "--workers", "W1"]), 1);
    assert!(
        ran.stdout
            .contains("skipped 1: needs agent codex, which this run does not have"),
        "{ran}"
    );
    assert_eq!(run_residents::with_subject(&stage, "TASK").len(), 0);
}

#[test]
fn a_dry_run_says_so_before() {
    let stage = stage();
    let plan = stage.world.ok(["run", "--dry-run", "--agent", "true"]);
    assert_snapshot!(plan, @"
    Wave 1 of 1
      1 A
      skipped 2 B: needs agent codex, which this run does not have: add --agent codex
      skipped 3 C: waits for task 2, which did not pass
    ");
    // Where nobody said which agents there will be, none is missing.
    let plan = stage.world.ok(["run", "--dry-run"]);
    assert!(!plan.contains("needs agent"), "{plan}");
    let plan = stage.world.ok(["run", "--dry-run", "--agent", "codex"]);
    assert!(!plan.contains("needs agent"), "{plan}");
}
