//! Beginning a session.
//!
//! Owns the order that keeps a running session safe: the start gate, then the look at the lock,
//! and only then the cleaning of what a dead session left.

use std::{collections::BTreeSet, path::Path};

use flagpost_disk::{
    dialects::session::{context, layout, lock, plan, progress, render_duration, task_log},
    fsx,
};
use flagpost_model::{
    SessionId, TaskId, WorkerId,
    session::{
        Evidence, Lock, LockStatus, Pid, PlannedTask, Progress, ProgressStatus, SessionPlan,
        common_group, session_name,
    },
    task::Outline,
};
use jiff::{Timestamp, tz::TimeZone};

use super::{
    Live, Recovered, Sessions, is_empty,
    knowledge::{Inherited, as_texts, inherited},
    live::make_parts,
    look,
    pointer::{point, session_named},
    recover,
};
use crate::{
    Home,
    error::{Error, Result},
    history::{Entry, History, Kind},
    list::List,
    order,
    repository::Repository,
};

/// What a session is to do.
#[derive(Debug, Clone)]
pub struct Start<'a> {
    /// Who begins it.
    pub actor: &'a WorkerId,
    /// The feature to name it after; else one that all open tasks share.
    pub group: Option<&'a str>,
    /// How many tasks may run side by side.
    pub max_parallel: u32,
    /// How often a task is tried.
    pub attempts: u32,
}

/// A session that has begun, and what was recovered for it.
#[derive(Debug)]
pub struct Begun<'h> {
    /// The session.
    pub live: Live<'h>,
    /// The dead session that was in the way.
    pub recovered: Option<Recovered>,
}

/// Begins a session. `waves` plans it, from the list as it is after recovery.
pub fn begin<'h>(
    sessions: &Sessions<'h>,
    repository: &Repository,
    list: &'h List<'h>,
    start: &Start<'_>,
    waves: impl FnOnce(&[Outline]) -> Vec<Vec<TaskId>>,
) -> Result<Begun<'h>> {
    let home = sessions.home;
    let fs = home.fs();
    sessions.stay_inside()?;
    home.make_dirs(&sessions.root)?;
    keep_out_of_git(sessions)?;
    let gate = sessions.lock_gate()?;
    recover::clear_the_way(sessions, Doubt::Refuses)?;
    let dir = sessions.live_dir();
    home.make_dirs(&dir)?;

    let started = home.now();
    let outlines = list.load()?.outlines;
    let group = start.group.or_else(|| common_group(&outlines));
    let session = free_id(sessions, group, &taken(sessions, list, &outlines)?)?;
    let session = match order::is_shared(home, &repository.id)? {
        true => told_apart(home, &session)?,
        false => session,
    };
    let text = lock::render(&Lock::of_ours(
        session.clone(),
        list.id().clone(),
        std::process::id(),
        started,
    ));
    fsx::publish(fs, &dir.join(layout::LOCK), text.as_bytes())?;
    let held = fsx::try_hold(fs, &dir.join(layout::LOCK))?.ok_or_else(|| Error::SessionLive {
        session: session.to_string(),
        holder: None,
        is_unsure: false,
    })?;
    // From here on the held lock says that the session lives. The list's lock, which recovery
    // takes, ranks below the gate.
    drop(gate);
    let filled = fill(sessions, list, start, waves, (&session, started));
    let (recovered, inherited) = match filled {
        Ok(filled) => filled,
        Err(error) => {
            take_back(sessions);
            return Err(error);
        }
    };
    let mut entry = Entry::new(Kind::SessionStarted).session(&session);
    list.sign(&mut entry);
    if !inherited.unread.is_empty() {
        entry = entry.detail("not_inherited", as_texts(&inherited.unread));
    }
    let history = History::of(home, &repository.id);
    if let Err(error) = history.record(start.actor, started, vec![entry]) {
        take_back(sessions);
        return Err(error);
    }
    let live = Live::new(
        home,
        repository.id.clone(),
        dir,
        session,
        started,
        inherited.context,
        (text, held),
    );
    Ok(Begun { live, recovered })
}

/// Gives back what the dead left, and writes the files of the session that is held.
fn fill(
    sessions: &Sessions<'_>,
    list: &List<'_>,
    start: &Start<'_>,
    waves: impl FnOnce(&[Outline]) -> Vec<Vec<TaskId>>,
    (session, started): (&SessionId, Timestamp),
) -> Result<(Option<Recovered>, Inherited)> {
    let (home, dir) = (sessions.home, sessions.live_dir());
    let recovered = recover::give_back(sessions, list, start.actor)?;
    let outlines = list.load()?.outlines;
    let plan = planned(session, list, start, waves(&outlines), &outlines);
    let progress = Progress {
        status: ProgressStatus::Initializing,
        wave: None,
        max_parallel: start.max_parallel,
        updated: started,
        active: Vec::new(),
        completed: Vec::new(),
    };
    let inherited = inherited(sessions)?;
    make_parts(home, &dir)?;
    let texts = [
        (layout::PLAN, plan::render(&plan)),
        (layout::CONTEXT, context::render(&inherited.context)),
        (layout::TASK_LOG, task_log::render(&[])),
        (layout::PROGRESS, progress::render(&progress)),
    ];
    let mut batch = fsx::Batch::new();
    for (name, text) in texts {
        batch.put(dir.join(name), text.into_bytes());
    }
    batch.stage(home.fs())?.publish()?;
    point(home, list, &dir)?;
    Ok((recovered, inherited))
}

