//! What happens in a run, for whoever watches.
//!
//! Owns the vocabulary of the event stream: the lines of `progress.jsonl` and of `run --json`. An
//! event only tells; the session's files and the tasks are the truth.

use flagpost_model::{
    SessionId, TaskId, Token, WorkerId,
    message::MessageAddress,
    plan::Attempt,
    session::{AttemptRecord, Outcome},
};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum RunEvent {
    /// The session began.
    Started {
        /// Its id.
        session: SessionId,
        /// Where its files are.
        dir: String,
        /// How many tasks are open.
        tasks: usize,
        /// How many waves are planned; none in eager runs.
        waves: usize,
    },
    /// A dead session was recovered first.
    Recovered {
        /// Where its files are now.
        dir: String,
        /// The tasks that went back to pending.
        tasks: Vec<TaskId>,
        /// Its agents that were still running and were ended.
        agents: Vec<u32>,
    },
    /// A wave began.
    WaveStarted {
        /// Which.
        n: usize,
        /// Of how many.
        of: usize,
    },
    /// A task is not started, since somebody else works on its files.
    TaskWaits {
        /// Which.
        task: TaskId,
        /// Who works on them.
        holder: WorkerId,
        /// What that one reserved.
        path: String,
    },
    /// An agent began a task.
    TaskStarted {
        /// Which.
        task: TaskId,
        /// Its subject.
        subject: String,
        /// Which attempt.
        attempt: Attempt,
        /// As whom.
        worker: WorkerId,
        /// By which claim.
        token: Token,
        /// Where.
        at: At,
    },
    /// A worker said something about a task.
    TaskSaid {
        /// Which task.
        task: TaskId,
        /// Who.
        worker: WorkerId,
        /// What it is.
        said: ReportMeaning,
        /// In its words.
        words: String,
    },
    /// Its worker shows no sign of work: no message, no output, no change of a file.
    TaskStalled {
        /// Which.
        task: TaskId,
        /// Who has it.
        worker: WorkerId,
        /// Since when.
        since: Timestamp,
    },
    /// There is a new sign of work after a stall.
    TaskResumed {
        /// On which.
        task: TaskId,
        /// Of whom.
        worker: WorkerId,
    },
    /// An agent's process is being stopped.
    TaskStopping {
        /// Which.
        task: TaskId,
        /// Why.
        why: &'static str,
    },
    /// The client's own name for the conversation about a task is known: it can be taken up again.
    TaskSession {
        /// Which task.
        task: TaskId,
        /// Which attempt.
        attempt: Attempt,
        /// The agent as the operator named it.
        agent: String,
        /// The client's name for the conversation.
        client_session: String,
        /// Where it works.
        dir: String,
        /// Whether it goes on with a conversation that was begun before.
        resumed: bool,
    },
    /// A client waits for its model's API and tries again by itself.
    TaskRetries {
        /// Which task.
        task: TaskId,
        /// Which try of its request.
        attempt: u32,
        /// Of how many, where it told.
        of: Option<u32>,
        /// Why, in words.
        why: String,
    },
    /// A client ended without saying how; its conversation is resumed once with that question.
    TaskUnreported {
        /// Which task.
        task: TaskId,
        /// Which attempt.
        attempt: Attempt,
        /// The actions that its client refused it.
        denied: Vec<String>,
    },
    /// A task's agent asks a person; the task waits for the answer, and what depends on it with it.
    TaskAsks {
        /// Which.
        task: TaskId,
        /// Its subject.
        subject: String,
        /// The question.
        question: String,
    },
    /// A person answered a task's question.
    TaskAnswered {
        /// Which.
        task: TaskId,
        /// Who.
        by: String,
        /// In their words.
        words: String,
    },
    /// A task came into the run's scope while the run was under way.
    TaskAdded {
        /// Which.
        task: TaskId,
        /// Its subject.
        subject: String,
    },
    /// An agent's account is at its limit: nothing is started with it, no attempt is spent.
    AgentParked {
        /// The agent as the operator named it.
        agent: String,
        /// Until when, where that is known.
        until: Option<Timestamp>,
        /// Why, in words.
        why: String,
    },
    /// A parked agent may work again.
    AgentOpen {
        /// Which.
        agent: String,
    },
    /// Something that the operator should know once and that ends nothing.
    Notice {
        /// In words.
        words: String,
    },
    /// Nothing is left that could go on by itself: the run stays for answers or limits.
    Stays {
        /// The tasks that wait for an answer.
        asking: Vec<TaskId>,
        /// Until when the next agent is parked, where one is.
        until: Option<Timestamp>,
    },
    /// An attempt ended.
    TaskEnded {
        /// Which.
        task: TaskId,
        /// Its subject.
        subject: String,
        /// Which attempt.
        attempt: Attempt,
        /// How.
        end: AttemptEnd,
        /// What the client told of the attempt; none where a plain command line worked.
        record: Option<Box<AttemptRecord>>,
        /// How long it took.
        seconds: u64,
        /// A summary, or why it failed.
        words: String,
    },
    /// A task has come to its end in this run.
    TaskSettled {
        /// Which.
        task: TaskId,
        /// Its subject.
        subject: String,
        /// As what: passed, partial, failed, stuck, parked, waits, skipped or interrupted.
        fate: &'static str,
        /// Why, where it did not pass.
        why: String,
    },
    /// A worktree was kept or removed.
    Worktree {
        /// Whose.
        task: TaskId,
        /// What became of it.
        said: String,
    },
    /// Something stands in the way that may pass: running agents go on, nothing is started.
    Waits {
        /// What is waited for.
        on: Awaited,
        /// What stands in the way, in words.
        why: String,
    },
    /// The way is free again.
    GoesOn,
    /// Somebody removed the session's files; they were begun anew.
    Mended,
    /// Nothing more is started; running agents finish.
    Draining,
    /// The session ended.
    Finished {
        /// Where its files are now.
        dir: String,
        /// How many tasks passed.
        passed: usize,
        /// How many did not.
        failed: usize,
        /// How many were never started.
        skipped: usize,
        /// How many wait for an answer.
        stuck: usize,
        /// Whether the operator ended it.
        interrupted: bool,
    },
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptEnd {
    /// With a verdict.
    Judged(Outcome),
    /// With a question to a person; it is no failure and spends no attempt.
    Stuck,
    /// At its account's limit; it spends no attempt.
    Parked,
    /// By the operator, who stopped it.
    Stopped,
}

impl AttemptEnd {
    /// In a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Judged(outcome) => outcome.as_str(),
            Self::Stuck => "STUCK",
            Self::Parked => "PARKED",
            Self::Stopped => "STOPPED",
        }
    }
}

