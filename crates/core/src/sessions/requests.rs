//! What is asked of a session that runs, from another terminal.
//!
//! Owns the files `stop.request`, `stop-now.request`, `stop-task-{id}.request` and `hand-over-{id}.request` in the
//! live session's directory: whoever asks leaves one, durable and on record before that is answered; the runner takes
//! each up once and removes it. Nothing but the files is needed between the two. Invariant: nobody asks
//! a session that has ended, or one that would never look: the start gate is held meanwhile.

use flagpost_disk::{self as disk, dialects::session::layout, fsx};
use flagpost_model::{ListRef, TaskId, WorkerId};

use super::{Live, Session, SessionStatus, Sessions, is_empty};
use crate::{
    error::{Error, Result},
    history::{Entry, History, Kind},
    home::Home,
    list::List,
    registry::repositories,
    repository::Repository,
};

/// What is to be stopped.
#[derive(Debug, Clone, Copy)]
pub enum Stop<'a> {
    /// The run: nothing more is started, and what runs may finish.
    Run,
    /// The run and everything that runs in it.
    RunNow,
    /// One task of this list that runs.
    Task(&'a List<'a>, &'a TaskId),
    /// The agent of such a task, whose conversation a person goes on with.
    HandOver(&'a List<'a>, &'a TaskId),
}

/// Somebody asked a session to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The session.
    pub session: String,
    /// It was asked the same before and has not taken that up yet.
    pub already: bool,
}

/// A request, as its runner takes it up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopRequest {
    /// The run ends; with `now` what runs in it, too.
    Run {
        /// Whether nothing is waited for.
        now: bool,
    },
    /// This task is not tried again in this run.
    Task(TaskId),
    /// This task waits for a person, who has its conversation.
    HandOver(TaskId),
}

/// Asks the session that runs to stop. Who did is in the history.
pub fn ask_to_stop(sessions: &Sessions<'_>, actor: &WorkerId, what: Stop<'_>) -> Result<Asked> {
    let home = sessions.home;
    let dir = sessions.live_dir();
    sessions.stay_inside()?;
    let no_run = || Error::NoRun {
        place: format!("in {}", sessions.top.display()),
    };
    if is_empty(home, &dir)? {
        return Err(no_run());
    }
    // It neither ends nor begins meanwhile.
    let gate = sessions.lock_gate()?;
    let current = sessions.read_current()?;
    let Some(session) = current.filter(|it| it.stage == SessionStatus::Live) else {
        return Err(no_run());
    };
    let name = name_of(&session, what)?;
    let path = dir.join(name);
    let asked = |already| Asked {
        session: session.title(),
        already,
    };
    if fsx::stat(home.fs(), &path)?.is_some() {
        return Ok(asked(true));
    }
    let mut entry = Entry::new(Kind::SessionStopAsked).detail("session", session.title());
    match what {
        Stop::Run => {}
        Stop::RunNow => entry = entry.detail("now", true),
        Stop::Task(_, task) => entry = entry.detail("task", task.as_str()),
        Stop::HandOver(_, task) => {
            entry = entry
                .detail("task", task.as_str())
                .detail("hand_over", true);
        }
    }
    // For who looks at the file; the history says the same.
    let text = serde_json::json!({"by": actor.as_str()});
    match fsx::publish(home.fs(), &path, format!("{text}\n").as_bytes()) {
        Ok(()) => {
            drop(gate);
            History::of(home, &sessions.repository).record(actor, home.now(), vec![entry])?;
            Ok(asked(false))
        }
        Err(disk::Error::Conflict { .. }) => Ok(asked(true)),
        Err(error) => Err(error.into()),
    }
}

/// The request's file; refused where the session would not heed it.
fn name_of(session: &Session, what: Stop<'_>) -> Result<String> {
    if !session.lock.flocked {
        return Err(Error::ForeignSession {
            session: session.title(),
        });
    }
    let (list, task, name) = match what {
        Stop::Run => return Ok(layout::STOP.to_owned()),
        Stop::RunNow => return Ok(layout::STOP_NOW.to_owned()),
        Stop::Task(list, task) => (list, task, layout::stop_task(task)),
        Stop::HandOver(list, task) => (list, task, layout::hand_over(task)),
    };
    match session.works_on(list, task) {
        true => Ok(name),
        false => Err(Error::NotRunning {
            task: task.clone(),
            session: session.title(),
        }),
    }
}

impl Session {
    /// Whether an agent of it is at work on a task of this list.
    pub fn works_on(&self, list: &List<'_>, task: &TaskId) -> bool {
        let is_its_list = self.lock.list.as_ref() == Some(list.id());
        is_its_list && self.progress.active.iter().any(|it| it.id == *task)
    }
}

impl Live<'_> {
    /// Takes up what was asked since the last look: each request once.
    pub fn requests(&self) -> Result<Vec<StopRequest>> {
        let (fs, dir) = (self.home().fs(), self.dir());
        // None where somebody removed the session's files; they are begun anew elsewhere.
        let names = fsx::names(fs, dir)?;
        let mut requests = Vec::new();
        for name in names.iter().filter_map(|name| name.to_str()) {
            let request = match (layout::task_to_stop(name), layout::task_to_hand_over(name)) {
                (Some(task), _) => StopRequest::Task(task),
                (None, Some(task)) => StopRequest::HandOver(task),
                (None, None) if name == layout::STOP => StopRequest::Run { now: false },
                (None, None) if name == layout::STOP_NOW => StopRequest::Run { now: true },
                (None, None) => continue,
            };
            // What it says is for who looks: a bare 'touch' asks all the same.
            fsx::remove(fs, &dir.join(name))?;
            requests.push(request);
        }
        Ok(requests)
    }
}

/// The repository in which a run of this list is under way, `here` before any other: a list may be run
/// from anywhere. What stands in the way of looking into one hides no other.
pub fn running(home: &Home, list: &ListRef, here: Option<&Repository>) -> Result<Repository> {
    let others = repositories(home)?.into_iter();
    let others = others.filter(|it| here.is_none_or(|here| here.id != it.id));
    let mut all = here.cloned().into_iter().chain(others);
    let runs = |it: &Repository| {
        let standing = Sessions::of(home, it).status().ok().flatten();
        standing.is_some_and(|(stage, lock)| {
            stage == SessionStatus::Live && lock.list.as_ref() == Some(list)
        })
    };
    all.find(runs).ok_or_else(|| Error::NoRun {
        place: format!("for list {list}, in any repository"),
    })
}
