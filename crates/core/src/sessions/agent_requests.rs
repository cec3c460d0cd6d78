//! The words of agents that cannot write the home, and what agents of a dead session said at all.
//!
//! Owns `word-{uuid}.json` in an attempt's `out/`: the operation that a sandboxed agent asked for, made
//! durable before it was told that it was said. The run takes each one up as that worker's operation, with
//! its token; whoever recovers a dead run does so in its place, before tasks are given back. A word that
//! is refused is kept beside, under another name, with the reason.

use std::path::{Path, PathBuf};

use flagpost_disk::{dialects::session::layout, fsx};
use flagpost_model::{
    Seq, SessionId, TaskId, Token, WorkerId, names,
    session::{Outcome, TaskReport},
    task::{Act, Ending},
};
use serde::{Deserialize, Serialize};

use super::{attempt, knowledge};
use crate::{
    error::{Error, Result},
    home::Home,
    list::List,
    relay::{Fleet, deliver},
    tasks::{self, Move, Parts, is_late},
};

/// How a word's file begins.
const PREFIX: &str = "word-";

/// How one that was refused does.
const REFUSED: &str = "refused-";

/// Largest word that is read: 16 MiB.
const LIMIT: u64 = 16 << 20;

names! {
    /// What an agent may ask for by a word.
    AgentOperation {
        /// To complete its task.
        Done = "task.done",
        /// To give it up.
        Fail = "task.fail",
        /// To ask a person.
        Stuck = "task.stuck",
        /// To give it back.
        Release = "task.release",
        /// To add a note to a task.
        Note = "task.note",
        /// To acknowledge a brief.
        Ack = "worker.ack",
    }
}

/// An operation that an agent asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentRequest {
    /// Which operation.
    pub operation: AgentOperation,
    /// On which list.
    pub list: String,
    /// On which task.
    pub task: TaskId,
    /// As whom.
    pub worker: WorkerId,
    /// By which claim.
    pub token: Option<Token>,
    /// Its text; of an acknowledgement, the brief's number.
    pub text: String,
}

impl AgentRequest {
    /// As which move of its task it is carried out; a note is none, and an acknowledgement.
    fn event(&self) -> Option<Move> {
        let finish = |ending| Move::Finish {
            ending,
            text: self.text.clone(),
            parts: Parts::MustBeDone,
        };
        match self.operation {
            AgentOperation::Done => Some(finish(Ending::Completed)),
            AgentOperation::Fail => Some(finish(Ending::Failed)),
            AgentOperation::Stuck => Some(finish(Ending::Stuck)),
            AgentOperation::Release => Some(Move::Release { force: false }),
            AgentOperation::Note | AgentOperation::Ack => None,
        }
    }

    fn act(&self, home: &Home) -> Act {
        Act {
            actor: self.worker.clone(),
            token: self.token,
            at: home.now(),
        }
    }
}

/// Leaves these words beside the report, durable on return; what would be refused as it stands is refused
/// at once, and nothing is left.
pub fn say(list: &List<'_>, report: &Path, words: &[AgentRequest]) -> Result<()> {
    for word in words {
        let Some(event) = word.event() else {
            list.task(&word.task)?;
            continue;
        };
        let ids: Vec<TaskId> = words.iter().map(|it| it.task.clone()).collect();
        for preview in tasks::preview_moves(list, &word.act(list.home), &ids, &event)? {
            match preview.refusal {
                None => {}
                // Whoever takes it up keeps what was reported too late.
                Some(Error::Refused(refusal)) if is_late(&refusal, &word.text) => {}
                Some(refusal) => return Err(refusal),
            }
        }
    }
    words
        .iter()
        .try_for_each(|word| leave(list.home, report, word))
}

/// Leaves a word beside the report; durable on return.
fn leave(home: &Home, report: &Path, word: &AgentRequest) -> Result<()> {
    let out = report.parent().unwrap_or(Path::new("/"));
    let path = out.join(format!("{PREFIX}{}.json", home.fs().dated_id()));
    let text = serde_json::to_string_pretty(word).map_err(|error| not_taken(error.to_string()))?;
    Ok(fsx::publish(
        home.fs(),
        &path,
        format!("{text}\n").as_bytes(),
    )?)
}

/// The words that lie in an attempt's `out/`, oldest first; what cannot be read as one says why.
pub fn left(home: &Home, out: &Path) -> Result<Vec<(PathBuf, Result<AgentRequest, String>)>> {
    let names = fsx::names(home.fs(), out)?;
    let is_word = |name: &&str| name.starts_with(PREFIX) && name.ends_with(".json");
    // Their ids are ordered by time.
    let mut names: Vec<&str> = names
        .iter()
        .filter_map(|it| it.to_str())
        .filter(is_word)
        .collect();
    names.sort_unstable();
    let read = |name: &str| {
        let path = out.join(name);
        let word = home
            .fs()
            .read(&path, 0, LIMIT)
            .map_err(|error| error.to_string())
            .and_then(|bytes| serde_json::from_slice(&bytes).map_err(|error| error.to_string()));
        (path, word)
    };
    Ok(names.into_iter().map(read).collect())
}

