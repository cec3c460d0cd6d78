//! What happens in a run, for whoever watches.
//!
//! Owns the vocabulary of the event stream: the lines of `progress.jsonl` and of `run --json`. An
//! event only tells; the session's files and the tasks are the truth.

use flagpost_core::sessions::EventPlace;
use flagpost_model::{
    SessionId, TaskId, Token, WorkerId,
    message::MessageAddress,
    names,
    session::{Attempt, AttemptRecord, Outcome},
    view,
};
use jiff::Timestamp;
use schemars::{JsonSchema, Schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "event")]
#[schemars(transform = entitle)]
pub enum RunEvent {
    /// The run began.
    #[serde(rename = "session.started")]
    Started {
        /// The session's id.
        #[serde(rename = "id")]
        session: SessionId,
        /// Where its files are.
        dir: String,
        /// How many are open.
        tasks: usize,
        /// How many are planned; 0 in an eager run.
        waves: usize,
    },
    /// A dead session was recovered first.
    #[serde(rename = "session.recovered")]
    Recovered {
        /// Where its files are now.
        dir: String,
        /// The tasks that are pending again.
        tasks: Vec<TaskId>,
        /// Its agents that were still running, and were ended with all that they had started: a process
        /// id each.
        #[serde(rename = "agents_ended")]
        agents: Vec<u32>,
    },
    /// A wave began.
    #[serde(rename = "wave.started")]
    WaveStarted {
        /// Counted from 1.
        #[serde(rename = "wave")]
        n: usize,
        /// Of how many.
        of: usize,
    },
    /// A task is not started, since somebody else works on its files.
    #[serde(rename = "task.waits")]
    TaskWaits {
        /// Which.
        task: TaskId,
        /// Who works on them.
        holder: WorkerId,
        /// What that one reserved.
        path: String,
    },
    /// An agent began a task.
    #[serde(rename = "task.started")]
    TaskStarted {
        /// Which.
        task: TaskId,
        /// Its subject.
        subject: String,
        /// Which attempt.
        #[serde(flatten)]
        attempt: Attempt,
        /// As whom it acts.
        worker: WorkerId,
        /// The claim's token.
        token: Token,
        /// Where.
        #[serde(flatten)]
        at: At,
    },
    /// A worker said something about a task.
    #[serde(rename = "task.said")]
    TaskSaid {
        /// Which task.
        task: TaskId,
        /// Who.
        worker: WorkerId,
        /// How far it is; a question to a person; that another task has to be done first; a DONE that came
        /// too late and is kept; or that it gave up while no run was there.
        said: ReportMeaning,
        /// In its words.
        words: String,
    },
    /// Who has a task shows no sign of work on it: no message, no output, no change of a file. Nobody is
    /// stopped for that.
    #[serde(rename = "task.stalled")]
    TaskStalled {
        /// Which.
        task: TaskId,
        /// Who has it.
        worker: WorkerId,
        /// Since when.
        #[serde(serialize_with = "in_seconds")]
        since: Timestamp,
    },
    /// There is a new sign of work after a stall.
    #[serde(rename = "task.resumed")]
    TaskResumed {
        /// On which.
        task: TaskId,
        /// Of whom.
        worker: WorkerId,
    },
    /// An agent is being stopped.
    #[serde(rename = "task.stopping")]
    TaskStopping {
        /// Which.
        task: TaskId,
        /// Why.
        why: &'static str,
    },
    /// The client's name for the conversation about a task is known.
    #[serde(rename = "task.session")]
    TaskSession {
        /// Which task.
        task: TaskId,
        /// Which attempt.
        attempt: u32,
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
    #[serde(rename = "task.retries")]
    TaskRetries {
        /// Which task.
        task: TaskId,
        /// Which try of its request.
        #[serde(rename = "try")]
        attempt: u32,
        /// Of how many, where it told.
        of: Option<u32>,
        /// Why, in words.
        why: String,
    },
    /// A client ended without saying how; its conversation is resumed once with that question.
    #[serde(rename = "task.unreported")]
    TaskUnreported {
        /// Which task.
        task: TaskId,
        /// Which attempt.
        #[serde(flatten)]
        attempt: Attempt,
        /// The actions that its client refused it.
        denied: Vec<String>,
    },
    /// A task's agent asks a person; what depends on it waits.
    #[serde(rename = "task.asks")]
    TaskAsks {
        /// Which.
        task: TaskId,
        /// Its subject.
        subject: String,
        /// The question.
        question: String,
    },
    /// A person answered a task's question.
    #[serde(rename = "task.answered")]
    TaskAnswered {
        /// Which.
        task: TaskId,
        /// Who.
        by: String,
        /// In their words.
        words: String,
    },
    /// A task came into the run's scope while the run was under way.
    #[serde(rename = "task.added")]
    TaskAdded {
        /// Which.
        task: TaskId,
        /// Its subject.
        subject: String,
    },
    /// An agent's account is at its limit: nothing is started with it, and no attempt is spent.
    #[serde(rename = "agent.parked")]
    AgentParked {
        /// The agent as the operator named it.
        agent: String,
        /// Until when, where that is known.
        #[serde(serialize_with = "in_seconds_or_null")]
        until: Option<Timestamp>,
        /// Why, in words.
        why: String,
    },
    /// A parked agent may work again.
    #[serde(rename = "agent.open")]
    AgentOpen {
        /// Which.
        agent: String,
    },
    /// Something to know once that ends nothing.
    #[serde(rename = "session.notice")]
    Notice {
        /// In words.
        words: String,
    },
    /// Nothing is left that could go on by itself: the run stays for answers or limits.
    #[serde(rename = "session.stays")]
    Stays {
        /// The tasks that wait for an answer.
        asking: Vec<TaskId>,
        /// Until when the next agent is parked, where one is.
        #[serde(serialize_with = "in_seconds_or_null")]
        until: Option<Timestamp>,
    },
    /// An attempt ended.
    #[serde(rename = "task.ended")]
    TaskEnded {
        /// Which.
        task: TaskId,
        /// Its subject.
        subject: String,
        /// Which attempt.
        #[serde(flatten)]
        attempt: Attempt,
        /// How.
        #[serde(rename = "outcome")]
        #[schemars(with = "String", extend("enum" = [
            "PASS", "PARTIAL", "FAIL", "STUCK", "PARKED", "STOPPED"
        ]))]
        end: AttemptEnd,
        /// What the client told of the attempt; null where a plain command line worked.
        record: Option<Box<AttemptRecord>>,
        /// How long it took.
        seconds: u64,
        /// A summary, or why it failed.
        words: String,
    },
    /// A task has come to its end in this run.
    #[serde(rename = "task.settled")]
    TaskSettled {
        /// Which.
        task: TaskId,
        /// Its subject.
        subject: String,
        /// As what.
        #[schemars(extend("enum" = [
            "passed", "partial", "failed", "stuck", "parked", "waits", "skipped", "interrupted"
        ]))]
        fate: &'static str,
        /// Why it did not pass; else empty.
        why: String,
    },
    /// A worktree was kept or removed.
    #[serde(rename = "worktree")]
    Worktree {
        /// Whose.
        task: TaskId,
        /// What became of it.
        said: String,
        /// Whether it is still there.
        kept: bool,
    },
    /// A landing began.
    #[serde(rename = "land.started")]
    LandStarted {
        /// The target branch.
        onto: String,
        /// The tasks whose branches can land, in order.
        tasks: Vec<TaskId>,
        /// The command that must succeed before the target moves; null where nothing is checked.
        check: Option<String>,
    },
    /// The check runs on these branches, merged onto the target.
    #[serde(rename = "land.checking")]
    LandChecking {
        /// Their tasks.
        tasks: Vec<TaskId>,
        /// The command.
        check: String,
    },
    /// The check ended. Where several branches failed together they are tried in halves.
    #[serde(rename = "land.checked")]
    LandChecked {
        /// Their tasks.
        tasks: Vec<TaskId>,
        /// Whether it succeeded.
        passed: bool,
        /// How long it took.
        seconds: u64,
    },
    /// A task's work is on the target.
    #[serde(rename = "land.landed")]
    LandLanded {
        /// Which.
        task: TaskId,
        /// Its subject.
        subject: String,
        /// The commit of the target that brought it.
        commit: String,
        /// The target branch.
        onto: String,
        /// Whether a check succeeded before.
        checked: bool,
        /// Files that it touched without its worker holding them; the first twenty. Empty in a repository
        /// where nothing is reserved.
        unreserved: Vec<String>,
    },
    /// A task's work did not land.
    #[serde(rename = "land.refused")]
    LandRefused {
        /// Which.
        task: TaskId,
        /// Its subject.
        subject: String,
        /// Why.
        why: String,
        /// What becomes of it.
        next: LandingAgain,
    },
    /// A commit passed, and waits for a working tree with changes that stands on the target.
    #[serde(rename = "land.staged")]
    LandStaged {
        /// The target branch.
        onto: String,
        /// The commit.
        commit: String,
        /// What stands in the way, in words.
        why: String,
        /// The command that takes it.
        take: String,
    },
    /// A commit was pushed.
    #[serde(rename = "land.pushed")]
    LandPushed {
        /// The branch.
        onto: String,
        /// Where to.
        remote: String,
        /// Which.
        commit: String,
    },
    /// A task's branch was pushed, and a pull request for it is open.
    #[serde(rename = "land.requested")]
    LandRequested {
        /// Which.
        task: TaskId,
        /// Its subject.
        subject: String,
        /// The address of the request.
        url: String,
        /// Whether it was open before.
        existed: bool,
    },
    /// A landing ended.
    #[serde(rename = "land.finished")]
    LandFinished {
        /// The target branch.
        onto: String,
        /// The commit that it stands on.
        commit: String,
        /// The tasks whose work landed, in order.
        landed: Vec<TaskId>,
        /// The tasks whose work was refused, and is done again or asked about.
        refused: Vec<TaskId>,
        /// The tasks whose branches git did not bring in.
        left: Vec<TaskId>,
        /// The tasks that build on work which did not land.
        waits: Vec<TaskId>,
        /// The tasks whose work waits for a person's approval.
        to_review: Vec<TaskId>,
    },
    /// Something stands in the way that may pass. Running agents go on, nothing is started, and what
    /// ended is recorded when the way is free.
    #[serde(rename = "session.waits")]
    Waits {
        /// That somebody lets go of a lock, or that there is room on a disk.
        #[serde(rename = "for")]
        on: Awaited,
        /// What stands in the way, in words.
        why: String,
    },
    /// What session.waits told of is over.
    #[serde(rename = "session.goes_on")]
    GoesOn,
    /// Somebody removed the session's files; they were begun anew.
    #[serde(rename = "session.mended")]
    Mended,
    /// Nothing more is started; running agents finish.
    #[serde(rename = "session.draining")]
    Draining,
    /// The run ended.
    #[serde(rename = "session.finished")]
    Finished {
        /// Where its files are now.
        dir: String,
        /// How many tasks passed.
        passed: usize,
        /// How many did not.
        failed: usize,
        /// Tasks that were not done.
        skipped: usize,
        /// Tasks that wait for an answer.
        stuck: usize,
        /// Whether it was told to stop.
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

names!(
    /// What a run waits for.
    Awaited {
        /// That somebody lets go of a lock.
        Lock = "lock",
        /// That there is room on a disk.
        Room = "room",
    }
);

names!(
    /// What becomes of work that did not land.
    LandingAgain {
        /// It is done again: its task is pending.
        Again = "again",
        /// A person is asked: its task is stuck.
        Asks = "asks",
        /// Nothing: its branch can land when what stands in the way is gone.
        Left = "left",
    }
);

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

view! {
    /// Where a task is worked on, as JSON.
    pub struct ShownAt<'a> for at: At {
        /// The agent's process; null where a resident worker has the task.
        pid: Option<u32> = match at {
            At::Process { pid, .. } => Some(*pid),
            At::Message(_) => None,
        },
        /// Where its output goes; null where a resident worker has the task.
        log: Option<&'a str> = match at {
            At::Process { log, .. } => Some(log),
            At::Message(_) => None,
        },
        /// The place of the TASK that its worker was given.
        message: String = match at {
            At::Process { message, .. } | At::Message(message) => message.to_string(),
        },
    }
}

