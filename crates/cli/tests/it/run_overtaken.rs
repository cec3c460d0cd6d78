//! Tasks whose fate was decided beside the agent that works on them.

use crate::{exits, run_stage::Stage};

#[test]
fn what_a_person_completed_stands_though_the_agent_reports_that_it_failed() {
    let stage = Stage::new("- [ ] A\n");
    let run = stage.start(
        r#"nth; mark "runs-$task"; await go; report FAIL "" "no way""#,
        &["--retries", "1"],
    );
    stage.await_mark("runs-1");
    stage.world.ok(["task", "release", "1", "--force"]);
    stage.world.ok(["done", "1", "by hand", "--as", "ann"]);
    stage.mark("go");
    exits(run.end(), 0);
    assert_eq!(stage.states(1), ["completed"]);
    assert_eq!(stage.task("1")["owner"], "ann");
}

#[test]
fn a_task_that_its_agent_gives_back_is_not_taken_for_done() {
    let stage = Stage::new("- [ ] A\n");
    let ended = stage.run(
        r#"nth; if [ "$n" = 1 ]; then flagpost release > /dev/null; fi; exit 0"#,
        &["--retries", "2"],
    );
    assert_eq!(ended.code, 0, "{ended}");
    assert!(ended.stderr.contains("gave the task back"), "{ended}");
    assert_eq!(stage.left("starts-1").len(), 2);
    assert_eq!(stage.states(1), ["completed"]);
}

#[test]
fn what_another_worker_said_of_the_task_stands_though_the_agent_reports_success() {
    for (ending, state) in [("stuck", "stuck"), ("fail", "failed")] {
        let stage = Stage::new("- [ ] A\n");
        let run = stage.start(
            r#"nth; mark "runs-$task"; await go; report PASS "the run's""#,
            &["--retries", "2"],
        );
        stage.await_mark("runs-1");
        stage.world.ok(["task", "release", "1", "--force"]);
        // Under the very name that the run's agent has.
        stage.world.ok(["claim", "1", "--as", "run-1"]);
        stage.world.ok([ending, "1", "mine", "--as", "run-1"]);
        stage.mark("go");
        exits(run.end(), 1);
        assert_eq!(stage.states(1), [state]);
        tells!(stage.task("1"), {"metadata/flagpost/result/text": "mine"});
        assert_eq!(stage.left("starts-1").len(), 1);
    }
}

#[test]
fn a_task_that_was_taken_away_is_not_completed_by_a_late_report() {
    let stage = Stage::new("- [ ] A\n");
    let run = stage.start(
        r#"nth; mark "runs-$task"; await go; report PASS "the run's""#,
        &[],
    );
    stage.await_mark("runs-1");
    stage.world.ok(["task", "release", "1", "--force"]);
    stage.mark("go");
    exits(run.end(), 1);
    assert_eq!(stage.states(1), ["pending"]);
    let late = &stage.task("1")["metadata"]["flagpost"]["late"];
    assert_eq!(late.as_array().map(Vec::len), Some(1), "{late}");
    assert_eq!(late[0]["text"], "the run's");
}

#[test]
fn a_hanging_agent_is_ended_in_time_however_many_others_end_meanwhile() {
    // So many others, each of which takes a moment, last for longer than the first may take.
    let (stage, ended) = Stage::run_under_a_limit(
        300,
        r#"if [ "$task" = 1 ]; then
               trap 'mark stopped; exit 1' TERM
               mark ready
               while :; do sleep 0.05; done
           fi
           if [ -e "$place/stopped" ]; then mark "after-$task"; else sleep 0.03; fi
           exit 0"#,
        &["--retries", "1", "--max-parallel", "4"],
    );
    assert_eq!(ended.code, 1, "{ended}");
    let after = (2..=300)
        .filter(|task| stage.marked(&format!("after-{task}")))
        .count();
    assert!(
        after > 0,
        "it was ended only when nothing else was left: {ended}"
    );
}
