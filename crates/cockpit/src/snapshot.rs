//! Everything the screens show, as plain data of one moment.
//!
//! Owns what is read for a screen: no rule of its own, since `core` says who is ready, what waits for a
//! person and what may be decided. It knows neither keys nor terminal.

use std::{collections::BTreeSet, sync::Arc};

use flagpost_core::{
    Error, Home, List, ListReader, Repository, Result,
    accounts::{self, Park},
    bridge::Bridge,
    messages,
    messages::MessageView,
    needs::{Need, NeedSubject, Needs, NeedsScope, ReadList, needs},
    order,
    permissions::{Permissions, StoredRequest},
    policy,
    relay::{
        Fleet,
        briefs::BriefView,
        workers::{self, WorkerView},
    },
    reservations::Reservations,
    sessions::{Session, SessionStatus, Sessions},
    tasks,
};
use flagpost_model::{
    ListRef, Seq, TaskId, WorkerId,
    machines::FleetSight,
    notification::NoticeKind,
    plan::{Graph, Index, waves},
    reservation::Reservation,
    session::{ActiveTask, LogRow, Timeline},
    task::{Outline, State},
    worker::WorkerStatus,
};
use jiff::Timestamp;
use serde_json::Value;

/// Where a task stands on the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// It can be claimed now.
    Ready,
    /// It waits for other tasks, or for its day.
    Blocked,
    /// Somebody holds it and has not begun.
    Claimed,
    /// Somebody works on it.
    Running,
    /// It is stuck, or failed for good.
    NeedsYou,
    /// It is over.
    Done,
}

impl Lane {
    /// All of them, from the left.
    pub const ALL: [Self; 6] = [
        Self::Ready,
        Self::Blocked,
        Self::Claimed,
        Self::Running,
        Self::NeedsYou,
        Self::Done,
    ];

    /// The lane of a state; none of a pending task, which may be ready or blocked.
    pub fn of(state: &State) -> Option<Self> {
        match state {
            State::Pending => None,
            State::Claimed(_) => Some(Self::Claimed),
            State::InProgress(_) => Some(Self::Running),
            State::Stuck | State::Failed => Some(Self::NeedsYou),
            State::Completed | State::Cancelled => Some(Self::Done),
        }
    }

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Ready => "Ready",
            Self::Blocked => "Blocked",
            Self::Claimed => "Claimed",
            Self::Running => "Running",
            Self::NeedsYou => "Needs you",
            Self::Done => "Done",
        }
    }
}

/// A brief that waits for the operator.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitingBrief {
    /// Whose.
    pub worker: WorkerId,
    /// Its number.
    pub seq: Seq,
    /// The ticket that it is about.
    pub ticket: Option<String>,
    /// Its words in a line.
    pub summary: String,
    /// Its words, as they will be delivered.
    pub body: String,
    /// The hash over sidecar and body: a decision is on this and nothing else.
    pub envelope: String,
    /// Who wrote it.
    pub from: String,
    /// When.
    pub at: Timestamp,
    /// From then on nobody can decide on it.
    pub expires_at: Option<Timestamp>,
    /// Why it is withheld, where it is, and the command that settles it.
    pub withheld: Option<(String, String)>,
    /// Nobody is on record for proposing it.
    pub is_unproposed: bool,
}

/// A question that waits for the operator.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitingQuestion {
    /// About which task.
    pub task: TaskId,
    /// Its subject.
    pub subject: String,
    /// Who asks.
    pub by: Option<String>,
    /// Since when.
    pub at: Option<Timestamp>,
    /// The words.
    pub said: String,
}

