//! What a command left in the history before a crash.
//!
//! Owns the second half of "executed once": the history is durable before a change appears and names
//! the command, so a change that happened is known even where the ledger never learned of it.

use std::collections::{BTreeSet, HashMap};

use flagpost_model::{RepoId, WorkerId};
use serde_json::Value;

use super::{Bridge, command_context::ACCOUNT};
use crate::{
    error::Result,
    history::{History, Line},
};

/// What the commands of one inbox left, by repository and id.
#[derive(Debug)]
pub(super) struct Traces {
    batch: u64,
    found: HashMap<RepoId, HashMap<String, Vec<Line>>>,
}

impl Traces {
    pub fn of(batch: u64) -> Self {
        Self {
            batch,
            found: HashMap::new(),
        }
    }

    /// The lines of this command's changes that appeared.
    pub fn left_by(
        &mut self,
        bridge: &Bridge<'_>,
        repository: &RepoId,
        actor: &WorkerId,
        command: &str,
    ) -> Result<Vec<Line>> {
        if !self.found.contains_key(repository) {
            let history = History::of(bridge.home, repository);
            // What a crash kept from appearing is told of as if it had.
            history.void_unapplied(actor, bridge.home.now())?;
            let lines = by_command(history.since(0)?, self.batch);
            self.found.insert(repository.clone(), lines);
        }
        let found = self.found.get_mut(repository);
        Ok(found
            .and_then(|lines| lines.remove(command))
            .unwrap_or_default())
    }
}

fn by_command(lines: Vec<Line>, batch: u64) -> HashMap<String, Vec<Line>> {
    let voided: BTreeSet<u64> = lines.iter().filter_map(|line| line.entry.voids()).collect();
    let mut found: HashMap<String, Vec<Line>> = HashMap::new();
    for line in lines {
        let account = line.entry.detail.get(ACCOUNT);
        let account = account.filter(|it| it.get("batch").and_then(Value::as_u64) == Some(batch));
        let command = account.and_then(|it| it.get("command")?.as_str());
        if let Some(command) = command.filter(|_| !voided.contains(&line.n)) {
            found.entry(command.to_owned()).or_default().push(line);
        }
    }
    found
}
