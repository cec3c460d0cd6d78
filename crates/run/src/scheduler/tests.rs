//! The scheduler by story.

use flagpost_model::{
    session::Outcome::{Fail, Partial, Pass},
    task::{Outline, Priority, State, Task},
};
use jiff::Timestamp;

use super::*;

/// A pending task per word: `3<1,2` waits for 1 and 2.
fn list(words: &str) -> Vec<Outline> {
    let task = |word: &str| {
        let (id, blockers) = word.split_once('<').unwrap_or((word, ""));
        let blockers = blockers.split(',').filter(|b| !b.is_empty());
        Outline {
            blocked_by: blockers.map(|b| b.parse().unwrap()).collect(),
            ..Outline::from(&Task::new(id.parse().unwrap(), ""))
        }
    };
    words.split_whitespace().map(task).collect()
}

/// A scheduler whose effects read as lines: `launch 1 1/3`.
struct Run {
    scheduler: Scheduler,
    clock: Timestamp,
}

fn run(words: &str, max_parallel: usize, schedule: Schedule) -> Run {
    let config = RunConfig {
        max_parallel: NonZeroUsize::new(max_parallel).unwrap(),
        schedule,
        timeout: Some(SignedDuration::from_secs(60)),
        ..RunConfig::default()
    };
    Run {
        scheduler: Scheduler::new(config, &list(words)),
        clock: Timestamp::UNIX_EPOCH,
    }
}

impl Run {
    fn on(&mut self, event: Event) -> String {
        let effects = self.scheduler.handle(event, self.clock);
        effects.iter().map(line).collect::<Vec<_>>().join("; ")
    }

    fn begin(&mut self) -> String {
        self.on(Event::Begin)
    }

    fn launched(&mut self, task: &str) -> String {
        let task = task.parse().unwrap();
        self.on(Event::Launched { task })
    }

    fn ended(&mut self, task: &str, outcome: Outcome) -> String {
        let task = task.parse().unwrap();
        self.on(Event::Ended {
            task,
            outcome,
            retryable: true,
        })
    }

    fn stuck(&mut self, task: &str) -> String {
        let task = task.parse().unwrap();
        self.on(Event::Ended {
            task,
            outcome: Fail,
            retryable: false,
        })
    }

    fn put_back(&mut self, task: &str, behind: &str) -> String {
        let (task, behind) = (task.parse().unwrap(), behind.parse().unwrap());
        self.on(Event::PutBack { task, behind })
    }

    fn could_not(&mut self, task: &str, because: NoLaunch) -> String {
        let task = task.parse().unwrap();
        self.on(Event::CouldNotLaunch { task, because })
    }

    fn tick(&mut self, seconds: i64) -> String {
        self.clock += SignedDuration::from_secs(seconds);
        self.on(Event::Tick)
    }
}

fn refused() -> NoLaunch {
    NoLaunch::Refused {
        reason: "held by W2".into(),
    }
}

fn line(effect: &Effect) -> String {
    match effect {
        Effect::WaveStarted { n, of } => format!("wave {n} of {of}"),
        Effect::Waits { task, on } => format!("{task} waits for {} of {}", on.path, on.holder),
        Effect::Launch { task, attempt } => format!("launch {task} {attempt}"),
        Effect::Stop { task, why } => format!("stop {task} {why:?}"),
        Effect::Settled { task, fate } => format!("{task} {}", fate_line(fate)),
        Effect::Merge { tasks } => {
            let tasks: Vec<_> = tasks.iter().map(TaskId::as_str).collect();
            format!("merge {}", tasks.join(","))
        }
        Effect::WaveEnded { n } => format!("end of wave {n}"),
        Effect::Added { task } => format!("added {task}"),
        Effect::Answered { task } => format!("answered {task}"),
        Effect::WaveHolds { n, ready } => format!("wave {n} holds {ready}"),
        Effect::Stays { asking } => {
            let asking: Vec<_> = asking.iter().map(TaskId::as_str).collect();
            format!("stays for {}", asking.join(","))
        }
        Effect::Finished { interrupted, .. } if *interrupted => "interrupted".into(),
        Effect::Finished { .. } => "finished".into(),
    }
}

fn fate_line(fate: &TaskOutcome) -> String {
    match fate {
        TaskOutcome::Passed { attempts } => format!("passed after {attempts}"),
        TaskOutcome::Partial { attempts } => format!("partial after {attempts}"),
        TaskOutcome::Failed { attempts } => format!("failed after {attempts}"),
        TaskOutcome::Skipped { why } => format!("skipped: {why}"),
        TaskOutcome::Interrupted { attempts } => format!("interrupted after {attempts}"),
        TaskOutcome::Stuck { attempts } => format!("stuck after {attempts}"),
        TaskOutcome::Parked { attempts } => format!("parked after {attempts}"),
    }
}