names!(
    /// What a worker's word means for its task.
    ReportMeaning {
        /// How far it is.
        Progress = "progress",
        /// It waits for a person's word.
        Question = "question",
        /// It goes on after another task.
        Behind = "behind",
        /// It came too late, and is kept as a late result.
        Late = "late",
        /// It gave up while no run was there: that attempt failed.
        GaveUp = "gave_up",
    }
);

impl Serialize for AttemptEnd {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.as_str().serialize(to)
    }
}

fn in_seconds<S: Serializer>(at: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
    format!("{at:.0}").serialize(to)
}

fn in_seconds_or_null<S: Serializer>(at: &Option<Timestamp>, to: S) -> Result<S::Ok, S::Error> {
    at.map(|at| format!("{at:.0}")).serialize(to)
}

/// Names each kind of event in the schema.
fn entitle(schema: &mut Schema) {
    let kinds = schema.get_mut("oneOf").and_then(Value::as_array_mut);
    for kind in kinds.into_iter().flatten() {
        kind["title"] = kind["properties"]["event"]["const"].clone();
    }
}

/// Something that happened in a run.
///
/// A line of 'flagpost run --json' and of 'flagpost session show --events'. The cursor is where a reader
/// takes up the stream again with --since.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EventLine<'a> {
    /// Where it is in the stream.
    #[serde(flatten)]
    pub place: EventPlace,
    /// What happened.
    #[serde(flatten)]
    pub event: &'a RunEvent,
}

impl EventLine<'_> {
    /// The line as a JSON object.
    pub fn to_json(&self) -> Map<String, Value> {
        match json!(self) {
            Value::Object(line) => line,
            _ => Map::new(),
        }
    }
}

/// Something that happened in a landing.
///
/// A line of 'flagpost land --json'. The same happens in a run that lands, where it is flagpost.event/1.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LandingLine<'a> {
    /// The number of the event in this landing, from 1.
    pub cursor: u64,
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub event: &'a RunEvent,
}

flagpost_core::answers! {
    "event" => EventLine<'_>,
    "landing_event" => LandingLine<'_>,
}