/// What agents want to do and wait to be allowed: identical requests, which one decision settles.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitingPermission {
    /// The number of the first of them.
    pub request: u64,
    /// Whether there are others like it.
    pub has_others: bool,
    /// Whether a rule could allow such requests from now on, which stands below the rest.
    pub has_rule: bool,
    /// Who asks, as in `W1, W2`.
    pub workers: String,
    /// What it is about, in a line.
    pub line: String,
    /// All of it, as the tool is called.
    pub body: String,
    /// Of the tool and its input: a decision is on this and nothing else.
    pub sha256: String,
    /// Since when.
    pub at: Timestamp,
    /// Whether it is what was asked; what is not can be denied only.
    pub is_as_asked: bool,
}

/// Something else that needs the operator, and that a command settles.
#[derive(Debug, Clone, PartialEq)]
pub struct OtherNeed {
    /// Its name, as in `web/5`.
    pub name: String,
    /// The task of the list that it is about.
    pub task: Option<TaskId>,
    /// What there is to say of it, in a line.
    pub line: String,
    /// Since when.
    pub at: Option<Timestamp>,
    /// The command.
    pub settle_with: Option<String>,
    /// Whether it is work that waits for a review.
    pub is_review: bool,
}

/// Something that needs the operator.
#[derive(Debug, Clone, PartialEq)]
pub enum WaitingItem {
    /// What agents want to do.
    Permission(WaitingPermission),
    /// A brief.
    Brief(WaitingBrief),
    /// A question about a task of the list.
    Question(WaitingQuestion),
    /// Anything else.
    Other(OtherNeed),
}

impl WaitingItem {
    /// What it is called: `W1/3`, `#9`.
    pub fn key(&self) -> String {
        match self {
            Self::Permission(it) => format!("request {}", it.request),
            Self::Brief(it) => format!("{}/{}", it.worker, it.seq.get()),
            Self::Question(it) => format!("#{}", it.task),
            Self::Other(it) => it.name.clone(),
        }
    }

    /// Since when it waits.
    pub fn since(&self) -> Option<Timestamp> {
        match self {
            Self::Permission(it) => Some(it.at),
            Self::Brief(it) => Some(it.at),
            Self::Question(it) => it.at,
            Self::Other(it) => it.at,
        }
    }

    /// Its words, whole.
    pub fn text(&self) -> &str {
        match self {
            Self::Permission(it) => &it.body,
            Self::Brief(it) => &it.body,
            Self::Question(it) => &it.said,
            Self::Other(it) => &it.line,
        }
    }

    /// Its words in a line.
    pub fn line(&self) -> &str {
        match self {
            Self::Permission(it) => &it.line,
            Self::Brief(it) => &it.summary,
            Self::Question(it) => it.said.lines().next().unwrap_or(&it.subject),
            Self::Other(it) => &it.line,
        }
    }
}

/// A session, as far as its files say.
#[derive(Debug, Clone)]
pub struct RunState {
    /// Its id.
    pub title: String,
    /// Whether somebody runs it.
    pub stage: SessionStatus,
    /// Which wave of how many.
    pub wave: Option<(u32, u32)>,
    /// How many tasks may run side by side.
    pub max_parallel: u32,
    /// What runs.
    pub active: Vec<ActiveTask>,
    /// What ended, in order.
    pub ended: Vec<LogRow>,
    /// When its attempts ran; none where that is not known, or nobody looks.
    pub timeline: Option<Timeline>,
    /// The tasks of the list that are not over, by wave.
    pub waves: Vec<Vec<TaskId>>,
}

impl RunState {
    /// Whether it is in the live directory.
    pub fn is_current(&self) -> bool {
        matches!(self.stage, SessionStatus::Live | SessionStatus::Dead)
    }
}

/// What is read beside what every screen shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Interest {
    /// The sessions there are, and the timeline of one.
    pub timeline: bool,
    /// Which one; none is the one that runs, else the last.
    pub session: Option<String>,
    /// All messages.
    pub mail: bool,
}

