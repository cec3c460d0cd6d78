//! What needs a person now: one list, which every face shows.
//!
//! Owns which of the things that core knows need a person, in which order, how each is named, and the
//! command that settles it. It asks the operations that show each thing, and reads no file itself. What
//! cannot be read in one place hides nothing in another.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use flagpost_model::{
    ListRef, RepoId, TaskId, WorkerId,
    envelope::Ticket,
    notification::{ItemKey, NoticeKind, WaitingItem},
    plan::{Graph, StrandedBecause, stranded},
    session::ActiveTask,
    task::{Claim, Outline, State, StateName},
    worker::{FRESH, Liveness},
};
use jiff::Timestamp;

use crate::{
    accounts,
    error::{Result, describe},
    home::Home,
    landing::{QueuedBranch, ReviewRule, may_have_branches, reviewed},
    list::{List, ListReader},
    permissions::{Permissions, StoredRequest},
    questions::{self, OpenQuestion},
    registry,
    relay::{Fleet, briefs::BriefView, broken, fleet::pending, workers},
    repository::Repository,
    roots,
    sessions::{Session, SessionStatus, Sessions},
    shell::quoted,
    skipped::Skipped,
};

/// Who holds a task of which repository and showed no sign of life by it lately; the command that frees it.
type Holders = BTreeMap<(RepoId, WorkerId), String>;

/// Of so many failed tasks of a list the reason is read.
const REASONS: usize = 20;

/// So many characters of a task's subject are told, and so many of a whole line: agents write them.
const LONGEST: (usize, usize) = (100, 300);

/// Something that needs a person.
#[derive(Debug, Clone)]
pub struct Need {
    /// What it is, for whoever is told of it.
    pub item: WaitingItem,
    /// What it is about.
    pub about: NeedSubject,
    /// What there is to say of it, in a line, which an agent may have written.
    pub line: String,
    /// The command that settles it; none where there is nothing to do but wait.
    pub settle_with: Option<String>,
}

/// What a need is about.
#[derive(Debug, Clone)]
pub enum NeedSubject {
    /// What an agent asks to be allowed, and those that ask for the same.
    Permission(Vec<StoredRequest>),
    /// A brief that waits for a decision.
    Brief(Box<BriefView>),
    /// A question about a task.
    Question {
        /// The list of the task.
        list: ListRef,
        /// The task.
        task: TaskId,
        /// Its one line.
        subject: String,
        /// Who asks, where that is known.
        by: Option<String>,
        /// The words, whole.
        said: String,
    },
    /// A task of a list.
    Task(ListRef, TaskId),
    /// A run, a worker or an account.
    Other,
}

impl NeedSubject {
    /// The task, and its list.
    pub fn task(&self) -> Option<(&ListRef, &TaskId)> {
        match self {
            Self::Question { list, task, .. } | Self::Task(list, task) => Some((list, task)),
            Self::Permission(_) | Self::Brief(_) | Self::Other => None,
        }
    }
}

/// What needs a person.
#[derive(Debug, Default)]
pub struct Needs {
    /// One each: what waits for a decision first, and of one kind what has waited longest.
    pub all: Vec<Need>,
    /// Mail that cannot be understood.
    pub skipped: Vec<Skipped>,
    /// What could not be read, in words: more may need a person.
    pub faults: Vec<String>,
}

/// Where somebody looks.
#[derive(Debug, Clone, Copy)]
pub enum NeedsScope<'s> {
    /// The whole home.
    Home,
    /// A repository with all of its lists, and this list as it was read, whoever it belongs to.
    Here(Option<&'s Repository>, Option<ReadList<'s>>),
}

/// A list, and its tasks.
pub type ReadList<'s> = (&'s List<'s>, &'s [Arc<Outline>]);

