//! Where the time comes from.
//!
//! Owns the only look at the system's clock, so that tests can stand in a sealed world.

use std::{fmt, sync::Arc, time::SystemTime};

use jiff::{SignedDuration, Timestamp, TimestampRound, Unit};

use crate::error::{Error, Result};

/// Says what time it is.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Now, in whole milliseconds: finer digits only make files harder to read.
    fn now(&self) -> Timestamp;

    /// Whether it stands still: then it is what somebody wanted, and no other clock sets it.
    fn is_stopped(&self) -> bool {
        false
    }
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

/// The clock that a text asks for: one that stands still at a time, or is so far ahead.
pub(crate) fn of(text: &str) -> Result<Arc<dyn Clock>> {
    let shift = text
        .strip_prefix('+')
        .or(text.strip_prefix('-').map(|_| text));
    if let Some(Ok(shift)) = shift.map(str::parse::<SignedDuration>) {
        return Ok(Arc::new(ShiftedClock(shift)));
    }
    let time = text.parse::<Timestamp>().map_err(|_| Error::Invalid {
        what: "FLAGPOST_CLOCK".to_owned(),
        reason: format!(
            "{text:?} is no time of the years 1970 to 9998, as in 2026-12-01T09:00:00Z, and no shift, as in -40s"
        ),
    })?;
    Ok(Arc::new(time))
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

    fn is_stopped(&self) -> bool {
        true
    }
}

/// The machine's clock, so far ahead.
#[derive(Debug, Clone, Copy)]
pub struct ShiftedClock(pub SignedDuration);

impl Clock for ShiftedClock {
    fn now(&self) -> Timestamp {
        let now = SystemClock.now();
        now.saturating_add(self.0).unwrap_or(now)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_is_set_by_a_text() {
        let time = "2026-12-01T09:00:00Z";
        let stopped = of(time).unwrap();
        assert!(stopped.is_stopped() && stopped.now().to_string() == time);
        for (text, seconds) in [("+40s", 40), ("-2m", -120)] {
            let shifted = of(text).unwrap();
            let shift = SignedDuration::from_secs(seconds);
            let (before, told, after) = (SystemClock.now(), shifted.now(), SystemClock.now());
            assert!(!shifted.is_stopped(), "{text}");
            assert!(
                (before + shift..=after + shift).contains(&told),
                "{text}: {told}"
            );
        }
        for bad in ["", "40s", "+", "noon", "2026"] {
            assert!(of(bad).is_err(), "{bad:?}");
        }
    }

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
