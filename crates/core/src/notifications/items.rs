//! What waits for a person now, in the whole home.
//!
//! Owns which of the things that core knows count as waiting, and how each is named. It asks the same
//! operations as `status` and `inbox`, and reads no file itself. What cannot be read in one place hides
//! nothing in another.

use std::{collections::BTreeSet, ops::ControlFlow, sync::Arc};

use flagpost_model::{
    ListId, RepoId, WorkerId,
    envelope::{Brief, Ticket},
    notification::{ItemKey, NoticeKind, WaitingItem},
    task::{Outline, State, StateName},
    worker::Liveness,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::{
    accounts,
    error::{Result, describe},
    history::{History, Kind, Line},
    home::Home,
    list::{List, ListReader},
    questions::{self, OpenQuestion},
    registry,
    relay::{Fleet, fleet::pending, workers},
    repository::Repository,
    roots,
    sessions::{Session, SessionStatus, Sessions},
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

/// Everything that waits for a person in a home.
pub fn waiting(home: &Home, lists: &ListReader) -> Result<WaitingItems> {
    let mut all = WaitingItems::default();
    let repositories = registry::repositories(home)?;
    let mut holders: BTreeSet<(RepoId, WorkerId)> = BTreeSet::new();
    for list in roots::lists(home)? {
        let found = of_list(home, lists, &list, &repositories, &mut holders);
        all.take(&format!("list {list}"), found);
    }
    for repository in &repositories {
        let name = &repository.name;
        all.take(&format!("the mail of {name}"), briefs(home, repository));
        all.take(&format!("the runs of {name}"), runs(home, repository));
        let silent = silent(home, repository, &holders);
        all.take(&format!("the workers of {name}"), silent);
    }
    all.take("the accounts", parked(home));
    Ok(all)
}

impl WaitingItems {
    fn take(&mut self, place: &str, found: Result<Vec<WaitingItem>>) {
        match found {
            Ok(items) => self.items.extend(items),
            Err(error) => self.faults.push(format!("{place}: {}", describe(&error))),
        }
    }
}

/// An item before anybody has said more of it.
fn item(repo: Option<&Repository>, kind: NoticeKind, item: String) -> WaitingItem {
    WaitingItem {
        key: ItemKey {
            repo: repo.map(|it| it.name.to_string()),
            kind,
            item: item.clone(),
            at: None,
        },
        label: item,
        state: "waits for you",
        summary: String::new(),
        page: None,
    }
}

fn briefs(home: &Home, repository: &Repository) -> Result<Vec<WaitingItem>> {
    let (briefs, _) = pending(&Fleet::of(home, &repository.id))?;
    let of = |brief: &Brief| {
        let (worker, seq) = (&brief.target_worker, brief.seq.get());
        let name = format!("{worker}/inbox/{seq:04}");
        let mut item = item(Some(repository), NoticeKind::Brief, name);
        item.key.at = Some(brief.submitted_at);
        // A sidecar is somebody else's file: what is no ticket is not repeated.
        let ticket = brief.target_ticket.as_ref();
        let ticket = ticket.and_then(|it| it.parse::<Ticket>().ok());
        item.label = match ticket {
            Some(ticket) => format!("{worker} #{}", ticket.as_str()),
            None => format!("{worker} {seq:04}"),
        };
        item.state = "waits for your decision";
        item.summary.clone_from(&brief.summary);
        item.page = Some(format!("/inbox/{worker}/{seq}"));
        item
    };
    Ok(briefs.iter().map(|it| of(&it.brief)).collect())
}

/// The questions about a list's tasks and its failed tasks. Notes who holds a task.
fn of_list(
    home: &Home,
    lists: &ListReader,
    id: &ListId,
    repositories: &[Repository],
    holders: &mut BTreeSet<(RepoId, WorkerId)>,
) -> Result<Vec<WaitingItem>> {
    let list = List::open(home, id)?;
    let tasks = lists.look(&list)?.outlines;
    // Of a list that is bound to no repository, nobody has mail.
    let repo = list.repository().ok();
    let repo = repo.and_then(|id| repositories.iter().find(|it| it.id == id));
    if let Some(repo) = repo {
        let claims = tasks.iter().filter_map(|task| task.state.claim());
        let live = claims.filter(|claim| claim.is_live(home.now()));
        holders.extend(live.map(|claim| (repo.id.clone(), claim.by.clone())));
    }
    let failed = tasks.iter().filter(|it| it.state == State::Failed);
    let mut items: Vec<WaitingItem> = failed
        .map(|task| {
            let mut item = of_task(id, repo, task, NoticeKind::Failed);
            item.key.at = task.ended_at;
            item.state = "failed";
            item
        })
        .collect();
    let asks = |it: &Arc<Outline>| !it.state.is_over() && it.state.name() != StateName::Failed;
    if tasks.iter().any(asks) {
        let open = questions::open(&list, repo, &tasks)?;
        items.extend(open.iter().map(|asked| of_question(id, repo, asked)));
    }
    Ok(items)
}

fn of_question(list: &ListId, repo: Option<&Repository>, asked: &OpenQuestion<'_>) -> WaitingItem {
    let mut item = match &asked.message {
        Some(place) => {
            let mut item = of_task(list, repo, asked.task, NoticeKind::Question);
            let seq = place.seq.get();
            item.key.item = format!("{}/{}/{seq:04}", place.worker, place.direction);
            item.label = format!("{} #{}", place.worker, asked.task.id);
            item.state = "asks you a question";
            item
        }
        None => {
            let mut item = of_task(list, repo, asked.task, NoticeKind::Stuck);
            item.state = "is stuck and waits for your answer";
            item
        }
    };
    item.key.at = asked.at;
    item.summary.clone_from(&asked.said);
    item
}

fn of_task(
    list: &ListId,
    repo: Option<&Repository>,
    task: &Outline,
    kind: NoticeKind,
) -> WaitingItem {
    let mut item = item(repo, kind, format!("{list}/{}", task.id));
    item.label = format!("#{} of {list}", task.id);
    item.summary.clone_from(&task.subject);
    item.page = Some(format!("/lists/{list}/tasks/{}", task.id));
    item
}

/// The run that ended last, the one whose runner is gone, and the stalled tasks of the one that lives.
fn runs(home: &Home, repository: &Repository) -> Result<Vec<WaitingItem>> {
    let mut items: Vec<WaitingItem> = last_end(home, repository)?.into_iter().collect();
    let Some(session) = Sessions::of(home, repository).glimpse()? else {
        return Ok(items);
    };
    let id = session.title();
    match session.stage {
        SessionStatus::Dead => {
            let mut item = of_run(repository, &id, &id);
            item.state = "broke off: its runner is gone";
            item.key.at = session.progress.updated;
            items.push(item);
        }
        SessionStatus::Live => items.extend(stalled(repository, &session)),
        SessionStatus::Interrupted | SessionStatus::Archived => {}
    }
    Ok(items)
}

fn stalled(repository: &Repository, session: &Session) -> Vec<WaitingItem> {
    let id = session.title();
    let of = |(task, since): (&flagpost_model::session::ActiveTask, Timestamp)| {
        let mut item = of_run(repository, &id, &format!("{id}/{}", task.id));
        item.label = format!("#{} of run {id}", task.id);
        item.state = "shows no sign of work";
        item.summary.clone_from(&task.subject);
        item.key.at = Some(since);
        item
    };
    session.stalled().map(of).collect()
}

fn of_run(repository: &Repository, session: &str, name: &str) -> WaitingItem {
    let mut item = item(Some(repository), NoticeKind::Run, format!("runs/{name}"));
    item.label = format!("run {session}");
    item.page = Some(format!("/runs/{session}"));
    item
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
        let mut item = of_run(repository, &session, &session);
        item.state = "ended";
        item.key.at = Some(at);
        item
    }))
}

