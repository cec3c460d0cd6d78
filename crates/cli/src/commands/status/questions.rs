//! What `status` tells of workers that ask about the tasks that they have.

use std::collections::{BTreeMap, BTreeSet};

use flagpost_core::{
    List, Repository, messages,
    relay::Fleet,
    sessions::{Session, Sessions},
};
use flagpost_model::{
    TaskId,
    message::{Body, Message},
    task::{Outline, StateName},
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
pub fn open<'t>(
    context: &Context,
    list: &List<'_>,
    live: Option<&Session>,
    tasks: &'t [Outline],
) -> anyhow::Result<Vec<Asked<'t>>> {
    let Some(repository) = context.repository()? else {
        return Ok(Vec::new());
    };
    let fleet = Fleet::of(&context.home, &repository.id);
    let known: BTreeMap<&TaskId, &Outline> = tasks.iter().map(|it| (&it.id, it)).collect();
    // A run that dies leaves its TASKs with their workers, and the tasks with nobody or, claimed
    // anew, with the next run's claims.
    let threads = threads(context, &repository, list, live)?;
    let left = messages::questions(&fleet, &threads, |worker, id| {
        known.get(id).is_some_and(|task| match task.state.claim() {
            Some(claim) => claim.by == *worker,
            None => task.state.name() == StateName::Pending,
        })
    })?;
    let left = left.into_iter().filter_map(|it| Some((it.task()?, it)));
    let mut left: BTreeMap<String, Message> = left.collect();
    let mut open = Vec::new();
    for task in tasks {
        let message = match (left.remove(task.id.as_str()), task.state.claim()) {
            (Some(message), _) => Some(message),
            (None, Some(claim)) => messages::question(&fleet, &claim.by, &task.id, claim.at)?,
            (None, None) => None,
        };
        if let Some(message) = message
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

/// The conversations of this list's runs: a number may be another task's in another list.
fn threads(
    context: &Context,
    repository: &Repository,
    list: &List<'_>,
    live: Option<&Session>,
) -> anyhow::Result<BTreeSet<String>> {
    let ended = Sessions::of(&context.home, repository).ended()?;
    let locks = ended.iter().map(|it| &it.lock);
    let of_list = locks.chain(live.map(|it| &it.lock));
    let of_list = of_list.filter(|lock| lock.list.as_ref() == Some(list.id()));
    Ok(of_list
        .filter_map(|lock| Some(lock.session.as_ref()?.to_string()))
        .collect())
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
