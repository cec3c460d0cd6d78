//! Going on with a conversation: where its agent said nothing, and where it could not go on.
//!
//! Owns what is kept of a conversation when its attempt ends, and the one question to an agent that ended
//! without a report. An attempt has one such question; no attempt is spent by it.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use flagpost_core::{self as core, sessions, tasks};
use flagpost_model::{
    TaskId,
    session::{AttemptRecord, Outcome, Resumable},
    task::Task,
};

use super::{
    Driver,
    conversation::{InterruptReason, Next, denied},
    seats::{ActiveAgent, Seat},
    start::Process,
};
use crate::{
    error::{Error, Result},
    events::{AttemptEnd, RunEvent},
    outcome::{Assessment, Exit, refusals},
    prompt::{self, Reason, ResumeBrief},
    refusal::refusal,
    scheduler::Event,
    worktree::{self, FileList},
};

/// What an agent is asked whose process has ended.
pub(super) enum Question {
    /// How its attempt ended.
    Report,
    /// To commit these files.
    Commit(FileList),
}

/// How long an agent may take to say how its attempt ended.
pub(super) const ANSWER: Duration = Duration::from_secs(120);

/// Whether an agent was to be asked how its attempt ended, and could not.
pub(super) fn is_asked_in_vain(work: &ActiveAgent, finding: &Assessment) -> bool {
    let asked =
        |desk: &super::seats::ProcessSeat| desk.talk.as_ref().is_some_and(|talk| talk.asked);
    let Seat::Process(desk) = &work.seat else {
        return false;
    };
    asked(desk) && is_failed_resume(work, finding)
}

/// Whether a process was to go on with a conversation and could not: its client never said that it is
/// there.
pub(super) fn is_failed_resume(work: &ActiveAgent, finding: &Assessment) -> bool {
    let Seat::Process(desk) = &work.seat else {
        return false;
    };
    let failed = matches!(finding, Assessment::Judged(judged) if judged.outcome == Outcome::Fail);
    let never_began = |talk: &super::conversation::Conversation| talk.resumed && !talk.began;
    failed && work.stopping.is_none() && desk.talk.as_ref().is_some_and(never_began)
}

