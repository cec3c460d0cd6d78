//! Tasks that say which files they touch: they keep out of each other's way, and of others'.

use flagpost_testkit::{agents::most_at_once, race::until};

use crate::run_stage::Stage;

/// Tasks with what each of them says it will touch.
fn naming(files: &[&str]) -> Stage {
    let stage = Stage::of_equal(files.len());
    for (id, files) in (1..).zip(files) {
        let meta = format!("files={files}");
        stage
            .world
            .ok(["task", "edit", &format!("{id}"), "--meta", &meta]);
    }
    stage
}

#[test]
fn tasks_that_touch_the_same_files_never_run_side_by_side() {
    let stage = naming(&[r#"["src/**"]"#, r#"["src/a.rs"]"#, r#"["src","docs"]"#]);
    let ran = stage.run("trace +; sleep 0.05; trace -; report PASS", &[]);
    assert_eq!(ran.code, 0, "{ran}");
    let trace = stage.left("trace");
    assert_eq!(most_at_once(&trace), 1, "{trace}");
    assert_eq!(stage.states(3), ["completed"; 3]);
}

#[test]
fn a_task_waits_until_others_have_let_go_of_its_files() {
    let stage = naming(&[r#"["src/a.rs"]"#, r#"["docs"]"#]);
    stage.world.ok(["worker", "add", "W9"]);
    stage.world.ok(["reserve", "add", "src/**", "--as", "W9"]);
    let run = stage.start("mark \"runs-$task\"; report PASS", &[]);
    stage.await_mark("runs-2");
    until("it says what it waits for", || {
        run.stderr().contains("src/**") && run.stderr().contains("W9")
    });
    assert_eq!(stage.state("1"), "pending");
    stage
        .world
        .ok(["reserve", "release", "--all", "--as", "W9"]);
    let ended = run.end();
    assert_eq!(ended.code, 0, "{ended}");
    assert_eq!(stage.states(2), ["completed"; 2]);
}
