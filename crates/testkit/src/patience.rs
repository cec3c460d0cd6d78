//! How long a test waits for anything before it gives up.
//!
//! Owns the one deadline of all waits, in Rust and, in the same words, in `tests/faces/patience.mjs`. A test has
//! no number of its own, and none asserts how fast something was: that is a benchmark's to say.

use std::{
    fs::File,
    process::{Command, Stdio},
    sync::OnceLock,
    time::{Duration, Instant},
};

use crate::scratch::scratch;

/// Patience on a machine that does nothing else.
const IDLE: Duration = Duration::from_secs(60);
/// What an empty process and a sync take together on such a machine, with much to spare.
const USUAL: Duration = Duration::from_millis(20);
/// A machine that is slower than this many usual ones tests nothing.
const SLOWEST: f64 = 8.0;

/// A minute, times how much slower the machine was than an idle one when this process first waited.
pub fn patience() -> Duration {
    static PATIENCE: OnceLock<Duration> = OnceLock::new();
    *PATIENCE.get_or_init(|| IDLE.mul_f64(slowness(measured())))
}

fn slowness(took: Duration) -> f64 {
    (took.as_secs_f64() / USUAL.as_secs_f64()).clamp(1.0, SLOWEST)
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
        let cases = [(1, 1.0), (20, 1.0), (50, 2.5), (10_000, SLOWEST)];
        for (millis, expected) in cases {
            let slowness = slowness(Duration::from_millis(millis));
            assert!(
                (slowness - expected).abs() < 1e-9,
                "{millis} ms: {slowness}"
            );
        }
    }

    #[test]
    fn patience_is_measured_once() {
        assert_eq!(patience(), patience());
        assert!(patience() >= IDLE);
    }
}
