//! The driver: does what the scheduler says, and tells it what came of it.
//!
//! Owns the one loop of a run and the clock it runs by, which is monotonic: a system clock that
//! jumps neither ends an agent nor keeps one alive. Invariants: every launched agent is reported
//! to the scheduler exactly once; on any error every agent that was started is ended before the
//! error is answered, and the session is left for recovery.

mod capacity;
mod codex;
mod conversation;
mod ending;
mod finalizing;
mod finish;
mod follow_up;
mod following;
mod holding;
mod keeping;
mod landing;
mod launch;
mod lingering;
mod mail;
mod processes;
mod progress_output;
mod record;
mod requests;
mod reservations;
mod residents;
mod retry;
mod seats;
mod setups;
mod stalls;
mod start;
mod tail;
mod turns;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    path::PathBuf,
    sync::mpsc::{Receiver, RecvTimeoutError, Sender},
    time::{Duration, Instant},
};

use flagpost_core::{
    self as core, List,
    landing::{GitSettings, Target},
    permissions::Permissions,
    sessions::{self, Live, Sessions, Start},
};
use flagpost_model::{
    SessionId, TaskId, WorkerId,
    glob::Glob,
    task::{KeptWorktrees, Uncommitted},
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use self::{
    capacity::AgentCapacity,
    conversation::Next,
    following::Following,
    landing::LandingThread,
    record::RunRecord,
    residents::Residents,
    retry::OperatorRequest,
    seats::{Agents, RunClaim, Seat},
    setups::Setups,
    stalls::Stalls,
};
pub use landing::LandingNews;
pub use lingering::Limits;

use crate::{
    agent::Agent,
    client::{Client, acp, check},
    error::Result,
    events::RunEvent,
    landing::{LandingReport, LandingTerms},
    outcome::{Exit, Judged},
    process::Exited,
    run_context::RunContext,
    scheduler::{Effect, Event, RunConfig, Scheduler, StopReason, TaskOutcome},
    scope::{RunScope, plan, scope},
    terms::Terms,
    worktree::{self, Provision, Worktrees},
};

/// How often to read what clients print, and to take up the words of those that cannot write the home.
const LISTEN: Duration = Duration::from_millis(100);

/// How often to look whether files are free that a task waits for, and whether somebody asks to stop.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// What to run, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// Who runs it.
    pub actor: WorkerId,
    /// What is started for a task that no resident worker takes: the agent that the task names, else any
    /// that has room.
    pub agents: Vec<Agent>,
    /// Resident workers: they run by themselves and are given tasks as messages.
    pub workers: Vec<WorkerId>,
    /// The commands that the agents may run without asking, while the run lasts.
    pub allow: Vec<Glob>,
    /// How it is scheduled.
    pub config: RunConfig,
    /// How long a claim lasts that is not renewed.
    pub lease: SignedDuration,
    /// How long somebody may show no sign of work before that is told; none where it never is.
    pub stall_after: Option<SignedDuration>,
    /// How long clients may stay where nobody needs them.
    pub limits: Limits,
    /// Only tasks of this group; also names the session.
    pub group: Option<String>,
    /// Whether tasks that failed in an earlier run stay failed.
    pub skip_failed: bool,
    /// Whether each task gets a worktree of its own.
    pub worktrees: bool,
    /// What each of these gets.
    pub provision: Provision,
    /// What becomes of what the agent of a task that passed left uncommitted.
    pub uncommitted: Uncommitted,
    /// Which worktrees stay at the end.
    pub keep_worktrees: KeptWorktrees,
    /// What it may use up, and when it waits.
    pub terms: Terms,
    /// How work lands as it passes; none where it does not.
    pub land: Option<LandingTerms>,
}

/// What the driver waits for.
#[derive(Debug)]
pub enum Input {
    /// An agent's process ended.
    Exited(Exited),
    /// A worker's mail changed.
    Mail,
    /// The list changed.
    List,
    /// The operator wants to end; the second time, at once.
    Interrupt,
    /// The operator wants this task stopped, and not tried again.
    Drop(TaskId),
    /// A person goes on with the conversation about this task.
    HandOver(TaskId),
    /// What passed lands.
    Landing(LandingNews),
}

