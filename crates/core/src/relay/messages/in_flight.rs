//! Errands: what runs of a list left with their workers, and what those said since.
//!
//! Owns what is made of a word whose run is over: a task that waits for nobody is done by it, and
//! what comes too late is kept as a late result. Each report is acknowledged after it took effect,
//! and to take effect twice changes nothing. A TASK that nobody goes on from is taken back. It must
//! never take a task from somebody who has it.

use std::collections::BTreeSet;

use flagpost_disk as disk;
use flagpost_model::{
    TaskId, WorkerId,
    message::{Body, Left, Leftover, Message, Needs, StuckBody, Subject, TaskReply, leftover},
    task::{Act, DEFAULT_LEASE, Ending, State},
};

use super::{
    Ask, Filter, Party, ack, processes, questions,
    receive::waiting_reports,
    scan::{Judged, judged},
    withdraw,
};
use crate::{
    claims::{self, Terms},
    error::{Error, Result},
    list::List,
    relay::{Fleet, Mail},
    tasks::{self, Move, Parts},
};

/// A TASK that its run left with a worker.
#[derive(Debug, Clone)]
pub struct InFlightTask {
    /// Which task of the list.
    pub task: TaskId,
    /// The TASK.
    pub message: Message,
    /// Where it is.
    pub left: Left,
    /// Its worker asked for guidance and has no answer yet.
    pub asks: bool,
    /// The question, where nobody has even written an answer.
    pub question: Option<Message>,
}

/// A word that changed its task though its run is over.
#[derive(Debug, Clone)]
pub struct SettledTask {
    /// Which task of the list.
    pub task: TaskId,
    /// What its worker said.
    pub report: Message,
}

/// What became of a worker's word about a task that its run does not wait for any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// The task is done by it.
    Done,
    /// It is kept as a late result.
    Late,
    /// It changes nothing: it had taken effect before, or there is nothing to keep.
    Nothing,
}

/// The errands of these threads, a task's newest last.
pub fn in_flight(
    list: &List<'_>,
    fleet: &Fleet<'_>,
    threads: &BTreeSet<String>,
) -> Result<Vec<InFlightTask>> {
    let mut found = Vec::new();
    for mail in fleet.mails()? {
        // A process ends with its run.
        if mail.worker.is_process() {
            continue;
        }
        for (judged, leftover) in leftovers(list, &mail, threads)? {
            let message = judged.seen.message;
            if let (Leftover::Stays(left), Some(task)) = (leftover, task_of(&message)) {
                let asks = judged.answer == TaskReply::Stuck(Needs::Guidance);
                let question = match asks {
                    true => questions::about(&mail, &message)?,
                    false => None,
                };
                found.push(InFlightTask {
                    task,
                    message,
                    left,
                    asks,
                    question,
                });
            }
        }
    }
    found.sort_by_key(|it| it.message.at);
    Ok(found)
}

/// The TASKs of these threads in a worker's mail, and what becomes of each.
fn leftovers(
    list: &List<'_>,
    mail: &Mail<'_>,
    threads: &BTreeSet<String>,
) -> Result<Vec<(Judged, Leftover)>> {
    let mut all = judged(mail)?.0;
    all.retain(|it| {
        let message = &it.seen.message;
        message.subject == Some(Subject::Task) && is_in(threads, message)
    });
    let of = |it: Judged| {
        let is_wanted = task_of(&it.seen.message).is_some_and(|task| is_wanted(list, &task));
        let leftover = leftover(it.next, it.answer, is_wanted);
        (it, leftover)
    };
    Ok(all.into_iter().map(of).collect())
}

/// Whether a task is still to be done. One that cannot be read may be.
fn is_wanted(list: &List<'_>, task: &TaskId) -> bool {
    match list.task(task) {
        Ok(file) => !matches!(file.task.state, State::Completed | State::Cancelled),
        Err(error) => !matches!(error, Error::NotFound { .. }),
    }
}

/// Ends the TASKs of these threads, whose runs are over, where nobody goes on from them: those of
/// processes, those that were not let through, those whose tasks are over.
pub fn put_away(list: &List<'_>, party: &Party<'_>, threads: &BTreeSet<String>) -> Result<()> {
    for mail in party.fleet.mails()? {
        if mail.worker.is_process() {
            processes::put_away(list, party, &mail, threads)?;
            continue;
        }
        for (judged, leftover) in leftovers(list, &mail, threads)? {
            if let Leftover::TakenBack(because) = leftover {
                withdraw(party, &judged.seen.message.place, because)?;
            }
        }
    }
    Ok(())
}

