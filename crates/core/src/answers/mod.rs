//! What is answered: the types whose JSON every face gives, and their JSON Schemas.
//!
//! Owns what several verbs or faces answer with; an answer that only one command gives stands beside
//! that command. A type's fields are the keys in their order, its doc comments the descriptions: the
//! first paragraph of an answer is its title. It must never read anything: what it shows was read
//! before.

mod change;
mod coordination;
mod failure;
mod graph;
mod history;
mod kept;
mod landing;
mod mail;
mod messages;
mod needs;
mod pages;
mod permissions;
mod questions;
mod reservations;
mod schema;
mod search;
mod sessions;
mod settings;
mod status;
mod tasks;

use std::io;

use flagpost_disk::dialects::exchange::ListDocument;
use flagpost_model::notification::Notice;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    messages::{Acked, MessageView, Received, Sent},
    relay::{
        briefs::Proposed,
        deliver::Offer,
        reports::{ReportView, Reported},
        workers::WorkerView,
    },
};

pub use change::ChangeAnswer;
pub use coordination::{
    CoordAgentAnswer, CoordAnswer, CoordExport, CoordImport, CoordSummary, CoordTaskAnswer,
    CoordTasksPage, DiscoveriesAnswer, moment, standings,
};
pub use failure::ErrorAnswer;
pub use graph::{GraphCard, GraphLayout};
pub use history::{HistoryAnswer, LineAnswer};
pub use kept::KeptAnswer;
pub use landing::{LandingAnswer, LandingBranch, WithoutCommit};
pub use mail::{
    BriefAcked, BriefAnswer, BriefInFull, BriefsPage, DecidedAnswer, NumberAnswer, OpenBrief,
    OpenBriefs, ReportsPage, SlashAnswer, Withheld, WorkersPage,
};
pub use messages::{MessageWaiting, MessagesPage, NoMessage, OpenMessagesPage};
pub use needs::{NeedAnswer, NeedsAnswer};
pub use permissions::{PermissionInFull, PermissionRow, PermissionsAnswer};
pub use questions::AnsweredAnswer;
pub use reservations::ReservationsAnswer;
pub use schema::{Schema, with_schema};
pub use search::{SearchAnswer, UnreadThings};
pub use sessions::{
    LogPart, NoLog, SessionAnswer, SessionDocuments, SessionInFull, SessionsAnswer, StopAsked,
    TimelineAnswer,
};
pub use settings::{SettingAnswer, SettingsAnswer};
pub use status::{DaemonAnswer, StatusAnswer};
pub use tasks::{Group, ListedTask, Outline, Removed, Task, TaskAnswer, Tasks, UndoneAnswer};

/// A type whose JSON is an answer: the `NAME` of `flagpost.NAME/1`.
pub trait Published: Serialize + JsonSchema {
    /// Its name, without prefix and version.
    const NAME: &'static str;
}

/// The whole document: its schema's name, and then what it says.
pub fn document<T: Published>(answer: &T) -> Value {
    with_schema(T::NAME, json!(answer))
}

/// The whole document as a text, made in one go: it may be long.
pub fn text<T: Published>(answer: &T) -> String {
    // Nothing that is answered has keys that are no texts.
    serde_json::to_string(&NamedAnswer::of(answer)).unwrap_or_default()
}

/// Writes the whole document.
pub fn write<T: Published>(answer: &T, to: impl io::Write) -> io::Result<()> {
    Ok(serde_json::to_writer(to, &NamedAnswer::of(answer))?)
}

/// A document without a tree of JSON in between.
#[derive(Serialize)]
struct NamedAnswer<'a, T> {
    schema: String,
    #[serde(flatten)]
    answer: &'a T,
}

impl<'a, T: Published> NamedAnswer<'a, T> {
    fn of(answer: &'a T) -> Self {
        let schema = schema::full_name(T::NAME);
        Self { schema, answer }
    }
}

/// Each of these as an answer has it.
pub fn each<'a, T: 'a, A: From<&'a T>>(all: impl IntoIterator<Item = &'a T>) -> Vec<A> {
    all.into_iter().map(A::from).collect()
}

/// Gives each of these types its name as an answer, and makes the table `ANSWERS` of them.
#[macro_export]
macro_rules! answers {
    ($($name:literal => $type:ty),+ $(,)?) => {
        $(impl $crate::answers::Published for $type {
            const NAME: &'static str = $name;
        })+

        /// The answers that are made here.
        pub const ANSWERS: &[$crate::answers::Schema] =
            &[$($crate::answers::Schema::of::<$type>()),+];
    };
}

answers! {
    "ack" => BriefAcked<'_>,
    "answered" => AnsweredAnswer<'_>,
    "brief" => BriefInFull<'_>,
    "briefs" => BriefsPage<'_>,
    "change" => ChangeAnswer<'_>,
    "config" => SettingsAnswer<'_>,
    "coord_export" => CoordExport<'_>,
    "coord_import" => CoordImport<'_>,
    "coordination" => CoordAnswer<'_>,
    "coordination_agent" => CoordAgentAnswer<'_>,
    "coordination_summary" => CoordSummary<'_>,
    "coordination_task" => CoordTaskAnswer<'_>,
    "coordination_tasks" => CoordTasksPage<'_>,
    "decided" => DecidedAnswer<'_>,
    "discoveries" => DiscoveriesAnswer<'_>,
    "error" => ErrorAnswer<'_>,
    "graph_layout" => GraphLayout<'_>,
    "history" => HistoryAnswer<'_>,
    "inbox" => OpenBriefs<'_>,
    "kept" => KeptAnswer,
    "list" => ListDocument<'_>,
    "log_none" => NoLog,
    "log_part" => LogPart<'_>,
    "message" => MessageView,
    "message_acked" => Acked,
    "message_none" => NoMessage,
    "message_received" => Received,
    "message_sent" => Sent,
    "message_waiting" => MessageWaiting<'_>,
    "messages" => MessagesPage<'_>,
    "messages_open" => OpenMessagesPage<'_>,
    "needs" => NeedsAnswer<'_>,
    "notice" => Notice,
    "number" => NumberAnswer<'_>,
    "offer" => Offer,
    "permission" => PermissionInFull<'_>,
    "permissions" => PermissionsAnswer<'_>,
    "proposed" => Proposed,
    "report" => ReportView,
    "reported" => Reported,
    "removed" => Removed<'_>,
    "reports" => ReportsPage<'_>,
    "reservations" => ReservationsAnswer<'_>,
    "search" => SearchAnswer<'_>,
    "session" => SessionInFull<'_>,
    "session_documents" => SessionDocuments<'_>,
    "sessions" => SessionsAnswer<'_>,
    "setting" => SettingAnswer<'_>,
    "slash" => SlashAnswer<'_>,
    "status" => StatusAnswer<'_>,
    "stop_asked" => StopAsked<'_>,
    "landing" => LandingAnswer<'_>,
    "task" => TaskAnswer<'_>,
    "tasks" => Tasks<'_>,
    "timeline" => TimelineAnswer<'_>,
    "undo" => UndoneAnswer<'_>,
    "worker" => WorkerView,
    "workers" => WorkersPage<'_>,
}
