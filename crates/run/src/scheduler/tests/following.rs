//! A list that changes while the run goes on.

use super::*;

#[test]
fn an_added_task_begins_at_once_in_an_eager_run() {
    story!(run("1", 2, Eager), @"
    begin: launch 1 1/3
    1 runs
    list 1 2 3<1: added 2; added 3; launch 2 1/3
    2 runs
    1 passes: 1 passed after 1; merge 1; launch 3 1/3
    ");
}

#[test]
fn an_added_task_has_its_wave() {
    story!(run("1 2<1", 2, Waves), @"
    begin: wave 1 of 2; launch 1 1/3
    1 runs
    list 1 2<1 3 4<3: added 3; added 4; wave 1 holds 1
    1 passes: 1 passed after 1; merge 1; end of wave 1; wave 2 of 3; launch 3 1/3; launch 2 1/3
    ");
}

#[test]
fn what_others_did_or_cancelled_is_not_begun() {
    story!(run("1 2 3 4<3 5<1", 1, Eager), @"
    begin: launch 1 1/3
    1 runs
    list 1 2:completed 3:cancelled 4<3 5<1: 3 skipped: somebody cancelled or removed it; 2 passed after 0; 4 skipped: waits for task 3, which did not pass
    1 passes: 1 passed after 1; merge 1; launch 5 1/3
    ");
}

#[test]
fn a_removed_task_is_not_begun() {
    story!(run("1 2", 1, Eager), @"
    begin: launch 1 1/3
    1 runs
    list 1: 2 skipped: somebody cancelled or removed it
    ");
}

#[test]
fn a_new_blocker_holds_up_a_task_that_has_not_begun() {
    story!(run("1 2", 1, Eager), @"
    begin: launch 1 1/3
    1 runs
    list 1 2<3 3: added 3
    1 passes: 1 passed after 1; merge 1; launch 3 1/3
    ");
}

/// What the run itself wrote changes nothing.
#[test]
fn a_task_that_failed_and_is_opened_again_is_tried_anew_with_what_waits_for_it() {
    let once = RunConfig {
        max_attempts: NonZeroU32::MIN,
        ..config(1, Eager)
    };
    story!(run_as(once, "1 2<1 3"), @"
    begin: launch 1 1/1
    1 runs
    1 fails: 1 failed after 1; 2 skipped: waits for task 1, which did not pass; merge 1; launch 3 1/1
    3 runs
    list 1:failed 2<1 3
    list 1 2<1 3
    3 passes: 3 passed after 1; merge 3; launch 1 1/1
    1 runs
    1 passes: 1 passed after 1; merge 1; launch 2 1/1
    ");
}

#[test]
fn a_running_task_is_left_alone_whatever_its_file_says() {
    story!(run("1 2<1", 1, Eager), @"
    begin: launch 1 1/3
    1 runs
    list 1:completed 2<1
    list 1:cancelled 2<1
    list 1:running 2<1
    1 passes: 1 passed after 1; merge 1; launch 2 1/3
    ");
}
