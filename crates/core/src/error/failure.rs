//! What sort of failure an error is, and what to do next.
//!
//! Owns the kinds of failure, which every face tells in its own way (an exit code, a status of
//! HTTP), and the hints, which are the same in all of them. A hint never names a destructive command:
//! agents obey them.

use flagpost_disk as disk;
use flagpost_model::{Refusal, Seq, WorkerId};

use super::{ArgumentRefusal, Error};
use crate::git::GitError;

mod refusals;

/// What is not there where the directory is and its table is not.
pub(crate) const WITHOUT_TABLE: &str = "tasks.json in the directory";

/// What sort of failure it is; the number is the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
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

/// The kind of an error, and what to do next.
pub fn judge(error: &Error) -> (FailureKind, Option<String>) {
    match error {
        Error::Disk(error) => judge_disk(error),
        Error::Refused(refusal) => refusals::refusal(refusal),
        Error::KeptLate(Refusal::NotClaimed { .. }) => (
            FailureKind::Conflict,
            hint("nobody holds it: 'flagpost claim' takes it, and then say so again"),
        ),
        Error::KeptLate(refusal @ Refusal::UnknownToken { .. }) => refusals::refusal(refusal),
        Error::KeptLate(_) => (
            FailureKind::Conflict,
            hint("stop working on this task; 'flagpost show' tells who has it now"),
        ),
        Error::InvalidId(_)
        | Error::Invalid { .. }
        | Error::Arguments(ArgumentRefusal::Wrong { .. }) => (FailureKind::Invalid, None),
        Error::Arguments(_) => (FailureKind::Usage, None),
        Error::Broken { .. } => (
            FailureKind::Invalid,
            hint("nothing was imported; mend it, or import the rest with --skip-broken"),
        ),
        Error::NoneFits { .. } => (
            FailureKind::NotFound,
            hint("'flagpost list' with the same words shows what fits"),
        ),
        Error::OthersFit { .. } => (
            FailureKind::Conflict,
            hint("--dry-run shows which tasks are meant now"),
        ),
        Error::OwnFolder { .. } => (
            FailureKind::Usage,
            hint("name the source, or the list to import it into with --list"),
        ),
        Error::NotFound { what: "list", .. } => (
            FailureKind::NotFound,
            hint(
                "'flagpost add SUBJECT' makes the list with its first task; 'flagpost status' names the lists there are",
            ),
        ),
        Error::NotFound {
            what: "session", ..
        } => (
            FailureKind::NotFound,
            hint("'flagpost session list' shows those there are"),
        ),
        Error::NotFound {
            what: "timeline of session",
            ..
        } => (
            FailureKind::NotFound,
            hint(
                "its progress.jsonl tells of no times; 'flagpost session show' shows what is known",
            ),
        ),
        Error::Vanished { task, list, .. } => (
            FailureKind::NotFound,
            Some(format!(
                "'flagpost doctor --fix' brings it back; 'flagpost history --task {task} --list {list}' tells of it"
            )),
        ),
        Error::ListVanished { .. } => (
            FailureKind::NotFound,
            hint("'flagpost doctor --fix' brings it back"),
        ),
        Error::UnknownWorker { .. } | Error::NotFound { what: "worker", .. } => (
            FailureKind::NotFound,
            hint(
                "'flagpost worker list' shows the fleet, 'flagpost worker add' adds to it; a worker's own verbs take --as",
            ),
        ),
        Error::NotFound { what: "brief", .. } => (
            FailureKind::NotFound,
            hint("'flagpost inbox --briefs --all' shows those there are"),
        ),
        Error::NotFound { what: "report", .. } => (
            FailureKind::NotFound,
            hint("'flagpost outbox' shows those there are"),
        ),
        Error::NotFound {
            what: "worker that reported on pull request",
            ..
        } => (
            FailureKind::NotFound,
            hint("'flagpost relay redirect' sends a brief to a worker by name"),
        ),
        Error::NotFound { what: "file", .. } => (FailureKind::NotFound, None),
        Error::NotFound { what: "policy", .. } => (
            FailureKind::NotFound,
            hint("a policy is a policy.toml in the home; docs/relay.md shows one"),
        ),
        Error::NotFound { what: "log", .. } => (
            FailureKind::NotFound,
            hint(
                "'flagpost daemon up' starts the daemon, which keeps it; 'flagpost logs' lists what tasks' agents printed",
            ),
        ),
        Error::NotFound {
            what: "repository", ..
        } => (
            FailureKind::NotFound,
            hint("run 'flagpost init' at the top of your project"),
        ),
        Error::Gate(refusal) => refusals::gate(refusal),
        Error::Permission(refusal) => refusals::permission(refusal),
        Error::NotFound {
            what: "request", ..
        } => (
            FailureKind::NotFound,
            hint("'flagpost permission list' shows those there are"),
        ),
        Error::Landing(refusal) => refusals::landing(refusal),
        Error::Order(refusal) => refusals::order(refusal),
        Error::NotFound {
            what: "message" | "thread",
            ..
        } => (
            FailureKind::NotFound,
            hint("'flagpost msg list' shows those there are"),
        ),
        Error::Speech(refusal) => refusals::speech(refusal),
        Error::Denied(denied) => refusals::denied(denied),
        Error::Reservation(_) => (
            FailureKind::Conflict,
            hint(
                "'flagpost reserve list' shows who works on what; begin with something else, or wait",
            ),
        ),
        Error::Pattern(_) => (
            FailureKind::Invalid,
            hint("'flagpost reserve add --help' tells what can be reserved"),
        ),
        Error::NotFound {
            what: "reservation",
            ..
        } => (
            FailureKind::NotFound,
            hint("'flagpost reserve list' shows those there are"),
        ),
        Error::NotFound {
            what: "coordination directory",
            ..
        } => (
            FailureKind::NotFound,
            hint(
                "'flagpost coord leader init GOAL' makes one; --dir, or --list coord:PATH, names another",
            ),
        ),
        Error::NotFound {
            what: WITHOUT_TABLE,
            ..
        } => (
            FailureKind::NotFound,
            hint(
                "'flagpost coord leader init GOAL' makes it there; --dir, or --list coord:PATH, names another",
            ),
        ),
        Error::NotFound {
            what: "coordination task",
            ..
        } => (
            FailureKind::NotFound,
            hint("'flagpost coord leader status' shows those there are"),
        ),
        Error::Coordination(refusal) => refusals::coordination(refusal),
        Error::CoordinationLate { .. } => (
            FailureKind::Conflict,
            hint("stop working on this task; 'flagpost coord leader status' tells who has it"),
        ),
        Error::Idle { .. } => (
            FailureKind::NotFound,
            hint("'flagpost coord leader status' shows what the rest waits for"),
        ),
        Error::NothingPending { .. } => (
            FailureKind::NotFound,
            hint("'flagpost inbox --briefs --all' shows what was decided"),
        ),
        Error::NothingAsked { .. } => (
            FailureKind::NotFound,
            hint("'flagpost permission list' shows what waits"),
        ),
        Error::RuleAsks { n } => (
            FailureKind::Conflict,
            hint(&format!("'flagpost allow {n}' allows it this once")),
        ),
        Error::PolicyWithheld => (
            FailureKind::Conflict,
            hint("'flagpost policy accept' shows it and asks"),
        ),
        Error::Clock { .. } => (
            FailureKind::Invalid,
            hint("set it; 'timedatectl' tells whether it is kept by the network"),
        ),
        Error::Unseen {
            worker,
            newest,
            decision,
            ..
        } => {
            let (seq, verb) = (newest.get(), decision.verb());
            let next = format!(
                "'flagpost inbox {worker}' shows them; 'flagpost {verb} {worker} {seq}' names the newest"
            );
            (FailureKind::Conflict, Some(next))
        }
        Error::Untouched { worker, seq } => {
            let seq = seq.get();
            let next = format!("'flagpost ratify {worker} {seq}' approves it as it is");
            (FailureKind::Conflict, Some(next))
        }
        Error::NotLive { .. } => (
            FailureKind::Conflict,
            hint(
                "it is live once it asks: 'flagpost worker next' or 'flagpost worker heartbeat'; \
                 'flagpost assign' queues a brief until then",
            ),
        ),
        Error::Registered { .. } => (
            FailureKind::Conflict,
            hint("'flagpost worker heartbeat' changes what is known about it"),
        ),
        Error::Reserved { .. } => (
            FailureKind::Invalid,
            hint("give it a name of its own, as in W3"),
        ),
        Error::OpenMail { .. } => (
            FailureKind::Conflict,
            hint("'flagpost inbox --briefs' and 'flagpost outbox' show them"),
        ),
        Error::NotFound { .. } => (
            FailureKind::NotFound,
            hint("'flagpost list' shows what there is"),
        ),
        Error::UnknownKey { suggestion, .. } => {
            let all = "'flagpost config list' shows those there are";
            let meant = suggestion
                .as_ref()
                .map(|name| format!("do you mean {name}? {all}"));
            (FailureKind::NotFound, meant.or_else(|| hint(all)))
        }
        Error::Unset { name } => {
            let set = format!("'flagpost config set {name} VALUE' sets it");
            (FailureKind::NotFound, Some(set))
        }
        Error::Ambiguous { .. } => (FailureKind::Conflict, hint("type more of the id")),
        Error::NothingToUndo { .. } => (
            FailureKind::NotFound,
            hint("only your own changes of this very list can be taken back"),
        ),
        Error::ForeignList { .. } => (
            FailureKind::Conflict,
            hint(
                "'flagpost import DIR' takes its tasks over; 'flagpost doctor' names its directory",
            ),
        ),
        Error::NotInTable { .. } => (
            FailureKind::Conflict,
            hint("'flagpost cancel' and 'flagpost coord' change such a directory too"),
        ),
        Error::NothingReady { .. } => (
            FailureKind::NotFound,
            hint("'flagpost list' shows what the rest waits for"),
        ),
        Error::NoRepository { list: None, .. } => (
            FailureKind::NotFound,
            hint("run 'flagpost init' at the top of your project, or name a list with --list"),
        ),
        Error::NoRepository {
            list: Some(list), ..
        } => {
            let next = format!(
                "run 'flagpost init' at the top of the project that {list} is for, and this command there"
            );
            (FailureKind::NotFound, Some(next))
        }
        Error::LostRepository { .. } => (
            FailureKind::Invalid,
            hint("'flagpost doctor' says whose it is, and 'flagpost doctor --fix' binds it anew"),
        ),
        Error::BridgeRuns { .. } => (
            FailureKind::Conflict,
            hint("'flagpost bridge status' tells more; 'flagpost bridge send' uses it"),
        ),
        Error::NoAnswer { .. } => (
            FailureKind::TimedOut,
            hint("'flagpost bridge outbox' shows the answer once it is there"),
        ),
        Error::Slow { .. } => (
            FailureKind::TimedOut,
            hint("ask for less, or give it more time with --timeout"),
        ),
        Error::NoHome => (
            FailureKind::Failed,
            hint("set FLAGPOST_HOME to a directory of yours"),
        ),
        Error::SessionLive {
            is_unsure: true, ..
        } => (
            FailureKind::Conflict,
            hint(
                "'flagpost session show' tells what it is doing; where its program is gone, \
                 'flagpost run --force-start' moves its files aside and starts",
            ),
        ),
        Error::SessionLive { .. } => (
            FailureKind::Conflict,
            hint("'flagpost session show' tells what it is doing; wait for it to end"),
        ),
        Error::ForeignSession { .. } => (
            FailureKind::Conflict,
            hint("end it where it was started; 'flagpost session show' tells what it is doing"),
        ),
        Error::NotRunning { .. } => (
            FailureKind::Conflict,
            hint("'flagpost session show' tells what runs; 'flagpost stop' alone ends the run"),
        ),
        Error::NoConversation { task, .. } => (
            FailureKind::NotFound,
            Some(format!(
                "'flagpost logs {task}' shows what its agents said, 'flagpost open {task}' opens its worktree"
            )),
        ),
        Error::SessionIncomplete { .. } => (
            FailureKind::Conflict,
            hint("'flagpost session recover' gives its tasks back"),
        ),
        Error::NoOutput { .. } => (
            FailureKind::NotFound,
            hint("'flagpost run' begins it; a worker that runs by itself keeps its own output"),
        ),
        Error::NoAttempt { .. } => (
            FailureKind::NotFound,
            hint("'--session' names another one of 'flagpost session list'"),
        ),
        Error::NoRun { .. } => (
            FailureKind::NotFound,
            hint(
                "'flagpost run' begins one; 'flagpost session list', where it was run, shows those that ended",
            ),
        ),
        Error::NoSession { .. } => (
            FailureKind::NotFound,
            hint("'flagpost session list' shows those that ended"),
        ),
        Error::Index(_) => (
            FailureKind::Failed,
            hint("'flagpost index rebuild' makes it anew; nothing else is in it"),
        ),
        Error::NoDrawing { .. } => (FailureKind::Conflict, hint("name another file with --out")),
        Error::EditedBlock { .. } => (
            FailureKind::Conflict,
            hint("move those words out of the block with an editor, and try again"),
        ),
        Error::Git(GitError { message, .. }) if message.starts_with("cannot be run") => {
            (FailureKind::Failed, hint("is git installed, and on PATH?"))
        }
        Error::Git(GitError { message, .. }) if message.contains("could not lock config file") => (
            FailureKind::Failed,
            hint(
                "nothing was changed; the repository is known by its .git/config: make that writable for you",
            ),
        ),
        Error::Git(_) => (
            FailureKind::Failed,
            hint("'git status' tells what git makes of this directory and its owner"),
        ),
    }
}

