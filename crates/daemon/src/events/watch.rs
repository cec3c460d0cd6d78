//! Being told by the system that something changed.
//!
//! Owns where: in the home's tasks and repositories, and in other roots of tasks. A notice only wakes;
//! what happened is read from the files. Where the system cannot tell of everything, one looks each
//! second instead.

use std::{path::PathBuf, sync::Arc};

use flagpost_core::{Home, roots};
use flagpost_disk::{
    fsx,
    notices::{Deaf, Notice, Reach, Watcher},
};
use serde::{Deserialize, Serialize};
use tracing::warn;

use super::Hub;
use crate::error::Result;

/// How changes are noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Watching {
    /// The system tells of them.
    #[default]
    Events,
    /// By looking once a second.
    Polling,
}

/// Wakes the hub with every change, for as long as the answer lives.
pub(crate) fn watch(home: &Home, hub: &Arc<Hub>) -> Result<Option<Watcher>> {
    if hub.watching() == Watching::Polling {
        return Ok(None);
    }
    for dir in [home.tasks_root(), home.repositories_root()] {
        fsx::make_dirs(home.fs(), &dir)?;
    }
    Ok(match begin(home, hub) {
        Ok(watcher) => Some(watcher),
        Err(error) => {
            warn!(%error, "the system does not tell of changes: looking once a second");
            hub.poll_from_now();
            None
        }
    })
}

fn begin(home: &Home, hub: &Arc<Hub>) -> Result<Watcher, Deaf> {
    let woken = Arc::clone(hub);
    let mut watcher = Watcher::new(move |notice| match notice {
        Notice::Changed(_) => woken.wake.notify_one(),
        Notice::Deaf(error) => {
            warn!(%error, "the system does not tell of all changes: looking once a second");
            woken.poll_from_now();
        }
    })?;
    for dir in dirs(home) {
        watcher.add(&dir, Reach::Tree)?;
    }
    Ok(watcher)
}

fn dirs(home: &Home) -> Vec<PathBuf> {
    let mut dirs = vec![home.tasks_root(), home.repositories_root()];
    // One that cannot be read has lists that cannot be read either.
    let others = roots::survey(home).unwrap_or_default();
    let others = others.into_iter().filter(|root| match root.standing {
        roots::Standing::Readable { .. } => true,
        roots::Standing::Missing | roots::Standing::Unreadable(_) => false,
    });
    dirs.extend(others.map(|root| root.dir));
    dirs
}
