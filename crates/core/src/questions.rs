//! Questions that wait for a person, and their answers.
//!
//! Owns who asks what about which task, whichever way it was said: by whoever was stuck over it and
//! let go of it, or by a worker of the fleet that keeps it until it is answered. The first is answered
//! by a note, the second by a REPLY.

use std::{
    borrow::Borrow,
    collections::{BTreeMap, BTreeSet},
};

use flagpost_model::{
    TaskId, WorkerId,
    message::{Message, MessageAddress, Speaker},
    plan::Index,
    task::{Outline, State, StateName},
};
use jiff::Timestamp;

use crate::{
    error::{Error, Result},
    list::List,
    messages::{self, Party, Reply, Sent},
    relay::Fleet,
    repository::Repository,
    sessions::Sessions,
    tasks,
};

/// A question that waits.
#[derive(Debug, Clone)]
pub struct OpenQuestion<'t> {
    /// The task that it is about.
    pub task: &'t Outline,
    /// Who asks, where that is known.
    pub by: Option<String>,
    /// Since when, where that is known.
    pub at: Option<Timestamp>,
    /// The words; empty where somebody was stuck and said nothing.
    pub said: String,
    /// The STUCK of a worker that keeps the task until it is answered.
    pub message: Option<MessageAddress>,
}

/// An answer that was given.
#[derive(Debug, Clone)]
pub enum Answered {
    /// To whoever was stuck over the task.
    Task(tasks::AnsweredTask),
    /// To a worker.
    Worker {
        /// What it had asked.
        question: Message,
        /// The REPLY.
        sent: Sent,
    },
}

/// The questions about these tasks of the list that wait for an answer, in the tasks' order. `here` is
/// the repository that whoever asks stands in.
pub fn open<'t, O: Borrow<Outline>>(
    list: &List<'_>,
    here: Option<&Repository>,
    tasks: &'t [O],
) -> Result<Vec<OpenQuestion<'t>>> {
    let mut asked = BTreeMap::new();
    if let Some(repository) = repository(list, here)? {
        let fleet = Fleet::of(list.home, &repository.id);
        for (task, question) in of_workers(list, &repository, tasks)? {
            if messages::reply(&fleet, &question)?.is_none() {
                asked.insert(task, question);
            }
        }
    }
    let mut open = Vec::new();
    for task in tasks.iter().map(Borrow::borrow) {
        if let Some(message) = asked.remove(&task.id) {
            open.push(of_worker(task, message));
        } else if task.state == State::Stuck {
            open.push(of_stuck(list, task));
        }
    }
    Ok(open)
}

fn of_worker(task: &Outline, message: Message) -> OpenQuestion<'_> {
    OpenQuestion {
        task,
        said: message.words(),
        by: Some(message.from),
        at: Some(message.at),
        message: Some(message.place),
    }
}

/// A task whose file is gone meanwhile, or cannot be read, is shown without its words.
fn of_stuck<'t>(list: &List<'_>, task: &'t Outline) -> OpenQuestion<'t> {
    let question = list.task(&task.id).ok();
    let question = question.and_then(|file| file.task.question());
    let (by, at, said) = match question {
        Some(asked) => (asked.by, asked.at, asked.text),
        None => (None, None, String::new()),
    };
    OpenQuestion {
        task,
        by,
        at,
        said,
        message: None,
    }
}

/// Answers what is asked about a task, durable on return. Whoever calls this has made sure that a
/// person speaks.
pub fn answer(
    list: &List<'_>,
    here: Option<&Repository>,
    speaker: &Speaker,
    id: &TaskId,
    reply: &Reply<'_>,
) -> Result<Answered> {
    let task = Outline::from(&list.task(id)?.task);
    if task.state != State::Stuck
        && let Some(repository) = repository(list, here)?
    {
        let asked = of_workers(list, &repository, std::slice::from_ref(&task))?;
        if let Some(question) = asked.get(id) {
            let fleet = &Fleet::of(list.home, &repository.id);
            return answer_worker(&Party { fleet, speaker }, &question.place, reply);
        }
    }
    let answered = tasks::answer(list, &speaker.name, id, reply.text, reply.again)?;
    Ok(Answered::Task(answered))
}

/// Answers what a worker asks at this place. Whoever calls this has made sure that a person speaks.
pub fn answer_worker(
    party: &Party<'_>,
    place: &MessageAddress,
    reply: &Reply<'_>,
) -> Result<Answered> {
    let (question, sent) = messages::answer(party, place, reply)?;
    Ok(Answered::Worker { question, sent })
}

/// The repository whose fleet works on the list, seen from where somebody stands if that is in it;
/// none where no repository has the list.
fn repository(list: &List<'_>, here: Option<&Repository>) -> Result<Option<Repository>> {
    let id = match list.repository() {
        Ok(id) => id,
        Err(Error::NoRepository { .. } | Error::LostRepository { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    match here.filter(|it| it.id == id) {
        Some(here) => Ok(Some(here.clone())),
        None => Repository::registered(list.home, &id),
    }
}

/// The last word of the workers that have these tasks, where that is a question, answered or not.
fn of_workers<O: Borrow<Outline>>(
    list: &List<'_>,
    repository: &Repository,
    tasks: &[O],
) -> Result<BTreeMap<TaskId, Message>> {
    let fleet = &Fleet::of(list.home, &repository.id);
    let tasks = || tasks.iter().map(Borrow::<Outline>::borrow);
    let places = Index::new(tasks().map(|it| it.id.as_str()));
    // A run that dies leaves its TASKs with their workers, and the tasks with nobody or, claimed
    // anew, with the next run's claims.
    let threads = threads(list, repository);
    let is_wanted = |worker: &WorkerId, id: &TaskId| {
        let task = places.get(id.as_str()).and_then(|at| tasks().nth(at));
        task.is_some_and(|task| match task.state.claim() {
            Some(claim) => claim.by == *worker,
            None => task.state.name() == StateName::Pending,
        })
    };
    let mut found = BTreeMap::new();
    for message in messages::questions(fleet, &threads, is_wanted)? {
        let task = message.task().and_then(|id| id.parse().ok());
        found.extend(task.map(|task: TaskId| (task, message)));
    }
    for task in tasks() {
        if let Some(claim) = task.state.claim()
            && !found.contains_key(&task.id)
            && let Some(message) = messages::question(fleet, &claim.by, &task.id, claim.at)?
        {
            found.insert(task.id.clone(), message);
        }
    }
    Ok(found)
}

/// The conversations of this list's runs: a number may be another task's in another list. Sessions that cannot be
/// read, which whoever shows sessions tells, have none.
fn threads(list: &List<'_>, repository: &Repository) -> BTreeSet<String> {
    let locks = Sessions::of(list.home, repository).locks();
    let locks = locks.unwrap_or_default().into_iter();
    let of_list = locks.filter(|(_, lock)| lock.list.as_ref() == Some(list.id()));
    of_list.map(|(id, _)| id.to_string()).collect()
}
