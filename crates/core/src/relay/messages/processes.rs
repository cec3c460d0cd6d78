//! What a run says and hears on behalf of the processes that it starts.
//!
//! Owns that a process is a worker like any other: its TASK lies in its inbox, what came of it in its
//! outbox, and each message tells that it was `by` the orchestrator. A process ends with its run, so
//! what it had in hand then is taken back by whoever comes next.

use std::collections::BTreeSet;

use flagpost_model::{
    TaskId, WorkerId,
    message::{
        Body, DoneBody, Message, MessageAddress, MessageStatus, Needs, NextStep, ProgressBody,
        Speaker, StuckBody, Subject, TaskReply,
    },
    task::{Ending, State as TaskState},
};

use super::{
    NewMessage, Party, Sent, ack,
    in_flight::{is_in, task_of},
    scan::{Judged, judged},
    send::{parsed, proposal, send},
    withdraw,
};
use crate::{
    error::Result,
    list::List,
    relay::{Mail, briefs, decide::Gate},
};

/// What a run says for a process about its task.
#[derive(Debug, Clone, Copy)]
pub enum ProcessWord<'w> {
    /// It is done.
    Done(&'w str),
    /// It is given up, for this reason.
    Abort(&'w str),
    /// It needs a person.
    Guidance(&'w str),
    /// It is at it.
    Progress(&'w str),
}

/// Gives a process its TASK: sent, let through by the run that this session is, and in its hands, in
/// one step.
pub fn assign(
    party: &Party<'_>,
    worker: &WorkerId,
    words: NewMessage,
    session: &str,
) -> Result<Message> {
    let mail = party.fleet.mail(worker)?;
    let body = parsed(&words)?;
    let proposal = proposal(party, words, &body, None);
    let (brief, text) = briefs::hand_over(&mail, party.name(), proposal, session)?;
    Ok(Message::of_brief(&brief, &text))
}

/// Says a process's word about the TASK that it was given. Whoever it is for has not acknowledged it.
pub fn report_for(
    party: &Party<'_>,
    (place, task): (&MessageAddress, &TaskId),
    word: ProcessWord<'_>,
) -> Result<Sent> {
    let bead_id = task.to_string();
    let stuck = |reason: &str, needs| StuckBody {
        bead_id: bead_id.clone(),
        reason: non_empty(reason),
        needs,
        depends_on: None,
    };
    let (subject, body) = match word {
        ProcessWord::Done(words) => {
            let (summary, commit_hash) = (non_empty(words), None);
            let body = DoneBody {
                bead_id,
                commit_hash,
                summary,
            };
            (Subject::Done, Body::Done(body))
        }
        ProcessWord::Abort(words) => (Subject::Stuck, Body::Stuck(stuck(words, Needs::Abort))),
        ProcessWord::Guidance(words) => {
            (Subject::Stuck, Body::Stuck(stuck(words, Needs::Guidance)))
        }
        ProcessWord::Progress(words) => {
            let body = ProgressBody {
                bead_id,
                percent: None,
                status: non_empty(words),
                files: Vec::new(),
            };
            (Subject::Progress, Body::Progress(body))
        }
    };
    let words = NewMessage {
        subject,
        body: body.to_text(),
        to: None,
        thread: None,
        answers: Some(place.clone()),
        id: None,
    };
    let speaker = &spoken_for(party, &place.worker);
    let fleet = party.fleet;
    send(&Party { fleet, speaker }, words, Gate::Policy)
}

/// A message says something.
fn non_empty(words: &str) -> String {
    match words.trim() {
        "" => "it says no more".to_owned(),
        words => words.to_owned(),
    }
}

/// Who speaks in a process's name, and says so.
fn spoken_for(party: &Party<'_>, process: &WorkerId) -> Speaker {
    Speaker {
        name: process.clone(),
        by: Some(party.name().clone()),
    }
}

/// Ends a process's TASKs in these threads, whose runs are over. Of one that did its task and had no
/// time to say so, that is said now; any other is taken back.
pub(super) fn put_away(
    list: &List<'_>,
    party: &Party<'_>,
    mail: &Mail<'_>,
    threads: &BTreeSet<String>,
) -> Result<()> {
    for Judged { seen, answer, next } in judged(mail)?.0 {
        let message = &seen.message;
        let is_open = next != NextStep::Nothing && answer == TaskReply::None;
        if message.subject != Some(Subject::Task) || !is_open || !is_in(threads, message) {
            continue;
        }
        let done = match seen.state {
            MessageStatus::Acked => done_by(list, message),
            _ => None,
        };
        match done {
            Some((task, text)) => {
                let word = ProcessWord::Done(&text);
                let sent = report_for(party, (&message.place, &task), word)?;
                ack(party, &sent.message.place)?;
            }
            None => {
                withdraw(party, &message.place, "the run that it belonged to is over")?;
            }
        }
    }
    Ok(())
}

/// The task of a TASK, if its worker did it, and its result. One that cannot be read costs no other.
fn done_by(list: &List<'_>, message: &Message) -> Option<(TaskId, String)> {
    let id = task_of(message)?;
    let task = list.task(&id).ok()?.task;
    let result = task.result.filter(|result| {
        let ours = result.by == message.place.worker && result.at >= message.at;
        result.ending == Ending::Completed && ours
    })?;
    (task.state == TaskState::Completed).then_some((id, result.text))
}
