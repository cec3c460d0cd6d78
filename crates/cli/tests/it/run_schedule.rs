//! Which task begins when: waves and eager runs, limits, order, groups.

use flagpost_testkit::{agents::most_at_once, race::until};
use insta::assert_snapshot;

use crate::run_stage::Stage;

/// One slow task beside a chain that does not need it.
const CHAIN: &str = "- [ ] Slow\n- [ ] First\n- [ ] Second (after: 2)\n- [ ] Third (after: 3)\n";
/// The slow one waits for the end of the chain: only who does not wait for waves comes there.
const SLOW: &str =
    r#"if [ $task = 1 ]; then await third; fi; [ $task != 4 ] || mark third; report PASS"#;

#[test]
fn an_eager_run_starts_a_task_the_moment_its_blockers_are_done() {
    let stage = Stage::new(CHAIN);
    let ran = stage.run(SLOW, &["--schedule", "eager"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(!ran.stderr.contains("wave"), "{ran}");
    assert_eq!(stage.states(4), ["completed"; 4]);
}

#[test]
fn a_run_in_waves_waits_for_the_whole_wave() {
    let stage = Stage::new(CHAIN);
    let run = stage.start(
        r#"trace +; if [ $task = 1 ]; then await go; fi; trace -; report PASS"#,
        &[],
    );
    until("the first of the chain is done", || {
        stage.state("2") == "completed"
    });
    until("all is told", || run.stderr().contains("PASS  2"));
    assert!(!stage.left("trace").contains("+ 3"));
    stage.mark("go");
    let ended = run.end();
    assert_eq!(ended.code, 0, "{ended}");
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
            while [ "$(ls "$place" | grep -c '^here-')" -lt {limit} ] && [ $looked -lt 1000 ]; do
                looked=$((looked + 1)); sleep 0.01
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
    let ran = stage.run("trace +", &["--max-parallel", "1"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(stage.left("trace"), "+ 4\n+ 6\n+ 2\n+ 3\n+ 1\n+ 7\n+ 5\n");
}

#[test]
fn a_group_is_run_alone_and_what_waits_for_others_is_told() {
    let stage = Stage::new(
        "- [ ] Log in {group: auth}\n- [ ] Paint\n- [ ] Log out (after: 1) {group: auth}\n\
         - [ ] Button (after: 2) {group: auth}\n- [ ] Frame (after: 2)\n",
    );
    let ran = stage.run("exit 0", &["--task-group", "auth"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert_snapshot!(ran.stdout, @r#"
    2 of 3 passed, 1 not done
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
    assert_snapshot!(stage.world.ok(["run", "--dry-run", "--json"]), @r#"{"schema":"flagpost.plan/1","dry_run":true,"max_parallel":5,"attempts":3,"tasks":4,"waves":[["2","1"],["3"],["4"]]}"#);
    assert_snapshot!(stage.world.ok(["run", "--dry-run", "--quiet", "--agent", "no-such-program"]), @r#"
    2
    1
    3
    4
    "#);
    assert_eq!(tree(&stage), before);
    assert!(!stage.sessions().exists());
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
