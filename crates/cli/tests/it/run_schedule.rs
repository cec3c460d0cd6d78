//! Which task begins when: waves and eager runs, limits, order, groups.

use std::{collections::BTreeSet, fs};

use flagpost_testkit::{agents::most_at_once, race::until};
use insta::assert_snapshot;
use serde_json::json;

use crate::{exits, run_stage::Stage};

/// One slow task beside a chain that does not need it.
const CHAIN: &str = "- [ ] Slow\n- [ ] First\n- [ ] Second (after: 2)\n- [ ] Third (after: 3)\n";
/// The slow one waits for the end of the chain: only who does not wait for waves comes there.
const SLOW: &str =
    r#"if [ $task = 1 ]; then await third; fi; [ $task != 4 ] || mark third; report PASS"#;

#[test]
fn an_eager_run_starts_a_task_the_moment_its_blockers_are_done() {
    let stage = Stage::new(CHAIN);
    let ran = exits(stage.run(SLOW, &[]), 0);
    assert!(!ran.stderr.contains("wave"), "{ran}");
    assert_eq!(stage.states(4), ["completed"; 4]);
}

#[test]
fn a_run_in_waves_waits_for_the_whole_wave() {
    let stage = Stage::new(CHAIN);
    let run = stage.start(
        r#"trace +; if [ $task = 1 ]; then await go; fi; trace -; report PASS"#,
        &["--schedule", "waves"],
    );
    until("the first of the chain is done", || {
        stage.state("2") == "completed"
    });
    until("all is told", || run.stderr().contains("passed 2"));
    assert!(!stage.left("trace").contains("+ 3"));
    stage.mark("go");
    let ended = exits(run.end(), 0);
    let trace = stage.left("trace");
    assert!(
        trace.find("- 1").unwrap() < trace.find("+ 3").unwrap(),
        "{trace}"
    );
    assert!(ended.stderr.contains("wave 3 of 3"), "{ended}");
}

#[test]
fn never_more_at_once_than_allowed_and_as_many() {
    for (schedule, limit) in [("waves", 3), ("eager", 2)] {
        let stage = Stage::of_equal(9);
        let n = limit.to_string();
        // Nobody ends before as many as may be there are there.
        let body = format!(
            r#"trace +; nth; mark "here-$task"
            looked=0
            while [ "$(ls "$place" | grep -c '^here-')" -lt {limit} ] && [ $looked -lt 200 ]; do
                looked=$((looked + 1)); sleep 0.05
            done
            trace -"#
        );
        let ran = stage.run(&body, &["--max-parallel", &n, "--schedule", schedule]);
        assert_eq!(ran.code, 0, "{ran}");
        assert_eq!(
            most_at_once(&stage.left("trace")),
            limit,
            "{}",
            stage.left("trace")
        );
    }
}

#[test]
fn the_urgent_go_first_then_what_frees_most_then_the_oldest() {
    let stage = Stage::new(
        "- [ ] Plain\n- [ ] Low {priority: low}\n- [ ] Frees one\n- [ ] Critical {priority: critical}\n\
         - [ ] Waits (after: 3)\n- [ ] High {priority: high}\n- [ ] Plain too\n",
    );
    exits(stage.run("trace +", &["--max-parallel", "1"]), 0);
    assert_eq!(stage.left("trace"), "+ 4\n+ 6\n+ 2\n+ 3\n+ 1\n+ 5\n+ 7\n");
}

