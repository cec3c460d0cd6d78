//! What a person is told of: all that needs them in a home, and the end of a run.

use std::ops::ControlFlow;

use flagpost_model::notification::WaitingItem;
use jiff::SignedDuration;
use serde_json::Value;

use crate::{
    error::{Result, describe},
    history::{History, Kind, Line},
    home::Home,
    list::ListReader,
    needs::{self, NeedsScope},
    registry,
    repository::Repository,
};

/// A run that ended waits for its operator no longer than this.
const RUN_WAITS: SignedDuration = SignedDuration::from_hours(1);

/// So much of a history is read back for the end of its last run.
const WITHIN: u64 = 1 << 20;

/// What waits.
#[derive(Debug, Default)]
pub struct WaitingItems {
    /// The items.
    pub items: Vec<WaitingItem>,
    /// What could not be read, in words: more may wait.
    pub faults: Vec<String>,
}

/// Everything that a person may be told of in a home.
pub fn waiting(home: &Home, lists: &ListReader) -> Result<WaitingItems> {
    let found = needs::needs(home, lists, NeedsScope::Home)?;
    let mut all = WaitingItems {
        items: found.all.into_iter().map(|it| it.item).collect(),
        faults: found.faults,
    };
    for repository in registry::repositories(home)? {
        match last_end(home, &repository) {
            Ok(ended) => all.items.extend(ended),
            Err(error) => {
                let (name, why) = (&repository.name, describe(&error));
                all.faults.push(format!("the runs of {name}: {why}"));
            }
        }
    }
    Ok(all)
}

/// The end of the last run, for as long as its operator may want to know of it and no run has begun
/// since.
fn last_end(home: &Home, repository: &Repository) -> Result<Option<WaitingItem>> {
    let (now, mut ended) = (home.now(), None);
    History::of(home, &repository.id).backward(WITHIN, &mut |line: &Line| {
        if now.duration_since(line.at) > RUN_WAITS {
            return ControlFlow::Break(());
        }
        match line.entry.kind {
            Kind::SessionArchived => {
                let session = line.entry.detail.get("session").and_then(Value::as_str);
                ended = session.map(|session| (session.to_owned(), line.at));
                ControlFlow::Break(())
            }
            Kind::SessionStarted => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    })?;
    Ok(ended.map(|(session, at)| {
        let mut item = needs::of_run(repository, &session, &session).item;
        item.state = "ended";
        item.key.at = Some(at);
        item
    }))
}
