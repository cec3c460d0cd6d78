//! A worker's side: taking a task, doing it, saying what came of it.
//!
//! Owns that any verb of a worker is a sign of its life, and that what comes too late is kept.

use flagpost_disk::{
    dialects::coordination as layout,
    fsx::{self, Durability},
};
use flagpost_model::{
    TaskId, Token, WorkerId,
    coordination::{
        CoordAgent, CoordEvent, CoordRefusal, CoordResult, CoordStatus, CoordTask, NewCoordTask,
        result_page,
    },
};

use super::{Directory, change::CoordChange, leader::put};
use crate::{
    error::{Error, Result},
    history::Kind,
};

/// Who acts, with which token.
#[derive(Debug, Clone, Copy)]
pub struct CoordActor<'a> {
    /// Who.
    pub actor: &'a WorkerId,
    /// The token of its claim, if it has it.
    pub token: Option<Token>,
}

/// A task that was claimed.
#[derive(Debug, Clone)]
pub struct CoordClaimed {
    /// The task.
    pub task: CoordTask,
    /// The claim's token.
    pub token: Option<Token>,
    /// What else the worker holds.
    pub also: Vec<TaskId>,
}

/// Makes a worker known, or says anew what it can do.
pub fn register(
    directory: &Directory<'_>,
    worker: &WorkerId,
    capabilities: &[String],
) -> Result<CoordAgent> {
    directory.home().environment().must_be_a_worker(worker)?;
    if let Some(word) = capabilities.iter().find(|it| it.contains(',')) {
        return Err(Error::Invalid {
            what: format!("capability {word:?}"),
            reason: "a comma separates capabilities".to_owned(),
        });
    }
    directory.change(worker, |change| {
        let now = change.now;
        let agent = change.agent(worker);
        agent.capabilities = capabilities.to_vec();
        agent.last_seen = Some(now);
        let agent = agent.clone();
        change.tell(worker.as_str(), "REGISTER", &capabilities.join(", "));
        Ok(agent)
    })
}

/// A sign of life: all that the worker holds stays its own for a lease from now. Refused where a task is
/// named that the worker does not hold: somebody else may be at work on it.
pub fn heartbeat(
    directory: &Directory<'_>,
    worker: &WorkerId,
    task: Option<&TaskId>,
) -> Result<CoordAgent> {
    directory.change(worker, |change| {
        if let Some(id) = task {
            let held = change.task(id)?.clone();
            let hand = CoordActor {
                actor: worker,
                token: None,
            };
            change.judge(&held, &hand, CoordEvent::Keep)?;
        }
        let now = change.now;
        let agent = change.agent(worker);
        agent.last_seen = Some(now);
        Ok(agent.clone())
    })
}

/// Claims a task by its id, else the one that comes first for this worker.
pub fn claim(
    directory: &Directory<'_>,
    worker: &WorkerId,
    wanted: Option<&TaskId>,
) -> Result<CoordClaimed> {
    let answer = directory.change(worker, |change| {
        // Before the sign of life: a worker that was away for too long claims its task anew.
        let next = match wanted {
            Some(id) => Ok(id.clone()),
            None => change.board.next_for(worker, change.now),
        };
        let id = match next {
            Ok(id) => id,
            Err(idle) => {
                change.seen(worker);
                return Ok(Err(idle));
            }
        };
        let task = change.task(&id)?.clone();
        let event = change.board.claim(&task, worker);
        let hand = CoordActor {
            actor: worker,
            token: None,
        };
        let task = change.judge(&task, &hand, event)?;
        change.seen(worker);
        change.apply(task.clone(), Kind::TaskClaimed);
        change.tell(
            worker.as_str(),
            "CLAIM",
            &format!("{id}: {}", task.description),
        );
        let mine = change.board.tasks.iter().filter(|it| {
            let by = it.holder().map(|claim| claim.by.as_str());
            by == Some(worker.as_str()) && it.id != id
        });
        Ok(Ok(CoordClaimed {
            token: task.claim.as_ref().and_then(|it| it.token()),
            also: mine.map(|it| it.id.clone()).collect(),
            task,
        }))
    })?;
    answer.map_err(|idle| Error::Idle {
        worker: worker.clone(),
        idle,
    })
}

/// Begins a claimed task.
pub fn start(directory: &Directory<'_>, hand: &CoordActor<'_>, id: &TaskId) -> Result<CoordTask> {
    step(directory, hand, id, &CoordEvent::Start, Kind::TaskStarted)
}

