//! Carrying out what the screen asks for.
//!
//! Owns the way to the operations, which is that of every face: an entry of `core::operations`, a caller, its
//! words. A lock may have to be waited for, so it is done in a thread of its own, one request after the
//! other, as a person gave them.

use std::{
    sync::{
        Arc,
        mpsc::{self, Sender},
    },
    thread,
};

use flagpost_core::{
    Error, FailureKind, describe,
    error::judge,
    operations::{self, Arguments, Caller, CallerPlace, EntryOutcome, Identity, Operation},
};
use flagpost_model::{
    TaskId, WorkerId,
    decision::Via,
    task::{Landing, NO_COMMIT, Origin, State},
};
use serde_json::{Value, json};

use crate::{
    act::Request,
    event::{Input, Outcome, TaskText},
    snapshot::Place,
    text,
};

/// Who acts: as the command line has it.
#[derive(Debug, Clone)]
pub struct Person {
    /// In whose name, where that is said.
    pub asked: Option<WorkerId>,
    /// Which worker it is, where it is one.
    pub agent: Option<WorkerId>,
    /// Who acts otherwise.
    pub user: WorkerId,
    /// What sort of hand it is.
    pub origin: Origin,
}

impl Person {
    /// The name under which they act.
    pub fn name(&self) -> &WorkerId {
        let named = self.agent.as_ref().or(self.asked.as_ref());
        named.unwrap_or(&self.user)
    }
}

/// Work for the thread.
#[derive(Debug)]
pub enum Work {
    /// An operation.
    Carry(Request),
    /// A task in full.
    ReadTask(TaskId),
    /// What a task changes; of one file, its patch.
    ReadChange(TaskId, Option<String>),
}

/// Works for as long as somebody asks.
pub fn start(place: Arc<Place>, person: Person, send: Sender<Input>) -> Sender<Work> {
    let (ask, asked) = mpsc::channel();
    thread::spawn(move || {
        for work in asked {
            let input = match work {
                Work::Carry(request) => {
                    let outcome = answer(&place, &person, &request);
                    Input::Done(Box::new(request), outcome)
                }
                Work::ReadTask(id) => {
                    let read = task(&place, &id).map_err(|error| describe(&error));
                    Input::Task(id, Box::new(read))
                }
                Work::ReadChange(id, path) => {
                    let answer = change(&place, &person, &id, path.as_deref());
                    Input::Change(id, path, answer)
                }
            };
            if send.send(input).is_err() {
                return;
            }
        }
    });
    ask
}

/// What a task changes, or one file of it.
fn change(place: &Place, person: &Person, id: &TaskId, path: Option<&str>) -> Outcome {
    let mut arguments = json!({"list": place.list, "id": id});
    if let Some(path) = path {
        arguments["path"] = path.into();
    }
    let command = format!("flagpost diff {id}");
    answer(
        place,
        person,
        &Request::new(Operation::TaskDiff, arguments, command),
    )
}

/// Carries a request out; what came of it.
pub fn answer(place: &Place, person: &Person, request: &Request) -> Outcome {
    match carry_out(place, person, request) {
        Ok(answer) => Outcome::Answer(answer),
        Err(error) => refused(&error),
    }
}

fn carry_out(place: &Place, person: &Person, request: &Request) -> Result<Value, Error> {
    let identity = Identity {
        asked: person.asked.clone(),
        agent: person.agent.clone(),
        user: person.user.clone(),
        origin: person.origin,
    };
    let at = match &place.repository {
        Some(repository) => CallerPlace::In(repository.clone()),
        None => CallerPlace::Nowhere,
    };
    let caller = Caller::new(&place.home, identity, Via::Cockpit, at);
    let Some(entry) = operations::entry(request.operation) else {
        return Err(Error::Invalid {
            what: request.operation.name().to_owned(),
            reason: "it has no entry in the table of operations".to_owned(),
        });
    };
    let parameters: Vec<&operations::Parameter> = entry.parameters.iter().collect();
    let arguments = Arguments::read(&parameters, Vec::new(), request.arguments.clone())?;
    Ok(match entry.carry_out(&caller, &arguments)? {
        EntryOutcome::Answer(answer) | EntryOutcome::Kept(answer) => answer,
        EntryOutcome::Nothing(_) => Value::Null,
    })
}

fn refused(error: &Error) -> Outcome {
    let (kind, hint) = judge(error);
    let said = describe(error);
    Outcome::Refused {
        is_conflict: kind == FailureKind::Conflict,
        text: match hint {
            Some(hint) => format!("{said}; {hint}"),
            None => said,
        },
    }
}

/// A task in full, as texts.
fn task(place: &Place, id: &TaskId) -> Result<TaskText, Error> {
    let task = place.list()?.task(id)?.task;
    let mut page = format!("{}\n\n", text::line(&task.subject));
    let mut row = |label: &str, value: Option<String>| {
        if let Some(value) = value.filter(|it| !it.is_empty()) {
            page += &format!("{label:<11}{}\n", text::line(&value));
        }
    };
    let ids = |all: &[TaskId]| {
        let all = all.iter().map(|id| format!("#{id}"));
        Some(all.collect::<Vec<_>>().join(" "))
    };
    row("state", Some(task.state.name().to_string()));
    row("owner", task.owner.clone());
    row("priority", task.priority.map(|it| it.to_string()));
    row("group", task.group.clone());
    row("project", task.project.clone());
    row("complexity", task.complexity.clone());
    row("tags", Some(task.tags.join(", ")));
    row("due", task.due.map(|it| it.to_string()));
    row("after", ids(&task.blocked_by));
    row("before", ids(&task.blocks));
    row(
        "attempts",
        (task.attempts > 0).then(|| task.attempts.to_string()),
    );
    row(
        "landing",
        task.landing.as_ref().map(|it| match it {
            Landing::Landed(it) => format!("landed on {} ({:.10})", it.onto, it.commit),
            Landing::NoCommit(_) => NO_COMMIT.to_owned(),
            Landing::Refused(it) => {
                let first = it.why.lines().next().unwrap_or_default();
                match &it.by {
                    Some(by) => format!("returned by {by}: {first}"),
                    None => format!("did not land on {}: {first}", it.onto),
                }
            }
            Landing::Approved(it) => format!("approved by {} ({:.10})", it.by, it.commit),
        }),
    );
    if !task.description.is_empty() {
        page += &format!("\n{}\n", task.description.trim_end());
    }
    for note in &task.notes {
        let by = note.by.as_deref().unwrap_or("somebody");
        page += &format!("\nnote by {}\n{}\n", text::line(by), note.text.trim_end());
    }
    if let Some(result) = &task.result {
        page += &format!("\nresult\n{}\n", result.text.trim_end());
    }
    // What an agent said last is the reason while a person is asked, and old news otherwise.
    let reason = task.result.as_ref().map(|it| it.text.trim_end());
    let reason = reason.filter(|_| matches!(task.state, State::Failed | State::Stuck));
    let description = task.description.trim_end();
    let beside = [reason.unwrap_or_default(), description];
    let beside: Vec<&str> = beside.into_iter().filter(|it| !it.is_empty()).collect();
    let beside = beside.join("\n\n");
    Ok(TaskText { page, beside })
}
