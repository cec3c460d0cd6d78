//! The values that a query compares with.
//!
//! Owns how each is typed and spelled. Words that depend on the reader, such as `me` and `today`,
//! stay words: a saved query means another day tomorrow.

use jiff::{ToSpan, civil::Date};

use super::spelling;
use crate::{
    id::{TaskId, WorkerId},
    names::{Named, names},
    task::Effort,
};

/// Something that can stand after an operator.
pub trait QueryValue: Sized {
    /// The value that was typed, in quotes or not.
    fn read(text: &str, quoted: bool) -> Option<Self>;

    /// As it is typed.
    fn spell(&self) -> String;

    /// The words it can be.
    fn words() -> Vec<&'static str> {
        Vec::new()
    }

    /// What else it can be, for a person.
    const LIKE: Option<&str>;
}

impl<T: Named> QueryValue for T {
    fn read(text: &str, _: bool) -> Option<Self> {
        text.parse().ok()
    }

    fn spell(&self) -> String {
        self.to_string()
    }

    fn words() -> Vec<&'static str> {
        Self::ALL.iter().map(|it| it.as_str()).collect()
    }

    const LIKE: Option<&str> = None;
}

impl QueryValue for String {
    fn read(text: &str, _: bool) -> Option<Self> {
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn spell(&self) -> String {
        spelling::word(self)
    }

    const LIKE: Option<&str> = Some("a text that is not empty");
}

/// A value, or none at all.
impl<T: QueryValue> QueryValue for Option<T> {
    fn read(text: &str, quoted: bool) -> Option<Self> {
        match text {
            "none" if !quoted => Some(None),
            _ => T::read(text, quoted).map(Some),
        }
    }

    fn spell(&self) -> String {
        match self.as_ref().map(T::spell) {
            None => "none".to_owned(),
            Some(text) if text == "none" => spelling::quoted(&text),
            Some(text) => text,
        }
    }

    fn words() -> Vec<&'static str> {
        let mut words = T::words();
        words.push("none");
        words
    }

    const LIKE: Option<&str> = T::LIKE;
}

impl QueryValue for u32 {
    fn read(text: &str, _: bool) -> Option<Self> {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse().ok()).flatten()
    }

    fn spell(&self) -> String {
        self.to_string()
    }

    const LIKE: Option<&str> = Some("a number");
}

impl QueryValue for TaskId {
    fn read(text: &str, _: bool) -> Option<Self> {
        text.parse().ok()
    }

    fn spell(&self) -> String {
        spelling::word(self.as_str())
    }

    const LIKE: Option<&str> = Some("a task's id");
}

impl QueryValue for Effort {
    fn read(text: &str, _: bool) -> Option<Self> {
        text.parse().ok()
    }

    fn spell(&self) -> String {
        format!("{}m", self.minutes())
    }

    const LIKE: Option<&str> = Some("a length of work, as in 90m, 2h or 1h30m");
}

/// Whose a task is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// Nobody's.
    Nobody,
    /// The reader's.
    Me,
    /// That one's.
    Named(String),
}

impl Who {
    pub(super) fn is(&self, owner: Option<&str>, me: Option<&WorkerId>) -> bool {
        match self {
            Self::Nobody => owner.is_none(),
            Self::Me => me.is_some() && owner == me.map(WorkerId::as_str),
            Self::Named(name) => owner == Some(name),
        }
    }
}

impl QueryValue for Who {
    fn read(text: &str, quoted: bool) -> Option<Self> {
        match text {
            "" => None,
            "none" if !quoted => Some(Self::Nobody),
            "me" if !quoted => Some(Self::Me),
            _ => Some(Self::Named(text.to_owned())),
        }
    }

    fn spell(&self) -> String {
        match self {
            Self::Nobody => "none".to_owned(),
            Self::Me => "me".to_owned(),
            Self::Named(name) if matches!(name.as_str(), "none" | "me") => spelling::quoted(name),
            Self::Named(name) => spelling::word(name),
        }
    }

