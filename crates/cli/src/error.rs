//! From an error to what a person reads and a program tests.
//!
//! Owns the kinds of failure, their exit codes, and the hint that says what to do next. A hint
//! never names a destructive command: agents obey them.

use flagpost_core as core;
use flagpost_disk as disk;
use flagpost_model::{
    InvalidId, ListId, Refusal, TaskId, coordination, decision, envelope::InvalidTicket,
    glob::InvalidGlob, id::InvalidSeq, query::Query, slash::InvalidSlash,
};
use flagpost_run as run;

/// What sort of failure it is; the number is the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It did not work.
    Failed = 1,
    /// It was asked for wrongly.
    Usage = 2,
    /// It is not there.
    NotFound = 3,
    /// Somebody else has it, or it is decided.
    Conflict = 4,
    /// It took too long.
    TimedOut = 5,
    /// The input or the data is invalid.
    Invalid = 6,
}

impl Kind {
    /// The kind as written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::TimedOut => "timed_out",
            Self::Invalid => "invalid",
        }
    }
}

/// A failure of the command line itself.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(String);

/// An error that says how the command should have been typed.
pub fn usage(text: impl Into<String>) -> anyhow::Error {
    Usage(text.into()).into()
}

/// A value that cannot be taken.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {reason}")]
pub struct Invalid {
    /// Which value.
    pub what: String,
    /// Why.
    pub reason: String,
}

/// A query that was to be acted on, and that no task fits.
#[derive(Debug, thiserror::Error)]
#[error("no task of {list} fits {query}")]
pub struct NoneFits {
    /// The list.
    pub list: ListId,
    /// The query, as it was understood.
    pub query: Query,
}

/// A word that is none of those there are.
#[derive(Debug, thiserror::Error)]
#[error("there is no {what} {given:?}")]
pub struct Unknown {
    what: &'static str,
    given: String,
    known: Vec<String>,
}

impl Unknown {
    /// What kind of thing was asked for, by which word, and which words there are.
    pub fn new<K: ToString>(
        what: &'static str,
        given: &str,
        known: impl IntoIterator<Item = K>,
    ) -> Self {
        Self {
            what,
            given: given.to_owned(),
            known: known.into_iter().map(|word| word.to_string()).collect(),
        }
    }

    /// What was probably meant, and which words there are.
    fn hint(&self) -> String {
        let rated = self
            .known
            .iter()
            .map(|word| (strsim::jaro_winkler(&self.given, word), word));
        let best = rated.max_by(|(a, _), (b, _)| a.total_cmp(b));
        let known = format!("there are {}", self.known.join(", "));
        match best {
            Some((alike, word)) if alike > ALIKE && self.known.len() > MANY => {
                format!("do you mean {word}?")
            }
            Some((alike, word)) if alike > ALIKE => format!("do you mean {word}? {known}"),
            _ => known,
        }
    }
}

/// How alike a known word must be to be what was meant, from 0 to 1.
const ALIKE: f64 = 0.75;

/// More words than these hide the one that was meant.
const MANY: usize = 12;

/// The kind of an error, and what to do next.
pub fn judge(error: &anyhow::Error) -> (Kind, Option<String>) {
    for cause in error.chain() {
        if let Some(error) = cause.downcast_ref::<core::Error>() {
            return judge_core(error);
        }
        if let Some(error) = cause.downcast_ref::<disk::Error>() {
            return judge_disk(error);
        }
        if let Some(error) = cause.downcast_ref::<run::Error>() {
            return judge_run(error);
        }
        if let Some(unknown) = cause.downcast_ref::<Unknown>() {
            let hint = unknown.hint();
            return (
                Kind::NotFound,
                Some(hint).filter(|_| !unknown.known.is_empty()),
            );
        }
        if cause.is::<Usage>() {
            return (Kind::Usage, hint("flagpost --help shows how"));
        }
        if cause.is::<NoneFits>() {
            return (
                Kind::NotFound,
                hint("'flagpost list' with the same words shows what fits"),
            );
        }
        if let Some(error) = cause.downcast_ref::<std::io::Error>() {
            return judge_io(error);
        }
        let is_bad_word = cause.is::<InvalidId>()
            || cause.is::<InvalidSeq>()
            || cause.is::<InvalidTicket>()
            || cause.is::<InvalidGlob>()
            || cause.is::<InvalidSlash>();
        if is_bad_word || cause.is::<Invalid>() || cause.is::<std::num::ParseIntError>() {
            return (Kind::Invalid, None);
        }
    }
    (Kind::Failed, None)
}

/// A file that the user named.
fn judge_io(error: &std::io::Error) -> (Kind, Option<String>) {
    match error.kind() {
        std::io::ErrorKind::NotFound => (Kind::NotFound, None),
        std::io::ErrorKind::IsADirectory => (Kind::Invalid, hint("name a file")),
        _ => (Kind::Failed, None),
    }
}