#[test]
fn a_group_is_run_alone_and_what_waits_for_others_is_told() {
    let stage = Stage::new(
        "- [ ] Log in {group: auth}\n- [ ] Paint\n- [ ] Log out (after: 1) {group: auth}\n\
         - [ ] Button (after: 2) {group: auth}\n- [ ] Frame (after: 2)\n",
    );
    let ran = exits(stage.run("exit 0", &["--task-group", "auth"]), 1);
    assert_snapshot!(ran.stdout, @r#"
    2 of 3 passed, 1 not done
    skipped 4: waits for task 2, which is not part of this run
    session auth-20260513-142500: .claude/sessions/auth-20260513-142500/session_summary.md
    "#);
    let why = "skipped 4 Button: waits for task 2, which is not part of this run";
    assert!(ran.stderr.contains(why), "{ran}");
    assert_eq!(
        stage.states(5),
        ["completed", "pending", "completed", "pending", "pending"]
    );
}

#[test]
fn a_dry_run_prints_the_plan_and_writes_nothing() {
    let stage = Stage::new(CHAIN);
    let before = tree(&stage);
    let plan = stage.world.ok(["run", "--dry-run"]);
    assert_snapshot!(plan, @r#"
    Wave 1 of 3
      2 First
      1 Slow
    Wave 2 of 3
      3 Second
    Wave 3 of 3
      4 Third
    "#);
    assert_snapshot!(stage.world.ok(["run", "--dry-run", "--json"]), @r#"{"schema":"flagpost.plan/1","dry_run":true,"max_parallel":5,"attempts":3,"tasks":4,"waves":[["2","1"],["3"],["4"]],"would_skip":[],"skipped":[]}"#);
    assert_snapshot!(stage.world.ok(["run", "--dry-run", "--quiet", "--agent", "no-such-program"]), @r#"
    2
    1
    3
    4
    "#);
    assert_eq!(tree(&stage), before);
    assert!(!stage.sessions().exists());
}

#[test]
fn a_dry_run_says_what_the_run_would_skip_in_its_words() {
    let stage = Stage::new(
        "- [ ] Broken\n- [ ] Waits (after: 1)\n- [ ] Hen\n- [ ] Egg (after: 3)\n- [ ] Held\n\
         - [ ] Behind it (after: 5)\n- [ ] Gone\n- [ ] Waits in vain (after: 7)\n\
         - [ ] Free\n- [ ] Foreign\n",
    );
    let list = stage.world.list("web");
    fs::write(list.join("1.json"), "{\"id\": \"1\", \"subj").unwrap();
    fs::remove_file(list.join("7.json")).unwrap();
    let rewrite = |id: &str, key: &str, value: serde_json::Value| {
        let mut task = stage.task(id);
        task[key] = value;
        fs::write(list.join(format!("{id}.json")), task.to_string()).unwrap();
    };
    rewrite("3", "blockedBy", json!(["4"]));
    rewrite("4", "blocks", json!(["3"]));
    rewrite("10", "status", json!("in_progress"));
    stage.world.ok(["claim", "5", "--as", "W9"]);
    let dry = exits(stage.world.flagpost(["run", "--dry-run"]), 0);
    assert_snapshot!(dry.stdout, @r"
    Wave 1 of 1
      9 Free
      skipped 2 Waits: task 2 waits for 1, which cannot be read
      skipped 3 Hen: waits in a circle: 3 → 4 → 3
      skipped 4 Egg: waits in a circle: 3 → 4 → 3
      skipped 8 Waits in vain: task 8 waits for 7, which does not exist
      skipped 5 Held: task 5 is held by W9 until 2026-05-13T14:40:00Z (token 13)
      skipped 6 Behind it: waits for task 5, which did not pass
      skipped 10 Foreign: task 10 is in_progress and cannot be claimed
    ");
    assert_snapshot!(dry.stderr, @"flagpost: skipped 1.json: EOF while parsing a string at line 1 column 17");
    let (_, plan) = stage.world.json(["run", "--dry-run"]);
    assert_eq!(plan["waves"], json!([["9"]]));
    assert_eq!(plan["skipped"][0]["file"], "1.json");
    let ran = exits(stage.run("report PASS", &[]), 1);
    let told = |text: &str| -> BTreeSet<String> {
        let lines = text.lines().filter(|line| line.starts_with("  skipped "));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(told(&dry.stdout), told(&ran.stderr));
    assert!(
        ran.stderr.starts_with(&format!("{}session ", dry.stderr)),
        "{ran}"
    );
    let would_skip = plan["would_skip"].as_array().unwrap();
    for event in stage
        .events()
        .iter()
        .filter(|event| event["fate"] == "skipped")
    {
        let same = json!({"id": event["task"], "why": event["why"]});
        assert!(would_skip.contains(&same), "{event}");
    }
    assert_eq!(would_skip.len(), told(&ran.stderr).len());
}

#[test]
fn a_dry_run_knows_that_what_a_dead_session_holds_is_given_back() {
    let stage = Stage::new("- [ ] A\n- [ ] B (after: 1)\n");
    let mut run = stage.start(r#"mark runs; sleep 600"#, &[]);
    stage.await_mark("runs");
    let held = stage.world.ok(["run", "--dry-run"]);
    assert!(
        held.contains("nothing can run\n  skipped 1 A: task 1 is held by run-1"),
        "{held}"
    );
    run.signal(rustix::process::Signal::KILL);
    run.end();
    let plan = stage.world.ok(["run", "--dry-run"]);
    assert_snapshot!(plan, @"
    Wave 1 of 2
      1 A
    Wave 2 of 2
      2 B
    ");
}

/// Every file of the world with its content.
fn tree(stage: &Stage) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    fn walk(dir: &std::path::Path, found: &mut Vec<(std::path::PathBuf, Vec<u8>)>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => walk(&path, found),
                false => found.push((path.clone(), std::fs::read(&path).unwrap())),
            }
        }
    }
    let mut found = Vec::new();
    walk(stage.world.outside(), &mut found);
    found.sort();
    found
}
