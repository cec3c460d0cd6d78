//! What sort of failure an error is, and what to do next.
//!
//! Owns the kinds of failure, which every face tells in its own way (an exit code, a status of
//! HTTP), and the hints, which are the same in all of them. A hint never names a destructive command:
//! agents obey them.

use flagpost_disk as disk;
use flagpost_model::{Refusal, Seq, TaskId, WorkerId, coordination, decision, message};

use crate::{
    error::Error,
    operations::{Denied, Operation},
};

/// What sort of failure it is; the number is the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

impl FailureKind {
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

/// The kind of an error, and what to do next.
pub fn judge(error: &Error) -> (FailureKind, Option<String>) {
    match error {
        Error::Disk(error) => judge_disk(error),
        Error::Refused(refusal) => judge_refusal(refusal),
        Error::KeptLate(Refusal::NotClaimed { .. }) => (
            FailureKind::Conflict,
            hint("nobody holds it: 'flagpost claim' takes it, and then say so again"),
        ),
        Error::KeptLate(refusal @ Refusal::UnknownToken { .. }) => judge_refusal(refusal),
        Error::KeptLate(_) => (
            FailureKind::Conflict,
            hint("stop working on this task; 'flagpost show' tells who has it now"),
        ),
        Error::InvalidId(_) | Error::Invalid { .. } => (FailureKind::Invalid, None),
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
        Error::UnknownWorker { .. } | Error::NotFound { what: "worker", .. } => (
            FailureKind::NotFound,
            hint(
                "'flagpost worker list' shows the fleet, 'flagpost worker add' adds to it; a worker's own verbs take --as",
            ),
        ),
        Error::NotFound { what: "brief", .. } => (
            FailureKind::NotFound,
            hint("'flagpost inbox --all' shows those there are"),
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
        Error::NotFound { what: "log", .. } => (
            FailureKind::NotFound,
            hint(
                "'flagpost up' starts the daemon, which keeps it; 'flagpost logs TASK' is what a task's agent printed",
            ),
        ),
        Error::NotFound {
            what: "repository", ..
        } => (
            FailureKind::NotFound,
            hint("run 'flagpost init' at the top of your project"),
        ),
        Error::Gate(refusal) => judge_gate(refusal),
        Error::NotFound {
            what: "message" | "thread",
            ..
        } => (
            FailureKind::NotFound,
            hint("'flagpost msg list' shows those there are"),
        ),
        Error::Speech(refusal) => judge_speech(refusal),
        Error::Denied(denied) => judge_denied(denied),
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
            what: crate::coordination::WITHOUT_TABLE,
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
        Error::Coordination(refusal) => judge_coordination(refusal),
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
            hint("'flagpost inbox --all' shows what was decided"),
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
            let next = format!("'flagpost ratify {worker} {seq}' lets it through as it is");
            (FailureKind::Conflict, Some(next))
        }
        Error::NotLive { .. } => (
            FailureKind::Conflict,
            hint("it is live once it asks: 'flagpost worker next' or 'flagpost worker heartbeat'"),
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
            hint("'flagpost inbox' and 'flagpost outbox' show them"),
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
                "'flagpost task import DIR' takes its tasks over; 'flagpost doctor' names its directory",
            ),
        ),
        Error::NotInTable { .. } => (
            FailureKind::Conflict,
            hint("'flagpost task cancel' and 'flagpost coord' change such a directory too"),
        ),
        Error::NothingReady { .. } => (
            FailureKind::NotFound,
            hint("'flagpost list' shows what the rest waits for"),
        ),
        Error::NoRepository { .. } => (
            FailureKind::NotFound,
            hint("run 'flagpost init' at the top of your project, or name a list with --list"),
        ),
        Error::LostRepository { .. } => (
            FailureKind::Invalid,
            hint("'flagpost doctor' says whose it is, and 'flagpost doctor --fix' binds it anew"),
        ),
        Error::BridgeRuns { .. } => (
            FailureKind::Conflict,
            hint("'flagpost agent status' tells more; 'flagpost agent send' uses it"),
        ),
        Error::NoAnswer { .. } => (
            FailureKind::TimedOut,
            hint("'flagpost agent outbox' shows the answer once it is there"),
        ),
        Error::Slow { .. } => (
            FailureKind::TimedOut,
            hint("ask for less, or give it more time with --timeout"),
        ),
        Error::NoHome => (
            FailureKind::Failed,
            hint("set FLAGPOST_HOME to a directory of yours"),
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
            hint("'flagpost session list', where it was run, shows the sessions that ended"),
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
        Error::Git { message, .. } if message.starts_with("cannot be run") => {
            (FailureKind::Failed, hint("is git installed, and on PATH?"))
        }
        Error::Git { message, .. } if message.contains("could not lock config file") => (
            FailureKind::Failed,
            hint(
                "nothing was changed; the repository is known by its .git/config: make that writable for you",
            ),
        ),
        Error::Git { .. } => (
            FailureKind::Failed,
            hint("'git status' tells what git makes of this directory and its owner"),
        ),
    }
}

fn judge_gate(refusal: &decision::DecisionRefusal) -> (FailureKind, Option<String>) {
    let next = match refusal {
        decision::DecisionRefusal::Decided { .. } => {
            hint("the first decision stands; 'flagpost relay redirect' sends another brief")
        }
        decision::DecisionRefusal::Expired { .. } => hint("'flagpost assign' proposes it anew"),
        decision::DecisionRefusal::Undecided { .. } => {
            hint("'flagpost worker next' shows what is decided")
        }
        decision::DecisionRefusal::Withdrawn { .. } => {
            hint("'flagpost msg recv' gives out what is still wanted")
        }
        decision::DecisionRefusal::Unacknowledged { worker, seq, .. } => Some(format!(
            "do nothing that it says; 'flagpost stuck' asks a person, to whom 'flagpost inbox {worker} {}' shows it",
            seq.get()
        )),
        decision::DecisionRefusal::Changed { worker, seq, .. } => Some(format!(
            "'flagpost inbox {worker} {}' shows how it is now",
            seq.get()
        )),
        decision::DecisionRefusal::Withheld { worker, seq, .. }
        | decision::DecisionRefusal::Foreign { worker, seq } => Some(shows(worker, *seq)),
    };
    (FailureKind::Conflict, next)
}

/// What to do about a brief that is withheld: its words come before any decision on them.
pub(crate) fn shows(worker: &WorkerId, seq: Seq) -> String {
    let seq = seq.get();
    format!("'flagpost inbox {worker} {seq}' shows it, and how to settle it")
}

/// The kind of a refusal to let an agent do what is the operator's, and what the agent can do instead.
fn judge_denied(denied: &Denied) -> (FailureKind, Option<String>) {
    let next = match denied.operation {
        Operation::BriefRatify | Operation::BriefReject | Operation::BriefEdit => {
            hint("'flagpost inbox' shows what waits for the operator")
        }
        Operation::TaskAnswer => {
            hint("'flagpost stuck' asks one; the operator answers in a terminal of their own")
        }
        Operation::RunStop | Operation::TaskTake => {
            hint("'flagpost task release' gives your own task back; 'flagpost stuck' asks a person")
        }
        Operation::TaskRemove => hint("'flagpost task cancel' says that it is not wanted"),
        Operation::WorkerAdd | Operation::WorkerRemove => {
            hint("an agent joins and leaves by itself: $FLAGPOST_WORKER, or --as, says who it is")
        }
        _ => hint("'flagpost stuck' asks a person, who does it in a terminal of their own"),
    };
    (FailureKind::Conflict, next)
}

/// The kind of a refusal to let somebody say something, and what to do next.
fn judge_speech(refusal: &message::MessageRefusal) -> (FailureKind, Option<String>) {
    match refusal {
        message::MessageRefusal::NotYou { .. } => (
            FailureKind::Conflict,
            hint("name nobody else: $FLAGPOST_WORKER says who you are"),
        ),
        message::MessageRefusal::OfProcess { .. } => (
            FailureKind::Conflict,
            hint("'flagpost status' shows what is asked, and how each is answered"),
        ),
        message::MessageRefusal::AsksNothing { .. } => (
            FailureKind::Conflict,
            hint("'flagpost msg send --subject REPLY --re' says something about it all the same"),
        ),
        message::MessageRefusal::Answered { place, .. } => (
            FailureKind::Conflict,
            Some(format!(
                "'flagpost answer --again {place} WORDS' adds to that"
            )),
        ),
        message::MessageRefusal::NotForYou { .. } => (
            FailureKind::Conflict,
            hint("'flagpost msg show' shows it without acknowledging it"),
        ),
        message::MessageRefusal::NotYours { .. } => (
            FailureKind::Invalid,
            hint("'flagpost msg send --help' tells what each subject is for"),
        ),
        message::MessageRefusal::BetweenWorkers { .. } => (
            FailureKind::Invalid,
            hint("leave --to out, and the orchestrator passes it on"),
        ),
    }
}

fn judge_coordination(refusal: &coordination::CoordRefusal) -> (FailureKind, Option<String>) {
    let next = match refusal {
        coordination::CoordRefusal::Held { .. } | coordination::CoordRefusal::Rests { .. } => {
            hint("'flagpost coord worker claim' gives you another task")
        }
        coordination::CoordRefusal::AlreadyYours { .. } => hint("go on with it"),
        coordination::CoordRefusal::Stale { .. } => {
            hint("your claim is over; 'flagpost coord worker claim' asks for a new one")
        }
        coordination::CoordRefusal::NotClaimed { .. } => {
            hint("'flagpost coord worker claim' takes it first")
        }
        coordination::CoordRefusal::WrongStatus {
            status: coordination::CoordStatus::Done,
            ..
        } => hint("'flagpost coord leader add-task' adds what is left to do"),
        coordination::CoordRefusal::WrongStatus { .. } => {
            hint("'flagpost coord leader retry' makes a task available that did not end well")
        }
        coordination::CoordRefusal::Waits { .. } => {
            hint("'flagpost coord worker list' shows what can be claimed now")
        }
        coordination::CoordRefusal::Incapable { .. } => {
            hint("'flagpost coord register --can' says what you can do")
        }
        coordination::CoordRefusal::Taken { .. } => hint("leave the id out, and it gets one"),
        coordination::CoordRefusal::Cycle { .. } | coordination::CoordRefusal::Unknown { .. } => {
            return (
                FailureKind::Invalid,
                hint("'flagpost coord leader status' shows what there is"),
            );
        }
    };
    (FailureKind::Conflict, next)
}

/// The kind of a refusal, and what to do next.
fn judge_refusal(refusal: &Refusal) -> (FailureKind, Option<String>) {
    let next = match refusal {
        // An agent may not stop it; the operator may.
        Refusal::Held { task, holder, .. } if holder.is_process() => Some(format!(
            "'flagpost claim --next' gives you another task; 'flagpost stop {task}' ends the run's \
             agent that has this one, which is pending again then"
        )),
        Refusal::Held { .. } => hint("'flagpost claim --next' gives you another task"),
        Refusal::AlreadyYours { .. } => hint(
            "go on with it; 'flagpost task renew' extends the lease, 'flagpost task release' gives it back",
        ),
        Refusal::StaleToken { .. } => {
            hint("your claim is over; 'flagpost claim' asks for a new one")
        }
        Refusal::UnknownToken { .. } => hint(
            "'flagpost claim' answers with the token; without --token the claim under your name counts",
        ),
        Refusal::NotClaimed { .. } => hint("'flagpost claim' takes it first"),
        Refusal::WrongState {
            wanted: "reopened", ..
        } => hint("'flagpost show' tells where it is"),
        Refusal::WrongState { .. } => {
            hint("'flagpost task reopen' makes it pending again, if that is what you want")
        }
        Refusal::AsksNothing { .. } => {
            hint("'flagpost status' shows what is asked; 'flagpost task note' leaves a remark")
        }
        Refusal::Answered { task, .. } => Some(format!(
            "'flagpost answer --again {task} WORDS' adds to that"
        )),
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
            return (
                FailureKind::Invalid,
                hint("'flagpost list' shows what there is"),
            );
        }
        Refusal::Blocked { .. } => hint("'flagpost ready' shows what can begin now"),
        Refusal::Cycle { .. } | Refusal::UnknownBlocker { .. } => {
            return (
                FailureKind::Invalid,
                hint("'flagpost task graph' shows what waits for what"),
            );
        }
    };
    (FailureKind::Conflict, next)
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
        disk::Error::Outside { .. } => (FailureKind::Invalid, None),
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
            _ => (FailureKind::Failed, None),
        },
    }
}

fn hint(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[cfg(test)]
mod tests;