/// What to type instead of an unknown verb that some group has.
pub fn known_elsewhere(error: &clap::Error) -> Option<String> {
    let unknown = error
        .get(clap::error::ContextKind::InvalidSubcommand)?
        .to_string();
    // Whoever typed it under the wrong group may mean to remove something else.
    if unknown == "rm" {
        return None;
    }
    let program = <crate::args::Args as clap::CommandFactory>::command();
    // A verb of every day is typed without its group.
    let path = match program.find_subcommand(&unknown) {
        Some(own) => own.get_name().to_owned(),
        None => path_of(&program, &unknown)?,
    };
    Some(format!("'flagpost {path}' is what it is called"))
}

/// The words that lead to a verb, the shortest way.
fn path_of(group: &clap::Command, verb: &str) -> Option<String> {
    let found = |below: &clap::Command| {
        let rest = match below.find_subcommand(verb) {
            Some(known) => known.get_name().to_owned(),
            None => path_of(below, verb)?,
        };
        Some(format!("{} {rest}", below.get_name()))
    };
    let paths = group.get_subcommands().filter_map(found);
    paths.min_by_key(|path| path.split(' ').count())
}

fn judge_core(error: &core::Error) -> (Kind, Option<String>) {
    match error {
        core::Error::Disk(error) => judge_disk(error),
        core::Error::Refused(refusal) => judge_refusal(refusal),
        core::Error::KeptLate(Refusal::NotClaimed { .. }) => (
            Kind::Conflict,
            hint("nobody holds it: 'flagpost claim' takes it, and then say so again"),
        ),
        core::Error::KeptLate(_) => (
            Kind::Conflict,
            hint("stop working on this task; 'flagpost show' tells who has it now"),
        ),
        core::Error::InvalidId(_) | core::Error::Invalid { .. } => (Kind::Invalid, None),
        core::Error::Broken { .. } => (
            Kind::Invalid,
            hint("nothing was imported; mend it, or import the rest with --skip-broken"),
        ),
        core::Error::NotFound { what: "list", .. } => (
            Kind::NotFound,
            hint(
                "'flagpost add SUBJECT' makes the list with its first task; 'flagpost status' names the lists there are",
            ),
        ),
        core::Error::NotFound {
            what: "session", ..
        } => (
            Kind::NotFound,
            hint("'flagpost session list' shows those there are"),
        ),
        core::Error::NotFound {
            what: "timeline of session",
            ..
        } => (
            Kind::NotFound,
            hint(
                "its progress.jsonl tells of no times; 'flagpost session show' shows what is known",
            ),
        ),
        core::Error::NotFound { what: "worker", .. } => (
            Kind::NotFound,
            hint(
                "'flagpost worker list' shows the fleet, 'flagpost worker add' adds to it; a worker's own verbs take --as",
            ),
        ),
        core::Error::NotFound { what: "brief", .. } => (
            Kind::NotFound,
            hint("'flagpost inbox --all' shows those there are"),
        ),
        core::Error::NotFound { what: "report", .. } => (
            Kind::NotFound,
            hint("'flagpost outbox' shows those there are"),
        ),
        core::Error::NotFound {
            what: "worker that reported on pull request",
            ..
        } => (
            Kind::NotFound,
            hint("'flagpost relay redirect' sends a brief to a worker by name"),
        ),
        core::Error::NotFound {
            what: "coordination directory",
            ..
        } => (
            Kind::NotFound,
            hint("'flagpost coord leader init GOAL' makes one; --dir names another"),
        ),
        core::Error::NotFound {
            what: "task of the table",
            ..
        } => (
            Kind::NotFound,
            hint("'flagpost coord leader status' shows those there are"),
        ),
        core::Error::Coordination(refusal) => judge_coordination(refusal),
        core::Error::CoordinationLate { .. } => (
            Kind::Conflict,
            hint("stop working on this task; 'flagpost coord leader status' tells who has it"),
        ),
        core::Error::Idle { .. } => (
            Kind::NotFound,
            hint("'flagpost coord leader status' shows what the rest waits for"),
        ),
        core::Error::NotFound { what: "file", .. } => (Kind::NotFound, None),
        core::Error::Gate(refusal) => judge_gate(refusal),
        core::Error::NothingPending { .. } => (
            Kind::NotFound,
            hint("'flagpost inbox --all' shows what was decided"),
        ),
        core::Error::NotLive { .. } => (
            Kind::Conflict,
            hint("it is live once it asks: 'flagpost worker next' or 'flagpost worker heartbeat'"),
        ),
        core::Error::Registered { .. } => (
            Kind::Conflict,
            hint("'flagpost worker heartbeat' changes what is known about it"),
        ),
        core::Error::OpenMail { .. } => (
            Kind::Conflict,
            hint("'flagpost inbox' and 'flagpost outbox' show them"),
        ),
        core::Error::NotFound { .. } => {
            (Kind::NotFound, hint("'flagpost list' shows what there is"))
        }
        core::Error::UnknownKey { suggestion, .. } => {
            let all = "'flagpost config list' shows those there are";
            let meant = suggestion
                .as_ref()
                .map(|name| format!("do you mean {name}? {all}"));
            (Kind::NotFound, meant.or_else(|| hint(all)))
        }
        core::Error::Unset { name } => {
            let set = format!("'flagpost config set {name} VALUE' sets it");
            (Kind::NotFound, Some(set))
        }
        core::Error::Ambiguous { .. } => (Kind::Conflict, hint("type more of the id")),
        core::Error::NothingToUndo { .. } => (
            Kind::NotFound,
            hint("only your own changes of this very list can be taken back"),
        ),
        core::Error::NothingReady { .. } => (
            Kind::NotFound,
            hint("'flagpost list' shows what the rest waits for"),
        ),
        core::Error::NoRepository { .. } => (
            Kind::NotFound,
            hint("run 'flagpost init' at the top of your project, or name a list with --list"),
        ),
        core::Error::LostRepository { .. } => (
            Kind::Invalid,
            hint("'flagpost doctor' says whose it is, and 'flagpost doctor --fix' binds it anew"),
        ),
        core::Error::NoHome => (
            Kind::Failed,
            hint("set FLAGPOST_HOME to a directory of yours"),
        ),
        core::Error::SessionLive { .. } => (
            Kind::Conflict,
            hint("'flagpost session show' tells what it is doing; wait for it to end"),
        ),
        core::Error::SessionIncomplete { .. } => (
            Kind::Conflict,
            hint("'flagpost session recover' gives its tasks back"),
        ),
        core::Error::NoSession { .. } => (
            Kind::NotFound,
            hint("'flagpost session list' shows those that ended"),
        ),
        core::Error::NoDrawing { .. } => (Kind::Conflict, hint("name another file with --out")),
        core::Error::EditedBlock { .. } => (
            Kind::Conflict,
            hint("move those words out of the block with an editor, and try again"),
        ),
        core::Error::Git { message, .. } if message.starts_with("cannot be run") => {
            (Kind::Failed, hint("is git installed, and on PATH?"))
        }
        core::Error::Git { .. } => (
            Kind::Failed,
            hint("'git status' tells what git makes of this directory and its owner"),
        ),
    }
}

