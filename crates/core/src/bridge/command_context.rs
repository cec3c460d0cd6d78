//! What a command stands on: a list, and what an agent is shown of it.
//!
//! Owns the words in which a failure is told to an agent: what is wrong with what it asked for, and
//! never a path or the machine's own message.

use std::sync::Arc;

use flagpost_disk::dialects::bridge as dialect;
use flagpost_model::{
    TaskId,
    bridge::Command,
    task::{Outline, Task},
};
use serde_json::{Value, json};

use super::Bridge;
use crate::{
    claims::Terms,
    config::{Config, keys},
    error::{Error, Result},
    list::{IdPool, List},
};

/// The detail of a history line that says which command it carries out.
pub(super) const ACCOUNT: &str = "bridge";

/// A command, and the list it is about.
pub(super) struct CommandContext<'b> {
    pub bridge: &'b Bridge<'b>,
    pub command: &'b Command,
    pub list: List<'b>,
}

impl<'b> CommandContext<'b> {
    pub fn of(
        bridge: &'b Bridge<'b>,
        command: &'b Command,
        batch: u64,
        stock: Option<Arc<IdPool>>,
    ) -> Result<Self> {
        let Some(list) = command.list.as_ref().or(bridge.list.as_ref()) else {
            return Err(Error::Invalid {
                what: "list".to_owned(),
                reason: "the command must name one, since the bridge has none of its own"
                    .to_owned(),
            });
        };
        let account = json!({"command": command.id, "batch": batch});
        let list = List::open(bridge.home, list)?.on_account((ACCOUNT, account));
        let list = list.with_stock(stock);
        Ok(Self {
            bridge,
            command,
            list,
        })
    }

    /// On whose behalf, and for how long.
    pub fn terms(&self) -> Result<Terms> {
        Ok(Terms {
            actor: self.command.source.actor(),
            lease: Config::read(self.bridge.home)?.need(&keys::CLAIM_LEASE)?,
            session: None,
        })
    }

    /// A task as an agent is shown it.
    pub fn shown(&self, task: &Task, outlines: &[Outline]) -> Value {
        let parts = outlines
            .iter()
            .filter(|it| it.parent.as_ref() == Some(&task.id));
        let parts: Vec<TaskId> = parts.map(|it| it.id.clone()).collect();
        dialect::task(task, &parts, self.bridge.home.now())
    }

    /// The same, with a look at its parts.
    pub fn show(&self, task: &Task) -> Result<Value> {
        Ok(self.shown(task, &self.list.load()?.outlines))
    }

    /// The same by its id; of one that somebody removed since, only that.
    pub fn show_by_id(&self, id: &TaskId) -> Result<Value> {
        match self.list.task(id) {
            Ok(file) => self.show(&file.task),
            Err(Error::NotFound { .. }) => Ok(json!({"id": id})),
            Err(error) => Err(error),
        }
    }
}

/// What an agent is told of a failure.
pub(super) fn error_text(error: &Error) -> String {
    match error {
        Error::Refused(_)
        | Error::KeptLate(_)
        | Error::InvalidId(_)
        | Error::NotFound { .. }
        | Error::Ambiguous { .. }
        | Error::LostRepository { .. }
        | Error::Invalid { .. } => error.to_string(),
        Error::NoRepository { .. } => {
            "the list belongs to no repository yet; somebody must write to it from one first"
                .to_owned()
        }
        Error::Disk(error) if error.is_no_such_file() => {
            "a file of the list cannot be read; 'flagpost doctor' says which".to_owned()
        }
        // What is left is the machine's affair, and the person's who looks after it.
        _ => "it cannot be carried out on this machine just now; 'flagpost doctor' says why"
            .to_owned(),
    }
}
