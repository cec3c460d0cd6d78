//! Resident workers: who is given which task, and what a run takes over from one before.
//!
//! Owns the choice of a worker. A worker has one task of the run at a time; a task that a worker
//! was given by a run that died stays with it for as long as it is not silent. What workers say is
//! heard next door, in `mail`.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::mpsc::Sender,
    time::{Duration, Instant},
};

use flagpost_core::{
    self as core, List,
    claims::Claimed,
    messages::{self, InFlightTask, NewMessage, Party, SettledTask},
    relay::{Fleet, decide::Gate, workers},
    tasks,
};
use flagpost_disk::notices::Watcher;
use flagpost_model::{
    SessionId, TaskId, WorkerId,
    envelope::Direction,
    message::{self, Body, Left, Speaker, Subject, TaskBody},
    session::Attempt,
    session::stall::Activity,
    task::{Ending, Task},
};
use jiff::Timestamp;

use super::{
    Driver, Input, Options,
    seats::{ActiveAgent, Seat},
    stalls,
};
use crate::{
    agent::lacking,
    error::Result,
    events::{At, ReportMeaning, RunEvent},
    prompt,
    run_context::RunContext,
};

/// How often to look where nothing tells of changes.
const POLL: Duration = Duration::from_millis(500);

/// How often to look all the same: no event is the only copy of anything.
const RECHECK: Duration = Duration::from_secs(10);

/// How many of the run's finished tasks a TASK tells of, beside those that it waited for.
const FINISHED: usize = 10;

/// Workers that run by themselves.
pub(super) struct Residents<'a> {
    pub fleet: Fleet<'a>,
    speaker: Speaker,
    crew: Vec<WorkerId>,
    /// The conversations of this list's runs: this one's, and those before it.
    threads: BTreeSet<String>,
    /// What workers have from runs before, until the task is begun here.
    pub inherited: BTreeMap<TaskId, InFlightTask>,
    /// What lies with workers from runs before and is theirs until somebody is given its task.
    pub passed_over: BTreeMap<TaskId, Vec<message::MessageAddress>>,
    /// Who fell silent over a task, and when that was noticed.
    pub silent: BTreeMap<WorkerId, Timestamp>,
    /// Tasks that wait for a worker.
    pub waiting: VecDeque<(TaskId, Attempt)>,
    /// What came of the tasks of this run, in a line each.
    pub finished: Vec<(TaskId, String)>,
    given: usize,
    /// The processes that are on the fleet for this run.
    pub processes: BTreeSet<WorkerId>,
    /// When the mail was last looked at.
    looked: Instant,
    /// How often to look all the same.
    recheck: Duration,
    /// Nothing is begun any more.
    pub draining: bool,
    watcher: Option<Watcher>,
    is_watched: bool,
}

/// A task with a resident worker.
pub(super) struct Post {
    pub worker: WorkerId,
    /// The TASK.
    pub place: message::MessageAddress,
    /// Its worker's last word about it.
    pub heard: Timestamp,
    /// Since when it waits for a person's answer.
    pub asked: Option<Timestamp>,
}

/// Where a task is to be worked on.
pub(super) enum Assignment {
    /// In a process, under one of the run's names.
    Slot(usize),
    /// With this worker.
    Worker(WorkerId),
    /// With the next worker that is free.
    Busy,
    /// Nobody is there.
    Nowhere(String),
}

impl<'a> Residents<'a> {
    /// The workers of a run. Refused where one of them is not there.
    pub fn new(stage: RunContext<'a>, options: &Options) -> Result<Self> {
        let fleet = Fleet::of(stage.home, &stage.repository.id);
        for worker in &options.workers {
            workers::must_be_live(&fleet.mail(worker)?)?;
        }
        Ok(Self {
            fleet,
            speaker: messages::in_charge(&options.actor)?,
            crew: options.workers.clone(),
            threads: BTreeSet::new(),
            inherited: BTreeMap::new(),
            passed_over: BTreeMap::new(),
            silent: BTreeMap::new(),
            waiting: VecDeque::new(),
            finished: Vec::new(),
            given: 0,
            processes: BTreeSet::new(),
            looked: Instant::now(),
            recheck: match options.stall_after.map(stalls::every) {
                Some(every) => every.min(RECHECK),
                None => RECHECK,
            },
            draining: false,
            watcher: None,
            is_watched: false,
        })
    }

    /// Deals with what was said about the tasks of runs that are over, and takes over what their
    /// workers still have. Answers with what was heard.
    pub fn take_over(
        &mut self,
        list: &List<'_>,
        earlier: &[SessionId],
        live: &SessionId,
        told: &Sender<Input>,
    ) -> Result<Vec<SettledTask>> {
        let mut heard = Vec::new();
        self.threads = earlier.iter().map(ToString::to_string).collect();
        if !self.threads.is_empty() && !self.fleet.ids()?.is_empty() {
            for errand in self.in_flight(list, &mut heard)? {
                let of_crew = self.crew.contains(&errand.message.place.worker);
                let passed_over = match errand.left {
                    Left::Waiting if !of_crew => Some(errand),
                    Left::InHand | Left::Waiting => {
                        self.inherited.insert(errand.task.clone(), errand)
                    }
                    Left::LetGo => Some(errand),
                };
                if let Some(InFlightTask { task, message, .. }) = passed_over {
                    self.passed_over
                        .entry(task)
                        .or_default()
                        .push(message.place);
                }
            }
        }
        self.threads.insert(live.to_string());
        self.watch(told)?;
        Ok(heard)
    }

