//! Sessions as JSON.

use serde_json::{Value, json};

use super::path;
use crate::sessions::{Session, SessionAttempts};

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
            "seconds": row.duration.map(|took| took.as_secs()), "tokens": row.tokens,
        })).collect::<Vec<_>>(),
        "left": session.left.iter().map(|task| json!({
            "id": task.id, "subject": task.subject, "how": task.how.word(session.runs()).replace(' ', "_"),
            "attempt": task.attempt.map(|(attempt, _)| attempt), "attempts": task.attempt.map(|(_, of)| of),
        })).collect::<Vec<_>>(),
        "results": session.results,
        "unbegun": session.unbegun.iter().map(|(id, subject)| json!({"id": id, "subject": subject})).collect::<Vec<_>>(),
    })
}

/// The same with what clients told of its attempts.
pub fn session_with(session: &Session, told: &SessionAttempts) -> Value {
    let mut value = self::session(session);
    value["tokens"] = told.usage().total().into();
    value["cost_usd"] = told.cost_usd().into();
    value["parked"] = told.parked.values().map(|park| json!(park)).collect();
    let attempts = told.attempts.iter().map(|(task, record)| {
        let mut attempt = json!({"task": task});
        if let (Value::Object(attempt), Value::Object(record)) = (&mut attempt, json!(record)) {
            attempt.extend(record);
        }
        attempt
    });
    value["attempts"] = attempts.collect();
    value
}
