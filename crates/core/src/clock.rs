//! Where the time comes from.
//!
//! Owns the only look at the system's clock, so that tests can stand in a sealed world.

use std::fmt;

use jiff::{Timestamp, TimestampRound, Unit};

/// Says what time it is.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Now, in whole milliseconds: finer digits only make files harder to read.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        now.round(TimestampRound::new().smallest(Unit::Millisecond))
            .unwrap_or(now)
    }
}

/// A clock that stands still.
impl Clock for Timestamp {
    fn now(&self) -> Timestamp {
        *self
    }
}
