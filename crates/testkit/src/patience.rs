//! How long a test waits for anything before it gives up.
//!
//! Owns the one deadline of all waits, in Rust and, in the same words, in `tests/faces/patience.mjs`. A test has
//! no number of its own, and none asserts how fast something was: that is a benchmark's to say.

use std::{
    fs::File,
    process::{Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use crate::scratch::scratch;

/// Patience on a machine that does nothing else.
const IDLE: Duration = Duration::from_secs(60);
/// What an empty process and a sync take together on such a machine, with much to spare.
const USUAL: Duration = Duration::from_millis(20);
/// A machine that is slower than this many usual ones tests nothing.
const SLOWEST: f64 = 8.0;

/// A minute, times how much slower than an idle one the machine is, or was at an earlier wait of this process.
pub fn patience() -> Duration {
    static MEASURED: OnceLock<Duration> = OnceLock::new();
    static LONGEST: AtomicU64 = AtomicU64::new(0);
    let took = *MEASURED.get_or_init(measured);
    let now = IDLE.mul_f64(slowness(took, load_per_core()));
    let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
    let before = LONGEST.fetch_max(now, Ordering::Relaxed);
    Duration::from_millis(now.max(before))
}

/// What comes of an attempt under a time limit. An attempt says with `None` that its limit was over before
/// what is tested began, as on a slow machine: the next one has twice the time.
///
/// # Panics
/// Where it never begins in time, though the limit is longer than [`patience`].
pub fn under_a_limit<T>(first: Duration, mut attempt: impl FnMut(Duration) -> Option<T>) -> T {
    let mut limit = first;
    loop {
        if let Some(done) = attempt(limit) {
            return done;
        }
        assert!(limit < patience(), "it does not begin within {limit:?}");
        limit *= 2;
    }
}

fn slowness(took: Duration, load: f64) -> f64 {
    let took = took.as_secs_f64() / USUAL.as_secs_f64();
    took.max(load).clamp(1.0, SLOWEST)
}

/// How many processes want each core; 0 where the system does not say. A scheduler lets what is short go first:
/// an empty process alone does not tell how long a program takes that computes.
fn load_per_core() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = text.split(' ').next().and_then(|it| it.parse().ok());
    let cores = thread::available_parallelism().map_or(1, usize::from);
    load.unwrap_or(0.0) / cores as f64
}

/// The time for an empty process and a sync.
fn measured() -> Duration {
    let began = Instant::now();
    let ran = Command::new("true").stdin(Stdio::null()).status();
    assert!(
        ran.is_ok_and(|status| status.success()),
        "'true' cannot be run"
    );
    let dir = scratch();
    let file = File::create(dir.path().join("file")).expect("a file can be made");
    file.sync_all().expect("a file can be synced");
    began.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_machine_is_waited_for_longer_and_an_idle_one_as_long_as_ever() {
        let cases = [
            (1, 0.1, 1.0),
            (20, 1.0, 1.0),
            (50, 0.1, 2.5),
            (1, 7.0, 7.0),
            (10_000, 100.0, SLOWEST),
        ];
        for (millis, load, expected) in cases {
            let slowness = slowness(Duration::from_millis(millis), load);
            assert!(
                (slowness - expected).abs() < 1e-9,
                "{millis} ms, load {load}: {slowness}"
            );
        }
    }

    #[test]
    fn who_had_not_begun_in_time_has_twice_the_time() {
        let mut limits = Vec::new();
        let begun = under_a_limit(Duration::from_millis(300), |limit| {
            limits.push(limit.as_millis());
            (limits.len() == 3).then_some(limit)
        });
        assert_eq!((limits, begun.as_millis()), (vec![300, 600, 1200], 1200));
        let never = || under_a_limit(IDLE, |_| None::<()>);
        assert!(std::panic::catch_unwind(never).is_err());
    }

    #[test]
    fn patience_never_shrinks() {
        let first = patience();
        assert!(first >= IDLE);
        assert!(patience() >= first);
    }
}
