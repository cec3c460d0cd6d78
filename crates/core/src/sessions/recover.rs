//! Recovering what a dead session left.
//!
//! Owns the two halves: its files go to `interrupted-…`, its tasks go back to pending. Each half
//! can be repeated after a crash: the files by the next start, the tasks because the ids of ended
//! sessions stay readable in their directories. Nothing is executed.

use std::path::PathBuf;

use flagpost_disk::{dialects::session::layout, fsx};
use flagpost_model::{
    ListId, SessionId, TaskId, WorkerId,
    session::{interrupted_name, orphaned},
    task::State,
};
use jiff::tz::TimeZone;

use super::{Sessions, begin::refuse_if_live, is_empty, point};
use crate::{error::Result, history::Kind, list::List};

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
#[derive(Debug)]
pub(super) struct Moved {
    session: Option<SessionId>,
    list: Option<ListId>,
    foreign: bool,
    dir: PathBuf,
}

/// Recovers the dead session of a repository, if there is one.
pub fn recover(
    sessions: &Sessions<'_>,
    list: &List<'_>,
    actor: &WorkerId,
) -> Result<Option<Recovered>> {
    let home = sessions.home;
    if is_empty(home, &sessions.live_dir())? {
        return give_back(sessions, list, actor, None);
    }
    let gate = sessions.lock_gate()?;
    let moved = clear_the_way(sessions)?;
    drop(gate);
    give_back(sessions, list, actor, moved)
}

/// Moves a dead session's files away; refuses where the session lives. Under the start gate.
pub(super) fn clear_the_way(sessions: &Sessions<'_>) -> Result<Option<Moved>> {
    let home = sessions.home;
    let live = sessions.live_dir();
    let Some(look) = refuse_if_live(sessions, &live)? else {
        return Ok(None);
    };
    let at = home.now().to_zoned(TimeZone::UTC).datetime();
    let rand: String = uuid::Uuid::new_v4()
        .simple()
        .to_string()
        .chars()
        .take(6)
        .collect();
    let dir = sessions.dir(&interrupted_name(at, &rand)?);
    fsx::move_dir(home.fs(), &live, &dir)?;
    // Held until the files are out of the way, so that nobody takes the dead session for free.
    drop(look.flock);
    Ok(Some(Moved {
        session: look.lock.session,
        list: look.lock.list,
        foreign: !look.lock.flocked,
        dir,
    }))
}

/// Gives the tasks of dead sessions back: of the one just moved, and of any whose recovery was
/// itself interrupted.
pub(super) fn give_back(
    sessions: &Sessions<'_>,
    list: &List<'_>,
    actor: &WorkerId,
    moved: Option<Moved>,
) -> Result<Option<Recovered>> {
    let home = sessions.home;
    let mut dead = sessions.dead()?;
    dead.extend(moved.as_ref().and_then(|moved| moved.session.clone()));
    let foreign = moved.as_ref().is_some_and(|moved| moved.foreign);
    let mut tasks = release(list, actor, &dead, foreign)?;
    let Some(moved) = moved else {
        return Ok(None);
    };
    if let Some(other) = moved.list.as_ref().filter(|other| *other != list.id()) {
        match List::open(home, other) {
            Ok(other) => {
                tasks.extend(release(&other, actor, &dead, foreign)?);
                point(home, &other, &moved.dir)?;
            }
            Err(crate::Error::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    } else {
        point(home, list, &moved.dir)?;
    }
    Ok(Some(Recovered {
        session: moved.session,
        dir: moved.dir,
        tasks,
    }))
}

fn release(
    list: &List<'_>,
    actor: &WorkerId,
    dead: &std::collections::BTreeSet<SessionId>,
    foreign: bool,
) -> Result<Vec<TaskId>> {
    if orphaned(&list.load()?.outlines, dead, foreign).is_empty() {
        return Ok(Vec::new());
    }
    let mut change = list.change(actor)?;
    let orphans = orphaned(&change.load()?.outlines, dead, foreign);
    for id in &orphans {
        let task = change.task(id)?;
        let session = task.state.claim().and_then(|claim| claim.session.clone());
        task.state = State::Pending;
        task.owner = None;
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
    change.note_list(Kind::SessionRecovered);
    change.commit()?;
    Ok(orphans)
}

/// Where the session's agents logged what they did, for whoever has to end what is left of them.
impl Recovered {
    /// The events of the dead session.
    pub fn events(&self) -> PathBuf {
        self.dir.join(layout::PROGRESS_EVENTS)
    }
}
