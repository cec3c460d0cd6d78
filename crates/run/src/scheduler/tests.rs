//! The scheduler by story, and under a driver that does its worst.

use std::collections::{HashMap, HashSet};

use flagpost_model::{
    session::Outcome::{Fail, Partial, Pass},
    task::{Outline, Priority, State, Task},
};
use jiff::Timestamp;
use proptest::prelude::*;

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
    let config = Config {
        max_parallel: NonZeroUsize::new(max_parallel).unwrap(),
        schedule,
        timeout: Some(SignedDuration::from_secs(60)),
        ..Config::default()
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
        Effect::Finished { interrupted, .. } if *interrupted => "interrupted".into(),
        Effect::Finished { .. } => "finished".into(),
    }
}

fn fate_line(fate: &Fate) -> String {
    match fate {
        Fate::Passed { attempts } => format!("passed after {attempts}"),
        Fate::Partial { attempts } => format!("partial after {attempts}"),
        Fate::Failed { attempts } => format!("failed after {attempts}"),
        Fate::Skipped { why } => format!("skipped: {why}"),
        Fate::Interrupted { attempts } => format!("interrupted after {attempts}"),
    }
}

mod put_back;
mod reserved;

use Schedule::{Eager, Waves};

#[test]
fn a_wave_waits_for_the_whole_wave_before() {
    let mut run = run("1 2 3<1", 5, Waves);
    assert_eq!(run.begin(), "wave 1 of 2; launch 1 1/3; launch 2 1/3");
    assert_eq!(run.ended("1", Pass), "1 passed after 1");
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
    let config = Config {
        max_parallel: NonZeroUsize::MIN,
        schedule: Eager,
        ..Config::default()
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
        scheduler: Scheduler::new(Config::default(), &list),
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
        scheduler: Scheduler::new(Config::default(), &list),
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
        scheduler: Scheduler::new(Config::default(), &list),
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

fn states() -> impl Strategy<Value = State> {
    prop_oneof![
        12 => Just(State::Pending),
        3 => Just(State::Completed),
        1 => Just(State::InProgress(None)),
        1 => Just(State::Failed),
    ]
}

fn lists() -> impl Strategy<Value = Vec<Outline>> {
    proptest::collection::vec(
        (states(), proptest::collection::vec(0..40_u64, 0..3)),
        1..20,
    )
    .prop_map(|tasks| {
        let n = tasks.len() as u64;
        let tasks = tasks.into_iter().enumerate();
        tasks
            .map(|(at, (state, blockers))| {
                let mut task = Outline::from(&Task::new(TaskId::from(at as u64), ""));
                task.state = state;
                let files = ["a", "b/*", "b/c", "*/d"];
                task.files = blockers
                    .iter()
                    .filter_map(|b| files.get(*b as usize / 4))
                    .map(|it| (*it).to_owned())
                    .collect();
                // Mostly earlier tasks; now and then a later one, so a circle, or none.
                let on = |b: &u64| match b {
                    0 => (at as u64 + 1) % (n + 1),
                    _ => b % (at as u64).max(1),
                };
                let on = blockers.iter().filter(|_| at > 0).map(on);
                task.blocked_by = on.map(TaskId::from).collect();
                task
            })
            .collect()
    })
}

/// What a driver would see, kept apart from the machine.
#[derive(Default)]
struct Witness {
    busy: HashMap<TaskId, u32>,
    running: HashSet<TaskId>,
    attempts: HashMap<TaskId, u32>,
    fates: HashMap<TaskId, Fate>,
    finished: Option<Vec<(TaskId, Fate)>>,
    wave: Option<usize>,
    last_wave: usize,
}

impl Witness {
    fn see(&mut self, effects: Vec<Effect>, config: &Config, list: &[Outline]) {
        for effect in effects {
            assert!(self.finished.is_none(), "{effect:?} after the end");
            match effect {
                Effect::Launch { task, attempt } => self.see_launch(task, attempt, config, list),
                Effect::Waits { task, on } => {
                    assert!(!self.busy.contains_key(&task) && on.task.is_none());
                }
                Effect::Stop { task, .. } => assert!(self.running.contains(&task)),
                Effect::Settled { task, fate } => {
                    let ran = self.attempts.get(&task).copied().unwrap_or(0);
                    match &fate {
                        Fate::Skipped { .. } => assert_eq!(ran, 0),
                        Fate::Passed { attempts } | Fate::Interrupted { attempts } => {
                            assert_eq!(*attempts, ran);
                        }
                        Fate::Partial { attempts } | Fate::Failed { attempts } => {
                            assert!(*attempts == ran && ran > 0);
                        }
                    }
                    assert!(!self.busy.contains_key(&task));
                    assert_eq!(self.fates.insert(task, fate), None);
                }
                Effect::Merge { tasks } => {
                    assert!(
                        tasks
                            .iter()
                            .all(|t| self.attempts[t] > 0 && self.fates.contains_key(t))
                    );
                }
                Effect::WaveStarted { n, of } => {
                    assert!(self.busy.is_empty() && self.wave.is_none());
                    assert!(n > self.last_wave && n <= of && config.schedule == Waves);
                    (self.wave, self.last_wave) = (Some(n), n);
                }
                Effect::WaveEnded { n } => {
                    assert!(self.busy.is_empty());
                    assert_eq!(self.wave.take(), Some(n));
                }
                Effect::Finished { fates, .. } => {
                    assert!(self.busy.is_empty() && self.wave.is_none());
                    self.finished = Some(fates);
                }
            }
        }
    }

    fn see_launch(&mut self, task: TaskId, attempt: Attempt, config: &Config, list: &[Outline]) {
        let before = self.attempts.get(&task).copied().unwrap_or(0);
        assert_eq!(attempt.number, before + 1);
        assert!(attempt.number <= config.max_attempts.get());
        assert_eq!(self.busy.insert(task.clone(), attempt.number), None);
        assert!(self.busy.len() <= config.max_parallel.get());
        assert_eq!(self.wave.is_some(), config.schedule == Waves);
        let outline = list.iter().find(|t| t.id == task).unwrap();
        reserved::are_apart(&task, self.busy.keys(), list);
        for blocker in &outline.blocked_by {
            let done = list
                .iter()
                .any(|t| t.id == *blocker && t.state == State::Completed);
            let passed = self.fates.get(blocker).is_some_and(Fate::is_passed);
            assert!(
                done || passed,
                "{task} was launched before {blocker} passed"
            );
        }
    }

    /// Something that may happen now, chosen by one number.
    fn next_event(&mut self, choice: u16, interrupts: bool) -> Event {
        let mut busy: Vec<TaskId> = self.busy.keys().cloned().collect();
        busy.sort();
        let task = busy
            .get(usize::from(choice >> 8) % busy.len().max(1))
            .cloned();
        let Some(task) = task else {
            return Event::Begin;
        };
        let running = self.running.contains(&task);
        match choice % 16 {
            0 if interrupts => Event::Interrupt,
            1 => Event::Tick,
            2 => Event::Launched {
                task: TaskId::from(77),
            },
            3 | 4 if !running => {
                self.busy.remove(&task);
                let because = match choice % 2 {
                    0 => NoLaunch::AlreadyCompleted,
                    _ => refused(),
                };
                Event::CouldNotLaunch { task, because }
            }
            _ if !running => {
                let attempt = self.busy[&task];
                self.attempts.insert(task.clone(), attempt);
                self.running.insert(task.clone());
                Event::Launched { task }
            }
            n => {
                self.busy.remove(&task);
                self.running.remove(&task);
                let outcome = [Pass, Partial, Fail, Pass][usize::from(n) % 4];
                Event::Ended {
                    task,
                    outcome,
                    retryable: n != 6,
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn whatever_happens_the_invariants_hold_and_the_run_ends(
        list in lists(),
        (max_parallel, max_attempts, eager, interrupts) in (1..5_usize, 1..4_u32, any::<bool>(), any::<bool>()),
        choices in proptest::collection::vec(any::<u16>(), 400),
    ) {
        let config = Config {
            max_parallel: NonZeroUsize::new(max_parallel).unwrap(),
            schedule: if eager { Eager } else { Waves },
            max_attempts: NonZeroU32::new(max_attempts).unwrap(),
            timeout: Some(SignedDuration::from_secs(5)),
        };
        let mut scheduler = Scheduler::new(config.clone(), &list);
        let mut witness = Witness::default();
        let mut clock = Timestamp::UNIX_EPOCH;
        witness.see(scheduler.handle(Event::Begin, clock), &config, &list);
        // 20 tasks, 3 attempts, 2 events each, and one in eight that leads nowhere.
        for choice in choices {
            if witness.finished.is_some() {
                break;
            }
            clock += SignedDuration::from_secs(1);
            let event = witness.next_event(choice, interrupts);
            witness.see(scheduler.handle(event, clock), &config, &list);
        }
        prop_assert!(witness.finished.is_some());
        let fates = witness.finished.unwrap_or_default();
        let open: Vec<&TaskId> = list
            .iter()
            .filter(|t| flagpost_model::plan::is_open(&t.state))
            .map(|t| &t.id)
            .collect();
        prop_assert_eq!(fates.iter().map(|(id, _)| id).collect::<Vec<_>>(), open);
        prop_assert_eq!(fates.into_iter().collect::<HashMap<_, _>>(), witness.fates);
    }
}
