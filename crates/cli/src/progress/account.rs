//! What is known of a run, from its events and from nothing else.
//!
//! Owns the state behind the screen and behind the words at the end. Pure: time is an argument.
//! Invariants: a task is in one place at a time (at work, asking, settled, or still to be done), so
//! that the parts never count more than the whole; what came from elsewhere is one harmless line
//! before it is kept.

use std::{collections::BTreeMap, time::Duration};

use flagpost_core::shell::quoted;
use flagpost_model::{
    TaskId,
    session::{Attempt, AttemptRecord, Usage},
};
use flagpost_run::events::{Awaited, ReportMeaning, RunEvent};
use jiff::Timestamp;

use super::{
    format::{denied, lasting, one_line},
    outcome::ShownOutcome,
};

/// When something is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElapsedTime {
    /// How long the run has been going on, by a clock that never jumps.
    pub elapsed: Duration,
    /// The time of day, for what lasts until another one.
    pub now: Timestamp,
}

/// A run so far.
#[derive(Debug, Clone, Default)]
pub struct RunProgress {
    /// How many tasks it has.
    pub tasks: usize,
    /// The wave that is under way, and of how many.
    pub wave: Option<(usize, usize)>,
    /// What is being worked on, oldest first.
    pub at_work: Vec<RunningTask>,
    /// The questions that nobody has answered, oldest first.
    pub asks: Vec<Ask>,
    /// What came to its end.
    pub settled: BTreeMap<TaskId, FinishedTask>,
    /// How many worktrees stay.
    pub kept: usize,
    /// The agents that are at a limit.
    pub parked: BTreeMap<String, Option<Timestamp>>,
    /// What stands in the way of the whole run.
    pub hindrance: Option<(Awaited, String)>,
    /// Nothing more is started.
    pub draining: bool,
    /// Nothing is left that could go on by itself.
    pub stays: bool,
    /// The tokens that clients told of.
    pub usage: Usage,
    /// What they said it cost.
    pub cost_usd: Option<f64>,
    /// What commands about its tasks have to name besides, where that is not the usual list.
    pub elsewhere: String,
    /// What clients refused, by the last attempt of each task.
    refused: BTreeMap<TaskId, Vec<String>>,
    /// What each task asked last and nobody has answered.
    asked: BTreeMap<TaskId, String>,
    /// How often each task was tried.
    tries: BTreeMap<TaskId, u32>,
}

/// A task that is being worked on.
#[derive(Debug, Clone)]
pub struct RunningTask {
    /// Which.
    pub task: TaskId,
    /// Its subject.
    pub subject: String,
    /// Which attempt.
    pub attempt: Attempt,
    /// When it began.
    pub began: Duration,
    /// What is to be said of it besides.
    pub note: Option<ActivityNote>,
}

/// What is to be said of a task at work.
#[derive(Debug, Clone, PartialEq)]
pub struct ActivityNote {
    /// In words.
    pub words: String,
    /// Whether it should worry somebody.
    pub worries: bool,
    /// From when on it says nothing any more.
    pub until: Option<Duration>,
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    /// Whose.
    pub task: TaskId,
    /// Its subject.
    pub subject: String,
    /// The question.
    pub question: String,
    /// Whether its worker keeps the task meanwhile.
    pub keeps: bool,
}

/// What became of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedTask {
    /// Its subject.
    pub subject: String,
    /// Its fate.
    pub fate: ShownOutcome,
    /// Why, where it did not pass.
    pub why: String,
    /// How often it was tried.
    pub tries: u32,
    /// The actions that its client refused in the last attempt.
    pub refused: Vec<String>,
}

impl Ask {
    /// Who asks what.
    pub fn what(&self) -> String {
        format!("{} {}: {}", self.task, self.subject, self.question)
    }
}

/// A client that waits for its model says so again before this has passed.
const API_WAIT: Duration = Duration::from_secs(90);