impl Driver<'_> {
    /// Whether an attempt that ended in silence goes on: its agent can be asked, or begins anew where its
    /// conversation could not be taken up.
    pub(super) fn may_ask(&self, work: &ActiveAgent) -> bool {
        let Seat::Process(desk) = &work.seat else {
            return false;
        };
        let Some(talk) = &desk.talk else {
            return false;
        };
        let is_known = talk.session().is_some() && self.capacity.agent(desk.agent).can_resume();
        let may = !talk.asked && (is_known || talk.resumed);
        may && work.stopping.is_none() && self.wish < super::retry::OperatorRequest::Stop
    }

    /// Whether an agent that has ended can be asked for one thing more, in the same conversation.
    pub(super) fn can_hear(&self, work: &ActiveAgent) -> bool {
        let talk = match &work.seat {
            Seat::Process(desk) => desk.talk.as_ref(),
            Seat::Resident(_) => None,
        };
        let lost = |it: &super::conversation::Conversation| it.resumed && !it.began;
        talk.is_some_and(|it| it.session().is_some() && !lost(it)) && self.may_ask(work)
    }

    /// Starts another process for the same attempt: with the question how it ended, or with the whole
    /// prompt where the conversation could not be taken up.
    pub(super) fn go_on_with(
        &mut self,
        id: &TaskId,
        mut work: ActiveAgent,
        question: Question,
    ) -> Result<Event> {
        let Seat::Process(desk) = &mut work.seat else {
            return Ok(Event::Tick);
        };
        let (Some(talk), Some(hold)) = (desk.talk.take(), self.holds.get(id)) else {
            return Ok(Event::Tick);
        };
        let (worker, token) = (hold.worker.clone(), hold.token);
        let (record, said) = (talk.record(), talk.last_words().to_owned());
        let used = talk.used();
        let lost = talk.resumed && !talk.began;
        let session = talk.session().filter(|_| !lost);
        let denied = denied(&record);
        let task = self.read(id)?;
        let text = match (&session, &task) {
            (Some(_), Some(task)) if let Question::Commit(files) = &question => {
                let words = format!("task {id}: its agent is asked to commit {files}");
                self.tell(RunEvent::Notice { words })?;
                prompt::resume(&ResumeBrief {
                    task,
                    client: self.capacity.agent(desk.agent).client,
                    reason: Reason::Uncommitted {
                        files: &files.to_string(),
                    },
                    status: None,
                    reported: None,
                    report: &desk.dir.report(),
                })
            }
            (Some(_), _) => {
                self.tell(RunEvent::TaskUnreported {
                    task: id.clone(),
                    attempt: work.attempt,
                    denied: denied.clone(),
                })?;
                let bare = Task::new(id.clone(), "");
                prompt::resume(&ResumeBrief {
                    task: task.as_ref().unwrap_or(&bare),
                    client: self.capacity.agent(desk.agent).client,
                    reason: Reason::Unreported { denied: &denied },
                    status: None,
                    reported: None,
                    report: &desk.dir.report(),
                })
            }
            (None, Some(task)) => {
                let words = format!(
                    "task {id}: its conversation could not be taken up again; it begins anew"
                );
                self.tell(RunEvent::Notice { words })?;
                let provided = self.provided(&desk.cwd)?;
                let about = (desk.agent, &desk.dir, &[][..], &provided[..]);
                self.prompt(task, &worker, work.attempt, about)?
            }
            (None, None) => return Ok(Event::Tick),
        };
        let started = self.start_process(Process {
            task: id,
            worker: &worker,
            token,
            attempt: work.attempt,
            agent: desk.agent,
            cwd: &desk.cwd,
            dir: &desk.dir,
            text: &text,
            resumes: session.as_deref().map(|session| (session, used)),
            before: record.clone(),
        });
        let (running, talk) = match started {
            Ok(started) => started,
            Err(Error::Core(error)) => return Err(Error::Core(error)),
            Err(error) => {
                let words = error.to_string();
                let judged = crate::outcome::Judged {
                    outcome: Outcome::Fail,
                    retryable: true,
                    words,
                };
                return self.conclude(id, &work, None, Assessment::Judged(judged));
            }
        };
        desk.running = running;
        desk.talk = talk.map(|mut talk| {
            talk.asked = session.is_some();
            talk.said = said;
            talk
        });
        if session.is_some() {
            work.answer_by = Some(Instant::now() + ANSWER);
        }
        self.agents.0.insert(id.clone(), work);
        Ok(Event::Tick)
    }

    /// Ends those that take too long to say how their attempt ended.
    pub(super) fn end_the_speechless(&mut self) -> Result<()> {
        let now = Instant::now();
        let late = |work: &ActiveAgent| {
            work.stopping.is_none() && work.answer_by.is_some_and(|at| at <= now)
        };
        let late: Vec<TaskId> = self
            .agents
            .0
            .iter()
            .filter(|(_, work)| late(work))
            .map(|(id, _)| id.clone())
            .collect();
        for id in late {
            self.stop(
                &id,
                Exit::Code(0),
                "it was asked how it ended and does not say",
            )?;
        }
        Ok(())
    }

    /// Keeps the conversation of an attempt that goes on later.
    pub(super) fn keep_conversation(
        &mut self,
        id: &TaskId,
        work: &ActiveAgent,
        finding: &Assessment,
    ) {
        let Seat::Process(desk) = &work.seat else {
            return;
        };
        let timed_out = work
            .stopping
            .is_some_and(|(exit, _)| exit == Exit::TimedOut);
        let why = match finding {
            Assessment::Asks(_) => InterruptReason::Answered,
            Assessment::Limited(_) => InterruptReason::Limit,
            Assessment::Judged(judged) if timed_out && judged.retryable => {
                InterruptReason::TimedOut
            }
            Assessment::Judged(judged) if judged.outcome != Outcome::Fail => {
                InterruptReason::Returned
            }
            Assessment::Judged(_) | Assessment::Unreported(_) => return,
        };
        let Some(talk) = desk.talk.as_ref().filter(|talk| talk.began) else {
            return;
        };
        let Some(session) = talk.session() else {
            return;
        };
        let resumable = Resumable {
            task: id.clone(),
            agent: self.capacity.agent(desk.agent).name.clone(),
            session,
            dir: desk.cwd.display().to_string(),
        };
        let used = talk.used();
        self.next.insert(
            id.clone(),
            Next {
                resumable,
                why,
                used,
            },
        );
    }

    /// What a client told of an attempt, and how that ended; none of a plain command line.
    pub(super) fn record_of(&self, work: &ActiveAgent, end: AttemptEnd) -> Option<AttemptRecord> {
        let Seat::Process(desk) = &work.seat else {
            return None;
        };
        let talk = desk.talk.as_ref()?;
        Some(AttemptRecord {
            end: Some(end.as_str().to_lowercase()),
            ..talk.record()
        })
    }

    /// Keeps the record of an attempt in the history.
    pub(super) fn keep_record(&mut self, id: &TaskId, record: &AttemptRecord) -> Result<()> {
        let actor = self.options.actor.clone();
        self.patiently(|it| -> core::Result<()> {
            sessions::record_attempt(it.stage.list, &actor, it.live.id(), (id, record))
        })?;
        if record.denied.is_empty() {
            return Ok(());
        }
        // It stays with the task, whoever looks and however it ended.
        self.note(id, &refusals(&record.denied))
    }

    /// Adds a note to a task.
    pub(super) fn note(&mut self, id: &TaskId, words: &str) -> Result<()> {
        let (ids, actor) = ([id.clone()], self.options.actor.clone());
        let noted = self.patiently(|it| tasks::note(it.stage.list, &actor, &ids[..], words));
        match noted {
            Ok(_) => Ok(()),
            Err(error) => refusal(error).map(drop),
        }
    }

    /// Whether the run has used all that it may: nothing more is to be started then.
    pub(super) fn enough(&mut self) -> Result<Option<Event>> {
        if self.spent.is_some() {
            return Ok(None);
        }
        let terms = &self.options.terms;
        let (usd, tokens) = self.account.spent();
        let words = match (usd, tokens) {
            (Some(usd), _) if terms.max_usd.is_some_and(|most| usd >= most) => {
                format!("${usd:.2} are spent: nothing more is started (--max-usd)")
            }
            (_, Some(tokens)) if terms.max_tokens.is_some_and(|most| tokens >= most) => {
                format!("{tokens} tokens are used: nothing more is started (--max-tokens)")
            }
            _ => return Ok(None),
        };
        self.spent = Some(words.clone());
        self.tell(RunEvent::Notice { words })?;
        Ok(Some(Event::Enough))
    }

    /// The prompt with which a conversation goes on: what is so by now, then what is new.
    pub(super) fn resuming(
        &self,
        task: &Task,
        next: &Next,
        cwd: &Path,
        dir: &sessions::AttemptDir,
    ) -> String {
        let at = self.capacity.named(&next.resumable.agent);
        let client = at.and_then(|at| self.capacity.agent(at).client);
        prompt::resume(&ResumeBrief {
            task,
            client,
            reason: next.why.reason(),
            status: worktree::status(cwd).as_deref(),
            reported: self.judged.get(&task.id).map(|it| it.words.as_str()),
            report: &dir.report(),
        })
    }
}