    /// What workers have in hand once all that they said is dealt with: one that ended its task
    /// between the two looks has nothing in hand, and was not heard.
    fn in_flight(
        &self,
        list: &List<'_>,
        heard: &mut Vec<SettledTask>,
    ) -> Result<Vec<InFlightTask>> {
        loop {
            heard.extend(messages::reconcile(list, &self.party(), &self.threads)?);
            messages::put_away(list, &self.party(), &self.threads)?;
            let errands = messages::in_flight(list, &self.fleet, &self.threads)?;
            if self.unacked(None)?.is_empty() {
                return Ok(errands);
            }
        }
    }

    fn watch(&mut self, told: &Sender<Input>) -> Result<()> {
        let inherited = self.inherited.values().map(|it| &it.message.place.worker);
        let all: BTreeSet<&WorkerId> = self.crew.iter().chain(inherited).collect();
        if all.is_empty() {
            return Ok(());
        }
        let told = told.clone();
        let watcher = Watcher::new(move |_| {
            // Nobody listens any more once the run is over.
            let _: Result<(), _> = told.send(Input::Mail);
        });
        let Ok(mut watcher) = watcher else {
            return Ok(());
        };
        self.is_watched = true;
        for worker in all {
            let dir = self.fleet.mail(worker)?.dir(Direction::Outbox);
            self.is_watched &= watcher.add(&dir).is_ok();
        }
        self.watcher = Some(watcher);
        Ok(())
    }

