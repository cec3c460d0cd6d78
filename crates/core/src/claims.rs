//! Claiming: one holder per task, however many race.
//!
//! Owns the search for the next task. The search runs outside the list's lock, so that many
//! claimers look at once; what it finds is checked again under the lock, one file each, before it
//! is given out.

use std::time::{Duration, Instant};

use flagpost_disk as disk;
use flagpost_model::{
    SessionId, TaskId, Token, WorkerId,
    refusal::Refusal,
    task::{Act, Claim, Event, Outline, StateName, Task, transition},
};
use jiff::{SignedDuration, Timestamp};

use crate::{
    change::{Change, Written},
    error::{Error, Result},
    history::Kind,
    list::{List, Look},
    tasks,
};

/// How long a search serves while others claim from the same list. Searching anew for each claim,
/// many claimers would keep the machine from everything else, and what they find is old all the
/// same when the lock is theirs. What is taken is checked under the lock either way.
const FRESH: Duration = Duration::from_secs(1);

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
    let others = tasks::named_by_others(list, id)?;
    let change = list.change(&terms.actor)?;
    let ((), mut written) =
        change.commit_with(|change, token| claim_one(change, terms, id, token, &others))?;
    claimed(&mut written, id)
}

/// Claims the first ready task.
pub fn claim_next(list: &List<'_>, terms: &Terms) -> Result<Claimed> {
    let mut seen = list.take_look();
    if seen.at.is_none_or(|at| at.elapsed() > FRESH) || seen.candidates.is_empty() {
        seen = Look {
            at: Some(Instant::now()),
            candidates: candidates(&list.load()?.outlines, list.home.now()),
        };
    }
    if !seen.candidates.is_empty() {
        let found = seen.candidates.len();
        match claim_first(list.change(&terms.actor)?, terms, &mut seen.candidates) {
            Err(error) if is_about_one_task(&error) => {}
            other => {
                // Others took what came first.
                if found - seen.candidates.len() > 1 {
                    list.keep_look(seen);
                }
                return other;
            }
        }
    }
    // All that was seen is gone; what became ready meanwhile shows under the lock.
    let change = list.change(&terms.actor)?;
    let mut seen = candidates(&change.load()?.outlines, change.at());
    if seen.is_empty() {
        return Err(Error::NothingReady {
            list: list.id().clone(),
        });
    }
    claim_first(change, terms, &mut seen)
}

/// What can be claimed now, the first one last.
fn candidates(outlines: &[Outline], now: Timestamp) -> Vec<TaskId> {
    let ready = tasks::ready(outlines, now);
    ready
        .into_iter()
        .rev()
        .map(|outline| outline.id.clone())
        .collect()
}

/// Claims the task if nobody holds it, and begins the work on it.
pub fn start(list: &List<'_>, terms: &Terms, token: Option<Token>, id: &TaskId) -> Result<Claimed> {
    let others = tasks::named_by_others(list, id)?;
    let change = list.change(&terms.actor)?;
    let ((), mut written) = change.commit_with(|change, new_token| {
        let act = Act {
            actor: terms.actor.clone(),
            token,
            at: change.at(),
        };
        let held = change
            .task(id)?
            .state
            .claim()
            .is_some_and(|claim| claim.by == act.actor);
        if !held && token.is_none() {
            claim_one(change, terms, id, new_token, &others)?;
        }
        let task = change.task(id)?;
        let before = task.state.name();
        *task = transition(task, &act, Event::Start)?;
        let entry = change.note(Kind::TaskStarted, id);
        entry.from = Some(before);
        entry.to = Some(StateName::InProgress);
        Ok(())
    })?;
    claimed(&mut written, id)
}

