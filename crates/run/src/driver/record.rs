//! The account of a run: what its progress, its log and its summary are made from.
//!
//! Owns counting and timing. It writes nothing and decides nothing.

use std::{collections::BTreeMap, time::Instant};

use flagpost_disk::dialects::session::progress::verdict;
use flagpost_model::{
    ListRef, SessionId, TaskId,
    plan::{Graph, Schedule, is_open, waves},
    session::{
        ActiveTask, Attempt, AttemptRecord, ClientActivity, CompletedTask, Denied, LogRow, Outcome,
        Progress, ProgressStatus, SessionSummary, TaskRemark, TaskReport, Usage,
    },
    task::Outline,
};
use jiff::{SignedDuration, Timestamp};

use super::Options;
use crate::scheduler::TaskOutcome;

pub(super) struct RunRecord {
    started: Timestamp,
    max_parallel: u32,
    max_attempts: u32,
    open: usize,
    waves: usize,
    wave: Option<(u32, u32)>,
    tasks: BTreeMap<TaskId, TaskRecord>,
    completed: Vec<CompletedTask>,
    /// Those that were begun, and that the run was ended before.
    stopped: Vec<ActiveTask>,
    rows: Vec<LogRow>,
    not_started: Vec<TaskRemark>,
    asking: Vec<TaskRemark>,
    cost_usd: Option<f64>,
}

struct TaskRecord {
    subject: String,
    began: Option<Instant>,
    report: Option<TaskReport>,
    outcome: Outcome,
    /// What its attempts used.
    usage: Usage,
    /// What the client of the last one refused.
    denied: Vec<Denied>,
}

impl TaskRecord {
    fn new(outline: &Outline) -> Self {
        Self {
            subject: outline.subject.clone(),
            began: None,
            report: None,
            outcome: Outcome::Fail,
            usage: Usage::default(),
            denied: Vec::new(),
        }
    }
}

impl RunRecord {
    pub(super) fn new(started: Timestamp, outlines: &[Outline], options: &Options) -> Self {
        let waves = match options.config.schedule {
            Schedule::Waves => waves(&Graph::new(outlines)).len(),
            Schedule::Eager => 0,
        };
        Self {
            started,
            max_parallel: u32::try_from(options.config.max_parallel.get()).unwrap_or(u32::MAX),
            max_attempts: options.config.max_attempts.get(),
            open: outlines
                .iter()
                .filter(|outline| is_open(&outline.state))
                .count(),
            waves,
            // Other readers take a missing wave for the first of one, and so does this.
            wave: (options.config.schedule == Schedule::Eager).then_some((1, 1)),
            tasks: outlines
                .iter()
                .map(|outline| (outline.id.clone(), TaskRecord::new(outline)))
                .collect(),
            completed: Vec::new(),
            stopped: Vec::new(),
            rows: Vec::new(),
            not_started: Vec::new(),
            asking: Vec::new(),
            cost_usd: None,
        }
    }

    /// A task came into the run.
    pub(super) fn add(&mut self, outline: &Outline) {
        self.open += 1;
        let entry = || TaskRecord::new(outline);
        self.tasks.entry(outline.id.clone()).or_insert_with(entry);
    }

    /// What all attempts cost so far in US dollars, and used in tokens; none where no client told.
    pub(super) fn spent(&self) -> (Option<f64>, Option<u64>) {
        let usages = self.tasks.values().map(|entry| entry.usage);
        let usage = usages.fold(Usage::default(), Usage::plus);
        (self.cost_usd, usage.total())
    }

    /// What the client of a task's last attempt refused.
    pub(super) fn denied(&self, id: &TaskId) -> &[Denied] {
        self.tasks.get(id).map_or(&[], |entry| &entry.denied)
    }

    pub(super) fn open(&self) -> usize {
        self.open
    }

    /// How many tasks were begun.
    pub(super) fn begun(&self) -> usize {
        let begun = self.tasks.values().filter(|entry| entry.began.is_some());
        begun.count()
    }

    pub(super) fn waves(&self) -> usize {
        self.waves
    }

    pub(super) fn wave(&mut self, n: usize, of: usize) {
        let number = |n| u32::try_from(n).unwrap_or(u32::MAX);
        self.wave = Some((number(n), number(of)));
    }

    pub(super) fn subject(&self, id: &TaskId) -> String {
        self.tasks
            .get(id)
            .map(|entry| entry.subject.clone())
            .unwrap_or_default()
    }

    /// An agent is about to start; a task's time counts from its first.
    pub(super) fn began(&mut self, id: &TaskId) {
        if let Some(entry) = self.tasks.get_mut(id) {
            entry.began.get_or_insert_with(Instant::now);
        }
    }

