//! What workers say, and what it means for their tasks.
//!
//! Owns how a word becomes an event for the scheduler. A word is acknowledged after it took effect:
//! a run that dies in between hears it again, and to hear it twice changes nothing. A worker is
//! believed about the task that it has; what it says about another is kept as a late result.

use flagpost_core::{
    messages::{self, SettledTask},
    tasks,
};
use flagpost_model::{
    TaskId,
    envelope::summary_of,
    message::{Body, DoneBody, Message, Needs, StuckBody},
    session::{Outcome, TaskReport},
    task::State,
};
use jiff::Timestamp;

use super::{
    Driver,
    ending::clipped,
    residents::Post,
    retry::TransientError,
    seats::{ActiveAgent, Seat},
};
use crate::{
    error::Result,
    events::{ReportMeaning, RunEvent},
    outcome::{Assessment, Evidence, Exit, Judged, judge},
    refusal::refusal,
    scheduler::{Event, NoLaunch},
};

impl Driver<'_> {
    /// Hears what workers said, sees who is gone, and gives what waits to those who are free.
    pub(super) fn poll(&mut self) -> Result<Vec<Event>> {
        if !self.residents.is_due() {
            return Ok(Vec::new());
        }
        let mut events = Vec::new();
        let unheard = match self.residents.unacked(None) {
            // Somebody writes, perhaps: the next look is early enough.
            Err(error) if TransientError::of(&error).is_some() => Vec::new(),
            unheard => unheard?,
        };
        for report in unheard {
            events.extend(self.handle_report(&report)?);
        }
        events.extend(self.end_the_stopped()?);
        events.extend(self.end_the_silent()?);
        for (task, attempt) in std::mem::take(&mut self.residents.waiting) {
            if self.residents.draining {
                let because = NoLaunch::Refused {
                    reason: "the run was interrupted".to_owned(),
                };
                events.push(Event::CouldNotLaunch { task, because });
            } else {
                events.extend(self.launch(task, attempt)?);
            }
        }
        Ok(events)
    }

    /// Tells of the attempts that failed while no run was there to tell of them.
    pub(super) fn gave_up_before(&mut self, heard: Vec<SettledTask>) -> Result<()> {
        for SettledTask { task, report } in heard {
            if let Some(Body::Stuck(body)) = report.typed()
                && body.needs == Needs::Abort
            {
                self.tell(RunEvent::TaskSaid {
                    task,
                    worker: report.place.worker,
                    said: ReportMeaning::GaveUp,
                    words: body.reason,
                })?;
            }
        }
        Ok(())
    }

    /// Takes one report in, and acknowledges it.
    pub(super) fn handle_report(&mut self, report: &Message) -> Result<Option<Event>> {
        let task = report.task().and_then(|id| id.parse::<TaskId>().ok());
        let event = match (task, report.typed()) {
            // Its task was not begun yet: it is heard then.
            (Some(task), _) if self.is_to_come(&task) => return Ok(None),
            (Some(task), Some(body)) if self.has(&task, report) => {
                self.apply(&task, report, body)?
            }
            (Some(task), Some(Body::Done(body))) => {
                self.too_late(&task, report, &body)?;
                None
            }
            _ => None,
        };
        self.patiently(|it| messages::ack(&it.residents.party(), &report.place))?;
        Ok(event)
    }

    fn is_to_come(&self, task: &TaskId) -> bool {
        self.residents.inherited.contains_key(task) && !self.agents.0.contains_key(task)
    }

    /// Whether the worker that says it has the task.
    fn has(&self, task: &TaskId, report: &Message) -> bool {
        let work = self.agents.0.get(task);
        work.is_some_and(|work| match &work.seat {
            Seat::Resident(post) => post.worker == report.place.worker,
            Seat::Process(desk) => desk.place.worker == report.place.worker,
        })
    }

    fn apply(&mut self, task: &TaskId, report: &Message, body: Body) -> Result<Option<Event>> {
        if let Some(work) = self.agents.0.get_mut(task) {
            work.words += 1;
        }
        if self.agents.process_mut(task).is_some() {
            return self.believe(task, report, body).map(|()| None);
        }
        let now = self.stage.home.now();
        if let Some(post) = self.post_mut(task) {
            (post.heard, post.asked) = (now, None);
        }
        let said = |said, words: &str| RunEvent::TaskSaid {
            task: task.clone(),
            worker: report.place.worker.clone(),
            said,
            words: words.to_owned(),
        };
        match body {
            Body::Done(body) => self.done(task, &body),
            Body::Progress(body) => {
                self.tell(said(ReportMeaning::Progress, &body.status))?;
                Ok(None)
            }
            Body::Stuck(body) => match body.needs {
                Needs::Guidance => {
                    if let Some(post) = self.post_mut(task) {
                        post.asked = Some(now);
                    }
                    self.tell(said(ReportMeaning::Question, &body.reason))?;
                    Ok(None)
                }
                Needs::Abort => self.failed(task, false, body.reason),
                Needs::Dependency => match self.put_behind(task, &body)? {
                    Ok(behind) => {
                        let words = format!("task {behind}: {}", body.reason);
                        self.tell(said(ReportMeaning::Behind, &words))?;
                        let task = task.clone();
                        Ok(Some(Event::PutBack { task, behind }))
                    }
                    Err(judged) => self.failed(task, judged.retryable, judged.words),
                },
            },
            Body::Task(_) | Body::Text(_) => Ok(None),
        }
    }

    fn post_mut(&mut self, task: &TaskId) -> Option<&mut Post> {
        match &mut self.agents.0.get_mut(task)?.seat {
            Seat::Resident(post) => Some(post),
            Seat::Process(_) => None,
        }
    }

    fn done(&mut self, id: &TaskId, body: &DoneBody) -> Result<Option<Event>> {
        let report = clipped(TaskReport {
            outcome: Some(Outcome::Pass),
            summary: body.words(),
            ..TaskReport::default()
        });
        let task = self.read(id)?;
        let decided = task
            .as_ref()
            .and_then(|task| self.decided_beside(task, Some(&report)));
        let judged = decided.unwrap_or_else(|| Judged {
            outcome: Outcome::Pass,
            retryable: true,
            words: report.summary.clone(),
        });
        let line = (id.clone(), summary_of(&body.summary));
        self.residents.finished.push(line);
        self.end(id, Some(report), Assessment::Judged(judged))
    }

    fn failed(&mut self, id: &TaskId, retryable: bool, words: String) -> Result<Option<Event>> {
        let judged = Judged {
            outcome: Outcome::Fail,
            retryable,
            words,
        };
        self.end(id, None, Assessment::Judged(judged))
    }

    /// A resident worker's attempt is over.
    fn end(
        &mut self,
        id: &TaskId,
        report: Option<TaskReport>,
        finding: Assessment,
    ) -> Result<Option<Event>> {
        match self.agents.0.remove(id) {
            Some(work) => self.conclude(id, &work, report, finding).map(Some),
            None => Ok(None),
        }
    }

    /// Puts a task behind the one that it needs, and gives it back; the inner error says what else
    /// its attempt came to.
    fn put_behind(
        &mut self,
        id: &TaskId,
        body: &StuckBody,
    ) -> Result<std::result::Result<TaskId, Judged>> {
        let failed = |retryable, because: &str| {
            Ok(Err(Judged {
                outcome: Outcome::Fail,
                retryable,
                words: format!("{}: {because}", body.reason),
            }))
        };
        let Some(on) = body.depends_on.as_ref().and_then(|on| on.parse().ok()) else {
            return failed(false, "it names no task that has to be done first");
        };
        match self.read(&on)?.map(|task| task.state) {
            None => return failed(false, &format!("there is no task {on}")),
            Some(State::Completed) => return failed(true, &format!("task {on} is done")),
            Some(State::Failed | State::Cancelled) => {
                return failed(false, &format!("task {on} did not pass"));
            }
            Some(State::Pending | State::Claimed(_) | State::InProgress(_) | State::Stuck) => {}
        }
        let (actor, ons) = (&self.options.actor, std::slice::from_ref(&on));
        match self.patiently(|it| tasks::link(it.stage.list, actor, id, ons)) {
            Ok(_) => {}
            Err(error) => return failed(false, &refusal(error)?),
        }
        self.make_free(id)?;
        self.agents.0.remove(id);
        Ok(Ok(on))
    }

    /// The process that needs another task first has ended.
    pub(super) fn behind(
        &mut self,
        id: &TaskId,
        work: &ActiveAgent,
        body: &StuckBody,
    ) -> Result<Event> {
        match self.put_behind(id, body)? {
            Ok(behind) => Ok(Event::PutBack {
                task: id.clone(),
                behind,
            }),
            Err(judged) => self.conclude(id, work, None, Assessment::Judged(judged)),
        }
    }

    /// A DONE on a task that its worker does not have any more.
    fn too_late(&mut self, task: &TaskId, report: &Message, body: &DoneBody) -> Result<()> {
        let kept = self.patiently(|it| messages::apply_done(it.stage.list, report))?;
        match kept {
            // Its new attempt, if there is to be one, finds it done.
            messages::Kept::Done => drop(self.holds.remove(task)),
            messages::Kept::Late => {}
            messages::Kept::Nothing => return Ok(()),
        }
        self.tell(RunEvent::TaskSaid {
            task: task.clone(),
            worker: report.place.worker.clone(),
            said: ReportMeaning::Late,
            words: body.words(),
        })
    }

    /// Nobody ends a resident worker: its attempt is over the moment it is to be stopped.
    fn end_the_stopped(&mut self) -> Result<Vec<Event>> {
        let stopped = |work: &ActiveAgent| match (&work.seat, work.stopping) {
            (Seat::Resident(_), Some((exit, _))) => Some(exit),
            _ => None,
        };
        let all = self.agents.0.iter();
        let all: Vec<_> = all
            .filter_map(|(id, work)| Some((id.clone(), stopped(work)?)))
            .collect();
        let mut events = Vec::new();
        for (id, exit) in all {
            // Told to stop with the run, it may go on: the next run finds it with its task.
            if exit != Exit::Stopped
                && let Some(place) = self.post_mut(&id).map(|post| post.place.clone())
            {
                self.take_back(&place, "its time was up, or its task was taken")?;
            }
            let task = self.read(&id)?;
            let decided = task
                .as_ref()
                .and_then(|task| self.decided_beside(task, None));
            let said = task.as_ref().and_then(|task| self.recorded_ending(task));
            let finding = match decided {
                Some(judged) => Assessment::Judged(judged),
                None => judge(Evidence {
                    report: None,
                    said: said.as_ref().map(|(ending, text)| (*ending, text.as_str())),
                    exit,
                    tail: "",
                    client: None,
                }),
            };
            events.extend(self.end(&id, None, finding)?);
        }
        Ok(events)
    }

    /// Ends the attempts of workers that said nothing about their task for as long as a claim
    /// lasts. Who waits for a person's answer may be silent.
    fn end_the_silent(&mut self) -> Result<Vec<Event>> {
        let (now, lease) = (self.stage.home.now(), self.options.lease);
        let is_over = |heard: Timestamp| now.duration_since(heard) > lease;
        let late = |(id, work): (&TaskId, &ActiveAgent)| match &work.seat {
            Seat::Resident(post) if is_over(post.heard) => Some((id.clone(), post.place.clone())),
            Seat::Resident(_) | Seat::Process(_) => None,
        };
        let late: Vec<_> = self.agents.0.iter().filter_map(late).collect();
        let mut events = Vec::new();
        for (id, place) in late {
            let renewed = match messages::show(self.residents.party().fleet, &place) {
                Ok(seen) => seen.lease.map(|lease| lease.at),
                Err(error) => refusal(error).map(|_| None)?,
            };
            let Some(post) = self.post_mut(&id) else {
                continue;
            };
            if post
                .asked
                .is_some_and(|at| renewed.is_none_or(|it| it <= at))
            {
                continue;
            }
            post.asked = None;
            post.heard = renewed.map_or(post.heard, |at| at.max(post.heard));
            if is_over(post.heard) {
                let worker = post.worker.clone();
                let words = format!("worker {worker} fell silent");
                self.residents.silent.insert(worker, now);
                self.take_back(&place, &words)?;
                events.extend(self.failed(&id, true, words)?);
            }
        }
        Ok(events)
    }
}