    fn words() -> Vec<&'static str> {
        vec!["me", "none"]
    }

    const LIKE: Option<&str> = Some("a name");
}

names!(
    /// A day that moves with the reader's.
    Near {
        /// The one before.
        Yesterday = "yesterday",
        /// This one.
        Today = "today",
        /// The next one.
        Tomorrow = "tomorrow",
    }
);

/// A day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Day {
    /// Counted from the reader's.
    Near(Near),
    /// That one.
    On(Date),
}

impl Day {
    pub(super) fn date(self, today: Date) -> Date {
        match self {
            Self::Near(Near::Yesterday) => today.yesterday().unwrap_or(today),
            Self::Near(Near::Today) => today,
            Self::Near(Near::Tomorrow) => today.tomorrow().unwrap_or(today),
            Self::On(date) => date,
        }
    }
}

impl QueryValue for Day {
    fn read(text: &str, _: bool) -> Option<Self> {
        let near = text.parse().map(Self::Near).ok();
        near.or_else(|| plain_date(text).map(Self::On))
    }

    fn spell(&self) -> String {
        match self {
            Self::Near(near) => near.to_string(),
            Self::On(date) => spelling::word(&date.to_string()),
        }
    }

    fn words() -> Vec<&'static str> {
        Near::words()
    }

    const LIKE: Option<&str> = Some("a date that exists, as in 2026-12-01");
}

/// The date that a text is, as in `2026-12-01`. A longer text, such as a time, is none: jiff reads more
/// spellings than a file should hold.
pub fn plain_date(text: &str) -> Option<Date> {
    let date: Date = text.parse().ok()?;
    (date.to_string() == text).then_some(date)
}

/// When a task is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DueOn {
    /// Never.
    Never,
    /// Before today, and it is still open.
    Overdue,
    /// Within the seven days from today on.
    Week,
    /// On that day.
    On(Day),
}

impl QueryValue for DueOn {
    fn read(text: &str, quoted: bool) -> Option<Self> {
        match text {
            "none" => Some(Self::Never),
            "overdue" => Some(Self::Overdue),
            "week" => Some(Self::Week),
            _ => Day::read(text, quoted).map(Self::On),
        }
    }

    fn spell(&self) -> String {
        match self {
            Self::Never => "none".to_owned(),
            Self::Overdue => "overdue".to_owned(),
            Self::Week => "week".to_owned(),
            Self::On(day) => day.spell(),
        }
    }

    fn words() -> Vec<&'static str> {
        [Day::words(), vec!["week", "overdue", "none"]].concat()
    }

    const LIKE: Option<&str> = Day::LIKE;
}

/// When something happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Not yet, or nobody knows.
    Never,
    /// Within the seven days up to today.
    Week,
    /// On that day.
    On(Day),
}

impl QueryValue for When {
    fn read(text: &str, quoted: bool) -> Option<Self> {
        match text {
            "none" => Some(Self::Never),
            "week" => Some(Self::Week),
            _ => Day::read(text, quoted).map(Self::On),
        }
    }

    fn spell(&self) -> String {
        match self {
            Self::Never => "none".to_owned(),
            Self::Week => "week".to_owned(),
            Self::On(day) => day.spell(),
        }
    }

    fn words() -> Vec<&'static str> {
        [Day::words(), vec!["week", "none"]].concat()
    }

    const LIKE: Option<&str> = Day::LIKE;
}

/// Whether a day is among the seven from today on.
pub fn in_week_ahead(day: Date, today: Date) -> bool {
    day >= today && today.checked_add(7.days()).is_ok_and(|end| day < end)
}

/// Whether a day is among the seven up to today.
pub fn in_week_behind(day: Date, today: Date) -> bool {
    day <= today && today.checked_sub(7.days()).is_ok_and(|end| day > end)
}