/// What to do about a brief that is withheld: its words come before any decision on them.
pub(crate) fn shows(worker: &WorkerId, seq: Seq) -> String {
    let seq = seq.get();
    format!("'flagpost inbox {worker} {seq}' shows it, and how to settle it")
}

/// The same for a file or lock.
pub fn judge_disk(error: &disk::Error) -> (FailureKind, Option<String>) {
    match error {
        disk::Error::Busy { .. } => (
            FailureKind::TimedOut,
            hint("try again: the lock is free as soon as the process that holds it ends"),
        ),
        disk::Error::Conflict { .. } => (FailureKind::Conflict, None),
        disk::Error::Changed { .. } => (
            FailureKind::Conflict,
            hint("nothing was changed; try again"),
        ),
        disk::Error::Malformed { .. } => (
            FailureKind::Invalid,
            hint("it is left as it is; mend it with an editor"),
        ),
        disk::Error::Damaged { .. } => (
            FailureKind::Invalid,
            hint("'flagpost doctor' tells how to go on"),
        ),
        disk::Error::Linked { path } => (
            FailureKind::Invalid,
            Some(format!(
                "'ls -l {}' shows where it leads; make it a directory",
                path.display()
            )),
        ),
        disk::Error::Outside { .. } => (
            FailureKind::Invalid,
            hint("what leads out of there is not followed: put what it names in its place"),
        ),
        disk::Error::Io {
            doing,
            source,
            path,
        } => match source.kind() {
            std::io::ErrorKind::NotFound => (FailureKind::NotFound, None),
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => (
                FailureKind::Failed,
                hint("nothing was changed; make room and try again"),
            ),
            std::io::ErrorKind::FileTooLarge | std::io::ErrorKind::InvalidData => {
                (FailureKind::Invalid, None)
            }
            std::io::ErrorKind::ReadOnlyFilesystem => (
                FailureKind::Failed,
                hint("nothing was changed; the file system can only be read"),
            ),
            std::io::ErrorKind::NotADirectory => (
                FailureKind::Failed,
                Some(format!(
                    "on the way to {} a file stands in the place of a directory",
                    path.display()
                )),
            ),
            // Who could not read may have changed much before: an answer is read after the change.
            std::io::ErrorKind::PermissionDenied if *doing == "read" => (
                FailureKind::Failed,
                Some(format!("make {} readable for you", path.display())),
            ),
            std::io::ErrorKind::PermissionDenied => {
                // What is not there yet is not in the way: the directory that it would be in is.
                let parent = path.parent().filter(|_| *doing == "create");
                let place = parent.unwrap_or(path).display();
                let next = format!("nothing was changed; make {place} writable for you");
                (FailureKind::Failed, Some(next))
            }
            _ if *doing == "lock" => (
                FailureKind::Failed,
                hint("'flagpost doctor' tells what lies in the place of the lock"),
            ),
            _ => (FailureKind::Failed, None),
        },
    }
}

fn hint(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[cfg(test)]
mod tests;
