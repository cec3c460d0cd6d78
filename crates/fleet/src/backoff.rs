//! How long an overtaken machine waits before it tries again.
//!
//! Owns the guess how many machines change one repository at once: each try that is overtaken doubles the
//! span, each that is not halves it. Within the span chance says when, so that those who met do not meet
//! again. It knows nothing of other machines but that.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use uuid::Uuid;

/// How often the span is doubled at most: for 16 machines of which one is to try at a time.
const MOST: u32 = 4;

/// No wait is longer.
const LONGEST: Duration = Duration::from_millis(100);

/// How crowded a repository's order is, as one process meets it.
#[derive(Debug, Default)]
pub(crate) struct Backoff(AtomicU32);

impl Backoff {
    /// This process was not overtaken.
    pub(crate) fn made_way(&self) {
        self.change(|doubled| doubled.saturating_sub(1));
    }

    /// This process was overtaken, and its try took so long: how long it waits before the next one.
    pub(crate) fn pause(&self, tried: Duration) -> Duration {
        let doubled = self.change(|doubled| MOST.min(doubled + 1));
        let span = (tried * (1 << doubled)).min(LONGEST);
        // The last bytes of such an id are chance.
        span.mul_f64((Uuid::new_v4().as_u128() as u16) as f64 / f64::from(u16::MAX))
    }

    fn change(&self, to: impl Fn(u32) -> u32) -> u32 {
        // It is a guess: no other value hangs on it.
        let order = Ordering::Relaxed;
        let before = self.0.fetch_update(order, order, |it| Some(to(it)));
        before.map_or(0, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_with_the_crowd_and_shrink_with_it_and_have_an_end() {
        let tried = Duration::from_millis(1);
        let backoff = Backoff::default();
        let longest = |backoff: &Backoff| {
            let many = (0..200).map(|_| {
                let it = Backoff(AtomicU32::new(backoff.0.load(Ordering::Relaxed)));
                it.pause(tried)
            });
            many.max().unwrap_or_default()
        };
        assert!(longest(&backoff) <= 2 * tried);
        for _ in 0..20 {
            backoff.pause(tried);
        }
        assert!((8 * tried..=16 * tried).contains(&longest(&backoff)));
        assert!(backoff.pause(Duration::from_secs(9)) <= LONGEST);
        for _ in 0..20 {
            backoff.made_way();
        }
        assert!(longest(&backoff) <= 2 * tried);
    }
}
