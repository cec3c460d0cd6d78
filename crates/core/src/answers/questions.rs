//! Answers to questions.

use flagpost_model::message::Message;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::Task;
use crate::questions::Answered;

/// A question that was answered.
///
/// After 'flagpost answer'.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AnsweredAnswer<'a> {
    /// The task as it is now; null where a worker was answered, who keeps its task.
    task: Option<Task<'a>>,
    question: AskedQuestion<'a>,
    /// The task is pending again by this; else the answer was added to another, or sent.
    reopened: bool,
    /// The REPLY as it was sent to the worker; null where the answer is a note of the task.
    reply: Option<&'a Message>,
}

/// A question, whichever way it was asked.
#[derive(Debug, Serialize, JsonSchema)]
struct AskedQuestion<'a> {
    /// The task that it is about; null where a message names none.
    task: Option<String>,
    /// Its number within the task; null where a worker asked by a message.
    n: Option<u32>,
    /// Who asked, where that is known.
    by: Option<&'a str>,
    /// When, where that is known.
    at: Option<Timestamp>,
    /// Markdown; empty where somebody was stuck and said nothing.
    text: String,
    /// The place of the worker's message; null where somebody was stuck over a task.
    message: Option<String>,
}

impl<'a> From<&'a Answered> for AnsweredAnswer<'a> {
    fn from(answered: &'a Answered) -> Self {
        match answered {
            Answered::Task(it) => Self {
                task: Some(Task::from(&it.task)),
                question: AskedQuestion {
                    task: Some(it.task.id.to_string()),
                    n: Some(it.question.n),
                    by: it.question.by.as_deref(),
                    at: it.question.at,
                    text: it.question.text.clone(),
                    message: None,
                },
                reopened: it.reopened,
                reply: None,
            },
            Answered::Worker { question, sent } => Self {
                task: None,
                question: AskedQuestion {
                    task: question.task(),
                    n: None,
                    by: Some(&question.from),
                    at: Some(question.at),
                    text: question.words(),
                    message: Some(question.place.to_string()),
                },
                reopened: false,
                reply: Some(&sent.message),
            },
        }
    }
}
