//! The state as it is, for whoever begins to listen.

use std::{io::Write as _, sync::Arc};

use flagpost_core::{
    Error, Repository, answers,
    relay::{
        Fleet,
        briefs::{self, BriefStatus},
        reports,
        workers::{self, WorkerView},
    },
};
use flagpost_model::{
    ListId, RepoId,
    envelope::{Brief, Report},
    machines::FleetSeen,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{END, EventFilter, Hub, Text, begun, lists::ListState};

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
    /// The fleet of machines; null where the home is in none, or only mail is listened to.
    fleet: Option<FleetSeen<'a>>,
}

/// The fleet of machines stands otherwise than before.
///
/// The data of the event fleet.changed of GET /v1/events.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FleetChange<'a> {
    /// How it stands; null where the home is in none any more.
    pub(super) fleet: Option<FleetSeen<'a>>,
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
    lists: &'a [ListState<'a>],
}

/// What stands in these repositories, as an event with this id: who works in them, what waits, and the tasks.
/// And up to which number the changes of lists are in it. All who begin with the same share one text.
pub(super) fn state(
    hub: &Hub,
    repositories: &[(Repository, u64)],
    scope: EventFilter,
    reason: &str,
    id: &str,
) -> Result<(Arc<Text>, u64), Error> {
    let all = repositories.iter();
    let all = all.map(|(repository, n)| without_lists(hub, repository, *n));
    let fleet = hub.fleet().sight;
    let fleet = fleet.as_ref().filter(|_| scope == EventFilter::Everything);
    let resync = Resync {
        reason,
        repositories: all.collect::<Result<_, Error>>()?,
        fleet: fleet.map(Into::into),
    };
    let head = begun(Some(id), "daemon.resync");
    let without_tasks = head.clone() + &answers::text(&resync);
    if scope == EventFilter::Mail {
        return Ok((Arc::new((without_tasks + END).into()), 0));
    }
    hub.lists.state(&hub.home, without_tasks, |lists| {
        let repositories = resync.repositories.into_iter().map(|it| RepositoryState {
            lists: lists.get(it.id).map_or(&[], Vec::as_slice),
            ..it
        });
        let whole = Resync {
            reason,
            repositories: repositories.collect(),
            fleet: fleet.map(Into::into),
        };
        let written = Text::written(|to| {
            to.write_all(head.as_bytes())?;
            answers::write(&whole, &mut *to)?;
            to.write_all(END.as_bytes())
        });
        // Memory takes it all, and nothing that is answered has keys that are no texts.
        written.unwrap_or_default()
    })
}

fn without_lists<'a>(
    hub: &Hub,
    repository: &'a Repository,
    n: u64,
) -> Result<RepositoryState<'a>, Error> {
    let fleet = Fleet::of(&hub.home, &repository.id);
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
        lists: &[],
    })
}
