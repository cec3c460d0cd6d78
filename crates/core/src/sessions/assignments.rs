//! What the processes of sessions were given to do, and what was said in their names.
//!
//! A run has no mail with itself: a projection of the lines of `progress.jsonl` that name a message.
//! Owns which line is which message. What a process says by itself lies in its mail, and is none of these.

use std::{collections::BTreeMap, path::PathBuf};

use flagpost_disk::{dialects::session::layout, fsx};
use flagpost_model::{
    TaskId,
    envelope::Direction,
    message::{
        Body, DoneBody, Message, Needs, ORCHESTRATOR, Place, ProgressBody, StuckBody, Subject,
        TaskBody,
    },
    session::Pid,
};
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{Sessions, Stage, events, read_lock};
use crate::{error::Result, home::Home};

/// A session whose processes speak.
#[derive(Debug)]
pub(crate) struct Assignments {
    dir: PathBuf,
    /// Its name, which is that of the conversation.
    pub thread: String,
    /// Whether somebody runs it; none where it is over.
    pub runs: Option<bool>,
    /// The process of its runner.
    pub pid: Option<u32>,
    /// What its processes have, or had.
    pub tasks: Vec<Assignment>,
}

/// A task in the hands of a process.
#[derive(Debug)]
pub(crate) struct Assignment {
    task: TaskId,
    title: String,
    attempt: u32,
    /// The place of its TASK.
    pub place: Place,
    at: Timestamp,
    by: Option<String>,
    /// What was said about it in the process's name.
    pub said: Vec<(Place, Timestamp, Body)>,
    /// Its attempt is over.
    pub is_over: bool,
}

impl Sessions<'_> {
    /// Every session that there is, with what its processes were given.
    pub(crate) fn assignments(&self) -> Result<Vec<Assignments>> {
        let dirs = self.dirs()?.into_iter();
        dirs.filter_map(|(name, dir)| self.assigned_in(name == layout::LIVE, dir).transpose())
            .collect()
    }

    /// The one in the live directory.
    pub(crate) fn assigned_now(&self) -> Result<Option<Assignments>> {
        self.assigned_in(true, self.live_dir())
    }

    /// That of one directory; none where it names no session, or nothing of it can be read.
    pub(crate) fn assigned_in(&self, is_live: bool, dir: PathBuf) -> Result<Option<Assignments>> {
        let lock = read_lock(self.home, &dir)?.unwrap_or_default();
        let Some(thread) = lock.session else {
            return Ok(None);
        };
        let runs = match is_live {
            // Somebody is about to start or end one where it cannot be told.
            true => Some(!matches!(self.standing()?, Some((Stage::Dead, _)))),
            false => None,
        };
        let tasks = assigned(&events(self.home, &dir, 0).unwrap_or_default());
        Ok(Some(Assignments {
            dir,
            thread: thread.to_string(),
            runs,
            pid: match lock.pid {
                Pid::Number(pid) => Some(pid),
                Pid::Word(_) | Pid::Missing => None,
            },
            tasks,
        }))
    }
}

impl Assignments {
    /// A TASK with the words that its process got.
    pub fn order(&self, home: &Home, assignment: &Assignment) -> Message {
        let name = format!("task-{}-attempt-{}.md", assignment.task, assignment.attempt);
        let path = self.dir.join(layout::PROMPTS).join(name);
        let prompt = fsx::read_lossy(home.fs(), &path).ok().flatten();
        let body = Body::Task(TaskBody {
            bead_id: assignment.task.to_string(),
            title: assignment.title.clone(),
            prompt: prompt.unwrap_or_else(|| assignment.title.clone()),
            bead_num: None,
            total: None,
            prior_summaries: Vec::new(),
        });
        self.message(assignment, &assignment.place, (assignment.at, &body))
    }

    /// What was said about it.
    pub fn reports<'t>(&'t self, assignment: &'t Assignment) -> impl Iterator<Item = Message> + 't {
        let said = assignment.said.iter();
        said.map(|(place, at, body)| self.message(assignment, place, (*at, body)))
    }

