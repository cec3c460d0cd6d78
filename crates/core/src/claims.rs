//! Claiming: one holder per task, however many race.
//!
//! Owns the search for the next task: under the list's lock, where one claimer looks at the list and
//! claims for all who queue. What was found is checked again, one file each, before it is given out.

mod queue;
mod revision;

use std::collections::BTreeSet;

use flagpost_disk::{self as disk, fsx};
use flagpost_model::{
    Refusal, SessionId, TaskId, Token, WorkerId,
    plan::{Graph, first_ready},
    query::Query,
    task::{Act, Claim, StateName, Task, TaskEvent, TaskSummary, transition},
};
use jiff::{SignedDuration, Timestamp};

use crate::{
    change::{Change, Written},
    error::{Error, OrderRefusal, Result},
    history::{History, Kind},
    list::List,
    tasks,
};
use queue::{Promise, QueueOutcome, Waiting};
pub use revision::{Revision, revise};

/// How many are looked for at first: more than wait, and than are likely to be refused.
const MOST: usize = 256;

/// On whose behalf, and for how long.
#[derive(Debug, Clone)]
pub struct Terms {
    /// Who claims.
    pub actor: WorkerId,
    /// How long without renewal.
    pub lease: SignedDuration,
    /// The session that hands the task out.
    pub session: Option<SessionId>,
}

/// A task and the claim just made on it.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// The task, with its claim.
    pub task: Task,
    /// The claim.
    pub claim: Claim,
}

/// Claims this task.
pub fn claim(list: &List<'_>, terms: &Terms, id: &TaskId) -> Result<Claimed> {
    list.home.transact(|| {
        let others = tasks::named_by_others(&list.summaries()?, id);
        let change = list.change(&terms.actor)?;
        let ((), mut written) =
            change.commit_with(|change, token| claim_one(change, terms, id, token, &others))?;
        claimed(&mut written, id)
    })
}

/// Claims the first ready task.
pub fn claim_next(list: &List<'_>, terms: &Terms) -> Result<Claimed> {
    let mut promised = Vec::new();
    let claimed = list
        .home
        .transact(|| next_in_order(list, terms, &mut promised));
    // A change of our own has the place at which the promise would have come true. Without one it may
    // still, where others put changes in order.
    match claimed {
        Err(error) if !promised.is_empty() => after_promises(list, terms, &promised, error),
        claimed => claimed,
    }
}

/// The same once, after what was promised before.
fn next_in_order(list: &List<'_>, terms: &Terms, promised: &mut Vec<Promise>) -> Result<Claimed> {
    if let Some(table) = list.table() {
        let change = list.change(&terms.actor)?;
        let ready = candidates(&list.summaries()?, change.at(), usize::MAX);
        let found = table.in_order(&terms.actor, change.at(), &ready)?;
        return claim_for_all(change, terms, found, Vec::new());
    }
    for promise in promised.iter() {
        if let Some(claimed) = promise.kept(list, terms)? {
            return Ok(claimed);
        }
    }
    list.prepare()?;
    let change = match queue::wait(list, terms, promised)? {
        QueueOutcome::Served(claimed) => return Ok(*claimed),
        QueueOutcome::NothingReady => return Err(nothing_ready(list)),
        QueueOutcome::Ours(change) => *change,
    };
    queue::gather(list);
    let mut waiting = Vec::new();
    // Whoever asks after that is not served: the look would be older than its question.
    let standings = list.summaries_since(|| waiting = queue::waiting(list))?;
    let found = candidates(&standings, change.at(), MOST);
    let is_all = found.len() < MOST;
    match claim_for_all(change, terms, found, waiting) {
        // All of the first were refused, and one of the others may be had.
        Err(error) if is_about_one_task(&error) && !is_all => {
            let change = list.change(&terms.actor)?;
            let found = candidates(&list.summaries()?, change.at(), usize::MAX);
            claim_for_all(change, terms, found, Vec::new())
        }
        other => other,
    }
}

/// What a failure is to whoever was promised something: in a shared list the promise came true meanwhile,
/// or its place is another change's, or nobody knows.
fn after_promises(
    list: &List<'_>,
    terms: &Terms,
    promised: &[Promise],
    error: Error,
) -> Result<Claimed> {
    let repo = list.repository()?;
    let Some(order) = list.home.sequencer_of(&repo)? else {
        return Err(error);
    };
    if matches!(error, Error::NothingReady { .. }) && !fsx::holds_a_lock() {
        // Where that fails, nobody knows.
        let _: Result<()> = order.catch_up(&repo);
    }
    for promise in promised {
        if let Some(claimed) = promise.kept(list, terms)? {
            return Ok(claimed);
        }
    }
    let last = History::of(list.home, &repo).last()?;
    match promised.iter().all(|it| it.is_overtaken(last)) {
        true => Err(error),
        false => Err(OrderRefusal::Unsettled { repo }.into()),
    }
}

/// Claims the first ready task that fits.
pub fn claim_fitting(list: &List<'_>, terms: &Terms, query: &Query) -> Result<Claimed> {
    let loaded = list.load()?;
    let fitting = tasks::select(list, &loaded, query, Some(&terms.actor), 0)?;
    let fitting: BTreeSet<&TaskId> = fitting.tasks.iter().map(|it| &it.id).collect();
    for task in tasks::ready(&loaded.outlines, list.home.now()) {
        if !fitting.contains(&task.id) {
            continue;
        }
        match claim(list, terms, &task.id) {
            // Somebody was faster.
            Err(error) if is_about_one_task(&error) => {}
            claimed => return claimed,
        }
    }
    Err(nothing_ready(list))
}

