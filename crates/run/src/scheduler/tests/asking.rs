//! Questions and limits: what waits, and for how long.

use super::*;

fn asked(run: &mut Run, task: &str) -> String {
    let task = task.parse().unwrap();
    run.on(Event::Asked { task })
}

fn held(run: &mut Run, task: &str, opens: bool) -> String {
    let task = task.parse().unwrap();
    run.on(Event::Held { task, opens })
}

fn waiting(words: &str, schedule: Schedule) -> Run {
    let mut run = run(words, 2, schedule);
    run.scheduler.config.wait_for_answers = true;
    run
}

/// The list with these states.
fn listed(run: &mut Run, words: &str, states: &[(&str, State)]) -> String {
    let mut outlines = list(words);
    for (id, state) in states {
        let task = outlines.iter_mut().find(|it| it.id.as_str() == *id);
        task.unwrap().state = state.clone();
    }
    run.on(Event::Listed(outlines))
}

#[test]
fn a_question_spends_no_attempt_and_what_depends_on_it_waits() {
    let mut run = run("1 2<1 3", 2, Eager);
    assert_eq!(run.begin(), "launch 1 1/3; launch 3 1/3");
    run.launched("1");
    run.launched("3");
    assert_eq!(asked(&mut run, "1"), "");
    assert_eq!(
        run.ended("3", Pass),
        "3 passed after 1; merge 3; 1 stuck after 1; \
         2 skipped: waits for task 1, which is not done yet; finished"
    );
}

#[test]
fn an_answered_task_comes_again_under_its_number_before_others_of_its_urgency() {
    let mut run = run("1 2 3 4", 1, Eager);
    run.begin();
    run.launched("1");
    assert_eq!(asked(&mut run, "1"), "launch 2 1/3");
    run.launched("2");
    assert_eq!(listed(&mut run, "1 2 3 4", &[]), "answered 1");
    assert_eq!(
        run.ended("2", Pass),
        "2 passed after 1; merge 2; launch 1 1/3"
    );
    run.launched("1");
    assert_eq!(run.ended("1", Fail), "launch 1 2/3");
}

#[test]
fn a_run_stays_for_answers_where_it_is_told_to_and_no_longer_than_an_attempt() {
    let mut run = waiting("1 2<1", Eager);
    run.begin();
    run.launched("1");
    assert_eq!(asked(&mut run, "1"), "stays for 1");
    assert_eq!(run.tick(59), "");
    assert_eq!(
        run.tick(1),
        "1 stuck after 1; 2 skipped: waits for task 1, which is not done yet; finished"
    );
    let mut run = waiting("1 2<1", Waves);
    run.begin();
    run.launched("1");
    assert_eq!(asked(&mut run, "1"), "end of wave 1; stays for 1");
    assert_eq!(
        listed(&mut run, "1 2<1", &[]),
        "answered 1; wave 2 of 3; launch 1 1/3"
    );
}

#[test]
fn a_question_from_before_the_run_is_waited_for_and_not_given_up() {
    let config = RunConfig::default();
    let mut outlines = list("1 2<1 3");
    outlines[0].state = State::Stuck;
    let mut scheduler = Scheduler::new(config, &outlines);
    let lines = |effects: Vec<Effect>| effects.iter().map(line).collect::<Vec<_>>().join("; ");
    let begun = scheduler.handle(Event::Begin, Timestamp::UNIX_EPOCH);
    assert_eq!(lines(begun), "wave 1 of 2; launch 3 1/3");
    let answered = scheduler.handle(Event::Listed(list("1 2<1 3")), Timestamp::UNIX_EPOCH);
    assert_eq!(lines(answered), "answered 1; launch 1 1/3");
}

#[test]
fn what_is_held_goes_on_when_there_is_room_and_spends_no_attempt() {
    let mut run = run("1 2 3<1", 2, Waves);
    run.begin();
    run.launched("1");
    run.launched("2");
    assert_eq!(held(&mut run, "1", true), "");
    assert_eq!(
        run.ended("2", Pass),
        "2 passed after 1; merge 2; end of wave 1; stays for "
    );
    assert_eq!(run.on(Event::Opened), "wave 2 of 2; launch 1 1/3");
}

#[test]
fn what_nobody_waits_for_is_parked_at_the_end() {
    let mut run = run("1 2<1", 2, Eager);
    run.begin();
    let because = NoLaunch::Held { opens: false };
    assert_eq!(
        run.could_not("1", because),
        "1 parked after 0; 2 skipped: waits for task 1, which is not done yet; finished"
    );
}

#[test]
fn enough_ends_a_run_without_an_interrupt() {
    let mut run = run("1 2 3", 1, Eager);
    run.begin();
    run.launched("1");
    assert_eq!(
        run.on(Event::Enough),
        "2 interrupted after 0; 3 interrupted after 0"
    );
    assert_eq!(run.ended("1", Pass), "1 passed after 1; merge 1; finished");
}

#[test]
fn a_task_that_the_operator_stops_is_not_tried_again() {
    let mut run = run("1 2 3<1", 1, Eager);
    run.begin();
    run.launched("1");
    let drop = |run: &mut Run, id: &str| {
        let task = id.parse().unwrap();
        run.on(Event::Dropped { task })
    };
    assert_eq!(drop(&mut run, "1"), "stop 1 Dropped");
    assert_eq!(drop(&mut run, "2"), "2 interrupted after 0");
    assert_eq!(
        run.ended("1", Fail),
        "1 interrupted after 1; 3 skipped: waits for task 1, which did not pass; merge 1; finished"
    );
}

#[test]
fn it_is_said_once_that_a_wave_holds_tasks_up() {
    let mut run = run("1 2 3<1 4<1", 2, Waves);
    run.begin();
    run.launched("1");
    run.launched("2");
    assert_eq!(run.ended("1", Pass), "1 passed after 1; wave 1 holds 2");
    assert_eq!(run.tick(1), "");
}