/// All that needs a person there.
pub fn needs(home: &Home, lists: &ListReader, scope: NeedsScope<'_>) -> Result<Needs> {
    let mut found = Needs::default();
    let repositories = match scope {
        NeedsScope::Home => registry::repositories(home)?,
        NeedsScope::Here(repository, _) => repository.into_iter().cloned().collect(),
    };
    let mut holders = Holders::new();
    let mut look = |list: &List<'_>, tasks: &[Arc<Outline>], found: &mut Needs| {
        let owner = list.repository().ok();
        let repo = owner.and_then(|id| repositories.iter().find(|it| it.id == id));
        let needs = TaskPlace { list, repo }.needs(tasks, &mut holders);
        found.take(&format!("list {}", list.id()), needs);
    };
    let given = match scope {
        NeedsScope::Home => None,
        NeedsScope::Here(_, list) => list,
    };
    if let Some((list, tasks)) = given {
        look(list, tasks, &mut found);
    }
    for id in roots::lists(home)? {
        if given.is_some_and(|(it, _)| it.id().as_str() == id.as_str()) {
            continue;
        }
        match List::open(home, &id) {
            Ok(list) if scope.has(&list) => match lists.look(&list) {
                Ok(loaded) => look(&list, &loaded.outlines, &mut found),
                Err(error) => found.take(&format!("list {id}"), Err(error)),
            },
            Ok(_) => {}
            Err(error) => found.take(&format!("list {id}"), Err(error)),
        }
    }
    for repository in &repositories {
        let name = &repository.name;
        let asked = Permissions::of(home, &repository.id).scan().map(|scan| {
            let waiting = scan.waiting();
            let needs = waiting.iter().map(|it| of_requests(repository, it));
            let needs = needs.collect();
            found.skipped.extend(scan.skipped);
            needs
        });
        found.take(&format!("the requests of {name}"), asked);
        let mail = pending(&Fleet::of(home, &repository.id)).map(|(briefs, skipped)| {
            let waiting = briefs.iter().map(|it| of_brief(repository, it));
            let broken = skipped.iter().filter_map(|it| of_broken(repository, it));
            let all = waiting.chain(broken).collect();
            found.skipped.extend(skipped);
            all
        });
        found.take(&format!("the mail of {name}"), mail);
        found.take(&format!("the runs of {name}"), runs(home, repository));
        let silent = silent(home, repository, &holders);
        found.take(&format!("the workers of {name}"), silent);
    }
    found.take("the accounts", parked(home));
    let key = |it: &Need| {
        let key = &it.item.key;
        (rank(key.kind), key.at, key.item.clone())
    };
    found.all.sort_by_cached_key(key);
    Ok(found)
}

/// What is settled first comes first.
fn rank(kind: NoticeKind) -> u8 {
    match kind {
        NoticeKind::Permission => 0,
        NoticeKind::Brief => 1,
        NoticeKind::Question | NoticeKind::Stuck => 2,
        NoticeKind::Failed => 3,
        NoticeKind::Review => 4,
        NoticeKind::Run => 5,
        NoticeKind::Silent => 6,
        NoticeKind::Parked => 7,
    }
}

impl NeedsScope<'_> {
    /// Whether a list of the home is looked at.
    fn has(&self, list: &List<'_>) -> bool {
        match self {
            Self::Home => true,
            Self::Here(here, _) => {
                here.is_some_and(|here| list.repository().is_ok_and(|it| it == here.id))
            }
        }
    }
}

impl Needs {
    fn take(&mut self, place: &str, found: Result<Vec<Need>>) {
        match found {
            Ok(needs) => self.all.extend(needs.into_iter().map(|it| Need {
                line: cut(&it.line, LONGEST.1),
                ..it
            })),
            Err(error) => self.faults.push(format!("{place}: {}", describe(&error))),
        }
    }
}

/// The beginning of a text that is longer.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// One before anybody has said more of it.
fn need(repo: Option<&Repository>, kind: NoticeKind, item: String) -> Need {
    Need {
        item: WaitingItem {
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
        },
        about: NeedSubject::Other,
        line: String::new(),
        settle_with: None,
    }
}

/// Requests that are identical: one decision settles all of them.
fn of_requests(repository: &Repository, same: &[&StoredRequest]) -> Need {
    let first = same.first();
    let n = first.map_or(0, |it| it.n);
    let workers: BTreeSet<&WorkerId> = same.iter().map(|it| &it.request().worker).collect();
    let workers: Vec<&str> = workers.into_iter().map(WorkerId::as_str).collect();
    let workers = workers.join(", ");
    let mut need = need(
        Some(repository),
        NoticeKind::Permission,
        format!("requests/{n}"),
    );
    need.item.key.at = first.map(|it| it.request().at);
    need.item.label = format!("{workers} (request {n})");
    need.item.state = "waits to be allowed something";
    let line = first.map(|it| it.request().line()).unwrap_or_default();
    need.item.summary.clone_from(&line);
    let (said, settle_with) = match (first.is_some_and(|it| it.is_as_asked), same.len()) {
        (false, _) => (
            format!("request {n} was changed by an unknown hand"),
            format!("flagpost permission show {n}"),
        ),
        (true, 1) => (line, format!("flagpost allow {n}")),
        (true, _) => (line, format!("flagpost allow {n} --identical")),
    };
    need.about = NeedSubject::Permission(same.iter().map(|it| (*it).clone()).collect());
    need.line = format!("{workers}: {said}");
    need.settle_with = Some(settle_with);
    need
}

