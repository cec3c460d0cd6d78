//! Who shows no sign of work is told of, once, and is left alone.

use std::time::{Duration, Instant};

use flagpost_testkit::{patience::under_a_limit, race::until};
use serde_json::Value;

use crate::run_stage::{Stage, lines};

/// The turns of the live session so far.
fn turns(stage: &Stage) -> Vec<String> {
    let events = stage.world.ok(["session", "show", "--events"]);
    let word = |event: &Value, key: &str| event[key].as_str().unwrap_or_default().to_owned();
    let events = lines(&events);
    let turns = events
        .iter()
        .map(|it| [word(it, "event"), word(it, "task"), word(it, "worker")].join(" "));
    turns
        .filter(|it| it.starts_with("task.stalled") || it.starts_with("task.resumed"))
        .collect()
}

/// The longest time between two signs of a process that writes down when it gives one, in whole seconds.
fn longest_pause(stage: &Stage, name: &str) -> Duration {
    let seconds: Vec<u64> = stage
        .left(name)
        .lines()
        .map(|it| it.parse().unwrap())
        .collect();
    let pauses = seconds.windows(2).map(|two| two[1] - two[0]);
    Duration::from_secs(pauses.max().unwrap_or(u64::MAX))
}

#[test]
fn a_process_without_a_sign_is_told_of_until_a_file_changes_and_one_that_prints_is_not() {
    under_a_limit(Duration::from_secs(3), |limit| {
        let stage = Stage::of_equal(2);
        let run = stage.start(
            r#"
            while [ ! -e "$place/go" ]; do
                [ "$task" = 1 ] || { echo at it; date +%s >> "$place/signs"; }
                sleep 0.05
            done
            report PASS"#,
            &["--stall-after", &format!("{}s", limit.as_secs())],
        );
        let stalled = "  stall 1: no message, no output and no changed file of run-1 since 20";
        until("task 1 is stalled", || run.stderr().contains(stalled));
        let status = stage.world.ok(["status"]);
        let (_, told) = stage.world.json(["status"]);
        let shown = stage.world.ok(["session", "show"]);
        let changed = Instant::now();
        std::fs::write(stage.world.repository().join("draft.md"), "one\n").unwrap();
        until("a file ends it", || {
            run.stderr()
                .contains("  again 1: there is a new sign of run-1\n")
        });
        let status_then = stage.world.ok(["status"]);
        stage.mark("go");
        let ran = run.end();
        // Where signs are so late here, they count as none.
        if changed.elapsed() >= limit || longest_pause(&stage, "signs") >= limit / 2 {
            return None;
        }
        assert!(
            status.contains("1 Task 1: stalled, no sign of work ("),
            "{status}"
        );
        let needs = told["needs"]["needs"].as_array().unwrap();
        assert_eq!(needs.len(), 1, "{told}");
        assert_eq!(needs[0]["task"], "1");
        assert!(shown.contains("Attempt 1/3 — Stalled since 20"), "{shown}");
        assert!(!status_then.contains("stalled"), "{status_then}");
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(
            turns(&stage),
            ["task.stalled 1 run-1", "task.resumed 1 run-1"]
        );
        assert_eq!(stage.states(2), ["completed"; 2], "nobody was stopped");
        Some(())
    });
}

/// Of two in worktrees of their own, one changes a file again and again.
#[test]
fn a_file_counts_for_whoever_works_in_that_worktree_and_for_nobody_else() {
    under_a_limit(Duration::from_secs(3), |limit| {
        let stage = Stage::of_equal(2);
        let commit = ["commit", "--allow-empty", "-qm", "first"];
        let made = stage.world.run(stage.world.command_of("git").args(commit));
        assert_eq!(made.code, 0, "{made}");
        let run = stage.start(
            r#"
            pwd > "$place/tree-$task"
            while [ ! -e "$place/go" ]; do
                [ "$task" = 1 ] && [ ! -e "$place/enough" ] && date +%N > draft && date +%s >> "$place/signs"
                sleep 0.05
            done
            report PASS"#,
            &["--worktrees", "--stall-after", &format!("{}s", limit.as_secs())],
        );
        until("the silent one is stalled", || {
            run.stderr().contains("  stall 2: no message")
        });
        stage.mark("enough");
        until("the other one too, once it writes no more", || {
            run.stderr().contains("  stall 1: no message")
        });
        let tree = stage.left("tree-2");
        let changed = Instant::now();
        std::fs::write(format!("{}/draft.md", tree.trim()), "one\n").unwrap();
        until("a file in its worktree ends it", || {
            run.stderr().contains("  again 2: ")
        });
        stage.mark("go");
        let ran = run.end();
        // Where signs are so late here, they count as none.
        if changed.elapsed() >= limit || longest_pause(&stage, "signs") >= limit / 2 {
            return None;
        }
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(
            turns(&stage),
            [
                "task.stalled 2 run-2",
                "task.stalled 1 run-1",
                "task.resumed 2 run-2"
            ]
        );
        Some(())
    });
}

#[test]
fn a_stall_may_be_said_never_to_begin_and_not_before_it_began() {
    let stage = Stage::of_equal(1);
    let ran = stage.run("report PASS", &["--stall-after", "0s"]);
    assert_eq!(ran.code, 0, "{ran}");
    let ran = stage.run("report PASS", &["--stall-after=-1s"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.stderr.contains("--stall-after 10m"), "{ran}");
}
