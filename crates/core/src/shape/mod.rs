//! What is answered, as JSON.
//!
//! Owns the shapes that `schemas/` describes, the same in every face: a command's `--json`, the
//! daemon's interface, an event. It must never read anything: what it shows was read before.

mod mail;
pub mod messages;
mod questions;
mod reservations;
mod sessions;

use std::path::Path;

use serde_json::{Map, Value, json};

pub use mail::{
    brief, brief_in_full, brief_view, decided, proposed, report, report_view, slash_output,
    verdict, withheld, worker,
};
pub use questions::answered;
pub use reservations::{announced, reservation, reservations};
pub use sessions::{session, session_with};

use crate::{failure::FailureKind, list::Skipped};

/// An answer of this shape: `task` is `flagpost.task/1`.
pub fn answer(name: &str, body: Value) -> Value {
    let mut answer = Map::from_iter([("schema".to_owned(), schema(name).into())]);
    match body {
        Value::Object(body) => answer.extend(body),
        other => {
            answer.insert("value".to_owned(), other);
        }
    }
    answer.into()
}

/// The whole name of a shape.
pub fn schema(name: &str) -> String {
    format!("flagpost.{name}/1")
}

/// What went wrong.
pub fn error(kind: FailureKind, message: &str, hint: Option<&str>, causes: &[String]) -> Value {
    let body = json!({
        "kind": kind.as_str(), "exit_code": kind as u8,
        "message": message, "hint": hint, "causes": causes,
    });
    answer("error", body)
}

/// A path. JSON is text: what is not UTF-8 in it is shown as U+FFFD.
pub fn path(path: &Path) -> Value {
    path.to_string_lossy().into()
}

/// Files that were passed over.
pub fn skipped(skipped: &[Skipped]) -> Value {
    skipped
        .iter()
        .map(|file| json!({"file": file.name, "reason": file.reason}))
        .collect()
}