fn of_brief(repository: &Repository, view: &BriefView) -> Need {
    let brief = &view.brief;
    let (worker, seq) = (&brief.target_worker, brief.seq.get());
    let name = format!("{worker}/inbox/{seq:04}");
    let mut need = need(Some(repository), NoticeKind::Brief, name);
    need.item.key.at = Some(brief.submitted_at);
    // A sidecar is somebody else's file: what is no ticket is not repeated.
    let ticket = brief.target_ticket.as_ref();
    let ticket = ticket.and_then(|it| it.parse::<Ticket>().ok());
    need.item.label = match &ticket {
        Some(ticket) => format!("{worker} #{}", ticket.as_str()),
        None => format!("{worker} {seq:04}"),
    };
    need.item.state = "waits for your decision";
    need.item.summary.clone_from(&brief.summary);
    need.item.page = Some(format!("/inbox/{worker}/{seq}"));
    let ticket = ticket.map(|it| format!(" #{}", it.as_str()));
    let ticket = ticket.unwrap_or_default();
    let said = match view.why_withheld() {
        Some(why) => format!("is withheld: {why}"),
        None if view.is_unproposed() => "was put there by an unknown hand".to_owned(),
        None => brief.summary.clone(),
    };
    need.about = NeedSubject::Brief(Box::new(view.clone()));
    need.line = format!("{worker} {seq}{ticket}: {said}");
    // What an unknown hand had a part in is looked at first.
    need.settle_with = Some(match view.held.is_some() || view.is_unproposed() {
        true => view.shown_by(),
        false => format!("flagpost ratify {worker} {seq}"),
    });
    need
}

/// A brief that was proposed, and that nobody can read any more.
fn of_broken(repository: &Repository, skipped: &Skipped) -> Option<Need> {
    let settle_with = broken::put_away_by(skipped)?;
    let mut need = need(Some(repository), NoticeKind::Brief, skipped.name.clone());
    need.item.state = "waits and cannot be read";
    need.line = format!("{}: {}", skipped.name, skipped.reason);
    need.settle_with = Some(settle_with);
    Some(need)
}

/// Where a task is.
struct TaskPlace<'p> {
    list: &'p List<'p>,
    repo: Option<&'p Repository>,
}

