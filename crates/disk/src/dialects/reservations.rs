//! Owns the names in a repository's `reservations` and the translation between its files and the
//! model. Invariant: keys that are not ours survive every rewrite. It must never touch the file
//! system, and decides nothing.
//!
#![doc = include_str!("../../../../docs/formats/reservations.md")]

use std::{fmt::Display, str::FromStr};

use flagpost_model::reservation::{Reservation, ReservationMode, ReservationRequest};
use serde_json::{Map, Value, json};

pub use crate::file_number::file_number as parse;
use crate::record::Record;

/// The directory, in that of the repository.
pub const DIR: &str = "reservations";

/// Its lock.
pub const LOCK: &str = ".lock";

/// A reservation beside the keys of its file that are not ours.
#[derive(Debug, Clone)]
pub struct ReservationFile {
    /// What we understand.
    pub content: Reservation,
    /// The rest.
    others: Map<String, Value>,
}

/// The name of a reservation's file.
pub fn name(n: u64) -> String {
    format!("{n}.json")
}

/// Reads reservation `n`. An error says in a sentence why it is none.
pub fn read(n: u64, bytes: &[u8]) -> Result<ReservationFile, String> {
    let value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let Value::Object(object) = value else {
        return Err("it is no object".to_owned());
    };
    let mut record = Record::new(object);
    let path = required(record.text("path"), "path")?;
    let holder = required(record.text("worker"), "worker")?;
    let mode = record.word::<ReservationMode>("mode");
    let (task, reason) = (record.name("task"), record.text("reason"));
    let (at, until) = (record.time("at"), record.time("until"));
    let others = record.rest()?;
    Ok(ReservationFile {
        content: Reservation {
            n,
            wanted: ReservationRequest {
                path: parsed(&path, "path")?,
                holder: parsed(&holder, "worker")?,
                mode: mode.unwrap_or(ReservationMode::Exclusive),
                task,
                reason,
            },
            at: required(at, "at")?,
            until: required(until, "until")?,
        },
        others,
    })
}

/// A reservation as bytes, keeping what `before` holds beyond it.
pub fn write(before: Option<&ReservationFile>, reservation: &Reservation) -> Vec<u8> {
    let wanted = &reservation.wanted;
    let keys = [
        ("path", Some(json!(wanted.path.as_str()))),
        ("worker", Some(json!(wanted.holder))),
        ("mode", Some(json!(wanted.mode))),
        ("task", wanted.task.as_ref().map(|it| json!(it))),
        ("reason", wanted.reason.as_ref().map(|it| json!(it))),
        ("at", Some(json!(reservation.at))),
        ("until", Some(json!(reservation.until))),
    ];
    let keys = keys.into_iter();
    let mut raw: Map<String, Value> = keys
        .filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect();
    raw.extend(before.map(|it| it.others.clone()).unwrap_or_default());
    format!("{:#}\n", Value::Object(raw)).into_bytes()
}

fn required<T>(value: Option<T>, key: &str) -> Result<T, String> {
    value.ok_or_else(|| format!("it has no {key} that can be understood"))
}

fn parsed<T: FromStr<Err: Display>>(text: &str, key: &str) -> Result<T, String> {
    text.parse().map_err(|error| format!("its {key}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"{
  "path": "src/**",
  "worker": "W1",
  "mode": "shared",
  "task": "7",
  "reason": "the parser",
  "at": "2026-05-13T14:25:00Z",
  "until": "2026-05-13T14:40:00Z",
  "tool": {
    "theirs": [
      1
    ]
  }
}
"#;

    #[test]
    fn what_was_read_is_written_again() {
        let file = read(41, WHOLE.as_bytes()).unwrap();
        let written = write(Some(&file), &file.content);
        assert_eq!(String::from_utf8(written).unwrap(), WHOLE);
    }

    #[test]
    fn the_least_that_makes_one_is_exclusive() {
        let least = r#"{"path":"a","worker":"W1","at":"2026-05-13T14:25:00Z","until":"2026-05-13T14:40:00+02:00"}"#;
        let file = read(1, least.as_bytes()).unwrap();
        assert_eq!(file.content.wanted.mode, ReservationMode::Exclusive);
        assert_eq!(file.content.wanted.task, None);
    }

    #[test]
    fn what_is_none_says_why() {
        for (text, why) in [
            ("", "EOF while parsing a value at line 1 column 0"),
            ("[]", "it is no object"),
            ("{}", "it has no path that can be understood"),
            (r#"{"path":"a"}"#, "it has no worker that can be understood"),
            (
                r#"{"path":"../a","worker":"W1","at":"2026-05-13T14:25:00Z","until":"2026-05-13T14:25:00Z"}"#,
                r#"its path: "../a" cannot be reserved: it must lie below the top of the repository"#,
            ),
            (
                r#"{"path":"a","worker":"W1","mode":"mine","at":"2026-05-13T14:25:00Z","until":"2026-05-13T14:25:00Z"}"#,
                r#"mode: "mine" is none of exclusive, shared"#,
            ),
            (
                r#"{"path":"a","worker":"W1","at":"2026-05-13T14:25:00Z","until":"soon"}"#,
                r#"until: "soon" is not a time, as in 2026-12-01T09:00:00Z"#,
            ),
        ] {
            assert_eq!(read(1, text.as_bytes()).unwrap_err(), why, "{text}");
        }
    }
}