/// Carries a word out on its list, as its worker's operation. Whoever wrote it could write any name: it is
/// that of `worker`, where that is known, and in any case of a process that a run started.
pub fn carry_out(list: &List<'_>, word: &AgentRequest, worker: Option<&WorkerId>) -> Result<()> {
    if word.list != list.id().to_string() {
        return Err(not_taken(format!("it is about list {}", word.list)));
    }
    if worker.is_some_and(|it| *it != word.worker) || !word.worker.is_process() {
        return Err(not_taken(format!(
            "it is said in the name of {}",
            word.worker
        )));
    }
    if word.operation == AgentOperation::Ack {
        return acknowledge(list, word);
    }
    let Some(event) = word.event() else {
        let ids = std::slice::from_ref(&word.task);
        return tasks::note(list, &word.worker, ids, &word.text).map(drop);
    };
    let act = word.act(list.home);
    tasks::act(list, &act, &word.task, event).map(drop)
}

/// Acknowledges a brief. What stands against it is the agent's to hear of, and ends no run.
fn acknowledge(list: &List<'_>, word: &AgentRequest) -> Result<()> {
    let repository = list.repository()?;
    let fleet = Fleet::of(list.home, &repository);
    let seq = word.text.parse::<Seq>();
    let seq = seq.map_err(|error| not_taken(error.to_string()))?;
    let mail = fleet.mail(&word.worker);
    match mail.and_then(|mail| deliver::ack(&mail, &word.worker, seq)) {
        Ok(_) => Ok(()),
        Err(Error::Disk(error)) => Err(error.into()),
        Err(error) => Err(not_taken(error.to_string())),
    }
}

fn not_taken(reason: String) -> Error {
    Error::Invalid {
        what: "the word".to_owned(),
        reason,
    }
}

/// A word was carried out: it is said no more.
pub fn take_away(home: &Home, path: &Path) -> Result<()> {
    Ok(fsx::remove(home.fs(), path)?)
}

/// A word was refused: it is kept beside, with the reason, and not tried again.
pub fn quarantine(home: &Home, path: &Path, reason: &str) -> Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let aside = path.with_file_name(format!("{REFUSED}{name}"));
    fsx::replace(
        home.fs(),
        &aside.with_extension("reason.txt"),
        format!("{reason}\n").as_bytes(),
    )?;
    Ok(fsx::move_dir(home.fs(), path, &aside)?)
}

/// Carries out what the agents of a dead session said and nobody took up: their words, then their
/// reports, of which one that says PASS completes its task. Reports and notes go to `ended`, where the
/// session's files are now.
pub(super) fn take_up_left(
    sessions: &super::Sessions<'_>,
    list: &List<'_>,
    session: &SessionId,
    ended: &Path,
) -> Result<()> {
    let home = sessions.home;
    for (task, attempt) in attempt::left_by(home, &sessions.repository, session)? {
        for (path, word) in left(home, &attempt.out())? {
            let refused = match word {
                Ok(word) => refused(list, &word)?,
                Err(why) => Some(why),
            };
            match refused {
                None => take_away(home, &path)?,
                Some(reason) => quarantine(home, &path, &reason)?,
            }
        }
        let name = layout::task_result(&task);
        let result = ended.join(&name);
        let read = |path: &Path| knowledge::report(home, path, &name);
        let report = match read(&attempt.report())? {
            Some(report) => Some(report),
            // An agent that knows no `$FLAGPOST_REPORT` wrote to the old place.
            None => read(&result)?,
        };
        if let Some(word) = request_of_report(list, session, &task, report)? {
            // Who finished meanwhile, or lost the task, is answered by the list as it is.
            let _refused: Option<String> = refused(list, &word)?;
        }
        let notes = ended.join(layout::task_context(&task));
        knowledge::take(home, &attempt.notes(), &notes)?;
        knowledge::take(home, &attempt.report(), &result)?;
    }
    Ok(())
}

/// The word of a report that says PASS, of whoever holds the task for this session.
fn request_of_report(
    list: &List<'_>,
    session: &SessionId,
    task: &TaskId,
    report: Option<TaskReport>,
) -> Result<Option<AgentRequest>> {
    let Some(report) = report.filter(|it| it.outcome == Some(Outcome::Pass)) else {
        return Ok(None);
    };
    let holder = match list.task(task) {
        Ok(file) => file.task.state.claim().cloned(),
        Err(Error::NotFound { .. }) => None,
        Err(error) => return Err(error),
    };
    let holder = holder.filter(|claim| claim.session.as_ref() == Some(session));
    Ok(holder.map(|claim| AgentRequest {
        operation: AgentOperation::Done,
        list: list.id().to_string(),
        task: task.clone(),
        worker: claim.by,
        token: Some(claim.token),
        text: report.summary,
    }))
}

/// Carries a word out; why it is refused, where it is.
fn refused(list: &List<'_>, word: &AgentRequest) -> Result<Option<String>> {
    match carry_out(list, word, None) {
        Ok(()) => Ok(None),
        Err(error) => refusal(error).map(Some),
    }
}

/// The words of an error that only says "no"; the error itself where it is another.
pub fn refusal(error: Error) -> Result<String> {
    match error {
        Error::Refused(_)
        | Error::Coordination(_)
        | Error::CoordinationLate { .. }
        | Error::KeptLate(_)
        | Error::Invalid { .. }
        | Error::NotFound { .. } => Ok(error.to_string()),
        other => Err(other),
    }
}