/// Everything the screens show.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// When it was read.
    pub at: Timestamp,
    /// The list.
    pub list: String,
    /// Its tasks.
    pub tasks: Vec<Arc<Outline>>,
    /// The places of the tasks of each lane, in [`Lane::ALL`]'s order; the ready ones as they would be
    /// claimed.
    pub lanes: [Vec<usize>; 6],
    /// The fleet.
    pub workers: Vec<WorkerView>,
    /// The paths that workers keep for themselves.
    pub reserved: Vec<Reservation>,
    /// What needs the operator, in the order of [`needs`].
    pub waiting: Vec<WaitingItem>,
    /// The session in the live directory; where somebody looks, the one they look at.
    pub run: Option<RunState>,
    /// What the sessions are called, the newest first, where somebody looks.
    pub sessions: Vec<String>,
    /// Messages, oldest first, where somebody looks.
    pub mail: Vec<MessageView>,
    /// The fleet of machines; none where the home is in none.
    pub machines: Option<FleetSight>,
    /// Accounts that rest.
    pub parked: Vec<Park>,
    /// Whether the JSON bridge runs.
    pub is_bridge_up: bool,
    /// Files that could not be understood.
    pub skipped: usize,
}

impl Snapshot {
    /// The places of a lane's tasks.
    pub fn lane(&self, lane: Lane) -> &[usize] {
        &self.lanes[lane as usize]
    }

    /// The lane of the task at this place.
    pub fn lane_of(&self, place: usize) -> Option<Lane> {
        let has = |lane: &Lane| self.lane(*lane).contains(&place);
        Lane::ALL.into_iter().find(has)
    }

    /// A task of the list.
    pub fn task(&self, id: &TaskId) -> Option<&Outline> {
        let mut tasks = self.tasks.iter().map(Arc::as_ref);
        tasks.find(|task| task.id == *id)
    }

    /// What a worker holds.
    pub fn held_by<'s>(&'s self, worker: &'s str) -> impl Iterator<Item = &'s Outline> {
        let holds = move |task: &&Outline| {
            let claim = task.state.claim();
            claim.is_some_and(|it| it.by.as_str() == worker)
        };
        // Nobody holds a task of another lane, and a list may be long.
        let mut places = [Lane::Claimed, Lane::Running]
            .map(|lane| self.lane(lane))
            .concat();
        places.sort_unstable();
        let held = places.into_iter().filter_map(|place| self.tasks.get(place));
        let held = held.map(Arc::as_ref);
        held.filter(holds)
    }

    /// The tasks that somebody holds.
    pub fn now(&self) -> impl Iterator<Item = &Outline> {
        let places = [Lane::Running, Lane::Claimed].map(|lane| self.lane(lane));
        let places = places.into_iter().flatten();
        let tasks = places.filter_map(|place| self.tasks.get(*place));
        tasks.map(Arc::as_ref)
    }
}

/// Where it is read from.
#[derive(Debug, Clone)]
pub struct Place {
    /// The home.
    pub home: Home,
    /// The repository; none where the list belongs to none.
    pub repository: Option<Repository>,
    /// The list.
    pub list: ListRef,
    /// What was read of lists before.
    pub lists: ListReader,
}

impl Place {
    /// The list, opened.
    pub fn list(&self) -> Result<List<'_>> {
        List::find(&self.home, &self.list)
    }

    /// The fleet, where there is one.
    pub fn fleet(&self) -> Option<Fleet<'_>> {
        let repository = self.repository.as_ref()?;
        Some(Fleet::of(&self.home, &repository.id))
    }

    /// The sessions, where there are any.
    pub fn sessions(&self) -> Option<Sessions<'_>> {
        let repository = self.repository.as_ref()?;
        Some(Sessions::of(&self.home, repository))
    }
}