    pub fn party(&self) -> Party<'_> {
        Party {
            fleet: &self.fleet,
            speaker: &self.speaker,
        }
    }

    /// What workers said, or only one of them, that nobody has dealt with.
    pub fn unacked(&self, from: Option<&WorkerId>) -> core::Result<Vec<message::Message>> {
        messages::unprocessed(&self.party(), &self.threads, from)
    }

    /// Whether this run has to do with any.
    pub fn any(&self) -> bool {
        !self.crew.is_empty() || self.watcher.is_some() || !self.inherited.is_empty()
    }

    /// After how long to look at the mail though nothing happened. What a process says by itself is
    /// heard then, or when it ends.
    pub fn look_again(&self) -> Duration {
        match self.is_watched || !self.any() {
            true => self.recheck,
            false => POLL,
        }
    }

    /// Whether it is time to look at the mail. That of residents is looked at on every turn.
    pub fn is_due(&mut self) -> bool {
        let due = self.any() || self.looked.elapsed() >= self.recheck;
        if due {
            self.looked = Instant::now();
        }
        due
    }

    /// The question that its worker asked about a task in a run before, where nobody answered it:
    /// who looks at this run has not seen it.
    pub fn asked_before(&self, task: &TaskId) -> Option<RunEvent> {
        let question = self.inherited.get(task)?.question.as_ref()?;
        let Some(Body::Stuck(body)) = question.typed() else {
            return None;
        };
        Some(RunEvent::TaskSaid {
            task: task.clone(),
            worker: question.place.worker.clone(),
            said: ReportMeaning::Question,
            words: body.reason,
        })
    }

    /// Nothing is begun any more.
    pub fn drain(&mut self) {
        self.draining = true;
    }

    /// The task waits for a worker.
    pub fn queue(&mut self, task: TaskId, attempt: Attempt) {
        self.waiting.push_back((task, attempt));
    }

    /// Whether a worker can be given a task: it is live, and has said something since it fell
    /// silent.
    fn is_there(&self, worker: &WorkerId) -> Result<bool> {
        let mail = match self.fleet.mail(worker) {
            Ok(mail) => mail,
            Err(core::Error::NotFound { .. }) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        match workers::must_be_live(&mail) {
            Ok(()) => {}
            Err(core::Error::NotLive { .. } | core::Error::NotFound { .. }) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        let Some(since) = self.silent.get(worker) else {
            return Ok(true);
        };
        Ok(workers::show(&mail)?.worker.last_seen > Some(*since))
    }
}

impl Driver<'_> {
    /// What is with resident workers.
    fn posts(&self) -> impl Iterator<Item = &Post> {
        self.agents.0.values().filter_map(|work| match &work.seat {
            Seat::Resident(post) => Some(post),
            Seat::Process(_) => None,
        })
    }

    /// Where a task is to be worked on: where it lies already, with a free worker, in a process; one that
    /// asks for an agent in a process of that one only.
    pub(super) fn place(&self, task: &TaskId, asked: Option<&str>) -> Result<Assignment> {
        let residents = &self.residents;
        if let Some(errand) = residents.inherited.get(task) {
            return Ok(Assignment::Worker(errand.message.place.worker.clone()));
        }
        if let Some(name) = asked {
            return Ok(match self.capacity.named(name) {
                Some(_) => Assignment::Slot(self.free_slot()),
                None => Assignment::Nowhere(lacking(name)),
            });
        }
        let busy: BTreeSet<&WorkerId> = self.posts().map(|post| &post.worker).collect();
        let mut free = Vec::new();
        for worker in residents.crew.iter().filter(|it| !busy.contains(it)) {
            if residents.is_there(worker)? {
                free.push(worker);
            }
        }
        let has_work = |worker: &WorkerId| {
            let mut errands = residents.inherited.values();
            errands.any(|it| it.message.place.worker == *worker)
        };
        let idle = free.iter().find(|worker| !has_work(worker));
        if let Some(worker) = idle.or(free.first()) {
            return Ok(Assignment::Worker((*worker).clone()));
        }
        if self.capacity.any() {
            return Ok(Assignment::Slot(self.free_slot()));
        }
        if !busy.is_empty() {
            return Ok(Assignment::Busy);
        }
        let crew: Vec<&str> = residents.crew.iter().map(WorkerId::as_str).collect();
        let reason = format!("no worker is live: {}", crew.join(", "));
        Ok(Assignment::Nowhere(reason))
    }

    /// Gives a claimed task to its worker, unless it has it from a run before.
    pub(super) fn give(
        &mut self,
        claimed: &Claimed,
        worker: &WorkerId,
        attempt: Attempt,
    ) -> Result<RunEvent> {
        let task = &claimed.task;
        let inherited = self.residents.inherited.remove(&task.id);
        let asks = inherited.as_ref().is_some_and(|errand| errand.asks);
        let place = match inherited {
            Some(errand) => {
                // What its worker said before its task was begun here is heard now.
                let _: Result<(), _> = self.ended.send(Input::Mail);
                errand.message.place
            }
            None => self.send(task, worker)?,
        };
        let (began, now) = (Instant::now(), self.stage.home.now());
        let post = Post {
            worker: worker.clone(),
            place: place.clone(),
            heard: now,
            asked: asks.then_some(now),
        };
        let work = ActiveAgent {
            seat: Seat::Resident(post),
            attempt,
            started: began,
            renew_at: began + self.renew_every(),
            words: 0,
            pulse: Activity::new(self.now()),
            answer_by: None,
            passed: None,
            stopping: None,
        };
        self.agents.0.insert(task.id.clone(), work);
        Ok(RunEvent::TaskStarted {
            task: task.id.clone(),
            subject: task.subject.clone(),
            attempt,
            worker: worker.clone(),
            token: claimed.claim.token,
            at: At::Message(place),
        })
    }

    /// Sends the TASK. Who started the run has decided on it.
    fn send(&mut self, task: &Task, worker: &WorkerId) -> Result<message::MessageAddress> {
        let words = self.order(task, worker)?;
        let sent = self.patiently(|it| {
            let gate = Gate::Run(it.live.id().as_str());
            messages::send(&it.residents.party(), words.clone(), gate)
        });
        Ok(sent?.message.place)
    }

    /// The TASK in words.
    pub(super) fn order(&mut self, task: &Task, worker: &WorkerId) -> Result<NewMessage> {
        let before = self.judged.get(&task.id).map(|it| it.words.as_str());
        let body = Body::Task(TaskBody {
            bead_id: task.id.to_string(),
            title: task.subject.clone(),
            prompt: prompt::of_task(task, before),
            bead_num: u64::try_from(self.account.begun()).ok(),
            total: u64::try_from(self.account.open()).ok(),
            prior_summaries: self.prior_summaries(task)?,
        });
        let session = self.live.id().as_str();
        self.residents.given += 1;
        Ok(NewMessage {
            subject: Subject::Task,
            body: body.to_text(),
            to: Some(worker.clone()),
            thread: Some(session.to_owned()),
            answers: None,
            // The same words to the same worker again are another order all the same.
            id: Some(format!("{session}-{}", self.residents.given)),
        })
    }

    /// What came of the tasks that this one waited for, and of the last ones of this run.
    fn prior_summaries(&self, task: &Task) -> Result<Vec<String>> {
        let (list, mut told) = (self.stage.list, Vec::new());
        let blockers = tasks::blockers(list, task)?;
        for id in &blockers {
            // An unreadable one costs its own part and no more.
            let result = list.task(id).ok().and_then(|file| file.task.result);
            let done = result.filter(|result| result.ending == Ending::Completed);
            told.extend(done.map(|result| format!("{id}: {}", result.text.trim())));
        }
        let finished = &self.residents.finished;
        let newest = finished
            .iter()
            .skip(finished.len().saturating_sub(FINISHED));
        let others = newest.filter(|(id, _)| !blockers.contains(id));
        told.extend(others.map(|(id, line)| format!("{id}: {line}")));
        Ok(told)
    }
}
