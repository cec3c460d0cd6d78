//! The scheduler by story.

use flagpost_model::{
    session::Outcome::{Fail, Partial, Pass},
    task::{Outline, Priority, State, Task},
};
use jiff::Timestamp;

use super::*;

/// Takes a run through the events of a story, each the words before a colon, and compares the effects
/// behind it.
macro_rules! story {
    ($run:expr, @$story:literal) => {
        insta::assert_snapshot!($run.repeat($story), @$story)
    };
}

/// A task per word: `3!:stuck<1,2@src` is the urgent task 3, which is stuck, waits for 1 and 2 and
/// says that it will touch `src`. Most have an id alone.
fn list(words: &str) -> Vec<Outline> {
    fn parts(text: &str) -> impl Iterator<Item = &str> {
        text.split(',').filter(|it| !it.is_empty())
    }
    let task = |word: &str| {
        let (word, files) = word.split_once('@').unwrap_or((word, ""));
        let (word, blockers) = word.split_once('<').unwrap_or((word, ""));
        let (id, state) = word.split_once(':').unwrap_or((word, "pending"));
        Outline {
            state: match state {
                "pending" => State::Pending,
                "running" => State::InProgress(None),
                "completed" => State::Completed,
                "failed" => State::Failed,
                "stuck" => State::Stuck,
                "cancelled" => State::Cancelled,
                other => panic!("no state is called {other}"),
            },
            priority: id.ends_with('!').then_some(Priority::Critical),
            blocked_by: parts(blockers).map(|it| it.parse().unwrap()).collect(),
            files: parts(files).map(str::to_owned).collect(),
            ..Outline::from(&Task::new(id.trim_end_matches('!').parse().unwrap(), ""))
        }
    };
    words.split_whitespace().map(task).collect()
}

/// A scheduler that hears events and tells effects in words: `1 passes` and `launch 2 1/3`.
struct Run {
    scheduler: Scheduler,
    clock: Timestamp,
}

fn config(max_parallel: usize, schedule: Schedule) -> RunConfig {
    RunConfig {
        max_parallel: NonZeroUsize::new(max_parallel).unwrap(),
        schedule,
        timeout: Some(SignedDuration::from_secs(60)),
        ..RunConfig::default()
    }
}

fn run_as(config: RunConfig, words: &str) -> Run {
    Run {
        scheduler: Scheduler::new(config, &list(words)),
        clock: Timestamp::UNIX_EPOCH,
    }
}

fn run(words: &str, max_parallel: usize, schedule: Schedule) -> Run {
    run_as(config(max_parallel, schedule), words)
}

impl Run {
    /// The effects of an event.
    fn on(&mut self, words: &str) -> String {
        if let Some(seconds) = words.strip_prefix("after ") {
            self.clock += SignedDuration::from_secs(seconds.parse().unwrap());
        }
        let effects = self.scheduler.handle(event(words), self.clock);
        effects.iter().map(line).collect::<Vec<_>>().join("; ")
    }

    /// The events of a story, each with the effects that it has now.
    fn repeat(&mut self, story: &str) -> String {
        let lines = story.lines().map(str::trim).filter(|it| !it.is_empty());
        let told = lines.map(|line| {
            let event = line.split_once(": ").map_or(line, |(event, _)| event);
            match &*self.on(event) {
                "" => event.to_owned(),
                effects => format!("{event}: {effects}"),
            }
        });
        told.collect::<Vec<_>>().join("\n")
    }
}

fn refused() -> NoLaunch {
    NoLaunch::Refused {
        reason: "held by W2".into(),
    }
}

