//! How much work a task is, and the clock that measures it.
//!
//! Owns the length of work and the timer: who measures, since when. Invariant: a timer that stops
//! adds what it measured; a clock that jumped back adds nothing and takes nothing away.

use std::{fmt, str::FromStr};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Refusal;
use super::{State, Task};
use crate::id::WorkerId;

/// A length of work, in whole seconds.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Effort(u64);

/// A text that is no length of work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no length of work: use 90m, 2h, 1h30m, 1d (8 hours) or 1w (5 days)")]
pub struct InvalidEffort(String);

impl Effort {
    /// The longest one that is taken: a hundred years, so that sums never overflow.
    pub const MAX: Self = Self(100 * 365 * 86_400);

    /// So many seconds.
    pub fn from_seconds(seconds: u64) -> Self {
        Self(seconds).min(Self::MAX)
    }

    /// So many minutes.
    pub fn from_minutes(minutes: u64) -> Self {
        Self::from_seconds(minutes.saturating_mul(60))
    }

    /// In seconds.
    pub fn seconds(self) -> u64 {
        self.0
    }

    /// In whole minutes, the last one counted from its half.
    pub fn minutes(self) -> u64 {
        (self.0 + 30) / 60
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self::from_seconds(self.0 + other.0)
    }
}

/// `1h 30m`, `45m`, `20s`.
impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let minutes = self.0 / 60;
        match (minutes / 60, minutes % 60) {
            (0, 0) => write!(f, "{}s", self.0),
            (0, minutes) => write!(f, "{minutes}m"),
            (hours, 0) => write!(f, "{hours}h"),
            (hours, minutes) => write!(f, "{hours}h {minutes}m"),
        }
    }
}

/// The minutes of each unit, the longest first. Days and weeks are working days and weeks.
const UNITS: [(char, u64); 4] = [('w', 5 * 8 * 60), ('d', 8 * 60), ('h', 60), ('m', 1)];

/// Whole minutes: `90`, `90m`, `2h`, `1h30m`, `1h 30`, `1d`, `1w 2d`.
impl FromStr for Effort {
    type Err = InvalidEffort;

    fn from_str(text: &str) -> Result<Self, InvalidEffort> {
        minutes(text)
            .filter(|minutes| *minutes <= Self::MAX.minutes())
            .map(Self::from_minutes)
            .ok_or_else(|| InvalidEffort(text.to_owned()))
    }
}

/// Numbers with units that get smaller; minutes need none, by themselves or behind hours.
fn minutes(text: &str) -> Option<u64> {
    let mut sum: u64 = 0;
    let mut rest = text.trim();
    let mut units = UNITS.as_slice();
    loop {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (count, behind) = rest.split_at(digits);
        let behind = behind.trim_start();
        let unit = behind.chars().next().map(|c| c.to_ascii_lowercase());
        let is_bare = unit.is_none() && matches!(units.len(), 1 | 4);
        let at = units.iter().position(|(name, _)| unit == Some(*name));
        let at = at.or_else(|| is_bare.then(|| units.len() - 1))?;
        sum = sum.checked_add(number(count)?.checked_mul(units[at].1)?)?;
        units = &units[at + 1..];
        rest = behind.get(1..).unwrap_or_default().trim_start();
        if rest.is_empty() {
            return Some(sum);
        }
    }
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// A running clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Timer {
    /// Who measures.
    pub by: WorkerId,
    /// Since when.
    pub since: Timestamp,
}

impl Timer {
    /// What it shows.
    pub fn elapsed(&self, now: Timestamp) -> Effort {
        let seconds = now.duration_since(self.since).as_secs();
        Effort::from_seconds(u64::try_from(seconds).unwrap_or_default())
    }
}

impl Task {
    /// What was measured so far, a running timer included.
    pub fn effort(&self, now: Timestamp) -> Effort {
        let running = self.timer.as_ref().map(|timer| timer.elapsed(now));
        self.tracked.plus(running.unwrap_or_default())
    }

    /// The task with its timer stopped, whoever's it is.
    #[must_use]
    pub fn timed(&self, now: Timestamp) -> Self {
        Self {
            tracked: self.effort(now),
            timer: None,
            ..self.clone()
        }
    }
}

