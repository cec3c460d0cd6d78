//! What happens in a run, for whoever watches.
//!
//! Owns the vocabulary of the event stream: the lines of `progress.jsonl` and of `run --json`. An
//! event only tells; the session's files and the tasks are the truth.

use flagpost_model::{
    SessionId, TaskId, Token, WorkerId, message::Place, plan::Attempt, session::Outcome,
};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
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
        said: Said,
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
    /// An attempt ended.
    TaskEnded {
        /// Which.
        task: TaskId,
        /// Its subject.
        subject: String,
        /// Which attempt.
        attempt: Attempt,
        /// How.
        outcome: Outcome,
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
        /// As what: passed, partial, failed, skipped or interrupted.
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
        /// Whether the operator ended it.
        interrupted: bool,
    },
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
        message: Place,
    },
    /// With a resident worker, by this message.
    Message(Place),
}

/// What a worker's word means for its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
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

impl Said {
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
            Self::TaskEnded {
                task,
                subject,
                attempt,
                outcome,
                seconds,
                words,
            } => json!({
                "event": "task.ended", "task": task, "subject": subject,
                "attempt": attempt.number, "attempts": attempt.of,
                "outcome": outcome, "seconds": seconds, "words": words,
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
                interrupted,
            } => json!({
                "event": "session.finished", "dir": dir, "passed": passed, "failed": failed,
                "skipped": skipped, "interrupted": interrupted,
            }),
        };
        match value {
            Value::Object(map) => map,
            other => Map::from_iter([("event".to_owned(), other)]),
        }
    }
}