/// The workers that are silent and hold a task. A process of a run ends with its run.
fn silent(
    home: &Home,
    repository: &Repository,
    holders: &BTreeSet<(RepoId, WorkerId)>,
) -> Result<Vec<WaitingItem>> {
    let all = workers::at_work(&Fleet::of(home, &repository.id))?;
    let silent = all.into_iter().filter(|(worker, liveness)| {
        *liveness == Liveness::Silent
            && !worker.is_process()
            && holders.contains(&(repository.id.clone(), worker.clone()))
    });
    let of = |worker: WorkerId| {
        let mut item = item(Some(repository), NoticeKind::Silent, worker.to_string());
        item.state = "is silent and holds a task";
        item
    };
    Ok(silent.map(|(worker, _)| of(worker)).collect())
}

/// An account that is parked again has another time.
fn parked(home: &Home) -> Result<Vec<WaitingItem>> {
    let parked = accounts::all_parked(home)?;
    let of = |park: accounts::Park| {
        let name = format!("parked/{}", park.agent);
        let mut item = item(None, NoticeKind::Parked, name);
        item.key.at = Some(park.until);
        item.label = format!("the account of {}", park.agent);
        item.state = "is parked at its limit";
        item.summary = park.why;
        item
    };
    Ok(parked.into_iter().map(of).collect())
}
