//! Sessions as JSON.

use serde_json::{Value, json};

use super::path;
use crate::sessions::Session;

/// A session as JSON.
pub fn session(session: &Session) -> Value {
    json!({
        "id": session.title(),
        "stage": session.stage.as_str(),
        "thread": session.thread(),
        "dir": path(&session.dir),
        "list": session.lock.list,
        "started": session.lock.started.and_then(|at| at.shown()),
        "status": session.progress.status,
        "wave": session.progress.wave.map(|(wave, of)| json!({"n": wave, "of": of})),
        "active": session.progress.active.iter().map(|task| json!({"id": task.id, "subject": task.subject, "phase": task.phase})).collect::<Vec<_>>(),
        "ended": session.rows.iter().map(|row| json!({
            "id": row.id, "subject": row.subject, "outcome": row.outcome,
            "attempt": row.attempt, "attempts": row.of,
            "seconds": row.duration.map(|took| took.as_secs()),
        })).collect::<Vec<_>>(),
        "unbegun": session.unbegun.iter().map(|(id, subject)| json!({"id": id, "subject": subject})).collect::<Vec<_>>(),
    })
}