/// The first of what can be claimed now, in order.
fn candidates(standings: &[TaskSummary], now: Timestamp, most: usize) -> Vec<TaskId> {
    let ready = first_ready(&Graph::new(standings), now, most).into_iter();
    ready.map(|standing| standing.id.clone()).collect()
}

/// Claims the task if nobody holds it, and begins the work on it.
pub fn start(list: &List<'_>, terms: &Terms, token: Option<Token>, id: &TaskId) -> Result<Claimed> {
    list.home.transact(|| {
        let others = tasks::named_by_others(&list.summaries()?, id);
        let change = list.change(&terms.actor)?;
        let ((), mut written) = change.commit_with(|change, new_token| {
            let act = Act {
                actor: terms.actor.clone(),
                token,
                at: change.at(),
            };
            start_in(change, terms, &act, id, (new_token, &others))
        })?;
        claimed(&mut written, id)
    })
}

/// The same as a part of a change: the token that a new claim gets, and the blockers that only
/// other files name.
pub(crate) fn start_in(
    change: &mut Change<'_>,
    terms: &Terms,
    act: &Act,
    id: &TaskId,
    (new_token, others): (Token, &[TaskId]),
) -> Result<()> {
    let held = change
        .task(id)?
        .state
        .claim()
        .is_some_and(|claim| claim.by == act.actor && claim.session == terms.session);
    if !held && act.token.is_none() {
        claim_one(change, terms, id, new_token, others)?;
    }
    let task = change.task(id)?;
    let before = task.state.name();
    *task = match transition(task, act, TaskEvent::Start) {
        Ok(after) => after,
        Err(refusal) => return Err(tasks::knowing(change.list(), refusal)?.into()),
    };
    let entry = change.note(Kind::TaskStarted, id);
    entry.from = Some(before);
    entry.to = Some(StateName::InProgress);
    Ok(())
}

/// Claims the first of `found` that can be, and the next ones for those who wait; fails as the last
/// of them did.
fn claim_for_all(
    change: Change<'_>,
    terms: &Terms,
    mut found: Vec<TaskId>,
    waiting: Vec<Waiting<'_>>,
) -> Result<Claimed> {
    if found.is_empty() {
        waiting.into_iter().for_each(Waiting::reply_empty);
        return Err(nothing_ready(change.list()));
    }
    let rule = |change: &mut Change<'_>, token: Token| {
        let own = claim_first(change, terms, token, &mut found, |_| true)?;
        let mut served = Vec::new();
        for (mut one, token) in waiting.into_iter().zip(token.0.saturating_add(1)..) {
            let (terms, token) = (one.terms(), Token(token));
            let told = |id: &TaskId| one.grant(id, token);
            // Whoever is not served looks itself, and hears why.
            let Ok(_) = claim_first(change, &terms, token, &mut found, told) else {
                break;
            };
            change.sign(&terms.actor, one.on_behalf_of());
            served.push(one);
        }
        if !served.is_empty() {
            change.set_apart();
        }
        Ok((own, served))
    };
    let tell = |(_, served): &(TaskId, Vec<Waiting<'_>>)| served.iter().for_each(Waiting::confirm);
    let ((own, _), mut written) = change.commit_then(rule, tell)?;
    claimed(&mut written, &own)
}

/// Claims the first of `found` that can be and whose claimer could be told of it, and takes it out.
fn claim_first(
    change: &mut Change<'_>,
    terms: &Terms,
    token: Token,
    found: &mut Vec<TaskId>,
    mut told: impl FnMut(&TaskId) -> bool,
) -> Result<TaskId> {
    let mut refused = nothing_ready(change.list());
    for (at, id) in found.iter().enumerate() {
        if !told(id) {
            break;
        }
        // The whole list was looked at to find them: others that name blockers were heard.
        match claim_one(change, terms, id, token, &[]) {
            Ok(()) => return Ok(found.remove(at)),
            Err(error) if is_about_one_task(&error) => refused = error,
            Err(error) => return Err(error),
        }
    }
    Err(refused)
}

fn nothing_ready(list: &List<'_>) -> Error {
    let list = list.id().clone();
    Error::NothingReady { list }
}

/// Whether the next candidate may fare better.
fn is_about_one_task(error: &Error) -> bool {
    matches!(
        error,
        Error::Refused(_)
            | Error::Coordination(_)
            | Error::NotFound { .. }
            | Error::Disk(disk::Error::Malformed { .. })
    )
}

fn claimed(written: &mut Written, id: &TaskId) -> Result<Claimed> {
    let claimed = written.remove(id).and_then(|task| {
        let claim = task.state.claim()?.clone();
        Some(Claimed { task, claim })
    });
    claimed.ok_or_else(|| Refusal::NotClaimed { task: id.clone() }.into())
}

fn claim_one(
    change: &mut Change<'_>,
    terms: &Terms,
    id: &TaskId,
    token: Token,
    others: &[TaskId],
) -> Result<()> {
    let list = change.list();
    let before = change.task(id)?.clone();
    // A history that was lost starts counting anew; a token must grow all the same.
    let token = before
        .state
        .claim()
        .map_or(token, |old| token.max(Token(old.token.0.saturating_add(1))));
    let open = tasks::open_blockers(list, &before, others)?;
    let act = Act {
        actor: terms.actor.clone(),
        token: None,
        at: change.at(),
    };
    let event = TaskEvent::Claim {
        token,
        lease: terms.lease,
        session: terms.session.clone(),
        open,
    };
    let after = transition(&before, &act, event)?;
    *change.task(id)? = after;
    let entry = change.note(Kind::TaskClaimed, id);
    entry.from = Some(before.state.name());
    entry.to = Some(StateName::Claimed);
    entry.detail.insert("token".to_owned(), token.0.into());
    Ok(())
}