/// Reads all of it.
pub fn read(place: &Place, interest: &Interest) -> Result<Snapshot> {
    let now = place.home.now();
    let (loaded, found) = match place.list() {
        Ok(list) => {
            let loaded = place.lists.look(&list)?;
            let found = all_needs(place, Some((&list, &loaded.outlines)))?;
            (loaded, found)
        }
        // It comes with its first task.
        Err(Error::NotFound { .. }) if place.home.root().is_dir() => {
            (Default::default(), all_needs(place, None)?)
        }
        Err(error) => return Err(error),
    };
    let mut snapshot = Snapshot {
        at: now,
        list: place.list.to_string(),
        lanes: lanes(&loaded.outlines, now),
        machines: order::sight(&place.home),
        parked: accounts::all_parked(&place.home)?,
        is_bridge_up: Bridge::of(&place.home, None)?.running()?.is_some(),
        skipped: loaded.skipped.len() + found.skipped.len(),
        waiting: found.all.into_iter().map(|it| waiting(place, it)).collect(),
        ..Snapshot::default()
    };
    if let (Some(fleet), Some(repository)) = (place.fleet(), &place.repository) {
        let (workers, broken) = workers::list(&fleet)?;
        snapshot.workers = workers;
        let is_active = |it: &WorkerView| it.worker.standing == WorkerStatus::Active;
        snapshot.workers.retain(is_active);
        snapshot.skipped += broken.len();
        snapshot.reserved = Reservations::of(&place.home, &repository.id).scan()?.live;
        if interest.mail {
            snapshot.mail = messages::all(&fleet)?.messages;
        }
    }
    if let Some(sessions) = place.sessions() {
        let session = match interest.timeline {
            true => look(&sessions, interest, &mut snapshot.sessions)?,
            false => sessions.current()?,
        };
        snapshot.run = session.map(|it| run(place, &it, &loaded.outlines, interest));
    }
    snapshot.tasks = loaded.outlines;
    Ok(snapshot)
}

/// The session that somebody looks at, and what all are called.
fn look(
    sessions: &Sessions<'_>,
    interest: &Interest,
    titles: &mut Vec<String>,
) -> Result<Option<Session>> {
    let (live, ended) = (sessions.current()?, sessions.ended()?);
    titles.extend(live.as_ref().map(Session::title));
    titles.extend(ended.iter().rev().map(|it| it.id.to_string()));
    let wanted = interest.session.as_ref().or(titles.first());
    let ended = ended.iter().rev();
    let chosen = ended
        .clone()
        .find(|it| Some(it.id.as_str()) == wanted.map(String::as_str));
    match (live, chosen) {
        (live, None) if live.is_some() => Ok(live),
        // Another one where the one that was looked at is gone.
        (_, chosen) => {
            let chosen = chosen.or_else(|| ended.clone().next());
            chosen.map(|it| sessions.read_ended(it)).transpose()
        }
    }
}

fn lanes(tasks: &[Arc<Outline>], now: Timestamp) -> [Vec<usize>; 6] {
    let mut lanes: [Vec<usize>; 6] = Default::default();
    let ready = tasks::ready(tasks, now);
    let places = Index::new(tasks.iter().map(|task| task.id.as_str()));
    let ready = ready.iter().filter_map(|task| places.get(task.id.as_str()));
    let ready: Vec<usize> = ready.collect();
    let mut is_ready = vec![false; tasks.len()];
    for place in &ready {
        is_ready[*place] = true;
    }
    for (place, task) in tasks.iter().enumerate() {
        // The ready ones come in the order of claiming, below.
        if is_ready[place] {
            continue;
        }
        let lane = Lane::of(&task.state).unwrap_or(Lane::Blocked);
        lanes[lane as usize].push(place);
    }
    lanes[Lane::Ready as usize] = ready;
    lanes[Lane::Done as usize].sort_by_key(|place| std::cmp::Reverse(tasks[*place].ended_at));
    lanes
}

fn brief(letter: &BriefView) -> WaitingBrief {
    let brief = &letter.brief;
    let settled_by = || letter.resolving_command().unwrap_or_default();
    WaitingBrief {
        worker: brief.target_worker.clone(),
        seq: brief.seq,
        ticket: brief.target_ticket.clone(),
        summary: brief.summary.clone(),
        body: letter.body.clone(),
        envelope: letter.prints.envelope.to_string(),
        from: brief.controller_session_id.clone(),
        at: brief.submitted_at,
        expires_at: brief.expires_at,
        withheld: letter.why_withheld().map(|why| (why, settled_by())),
        is_unproposed: letter.is_unproposed(),
    }
}

