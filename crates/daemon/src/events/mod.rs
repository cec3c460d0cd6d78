//! What happens in a home, told to those who listen.
//!
//! Owns what an event is: a transition of a history under the name that listeners know, with its
//! number. Everything told here is in the histories; a listener that fell behind reads the state anew,
//! and no event is the only copy of anything.

mod cursor;
mod feed;
mod hub;
mod kanban;
mod lists;
mod reader;
mod state;
mod text;
mod watch;

use flagpost_core::{
    answers::{self, LineAnswer},
    history::{Kind, Line},
};

use schemars::JsonSchema;
use serde::Serialize;

pub(crate) use cursor::Cursor;
pub(crate) use feed::{Listener, ended_by, feed, pour};
pub use flagpost_core::watch::WatchMode;
pub(crate) use hub::{Hub, Tails};
pub(crate) use kanban::KanbanReader;
pub(crate) use lists::{ListChange, tell_lists};
pub(crate) use reader::{EventFilter, EventReader, Subscription};
pub(crate) use state::{FleetChange, Resync};
pub(crate) use text::Text;
pub(crate) use watch::{keep, watch};

/// A transition, as it is told to those who listen.
///
/// The data of an event of GET /v1/events and GET /v1/relay/inbox/events.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Transition<'a> {
    /// The event's name.
    pub(crate) event: &'a str,
    pub(crate) line: LineAnswer<'a>,
}

/// A transition, ready to be told.
#[derive(Debug)]
pub(crate) struct FeedEvent {
    /// Its number.
    pub(crate) n: u64,
    /// The event's name.
    pub(crate) name: String,
    /// Whether it is about mail.
    pub(crate) is_mail: bool,
    /// What is said of it, as JSON in one line.
    pub(crate) data: String,
}

impl FeedEvent {
    pub(crate) fn of(line: &Line) -> Self {
        let name = name_of(&line.entry.kind);
        let transition = Transition {
            event: name,
            line: line.into(),
        };
        Self {
            n: line.n,
            name: name.to_owned(),
            is_mail: line.entry.worker.is_some(),
            data: answers::document(&transition).to_string(),
        }
    }

    fn len(&self) -> usize {
        self.name.len() + self.data.len()
    }
}

/// The name of the event; what listeners know no name for has the history's.
fn name_of(kind: &Kind) -> &str {
    match kind {
        Kind::BriefProposed => "controller.brief_proposed",
        Kind::TaskRemoved | Kind::TaskVanished => "task.deleted",
        Kind::TaskEdited
        | Kind::TaskNoted
        | Kind::TimerStarted
        | Kind::TimerStopped
        | Kind::TaskUndone
        | Kind::TaskLinked
        | Kind::TaskUnlinked
        | Kind::TaskClaimed
        | Kind::TaskStarted
        | Kind::TaskRenewed
        | Kind::TaskCompleted
        | Kind::TaskFailed
        | Kind::TaskStuck
        | Kind::TaskReleased
        | Kind::TaskReopened
        | Kind::TaskAnswered
        | Kind::TaskAttempted
        | Kind::TaskCancelled
        | Kind::TaskLate => "task.updated",
        Kind::SessionStarted
        | Kind::SessionStopAsked
        | Kind::SessionArchived
        | Kind::SessionRecovered => "execution.updated",
        Kind::WorkerRegistered | Kind::WorkerRetired | Kind::WorkerLiveness => "worker.state",
        other => other.as_str(),
    }
}

/// What ends an event.
const END: &str = "\n\n";

/// How an event begins, up to its data.
fn begun(id: Option<&str>, name: &str) -> String {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    format!("{id}event: {name}\ndata: ")
}

/// An event as it is sent.
pub(crate) fn event(id: Option<&str>, name: &str, data: &str) -> String {
    format!("{}{data}{END}", begun(id, name))
}
