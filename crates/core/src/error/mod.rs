//! What an operation can answer instead of doing its work.
//!
//! Owns the errors and what refuses, the sort of failure that each is, and what to do next. It knows nothing of
//! who does the work.

mod arguments;
mod failure;
mod landing;
mod order;

use std::{collections::BTreeSet, path::PathBuf};

use flagpost_disk as disk;
use flagpost_model::{
    InvalidId, ListRef, Refusal, RepoId, Seq, TaskId, WorkerId, coordination,
    decision::{self, Decision},
    intake::Broken,
    message, permission, reservation,
};
use jiff::Timestamp;

pub use arguments::ArgumentRefusal;
pub use failure::{FailureKind, judge, judge_disk};
pub(crate) use failure::{WITHOUT_TABLE, shows};
pub use landing::LandingRefusal;
pub use order::OrderRefusal;

use crate::{access::Denied, git::GitError};

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure that a face can turn into a sentence and an exit code.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or lock failed.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// A rule said no; nothing changed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A rule said no, and what the caller reported was kept as a late result.
    #[error("{0}; what you reported is kept as a late result")]
    KeptLate(Refusal),
    /// A change of a shared repository did not become the next one.
    #[error(transparent)]
    Order(#[from] OrderRefusal),
    /// A rule of the relay said no; nothing changed.
    #[error(transparent)]
    Gate(#[from] decision::DecisionRefusal),
    /// A rule of permissions said no; nothing changed.
    #[error(transparent)]
    Permission(#[from] permission::PermissionRefusal),
    /// Nothing can be landed so.
    #[error(transparent)]
    Landing(#[from] LandingRefusal),
    /// `git` failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A rule of messages said no; nothing changed.
    #[error(transparent)]
    Speech(#[from] message::MessageRefusal),
    /// An agent asked for what is the operator's.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// What was said does not fit the operation.
    #[error(transparent)]
    Arguments(#[from] ArgumentRefusal),
    /// Somebody else works on the files.
    #[error(transparent)]
    Reservation(#[from] reservation::ReservationConflict),
    /// What cannot be reserved.
    #[error(transparent)]
    Pattern(#[from] reservation::InvalidPattern),
    /// A rule of the coordination directory said no; nothing changed.
    #[error(transparent)]
    Coordination(#[from] coordination::CoordRefusal),
    /// The same, and what the worker said was kept.
    #[error("{refusal}; what you said is kept in {}", path.display())]
    CoordinationLate {
        /// Why not.
        refusal: coordination::CoordRefusal,
        /// Where it is kept.
        path: PathBuf,
    },
    /// A coordination directory has nothing for the worker now.
    #[error("there is no task for {worker} now: {idle}")]
    Idle {
        /// Who asked.
        worker: WorkerId,
        /// What there is instead.
        idle: coordination::Idle,
    },
    /// Nothing of the worker's waits for a decision.
    #[error("no brief of {worker} waits for a decision")]
    NothingPending {
        /// Whose inbox.
        worker: WorkerId,
    },
    /// No request of the worker's waits for a decision.
    #[error("{worker} waits for no permission")]
    NothingAsked {
        /// Who.
        worker: WorkerId,
    },
    /// A rule has the operator asked whatever another allows.
    #[error(
        "the policy says under [[ask]] that you are asked about request {n}, whatever a rule allows"
    )]
    RuleAsks {
        /// Which request.
        n: u64,
    },
    /// The policy says what nobody accepted, and is not to be accepted along with something else.
    #[error("the policy is not as the operator accepted it")]
    PolicyWithheld,
    /// Nothing can be made from what the clock says.
    #[error("the clock of this machine says {now:.0}: Flagpost counts from 1970 to 9998")]
    Clock {
        /// What it says, as far as that can be said.
        now: Timestamp,
    },
    /// The operator would decide on what the operator has not seen.
    #[error("{waiting} {} of {worker} {}, and {unseen} came since you looked", briefs(*waiting), if *waiting == 1 { "waits" } else { "wait" })]
    Unseen {
        /// Whose inbox.
        worker: WorkerId,
        /// How many wait.
        waiting: usize,
        /// How many of them the operator was not shown.
        unseen: usize,
        /// The newest of them.
        newest: Seq,
        /// What was to be decided on it.
        decision: Decision,
    },
    /// An editor was left, and the text is as it was.
    #[error("brief {seq} of {worker} is as it was: nothing was decided")]
    Untouched {
        /// Whose inbox.
        worker: WorkerId,
        /// Which one.
        seq: flagpost_model::Seq,
    },
    /// Nobody is there to do the work.
    #[error("worker {worker} is not live: {}, and no process of it runs", last_sign(*last_seen))]
    NotLive {
        /// Who.
        worker: WorkerId,
        /// Its last sign of life.
        last_seen: Option<Timestamp>,
    },
    /// The worker belongs to the fleet already.
    #[error("worker {worker} is registered already")]
    Registered {
        /// Who.
        worker: WorkerId,
    },
    /// No worker may be called so.
    #[error("no worker is called {worker}: {why}")]
    Reserved {
        /// The name.
        worker: WorkerId,
        /// What it means instead.
        why: &'static str,
    },
    /// The worker's mail holds what nobody has dealt with yet.
    #[error("nobody has decided on, or read, {open} of the messages of {worker}")]
    OpenMail {
        /// Who.
        worker: WorkerId,
        /// How many.
        open: usize,
    },
    /// A query that was to be acted on, and that no task fits.
    #[error("no task of {list} fits {query}")]
    NoneFits {
        /// The list.
        list: ListRef,
        /// The query, as it was understood.
        query: String,
    },
    /// Somebody agreed to change the tasks that fit a query, and then others did.
    #[error("other tasks of {list} fit {query} now than when you were asked; nothing was changed")]
    OthersFit {
        /// The list.
        list: ListRef,
        /// The query, as it was understood.
        query: String,
    },
    /// A list's own directory was to be imported into it.
    #[error("{} is the list {list} itself: what is there are its tasks already", dir.display())]
    OwnFolder {
        /// The list.
        list: ListRef,
        /// The directory, as it was named.
        dir: PathBuf,
    },
    /// The text is no id.
    #[error(transparent)]
    InvalidId(#[from] InvalidId),
    /// There is no such thing.
    #[error("there is no {what} {id}{}", in_list(list.as_ref()))]
    NotFound {
        /// What kind of thing.
        what: &'static str,
        /// As it was asked for.
        id: String,
        /// Where it was looked for.
        list: Option<ListRef>,
    },
    /// Another program took the task's file away, or emptied it.
    #[error("task {task} in list {list}, '{subject}', was {state} when another program took its file away or emptied it", state = state.as_str())]
    Vanished {
        /// Which.
        task: TaskId,
        /// Of which list.
        list: ListRef,
        /// What was to be done.
        subject: String,
        /// The state that the history last tells of.
        state: flagpost_model::task::StateName,
    },
    /// Another program took the list away as a whole.
    #[error("another program took list {list} away, in which Flagpost had {} task{}", tasks.len(), if tasks.len() == 1 { "" } else { "s" })]
    ListVanished {
        /// Which.
        list: ListRef,
        /// Those of its tasks that the history lately tells of.
        tasks: BTreeSet<TaskId>,
        /// The repository whose history that is.
        by: RepoId,
    },
    /// Nobody in the fleet has this name.
    #[error("there is no worker {worker}; there {}", those(known))]
    UnknownWorker {
        /// The name.
        worker: WorkerId,
        /// Those there are.
        known: Vec<WorkerId>,
    },
    /// A partial id fits several things.
    #[error("{given} could be any of {}", candidates.join(", "))]
    Ambiguous {
        /// What was given.
        given: String,
        /// What it fits.
        candidates: Vec<String>,
    },
    /// No task of the list can be claimed now.
    #[error("no task of {list} is ready")]
    NothingReady {
        /// The list.
        list: ListRef,
    },
    /// A list of another program's whose name no list of ours can have.
    #[error("{list} can be read and not changed: no list of ours could be called that")]
    ForeignList {
        /// The list.
        list: ListRef,
    },
    /// What a list's files can do and a table's rows cannot.
    #[error("{list} is a coordination directory: {cannot}")]
    NotInTable {
        /// The list.
        list: ListRef,
        /// What cannot be.
        cannot: &'static str,
    },
    /// The actor changed nothing in the list that is not taken back yet.
    #[error("{actor} changed nothing in {list} that could be taken back")]
    NothingToUndo {
        /// Who asks.
        actor: WorkerId,
        /// The list.
        list: ListRef,
    },
    /// The directory belongs to no repository that Flagpost knows.
    #[error("{} is in no repository that Flagpost knows", dir.display())]
    NoRepository {
        /// Where we stand.
        dir: PathBuf,
        /// The list that was named, which does not tell of any.
        list: Option<ListRef>,
    },
    /// What says whose history records the list names no repository that has one.
    #[error("{list} is bound to a repository that has no history here")]
    LostRepository {
        /// The list.
        list: ListRef,
    },
    /// Neither `$FLAGPOST_HOME` nor `$HOME` says where the home is.
    #[error("there is no home: neither $FLAGPOST_HOME nor $HOME is set")]
    NoHome,
    /// A session holds the repository.
    #[error("session {session} is running{}", holder.as_ref().map(|h| format!(" ({h})")).unwrap_or_default())]
    SessionLive {
        /// Its id, as its lock says.
        session: String,
        /// Who holds it.
        holder: Option<String>,
        /// Only the age of its lock says so: nobody can be asked.
        is_unsure: bool,
    },
    /// The session in the live directory did not come to its end, so it cannot be archived.
    #[error("session {session} died before it was complete")]
    SessionIncomplete {
        /// Its id, as its lock says.
        session: String,
    },
    /// Another program runs the session and does not look for what is asked of it.
    #[error("session {session} is run by another program, which cannot be asked to stop")]
    ForeignSession {
        /// Its id, as its lock says.
        session: String,
    },
    /// Nobody works on the task in the session that runs.
    #[error("task {task} does not run in session {session}")]
    NotRunning {
        /// The task.
        task: flagpost_model::TaskId,
        /// The session that runs.
        session: String,
    },
    /// A person cannot go on with an agent's conversation.
    #[error("no conversation about task {task} can be taken up: {why}")]
    NoConversation {
        /// The task.
        task: flagpost_model::TaskId,
        /// What stands in the way.
        why: String,
    },
    /// No run is under way where one was looked for.
    #[error("no run is under way {place}")]
    NoRun {
        /// Where: "in web", or "for list web, in any repository".
        place: String,
    },
    /// There is no session to act on.
    #[error("no session is in {}", dir.display())]
    NoSession {
        /// Where one would be.
        dir: PathBuf,
    },
    /// No agent of ours has begun the task in a session that is kept.
    #[error(
        "there is no output of task {task}: {}",
        session.as_ref().map_or("no run has begun it".to_owned(), |it| format!("session {it} has not"))
    )]
    NoOutput {
        /// Which task.
        task: TaskId,
        /// The session that was meant, where one was.
        session: Option<String>,
    },
    /// The task was begun, and not so often, or not in this session.
    #[error(
        "task {task} has no attempt {attempt} in session {session}, which has {}",
        numbers(known)
    )]
    NoAttempt {
        /// Which task.
        task: TaskId,
        /// Where it was looked for.
        session: String,
        /// Which attempt was asked for.
        attempt: u32,
        /// Those there are.
        known: Vec<u32>,
    },
    /// A drawing would replace something that is no drawing of ours.
    #[error("{} exists and is no drawing of flagpost's; it is left as it is", path.display())]
    NoDrawing {
        /// Where.
        path: PathBuf,
    },
    /// Somebody wrote between the markers of our block in a file of the repository.
    #[error("somebody changed the flagpost block in line {line} of {file}, which stays as it is")]
    EditedBlock {
        /// The file, from the top of the repository.
        file: String,
        /// The line that the block begins in.
        line: usize,
    },
    /// A part of what is to be imported cannot be understood; nothing was imported.
    #[error("{name}: {}", listed(broken))]
    Broken {
        /// The source.
        name: String,
        /// What is wrong with it.
        broken: Vec<Broken>,
    },
    /// There is no such setting.
    #[error("there is no setting {name}")]
    UnknownKey {
        /// As it was asked for.
        name: String,
        /// What may be meant.
        suggestion: Option<String>,
    },
    /// Nobody gave the setting a value, and it has no default.
    #[error("{name} is not set")]
    Unset {
        /// The setting.
        name: String,
    },
    /// SQLite failed, on the disk and in memory.
    #[error("the index cannot be used")]
    Index(#[from] rusqlite::Error),
    /// Somebody else processes the bridge's inbox.
    #[error("the bridge runs already, as process {pid}")]
    BridgeRuns {
        /// Its process; 0 where it did not say.
        pid: u32,
    },
    /// Nobody answered a command in time; it may still be carried out.
    #[error("nobody answered command {id} within {:.1} s; it may still be carried out", waited.as_secs_f32())]
    NoAnswer {
        /// The command.
        id: String,
        /// How long it was waited for.
        waited: std::time::Duration,
    },
    /// A question took longer than it may.
    #[error("the question took longer than {:.1} s", limit.as_secs_f32())]
    Slow {
        /// How long it may take.
        limit: std::time::Duration,
    },
    /// A value that cannot be taken.
    #[error("{what}: {reason}")]
    Invalid {
        /// Which value.
        what: String,
        /// Why.
        reason: String,
    },
}

/// An error with the system's own word for it.
pub fn describe(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        if !text.contains(&cause.to_string()) {
            text += &format!(": {cause}");
        }
        source = cause.source();
    }
    text
}

fn listed(broken: &[Broken]) -> String {
    let each = broken
        .iter()
        .map(|it| format!("{}: {}", it.place, it.reason));
    match broken {
        [_] => each.collect(),
        several => {
            let lines: Vec<String> = each.collect();
            format!("{} faults\n  {}", several.len(), lines.join("\n  "))
        }
    }
}

fn last_sign(last_seen: Option<Timestamp>) -> String {
    match last_seen {
        Some(at) => format!("its last sign of life was at {at:.0}"),
        None => "it has given no sign of life yet".to_owned(),
    }
}

fn those(known: &[WorkerId]) -> String {
    let names: Vec<&str> = known.iter().map(WorkerId::as_str).collect();
    match names.as_slice() {
        [] => "is none yet".to_owned(),
        [one] => format!("is {one}"),
        _ => format!("are {}", names.join(", ")),
    }
}

fn numbers(known: &[u32]) -> String {
    let known: Vec<String> = known.iter().map(u32::to_string).collect();
    known.join(", ")
}

fn in_list(list: Option<&ListRef>) -> String {
    list.map(|list| format!(" in list {list}"))
        .unwrap_or_default()
}

fn briefs(count: usize) -> &'static str {
    if count == 1 { "brief" } else { "briefs" }
}