fn all_needs(place: &Place, list: Option<ReadList<'_>>) -> Result<Needs> {
    let scope = NeedsScope::Here(place.repository.as_ref(), list);
    needs(&place.home, &place.lists, scope)
}

fn waiting(place: &Place, need: Need) -> WaitingItem {
    let at = need.item.key.at;
    match need.about {
        NeedSubject::Permission(same) => permission(place, &same, need.line),
        NeedSubject::Brief(view) => WaitingItem::Brief(brief(&view)),
        NeedSubject::Question {
            list,
            task,
            subject,
            by,
            said,
        } if list == place.list => WaitingItem::Question(WaitingQuestion {
            task,
            subject,
            by,
            at,
            said,
        }),
        about => WaitingItem::Other(OtherNeed {
            task: about
                .task()
                .filter(|(list, _)| **list == place.list)
                .map(|(_, task)| task.clone()),
            name: need.item.key.item,
            is_review: need.item.key.kind == NoticeKind::Review,
            line: need.line,
            // An account has the time until which it rests.
            at: at.filter(|at| *at <= place.home.now()),
            settle_with: need.settle_with,
        }),
    }
}

/// Where the agents work differs from one to the other: each is named.
fn permission(place: &Place, same: &[StoredRequest], line: String) -> WaitingItem {
    let workers: BTreeSet<&str> = same.iter().map(|it| it.request().worker.as_str()).collect();
    let first = same.first().map(StoredRequest::request);
    let input = first.map(|it| match it.input.get("command").and_then(Value::as_str) {
        Some(command) => format!("{command}\n"),
        None => format!("{:#}\n", it.input),
    });
    let mut body = input.unwrap_or_default();
    for it in same {
        let request = it.request();
        let task = request.task.as_ref().map(|it| format!(", task #{it}"));
        let dir = request.dir.as_ref().map(|it| format!(", in {it}"));
        body += &format!(
            "\n{} {}{}{}",
            request.client,
            request.worker,
            task.unwrap_or_default(),
            dir.unwrap_or_default()
        );
    }
    let repository = place.repository.as_ref().zip(same.first());
    let rule = repository.and_then(|(repository, it)| {
        let permissions = Permissions::of(&place.home, &repository.id);
        permissions.rule_for(it).ok()
    });
    if let Some(rule) = &rule {
        let rule = policy::spelled(rule);
        body += &format!("\n\na allows such requests from now on, by this rule:\n{rule}");
    }
    WaitingItem::Permission(WaitingPermission {
        request: same.first().map_or(0, |it| it.n),
        has_others: same.len() > 1,
        has_rule: rule.is_some(),
        workers: workers.into_iter().collect::<Vec<_>>().join(", "),
        line,
        body,
        sha256: first.map_or_else(String::new, |it| it.sha256.to_string()),
        at: first.map_or(Timestamp::UNIX_EPOCH, |it| it.at),
        is_as_asked: same.iter().all(|it| it.is_as_asked),
    })
}

fn run(place: &Place, session: &Session, tasks: &[Arc<Outline>], interest: &Interest) -> RunState {
    let progress = &session.progress;
    RunState {
        title: session.title(),
        stage: session.stage,
        wave: progress.wave,
        max_parallel: progress.max_parallel.unwrap_or_default(),
        active: progress.active.clone(),
        ended: session.rows.clone(),
        // One that says nothing of times has none to show.
        timeline: match interest.timeline {
            true => session.timeline(&place.home).ok(),
            false => None,
        },
        waves: match interest.timeline && session.runs() {
            true => waves(&Graph::new(tasks)),
            false => Vec::new(),
        },
    }
}
