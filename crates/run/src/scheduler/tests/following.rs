//! A list that changes while the run goes on.

use super::*;

fn listed(run: &mut Run, words: &str, states: &[(&str, State)]) -> String {
    let mut outlines = list(words);
    for (id, state) in states {
        let task = outlines.iter_mut().find(|it| it.id.as_str() == *id);
        task.unwrap().state = state.clone();
    }
    run.on(Event::Listed(outlines))
}

#[test]
fn an_added_task_begins_at_once_in_an_eager_run() {
    let mut run = run("1", 2, Eager);
    run.begin();
    run.launched("1");
    assert_eq!(
        listed(&mut run, "1 2 3<1", &[]),
        "added 2; added 3; launch 2 1/3"
    );
    run.launched("2");
    assert_eq!(
        run.ended("1", Pass),
        "1 passed after 1; merge 1; launch 3 1/3"
    );
}

#[test]
fn an_added_task_has_its_wave() {
    let mut run = run("1 2<1", 2, Waves);
    run.begin();
    run.launched("1");
    assert_eq!(
        listed(&mut run, "1 2<1 3 4<3", &[]),
        "added 3; added 4; wave 1 holds 1"
    );
    assert_eq!(
        run.ended("1", Pass),
        "1 passed after 1; merge 1; end of wave 1; wave 2 of 3; launch 3 1/3; launch 2 1/3"
    );
}

#[test]
fn what_others_did_or_cancelled_is_not_begun() {
    let mut run = run("1 2 3 4<3 5<1", 1, Eager);
    assert_eq!(run.begin(), "launch 1 1/3");
    run.launched("1");
    let states = [("2", State::Completed), ("3", State::Cancelled)];
    assert_eq!(
        listed(&mut run, "1 2 3 4<3 5<1", &states),
        "3 skipped: somebody cancelled or removed it; 2 passed after 0; \
         4 skipped: waits for task 3, which did not pass"
    );
    assert_eq!(
        run.ended("1", Pass),
        "1 passed after 1; merge 1; launch 5 1/3"
    );
}

#[test]
fn a_removed_task_is_not_begun() {
    let mut run = run("1 2", 1, Eager);
    run.begin();
    run.launched("1");
    assert_eq!(
        listed(&mut run, "1", &[]),
        "2 skipped: somebody cancelled or removed it"
    );
}

#[test]
fn a_new_blocker_holds_up_a_task_that_has_not_begun() {
    let mut run = run("1 2", 1, Eager);
    run.begin();
    run.launched("1");
    assert_eq!(listed(&mut run, "1 2<3 3", &[]), "added 3");
    assert_eq!(
        run.ended("1", Pass),
        "1 passed after 1; merge 1; launch 3 1/3"
    );
}

#[test]
fn a_task_that_failed_and_is_opened_again_is_tried_anew_with_what_waits_for_it() {
    let mut run = run("1 2<1 3", 1, Eager);
    run.scheduler.config.max_attempts = NonZeroU32::MIN;
    let mut run = Run {
        scheduler: Scheduler::new(run.scheduler.config.clone(), &list("1 2<1 3")),
        ..run
    };
    run.begin();
    run.launched("1");
    assert_eq!(
        run.ended("1", Fail),
        "1 failed after 1; 2 skipped: waits for task 1, which did not pass; merge 1; launch 3 1/1"
    );
    run.launched("3");
    // What the run itself wrote changes nothing.
    assert_eq!(listed(&mut run, "1 2<1 3", &[("1", State::Failed)]), "");
    assert_eq!(listed(&mut run, "1 2<1 3", &[]), "");
    assert_eq!(
        run.ended("3", Pass),
        "3 passed after 1; merge 3; launch 1 1/1"
    );
    run.launched("1");
    assert_eq!(
        run.ended("1", Pass),
        "1 passed after 1; merge 1; launch 2 1/1"
    );
}

#[test]
fn a_running_task_is_left_alone_whatever_its_file_says() {
    let mut run = run("1 2<1", 1, Eager);
    run.begin();
    run.launched("1");
    for state in [State::Completed, State::Cancelled, State::InProgress(None)] {
        assert_eq!(listed(&mut run, "1 2<1", &[("1", state)]), "");
    }
    assert_eq!(
        run.ended("1", Pass),
        "1 passed after 1; merge 1; launch 2 1/3"
    );
}