impl From<Exited> for Input {
    fn from(exited: Exited) -> Self {
        Self::Exited(exited)
    }
}

/// Is told what happens, with the line as recorded.
pub type RunObserver<'a> = &'a mut dyn FnMut(&RunEvent, &Map<String, Value>);

/// What came of a run.
#[derive(Debug)]
pub struct RunReport {
    /// The session.
    pub session: SessionId,
    /// Where its files are.
    pub dir: PathBuf,
    /// What became of each task.
    pub fates: Vec<(TaskId, TaskOutcome)>,
    /// Whether the operator ended it.
    pub interrupted: bool,
    /// What landed, where that was wanted.
    pub landing: Option<LandingReport>,
}

/// Runs a list to its end.
pub fn run(
    stage: RunContext<'_>,
    options: &Options,
    inputs: (&Sender<Input>, &Receiver<Input>),
    watch: RunObserver<'_>,
) -> Result<RunReport> {
    let options = &Options {
        lease: stage.list.lease(options.lease),
        ..options.clone()
    };
    let (path, top) = (stage.settings.path.as_deref(), &stage.repository.top);
    let sessions = Sessions::of(stage.home, stage.repository);
    let mut agents = Vec::new();
    for agent in &options.agents {
        agent.can_name(&sessions.live_dir())?;
        let account = agent.account(stage.home, stage.settings);
        agents.push((agent.clone(), agent.locate(path, top)?, account));
    }
    // A client that cannot start would spend every attempt of every task in seconds.
    let subjects = agents.iter().map(|(agent, at, _)| agent.subject(at));
    let checked = check::ready(stage.home, &subjects.flatten().collect::<Vec<_>>())?;
    for (agent, ..) in &mut agents {
        if let Some(found) = checked.iter().find(|it| it.name == agent.name) {
            agent.trusted.clone_from(&found.trusted);
        }
    }
    let mut residents = Residents::new(stage, options)?;
    let worktrees_root = || worktree::root(stage.home, stage.repository);
    if options.worktrees {
        // Whether there can be any is known before anything starts, whatever the session's name.
        let any: SessionId = "any".parse().map_err(core::Error::from)?;
        let top = stage.repository.top.clone();
        Worktrees::new(top, worktrees_root(), any, Provision::default()).check()?;
    }
    let start = Start {
        actor: &options.actor,
        group: options.group.as_deref(),
        max_parallel: u32::try_from(options.config.max_parallel.get()).unwrap_or(u32::MAX),
        attempts: options.config.max_attempts.get(),
    };
    let wanted = RunScope {
        group: options.group.as_deref(),
        skip_failed: options.skip_failed,
        now: stage.home.now(),
    };
    let begun = sessions::begin(
        &sessions,
        stage.repository,
        stage.list,
        &start,
        |outlines| plan(outlines, wanted),
    )?;
    // Who asks for each command is not to ask for those that it reports with.
    let asks = |agent: &&Agent| agent.client == Some(Client::Acp);
    let of_agents = options.agents.iter().find(asks).map(|_| acp::allowed());
    let allow: Vec<Glob> = options
        .allow
        .iter()
        .cloned()
        .chain(of_agents.into_iter().flatten())
        .collect();
    let rules = (!allow.is_empty()).then(|| {
        let permissions = Permissions::of(stage.home, &stage.repository.id);
        permissions.open_session(&options.actor, begun.live.id(), &allow)
    });
    // What agents change from now on is told before anything lands.
    let git = GitSettings::of(stage.repository)?;
    let changed = git.changed(stage.home, stage.repository)?;
    // What somebody changed stays so until a person has been asked about it, by a landing.
    if changed.is_empty() {
        git.keep(stage.home, stage.repository)?;
    }
    let worktrees = options.worktrees.then(|| {
        let session = begun.live.id().clone();
        let (top, provision) = (stage.repository.top.clone(), options.provision.clone());
        Worktrees::new(top, worktrees_root(), session, provision)
    });
    // No branch to land on is no fault where nothing lands.
    let target = options
        .worktrees
        .then(|| Target::of(stage.repository, None).ok());
    let earlier = earlier(&sessions, stage.list)?;
    let heard = residents.take_over(stage.list, &earlier, begun.live.id(), inputs.0)?;
    let outlines = stage.list.load()?.outlines;
    let outlines = scope(&outlines, wanted);
    let mut driver = Driver {
        stage,
        options,
        capacity: AgentCapacity::new(agents, &options.terms),
        next: BTreeMap::new(),
        left: None,
        questions: BTreeMap::new(),
        refused: BTreeMap::new(),
        spent: None,
        noticed: BTreeSet::new(),
        mount_points: BTreeSet::new(),
        list: Following::new(&outlines, stage, inputs.0),
        residents,
        account: RunRecord::new(begun.live.started(), &outlines, options),
        live: begun.live,
        rules: rules.transpose()?,
        worktrees,
        target: target.flatten(),
        earlier,
        agents: Agents::default(),
        setups: Setups::default(),
        holds: BTreeMap::new(),
        judged: BTreeMap::new(),
        open_worktrees: BTreeMap::new(),
        hook_told: false,
        lander: options
            .land
            .as_ref()
            .map(|terms| LandingThread::start(stage, &options.actor, terms, inputs.0)),
        stalls: options.stall_after.map(Stalls::new),
        ended: inputs.0,
        inputs: inputs.1,
        put_off: VecDeque::new(),
        wish: OperatorRequest::GoOn,
        watch,
        mended: false,
        began: (Instant::now(), stage.home.now()),
    };
    if !changed.is_empty() {
        let changed = changed.join(", ");
        let words = format!(
            "what git runs here was changed since a person last looked, and nothing lands before 'flagpost land' has asked: {changed}"
        );
        driver.tell(RunEvent::Notice { words })?;
    }
    if driver.worktrees.is_some() {
        // Where that cannot be told, nothing is lost by it.
        let mine = worktree::changed(&stage.repository.top).unwrap_or_default();
        if !mine.is_empty() {
            let words = format!("the agents do not see what you have in no commit: {mine}");
            driver.tell(RunEvent::Notice { words })?;
        }
    }
    driver.recovered(&sessions, begun.recovered)?;
    driver.gave_up_before(heard)?;
    let scheduler = Scheduler::new(options.config.clone(), &outlines);
    let ended = driver.drive(scheduler);
    match ended.and_then(|(fates, interrupted)| driver.finish(fates, interrupted)) {
        Ok(report) => Ok(report),
        Err(error) => Err(driver.abandon(error)),
    }
}

