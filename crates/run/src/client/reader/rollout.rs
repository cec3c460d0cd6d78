//! What Codex keeps of a thread: `$CODEX_HOME/sessions/Y/M/D/rollout-*-{thread}.jsonl`.
//!
//! Owns finding a thread's file and reading the newest counts from its end. The files are Codex's and
//! are only read. What cannot be found or read is unknown.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use flagpost_model::session::Usage;
use jiff::Timestamp;
use serde_json::Value;

use super::{codex, json};
use crate::client::Limit;

/// So much of a file's end is read.
const TAIL: u64 = 4 << 20;

/// How an account stood with its limits when a thread was told of them last. A limit that is reached is
/// told with the latest reset among the full windows.
pub fn codex_rollout_limits(codex_home: &Path, thread: &str) -> Option<Limit> {
    newest(codex_home, thread, |counts| limit(&counts["rate_limits"]))
}

/// What a thread has used in all: before it is resumed, or where its process was ended before it told.
pub fn codex_rollout_usage(codex_home: &Path, thread: &str) -> Option<Usage> {
    newest(codex_home, thread, |counts| {
        let usage = codex::usage(counts["info"].get("total_token_usage")?);
        (!usage.is_unknown()).then_some(usage)
    })
}

/// The newest counts of a thread that have what is looked for.
fn newest<T>(codex_home: &Path, thread: &str, look: impl Fn(&Value) -> Option<T>) -> Option<T> {
    let path = find(codex_home, thread)?;
    let tail = tail(&path).ok()?;
    let mut lines = tail.rsplit(|byte| *byte == b'\n');
    lines.find_map(|line| {
        let marked = json::is_object(line) && holds(line, br#""token_count""#);
        let event = marked.then(|| json::value(line)).flatten()?;
        let payload = &event["payload"];
        let counts = json::text(payload, "type") == Some("token_count");
        counts.then(|| look(payload)).flatten()
    })
}

fn holds(line: &[u8], mark: &[u8]) -> bool {
    line.windows(mark.len()).any(|part| part == mark)
}

/// A thread's file: that of the newest day that has one.
fn find(codex_home: &Path, thread: &str) -> Option<PathBuf> {
    let end = format!("-{thread}.jsonl");
    let is_its = |name: &str| name.starts_with("rollout-") && name.ends_with(&end);
    if thread.is_empty() {
        return None;
    }
    let years = below(&codex_home.join("sessions"));
    let months = years.into_iter().flat_map(|year| below(&year));
    let mut days = months.flat_map(|month| below(&month));
    days.find_map(|day| {
        let mut files = below(&day).into_iter();
        files.find(|file| {
            file.file_name()
                .and_then(|it| it.to_str())
                .is_some_and(is_its)
        })
    })
}

/// What a directory holds, the last by name first.
fn below(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort_by(|a, b| b.cmp(a));
    paths
}

fn tail(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let len = file.metadata()?.len();
    file.seek(SeekFrom::Start(len.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail)?;
    Ok(tail)
}

fn limit(limits: &Value) -> Option<Limit> {
    let windows = ["primary", "secondary"].map(|name| (name, &limits[name]));
    let window = |(name, it): (&str, &Value)| {
        let used = it["used_percent"].as_f64()?;
        let until = it["resets_at"].as_f64();
        let until = until.and_then(|at| Timestamp::from_second(at as i64).ok());
        Some((used / 100.0, until, name.to_owned()))
    };
    let known: Vec<_> = windows.into_iter().filter_map(window).collect();
    let full = known.iter().filter(|(used, ..)| *used >= 1.0);
    if let Some((_, until, window)) = full.max_by_key(|(_, until, _)| *until).cloned() {
        return Some(Limit::Reached { until, window });
    }
    let fullest = known.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let (used, until, window) = fullest?;
    Some(match limits["rate_limit_reached_type"].is_null() {
        true => Limit::Open {
            used,
            until,
            window,
        },
        false => Limit::Reached { until, window },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREAD: &str = "01a204c6-9c09-7871-a007-08faf6b5392d";

    fn home_with(day: &str, lines: &str) -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("sessions").join(day);
        std::fs::create_dir_all(&dir).unwrap();
        let other = "rollout-2026-11-22T19-40-54-11111111-9c09-7871-a007-08faf6b5392d.jsonl";
        std::fs::write(dir.join(other), counts("99.0", "40.0")).unwrap();
        let name = format!("rollout-2026-11-22T19-40-54-{THREAD}.jsonl");
        std::fs::write(dir.join(name), lines).unwrap();
        home
    }

    /// As Codex 0.169 writes it.
    fn counts(primary: &str, secondary: &str) -> String {
        let window = |used: &str, minutes: u32, at: u64| match used {
            "" => "null".to_owned(),
            used => {
                format!(r#"{{"used_percent":{used},"window_minutes":{minutes},"resets_at":{at}}}"#)
            }
        };
        format!(
            r#"{{"timestamp":"2026-11-22T19:40:54.737Z","ordinal":12,"type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":100,"cached_input_tokens":30,"cache_write_input_tokens":0,"output_tokens":20,"reasoning_output_tokens":8,"total_tokens":120}},"model_context_window":258400}},"rate_limits":{{"limit_id":"codex","limit_name":null,"primary":{},"secondary":{},"credits":null,"plan_type":null,"rate_limit_reached_type":null}}}}}}
"#,
            window(primary, 300, 1_795_400_000),
            window(secondary, 10_080, 1_795_900_000),
        )
    }

    fn at(second: i64) -> Option<Timestamp> {
        Some(Timestamp::from_second(second).unwrap())
    }

    #[test]
    fn the_newest_counts_that_tell_something_are_read() {
        let lines = counts("10.0", "20.0")
            + &counts("40.5", "97.0")
            + r#"{"type":"response_item","payload":{"type":"message","content":"\"token_count\" 7"}}"#
            + "\n"
            + &counts("", "")
            + r#"{"type":"event_msg","payload":{"type":"token_count","info":null,"rate_limits":null}}"#
            + "\n{\"half a line";
        let home = home_with("2026/11/22", &lines);
        let open = Limit::Open {
            used: 0.97,
            until: at(1_795_900_000),
            window: "secondary".into(),
        };
        assert_eq!(codex_rollout_limits(home.path(), THREAD), Some(open));
        let usage = codex_rollout_usage(home.path(), THREAD).unwrap();
        assert_eq!((usage.input, usage.reasoning), (Some(100), Some(8)));
    }

    #[test]
    fn a_full_window_is_a_limit_until_the_last_full_one_opens() {
        for (lines, second, window) in [
            (counts("100.0", "40.0"), 1_795_400_000, "primary"),
            (counts("100.0", "104.0"), 1_795_900_000, "secondary"),
            (counts("100.0", ""), 1_795_400_000, "primary"),
        ] {
            let home = home_with("2026/11/22", &lines);
            let reached = Limit::Reached {
                until: at(second),
                window: window.into(),
            };
            assert_eq!(codex_rollout_limits(home.path(), THREAD), Some(reached));
        }
    }

    #[test]
    fn only_the_end_of_a_big_file_is_read() {
        let filler = format!("{{\"x\":\"{}\"}}\n", "y".repeat(1 << 20));
        let big = counts("10.0", "20.0") + &filler.repeat(5);
        let home = home_with("2026/1/2", &big);
        assert_eq!(codex_rollout_limits(home.path(), THREAD), None);
        let big = filler.repeat(5) + &counts("10.0", "20.0");
        let home = home_with("2026/1/2", &big);
        assert!(codex_rollout_limits(home.path(), THREAD).is_some());
    }

    #[test]
    fn what_is_not_there_is_unknown() {
        let home = home_with("2026/11/22", "");
        for thread in [
            "",
            "../../x",
            "00000000-0000-0000-0000-000000000000",
            THREAD,
        ] {
            assert_eq!(codex_rollout_limits(home.path(), thread), None, "{thread}");
            assert_eq!(codex_rollout_usage(home.path(), thread), None, "{thread}");
        }
        assert_eq!(codex_rollout_limits(Path::new("/nowhere"), THREAD), None);
    }
}