/// Removes the files of a session that could not begin, its lock last: nothing in them is news,
/// and on a full disk each attempt would leave another dead session.
fn take_back(sessions: &Sessions<'_>) {
    let mine = [
        layout::PROGRESS,
        layout::TASK_LOG,
        layout::CONTEXT,
        layout::PLAN,
        layout::LOCK,
    ];
    for name in mine {
        let path = sessions.live_dir().join(name);
        // Best effort: what stays is a dead session, which the next start moves away.
        if fsx::remove(sessions.home.fs(), &path).is_err() {
            break;
        }
    }
}

/// Session files are nobody's source code.
fn keep_out_of_git(sessions: &Sessions<'_>) -> Result<()> {
    let path = sessions.root.join(".gitignore");
    match fsx::publish(sessions.home.fs(), &path, b"*\n") {
        Ok(()) | Err(flagpost_disk::Error::Conflict { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// An id that no earlier session has: two may begin within one second.
pub(super) fn free_id(
    sessions: &Sessions<'_>,
    group: Option<&str>,
    taken: &BTreeSet<SessionId>,
) -> Result<SessionId> {
    let at = sessions.home.now().to_zoned(TimeZone::UTC).datetime();
    let id = session_name(group, at)?;
    let is_taken = |id: &SessionId| -> Result<bool> {
        let there = fsx::stat(sessions.home.fs(), &sessions.dir(id))?;
        Ok(there.is_some() || taken.contains(id))
    };
    let mut candidate = id.clone();
    let mut n = 2;
    while is_taken(&candidate)? {
        candidate = format!("{id}-{n}")
            .parse()
            .or_else(|_| session_name(Some(&n.to_string()), at))?;
        n += 1;
    }
    Ok(candidate)
}

/// The same id as no other machine has it: one may begin there within the same second, and a claim names
/// its session.
fn told_apart(home: &Home, id: &SessionId) -> Result<SessionId> {
    let random = home.fs().random_id().simple().to_string();
    let short = random.get(..8).unwrap_or_default();
    let longer = format!("{id}-{short}");
    Ok(longer.parse().or_else(|_| random.parse())?)
}

/// The ids of sessions that a claim on the list could mean. Another repository may run it too, and
/// a recovery must tell its tasks from ours.
fn taken(
    sessions: &Sessions<'_>,
    list: &List<'_>,
    outlines: &[Outline],
) -> Result<BTreeSet<SessionId>> {
    let mut taken = sessions.dead()?;
    let claims = outlines.iter().filter_map(|outline| outline.state.claim());
    taken.extend(claims.filter_map(|claim| claim.session.clone()));
    taken.extend(session_named(sessions.home, list));
    Ok(taken)
}

fn planned(
    session: &SessionId,
    list: &List<'_>,
    start: &Start<'_>,
    waves: Vec<Vec<TaskId>>,
    outlines: &[Outline],
) -> SessionPlan {
    let task = |id: TaskId| {
        let found = outlines
            .binary_search_by(|outline| outline.id.cmp(&id))
            .ok();
        let outline = found.and_then(|at| outlines.get(at));
        PlannedTask {
            subject: outline
                .map(|outline| outline.subject.clone())
                .unwrap_or_default(),
            after: outline
                .map(|outline| outline.blocked_by.clone())
                .unwrap_or_default(),
            id,
        }
    };
    SessionPlan {
        session: session.clone(),
        list: list.id().clone(),
        max_parallel: start.max_parallel,
        attempts: start.attempts,
        waves: waves
            .into_iter()
            .map(|wave| wave.into_iter().map(task).collect())
            .collect(),
    }
}

/// What comes of a session of which only the age of its lock says that it lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    /// It counts as live.
    Refuses,
    /// A person says that it is dead.
    Yields,
}

/// Refuses where somebody runs the session in the live directory.
pub(super) fn refuse_if_live(
    sessions: &Sessions<'_>,
    dir: &Path,
    doubt: Doubt,
) -> Result<Option<super::LockCheck>> {
    if is_empty(sessions.home, dir)? {
        return Ok(None);
    }
    let look = look(sessions.home, dir)?;
    match look.standing {
        LockStatus::Dead(_) => Ok(Some(look)),
        LockStatus::Live(Evidence::Age(_)) if doubt == Doubt::Yields => Ok(Some(look)),
        LockStatus::Live(evidence) => {
            let session = look
                .lock
                .session
                .map_or_else(|| "of unknown name".to_owned(), |id| id.to_string());
            Err(Error::SessionLive {
                session,
                holder: Some(holder(&look.lock.pid, evidence)),
                is_unsure: matches!(evidence, Evidence::Age(_)),
            })
        }
    }
}

/// The refusal of a start where only the age of a lock says that the session in its way lives.
pub fn unsure(sessions: &Sessions<'_>) -> Result<Option<Error>> {
    match refuse_if_live(sessions, &sessions.live_dir(), Doubt::Refuses) {
        Err(error @ Error::SessionLive { is_unsure, .. }) => Ok(is_unsure.then_some(error)),
        looked => looked.map(|_| None),
    }
}

fn holder(pid: &Pid, evidence: Evidence) -> String {
    let who = match pid {
        Pid::Number(pid) => format!("pid {pid}"),
        Pid::Word(word) => format!("pid {word:?}"),
        Pid::Missing => "no pid".to_owned(),
    };
    match evidence {
        Evidence::Flock => format!("{who} holds its lock"),
        Evidence::Process(_) => format!("{who} is alive"),
        Evidence::Age(age) => format!(
            "as far as anybody can tell: {who} in its lock, which is {} old; 'flagpost doctor' tells more",
            render_duration(age)
        ),
    }
}