/// The task with a timer of `actor` running.
pub fn start_timer(task: &Task, actor: &WorkerId, now: Timestamp) -> Result<Task, Refusal> {
    if let Some(timer) = &task.timer {
        return Err(running(task, timer));
    }
    if matches!(task.state, State::Completed | State::Cancelled) {
        return Err(Refusal::WrongState {
            task: task.id.clone(),
            state: task.state.name(),
            wanted: "timed",
        });
    }
    let timer = Timer {
        by: actor.clone(),
        since: now,
    };
    Ok(Task {
        timer: Some(timer),
        ..task.clone()
    })
}

/// The task with `actor`'s own timer stopped and counted.
pub fn stop_timer(task: &Task, actor: &WorkerId, now: Timestamp) -> Result<Task, Refusal> {
    match &task.timer {
        Some(timer) if timer.by == *actor => Ok(task.timed(now)),
        Some(timer) => Err(running(task, timer)),
        None => Err(Refusal::NoTimer {
            task: task.id.clone(),
        }),
    }
}

fn running(task: &Task, timer: &Timer) -> Refusal {
    Refusal::TimerRuns {
        task: task.id.clone(),
        by: timer.by.clone(),
        since: timer.since,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::TaskId;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn who(name: &str) -> WorkerId {
        name.parse().unwrap()
    }

    #[test]
    fn a_length_of_work_reads_as_people_write_it() {
        for (text, minutes, shown) in [
            ("90", 90, "1h 30m"),
            ("90m", 90, "1h 30m"),
            ("2h", 120, "2h"),
            ("1h30m", 90, "1h 30m"),
            (" 1h 30 ", 90, "1h 30m"),
            ("0", 0, "0s"),
            ("1 h 30 m", 90, "1h 30m"),
            ("1d", 480, "8h"),
            ("1w", 2_400, "40h"),
            ("1W 2d4h5", 3_605, "60h 5m"),
            ("2d30m", 990, "16h 30m"),
        ] {
            let effort: Effort = text.parse().unwrap();
            assert_eq!(
                (effort.minutes(), effort.to_string()),
                (minutes, shown.into())
            );
        }
        for text in [
            "",
            "h",
            "-5",
            "1.5h",
            "5s",
            "1h-3m",
            "99999999999999999999",
            "d",
            "1h1h",
            "1h2d",
            "1d30",
            "1w 2",
            "30m2",
            "1é",
            "99999999999999999w",
            "+5",
        ] {
            assert!(text.parse::<Effort>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn what_a_timer_measured_is_added_when_it_stops() {
        let task = Task::new(TaskId::from(1), "x");
        let running = start_timer(&task, &who("W1"), at("2026-05-13T14:00:00Z")).unwrap();
        let later = at("2026-05-13T14:25:30Z");
        assert_eq!(running.effort(later), Effort::from_seconds(1530));
        let stopped = stop_timer(&running, &who("W1"), later).unwrap();
        assert_eq!(
            (stopped.tracked.minutes(), stopped.timer.clone()),
            (26, None)
        );
        let again = start_timer(&stopped, &who("W2"), later).unwrap();
        assert_eq!(
            again.timed(at("2026-05-13T14:00:00Z")).tracked,
            stopped.tracked
        );
    }

    #[test]
    fn only_its_owner_stops_a_timer_and_nobody_starts_a_second() {
        let now = at("2026-05-13T14:00:00Z");
        let task = Task::new(TaskId::from(1), "x");
        assert!(matches!(
            stop_timer(&task, &who("W1"), now),
            Err(Refusal::NoTimer { .. })
        ));
        let running = start_timer(&task, &who("W1"), now).unwrap();
        for refused in [
            start_timer(&running, &who("W1"), now),
            start_timer(&running, &who("W2"), now),
            stop_timer(&running, &who("W2"), now),
        ] {
            assert!(matches!(refused, Err(Refusal::TimerRuns { .. })));
        }
        let done = Task {
            state: State::Completed,
            ..task
        };
        assert!(matches!(
            start_timer(&done, &who("W1"), now),
            Err(Refusal::WrongState { .. })
        ));
    }
}