fn judge_run(error: &run::Error) -> (Kind, Option<String>) {
    match error {
        run::Error::Core(error) => judge_core(error),
        run::Error::Disk(error) => judge_disk(error),
        run::Error::AgentCommand { .. } => (
            Kind::Usage,
            hint("quote it as for a shell: --agent \"sh agent.sh\""),
        ),
        run::Error::AgentMissing { .. } => (
            Kind::NotFound,
            hint("install it, or name another command with --agent"),
        ),
        run::Error::NothingToRun { .. } => (
            Kind::NotFound,
            hint("'flagpost add SUBJECT' or 'flagpost task import PLAN.md' gives it some"),
        ),
        run::Error::Worktree(_) => (
            Kind::Failed,
            hint("run without --worktrees, or mend the repository"),
        ),
        run::Error::Process { .. } => (Kind::Failed, None),
    }
}

fn judge_gate(refusal: &decision::Refusal) -> (Kind, Option<String>) {
    let next = match refusal {
        decision::Refusal::Decided { .. } => {
            hint("the first decision stands; 'flagpost relay redirect' sends another brief")
        }
        decision::Refusal::Expired { .. } => hint("'flagpost assign' proposes it anew"),
        decision::Refusal::Undecided { .. } => hint("'flagpost worker next' shows what is decided"),
        decision::Refusal::Changed { .. } => hint("'flagpost inbox' shows how it is now"),
    };
    (Kind::Conflict, next)
}

