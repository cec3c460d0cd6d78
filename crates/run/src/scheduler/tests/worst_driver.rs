//! The scheduler under a driver that does its worst.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;

use super::*;

fn states() -> impl Strategy<Value = State> {
    prop_oneof![
        12 => Just(State::Pending),
        3 => Just(State::Completed),
        1 => Just(State::Stuck),
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
    fates: HashMap<TaskId, TaskOutcome>,
    finished: Option<Vec<(TaskId, TaskOutcome)>>,
    wave: Option<usize>,
    last_wave: usize,
    /// It was told that a wave holds tasks up.
    held_up: bool,
    /// It waits for room, which somebody has to make.
    stays: bool,
    /// Those that come again under the number of the attempt that they were given back from.
    again: HashSet<TaskId>,
}

impl Witness {
    fn see(&mut self, effects: Vec<Effect>, config: &RunConfig, list: &[Outline]) {
        for effect in effects {
            assert!(self.finished.is_none(), "{effect:?} after the end");
            match effect {
                Effect::Launch { task, attempt } => self.see_launch(task, attempt, config, list),
                Effect::Waits { task, on } => {
                    assert!(!self.busy.contains_key(&task) && on.task.is_none());
                }
                Effect::Stop { task, .. } => assert!(self.running.contains(&task)),
                Effect::Added { .. } | Effect::Answered { .. } => {
                    panic!("nobody changed the list")
                }
                Effect::WaveHolds { n, ready } => {
                    assert!(self.wave == Some(n) && ready > 0 && !self.held_up);
                    self.held_up = true;
                }
                Effect::Stays { asking } => {
                    assert!(asking.is_empty() && self.busy.is_empty());
                    self.stays = true;
                }
                Effect::Settled { task, fate } => {
                    let ran = self.attempts.get(&task).copied().unwrap_or(0);
                    match &fate {
                        TaskOutcome::Skipped { .. } => assert_eq!(ran, 0),
                        TaskOutcome::Passed { attempts }
                        | TaskOutcome::Stuck { attempts }
                        | TaskOutcome::Parked { attempts }
                        | TaskOutcome::Interrupted { attempts } => {
                            assert_eq!(*attempts, ran);
                        }
                        TaskOutcome::Partial { attempts } | TaskOutcome::Failed { attempts } => {
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

    fn see_launch(&mut self, task: TaskId, attempt: Attempt, config: &RunConfig, list: &[Outline]) {
        self.stays = false;
        let before = self.attempts.get(&task).copied().unwrap_or(0);
        let next = before + u32::from(!self.again.remove(&task));
        assert_eq!(attempt.number, next);
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
            let passed = self.fates.get(blocker).is_some_and(TaskOutcome::is_passed);
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
            return if self.stays {
                Event::Opened
            } else {
                Event::Begin
            };
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
                self.again.remove(&task);
                Event::CouldNotLaunch { task, because }
            }
            _ if !running => {
                let attempt = self.busy[&task];
                self.attempts.insert(task.clone(), attempt);
                self.running.insert(task.clone());
                Event::Launched { task }
            }
            n @ (13 | 14) => {
                self.busy.remove(&task);
                self.running.remove(&task);
                self.again.insert(task.clone());
                match n {
                    13 => Event::Asked { task },
                    _ => Event::Held {
                        task,
                        opens: choice & 256 != 0,
                    },
                }
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
        let config = RunConfig {
            max_parallel: NonZeroUsize::new(max_parallel).unwrap(),
            schedule: if eager { Eager } else { Waves },
            max_attempts: NonZeroU32::new(max_attempts).unwrap(),
            timeout: Some(SignedDuration::from_secs(5)),
            wait_for_answers: false,
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
            .filter(|t| flagpost_model::plan::is_open(&t.state) || t.state == State::Stuck)
            .map(|t| &t.id)
            .collect();
        prop_assert_eq!(fates.iter().map(|(id, _)| id).collect::<Vec<_>>(), open);
        prop_assert_eq!(fates.into_iter().collect::<HashMap<_, _>>(), witness.fates);
    }
}
