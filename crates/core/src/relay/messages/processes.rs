//! The messages of the processes that runs start.
//!
//! Owns when one gets a mail: the first time that it speaks by itself, or that somebody writes to it. Its
//! TASK is sent then. What its run gives it and says in its name is told by the session's lines alone, and
//! looks the same. A message's number is that of the claim, or comes behind it, so no two have the same.

use std::collections::BTreeSet;

use flagpost_disk::{dialects::relay as layout, fsx};
use flagpost_model::{
    RepoId, Seq, Token, WorkerId,
    decision::Decision,
    envelope::Direction,
    message::{Message, Place, State, Subject, answer},
};

use super::{
    Party, Words, in_charge,
    send::{parsed, propose},
    survey::Seen,
};
use crate::{
    error::{Error, Result},
    home::Home,
    relay::{Fleet, Mail, decide::Gate, workers},
    repository::Repository,
    sessions::{Assignment, Assignments, Sessions},
};

/// The place of the TASK that a process is given with a claim.
pub fn place_of_task(worker: &WorkerId, token: Token) -> Result<Place> {
    let seq = Seq::try_from(token.0).map_err(|error| Error::Invalid {
        what: "token".to_owned(),
        reason: error.to_string(),
    })?;
    Ok(Place {
        worker: worker.clone(),
        direction: Direction::Inbox,
        seq,
    })
}

/// Whether a message to a worker lies in its mail.
pub fn is_sent(fleet: &Fleet<'_>, place: &Place) -> bool {
    let path = fleet.directory(&place.worker).body_path(place.seq);
    matches!(fsx::stat(fleet.home.fs(), &path), Ok(Some(_)))
}

/// The number of the last message that a worker sent by itself.
pub fn last_sent(fleet: &Fleet<'_>, worker: &WorkerId) -> Result<Option<Seq>> {
    let counter = fleet.live(worker, Direction::Outbox).join(layout::COUNTER);
    let last = fsx::peek(fleet.home.fs(), &counter)?;
    Ok(Seq::try_from(last).ok())
}

/// The mail of a worker; that of a process at work is opened with it, and its TASK is sent.
pub fn mailbox<'h>(fleet: &Fleet<'h>, worker: &WorkerId) -> Result<Mail<'h>> {
    if worker.is_process()
        && let Some(told) = at_work(fleet.home, &fleet.repo)?
        && told.runs == Some(true)
    {
        let mut tasks = told.tasks.iter();
        let task = tasks.find(|it| it.place.worker == *worker && !it.is_over);
        if let Some(task) = task.filter(|it| !is_sent(fleet, &it.place)) {
            open(fleet, &told, task)?;
        }
    }
    fleet.mail(worker)
}

fn open(fleet: &Fleet<'_>, told: &Assignments, task: &Assignment) -> Result<()> {
    let message = told.order(fleet.home, task);
    let speaker = match &message.by {
        Some(by) => in_charge(&by.parse()?)?,
        None => in_charge(&message.from.parse()?)?,
    };
    let Place { worker, seq, .. } = &message.place;
    let actor = speaker.by.as_ref().unwrap_or(&speaker.name);
    workers::enlist(fleet, actor, worker, told.pid)?;
    let mail = fleet.mail(worker)?;
    if let Some(before) = seq.get().checked_sub(1).and_then(|it| it.try_into().ok()) {
        mail.lock(Direction::Inbox)?.retire(before)?;
    }
    let said = task.said.last().map_or(*seq, |(place, ..)| place.seq);
    mail.lock(Direction::Outbox)?.retire(said)?;
    let words = Words {
        subject: Subject::Task,
        body: message.body,
        to: Some(worker.clone()),
        thread: message.thread,
        answers: None,
        id: message.id,
    };
    let (party, body) = (
        &Party {
            fleet,
            speaker: &speaker,
        },
        parsed(&words)?,
    );
    propose(party, words, &body, Gate::Run(&told.thread), &|| Ok(())).map(drop)
}

/// The session in the live directory of a repository.
fn at_work(home: &Home, repo: &RepoId) -> Result<Option<Assignments>> {
    match Repository::registered(home, repo)? {
        Some(repository) => Sessions::of(home, &repository).assigned_now(),
        None => Ok(None),
    }
}

/// What the lines of the session in the live directory tell.
#[derive(Debug, Default)]
pub(super) struct Current {
    /// The messages of its processes.
    pub messages: Vec<Seen>,
    /// The TASKs that its processes have not ended.
    pub open: BTreeSet<Place>,
    /// Whether it runs.
    pub runs: bool,
}

/// The same of the whole fleet.
pub(super) fn current(home: &Home, repo: &RepoId) -> Result<Current> {
    let Some(told) = at_work(home, repo)? else {
        return Ok(Current::default());
    };
    let open = told.tasks.iter().filter(|it| !it.is_over);
    Ok(Current {
        messages: seen(home, &told),
        open: open.map(|it| it.place.clone()).collect(),
        runs: told.runs == Some(true),
    })
}

/// What the lines of every session tell.
pub(super) fn all(home: &Home, repo: &RepoId) -> Result<Vec<Seen>> {
    let Some(repository) = Repository::registered(home, repo)? else {
        return Ok(Vec::new());
    };
    let sessions = Sessions::of(home, &repository).assignments()?;
    Ok(sessions.iter().flat_map(|told| seen(home, told)).collect())
}

/// The messages of a session's processes.
pub(crate) fn seen(home: &Home, told: &Assignments) -> Vec<Seen> {
    let mut all = Vec::new();
    for task in &told.tasks {
        let order = told.order(home, task);
        let reports: Vec<Message> = told.reports(task).collect();
        let goes_on = told.runs.is_some() && !task.is_over;
        let is_answered = answer(&order, &reports) != flagpost_model::message::Answer::None;
        let state = match goes_on || is_answered {
            true => State::Acked,
            false => State::Withdrawn,
        };
        all.push(Seen {
            message: order,
            state,
            decision: Some(Decision::Ratified),
            lease: None,
        });
        all.extend(reports.into_iter().map(|message| Seen {
            message,
            state: State::Acked,
            decision: None,
            lease: None,
        }));
    }
    all
}
