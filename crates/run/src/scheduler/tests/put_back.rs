//! A task that turns out to need another one is begun anew after it.

use super::*;

#[test]
fn in_an_eager_run_it_starts_the_moment_the_other_is_done() {
    story!(run("1 2 3<1", 2, Eager), @"
    begin: launch 1 1/3; launch 2 1/3
    1 runs
    1 needs 2
    2 passes: 2 passed after 1; merge 2; launch 1 1/3
    1 passes: 1 passed after 1; merge 1; launch 3 1/3
    ");
}

#[test]
fn in_waves_it_goes_with_the_next_one_and_what_waits_for_it_later() {
    story!(run("1 2 3<1 4<2", 5, Waves), @"
    begin: wave 1 of 2; launch 1 1/3; launch 2 1/3
    1 runs
    2 runs
    1 needs 2
    2 passes: 2 passed after 1; merge 2; end of wave 1; wave 2 of 2; launch 1 1/3; launch 4 1/3
    1 runs
    4 passes: 4 passed after 1
    1 passes: 1 passed after 1; merge 4,1; end of wave 2; wave 3 of 3; launch 3 1/3
    3 passes: 3 passed after 1; merge 3; end of wave 3; finished
    ");
}

#[test]
fn behind_one_that_passed_it_starts_at_once_and_behind_a_failure_never() {
    story!(run("1 2 3", 3, Eager), @"
    begin: launch 1 1/3; launch 2 1/3; launch 3 1/3
    1 runs
    3 runs
    2 passes: 2 passed after 1; merge 2
    1 needs 2: launch 1 1/3
    1 runs
    3 is stuck: 3 failed after 1; merge 3
    1 needs 3: 1 skipped: waits for task 3, which did not pass; finished
    ");
}

#[test]
fn behind_itself_or_what_waits_for_it_nothing_waits_for_ever() {
    for behind in ["1", "2", "nowhere"] {
        let mut run = run("1 2<1", 2, Waves);
        run.on("begin");
        run.on("1 runs");
        let ended = run.on(&format!("1 needs {behind}"));
        assert!(ended.ends_with("end of wave 1; finished"), "{ended}");
    }
}

#[test]
fn once_the_run_is_being_ended_it_is_not_begun_anew() {
    story!(run("1 2", 2, Waves), @"
    begin: wave 1 of 1; launch 1 1/3; launch 2 1/3
    1 runs
    2 runs
    interrupt
    1 needs 2: 1 interrupted after 1
    2 passes: 2 passed after 1; merge 2; end of wave 1; interrupted
    ");
}
