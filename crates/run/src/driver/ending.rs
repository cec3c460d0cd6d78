//! The end of an attempt.
//!
//! Owns what is gathered about it, and what follows. A task is completed once: by its agent's own word, or
//! by the run, under the claim that the run made.

use flagpost_core::{
    self as core,
    sessions::TAKEN_OVER,
    tasks::{self, Move, Parts},
};
use flagpost_disk::dialects::session::context;
use flagpost_model::{
    TaskId,
    plain::plain,
    session::{KnowledgeNote, Outcome, TaskReport},
    task::{Act, Ending, State, Task},
};

use super::{
    Driver,
    conversation::Conversation,
    follow_up::{Question, is_asked_in_vain, is_failed_resume},
    seats::{ActiveAgent, ProcessReport, Seat},
};
use crate::{
    error::Result,
    events::{AttemptEnd, RunEvent},
    leftovers::end_attempt,
    outcome::{
        Assessment, ClientReport, Evidence, Exit, Judged, exit_of, joined, judge, unreported,
    },
    process::Exited,
    refusal::refusal,
    scheduler::Event,
    variables::{ATTEMPT, SESSION, SESSION_DIR, TASK},
};

/// How much of each part of a report is told on, in bytes.
const WORDS: usize = 32 << 10;

/// How much of it every later prompt repeats.
const LEARNED: usize = 4 << 10;