impl TaskPlace<'_> {
    /// The questions about these tasks of the list, those that failed and those whose work is to be reviewed. Notes who
    /// holds a task.
    fn needs(&self, tasks: &[Arc<Outline>], holders: &mut Holders) -> Result<Vec<Need>> {
        // Of a list that is bound to no repository, nobody has mail.
        if let Some(repo) = self.repo {
            let claims = tasks
                .iter()
                .filter_map(|task| Some((task, task.state.claim()?)));
            let now = self.list.home.now();
            // Claiming and renewing are signs of life.
            let is_quiet = |it: &Claim| now.duration_since(it.expires_at - it.lease) > FRESH;
            for (task, claim) in claims.filter(|(_, it)| it.is_live(now) && is_quiet(it)) {
                let command = self.command("task release", task);
                let holder = (repo.id.clone(), claim.by.clone());
                holders.insert(holder, format!("{command} --force"));
            }
        }
        let has_failed = |it: &&Arc<Outline>| it.state == State::Failed;
        let failed: Vec<_> = tasks.iter().filter(has_failed).collect();
        let waiting = match failed.is_empty() {
            true => Vec::new(),
            false => stranded(&Graph::new(tasks)),
        };
        let mut needs = Vec::new();
        for (at, task) in failed.into_iter().enumerate() {
            let waits = |why: &StrandedBecause| matches!(why, StrandedBecause::GivenUp { task: on, .. } if *on == task.id);
            let waits_for = waiting.iter().filter(|it| waits(&it.why)).count();
            let reason = (at < REASONS).then(|| self.reason(task)).flatten();
            needs.push(self.failed(task, reason, waits_for));
        }
        let asks = |it: &Outline| !it.state.is_over() && it.state.name() != StateName::Failed;
        if tasks.iter().any(|it| asks(it)) {
            let open = questions::open(self.list, self.repo, tasks)?;
            needs.extend(open.iter().map(|asked| self.asked(asked)));
        }
        needs.extend(self.reviews(tasks)?);
        Ok(needs)
    }

    fn of_task(&self, task: &Outline, kind: NoticeKind) -> Need {
        let (list, id) = (self.list.id(), &task.id);
        let mut need = need(self.repo, kind, format!("{list}/{id}"));
        need.item.label = format!("#{id} of {list}");
        need.item.summary.clone_from(&task.subject);
        need.item.page = Some(format!("/lists/{list}/tasks/{id}"));
        need.about = NeedSubject::Task(list.clone(), id.clone());
        need
    }

    /// Whether its list is the one that a command goes to that names none.
    fn is_own(&self) -> bool {
        let list = self.list.id().as_str();
        let named = self.list.home.environment().settings.get("FLAGPOST_LIST");
        self.repo.is_some_and(|it| it.name.as_str() == list) && named.is_none_or(|it| it == list)
    }

    /// The task in a few words.
    fn title(&self, task: &Outline) -> String {
        let subject = cut(&task.subject, LONGEST.0);
        match self.is_own() {
            true => format!("{} {subject}", task.id),
            false => format!("{}/{} {subject}", self.list.id(), task.id),
        }
    }

    /// A command about a task, as it works from within the repository.
    fn command(&self, verb: &str, task: &Outline) -> String {
        let elsewhere = match self.is_own() {
            true => String::new(),
            false => format!(" --list {}", quoted(self.list.id().as_str())),
        };
        format!("flagpost {verb} {}{elsewhere}", task.id)
    }

    /// What the last worker said. A file that is gone meanwhile has nothing to say.
    fn reason(&self, task: &Outline) -> Option<String> {
        let result = self.list.task(&task.id).ok()?.task.result?;
        let first = result.text.lines().next()?;
        (!first.is_empty()).then(|| first.to_owned())
    }

    fn failed(&self, task: &Outline, reason: Option<String>, waits_for: usize) -> Need {
        let mut need = self.of_task(task, NoticeKind::Failed);
        need.item.key.at = task.ended_at;
        need.item.state = "failed";
        let reason = reason.map(|it| format!(": {it}")).unwrap_or_default();
        let waits = match waits_for {
            0 => String::new(),
            1 => "; 1 task waits for it".to_owned(),
            n => format!("; {n} tasks wait for it"),
        };
        need.line = format!("{}: failed{reason}{waits}", self.title(task));
        need.settle_with = Some(self.command("retry", task));
        need
    }

    /// Work that lands once a person approves it. Git is asked only where the setting wants that.
    fn reviews(&self, tasks: &[Arc<Outline>]) -> Result<Vec<Need>> {
        let Some(repo) = self.repo.filter(|it| may_have_branches(it)) else {
            return Ok(Vec::new());
        };
        if ReviewRule::of(self.list.home, repo)? == ReviewRule::Optional {
            return Ok(Vec::new());
        }
        // Where nothing says where to land, 'flagpost land' tells so.
        let Ok(queue) = reviewed(self.list, repo, None) else {
            return Ok(Vec::new());
        };
        let of = |branch: &QueuedBranch| {
            let task = tasks.iter().find(|it| it.id == branch.task)?;
            let mut need = self.of_task(task, NoticeKind::Review);
            need.item.key.at = task.ended_at;
            need.item.state = "waits for your review";
            need.line = format!("{}: to review", self.title(task));
            need.settle_with = Some(self.command("review", task));
            Some(need)
        };
        Ok(queue.to_review().filter_map(of).collect())
    }

    fn asked(&self, asked: &OpenQuestion<'_>) -> Need {
        let task = asked.task;
        let mut need = match &asked.message {
            Some(place) => {
                let mut need = self.of_task(task, NoticeKind::Question);
                let seq = place.seq.get();
                need.item.key.item = format!("{}/{}/{seq:04}", place.worker, place.direction);
                need.item.label = format!("{} #{}", place.worker, task.id);
                need.item.state = "asks you a question";
                need
            }
            None => {
                let mut need = self.of_task(task, NoticeKind::Stuck);
                need.item.state = "is stuck and waits for your answer";
                need
            }
        };
        need.item.key.at = asked.at;
        need.item.summary.clone_from(&asked.said);
        need.about = NeedSubject::Question {
            list: self.list.id().clone(),
            task: task.id.clone(),
            subject: task.subject.clone(),
            by: asked.by.clone(),
            said: asked.said.clone(),
        };
        need.line = format!("{}: {}", self.title(task), words(asked));
        need.settle_with = Some(format!("{} 'WORDS'", self.command("answer", task)));
        need
    }
}

