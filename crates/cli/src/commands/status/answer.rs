//! What `status` answers.

use std::collections::BTreeMap;

use flagpost_core::{
    Skipped,
    accounts::Park,
    answers::{NeedsAnswer, Outline, SessionAnswer},
};
use flagpost_daemon::Reached;
use flagpost_model::{
    ListId, ListRef, TaskId, machines::FleetSeen, plan::Stranded, task::StateName, view,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::roots::RootAnswer;
use crate::commands::land::ToLand;

/// What is going on, and what waits for a person.
///
/// After 'flagpost status', and 'flagpost' alone.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct StatusAnswer<'a> {
    /// Where Flagpost keeps its files.
    pub home: String,
    /// Null where there is none yet.
    pub list: Option<&'a ListRef>,
    /// The directory of tasks.roots that the list is in; null where it is in the home.
    pub root: Option<String>,
    /// Tasks of the list.
    pub total: usize,
    /// What needs a person in the repository, and in this list.
    pub needs: NeedsAnswer<'a>,
    /// How many tasks are in each state; states of none are left out.
    #[schemars(with = "BTreeMap<StateName, usize>")]
    pub counts: BTreeMap<&'static str, usize>,
    /// Tasks that can never start as things are.
    pub stranded: Vec<StrandedTask<'a>>,
    /// Tasks whose files another program took away or emptied lately; 'flagpost doctor --fix' brings them back.
    pub vanished: Vec<TaskId>,
    /// Tasks with a claim, which may have expired.
    pub held: Vec<Outline<'a>>,
    /// Accounts at their limit, with which no run of this home starts anything; those that open first
    /// before the others.
    pub parked: Vec<Park>,
    /// Tasks that can begin now, most urgent first.
    pub ready: Vec<&'a TaskId>,
    /// The work that is to land; null where there is none.
    pub landing: Option<ToLand>,
    /// Files of the list that are no tasks and were passed over.
    pub skipped: Vec<Skipped>,
    /// The session in the live directory; null where there is none.
    pub session: Option<SessionAnswer<'a>>,
    /// The lists in the home.
    pub lists: Vec<ListId>,
    /// The home's daemon; null where none runs.
    pub daemon: Option<Reached>,
    /// The fleet of machines; null where the home is in none.
    pub fleet: Option<FleetSeen<'a>>,
    /// The lists in other directories.
    pub roots: Vec<RootAnswer<'a>>,
}

view! {
    pub struct StrandedTask<'a> from it: &'a Stranded {
        id: &'a TaskId = &it.id,
        why: String = it.why.to_string(),
    }
}