/// What workers, or only one of them, said in these threads and nobody has acknowledged, in its
/// order. Nobody is given it: whoever asks is the only one who may.
pub fn unprocessed(
    party: &Party<'_>,
    threads: &BTreeSet<String>,
    from: Option<&WorkerId>,
) -> Result<Vec<Message>> {
    let ask = Ask {
        of: Filter {
            from: from.map(ToString::to_string),
            ..Filter::default()
        },
        restart: true,
        ..Ask::default()
    };
    let mut reports = waiting_reports(party, &ask)?;
    reports.retain(|it| is_in(threads, it));
    Ok(reports)
}

/// Deals with what workers said in the threads of runs that are over: done is done, whoever cannot
/// go on is heard. Answers with the words that changed something.
pub fn reconcile(
    list: &List<'_>,
    party: &Party<'_>,
    threads: &BTreeSet<String>,
) -> Result<Vec<SettledTask>> {
    let mut changed = Vec::new();
    for report in unprocessed(party, threads, None)? {
        let kept = match (report.typed(), task_of(&report)) {
            (Some(Body::Done(_)), _) => apply_done(list, &report)?,
            (Some(Body::Stuck(body)), Some(task)) => apply_stuck(list, &report, &task, &body)?,
            _ => Kept::Nothing,
        };
        ack(party, &report.place)?;
        if let (true, Some(task)) = (kept != Kept::Nothing, task_of(&report)) {
            changed.push(SettledTask { task, report });
        }
    }
    Ok(changed)
}

/// Makes of a DONE that nobody waits for what can be made of it.
pub fn apply_done(list: &List<'_>, report: &Message) -> Result<Kept> {
    let (Some(Body::Done(body)), Some(task)) = (report.typed(), task_of(report)) else {
        return Ok(Kept::Nothing);
    };
    let (worker, words) = (&report.place.worker, body.words());
    if let Ok(file) = list.task(&task)
        && file.task.state == State::Completed
        && let Some(result) = &file.task.result
        && &result.by == worker
        && (result.text == words || result.at >= report.at)
    {
        return Ok(Kept::Nothing);
    }
    let act = Act {
        actor: worker.clone(),
        token: None,
        at: list.home.now(),
    };
    answer(tasks::act(list, &act, &task, finish(Ending::Completed, words)).map(drop))
}

/// What a STUCK asks for, where its task waits for nobody. Guidance needs a person, and the
/// question stays where it is.
fn apply_stuck(list: &List<'_>, report: &Message, task: &TaskId, body: &StuckBody) -> Result<Kept> {
    match (body.needs, body.depends_on.as_ref().map(|it| it.parse())) {
        (Needs::Abort, _) => answer(fail(list, &report.place.worker, task, &body.reason)),
        (Needs::Dependency, Some(Ok(on))) => {
            answer(tasks::link(list, &report.place.worker, task, &[on]).map(drop))
        }
        (Needs::Dependency | Needs::Guidance, _) => Ok(Kept::Nothing),
    }
}

/// Only who has a task can fail at it.
fn fail(list: &List<'_>, worker: &WorkerId, task: &TaskId, reason: &str) -> Result<()> {
    let terms = Terms {
        actor: worker.clone(),
        lease: DEFAULT_LEASE,
        session: None,
    };
    let claim = claims::start(list, &terms, None, task)?.claim;
    let act = Act {
        actor: claim.by,
        token: Some(claim.token),
        at: list.home.now(),
    };
    tasks::act(list, &act, task, finish(Ending::Failed, reason.to_owned())).map(drop)
}

fn finish(ending: Ending, text: String) -> Move {
    Move::Finish {
        ending,
        text,
        parts: Parts::MayBeOpen,
    }
}

/// A rule that says no is an answer; a disk that does is not.
fn answer(result: Result<()>) -> Result<Kept> {
    match result {
        Ok(()) => Ok(Kept::Done),
        Err(Error::KeptLate(_)) => Ok(Kept::Late),
        Err(
            Error::Refused(_)
            | Error::Invalid { .. }
            | Error::NotFound { .. }
            | Error::Disk(disk::Error::Malformed { .. }),
        ) => Ok(Kept::Nothing),
        Err(error) => Err(error),
    }
}

pub(super) fn is_in(threads: &BTreeSet<String>, message: &Message) -> bool {
    let thread = message.thread.as_ref();
    thread.is_some_and(|thread| threads.contains(thread))
}

pub(super) fn task_of(message: &Message) -> Option<TaskId> {
    message.task()?.parse().ok()
}
