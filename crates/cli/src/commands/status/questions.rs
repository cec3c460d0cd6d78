//! What `status` tells of workers that ask about the tasks that they have.

use flagpost_core::{messages, relay::Fleet};
use flagpost_model::{
    message::{Body, Message},
    task::Outline,
};

use crate::{context::Context, terminal::line};

/// A task and the question about it.
pub struct Asked<'t> {
    pub task: &'t Outline,
    /// The STUCK.
    pub message: Message,
    /// In the worker's words.
    pub said: String,
}

/// The questions that wait for an answer; none where no repository is.
pub fn open<'t>(context: &Context, held: &[&'t Outline]) -> anyhow::Result<Vec<Asked<'t>>> {
    let Some(repository) = context.repository()? else {
        return Ok(Vec::new());
    };
    let fleet = Fleet::of(&context.home, &repository.id);
    let mut open = Vec::new();
    for task in held {
        let Some(claim) = task.state.claim() else {
            continue;
        };
        if let Some(message) = messages::question(&fleet, &claim.by, &task.id, claim.at)?
            && let Some(Body::Stuck(body)) = message.typed()
        {
            let said = body.reason;
            open.push(Asked {
                task,
                message,
                said,
            });
        }
    }
    Ok(open)
}

/// A question in a line, with how to answer it.
pub fn words(asked: &Asked<'_>) -> String {
    let (id, place) = (&asked.task.id, &asked.message.place);
    let said = asked.said.lines().next().unwrap_or_default();
    format!(
        "{id} {}: {} asks: {}; 'flagpost msg send --subject REPLY --re {place} WORDS' answers",
        line(&asked.task.subject),
        asked.message.from,
        line(said),
    )
}