impl RunProgress {
    /// Takes in what happened. Answers whether something began to wait for a person.
    pub fn see(&mut self, event: &RunEvent, moment: ElapsedTime) -> bool {
        match event {
            RunEvent::Started { tasks, .. } => self.tasks = *tasks,
            RunEvent::TaskAdded { .. } => self.tasks += 1,
            RunEvent::WaveStarted { n, of } => self.wave = Some((*n, *of)),
            RunEvent::TaskStarted {
                task,
                subject,
                attempt,
                ..
            } => self.begin(task, subject, *attempt, moment),
            RunEvent::TaskEnded {
                task,
                attempt,
                record,
                ..
            } => {
                self.tries.insert(task.clone(), attempt.number);
                self.end(task, record.as_deref());
            }
            RunEvent::TaskSettled {
                task,
                subject,
                fate,
                why,
            } => self.finish(task, subject, fate, why),
            RunEvent::TaskAsks {
                task,
                subject,
                question,
            } => return self.ask(task, subject, question, false),
            RunEvent::TaskAnswered { task, .. } => self.answered(task),
            RunEvent::TaskSaid {
                task,
                said: ReportMeaning::Question,
                words,
                ..
            } => return self.ask(task, "", words, true),
            RunEvent::AgentParked { agent, until, .. } => {
                self.parked.insert(one_line(agent), *until);
            }
            RunEvent::AgentOpen { agent } => drop(self.parked.remove(&one_line(agent))),
            RunEvent::Waits { on, why } => {
                self.hindrance = Some((*on, one_line(why)));
                // A lock comes free by itself, a disk does not.
                return *on == Awaited::Room;
            }
            RunEvent::GoesOn => self.hindrance = None,
            // Where the last of them ends, none of them is at work any more.
            RunEvent::Worktree { kept, .. } => self.kept += usize::from(*kept),
            RunEvent::Draining => self.draining = true,
            RunEvent::Stays { .. } => return !std::mem::replace(&mut self.stays, true),
            _ => self.annotate(event, moment),
        }
        false
    }

    /// What is only to be said of a task at work.
    fn annotate(&mut self, event: &RunEvent, moment: ElapsedTime) {
        let (task, note) = match event {
            RunEvent::TaskSaid {
                task,
                said: ReportMeaning::Progress,
                words,
                ..
            } => {
                self.answered(task);
                (task, Some(ActivityNote::lasting(one_line(words))))
            }
            RunEvent::TaskRetries {
                task, attempt, of, ..
            } => {
                let of = of.map(|of| format!(" of {of}")).unwrap_or_default();
                let words = format!("waiting for the API, {attempt}{of}");
                let until = Some(moment.elapsed + API_WAIT);
                let note = ActivityNote::worry(words);
                (task, Some(ActivityNote { until, ..note }))
            }
            RunEvent::TaskStalled { task, since, .. } => {
                let silent = moment.now.duration_since(*since).unsigned_abs();
                let words = format!("no sign of work for {}", lasting(silent));
                (task, Some(ActivityNote::worry(words)))
            }
            RunEvent::TaskStopping { task, why } => (
                task,
                Some(ActivityNote::worry(format!("is stopped: {why}"))),
            ),
            RunEvent::TaskUnreported { task, .. } => {
                let words = "it ended without a report and is asked how".to_owned();
                (task, Some(ActivityNote::worry(words)))
            }
            RunEvent::TaskResumed { task, .. } => (task, None),
            _ => return,
        };
        if let Some(work) = self.at_work.iter_mut().find(|work| work.task == *task) {
            work.note = note;
        }
    }

    fn begin(&mut self, task: &TaskId, subject: &str, attempt: Attempt, moment: ElapsedTime) {
        self.leave(task);
        self.stays = false;
        self.tries.insert(task.clone(), attempt.number);
        self.at_work.push(RunningTask {
            task: task.clone(),
            subject: one_line(subject),
            attempt,
            began: moment.elapsed,
            note: None,
        });
    }

    fn end(&mut self, task: &TaskId, record: Option<&AttemptRecord>) {
        self.at_work.retain(|work| work.task != *task);
        // Who asked and went away waits for nothing.
        self.asks.retain(|ask| ask.task != *task || !ask.keeps);
        let Some(record) = record else {
            return;
        };
        self.usage = self.usage.plus(record.usage);
        if let Some(cost) = record.cost_usd {
            self.cost_usd = Some(self.cost_usd.unwrap_or_default() + cost);
        }
        let refused = denied(Some(record));
        self.refused.insert(task.clone(), refused);
    }

    fn finish(&mut self, task: &TaskId, subject: &str, fate: &str, why: &str) {
        let fate = ShownOutcome::of(fate);
        let asks = self.asks.iter().find(|ask| ask.task == *task).cloned();
        self.leave(task);
        // It waits for its answer beyond the end of the run.
        if fate == ShownOutcome::Stuck {
            let question = Ask {
                task: task.clone(),
                subject: one_line(subject),
                question: one_line(why),
                keeps: false,
            };
            self.asks.push(asks.unwrap_or(question));
        }
        let settled = FinishedTask {
            subject: one_line(subject),
            fate,
            why: why.to_owned(),
            tries: self.tries.get(task).copied().unwrap_or_default(),
            refused: self.refused.get(task).cloned().unwrap_or_default(),
        };
        self.settled.insert(task.clone(), settled);
    }