fn event(words: &str) -> Event {
    let words: Vec<&str> = words.split_whitespace().collect();
    let id = |word: &str| word.parse::<TaskId>().unwrap();
    let ended = |task, outcome, retryable| Event::Ended {
        task: id(task),
        outcome,
        retryable,
    };
    let could_not = |task, because| Event::CouldNotLaunch {
        task: id(task),
        because,
    };
    match words[..] {
        ["begin"] => Event::Begin,
        [task, "runs"] => Event::Launched { task: id(task) },
        [task, "passes"] => ended(task, Pass, true),
        [task, "passes", "in", "part"] => ended(task, Partial, true),
        [task, "fails"] => ended(task, Fail, true),
        [task, "is", "stuck"] => ended(task, Fail, false),
        [task, "is", "done"] => could_not(task, NoLaunch::AlreadyCompleted),
        [task, "is", "refused"] => could_not(task, refused()),
        [task, "finds", "no", "room"] => could_not(task, NoLaunch::Held { opens: false }),
        [task, "waits", "for", "room"] => Event::Held {
            task: id(task),
            opens: true,
        },
        [task, "needs", other] => Event::PutBack {
            task: id(task),
            behind: id(other),
        },
        [task, "asks"] => Event::Asked { task: id(task) },
        [task, "is", "handed", "over"] => Event::HandedOver { task: id(task) },
        [task, "is", "dropped"] => Event::Dropped { task: id(task) },
        ["list", ref tasks @ ..] => Event::Listed(list(&tasks.join(" "))),
        ["reserved", ref all @ ..] => Event::Reserved(all.iter().map(reserved).collect()),
        ["room"] => Event::Opened,
        ["after", _] => Event::Tick,
        ["enough"] => Event::Enough,
        ["interrupt"] => Event::Interrupt,
        ref other => panic!("no event is called {other:?}"),
    }
}