mod asking;
mod following;
mod put_back;
mod reserved;
mod worst_driver;

use Schedule::{Eager, Waves};

#[test]
fn a_wave_waits_for_the_whole_wave_before() {
    let mut run = run("1 2 3<1", 5, Waves);
    assert_eq!(run.begin(), "wave 1 of 2; launch 1 1/3; launch 2 1/3");
    assert_eq!(run.ended("1", Pass), "1 passed after 1; wave 1 holds 1");
    assert_eq!(
        run.ended("2", Pass),
        "2 passed after 1; merge 1,2; end of wave 1; wave 2 of 2; launch 3 1/3"
    );
    assert_eq!(
        run.ended("3", Pass),
        "3 passed after 1; merge 3; end of wave 2; finished"
    );
}

#[test]
fn an_eager_task_starts_the_moment_its_blockers_are_done() {
    let mut run = run("1 2 3<1", 5, Eager);
    assert_eq!(run.begin(), "launch 1 1/3; launch 2 1/3");
    assert_eq!(
        run.ended("1", Pass),
        "1 passed after 1; merge 1; launch 3 1/3"
    );
    assert_eq!(run.ended("2", Pass), "2 passed after 1; merge 2");
    assert_eq!(run.ended("3", Pass), "3 passed after 1; merge 3; finished");
}

#[test]
fn places_are_filled_in_claim_order() {
    let mut list = list("1 2 3 4<2");
    list[2].priority = Some(Priority::Critical);
    let config = RunConfig {
        max_parallel: NonZeroUsize::MIN,
        schedule: Eager,
        ..RunConfig::default()
    };
    let mut run = Run {
        scheduler: Scheduler::new(config, &list),
        clock: Timestamp::UNIX_EPOCH,
    };
    assert_eq!(run.begin(), "launch 3 1/3");
    assert_eq!(
        run.ended("3", Pass),
        "3 passed after 1; merge 3; launch 2 1/3"
    );
    assert_eq!(
        run.ended("2", Pass),
        "2 passed after 1; merge 2; launch 1 1/3"
    );
}

#[test]
fn a_failure_is_tried_again_in_its_place_until_attempts_are_exhausted() {
    let mut run = run("1 2", 1, Waves);
    run.begin();
    assert_eq!(run.ended("1", Fail), "launch 1 2/3");
    assert_eq!(run.ended("1", Partial), "launch 1 3/3");
    assert_eq!(run.ended("1", Partial), "1 partial after 3; launch 2 1/3");
    run.ended("2", Fail);
    assert_eq!(
        run.ended("2", Pass),
        "2 passed after 2; merge 1,2; end of wave 1; finished"
    );
}

#[test]
fn a_stuck_worker_is_not_asked_again() {
    let mut run = run("1", 1, Waves);
    run.begin();
    assert_eq!(
        run.stuck("1"),
        "1 failed after 1; merge 1; end of wave 1; finished"
    );
}

#[test]
fn what_waits_for_a_failure_is_skipped_with_the_root_of_it() {
    for schedule in [Waves, Eager] {
        let mut run = run("1 2<1 3<2 4", 5, schedule);
        run.begin();
        let why = "skipped: waits for task 1, which did not pass";
        let ended = run.stuck("1");
        assert!(
            ended.starts_with(&format!("1 failed after 1; 2 {why}; 3 {why}")),
            "{ended}"
        );
        // Waves without anything left to do are passed over.
        assert!(run.ended("4", Pass).ends_with("; finished"));
    }
}

#[test]
fn what_can_never_start_is_said_at_once() {
    let mut list = list("1 2<1 3<9 4<4 5");
    list[0].state = State::Cancelled;
    let mut run = Run {
        scheduler: Scheduler::new(RunConfig::default(), &list),
        clock: Timestamp::UNIX_EPOCH,
    };
    let skipped = "2 skipped: waits for task 1, which is cancelled; \
                   3 skipped: task 3 waits for 9, which does not exist; \
                   4 skipped: waits in a circle: 4 → 4; wave 1 of 1; launch 5 1/3";
    assert_eq!(run.begin(), skipped);
}

#[test]
fn completed_tasks_count_as_passed_and_are_not_run() {
    let mut list = list("1 2<1");
    list[0].state = State::Completed;
    let mut run = Run {
        scheduler: Scheduler::new(RunConfig::default(), &list),
        clock: Timestamp::UNIX_EPOCH,
    };
    assert_eq!(run.begin(), "wave 1 of 1; launch 2 1/3");
}

#[test]
fn a_run_without_open_tasks_ends_as_it_begins() {
    assert_eq!(run("", 1, Waves).begin(), "finished");
    assert_eq!(run("", 1, Eager).begin(), "finished");
}

