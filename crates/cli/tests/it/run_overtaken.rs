//! Tasks whose fate was decided beside the agent that works on them.

use crate::run_stage::Stage;

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
    let ended = run.end();
    assert_eq!(ended.code, 0, "{ended}");
    assert_eq!(stage.states(1), ["completed"]);
    assert_eq!(stage.task("1")["owner"], "ann");
}

#[test]
fn a_task_that_its_agent_gives_back_is_not_taken_for_done() {
    let stage = Stage::new("- [ ] A\n");
    let ended = stage.run(
        r#"nth; if [ "$n" = 1 ]; then flagpost task release > /dev/null; fi; exit 0"#,
        &["--retries", "2"],
    );
    assert_eq!(ended.code, 0, "{ended}");
    assert!(ended.stderr.contains("gave the task back"), "{ended}");
    assert_eq!(stage.left("starts-1").len(), 2);
    assert_eq!(stage.states(1), ["completed"]);
}