fn judge_coordination(refusal: &coordination::Refusal) -> (Kind, Option<String>) {
    let next = match refusal {
        coordination::Refusal::Held { .. } | coordination::Refusal::Rests { .. } => {
            hint("'flagpost coord worker claim' gives you another task")
        }
        coordination::Refusal::AlreadyYours { .. } => hint("go on with it"),
        coordination::Refusal::Stale { .. } => {
            hint("your claim is over; 'flagpost coord worker claim' asks for a new one")
        }
        coordination::Refusal::NotClaimed { .. } => {
            hint("'flagpost coord worker claim' takes it first")
        }
        coordination::Refusal::WrongStatus {
            status: coordination::Status::Done,
            ..
        } => hint("'flagpost coord leader add-task' adds what is left to do"),
        coordination::Refusal::WrongStatus { .. } => {
            hint("'flagpost coord leader retry' makes a task available that did not end well")
        }
        coordination::Refusal::Waits { .. } => {
            hint("'flagpost coord worker list' shows what can be claimed now")
        }
        coordination::Refusal::Incapable { .. } => {
            hint("'flagpost coord register --can' says what you can do")
        }
        coordination::Refusal::Taken { .. } => hint("leave the id out, and it gets one"),
        coordination::Refusal::Cycle { .. } | coordination::Refusal::Unknown { .. } => {
            return (
                Kind::Invalid,
                hint("'flagpost coord leader status' shows what there is"),
            );
        }
    };
    (Kind::Conflict, next)
}

fn judge_refusal(refusal: &Refusal) -> (Kind, Option<String>) {
    let next = match refusal {
        Refusal::Held { .. } => hint("'flagpost claim --next' gives you another task"),
        Refusal::AlreadyYours { .. } => hint(
            "go on with it; 'flagpost task renew' extends the lease, 'flagpost task release' gives it back",
        ),
        Refusal::StaleToken { .. } => {
            hint("your claim is over; 'flagpost claim' asks for a new one")
        }
        Refusal::NotClaimed { .. } => hint("'flagpost claim' takes it first"),
        Refusal::WrongState {
            wanted: "reopened", ..
        } => hint("'flagpost show' tells where it is"),
        Refusal::WrongState { .. } => {
            hint("'flagpost task reopen' makes it pending again, if that is what you want")
        }
        Refusal::OpenParts { .. } => {
            hint("finish them first, or say --force if they do not matter")
        }
        Refusal::Tied { .. } => hint("move them together, or say --cut to leave them behind"),
        Refusal::UidTaken { .. } => hint("'flagpost task edit' changes that task"),
        Refusal::TimerRuns { .. } => hint("'flagpost task timer show' names the timers that run"),
        Refusal::NoTimer { .. } => hint("'flagpost task timer start' starts one"),
        Refusal::BuiltOn { .. } => {
            hint("'flagpost show' tells how it is now; change it with 'flagpost task edit'")
        }
        Refusal::Relocated { tasks, from, to } => {
            let ids: Vec<&str> = tasks.iter().map(TaskId::as_str).collect();
            let ids = ids.join(",");
            Some(format!(
                "move them back: flagpost task move {ids} --list {to} --to {from}"
            ))
        }
        Refusal::PartOfItself { .. } | Refusal::UnknownParent { .. } => {
            return (Kind::Invalid, hint("'flagpost list' shows what there is"));
        }
        Refusal::Blocked { .. } => hint("'flagpost ready' shows what can begin now"),
        Refusal::Cycle { .. } | Refusal::UnknownBlocker { .. } => {
            return (
                Kind::Invalid,
                hint("'flagpost task graph' shows what waits for what"),
            );
        }
    };
    (Kind::Conflict, next)
}

fn judge_disk(error: &disk::Error) -> (Kind, Option<String>) {
    match error {
        disk::Error::Busy { .. } => (
            Kind::TimedOut,
            hint("try again: the lock is free as soon as that process ends"),
        ),
        disk::Error::Conflict { .. } => (Kind::Conflict, None),
        disk::Error::Changed { .. } => (Kind::Conflict, hint("nothing was changed; try again")),
        disk::Error::Malformed { .. } => (
            Kind::Invalid,
            hint("it is left as it is; mend it with an editor"),
        ),
        disk::Error::Outside { .. } => (Kind::Invalid, None),
        disk::Error::Io { source, path, .. } => match source.kind() {
            std::io::ErrorKind::NotFound => (Kind::NotFound, None),
            std::io::ErrorKind::StorageFull => (
                Kind::Failed,
                hint("nothing was changed; make room and try again"),
            ),
            std::io::ErrorKind::FileTooLarge | std::io::ErrorKind::InvalidData => {
                (Kind::Invalid, None)
            }
            std::io::ErrorKind::ReadOnlyFilesystem => (
                Kind::Failed,
                hint("nothing was changed; the file system can only be read"),
            ),
            std::io::ErrorKind::NotADirectory => (
                Kind::Failed,
                Some(format!(
                    "on the way to {} a file stands in the place of a directory",
                    path.display()
                )),
            ),
            std::io::ErrorKind::PermissionDenied => (
                Kind::Failed,
                Some(format!(
                    "nothing was changed; make {} writable for you",
                    path.display()
                )),
            ),
            _ => (Kind::Failed, None),
        },
    }
}

fn hint(text: &str) -> Option<String> {
    Some(text.to_owned())
}
