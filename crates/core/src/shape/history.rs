//! The history as JSON.

use serde_json::{Value, json};

use crate::history::Line;

/// A transition. Unlike the file, it says of everything that it can be about whether it is.
pub fn line(line: &Line) -> Value {
    let entry = &line.entry;
    json!({
        "n": line.n,
        "at": line.at,
        "repo": line.repo,
        "kind": entry.kind,
        "actor": entry.actor,
        "worker": entry.worker,
        "seq": entry.seq,
        "list": entry.list,
        "task": entry.task,
        "from": entry.from,
        "to": entry.to,
        "detail": entry.detail,
    })
}
