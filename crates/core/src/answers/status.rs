//! What is going on, as every face answers it.

use std::{borrow::Cow, collections::BTreeMap};

use flagpost_model::{
    ListId, ListRef, TaskId, machines::FleetSeen, plan::Stranded, task::StateName, view,
};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{NeedsAnswer, Outline, SessionAnswer, each};
use crate::{
    accounts::Park,
    error::describe,
    home::Home,
    roots::{Root, RootStatus, Shadowed},
    skipped::Skipped,
    status::{ListStatus, Status, ToLand},
    watch::WatchMode,
};

/// What is going on, and what waits for a person.
///
/// After 'flagpost status', and 'flagpost' alone; from GET /v1/status.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StatusAnswer<'a> {
    /// Where Flagpost keeps its files.
    home: String,
    /// Null where there is none yet.
    pub list: Option<&'a ListRef>,
    /// The directory of tasks.roots that the list is in; null where it is in the home.
    root: Option<String>,
    /// Tasks of the list.
    total: usize,
    /// What needs a person in the repository, and in this list.
    needs: NeedsAnswer<'a>,
    /// How many tasks are in each state; states of none are left out.
    #[schemars(with = "BTreeMap<StateName, usize>")]
    counts: BTreeMap<&'static str, usize>,
    /// Tasks that can never start as things are.
    stranded: Vec<StrandedTask<'a>>,
    /// Tasks whose files another program took away or emptied lately; 'flagpost doctor --fix' brings them back.
    pub vanished: &'a [TaskId],
    /// Tasks with a claim, which may have expired.
    held: Vec<Outline<'a>>,
    /// Accounts at their limit, with which no run of this home starts anything; those that open first
    /// before the others.
    parked: &'a [Park],
    /// Tasks that can begin now, most urgent first.
    ready: Vec<&'a TaskId>,
    /// The work that is to land; null where there is none.
    landing: Option<&'a ToLand>,
    /// Files of the list that are no tasks and were passed over.
    skipped: Vec<&'a Skipped>,
    /// The session in the live directory; null where there is none.
    session: Option<SessionAnswer<'a>>,
    /// The lists in the home.
    lists: &'a [ListId],
    /// The home's daemon; null where none runs. Only 'flagpost status' looks for it, so other answers lack it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DaemonAnswer>")]
    pub daemon: Option<Option<DaemonAnswer>>,
    /// The fleet of machines; null where the home is in none.
    fleet: Option<FleetSeen<'a>>,
    /// The lists in other directories.
    roots: Vec<RootAnswer<'a>>,
}

impl<'a> StatusAnswer<'a> {
    /// What is going on in a home.
    pub fn new(home: &Home, status: &'a Status<'a>) -> Self {
        let list = status.list.as_ref();
        let root = list.and_then(|it| it.list.root());
        let counts = list.map(ListStatus::counts).unwrap_or_default();
        let of_list = list.into_iter().flat_map(|it| &it.skipped);
        Self {
            home: home.root().to_string_lossy().into(),
            list: list.map(|it| it.list.id()),
            root: root.map(|root| root.to_string_lossy().into()),
            total: list.map_or(0, |it| it.tasks.len()),
            needs: (&status.needs).into(),
            counts: counts.iter().map(|(it, n)| (it.as_str(), *n)).collect(),
            stranded: list.map_or_else(Vec::new, |it| each(&it.stranded)),
            vanished: list.map_or(&[], |it| &it.vanished),
            held: each(list.into_iter().flat_map(ListStatus::held)),
            parked: &status.parked,
            ready: list
                .into_iter()
                .flat_map(|it| it.ready.iter().map(|task| &task.id))
                .collect(),
            landing: list.and_then(|it| it.landing.as_ref()),
            skipped: of_list.chain(&status.needs.skipped).collect(),
            session: status.session.as_ref().map(Into::into),
            lists: &status.lists,
            daemon: None,
            fleet: status.fleet.as_ref().map(Into::into),
            roots: each(&status.roots),
        }
    }
}

view! {
    struct StrandedTask<'a> from it: &'a Stranded {
        id: &'a TaskId = &it.id,
        why: String = it.why.to_string(),
    }
}

/// A daemon as it is answered.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DaemonAnswer {
    /// Its process.
    #[schemars(range(min = 1))]
    pub pid: u32,
    /// Which Flagpost it is.
    pub version: String,
    /// Since when it runs.
    pub started_at: Timestamp,
    /// Where it is reached over the loopback.
    pub http: String,
    /// How it notices what others do: the system tells it, or it looks once a second.
    pub watching: WatchMode,
    /// Where processes of its user reach it.
    pub socket: String,
}

/// A directory that tasks.roots names.
#[derive(Debug, Serialize, JsonSchema)]
struct RootAnswer<'a> {
    dir: Cow<'a, str>,
    #[schemars(extend("enum" = ["readable", "missing", "unreadable"]))]
    standing: &'static str,
    /// Why it is unreadable; else null.
    reason: Option<String>,
    /// The lists that are found there.
    lists: &'a [ListId],
    /// Lists that are not seen, because another of the same name comes first.
    shadowed: Vec<ShadowedList<'a>>,
}

view! {
    struct ShadowedList<'a> from it: &'a Shadowed {
        list: &'a ListId = &it.list,
        /// The directory that has one of the same name and comes first.
        by: Cow<'a, str> = it.by.to_string_lossy(),
    }
}

impl<'a> From<&'a Root> for RootAnswer<'a> {
    fn from(root: &'a Root) -> Self {
        let (standing, lists, shadowed, reason) = match &root.standing {
            RootStatus::Readable { lists, shadowed } => {
                ("readable", &lists[..], &shadowed[..], None)
            }
            RootStatus::Missing => ("missing", &[][..], &[][..], None),
            RootStatus::Unreadable(error) => {
                ("unreadable", &[][..], &[][..], Some(describe(error)))
            }
        };
        Self {
            dir: root.dir.to_string_lossy(),
            standing,
            reason,
            lists,
            shadowed: each(shadowed),
        }
    }
}
