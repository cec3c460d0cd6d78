//! Answering the question of who was stuck over a task.
//!
//! Owns that the answer, its question and the task's way back to pending are one change, told by one
//! line of the history. Who may answer is for the face to ask: a person, and never an agent.

use flagpost_model::{
    TaskId, WorkerId,
    task::{Question, State, Task, TaskEvent, transition},
};

use super::finish;
use crate::{
    error::{Error, Result},
    history::Kind,
    list::List,
};

/// A question that was answered.
#[derive(Debug, Clone)]
pub struct AnsweredTask {
    /// The task as it is now.
    pub task: Task,
    /// What had been asked.
    pub question: Question,
    /// Whether the task is pending again by this; else the answer was added to an earlier one.
    pub reopened: bool,
}

/// Answers what a task asks, durable on return: the answer becomes a note that carries its question,
/// and the task pending, with its blockers and priority as before. With `again`, an answered question
/// gets a further answer, and the task stays where it is.
pub fn answer(
    list: &List<'_>,
    actor: &WorkerId,
    id: &TaskId,
    text: &str,
    again: bool,
) -> Result<AnsweredTask> {
    list.home.transact(|| {
        must_say_something(text)?;
        let mut change = list.change(actor)?;
        let act = change.act();
        let event = TaskEvent::Answer {
            text: text.to_owned(),
            again,
        };
        let task = change.task(id)?;
        let (question, reopened) = (task.to_answer(again)?, task.state == State::Stuck);
        *task = transition(task, &act, event)?;
        let entry = change.note(Kind::TaskAnswered, id);
        entry
            .detail
            .insert("question".to_owned(), question.n.into());
        let task = finish(change, id)?;
        Ok(AnsweredTask {
            task,
            question,
            reopened,
        })
    })
}

/// An answer is in words.
pub(crate) fn must_say_something(text: &str) -> Result<()> {
    match text.trim().is_empty() {
        false => Ok(()),
        true => Err(Error::Invalid {
            what: "answer".to_owned(),
            reason: "it says nothing".to_owned(),
        }),
    }
}
