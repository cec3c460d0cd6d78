//! The state as it is, for whoever begins to listen.

use flagpost_core::{
    Error, Home, List, Repository,
    answers::{Outline, document, each},
    relay::{
        Fleet,
        briefs::{self, BriefStatus},
        reports,
        workers::{self, WorkerView},
    },
    roots,
};
use flagpost_model::{
    ListId, RepoId,
    envelope::{Brief, Report},
    task,
};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::EventFilter;

/// The state, for whoever begins to listen or fell behind.
///
/// The data of the event daemon.resync: it takes the place of all that was told before, and what comes
/// after it is told.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Resync<'a> {
    /// Somebody has just come; fell too far behind; or had what another history told.
    #[schemars(extend("enum" = ["fresh", "behind", "rewritten"]))]
    reason: &'a str,
    repositories: Vec<RepositoryState<'a>>,
}

/// What stands in a repository.
#[derive(Serialize, JsonSchema)]
struct RepositoryState<'a> {
    id: &'a RepoId,
    name: &'a ListId,
    /// All up to this number of its history is in the state.
    n: u64,
    workers: Vec<WorkerView>,
    /// Those that wait for a decision.
    briefs: Vec<Brief>,
    /// Those that nobody has read.
    reports: Vec<Report>,
    /// Its lists with their tasks; none where only mail is listened to.
    lists: Vec<ListState>,
}

/// A list with its tasks.
#[derive(Serialize, JsonSchema)]
struct ListState {
    list: ListId,
    #[serde(serialize_with = "outlines")]
    #[schemars(with = "Vec<Outline<'_>>")]
    tasks: Vec<task::Outline>,
}

/// What stands in these repositories: who works in them, what waits, and the tasks.
pub(super) fn state(
    home: &Home,
    repositories: &[(Repository, u64)],
    scope: EventFilter,
    reason: &str,
) -> Result<Value, Error> {
    let each = repositories
        .iter()
        .map(|(repository, n)| one(home, repository, *n, scope));
    let repositories = each.collect::<Result<_, Error>>()?;
    Ok(document(&Resync {
        reason,
        repositories,
    }))
}

fn one<'a>(
    home: &Home,
    repository: &'a Repository,
    n: u64,
    scope: EventFilter,
) -> Result<RepositoryState<'a>, Error> {
    let fleet = Fleet::of(home, &repository.id);
    let (workers, _) = workers::list(&fleet)?;
    let (mut waiting, mut unread) = (Vec::new(), Vec::new());
    for mail in fleet.mails()? {
        let (letters, _) = briefs::list(&mail)?;
        let open = letters.into_iter();
        let open = open.filter(|it| it.stage == BriefStatus::Pending);
        waiting.extend(open.map(|it| it.brief));
        let (papers, _) = reports::list(&mail)?;
        let open = papers.into_iter().filter(|it| !it.read);
        unread.extend(open.map(|it| it.report));
    }
    Ok(RepositoryState {
        id: &repository.id,
        name: &repository.name,
        n,
        workers,
        briefs: waiting,
        reports: unread,
        lists: match scope {
            EventFilter::Everything => lists(home, repository)?,
            EventFilter::Mail => Vec::new(),
        },
    })
}

fn lists(home: &Home, repository: &Repository) -> Result<Vec<ListState>, Error> {
    let mut shown = Vec::new();
    for id in roots::lists(home)? {
        // One that leads elsewhere or belongs to nobody is not this repository's.
        let list = List::open(home, &id).ok();
        let ours = |it: &List<'_>| it.repository().is_ok_and(|it| it == repository.id);
        if let Some(list) = list.filter(ours) {
            let tasks = list.peek()?.outlines;
            shown.push(ListState { list: id, tasks });
        }
    }
    Ok(shown)
}

fn outlines<S: Serializer>(tasks: &[task::Outline], to: S) -> Result<S::Ok, S::Error> {
    each::<_, Outline<'_>>(tasks).serialize(to)
}
