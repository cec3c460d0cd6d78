//! Which tasks a verb is about: one, or several at once.
//!
//! Owns the ids that a person types. Every id is looked up before anything is done, so that a typo
//! in the last one costs nothing.

use flagpost_core::List;
use flagpost_model::{TaskId, Token, task::Task};

use crate::{context::Context, error::usage, output::Answer, shape};

/// Tasks by id.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Ids {
    /// The tasks, one or several: 7 or 7,9 or 7 9
    #[arg(value_name = "ID", value_delimiter = ',', required = true)]
    ids: Vec<String>,
}

impl Ids {
    /// The tasks that are meant, each once.
    pub fn resolve(&self, list: &List<'_>) -> anyhow::Result<Vec<TaskId>> {
        each_once(self.ids.iter().map(|id| list.resolve(id)))
    }
}

/// The tasks that are meant by one word, `7` or `7,9`; without one, the task this agent was given.
pub fn named(
    context: &Context,
    list: &List<'_>,
    word: Option<&str>,
) -> anyhow::Result<Vec<TaskId>> {
    match word {
        None => Ok(vec![context.task(list, None)?]),
        Some(word) => each_once(word.split(',').map(|id| list.resolve(id))),
    }
}

/// The token that goes with the tasks that are meant: it belongs to one.
pub fn token(
    context: &Context,
    list: &List<'_>,
    ids: &[TaskId],
    typed: Option<Token>,
) -> anyhow::Result<Option<Token>> {
    match (ids, typed) {
        ([one], typed) => context.token(list, one, typed),
        (_, None) => Ok(None),
        (_, Some(_)) => Err(usage("a token belongs to one task: name one")),
    }
}

fn each_once(
    ids: impl Iterator<Item = flagpost_core::Result<TaskId>>,
) -> anyhow::Result<Vec<TaskId>> {
    let mut each = Vec::new();
    for id in ids {
        let id = id?;
        if !each.contains(&id) {
            each.push(id);
        }
    }
    Ok(each)
}

/// One task is answered as itself, several as a list of them.
pub fn answer(tasks: &[Task], text: String) -> Answer {
    let answer = match tasks {
        [one] => Answer::new("task", shape::task(one)),
        several => {
            let tasks: Vec<_> = several.iter().map(shape::task).collect();
            Answer::new("changed", serde_json::json!({"tasks": tasks}))
        }
    };
    answer.text(text).ids(tasks.iter().map(|task| &task.id))
}
