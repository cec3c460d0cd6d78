//! What is going on: one picture of now, from which every face takes what it shows.
//!
//! Owns what belongs to it, and how much of it one list and its repository have. It asks those that own each
//! part, and reads no file itself. What cannot be read of sessions and of what needs a person hides nothing else.

use std::{collections::BTreeMap, sync::Arc};

use flagpost_model::{
    ListId, TaskId,
    machines::FleetSight,
    plan::{Graph, Stranded, stranded},
    task::{Outline, StateName},
};

use crate::{
    accounts::{self, Park},
    error::Result,
    home::Home,
    landing::{BranchState, may_have_branches, reviewed},
    list::{List, ListReader},
    needs::{Needs, NeedsScope, needs},
    order,
    repository::Repository,
    roots::{self, Root},
    sessions::{Session, Sessions},
    skipped::Skipped,
    tasks,
};

/// What is going on.
#[derive(Debug)]
pub struct Status<'l> {
    /// The list that is looked at; none where there is none yet.
    pub list: Option<ListStatus<'l>>,
    /// What needs a person in the repository, and in this list.
    pub needs: Needs,
    /// The session in the live directory.
    pub session: Option<Session>,
    /// Accounts at their limit.
    pub parked: Vec<Park>,
    /// The lists in the home.
    pub lists: Vec<ListId>,
    /// The lists in other directories.
    pub roots: Vec<Root>,
    /// The fleet of machines; none where the home is in none.
    pub fleet: Option<FleetSight>,
}

/// What is going on in a list.
#[derive(Debug)]
pub struct ListStatus<'l> {
    /// The list.
    pub list: &'l List<'l>,
    /// Its tasks, by id.
    pub tasks: Vec<Arc<Outline>>,
    /// Files that are no tasks.
    pub skipped: Vec<Skipped>,
    /// Those that can never start as things are.
    pub stranded: Vec<Stranded>,
    /// Those whose files another program took away or emptied lately.
    pub vanished: Vec<TaskId>,
    /// Those that can begin now, most urgent first.
    pub ready: Vec<Arc<Outline>>,
    /// The work that is to land; none where there is none.
    pub landing: Option<ToLand>,
}

/// What is to land, in numbers.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
pub struct ToLand {
    /// The target branch.
    pub onto: String,
    /// Branches that can land.
    pub ready: usize,
    /// Branches that are not what they were when their tasks passed; they land where they are named.
    pub changed: usize,
    /// Branches that wait for a person's approval.
    pub to_review: usize,
    /// Branches that build on work which is being done again, or waits for an approval.
    pub waits: usize,
    /// Branches that did not land.
    pub refused: usize,
    /// Whether a tested commit waits for a working tree.
    pub staged: bool,
}

/// What is going on in this repository, and in this list, whoever it belongs to.
pub fn status<'l>(
    home: &Home,
    here: Option<&Repository>,
    list: Option<&'l List<'l>>,
) -> Result<Status<'l>> {
    let reader = ListReader::default();
    let list = list
        .map(|it| ListStatus::read(&reader, here, it))
        .transpose()?;
    let seen = list.as_ref().map(|it| (it.list, &it.tasks[..]));
    let sessions = here.map(|it| Sessions::of(home, it).current());
    Ok(Status {
        needs: needs(home, &reader, NeedsScope::Here(here, seen))?,
        list,
        // What cannot be read of sessions is a fault among the needs.
        session: sessions.and_then(|it| it.ok().flatten()),
        parked: accounts::all_parked(home)?,
        lists: home.lists()?,
        roots: roots::scan(home)?,
        fleet: order::sight(home),
    })
}

impl<'l> ListStatus<'l> {
    fn read(reader: &ListReader, here: Option<&Repository>, list: &'l List<'l>) -> Result<Self> {
        let loaded = reader.look(list)?;
        let mut stranded = stranded(&Graph::new(&loaded.outlines));
        stranded.retain(|it| !it.why.may_pass());
        let ready = tasks::ready(&loaded.outlines, list.home.now());
        Ok(Self {
            list,
            stranded,
            vanished: list.vanished_lately(&loaded.skipped)?.into_iter().collect(),
            ready: ready.into_iter().cloned().collect(),
            landing: here.and_then(|it| ToLand::read(it, list)),
            tasks: loaded.outlines,
            skipped: loaded.skipped,
        })
    }

    /// How many tasks are in each state that any is in.
    pub fn counts(&self) -> BTreeMap<StateName, usize> {
        let mut counts = BTreeMap::new();
        for task in &self.tasks {
            *counts.entry(task.state.name()).or_default() += 1;
        }
        counts
    }

    /// The tasks with a claim, which may have expired.
    pub fn held(&self) -> impl Iterator<Item = &Outline> {
        let tasks = self.tasks.iter().map(AsRef::as_ref);
        tasks.filter(|task| task.state.claim().is_some())
    }
}

impl ToLand {
    /// What there is of a list; none where nothing is, or where nothing says where to land.
    fn read(repository: &Repository, list: &List<'_>) -> Option<Self> {
        let queue = may_have_branches(repository).then(|| reviewed(list, repository, None));
        let queue = queue?.ok()?;
        let count =
            |is: fn(&BranchState) -> bool| queue.branches.iter().filter(|it| is(&it.state)).count();
        let found = Self {
            onto: queue.target.branch.clone(),
            ready: count(|it| *it == BranchState::Queued),
            changed: count(|it| matches!(it, BranchState::Changed { .. })),
            to_review: count(|it| *it == BranchState::Unapproved),
            waits: count(|it| matches!(it, BranchState::Waits { .. })),
            refused: count(|it| matches!(it, BranchState::Refused(_))),
            staged: queue.staged.is_some(),
        };
        let branches = found.ready + found.changed + found.to_review + found.waits + found.refused;
        (branches > 0 || found.staged).then_some(found)
    }
}