    /// Answers whether it is a new question.
    fn ask(&mut self, task: &TaskId, subject: &str, question: &str, keeps: bool) -> bool {
        let at_work = self.at_work.iter().find(|work| work.task == *task);
        let subject = match (subject, at_work) {
            ("", Some(work)) => work.subject.clone(),
            (subject, _) => one_line(subject),
        };
        let ask = Ask {
            task: task.clone(),
            subject,
            question: one_line(question),
            keeps,
        };
        if !keeps {
            self.at_work.retain(|work| work.task != *task);
        }
        if self.asks.contains(&ask) {
            return false;
        }
        self.asks.retain(|other| other.task != *task);
        // A process may ask by a message first, and then by its end.
        let before = self.asked.insert(task.clone(), ask.question.clone());
        let is_new = before.as_ref() != Some(&ask.question);
        self.asks.push(ask);
        is_new
    }

    fn answered(&mut self, task: &TaskId) {
        self.asked.remove(task);
        self.asks.retain(|ask| ask.task != *task);
        if self.settled.get(task).is_some_and(|it| it.fate.may_go_on()) {
            self.settled.remove(task);
        }
        self.stays = false;
    }

    /// The task is not where it was.
    fn leave(&mut self, task: &TaskId) {
        self.at_work.retain(|work| work.task != *task);
        self.asks.retain(|ask| ask.task != *task);
        self.settled.remove(task);
    }

    /// The account of a run of the list that was named, if one was.
    pub fn of_list(list: Option<&str>) -> Self {
        let elsewhere = list.map(|list| format!(" --list {}", quoted(list)));
        Self {
            elsewhere: elsewhere.unwrap_or_default(),
            ..Self::default()
        }
    }

    /// The command that answers a task's question.
    pub fn answers(&self, task: &TaskId) -> String {
        format!("flagpost answer {task}{} 'WORDS'", self.elsewhere)
    }

    /// The command that shows what a task's agents said.
    pub fn logs(&self, task: &TaskId) -> String {
        format!("flagpost logs {task}{}", self.elsewhere)
    }

    /// How many tasks came to this end.
    pub fn count(&self, wanted: impl Fn(ShownOutcome) -> bool) -> usize {
        self.settled.values().filter(|it| wanted(it.fate)).count()
    }

    /// Whether a task was begun in this run.
    pub fn was_tried(&self, task: &TaskId) -> bool {
        self.tries.contains_key(task)
    }

    /// The parts that the tasks fall into. Together they are never more than the whole.
    pub fn parts(&self) -> Parts {
        let asking = |task: &TaskId| self.asks.iter().any(|ask| ask.task == *task);
        let open_asks = self
            .asks
            .iter()
            .filter(|ask| !self.at_work.iter().any(|work| work.task == ask.task));
        let mut parts = Parts {
            asking: open_asks.count(),
            running: self.at_work.len(),
            ..Parts::default()
        };
        for (task, settled) in &self.settled {
            match settled.fate {
                _ if asking(task) => {}
                ShownOutcome::Passed => parts.passed += 1,
                ShownOutcome::Partial | ShownOutcome::Failed => parts.failed += 1,
                ShownOutcome::Skipped => parts.skipped += 1,
                ShownOutcome::Stuck => parts.asking += 1,
                ShownOutcome::Parked | ShownOutcome::Waits | ShownOutcome::Interrupted => {}
            }
        }
        let told = parts.passed + parts.failed + parts.skipped + parts.asking + parts.running;
        parts.all = self.tasks.max(told);
        parts
    }
}

/// How many tasks are where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Parts {
    /// All of them.
    pub all: usize,
    /// Done.
    pub passed: usize,
    /// Tried, and not done or not wholly.
    pub failed: usize,
    /// Will not be tried.
    pub skipped: usize,
    /// Wait for an answer.
    pub asking: usize,
    /// At work.
    pub running: usize,
}

impl Parts {
    /// Those that are still to be begun.
    pub fn open(&self) -> usize {
        self.all - self.passed - self.failed - self.skipped - self.asking - self.running
    }
}

impl ActivityNote {
    fn lasting(words: String) -> Self {
        Self {
            words,
            worries: false,
            until: None,
        }
    }

    fn worry(words: String) -> Self {
        Self {
            worries: true,
            ..Self::lasting(words)
        }
    }

    /// Whether it still says something.
    pub fn is_current(&self, moment: ElapsedTime) -> bool {
        self.until.is_none_or(|until| moment.elapsed < until)
    }
}
