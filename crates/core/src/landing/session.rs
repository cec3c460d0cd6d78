//! What of a session's work has landed, and what has not.
//!
//! Owns the look from a session: its branches in the queue, and the outcome that its tasks keep. Where
//! there is no git, or nothing says where to land, there is nothing to see.

use flagpost_model::{
    TaskId,
    task::{Landed, Landing},
};
use jiff::Timestamp;

use super::{LandingView, QueuedBranch};
use crate::{error::Result, home::Home, list::List, repository::Repository, sessions::Session};

/// How far the work of a session is on its way.
#[derive(Debug, Default)]
pub struct SessionLanding {
    view: Option<LandingView>,
    session: String,
    /// The tasks whose work has landed.
    pub landed: Vec<(TaskId, Landed)>,
    /// The tasks that passed without a commit, and when.
    pub no_commit: Vec<(TaskId, Timestamp)>,
}

impl SessionLanding {
    /// Looks at the tasks of its list; one that is gone has taken them along.
    pub fn of(home: &Home, repository: &Repository, session: &Session) -> Result<Self> {
        let list = session.lock.list.as_ref();
        match list.map(|list| List::find(home, list)) {
            Some(Ok(list)) => Self::in_list(repository, session, &list),
            Some(Err(_)) | None => Ok(Self::default()),
        }
    }

    fn in_list(repository: &Repository, session: &Session, list: &List<'_>) -> Result<Self> {
        let (mut landed, mut no_commit) = (Vec::new(), Vec::new());
        let mut ids: Vec<&TaskId> = session.rows.iter().map(|row| &row.id).collect();
        ids.dedup();
        for id in ids {
            // One that is gone from its list has taken its outcome along.
            let task = list.task(id).ok().map(|file| file.task);
            match task.and_then(|task| task.landing) {
                Some(Landing::Landed(it)) => landed.push((id.clone(), it)),
                Some(Landing::NoCommit(at)) => no_commit.push((id.clone(), at)),
                Some(Landing::Refused(_) | Landing::Approved(_)) | None => {}
            }
        }
        Ok(Self {
            view: LandingView::of(repository, list, None).ok(),
            session: session.title(),
            landed,
            no_commit,
        })
    }

    /// Its branches that hold work which the target lacks, each with how many commits.
    pub fn branches(&self) -> impl Iterator<Item = (&QueuedBranch, u64)> {
        let all = self.view.iter().flat_map(LandingView::branches);
        all.filter(|(it, _)| {
            it.session
                .as_ref()
                .is_some_and(|id| id.as_str() == self.session)
        })
    }
}