impl Driver<'_> {
    /// An agent's process is gone: judges its attempt, and completes the task if it passed.
    pub(super) fn ended(&mut self, exited: &Exited) -> Result<Event> {
        let id = &exited.task;
        self.read_on(id, true)?;
        self.bound_log(id);
        self.look_at_rollout(id)?;
        self.take_up_words(id)?;
        self.hear_the_last(id)?;
        let Some(mut work) = self.agents.0.remove(id) else {
            return Ok(Event::Tick);
        };
        self.clear_mount_points();
        if let Seat::Process(desk) = &mut work.seat
            && let Some(ProcessReport::Behind(_)) = &desk.word
            && let Some(ProcessReport::Behind(body)) = desk.word.take()
        {
            return self.behind(id, &work, &body);
        }
        let exit = work
            .stopping
            .map_or_else(|| exit_of(exited.status), |(exit, _)| exit);
        let Seat::Process(desk) = &work.seat else {
            return Ok(Event::Tick);
        };
        let report = self.patiently(|it| it.live.take_in(id, &desk.dir))?;
        if let Some((first, judged)) = work.passed.take() {
            return self.conclude(id, &work, first, Assessment::Judged(judged));
        }
        // It meant to say something: silence is not what came of it.
        let refused = self.refused.remove(id);
        let refused = refused.map(|why| format!("what its agent said was refused: {why}"));
        let report = report.or_else(|| refused.map(TaskReport::unreadable));
        let report = report.map(clipped);
        let task = self.read(id)?;
        let decided = task
            .as_ref()
            .and_then(|task| self.decided_beside(task, report.as_ref()));
        let answered = task
            .as_ref()
            .filter(|_| work.stopping.is_none())
            .filter(|_| report.as_ref().is_none_or(|it| it.outcome.is_none()))
            .and_then(|task| self.answered_at_once(task, &work));
        let finding = match (answered, decided) {
            (Some(question), _) => Assessment::Asks(question.text),
            (None, Some(judged)) => Assessment::Judged(judged),
            (None, None) => {
                let said = task.as_ref().and_then(|task| self.recorded_ending(task));
                if let (Some((said, _)), Some(report)) = (&said, &report) {
                    self.keep_contradiction(id, *said, report)?;
                }
                let client = self.capacity.agent(desk.agent).client;
                let tail = self.tail(id, work.attempt.number, client);
                let record = desk.talk.as_ref().map(Conversation::record);
                judge(Evidence {
                    report: report.as_ref(),
                    said: said.as_ref().map(|(ending, text)| (*ending, text.as_str())),
                    exit,
                    tail: &tail,
                    client: desk
                        .talk
                        .as_ref()
                        .zip(record.as_ref())
                        .map(|(talk, record)| ClientReport {
                            limit: talk.limit.as_ref(),
                            error: talk.error(),
                            last_words: talk.last_words(),
                            denied: &record.denied,
                        }),
                })
            }
        };
        self.after(id, work, report, finding)
    }

    /// What follows from a finding: the agent is asked again, its account rests, or its attempt is over.
    fn after(
        &mut self,
        id: &TaskId,
        work: ActiveAgent,
        report: Option<TaskReport>,
        finding: Assessment,
    ) -> Result<Event> {
        let silent =
            matches!(&finding, Assessment::Unreported(_)) || is_failed_resume(&work, &finding);
        if silent && self.may_ask(&work) {
            return self.go_on_with(id, work, Question::Report);
        }
        let is_handed_over = work
            .stopping
            .is_some_and(|(exit, _)| exit == Exit::HandedOver);
        let finding = match (finding, &work.seat) {
            (Assessment::Unreported(_), _) if is_handed_over => {
                self.ask_operator(id, TAKEN_OVER)?
            }
            (Assessment::Unreported(words), _) => self.unreported(id, &work, &words)?,
            // What ended in silence is no worse since nobody could be asked.
            (finding, Seat::Process(desk)) if is_asked_in_vain(&work, &finding) => {
                let words = desk.talk.as_ref().map(|talk| talk.last_words().to_owned());
                self.unreported(id, &work, &words.unwrap_or_default())?
            }
            (Assessment::Limited(limit), Seat::Process(desk)) => {
                self.park(desk.agent, &limit)?;
                match self.capacity.is_parked(desk.agent) {
                    true => Assessment::Limited(limit),
                    // The limit is over already: without an attempt spent it would be tried for ever.
                    false => Assessment::Judged(Judged {
                        outcome: Outcome::Fail,
                        retryable: true,
                        words: "its account was at a limit that is over".to_owned(),
                    }),
                }
            }
            (finding, _) => finding,
        };
        if let Assessment::Judged(judged) = &finding
            && judged.outcome == Outcome::Pass
            && self.can_hear(&work)
            && let Some(files) = self.uncommitted(id)
        {
            let mut work = work;
            work.passed = Some((report, judged.clone()));
            return self.go_on_with(id, work, Question::Commit(files));
        }
        self.conclude(id, &work, report, finding)
    }

    /// Nobody is left to ask how an attempt ended. With attempts left it counts as done in part; else a
    /// person is asked.
    fn unreported(
        &mut self,
        id: &TaskId,
        work: &ActiveAgent,
        last_words: &str,
    ) -> Result<Assessment> {
        let denied = match &work.seat {
            Seat::Process(desk) => desk.talk.as_ref().map(|talk| talk.record().denied),
            Seat::Resident(_) => None,
        };
        let words = unreported(last_words, &denied.unwrap_or_default());
        if work.attempt.next().is_some() {
            return Ok(Assessment::Judged(Judged {
                outcome: Outcome::Partial,
                retryable: true,
                words,
            }));
        }
        self.ask_operator(id, &words)
    }

    /// The task waits for a person.
    fn ask_operator(&mut self, id: &TaskId, words: &str) -> Result<Assessment> {
        match self.finish_task(id, Ending::Stuck, words)? {
            Ok(()) => Ok(Assessment::Asks(words.to_owned())),
            Err(refused) => Ok(Assessment::Judged(Judged {
                outcome: Outcome::Fail,
                retryable: false,
                words: refused,
            })),
        }
    }

    /// An attempt is over: completes the task if it passed, and tells of it.
    pub(super) fn conclude(
        &mut self,
        id: &TaskId,
        work: &ActiveAgent,
        report: Option<TaskReport>,
        finding: Assessment,
    ) -> Result<Event> {
        self.end_what_it_left(id, work)?;
        let word = self.speak_for(id, work, &finding)?;
        if let (Seat::Process(desk), false) =
            (&work.seat, matches!(finding, Assessment::Limited(_)))
        {
            self.capacity.answered(desk.agent);
        }
        let finding = match finding {
            Assessment::Judged(judged) if judged.outcome == Outcome::Pass => {
                match self.complete(id, &judged.words)? {
                    Ok(()) => self.keep_work(id)?.unwrap_or(Assessment::Judged(judged)),
                    Err(lost) => Assessment::Judged(Judged {
                        outcome: Outcome::Fail,
                        retryable: false,
                        words: lost,
                    }),
                }
            }
            finding => finding,
        };
        if let Some(place) = word {
            self.ack(&place)?;
        }
        self.keep_conversation(id, work, &finding);
        let stopped = work.stopping.is_some_and(|(exit, _)| exit == Exit::Stopped);
        let (end, words) = match &finding {
            Assessment::Judged(judged) if stopped && judged.outcome != Outcome::Pass => {
                (AttemptEnd::Stopped, judged.words.clone())
            }
            Assessment::Judged(judged) => {
                (AttemptEnd::Judged(judged.outcome), judged.words.clone())
            }
            Assessment::Asks(question) => (AttemptEnd::Stuck, question.clone()),
            Assessment::Limited(_) => {
                (AttemptEnd::Parked, "its account is at its limit".to_owned())
            }
            Assessment::Unreported(words) => (AttemptEnd::Judged(Outcome::Fail), words.clone()),
        };
        let record = self.record_of(work, end);
        self.account.attempted(id, report, record.as_ref());
        let attempt = work.attempt;
        self.tell(RunEvent::TaskEnded {
            task: id.clone(),
            subject: self.account.subject(id),
            attempt,
            end,
            record: record.clone().map(Box::new),
            seconds: work.started.elapsed().as_secs(),
            words,
        })?;
        if let Some(record) = record {
            self.keep_record(id, &record)?;
        }
        let task = id.clone();
        match finding {
            Assessment::Judged(judged) => {
                let (outcome, retryable) = (judged.outcome, judged.retryable);
                self.judged.insert(task.clone(), judged);
                Ok(Event::Ended {
                    task,
                    outcome,
                    retryable,
                })
            }
            Assessment::Asks(question) => {
                self.holds.remove(id);
                let now = self.read(id)?.map(|it| it.state);
                if now == Some(State::Pending) {
                    // The answer was faster than the end of the process.
                    self.answered(id)?;
                    return Ok(Event::Held { task, opens: true });
                }
                self.questions.insert(task.clone(), question.clone());
                let subject = self.account.subject(id);
                self.tell(RunEvent::TaskAsks {
                    task: task.clone(),
                    subject,
                    question,
                })?;
                self.show_progress()?;
                Ok(match work.stopping {
                    Some((Exit::HandedOver, _)) => Event::HandedOver { task },
                    Some(_) | None => Event::Asked { task },
                })
            }
            Assessment::Limited(_) => {
                self.make_free(id)?;
                self.show_progress()?;
                let opens = match &work.seat {
                    Seat::Process(desk) => self.capacity.opens(desk.agent),
                    Seat::Resident(_) => true,
                };
                Ok(Event::Held { task, opens })
            }
            Assessment::Unreported(_) => Ok(Event::Ended {
                task,
                outcome: Outcome::Fail,
                retryable: true,
            }),
        }
    }

    /// Ends what an agent left running outside its process group.
    fn end_what_it_left(&mut self, id: &TaskId, work: &ActiveAgent) -> Result<()> {
        let Seat::Process(_) = &work.seat else {
            return Ok(());
        };
        let number = work.attempt.number.to_string();
        let left = end_attempt(&[
            (SESSION, self.live.id().as_str().as_ref()),
            (SESSION_DIR, self.live.dir().as_os_str()),
            (TASK, id.as_str().as_ref()),
            (ATTEMPT, number.as_ref()),
        ]);
        if !left {
            return Ok(());
        }
        let words = format!("task {id}: what its agent left running was ended");
        self.tell(RunEvent::Notice { words })
    }

    /// Keeps a report that contradicts what its agent had said before: as a late result, and told.
    fn keep_contradiction(&mut self, id: &TaskId, said: Ending, report: &TaskReport) -> Result<()> {
        let ending = match (said, report.outcome) {
            (Ending::Completed, Some(Outcome::Partial | Outcome::Fail)) => Ending::Failed,
            (Ending::Failed | Ending::Stuck, Some(Outcome::Pass)) => Ending::Completed,
            _ => return Ok(()),
        };
        let Some(hold) = self.holds.get(id) else {
            return Ok(());
        };
        let act = Act {
            actor: hold.worker.clone(),
            token: Some(hold.token),
            at: self.stage.home.now(),
        };
        let text = joined(&report.issues, &report.summary);
        let event = Move::Finish {
            ending,
            text: text.clone(),
            parts: Parts::MayBeOpen,
        };
        let kept = self.patiently(|it| tasks::act(it.stage.list, &act, id, event.clone()));
        if let Err(error) = kept {
            refusal(error)?;
        }
        let words = format!(
            "task {id}: its agent said {said}, which stands; its report, which came later and is kept, \
             says {}: {text}",
            report.outcome.map_or("", Outcome::as_str)
        );
        self.tell(RunEvent::Notice { words })
    }

    /// What others made of the task while its agent worked on it, where that decides.
    pub(super) fn decided_beside(
        &self,
        task: &Task,
        report: Option<&TaskReport>,
    ) -> Option<Judged> {
        let failed = |retryable, words: &str| Judged {
            outcome: Outcome::Fail,
            retryable,
            words: words.to_owned(),
        };
        match task.state {
            State::Completed if !self.is_ours(task) => Some(Judged {
                outcome: Outcome::Pass,
                retryable: false,
                words: String::new(),
            }),
            State::Failed | State::Stuck if !self.is_ours(task) => {
                Some(failed(false, "somebody else ended it meanwhile"))
            }
            State::Cancelled => Some(failed(false, "the task was cancelled while it ran")),
            State::Pending if report.is_none_or(|report| report.outcome.is_none()) => {
                Some(failed(true, "it gave the task back"))
            }
            _ => None,
        }
    }

    /// Whether the task is held, or was ended, under the claim that this run made: a name can be
    /// anybody's, a token cannot.
    pub(super) fn is_ours(&self, task: &Task) -> bool {
        let token = match task.state.claim() {
            Some(claim) => Some(claim.token),
            None => task.result.as_ref().and_then(|result| result.token),
        };
        let hold = self.holds.get(&task.id);
        hold.is_some_and(|hold| token == Some(hold.token))
    }

    /// What the store says of a task that ended without us: by its agent, or by somebody else.
    pub(super) fn recorded_ending(&self, task: &Task) -> Option<(Ending, String)> {
        let ending = match task.state {
            State::Completed => Ending::Completed,
            State::Failed => Ending::Failed,
            State::Stuck => Ending::Stuck,
            State::Pending | State::Claimed(_) | State::InProgress(_) | State::Cancelled => {
                return None;
            }
        };
        let text = task.result.as_ref().map(|result| result.text.clone());
        Some((ending, text.unwrap_or_default()))
    }

    /// Whether a task came to an end in the store while its agent still runs.
    pub(super) fn has_ended_by_word(&self, id: &TaskId) -> Result<bool> {
        Ok(self
            .read(id)?
            .is_some_and(|task| self.recorded_ending(&task).is_some()))
    }

    pub(super) fn read(&self, id: &TaskId) -> Result<Option<Task>> {
        match self.stage.list.task(id) {
            Ok(file) => Ok(Some(file.task)),
            Err(error) => {
                refusal(error)?;
                self.ended_and_away(id)
            }
        }
    }

    /// A task whose end was acknowledged, and whose file another program took away since.
    fn ended_and_away(&self, id: &TaskId) -> Result<Option<Task>> {
        let away = match self.stage.list.taken_away(id) {
            Ok(file) => file.map(|it| it.task),
            Err(error) => refusal(error).map(|_| None)?,
        };
        Ok(away.filter(|task| self.recorded_ending(task).is_some()))
    }

    /// Completes the task, unless it is; the inner error says why it could not be.
    fn complete(&mut self, id: &TaskId, words: &str) -> Result<Result<(), String>> {
        self.finish_task(id, Ending::Completed, words)
    }

    pub(super) fn finish_task(
        &mut self,
        id: &TaskId,
        ending: Ending,
        words: &str,
    ) -> Result<Result<(), String>> {
        let task = match self.stage.list.task(id) {
            Ok(file) => file.task,
            Err(core::Error::NotFound { .. }) => match self.ended_and_away(id)? {
                Some(task) => task,
                None => return Ok(Err("somebody removed the task while it ran".to_owned())),
            },
            Err(error) => {
                let why = refusal(error)?;
                return Ok(Err(format!("its file cannot be read any more: {why}")));
            }
        };
        if self
            .recorded_ending(&task)
            .is_some_and(|(said, _)| said == ending)
        {
            return Ok(Ok(()));
        }
        // The first acknowledged word stands.
        if self.recorded_ending(&task).is_some() && self.is_ours(&task) {
            return Ok(Ok(()));
        }
        let hold = self.holds.get(id);
        // A foreign writer who only set the status left no claim to compare with.
        let bare = task.state == State::InProgress(None);
        let act = Act {
            actor: hold
                .map_or(&self.options.actor, |hold| &hold.worker)
                .clone(),
            token: hold.map(|hold| hold.token).filter(|_| !bare),
            at: self.stage.home.now(),
        };
        let event = Move::Finish {
            ending,
            text: words.to_owned(),
            parts: Parts::MayBeOpen,
        };
        match self.patiently(|it| tasks::act(it.stage.list, &act, id, event.clone())) {
            Ok(_) => Ok(Ok(())),
            Err(error) => refusal(error).map(Err),
        }
    }

    /// Merges what tasks learned into the shared context.
    pub(super) fn merge(&mut self, tasks: &[TaskId]) -> Result<()> {
        let mut learned = Vec::new();
        for id in tasks {
            let text = self.live.notes(id)?.unwrap_or_default();
            let outcome = self.account.outcome(id);
            let mut notes = context::parse_notes(&text, id, &self.account.subject(id), outcome);
            if let Some(report) = self.account.report(id) {
                notes.learnings.extend(of_report(report));
            }
            learned.push(notes);
        }
        self.keeping(|live| live.merge(&learned))
    }
}

/// A report in words that a task's file and the events can carry; its own file keeps the rest.
pub(super) fn clipped(report: TaskReport) -> TaskReport {
    TaskReport {
        summary: clip(report.summary, WORDS),
        issues: clip(report.issues, WORDS),
        ..report
    }
}

fn clip(mut text: String, most: usize) -> String {
    if text.len() > most {
        let end = (0..=most).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or_default());
        text += "\n… (its report says more)";
    }
    text
}

/// What a report holds for those who come after.
fn of_report(report: &TaskReport) -> impl Iterator<Item = KnowledgeNote> {
    let files =
        (!report.files.is_empty()).then(|| format!("Files modified: {}", report.files.join(", ")));
    let summary = (!report.summary.trim().is_empty()).then(|| report.summary.trim().to_owned());
    let issues =
        (!report.issues.trim().is_empty()).then(|| format!("Issues: {}", report.issues.trim()));
    [summary, files, issues]
        .into_iter()
        .flatten()
        .map(|text| KnowledgeNote::Bullet(clip(plain(&text).into_owned(), LEARNED)))
}