/// Takes candidates off the end until one can be claimed; fails as the last of them did.
fn claim_first(change: Change<'_>, terms: &Terms, candidates: &mut Vec<TaskId>) -> Result<Claimed> {
    let (id, mut written) = change.commit_with(|change, token| {
        let mut refused = Error::NothingReady {
            list: change.list().id().clone(),
        };
        while let Some(id) = candidates.pop() {
            // The whole list was looked at to find them: others that name blockers were heard.
            match claim_one(change, terms, &id, token, &[]) {
                Ok(()) => return Ok(id),
                Err(error) if is_about_one_task(&error) => refused = error,
                Err(error) => return Err(error),
            }
        }
        Err(refused)
    })?;
    claimed(&mut written, &id)
}

/// Whether the next candidate may fare better.
fn is_about_one_task(error: &Error) -> bool {
    matches!(
        error,
        Error::Refused(_) | Error::NotFound { .. } | Error::Disk(disk::Error::Malformed { .. })
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
    let before = list.task(id)?.task;
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
    let event = Event::Claim {
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

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, path::Path, sync::Arc, thread};

    use flagpost_disk::fsx::{self, RealFs};
    use flagpost_model::task::DEFAULT_LEASE;

    use super::*;
    use crate::{Home, Repository, SystemClock, tasks::Fields};

    fn home(root: &Path) -> Home {
        Home::new(root.join("home"), Arc::new(RealFs), Arc::new(SystemClock))
    }

    /// A repository without git, and its list with this many tasks.
    fn list_of(root: &Path, tasks: usize) -> Repository {
        let home = home(root);
        let actor = WorkerId::operator();
        let marker = root.join(".flagpost");
        fsx::make_dirs(&RealFs, &marker).unwrap();
        fsx::replace(&RealFs, &marker.join("repo-id"), b"here\n").unwrap();
        let repository = Repository::register(&home, root, &actor).unwrap();
        let list = List::open_or_create(&home, &repository.name, &repository).unwrap();
        for n in 0..tasks {
            add(&list, &format!("task {n}"));
        }
        repository
    }

    fn add(list: &List<'_>, subject: &str) -> TaskId {
        let fields = Fields {
            subject: Some(subject.to_owned()),
            ..Fields::default()
        };
        let task = tasks::add(list, &WorkerId::operator(), &fields, &[]);
        task.unwrap().id
    }

    fn terms(worker: usize) -> Terms {
        Terms {
            actor: format!("W{worker}").parse().unwrap(),
            lease: DEFAULT_LEASE,
            session: None,
        }
    }

    #[test]
    fn many_long_lived_claimers_get_each_task_once_and_leave_none() {
        let root = tempfile::tempdir().unwrap();
        let repository = list_of(root.path(), 120);
        let claim_all = |worker: usize| {
            let home = home(root.path());
            let list = List::open(&home, &repository.name).unwrap();
            let terms = terms(worker);
            let next = || match claim_next(&list, &terms) {
                Err(Error::NothingReady { .. }) => None,
                claimed => Some(claimed.unwrap().task.id),
            };
            std::iter::from_fn(next).collect::<Vec<_>>()
        };
        let all: Vec<TaskId> = thread::scope(|scope| {
            let claimers: Vec<_> = (0..8).map(|n| scope.spawn(move || claim_all(n))).collect();
            claimers
                .into_iter()
                .flat_map(|claimer| claimer.join().unwrap())
                .collect()
        });
        assert_eq!(all.len(), 120);
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 120);
    }

    #[test]
    fn what_a_search_left_over_serves_nobody_who_is_alone() {
        let root = tempfile::tempdir().unwrap();
        let repository = list_of(root.path(), 3);
        let home = home(root.path());
        let list = List::open(&home, &repository.name).unwrap();
        claim_next(&list, &terms(1)).unwrap();
        let other = List::open(&home, &repository.name).unwrap();
        let urgent = add(&other, "urgent");
        let fields = Fields {
            priority: Some(Some(flagpost_model::task::Priority::Critical)),
            ..Fields::default()
        };
        tasks::edit(&other, &WorkerId::operator(), &urgent, &fields).unwrap();
        assert_eq!(claim_next(&list, &terms(1)).unwrap().task.id, urgent);
    }
}