/// What a run waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// That somebody lets go of a lock.
    Lock,
    /// That there is room on a disk.
    Room,
}

impl Awaited {
    /// In a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lock => "lock",
            Self::Room => "room",
        }
    }
}

/// Where a task is worked on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    /// In a process.
    Process {
        /// Its id.
        pid: u32,
        /// Where its output goes.
        log: String,
        /// The TASK that says so in its mail.
        message: MessageAddress,
    },
    /// With a resident worker, by this message.
    Message(MessageAddress),
}

/// What a worker's word means for its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportMeaning {
    /// How far it is.
    Progress,
    /// It waits for a person's word.
    Question,
    /// It goes on after another task.
    Behind,
    /// It came too late, and is kept as a late result.
    Late,
    /// It gave up while no run was there: that attempt failed.
    GaveUp,
}

impl ReportMeaning {
    /// In a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Progress => "progress",
            Self::Question => "question",
            Self::Behind => "behind",
            Self::Late => "late",
            Self::GaveUp => "gave_up",
        }
    }
}

impl RunEvent {
    /// The event as a JSON object, without cursor and time.
    pub fn to_json(&self) -> Map<String, Value> {
        let value = match self {
            Self::Started {
                session,
                dir,
                tasks,
                waves,
            } => {
                json!({"event": "session.started", "id": session, "dir": dir, "tasks": tasks, "waves": waves})
            }
            Self::Recovered { dir, tasks, agents } => {
                json!({"event": "session.recovered", "dir": dir, "tasks": tasks, "agents_ended": agents})
            }
            Self::WaveStarted { n, of } => json!({"event": "wave.started", "wave": n, "of": of}),
            Self::TaskWaits { task, holder, path } => {
                json!({"event": "task.waits", "task": task, "holder": holder, "path": path})
            }
            Self::TaskStarted {
                task,
                subject,
                attempt,
                worker,
                token,
                at,
            } => {
                let (pid, log, message) = match at {
                    At::Process { pid, log, message } => (Some(pid), Some(log), message),
                    At::Message(message) => (None, None, message),
                };
                json!({
                    "event": "task.started", "task": task, "subject": subject,
                    "attempt": attempt.number, "attempts": attempt.of,
                    "worker": worker, "token": token, "pid": pid, "log": log,
                    "message": message.to_string(),
                })
            }
            Self::TaskSaid {
                task,
                worker,
                said,
                words,
            } => json!({
                "event": "task.said", "task": task, "worker": worker, "said": said.as_str(),
                "words": words,
            }),
            Self::TaskStalled {
                task,
                worker,
                since,
            } => json!({
                "event": "task.stalled", "task": task, "worker": worker,
                "since": format!("{since:.0}"),
            }),
            Self::TaskResumed { task, worker } => {
                json!({"event": "task.resumed", "task": task, "worker": worker})
            }
            Self::TaskStopping { task, why } => {
                json!({"event": "task.stopping", "task": task, "why": why})
            }
            Self::TaskSession {
                task,
                attempt,
                agent,
                client_session,
                dir,
                resumed,
            } => json!({
                "event": "task.session", "task": task, "attempt": attempt.number, "agent": agent,
                "client_session": client_session, "dir": dir, "resumed": resumed,
            }),
            Self::TaskRetries {
                task,
                attempt,
                of,
                why,
            } => {
                json!({"event": "task.retries", "task": task, "try": attempt, "of": of, "why": why})
            }
            Self::TaskUnreported {
                task,
                attempt,
                denied,
            } => json!({
                "event": "task.unreported", "task": task, "attempt": attempt.number,
                "attempts": attempt.of, "denied": denied,
            }),
            Self::TaskAsks {
                task,
                subject,
                question,
            } => {
                json!({"event": "task.asks", "task": task, "subject": subject, "question": question})
            }
            Self::TaskAnswered { task, by, words } => {
                json!({"event": "task.answered", "task": task, "by": by, "words": words})
            }
            Self::TaskAdded { task, subject } => {
                json!({"event": "task.added", "task": task, "subject": subject})
            }
            Self::AgentParked { agent, until, why } => json!({
                "event": "agent.parked", "agent": agent,
                "until": until.map(|it| format!("{it:.0}")), "why": why,
            }),
            Self::AgentOpen { agent } => json!({"event": "agent.open", "agent": agent}),
            Self::Notice { words } => json!({"event": "session.notice", "words": words}),
            Self::Stays { asking, until } => json!({
                "event": "session.stays", "asking": asking,
                "until": until.map(|it| format!("{it:.0}")),
            }),
            Self::TaskEnded {
                task,
                subject,
                attempt,
                end,
                record,
                seconds,
                words,
            } => json!({
                "event": "task.ended", "task": task, "subject": subject,
                "attempt": attempt.number, "attempts": attempt.of,
                "outcome": end.as_str(), "record": record, "seconds": seconds, "words": words,
            }),
            Self::TaskSettled {
                task,
                subject,
                fate,
                why,
            } => {
                json!({"event": "task.settled", "task": task, "subject": subject, "fate": fate, "why": why})
            }
            Self::Worktree { task, said } => {
                json!({"event": "worktree", "task": task, "said": said})
            }
            Self::Waits { on, why } => {
                json!({"event": "session.waits", "for": on.as_str(), "why": why})
            }
            Self::GoesOn => json!({"event": "session.goes_on"}),
            Self::Mended => json!({"event": "session.mended"}),
            Self::Draining => json!({"event": "session.draining"}),
            Self::Finished {
                dir,
                passed,
                failed,
                skipped,
                stuck,
                interrupted,
            } => json!({
                "event": "session.finished", "dir": dir, "passed": passed, "failed": failed,
                "skipped": skipped, "stuck": stuck, "interrupted": interrupted,
            }),
        };
        match value {
            Value::Object(map) => map,
            other => Map::from_iter([("event".to_owned(), other)]),
        }
    }
}
