//! Questions and answers as JSON.

use serde_json::{Value, json};

use super::messages::message;
use crate::{answers::Task, questions::Answered};

/// An answer that was given.
pub fn answered(answered: &Answered) -> Value {
    match answered {
        Answered::Task(it) => json!({
            "task": Task::from(&it.task),
            "question": {
                "task": it.task.id, "n": it.question.n, "by": it.question.by,
                "at": it.question.at, "text": it.question.text, "message": null,
            },
            "reopened": it.reopened,
            "reply": null,
        }),
        Answered::Worker { question, sent } => json!({
            "task": null,
            "question": {
                "task": question.task(), "n": null, "by": question.from, "at": question.at,
                "text": question.words(), "message": question.place.to_string(),
            },
            "reopened": false,
            "reply": message(&sent.message),
        }),
    }
}
