//! When the attempts of a session ran.
//!
//! Owns putting what was seen into rows and bands. Invariants: every attempt is there once and in
//! the row of its task, rows in the order in which tasks began; nothing ends before it begins. An
//! attempt whose end nobody recorded runs on in a session that lives, and was cut off in others.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};

use super::Outcome;
use crate::id::TaskId;

/// Something that a session recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineEvent {
    /// When.
    pub at: Timestamp,
    /// What.
    pub what: Happened,
}

/// What of a session makes its timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happened {
    /// A wave began.
    Wave {
        /// Which.
        n: u32,
        /// Of how many.
        of: u32,
    },
    /// An attempt began.
    Began {
        /// At which task.
        task: TaskId,
        /// Its one line.
        subject: String,
        /// Which attempt.
        attempt: u32,
    },
    /// An attempt ended.
    Ended {
        /// At which task.
        task: TaskId,
        /// Its one line.
        subject: String,
        /// Which attempt.
        attempt: u32,
        /// How.
        end: BarEnd,
        /// How long it took.
        took: SignedDuration,
    },
    /// Anything else: the session was there.
    Other,
}

/// When a session's attempts ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline {
    /// The session, as it is called.
    pub session: String,
    /// When it began.
    pub began: Timestamp,
    /// When it ended, or until when it was seen.
    pub ended: Timestamp,
    /// Whether it goes on.
    pub is_live: bool,
    /// Its waves.
    pub waves: Vec<Band>,
    /// Its tasks.
    pub rows: Vec<TimelineRow>,
}

/// A wave in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Band {
    /// Which wave.
    pub n: u32,
    /// Of how many.
    pub of: u32,
    /// When it began.
    pub from: Timestamp,
    /// When the next began, or the session ended.
    pub to: Timestamp,
}

/// A task in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineRow {
    /// The task.
    pub task: TaskId,
    /// Its one line.
    pub subject: String,
    /// Its attempts.
    pub bars: Vec<Bar>,
}

/// An attempt in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bar {
    /// Which attempt, from 1.
    pub attempt: u32,
    /// When it began.
    pub from: Timestamp,
    /// When it ended, or until when it was seen.
    pub to: Timestamp,
    /// How it ended.
    pub end: BarEnd,
}

crate::names::names!(
    /// How an attempt ended, as far as anybody knows.
    BarEnd {
        /// All is done.
        Passed = "passed",
        /// Something is missing.
        Partial = "partial",
        /// It is not done.
        Failed = "failed",
        /// It asks a person.
        Asks = "asks",
        /// Its account is at a limit.
        Parked = "parked",
        /// The operator stopped it.
        Stopped = "stopped",
        /// It has not ended.
        Running = "running",
        /// The session ended first.
        CutOff = "cut_off",
    }
);

impl From<Outcome> for BarEnd {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Pass => Self::Passed,
            Outcome::Partial => Self::Partial,
            Outcome::Fail => Self::Failed,
        }
    }
}

impl Timeline {
    /// The timeline of what was recorded, in the order of the record; none where nothing was. A
    /// session that lives goes on until `now`.
    pub fn new(session: &str, moments: &[TimelineEvent], now: Option<Timestamp>) -> Option<Self> {
        let first = moments.first()?.at;
        let latest = moments.iter().map(|moment| moment.at).chain(now).max()?;
        let mut timeline = Self {
            session: session.to_owned(),
            began: first,
            ended: latest,
            is_live: now.is_some(),
            waves: Vec::new(),
            rows: Vec::new(),
        };
        let mut rows = HashMap::new();
        for TimelineEvent { at, what } in moments {
            match what {
                Happened::Other => {}
                Happened::Wave { n, of } => timeline.wave(*at, *n, *of),
                Happened::Began {
                    task,
                    subject,
                    attempt,
                } => {
                    let open = if now.is_some() {
                        BarEnd::Running
                    } else {
                        BarEnd::CutOff
                    };
                    let bar = Bar {
                        attempt: *attempt,
                        from: *at,
                        to: latest.max(*at),
                        end: open,
                    };
                    timeline.row(&mut rows, task, subject).bars.push(bar);
                }
                Happened::Ended {
                    task,
                    subject,
                    attempt,
                    end,
                    took,
                } => {
                    let row = timeline.row(&mut rows, task, subject);
                    let is_open = |bar: &&mut Bar| {
                        bar.attempt == *attempt
                            && matches!(bar.end, BarEnd::Running | BarEnd::CutOff)
                    };
                    let bar = row.bars.iter_mut().rev().find(is_open);
                    let from = match bar {
                        Some(bar) => {
                            bar.to = bar.from.max(*at);
                            bar.end = *end;
                            continue;
                        }
                        // The line that told of its beginning is lost.
                        None => at.checked_sub(*took).unwrap_or(*at).min(*at),
                    };
                    row.bars.push(Bar {
                        attempt: *attempt,
                        from,
                        to: *at,
                        end: *end,
                    });
                }
            }
        }
        let bars = timeline.rows.iter().flat_map(|row| &row.bars);
        timeline.began = bars.map(|bar| bar.from).chain([first]).min()?;
        Some(timeline)
    }

