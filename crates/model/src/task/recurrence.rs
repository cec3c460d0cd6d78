//! Tasks that come again.
//!
//! Owns when the next one is due. Invariant: dates are counted from the first one, so that a task
//! of the 31st comes back to the 31st after a short month.

use jiff::{Span, Timestamp, civil::Date, tz::TimeZone};
use serde::{Deserialize, Serialize};

use super::{Effort, ImportBaseline, Provenance, State, Task};
use crate::{id::TaskId, names::names};

names!(
    /// How often a task comes again.
    Every {
        /// Each day.
        Day = "daily",
        /// Each week.
        Week = "weekly",
        /// Each month.
        Month = "monthly",
        /// Each year.
        Year = "yearly",
    }
);

/// How often, counted from when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recurrence {
    /// How often.
    pub every: Every,
    /// The first date; none where that is the due date of this very task.
    pub since: Option<Date>,
}

impl Recurrence {
    /// As often, counted from the task's own date.
    pub fn new(every: Every) -> Self {
        Self { every, since: None }
    }
}

/// The task that follows `done`, which was completed on `today`: due at the first date after both,
/// and handed out from the day after the date before it, but not again today. None where it does
/// not come again.
pub fn next(
    done: &Task,
    id: TaskId,
    today: Date,
    zone: &TimeZone,
    provenance: Provenance,
) -> Option<Task> {
    let Recurrence { every, since } = done.recurrence?;
    let last = done.due.unwrap_or(today);
    let first = since.unwrap_or(last);
    let (before, due) = around(first, every, last.max(today))?;
    Some(Task {
        id,
        state: State::Pending,
        owner: None,
        blocks: Vec::new(),
        blocked_by: Vec::new(),
        due: Some(due),
        not_before: morning_after(before.max(today), zone),
        recurrence: Some(Recurrence {
            every,
            since: Some(first),
        }),
        uid: None,
        notes: Vec::new(),
        tracked: Effort::default(),
        timer: None,
        provenance: Some(provenance),
        said: ImportBaseline::default(),
        rev: 0,
        attempts: 0,
        result: None,
        late: Vec::new(),
        ..done.clone()
    })
}

/// The last date of the row that is not after `day`, and the first that is.
fn around(first: Date, every: Every, day: Date) -> Option<(Date, Date)> {
    let apart = day.since((every.unit(), first)).ok()?;
    let passed = match every {
        Every::Day => i64::from(apart.get_days()),
        Every::Week => i64::from(apart.get_weeks()),
        Every::Month => i64::from(apart.get_months()),
        Every::Year => i64::from(apart.get_years()),
    }
    .max(0);
    // Short months make the count one too small or too large.
    let mut next = (passed.saturating_sub(1)).max(0);
    let mut before = every.after(first, next)?;
    loop {
        next += 1;
        let date = every.after(first, next)?;
        if date > day {
            return Some((before, date));
        }
        before = date;
    }
}

impl Every {
    fn unit(self) -> jiff::Unit {
        match self {
            Self::Day => jiff::Unit::Day,
            Self::Week => jiff::Unit::Week,
            Self::Month => jiff::Unit::Month,
            Self::Year => jiff::Unit::Year,
        }
    }

    /// The `n`th date after the first; none past the end of the calendar.
    fn after(self, first: Date, n: i64) -> Option<Date> {
        let span = match self {
            Self::Day => Span::new().try_days(n),
            Self::Week => Span::new().try_weeks(n),
            Self::Month => Span::new().try_months(n),
            Self::Year => Span::new().try_years(n),
        };
        first.checked_add(span.ok()?).ok()
    }
}

fn morning_after(date: Date, zone: &TimeZone) -> Option<Timestamp> {
    let morning = date.tomorrow().ok()?.to_zoned(zone.clone()).ok()?;
    Some(morning.timestamp())
}

#[cfg(test)]
mod tests;
