//! The bridge as a daemon or a cockpit is to run it.
//!
//! Owns what the configuration wants of it at this moment, so that whoever runs it can see that
//! something else is wanted now. Both stand nowhere: commands that name no list are about
//! `bridge.list`, else about the list of the only repository there is.

use std::path::PathBuf;

use flagpost_model::{ListId, RepoId};
use jiff::SignedDuration;

use super::Bridge;
use crate::{
    config::{Config, keys},
    error::{Error, Result},
    home::Home,
    list::List,
    registry,
};

/// What is to run beside other work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Background {
    /// How long from one look at the inbox to the next.
    pub poll: SignedDuration,
    dir: PathBuf,
    list: Option<ListId>,
    /// Whose list it is, where the configuration names none.
    repository: Option<RepoId>,
}

impl Background {
    /// Whether the bridge is to run beside other work.
    pub fn is_enabled(home: &Home) -> Result<bool> {
        Config::read(home)?.need(&keys::AGENT_ENABLED)
    }

    /// What is wanted at this moment; none where it is not enabled.
    pub fn configured(home: &Home) -> Result<Option<Self>> {
        if !Self::is_enabled(home)? {
            return Ok(None);
        }
        let poll = Config::read(home)?.need(&keys::AGENT_POLL)?;
        let Bridge { dir, list, .. } = Bridge::of(home, None)?;
        let only = match (&list, registry::only_repository(home)) {
            (None, Ok(repository)) => Some(repository),
            (Some(_), _) | (None, Err(Error::NoRepository { .. } | Error::Ambiguous { .. })) => {
                None
            }
            (None, Err(error)) => return Err(error),
        };
        Ok(Some(Self {
            poll,
            dir,
            list: list.or(only.as_ref().map(|it| it.name.clone())),
            repository: only.map(|it| it.id),
        }))
    }

    /// The bridge itself.
    pub fn bridge<'h>(&self, home: &'h Home) -> Result<Bridge<'h>> {
        if let Some(id) = &self.repository {
            let repository = registry::repository(home, id.as_str())?;
            List::open_or_create(home, &repository.name, &repository)?;
        }
        Ok(Bridge {
            home,
            dir: self.dir.clone(),
            list: self.list.clone(),
        })
    }
}