    fn message(
        &self,
        assignment: &Assignment,
        place: &Place,
        (at, body): (Timestamp, &Body),
    ) -> Message {
        let subject = match body {
            Body::Task(_) => Subject::Task,
            Body::Done(_) => Subject::Done,
            Body::Stuck(_) => Subject::Stuck,
            Body::Progress(_) => Subject::Progress,
            Body::Text(_) => Subject::Query,
        };
        let (worker, us) = (place.worker.to_string(), ORCHESTRATOR.to_owned());
        let (kind, from, to, by, answers) = match place.direction {
            Direction::Inbox => {
                let kind = subject.brief_kind().as_str();
                (kind, us, worker, assignment.by.clone(), None)
            }
            Direction::Outbox => {
                let (kind, task) = (subject.report_kind().as_str(), assignment.place.clone());
                (kind, worker, us.clone(), Some(us), Some(task))
            }
        };
        Message {
            place: place.clone(),
            id: Some(format!(
                "{}-{}-{}",
                self.thread,
                place.worker,
                place.seq.get()
            )),
            subject: Some(subject),
            word: None,
            kind,
            from,
            to,
            by,
            thread: Some(self.thread.clone()),
            answers,
            at,
            body: body.to_text(),
        }
    }
}

/// What a session's lines say of its processes.
fn assigned(events: &[Map<String, Value>]) -> Vec<Assignment> {
    let mut all: Vec<Assignment> = Vec::new();
    let mut open: BTreeMap<TaskId, usize> = BTreeMap::new();
    let mut by = None;
    for event in events {
        let text = |key: &str| event.get(key).and_then(Value::as_str);
        let what = text("event").unwrap_or_default();
        if what == "session.started" {
            by = text("by")
                .filter(|it| *it != ORCHESTRATOR)
                .map(str::to_owned);
        }
        let task = text("task").and_then(|it| it.parse::<TaskId>().ok());
        let at = text("at").and_then(|it| it.parse::<Timestamp>().ok());
        let (Some(task), Some(at)) = (task, at) else {
            continue;
        };
        let place: Option<Place> = text("message").and_then(|it| it.parse().ok());
        match what {
            "task.started" => {
                if let Some(before) = open.remove(&task).and_then(|it| all.get_mut(it)) {
                    before.is_over = true;
                }
                let attempt = event.get("attempt").and_then(Value::as_u64);
                if let Some(place) = place.filter(|it| it.worker.is_process()) {
                    open.insert(task.clone(), all.len());
                    all.push(Assignment {
                        title: text("subject").unwrap_or_default().to_owned(),
                        attempt: attempt.and_then(|it| it.try_into().ok()).unwrap_or(1),
                        task,
                        place,
                        at,
                        by: by.clone(),
                        said: Vec::new(),
                        is_over: false,
                    });
                }
            }
            "task.said" | "task.ended" => {
                let Some(assignment) = open.get(&task).and_then(|it| all.get_mut(*it)) else {
                    continue;
                };
                let body = said(event, &task);
                assignment
                    .said
                    .extend(place.zip(body).map(|(place, body)| (place, at, body)));
                if what == "task.ended" {
                    assignment.is_over = true;
                    open.remove(&task);
                }
            }
            _ => {}
        }
    }
    all
}

/// What a line says in a process's name.
fn said(event: &Map<String, Value>, task: &TaskId) -> Option<Body> {
    let text = |key: &str| event.get(key).and_then(Value::as_str);
    let words = text("words").unwrap_or_default().trim();
    let words = match words {
        "" => "it says no more".to_owned(),
        words => words.to_owned(),
    };
    let bead_id = task.to_string();
    let stuck = |reason, needs| {
        Body::Stuck(StuckBody {
            bead_id: bead_id.clone(),
            reason,
            needs,
            depends_on: None,
        })
    };
    Some(match (text("event")?, text("outcome")) {
        ("task.said", _) => Body::Progress(ProgressBody {
            bead_id,
            percent: None,
            status: words,
            files: Vec::new(),
        }),
        (_, Some("PASS")) => Body::Done(DoneBody {
            bead_id,
            commit_hash: None,
            summary: words,
        }),
        (_, Some("STUCK")) => stuck(words, Needs::Guidance),
        (_, Some("PARTIAL" | "FAIL" | "STOPPED")) => stuck(words, Needs::Abort),
        _ => return None,
    })
}