/// `src/**:W1`, or for a task `src/**:W1:3`.
fn reserved(words: &&str) -> ReservedFiles {
    let words: Vec<&str> = words.split(':').collect();
    ReservedFiles {
        path: words[0].parse().unwrap(),
        holder: words[1].parse().unwrap(),
        task: words.get(2).map(|it| (*it).to_owned()),
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
            match &*asking.join(",") {
                "" => "stays".into(),
                asking => format!("stays for {asking}"),
            }
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

mod follow_up;
mod following;
mod put_back;
mod reserved;
mod worst_driver;

use Schedule::{Eager, Waves};

#[test]
fn a_wave_waits_for_the_whole_wave_before() {
    story!(run("1 2 3<1", 5, Waves), @"
    begin: wave 1 of 2; launch 1 1/3; launch 2 1/3
    1 passes: 1 passed after 1; wave 1 holds 1
    2 passes: 2 passed after 1; merge 1,2; end of wave 1; wave 2 of 2; launch 3 1/3
    3 passes: 3 passed after 1; merge 3; end of wave 2; finished
    ");
}

#[test]
fn an_eager_task_starts_the_moment_its_blockers_are_done() {
    story!(run("1 2 3<1", 5, Eager), @"
    begin: launch 1 1/3; launch 2 1/3
    1 passes: 1 passed after 1; merge 1; launch 3 1/3
    2 passes: 2 passed after 1; merge 2
    3 passes: 3 passed after 1; merge 3; finished
    ");
}

#[test]
fn places_are_filled_in_claim_order() {
    story!(run("1 2 3! 4<2", 1, Eager), @"
    begin: launch 3 1/3
    3 passes: 3 passed after 1; merge 3; launch 2 1/3
    2 passes: 2 passed after 1; merge 2; launch 1 1/3
    ");
}

#[test]
fn a_failure_is_tried_again_in_its_place_until_attempts_are_exhausted() {
    story!(run("1 2", 1, Waves), @"
    begin: wave 1 of 1; launch 1 1/3
    1 fails: launch 1 2/3
    1 passes in part: launch 1 3/3
    1 passes in part: 1 partial after 3; launch 2 1/3
    2 fails: launch 2 2/3
    2 passes: 2 passed after 2; merge 1,2; end of wave 1; finished
    ");
}

#[test]
fn a_stuck_worker_is_not_asked_again() {
    story!(run("1", 1, Waves), @"
    begin: wave 1 of 1; launch 1 1/3
    1 is stuck: 1 failed after 1; merge 1; end of wave 1; finished
    ");
}

#[test]
fn what_waits_for_a_failure_is_skipped_with_the_root_of_it() {
    for schedule in [Waves, Eager] {
        let mut run = run("1 2<1 3<2 4", 5, schedule);
        run.on("begin");
        let why = "skipped: waits for task 1, which did not pass";
        let ended = run.on("1 is stuck");
        let expected = format!("1 failed after 1; 2 {why}; 3 {why}");
        assert!(ended.starts_with(&expected), "{ended}");
        // Waves without anything left to do are passed over.
        assert!(run.on("4 passes").ends_with("; finished"));
    }
}

#[test]
fn what_can_never_start_is_said_at_once() {
    story!(run("1:cancelled 2<1 3<9 4<4 5", 5, Waves), @"begin: 2 skipped: waits for task 1, which is cancelled; 3 skipped: task 3 waits for 9, which does not exist; 4 skipped: waits in a circle: 4 → 4; wave 1 of 1; launch 5 1/3");
}

#[test]
fn completed_tasks_count_as_passed_and_are_not_run() {
    story!(run("1:completed 2<1", 5, Waves), @"begin: wave 1 of 1; launch 2 1/3");
}

#[test]
fn a_run_without_open_tasks_ends_as_it_begins() {
    story!(run("", 1, Waves), @"begin: finished");
    story!(run("", 1, Eager), @"begin: finished");
}

#[test]
fn a_task_done_by_somebody_else_passes_and_leaves_nothing_to_merge() {
    story!(run("1 2<1", 1, Waves), @"
    begin: wave 1 of 2; launch 1 1/3
    1 is done: 1 passed after 0; end of wave 1; wave 2 of 2; launch 2 1/3
    ");
}

#[test]
fn a_task_that_cannot_be_had_is_skipped_unless_it_was_tried() {
    story!(run("1 2<1", 1, Waves), @"
    begin: wave 1 of 2; launch 1 1/3
    1 is refused: 1 skipped: held by W2; 2 skipped: waits for task 1, which did not pass; end of wave 1; finished
    ");
    story!(run("1", 1, Waves), @"
    begin: wave 1 of 1; launch 1 1/3
    1 passes in part: launch 1 2/3
    1 is refused: 1 partial after 1; merge 1; end of wave 1; finished
    ");
}

#[test]
fn time_counts_from_the_launch_and_ends_in_one_stop() {
    let mut run = run("1 2", 2, Waves);
    run.on("begin");
    assert_eq!(run.scheduler.next_deadline(), None);
    story!(run, @"
    1 runs
    after 10
    2 runs
    ");
    let deadline = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(60);
    assert_eq!(run.scheduler.next_deadline(), Some(deadline));
    story!(run, @"
    after 49
    after 1: stop 1 Timeout
    after 0
    ");
    let later = deadline + SignedDuration::from_secs(10);
    assert_eq!(run.scheduler.next_deadline(), Some(later));
    story!(run, @"
    1 fails: launch 1 2/3
    1 runs
    after 10: stop 2 Timeout
    ");
}

#[test]
fn one_interrupt_lets_agents_finish() {
    story!(run("1 2 3<1", 2, Waves), @"
    begin: wave 1 of 2; launch 1 1/3; launch 2 1/3
    interrupt: 3 interrupted after 0
    1 passes: 1 passed after 1
    2 fails: 2 interrupted after 1; merge 1,2; end of wave 1; interrupted
    ");
}

#[test]
fn a_second_interrupt_stops_them_even_while_they_are_launched() {
    story!(run("1 2", 2, Eager), @"
    begin: launch 1 1/3; launch 2 1/3
    1 runs
    interrupt
    interrupt: stop 1 Interrupted
    interrupt
    2 runs: stop 2 Interrupted
    1 fails: 1 interrupted after 1; merge 1
    2 passes: 2 passed after 1; merge 2; interrupted
    ");
}

#[test]
fn a_stopped_last_attempt_is_interrupted_not_failed() {
    story!(run("1", 1, Eager), @"
    begin: launch 1 1/3
    1 fails: launch 1 2/3
    1 fails: launch 1 3/3
    1 runs
    interrupt
    interrupt: stop 1 Interrupted
    1 fails: 1 interrupted after 3; merge 1; interrupted
    ");
}

#[test]
fn a_stopped_agent_that_had_said_it_is_stuck_has_failed() {
    story!(run("1", 1, Eager), @"
    begin: launch 1 1/3
    1 runs
    interrupt
    interrupt: stop 1 Interrupted
    1 is stuck: 1 failed after 1; merge 1; interrupted
    ");
}

#[test]
fn of_two_tasks_with_one_id_the_first_is_run() {
    story!(run("1:completed 1 2<1", 5, Waves), @"begin: wave 1 of 1; launch 2 1/3");
}

#[test]
fn an_interrupt_before_the_beginning_ends_the_run() {
    story!(run("1", 1, Waves), @"
    interrupt: 1 interrupted after 0; interrupted
    begin
    ");
}

#[test]
fn what_does_not_fit_changes_nothing() {
    story!(run("1 2<1", 1, Waves), @"
    1 passes
    begin: wave 1 of 2; launch 1 1/3
    begin
    2 passes
    9 passes
    9 runs
    1 runs
    1 runs
    1 is refused
    1 passes: 1 passed after 1; merge 1; end of wave 1; wave 2 of 2; launch 2 1/3
    1 fails
    ");
}
