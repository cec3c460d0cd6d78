//! Where the time comes from.
//!
//! Owns the only look at the system's clock, so that tests can stand in a sealed world.

use std::{fmt, time::SystemTime};

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
        let now = timestamp(SystemTime::now());
        now.round(TimestampRound::new().smallest(Unit::Millisecond))
            .unwrap_or(now)
    }
}

/// A time of the machine; one that cannot be said is as far away as can be.
fn timestamp(time: SystemTime) -> Timestamp {
    Timestamp::try_from(time).unwrap_or(match time < SystemTime::UNIX_EPOCH {
        true => Timestamp::MIN,
        false => Timestamp::MAX,
    })
}

/// Whether leases, names and numbers can be made from this time: it is of the years 1970 to 9998.
pub(crate) fn is_sound(now: Timestamp) -> bool {
    now >= Timestamp::UNIX_EPOCH && now < END
}

/// The end of 9998: a lease that begins before it ends before time does.
const END: Timestamp = Timestamp::constant(253_370_764_800, 0);

/// A clock that stands still.
impl Clock for Timestamp {
    fn now(&self) -> Timestamp {
        *self
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_that_nobody_can_follow_is_no_panic() {
        let year = Duration::from_secs(366 * 24 * 60 * 60);
        for (time, sound) in [
            (SystemTime::UNIX_EPOCH - year, false),
            (SystemTime::UNIX_EPOCH - year * 20_000, false),
            (SystemTime::UNIX_EPOCH, true),
            (SystemTime::UNIX_EPOCH + year * 50, true),
            (SystemTime::UNIX_EPOCH + year * 8_030, false),
            (SystemTime::UNIX_EPOCH + year * 20_000, false),
        ] {
            assert_eq!(is_sound(timestamp(time)), sound, "{time:?}");
        }
        assert_eq!(END.to_string(), "9999-01-01T00:00:00Z");
    }
}