/// A question in a line. A task that came stuck from elsewhere asks nothing in words.
fn words(asked: &OpenQuestion<'_>) -> String {
    let said = asked.said.trim();
    let by = asked.by.as_deref();
    match (by, said.lines().next()) {
        (None, None) => "stuck".to_owned(),
        (by, None) => format!("{} is stuck and said no more", by.unwrap_or("somebody")),
        (by, Some(first)) => {
            let more = if first.len() < said.len() { " …" } else { "" };
            format!("{} asks: {first}{more}", by.unwrap_or("somebody"))
        }
    }
}

/// The run whose runner is gone, and the stalled tasks of the one that lives.
fn runs(home: &Home, repository: &Repository) -> Result<Vec<Need>> {
    let Some(session) = Sessions::of(home, repository).glimpse()? else {
        return Ok(Vec::new());
    };
    let id = session.title();
    Ok(match session.stage {
        SessionStatus::Dead => {
            let mut need = of_run(repository, &id, &id);
            need.item.state = "broke off: its runner is gone";
            need.item.key.at = session.progress.updated;
            need.line = format!("run {id}: its runner is gone");
            need.settle_with = Some("flagpost session recover".to_owned());
            vec![need]
        }
        SessionStatus::Live => stalled(home, repository, &session),
        SessionStatus::Interrupted | SessionStatus::Archived => Vec::new(),
    })
}

/// Its tasks whose workers show no sign of work; one that is over is none, whatever its client does.
fn stalled(home: &Home, repository: &Repository, session: &Session) -> Vec<Need> {
    let id = session.title();
    let list = session.lock.list.clone();
    let is_over = |task: &ActiveTask| {
        let list = list.as_ref().and_then(|it| List::find(home, it).ok());
        let file = list.and_then(|it| it.task(&task.id).ok());
        file.is_some_and(|it| it.task.state.is_over())
    };
    let of = |(task, since): (&ActiveTask, Timestamp)| {
        let mut need = of_run(repository, &id, &format!("{id}/{}", task.id));
        need.item.label = format!("#{} of run {id}", task.id);
        need.item.state = "shows no sign of work";
        need.item.summary.clone_from(&task.subject);
        need.item.key.at = Some(since);
        if let Some(list) = &list {
            need.about = NeedSubject::Task(list.clone(), task.id.clone());
        }
        need.line = format!("{} {}: stalled, no sign of work", task.id, task.subject);
        need.settle_with = Some(format!("flagpost stop {}", task.id));
        need
    };
    let stalled = session.stalled().filter(|(task, _)| !is_over(task));
    stalled.map(of).collect()
}

/// Something about a run.
pub(crate) fn of_run(repository: &Repository, session: &str, name: &str) -> Need {
    let mut need = need(Some(repository), NoticeKind::Run, format!("runs/{name}"));
    need.item.label = format!("run {session}");
    need.item.page = Some(format!("/runs/{session}"));
    need
}

/// The workers that are silent and hold a task. A process of a run ends with its run.
fn silent(home: &Home, repository: &Repository, holders: &Holders) -> Result<Vec<Need>> {
    let all = workers::at_work(&Fleet::of(home, &repository.id))?;
    let silent = all.into_iter().filter_map(|(worker, liveness)| {
        let is_silent = liveness == Liveness::Silent && !worker.is_process();
        let command = holders.get(&(repository.id.clone(), worker.clone()));
        Some((worker, command.filter(|_| is_silent)?.clone()))
    });
    let of = |(worker, command): (WorkerId, String)| {
        let mut need = need(Some(repository), NoticeKind::Silent, worker.to_string());
        need.item.state = "is silent and holds a task";
        need.line = format!("{worker} is silent and holds a task");
        need.settle_with = Some(command);
        need
    };
    Ok(silent.map(of).collect())
}

/// An account that is parked again has another time.
fn parked(home: &Home) -> Result<Vec<Need>> {
    let parked = accounts::all_parked(home)?;
    let of = |park: accounts::Park| {
        let name = format!("parked/{}", park.agent);
        let mut need = need(None, NoticeKind::Parked, name);
        need.item.key.at = Some(park.until);
        need.item.label = format!("the account of {}", park.agent);
        need.item.state = "is parked at its limit";
        need.line = format!("the account of {} is parked: {}", park.agent, park.why);
        need.item.summary = park.why;
        need
    };
    Ok(parked.into_iter().map(of).collect())
}
