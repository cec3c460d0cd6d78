//! Quiet hours: the time of day at which nobody is told anything.
//!
//! Owns their spelling, `22:00-07:00`, and their end. They are of the local time, and may go past
//! midnight.

use std::{fmt, str::FromStr};

use jiff::{Timestamp, ToSpan, Zoned, civil::Time};

/// From a time of day until another, that one not included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuietHours {
    from: Time,
    until: Time,
}

/// A text that names no quiet hours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} names no quiet hours: write them as in 22:00-07:00")]
pub struct InvalidQuiet(String);

impl QuietHours {
    /// Whether it is quiet at this time of day.
    fn contains(self, time: Time) -> bool {
        match self.from < self.until {
            true => self.from <= time && time < self.until,
            false => self.from <= time || time < self.until,
        }
    }

    /// When it ends to be quiet, where it is quiet now.
    pub fn end(self, now: &Zoned) -> Option<Timestamp> {
        if !self.contains(now.time()) {
            return None;
        }
        let day = match now.time() < self.until {
            true => now.date(),
            false => now.date().checked_add(1.day()).ok()?,
        };
        let end = day
            .to_datetime(self.until)
            .to_zoned(now.time_zone().clone());
        end.ok().map(|end| end.timestamp())
    }
}

impl FromStr for QuietHours {
    type Err = InvalidQuiet;

    fn from_str(text: &str) -> Result<Self, InvalidQuiet> {
        let hours = || {
            let (from, until) = text.split_once('-')?;
            let (from, until) = (time(from)?, time(until)?);
            (from != until).then_some(Self { from, until })
        };
        hours().ok_or_else(|| InvalidQuiet(text.chars().take(80).collect()))
    }
}

/// Hours and minutes, as in `07:00`.
fn time(text: &str) -> Option<Time> {
    let (hour, minute) = text.trim().split_once(':')?;
    let number = |digits: &str| {
        let is_spelt = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_spelt.then(|| digits.parse::<i8>().ok()).flatten()
    };
    Time::new(number(hour)?, number(minute)?, 0, 0).ok()
}

impl fmt::Display for QuietHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, until } = self;
        let (h, m) = (from.hour(), from.minute());
        write!(f, "{h:02}:{m:02}-{:02}:{:02}", until.hour(), until.minute())
    }
}