#[test]
fn a_task_done_by_somebody_else_passes_and_leaves_nothing_to_merge() {
    let mut run = run("1 2<1", 1, Waves);
    run.begin();
    assert_eq!(
        run.could_not("1", NoLaunch::AlreadyCompleted),
        "1 passed after 0; end of wave 1; wave 2 of 2; launch 2 1/3"
    );
}

#[test]
fn a_task_that_cannot_be_had_is_skipped_unless_it_was_tried() {
    let mut first = run("1 2<1", 1, Waves);
    first.begin();
    let skipped = "1 skipped: held by W2; 2 skipped: waits for task 1, which did not pass; \
                   end of wave 1; finished";
    assert_eq!(first.could_not("1", refused()), skipped);
    let mut second = run("1", 1, Waves);
    second.begin();
    second.ended("1", Partial);
    let tried = "1 partial after 1; merge 1; end of wave 1; finished";
    assert_eq!(second.could_not("1", refused()), tried);
}

#[test]
fn time_counts_from_the_launch_and_ends_in_one_stop() {
    let mut run = run("1 2", 2, Waves);
    run.begin();
    assert_eq!(run.scheduler.next_deadline(), None);
    run.launched("1");
    run.clock += SignedDuration::from_secs(10);
    run.launched("2");
    let deadline = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(60);
    assert_eq!(run.scheduler.next_deadline(), Some(deadline));
    assert_eq!(run.tick(49), "");
    assert_eq!(run.tick(1), "stop 1 Timeout");
    assert_eq!(run.tick(0), "");
    assert_eq!(
        run.scheduler.next_deadline(),
        Some(deadline + SignedDuration::from_secs(10))
    );
    assert_eq!(run.ended("1", Fail), "launch 1 2/3");
    assert_eq!(run.launched("1"), "");
    assert_eq!(run.tick(10), "stop 2 Timeout");
}

#[test]
fn one_interrupt_lets_agents_finish() {
    let mut run = run("1 2 3<1", 2, Waves);
    run.begin();
    assert_eq!(run.on(Event::Interrupt), "3 interrupted after 0");
    assert_eq!(run.ended("1", Pass), "1 passed after 1");
    let end = "2 interrupted after 1; merge 1,2; end of wave 1; interrupted";
    assert_eq!(run.ended("2", Fail), end);
}

#[test]
fn a_second_interrupt_stops_them_even_while_they_are_launched() {
    let mut run = run("1 2", 2, Eager);
    run.begin();
    run.launched("1");
    run.on(Event::Interrupt);
    assert_eq!(run.on(Event::Interrupt), "stop 1 Interrupted");
    assert_eq!(run.on(Event::Interrupt), "");
    assert_eq!(run.launched("2"), "stop 2 Interrupted");
    assert_eq!(run.ended("1", Fail), "1 interrupted after 1; merge 1");
    assert_eq!(
        run.ended("2", Pass),
        "2 passed after 1; merge 2; interrupted"
    );
}

#[test]
fn a_stopped_last_attempt_is_interrupted_not_failed() {
    let mut run = run("1", 1, Eager);
    run.begin();
    run.ended("1", Fail);
    run.ended("1", Fail);
    run.launched("1");
    run.on(Event::Interrupt);
    run.on(Event::Interrupt);
    assert_eq!(
        run.ended("1", Fail),
        "1 interrupted after 3; merge 1; interrupted"
    );
}

#[test]
fn a_stopped_agent_that_had_said_it_is_stuck_has_failed() {
    let mut run = run("1", 1, Eager);
    run.begin();
    run.launched("1");
    run.on(Event::Interrupt);
    run.on(Event::Interrupt);
    assert_eq!(run.stuck("1"), "1 failed after 1; merge 1; interrupted");
}

#[test]
fn of_two_tasks_with_one_id_the_first_is_run() {
    let mut list = list("1 1 2<1");
    list[0].state = State::Completed;
    let mut run = Run {
        scheduler: Scheduler::new(RunConfig::default(), &list),
        clock: Timestamp::UNIX_EPOCH,
    };
    assert_eq!(run.begin(), "wave 1 of 1; launch 2 1/3");
}

#[test]
fn an_interrupt_before_the_beginning_ends_the_run() {
    let mut run = run("1", 1, Waves);
    assert_eq!(
        run.on(Event::Interrupt),
        "1 interrupted after 0; interrupted"
    );
    assert_eq!(run.begin(), "");
}

#[test]
fn what_does_not_fit_changes_nothing() {
    let mut run = run("1 2<1", 1, Waves);
    assert_eq!(run.ended("1", Pass), "");
    run.begin();
    assert_eq!(run.begin(), "");
    assert_eq!(run.ended("2", Pass), "");
    assert_eq!(run.ended("9", Pass), "");
    assert_eq!(run.launched("9"), "");
    run.launched("1");
    assert_eq!(run.launched("1"), "");
    assert_eq!(run.could_not("1", refused()), "");
    run.ended("1", Pass);
    assert_eq!(run.ended("1", Fail), "");
}