/// A run under way.
struct Driver<'a> {
    stage: RunContext<'a>,
    options: &'a Options,
    /// The agents, and how their accounts stand.
    capacity: AgentCapacity,
    /// The conversations that are to be taken up again.
    next: BTreeMap<TaskId, Next>,
    /// What earlier runs left of tasks; read when one is asked for.
    left: Option<BTreeMap<TaskId, sessions::Remains>>,
    /// What tasks ask that were begun here.
    questions: BTreeMap<TaskId, String>,
    /// Why the last word of an attempt was refused.
    refused: BTreeMap<TaskId, String>,
    /// That the run has used all that it may, in words.
    spent: Option<String>,
    /// What was told of once.
    noticed: BTreeSet<String>,
    /// What Codex' sandboxes may leave in the directories of git.
    mount_points: BTreeSet<PathBuf>,
    /// The list as it was last seen.
    list: Following,
    residents: Residents<'a>,
    live: Live<'a>,
    /// The number of the history's line that tells what the agents may run without asking.
    rules: Option<u64>,
    account: RunRecord,
    worktrees: Option<Worktrees>,
    /// What work of these worktrees lands on, as it was when the run began.
    target: Option<Target>,
    /// The sessions of this list that ended, newest first.
    earlier: Vec<SessionId>,
    /// What runs.
    agents: Agents,
    /// What is made ready for those who are to follow.
    setups: Setups,
    /// Claims made for tasks that have not settled.
    holds: BTreeMap<TaskId, RunClaim>,
    /// How the last attempt of a task was judged.
    judged: BTreeMap<TaskId, Judged>,
    open_worktrees: BTreeMap<TaskId, crate::worktree::Worktree>,
    /// Whether it was said that a hook fails on new worktrees.
    hook_told: bool,
    /// What lands as it passes.
    lander: Option<LandingThread>,
    /// The looks for those who show no sign of work.
    stalls: Option<Stalls>,
    ended: &'a Sender<Input>,
    inputs: &'a Receiver<Input>,
    /// What came while it waited for something else, oldest first.
    put_off: VecDeque<Input>,
    wish: OperatorRequest,
    watch: RunObserver<'a>,
    /// The session's files were begun anew, and nobody was told yet.
    mended: bool,
    began: (Instant, Timestamp),
}