/// Completes a task, its result durable with it.
pub fn complete(
    directory: &Directory<'_>,
    hand: &CoordActor<'_>,
    id: &TaskId,
    report: &CoordResult,
) -> Result<CoordTask> {
    let event = CoordEvent::Complete(report.clone());
    let said = report.output.as_deref().unwrap_or_default();
    let done = step(directory, hand, id, &event, Kind::TaskCompleted);
    or_keep(directory, hand, id, said, done)
}

/// Gives a task up. Where it has retries left it is available again after a rest.
pub fn fail(
    directory: &Directory<'_>,
    hand: &CoordActor<'_>,
    id: &TaskId,
    why: &str,
) -> Result<CoordTask> {
    let event = CoordEvent::Fail(why.to_owned());
    let failed = step(directory, hand, id, &event, Kind::TaskFailed);
    or_keep(directory, hand, id, why, failed)
}

/// Adds a part of a task that the worker holds, as urgent as that.
pub fn subtask(
    directory: &Directory<'_>,
    hand: &CoordActor<'_>,
    parent: &TaskId,
    draft: &NewCoordTask,
) -> Result<CoordTask> {
    directory.change(hand.actor, |change| {
        let whole = change.task(parent)?.clone();
        let whole = change.judge(&whole, hand, CoordEvent::Split)?;
        let mut draft = draft.clone();
        draft.parent = Some(whole.id.clone());
        draft.priority = draft.priority.or(Some(whole.priority));
        let added = put(directory, change, vec![draft])?;
        change.seen(hand.actor);
        for task in &added {
            let told = format!("{} of {parent}: {}", task.id, task.description);
            change.tell(hand.actor.as_str(), "SUBTASK", &told);
        }
        added
            .into_iter()
            .next()
            .ok_or_else(|| super::unknown(parent))
    })
}

fn step(
    directory: &Directory<'_>,
    hand: &CoordActor<'_>,
    id: &TaskId,
    event: &CoordEvent,
    kind: Kind,
) -> Result<CoordTask> {
    directory.change(hand.actor, |change| {
        let before = change.task(id)?.clone();
        let after = change.judge(&before, hand, event.clone())?;
        change.seen(hand.actor);
        let word = match event {
            CoordEvent::Complete(_) => "COMPLETE",
            CoordEvent::Fail(_) => "FAIL",
            CoordEvent::Claim { .. }
            | CoordEvent::Start
            | CoordEvent::Split
            | CoordEvent::Keep
            | CoordEvent::Block(_)
            | CoordEvent::Release
            | CoordEvent::Cancel(_)
            | CoordEvent::Retry => "START",
        };
        if after.status == CoordStatus::Done || matches!(event, CoordEvent::Fail(_)) {
            // One that is available again is nobody's, but the page says whose word it is.
            let claim = after.claim.clone().or(before.claim);
            let told = CoordTask {
                claim,
                ..after.clone()
            };
            result(directory, change, &told);
        }
        let said = after.result.error.as_deref().unwrap_or_default();
        change.tell(hand.actor.as_str(), word, &format!("{id} {said}"));
        change.apply(after.clone(), kind.clone());
        Ok(after)
    })
}

fn result(directory: &Directory<'_>, change: &mut CoordChange, task: &CoordTask) {
    change.page(directory.path(&layout::result(&task.id)), result_page(task));
}

/// What a worker says about a task that is not its own any more is kept, and never applied.
fn or_keep(
    directory: &Directory<'_>,
    hand: &CoordActor<'_>,
    id: &TaskId,
    said: &str,
    done: Result<CoordTask>,
) -> Result<CoordTask> {
    match done {
        Err(Error::Coordination(refusal)) => {
            Err(keep_late(directory, hand.actor, id, said, refusal)?)
        }
        other => other,
    }
}

/// Keeps what somebody says of a task where a claim that is over is why it is refused; the refusal that
/// says so.
pub(crate) fn keep_late(
    directory: &Directory<'_>,
    actor: &WorkerId,
    id: &TaskId,
    said: &str,
    refusal: CoordRefusal,
) -> Result<Error> {
    let is_late = matches!(
        refusal,
        CoordRefusal::Held { .. }
            | CoordRefusal::Stale { .. }
            | CoordRefusal::NotClaimed { .. }
            | CoordRefusal::WrongStatus { .. }
    );
    if !is_late || said.trim().is_empty() {
        return Ok(refusal.into());
    }
    let home = directory.home;
    let _lock = directory.lock()?;
    directory.make_dir(layout::LATE)?;
    let entry = layout::late_entry(directory.naive(home.now()), actor.as_str(), said);
    let path = directory.path(&layout::late(id));
    fsx::append(home.fs(), &path, entry.as_bytes(), Durability::Synced)?;
    Ok(Error::CoordinationLate { refusal, path })
}
