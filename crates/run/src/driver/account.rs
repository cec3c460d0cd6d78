//! The account of a run: what its progress, its log and its summary are made from.
//!
//! Owns counting and timing. It writes nothing and decides nothing.

use std::{collections::BTreeMap, time::Instant};

use flagpost_core::List;
use flagpost_disk::dialects::session::progress::verdict;
use flagpost_model::{
    ListRef, SessionId, TaskId,
    plan::{Attempt, Graph, Schedule, StrandedBecause, is_open, waves},
    session::{
        ActiveTask, CompletedTask, LogRow, NotStarted, Outcome, Progress, ProgressStatus,
        SessionSummary, TaskReport,
    },
    task::Outline,
};
use jiff::{SignedDuration, Timestamp};

use super::Options;
use crate::scheduler::{Fate, Skip};

pub(super) struct Account {
    started: Timestamp,
    max_parallel: u32,
    max_attempts: u32,
    open: usize,
    waves: usize,
    wave: Option<(u32, u32)>,
    tasks: BTreeMap<TaskId, Entry>,
    completed: Vec<CompletedTask>,
    /// Those that were begun, and that the run was ended before.
    stopped: Vec<ActiveTask>,
    rows: Vec<LogRow>,
    not_started: Vec<NotStarted>,
}

struct Entry {
    subject: String,
    began: Option<Instant>,
    report: Option<TaskReport>,
    outcome: Outcome,
}

impl Account {
    pub(super) fn new(started: Timestamp, outlines: &[Outline], options: &Options) -> Self {
        let entry = |outline: &Outline| Entry {
            subject: outline.subject.clone(),
            began: None,
            report: None,
            outcome: Outcome::Fail,
        };
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
                .map(|outline| (outline.id.clone(), entry(outline)))
                .collect(),
            completed: Vec::new(),
            stopped: Vec::new(),
            rows: Vec::new(),
            not_started: Vec::new(),
        }
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

    pub(super) fn attempted(&mut self, id: &TaskId, report: Option<TaskReport>) {
        if let Some(entry) = self.tasks.get_mut(id) {
            entry.report = report;
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
    pub(super) fn settled(&mut self, id: &TaskId, fate: &Fate, why: &str) -> Option<LogRow> {
        let (outcome, attempts) = match fate {
            Fate::Passed { attempts } => (Outcome::Pass, *attempts),
            Fate::Partial { attempts } => (Outcome::Partial, *attempts),
            Fate::Failed { attempts } => (Outcome::Fail, *attempts),
            Fate::Skipped { .. } | Fate::Interrupted { .. } => {
                let (id, subject, why) = (id.clone(), self.subject(id), why.to_owned());
                if self.tasks.get(&id).is_some_and(|it| it.began.is_some()) {
                    self.stopped.push(ActiveTask {
                        id: id.clone(),
                        subject: subject.clone(),
                        phase: "stopped".to_owned(),
                    });
                }
                self.not_started.push(NotStarted { id, subject, why });
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
            tokens: None,
        };
        self.completed.push(CompletedTask {
            id: id.clone(),
            subject: row.subject.clone(),
            result: verdict(outcome, duration),
        });
        self.rows.push(row.clone());
        Some(row)
    }

    /// Why a task was not started, in words.
    pub(super) fn skipped(&self, why: &Skip, list: &List<'_>) -> String {
        match why {
            // Left out of the run, but not out of the list.
            Skip::Stranded(StrandedBecause::Unknown { missing, .. })
                if list.task(missing).is_ok() =>
            {
                format!("waits for task {missing}, which is not part of this run")
            }
            other => other.to_string(),
        }
    }

    pub(super) fn progress(
        &self,
        active: &[(&TaskId, Attempt, Option<Timestamp>)],
        updated: Timestamp,
    ) -> Progress {
        let status = match (self.completed.is_empty(), active.is_empty()) {
            (true, true) => ProgressStatus::Initializing,
            _ => ProgressStatus::Executing,
        };
        let active = active.iter().map(|(id, attempt, stalled)| ActiveTask {
            id: (*id).clone(),
            subject: self.subject(id),
            phase: ActiveTask::phase(*attempt, *stalled),
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
        }
    }
}