    /// An attempt ended, with this report, and with what its client told.
    pub(super) fn attempted(
        &mut self,
        id: &TaskId,
        report: Option<TaskReport>,
        record: Option<&AttemptRecord>,
    ) {
        if let Some(cost) = record.and_then(|record| record.cost_usd) {
            self.cost_usd = Some(self.cost_usd.unwrap_or_default() + cost);
        }
        if let Some(entry) = self.tasks.get_mut(id) {
            entry.report = report;
            if let Some(record) = record {
                entry.usage = entry.usage.plus(record.usage);
                entry.denied.clone_from(&record.denied);
            }
        }
    }

    pub(super) fn report(&self, id: &TaskId) -> Option<&TaskReport> {
        self.tasks.get(id)?.report.as_ref()
    }

    pub(super) fn outcome(&self, id: &TaskId) -> Outcome {
        self.tasks
            .get(id)
            .map_or(Outcome::Fail, |entry| entry.outcome)
    }

    /// Enters a task's end, and answers with its row in the log, if it ran.
    pub(super) fn finalize(
        &mut self,
        id: &TaskId,
        fate: &TaskOutcome,
        why: &str,
    ) -> Option<LogRow> {
        let (outcome, attempts) = match fate {
            TaskOutcome::Passed { attempts } => (Outcome::Pass, *attempts),
            TaskOutcome::Partial { attempts } => (Outcome::Partial, *attempts),
            TaskOutcome::Failed { attempts } => (Outcome::Fail, *attempts),
            TaskOutcome::Stuck { .. }
            | TaskOutcome::Parked { .. }
            | TaskOutcome::Skipped { .. }
            | TaskOutcome::Interrupted { .. } => {
                let (id, subject) = (id.clone(), self.subject(id));
                if self.tasks.get(&id).is_some_and(|it| it.began.is_some()) {
                    let phase = match fate {
                        TaskOutcome::Stuck { .. } => "asks",
                        TaskOutcome::Parked { .. } => "parked",
                        _ => "stopped",
                    };
                    self.stopped.push(ActiveTask {
                        id: id.clone(),
                        subject: subject.clone(),
                        phase: phase.to_owned(),
                    });
                }
                let words = why.to_owned();
                let remark = TaskRemark { id, subject, words };
                match fate {
                    TaskOutcome::Stuck { .. } => self.asking.push(remark),
                    _ => self.not_started.push(remark),
                }
                return None;
            }
        };
        let entry = self.tasks.get_mut(id)?;
        entry.outcome = outcome;
        let duration = entry
            .began
            .map(|began| SignedDuration::try_from(began.elapsed()).unwrap_or(SignedDuration::MAX));
        let row = LogRow {
            id: id.clone(),
            subject: entry.subject.clone(),
            outcome,
            attempt: attempts.max(1),
            of: self.max_attempts,
            duration,
            tokens: entry.usage.total(),
        };
        // One that was opened again has its last end only.
        self.not_started.retain(|it| it.id != *id);
        self.completed.retain(|it| it.id != *id);
        self.rows.retain(|it| it.id != *id);
        self.completed.push(CompletedTask {
            id: id.clone(),
            subject: row.subject.clone(),
            result: verdict(outcome, duration),
        });
        self.rows.push(row.clone());
        Some(row)
    }

    /// The tasks that passed though their client refused some of their actions.
    fn refused(&self) -> Vec<TaskRemark> {
        let passed = self
            .tasks
            .iter()
            .filter(|(_, it)| it.outcome == Outcome::Pass);
        let refused = passed.filter(|(_, it)| !it.denied.is_empty());
        refused
            .map(|(id, entry)| TaskRemark {
                id: id.clone(),
                subject: entry.subject.clone(),
                words: in_a_line(&entry.denied),
            })
            .collect()
    }

    pub(super) fn progress(
        &self,
        active: &[(&TaskId, Attempt, ClientActivity)],
        updated: Timestamp,
    ) -> Progress {
        let status = match (self.completed.is_empty(), active.is_empty()) {
            (true, true) => ProgressStatus::Initializing,
            _ => ProgressStatus::Executing,
        };
        let active = active.iter().map(|(id, attempt, activity)| ActiveTask {
            id: (*id).clone(),
            subject: self.subject(id),
            phase: ActiveTask::phase(*attempt, *activity),
        });
        Progress {
            status,
            wave: self.wave,
            max_parallel: self.max_parallel,
            updated,
            active: active.chain(self.stopped.iter().cloned()).collect(),
            completed: self.completed.clone(),
        }
    }

    pub(super) fn summary(
        &self,
        session: SessionId,
        list: ListRef,
        ended: Timestamp,
    ) -> SessionSummary {
        SessionSummary {
            session,
            list,
            started: self.started,
            ended,
            rows: self.rows.clone(),
            not_started: self.not_started.clone(),
            asking: self.asking.clone(),
            refused: self.refused(),
            cost_usd: self.cost_usd,
        }
    }
}

/// Refused actions in a line.
pub(super) fn in_a_line(denied: &[Denied]) -> String {
    let each = denied.iter().map(|it| format!("{} {}", it.tool, it.what));
    each.collect::<Vec<_>>().join("; ")
}
