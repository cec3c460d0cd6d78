//! Questions and limits: what waits, and for how long.

use super::*;

fn waiting(words: &str, schedule: Schedule) -> Run {
    let config = RunConfig {
        wait_for_answers: true,
        ..config(2, schedule)
    };
    run_as(config, words)
}

#[test]
fn a_question_spends_no_attempt_and_what_depends_on_it_waits() {
    story!(run("1 2<1 3", 2, Eager), @"
    begin: launch 1 1/3; launch 3 1/3
    1 runs
    3 runs
    1 asks
    3 passes: 3 passed after 1; merge 3; 1 stuck after 1; 2 skipped: waits for task 1, which is not done yet; finished
    ");
}

#[test]
fn an_answered_task_comes_again_under_its_number_before_others_of_its_urgency() {
    story!(run("1 2 3 4", 1, Eager), @"
    begin: launch 1 1/3
    1 runs
    1 asks: launch 2 1/3
    2 runs
    list 1 2 3 4: answered 1
    2 passes: 2 passed after 1; merge 2; launch 1 1/3
    1 runs
    1 fails: launch 1 2/3
    ");
}

#[test]
fn a_run_stays_for_answers_where_it_is_told_to_and_no_longer_than_an_attempt() {
    story!(waiting("1 2<1", Eager), @"
    begin: launch 1 1/3
    1 runs
    1 asks: stays for 1
    after 59
    after 1: 1 stuck after 1; 2 skipped: waits for task 1, which is not done yet; finished
    ");
    story!(waiting("1 2<1", Waves), @"
    begin: wave 1 of 2; launch 1 1/3
    1 runs
    1 asks: end of wave 1; stays for 1
    list 1 2<1: answered 1; wave 2 of 3; launch 1 1/3
    ");
}

#[test]
fn a_run_stays_as_long_as_a_person_has_a_conversation_and_for_no_other_question() {
    story!(run("1 2", 2, Eager), @"
    begin: launch 1 1/3; launch 2 1/3
    1 runs
    2 runs
    1 is handed over
    2 asks: stays for 1
    after 600
    list 1 2:stuck: answered 1; launch 1 1/3
    1 runs
    1 asks: 1 stuck after 1; 2 stuck after 1; finished
    ");
}

#[test]
fn a_question_from_before_the_run_is_waited_for_and_not_given_up() {
    story!(run("1:stuck 2<1 3", 5, Waves), @"
    begin: wave 1 of 2; launch 3 1/3
    list 1 2<1 3: answered 1; launch 1 1/3
    ");
}

#[test]
fn what_is_held_goes_on_when_there_is_room_and_spends_no_attempt() {
    story!(run("1 2 3<1", 2, Waves), @"
    begin: wave 1 of 2; launch 1 1/3; launch 2 1/3
    1 runs
    2 runs
    1 waits for room
    2 passes: 2 passed after 1; merge 2; end of wave 1; stays
    room: wave 2 of 2; launch 1 1/3
    ");
}

#[test]
fn what_nobody_waits_for_is_parked_at_the_end() {
    story!(run("1 2<1", 2, Eager), @"
    begin: launch 1 1/3
    1 finds no room: 1 parked after 0; 2 skipped: waits for task 1, which is not done yet; finished
    ");
}

#[test]
fn enough_ends_a_run_without_an_interrupt() {
    story!(run("1 2 3", 1, Eager), @"
    begin: launch 1 1/3
    1 runs
    enough: 2 interrupted after 0; 3 interrupted after 0
    1 passes: 1 passed after 1; merge 1; finished
    ");
}

#[test]
fn a_task_that_the_operator_stops_is_not_tried_again() {
    story!(run("1 2 3<1", 1, Eager), @"
    begin: launch 1 1/3
    1 runs
    1 is dropped: stop 1 Dropped
    2 is dropped: 2 interrupted after 0
    1 fails: 1 interrupted after 1; 3 skipped: waits for task 1, which did not pass; merge 1; finished
    ");
}

#[test]
fn it_is_said_once_that_a_wave_holds_tasks_up() {
    story!(run("1 2 3<1 4<1", 2, Waves), @"
    begin: wave 1 of 2; launch 1 1/3; launch 2 1/3
    1 runs
    2 runs
    1 passes: 1 passed after 1; wave 1 holds 2
    after 1
    ");
}