impl Driver<'_> {
    /// The time by which the scheduler counts.
    fn now(&self) -> Timestamp {
        let elapsed =
            SignedDuration::try_from(self.began.0.elapsed()).unwrap_or(SignedDuration::MAX);
        self.began
            .1
            .saturating_add(elapsed)
            .unwrap_or(Timestamp::MAX)
    }

    fn drive(&mut self, mut scheduler: Scheduler) -> Result<(Vec<(TaskId, TaskOutcome)>, bool)> {
        self.tell(RunEvent::Started {
            session: self.live.id().clone(),
            dir: self.live.dir().display().to_string(),
            tasks: self.account.open(),
            waves: self.account.waves(),
        })?;
        self.show_progress()?;
        self.recall_parks()?;
        self.look_at_reservations(&mut scheduler)?;
        let mut effects = VecDeque::from(scheduler.handle(Event::Begin, self.now()));
        loop {
            while let Some(effect) = effects.pop_front() {
                if let Effect::Finished { fates, interrupted } = effect {
                    return Ok((fates, interrupted));
                }
                if let Some(event) = self.perform(effect)? {
                    effects.extend(scheduler.handle(event, self.now()));
                }
            }
            let input = self.next_input(&scheduler);
            self.mended |= self.patiently(|it| it.live.mend())?;
            if std::mem::take(&mut self.mended) {
                self.tell(RunEvent::Mended)?;
            }
            self.handle_requests()?;
            self.listen()?;
            let mut events = Vec::new();
            match input {
                Some(Input::Exited(exited)) => {
                    let ended = match self.set_up(&exited)? {
                        Some(event) => event,
                        None => self.ended(&exited)?,
                    };
                    // Before the end is handled, which frees a place.
                    events.extend(self.enough()?);
                    // Whoever was held since its agent had enough to do may have room now.
                    events.extend([ended, Event::Opened]);
                }
                Some(Input::Interrupt) => events.push(Event::Interrupt),
                Some(Input::Drop(task)) => {
                    self.setups.end(&task, "the operator stopped it");
                    events.push(Event::Dropped { task });
                }
                Some(Input::HandOver(task)) => self.hand_over(&task)?,
                Some(Input::Landing(news)) => {
                    self.landing(news)?;
                }
                Some(Input::Mail | Input::List) | None => {}
            }
            events.extend(self.open_accounts()?);
            events.extend(self.look_at_list()?);
            events.push(Event::Tick);
            let now = self.now();
            for event in events {
                effects.extend(scheduler.handle(event, now));
            }
            // On every turn: where agents end all the time, no waiting ever runs out.
            self.attend()?;
            self.end_the_speechless()?;
            self.end_the_lingering()?;
            self.end_unwanted_setups();
            effects.extend(self.look_at_reservations(&mut scheduler)?);
            for event in self.poll()? {
                effects.extend(scheduler.handle(event, self.now()));
            }
            self.look_for_stalls()?;
        }
    }

    /// What came next; none where something is due first.
    fn next_input(&mut self, scheduler: &Scheduler) -> Option<Input> {
        if let Some(input) = self.put_off.pop_front() {
            return Some(input);
        }
        let input = match self.inputs.recv_timeout(self.until_next(scheduler)) {
            Ok(input) => input,
            // The driver holds a sender itself: the channel cannot close.
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
        };
        self.take_in(&input);
        Some(input)
    }

    fn perform(&mut self, effect: Effect) -> Result<Option<Event>> {
        match effect {
            Effect::Launch { task, attempt } => return self.launch(task, attempt),
            Effect::WaveStarted { n, of } => {
                self.account.wave(n, of);
                self.tell(RunEvent::WaveStarted { n, of })?;
                self.show_progress()?;
            }
            Effect::Waits { task, on } => self.tell(RunEvent::TaskWaits {
                task,
                holder: on.holder,
                path: on.path.to_string(),
            })?,
            Effect::Added { task } => self.added(&task)?,
            Effect::Answered { task } => self.answered(&task)?,
            Effect::WaveHolds { n, ready } => {
                let tasks = match ready {
                    1 => "1 task is ready and waits".to_owned(),
                    ready => format!("{ready} tasks are ready and wait"),
                };
                let words = format!("{tasks} for wave {n} to end; --schedule eager starts them");
                self.tell(RunEvent::Notice { words })?;
            }
            Effect::Stays { asking } => {
                let until = self.capacity.next_opening();
                self.tell(RunEvent::Stays { asking, until })?;
            }
            Effect::Stop { task, why } => {
                let (exit, why) = match why {
                    StopReason::Timeout => (Exit::TimedOut, "its time is up"),
                    StopReason::Interrupted => (Exit::Stopped, "the operator ends the run"),
                    StopReason::Dropped => (Exit::Stopped, "the operator stopped it"),
                };
                self.stop(&task, exit, why)?;
            }
            Effect::Settled { task, fate } => self.finalize(&task, &fate)?,
            Effect::Merge { tasks } => self.merge(&tasks)?,
            Effect::WaveEnded { .. } | Effect::Finished { .. } => {}
        }
        Ok(None)
    }

    /// How long nothing has to be done.
    fn until_next(&self, scheduler: &Scheduler) -> Duration {
        let deadline = scheduler
            .next_deadline()
            .map(|at| Duration::try_from(at.duration_since(self.now())).unwrap_or_default());
        let renew_every = self.renew_every();
        let agents = self.agents.0.values().map(|work| match work.stopping {
            // There is nothing to wait for.
            Some(_) if matches!(work.seat, Seat::Resident(_)) => Duration::ZERO,
            Some((_, kill_at)) => kill_at.saturating_duration_since(Instant::now()),
            None => work.renew_at.saturating_duration_since(Instant::now()),
        });
        let mail = [self.residents.look_again()];
        let stalls = self.stalls.as_ref().map(Stalls::until_next);
        let files = scheduler.waits_for_files().then_some(LOOK_AGAIN);
        // What clients print is read as it comes.
        let listening = self.agents.processes().next().map(|_| LISTEN);
        let opening = self.capacity.next_opening().map(|at| {
            let left = at.duration_since(self.stage.home.now());
            Duration::try_from(left).unwrap_or_default()
        });
        agents
            .chain(deadline)
            .chain(mail)
            .chain(files)
            .chain(stalls)
            .chain(listening)
            .chain(opening)
            .chain([self.list.look_again(), LOOK_AGAIN])
            .min()
            .unwrap_or(renew_every)
            + Duration::from_millis(1)
    }
}

/// The sessions of a list that ended, newest first.
fn earlier(sessions: &Sessions<'_>, list: &List<'_>) -> Result<Vec<SessionId>> {
    let ended = sessions.ended()?.into_iter().rev();
    let of_list = ended.filter(|ended| ended.lock.list.as_ref() == Some(list.id()));
    Ok(of_list.filter_map(|ended| ended.lock.session).collect())
}
