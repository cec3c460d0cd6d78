//! A session's `.lock`.
//!
//! ```text
//! task_execution_id: user-auth-20260205-143022
//! timestamp: 2026-02-05T14:30:22Z
//! pid: 4711
//! list: web
//! holder: flock
//! ```
//!
//! Owns the five lines; the first three are the seed's. Whether the lock stands is the model's
//! question ([`Lock::status`]). Other programs write a word for the pid, a zone other than `Z`
//! or none, and the keys `session` and `started`; all of that is read.

use flagpost_model::session::{Lock, LockTime, Pid};
use jiff::{Timestamp, civil::DateTime};

use super::line::{one_line, or, value};

const HOLDER: &str = "flock";

/// The lock's text. What is not known is left out.
pub fn render(lock: &Lock) -> String {
    let started = lock.started.map(|stamp| match stamp {
        LockTime::Zoned(at) => format!("{at:.0}"),
        LockTime::Zoneless(at) => at.to_string(),
    });
    let pid = match &lock.pid {
        Pid::Number(pid) => Some(pid.to_string()),
        Pid::Word(word) => Some(or(one_line(word), "unknown")),
        Pid::Missing => None,
    };
    let lines = [
        (
            "task_execution_id",
            lock.session.as_ref().map(ToString::to_string),
        ),
        ("timestamp", started),
        ("pid", pid),
        ("list", lock.list.as_ref().map(ToString::to_string)),
        ("holder", lock.flocked.then(|| HOLDER.to_owned())),
    ];
    lines
        .into_iter()
        .filter_map(|(key, value)| Some(format!("{key}: {}\n", value?)))
        .collect()
}

/// What a lock's text says; the first line of a key counts.
pub fn parse(text: &str) -> Lock {
    let find = |keys: &[&str]| {
        text.lines()
            .find_map(|line| keys.iter().find_map(|key| value(line, key)))
            .filter(|value| !value.is_empty())
    };
    Lock {
        session: find(&["task_execution_id", "session"]).and_then(|v| v.parse().ok()),
        started: find(&["timestamp", "started"]).and_then(stamp),
        pid: find(&["pid"]).map(pid).unwrap_or_default(),
        list: find(&["list"]).and_then(|v| v.parse().ok()),
        flocked: find(&["holder"]) == Some(HOLDER),
    }
}

fn pid(text: &str) -> Pid {
    match text.parse() {
        // 0 and what exceeds a process id name no process that could be asked for.
        Ok(number @ 1..=0x7fff_ffff) => Pid::Number(number),
        _ => Pid::Word(text.to_owned()),
    }
}

fn stamp(text: &str) -> Option<LockTime> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(LockTime::Zoned(at));
    }
    text.parse::<DateTime>().ok().map(LockTime::Zoneless)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instant(text: &str) -> Option<LockTime> {
        Some(LockTime::Zoned(text.parse().unwrap()))
    }

    #[test]
    fn our_lock_has_the_seeds_lines_first() {
        let lock = Lock::of_ours(
            "user-auth-20260205-143022".parse().unwrap(),
            "web".parse().unwrap(),
            4711,
            "2026-02-05T14:30:22.5Z".parse().unwrap(),
        );
        let text = render(&lock);
        assert_eq!(
            text,
            "task_execution_id: user-auth-20260205-143022\n\
             timestamp: 2026-02-05T14:30:22Z\n\
             pid: 4711\n\
             list: web\n\
             holder: flock\n"
        );
        assert_eq!(render(&parse(&text)), text);
    }

    #[test]
    fn trap_05_locks_of_the_wild_are_read() {
        let seed = parse(
            "task_execution_id: exec-session-20260215-212833\ntimestamp: 2026-02-15T21:28:33Z\npid: orchestrator\n",
        );
        assert_eq!(
            seed.session.unwrap().as_str(),
            "exec-session-20260215-212833"
        );
        assert_eq!(seed.started, instant("2026-02-15T21:28:33Z"));
        assert_eq!(seed.pid, Pid::Word("orchestrator".into()));
        assert!(!seed.flocked && seed.list.is_none());

        let zoned = parse("timestamp: 2026-02-15T13:28:33-08:00\r\npid: 812\r\n");
        assert_eq!(zoned.started, instant("2026-02-15T21:28:33Z"));
        assert_eq!(zoned.pid, Pid::Number(812));

        let other = parse("session: auth-1\nstarted: 2026-02-15T21:28:33\npid: active\n");
        assert_eq!(other.session.unwrap().as_str(), "auth-1");
        assert_eq!(
            other.started,
            Some(LockTime::Zoneless("2026-02-15T21:28:33".parse().unwrap()))
        );
        assert_eq!(other.pid, Pid::Word("active".into()));
    }

    #[test]
    fn what_is_no_lock_says_nothing() {
        for text in ["", "\u{feff}", "garbage", "pid:", "timestamp: soon", "\0\0"] {
            assert_eq!(parse(text), Lock::default(), "{text:?}");
        }
        assert_eq!(parse("pid: -1").pid, Pid::Word("-1".into()));
        assert_eq!(parse("pid: 0").pid, Pid::Word("0".into()));
        assert!(parse("task_execution_id: ../../evil").session.is_none());
    }
}
