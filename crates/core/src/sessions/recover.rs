//! Recovering what a dead session left.
//!
//! Owns the two halves: its files go to `interrupted-…`, its tasks go back to pending. A flag that
//! goes with the files says that the second half is still to be done; whoever comes next does it.
//! Nothing is executed.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use flagpost_disk::{
    dialects::session::{layout, progress},
    fsx,
};
use flagpost_model::{
    ListRef, SessionId, TaskId, WorkerId,
    session::{interrupted_name, is_interrupted, orphaned},
    task::Outline,
};
use jiff::tz::TimeZone;

use super::{
    Ended, SessionStatus, Sessions, agent_requests,
    begin::{Doubt, refuse_if_live},
    is_empty, other_list,
    pointer::{follow, heal},
};
use crate::{
    error::Result,
    history::{Entry, History, Kind},
    home::Home,
    list::List,
    relay::{
        Fleet,
        messages::{self, Party},
    },
};

/// What was recovered.
#[derive(Debug, Clone)]
pub struct Recovered {
    /// The dead session, as its lock named it.
    pub session: Option<SessionId>,
    /// Where its files are now.
    pub dir: PathBuf,
    /// The tasks that went back to pending.
    pub tasks: Vec<TaskId>,
}

/// A dead session whose files were moved out of the way.
struct MovedSession {
    session: Option<SessionId>,
    list: Option<ListRef>,
    foreign: bool,
    dir: PathBuf,
}

/// Recovers the dead session of a repository, if there is one, and completes recoveries that were
/// themselves interrupted.
pub fn recover(
    sessions: &Sessions<'_>,
    list: &List<'_>,
    actor: &WorkerId,
) -> Result<Option<Recovered>> {
    recover_in_doubt(sessions, list, actor, Doubt::Refuses)
}

/// The same for a session of which only the age of its lock says that it lives, and a person that it is
/// dead.
pub fn recover_unsure(
    sessions: &Sessions<'_>,
    list: &List<'_>,
    actor: &WorkerId,
) -> Result<Option<Recovered>> {
    recover_in_doubt(sessions, list, actor, Doubt::Yields)
}

fn recover_in_doubt(
    sessions: &Sessions<'_>,
    list: &List<'_>,
    actor: &WorkerId,
    doubt: Doubt,
) -> Result<Option<Recovered>> {
    let home = sessions.home;
    sessions.stay_inside()?;
    if !is_empty(home, &sessions.live_dir())? {
        let gate = sessions.lock_gate()?;
        clear_the_way(sessions, doubt)?;
        drop(gate);
    }
    let recovered = give_back(sessions, list, actor)?;
    heal(sessions, list)?;
    if recovered.is_some() {
        // As after an archive: programs of the seed look for the directory, empty or not.
        fsx::make_dirs(home.fs(), &sessions.live_dir())?;
    }
    Ok(recovered)
}

/// The tasks of these that the next start would give back. Changes nothing.
pub fn to_give_back(sessions: &Sessions<'_>, outlines: &[Outline]) -> Result<Vec<TaskId>> {
    let mut dead = sessions.dead()?;
    let mut foreign = unfinished(sessions)?.iter().any(|moved| moved.foreign);
    if let Some((SessionStatus::Dead, lock)) = sessions.status()? {
        foreign |= !lock.flocked;
        dead.extend(lock.session);
    }
    Ok(orphaned(outlines, &dead, foreign))
}

/// Moves a dead session's files away; refuses where the session lives. Under the start gate.
pub(super) fn clear_the_way(sessions: &Sessions<'_>, doubt: Doubt) -> Result<()> {
    let home = sessions.home;
    let live = sessions.live_dir();
    let Some(look) = refuse_if_live(sessions, &live, doubt)? else {
        return Ok(());
    };
    let at = home.now().to_zoned(TimeZone::UTC).datetime();
    let random = home.fs().random_id().simple().to_string();
    let random = random.get(..6).unwrap_or_default();
    let dir = sessions.dir(&interrupted_name(at, random)?);
    fsx::flag(home.fs(), &live.join(layout::RECOVERING))?;
    fsx::move_dir(home.fs(), &live, &dir)?;
    // Held until the files are out of the way, so that nobody takes the dead session for free.
    drop(look.flock);
    Ok(())
}

/// The dead sessions whose tasks are still to be given back, oldest first.
fn unfinished(sessions: &Sessions<'_>) -> Result<Vec<MovedSession>> {
    let fs = sessions.home.fs();
    let mut unfinished = Vec::new();
    for Ended { id, lock } in sessions.ended()? {
        if !is_interrupted(&id) {
            continue;
        }
        let dir = sessions.dir(&id);
        if fsx::stat(fs, &dir.join(layout::RECOVERING))?.is_none() {
            continue;
        }
        // Something that is no session's may lie in its place, or what died before it had a lock.
        let mut marks = [layout::LOCK, layout::PROGRESS, layout::PLAN].into_iter();
        let is_session = marks.try_fold(false, |found, name| -> Result<bool> {
            Ok(found || fsx::stat(fs, &dir.join(name))?.is_some())
        })?;
        unfinished.push(MovedSession {
            session: lock.session,
            list: lock.list,
            foreign: !lock.flocked && is_session,
            dir,
        });
    }
    Ok(unfinished)
}