    fn wave(&mut self, at: Timestamp, n: u32, of: u32) {
        if let Some(last) = self.waves.last_mut() {
            last.to = last.from.max(at);
        }
        let to = self.ended.max(at);
        self.waves.push(Band {
            n,
            of,
            from: at,
            to,
        });
    }

    fn row<'m>(
        &mut self,
        rows: &mut HashMap<&'m TaskId, usize>,
        task: &'m TaskId,
        subject: &str,
    ) -> &mut TimelineRow {
        let at = *rows.entry(task).or_insert_with(|| {
            self.rows.push(TimelineRow {
                task: task.clone(),
                subject: subject.to_owned(),
                bars: Vec::new(),
            });
            self.rows.len() - 1
        });
        &mut self.rows[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn began(second: i64, task: u64, attempt: u32) -> TimelineEvent {
        let what = Happened::Began {
            task: task.into(),
            subject: "s".into(),
            attempt,
        };
        TimelineEvent {
            at: at(second),
            what,
        }
    }

    fn ended(second: i64, task: u64, attempt: u32, outcome: Outcome) -> TimelineEvent {
        let took = SignedDuration::from_secs(5);
        let what = Happened::Ended {
            task: task.into(),
            subject: "s".into(),
            attempt,
            end: outcome.into(),
            took,
        };
        TimelineEvent {
            at: at(second),
            what,
        }
    }

    fn bars(timeline: &Timeline) -> Vec<(u64, u32, i64, i64, BarEnd)> {
        let bar = |row: &TimelineRow, bar: &Bar| {
            let (from, to) = (bar.from.as_second(), bar.to.as_second());
            (row.task.number().unwrap(), bar.attempt, from, to, bar.end)
        };
        let rows = timeline.rows.iter();
        rows.flat_map(|row| row.bars.iter().map(move |it| bar(row, it)))
            .collect()
    }

    fn timeline(moments: &[TimelineEvent], now: Option<i64>) -> Timeline {
        Timeline::new("s-1", moments, now.map(at)).unwrap()
    }

    #[test]
    fn attempts_stand_in_the_rows_of_their_tasks() {
        let wave = |second, n| TimelineEvent {
            at: at(second),
            what: Happened::Wave { n, of: 2 },
        };
        let told = [
            wave(1, 1),
            began(1, 7, 1),
            began(2, 3, 1),
            ended(4, 7, 1, Outcome::Fail),
            began(5, 7, 2),
            ended(9, 3, 1, Outcome::Pass),
            wave(9, 2),
            ended(10, 7, 2, Outcome::Partial),
        ];
        let drawn = timeline(&told, None);
        assert_eq!(
            bars(&drawn),
            [
                (7, 1, 1, 4, BarEnd::Failed),
                (7, 2, 5, 10, BarEnd::Partial),
                (3, 1, 2, 9, BarEnd::Passed)
            ]
        );
        let waves: Vec<_> = drawn
            .waves
            .iter()
            .map(|w| (w.n, w.from.as_second(), w.to.as_second()))
            .collect();
        assert_eq!(waves, [(1, 1, 9), (2, 9, 10)]);
    }

    #[test]
    fn what_has_no_end_runs_or_was_cut_off() {
        let told = [began(1, 1, 1), ended(3, 2, 1, Outcome::Pass)];
        assert_eq!(
            bars(&timeline(&told, Some(8)))[0],
            (1, 1, 1, 8, BarEnd::Running)
        );
        let drawn = timeline(&told, None);
        assert_eq!(bars(&drawn)[0], (1, 1, 1, 3, BarEnd::CutOff));
        // Of one whose beginning was lost, how long it took is known.
        assert_eq!(bars(&drawn)[1], (2, 1, -2, 3, BarEnd::Passed));
        assert_eq!(drawn.began, at(-2));
    }

    #[test]
    fn a_clock_that_jumps_back_turns_nothing_around() {
        let told = [
            began(10, 1, 1),
            ended(4, 1, 1, Outcome::Pass),
            began(3, 2, 1),
        ];
        let drawn = timeline(&told, None);
        assert!(bars(&drawn).iter().all(|(_, _, from, to, _)| from <= to));
        assert!(drawn.began <= at(3) && drawn.ended >= at(10));
        assert_eq!(Timeline::new("s", &[], None), None);
    }
}