/// Gives the tasks of dead sessions back: of those whose files were moved, and of any that claims
/// still name.
pub(super) fn give_back(
    sessions: &Sessions<'_>,
    list: &List<'_>,
    actor: &WorkerId,
) -> Result<Option<Recovered>> {
    let home = sessions.home;
    let dead = sessions.dead()?;
    let mut recovered: Option<Recovered> = None;
    for moved in unfinished(sessions)? {
        let other = other_list(home, list, moved.list.as_ref())?;
        let theirs = other.as_ref().unwrap_or(list);
        if let Some(session) = &moved.session {
            // What its agents said counts while their claims still stand.
            agent_requests::take_up_left(sessions, theirs, session, &moved.dir)?;
        }
        let mut tasks = home.transact(|| release(theirs, actor, &dead, Some(&moved)))?;
        tell_it_is_over(home, &moved.dir)?;
        follow(home, theirs, &sessions.live_dir(), &moved.dir)?;
        fsx::remove(home.fs(), &moved.dir.join(layout::RECOVERING))?;
        if let Some(before) = recovered.take() {
            tasks.splice(..0, before.tasks);
        }
        recovered = Some(Recovered {
            session: moved.session,
            dir: moved.dir,
            tasks,
        });
    }
    let late = home.transact(|| release(list, actor, &dead, None))?;
    if let Some(recovered) = &mut recovered {
        recovered.tasks.extend(late);
    }
    Ok(recovered)
}

/// Lets no screen show a dead session at work. What is no text in UTF-8 stays as it is.
fn tell_it_is_over(home: &Home, dir: &Path) -> Result<()> {
    let path = dir.join(layout::PROGRESS);
    let bytes = match fsx::read(home.fs(), &path) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(()),
        Err(error) if error.is_no_such_file() => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let Ok(text) = String::from_utf8(bytes) else {
        return Ok(());
    };
    let over = progress::interrupted(&text);
    if over != text {
        fsx::replace(home.fs(), &path, over.as_bytes())?;
    }
    Ok(())
}

fn release(
    list: &List<'_>,
    actor: &WorkerId,
    dead: &BTreeSet<SessionId>,
    moved: Option<&MovedSession>,
) -> Result<Vec<TaskId>> {
    let foreign = moved.is_some_and(|moved| moved.foreign);
    if orphaned(&list.load()?.outlines, dead, foreign).is_empty() {
        if let Some(moved) = moved {
            let mut entry = with_session(Entry::new(Kind::SessionRecovered), moved);
            list.sign(&mut entry);
            let history = History::of(list.home, &list.repository()?);
            history.record(actor, list.home.now(), vec![entry])?;
        }
        return Ok(Vec::new());
    }
    let mut change = list.change(actor)?;
    let orphans = orphaned(&change.load()?.outlines, dead, foreign);
    for id in &orphans {
        let task = change.task(id)?;
        let session = task.state.claim().and_then(|claim| claim.session.clone());
        change.give_back(id)?;
        let entry = change.note(Kind::TaskReleased, id);
        entry
            .detail
            .insert("because".to_owned(), "its session died".into());
        if let Some(session) = session {
            entry
                .detail
                .insert("session".to_owned(), session.as_str().into());
        }
    }
    if let Some(moved) = moved {
        let entry = change.note_list(Kind::SessionRecovered);
        *entry = with_session(entry.clone(), moved);
    }
    change.commit()?;
    Ok(orphans)
}

/// The entry, which tells of which session.
fn with_session(entry: Entry, moved: &MovedSession) -> Entry {
    let entry = entry.detail("dir", moved.dir.display().to_string());
    match &moved.session {
        Some(session) => entry.session(session),
        None => entry,
    }
}

/// Deals with what workers said since to the runs of a list that are over, on behalf of whoever asks. Answers with
/// the tasks that it changed.
pub fn reconcile_ended(
    sessions: &Sessions<'_>,
    fleet: &Fleet<'_>,
    list: &List<'_>,
    actor: &WorkerId,
) -> Result<Vec<TaskId>> {
    let ended = sessions.ended()?.into_iter();
    let of_list = ended.filter(|ended| ended.lock.list.as_ref() == Some(list.id()));
    let threads = of_list.filter_map(|ended| Some(ended.lock.session?.to_string()));
    let speaker = &messages::in_charge(actor)?;
    let (party, threads) = (&Party { fleet, speaker }, threads.collect());
    let changed = messages::reconcile(list, party, &threads)?;
    messages::put_away(list, party, &threads)?;
    Ok(changed.into_iter().map(|it| it.task).collect())
}
