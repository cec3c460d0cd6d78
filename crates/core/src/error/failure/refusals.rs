//! What sort of failure a refusal is, and what to do next.
//!
//! Owns the kinds and hints of what a rule of the model or the table of operations refused. Faults of
//! disks and of what was typed are the parent's.

use flagpost_model::{
    Refusal, TaskId, coordination, decision, message, permission::PermissionRefusal,
    task::StateName,
};

use super::{FailureKind, hint, shows};
use crate::{
    access::{Denied, Operation},
    error::{LandingRefusal, OrderRefusal},
};

pub(super) fn order(refusal: &OrderRefusal) -> (FailureKind, Option<String>) {
    match refusal {
        OrderRefusal::Overtaken { .. } => (
            FailureKind::Conflict,
            hint("other machines change it at this moment: try again"),
        ),
        OrderRefusal::Unreachable { .. } => (
            FailureKind::TimedOut,
            hint("nothing was changed; what is here can be read"),
        ),
        OrderRefusal::Unsettled { .. } => (
            FailureKind::TimedOut,
            hint("look whether it has before you try again"),
        ),
        OrderRefusal::NotAllowed { .. } => (
            FailureKind::Conflict,
            hint(
                "'flagpost fleet invite' on the first machine lets a machine in, and with --gate lets people decide there",
            ),
        ),
        OrderRefusal::TooLarge { .. } => {
            (FailureKind::Invalid, hint("do it in several smaller steps"))
        }
        OrderRefusal::ListHere { .. } => (
            FailureKind::Conflict,
            hint(
                "move that directory to another name; where its repository is called so too, join under another FLAGPOST_HOME",
            ),
        ),
        OrderRefusal::ListThere { .. } => (FailureKind::Conflict, hint("take another name")),
        OrderRefusal::Frozen { .. } => (
            FailureKind::Invalid,
            hint("what is here can be read; nothing is lost"),
        ),
    }
}

pub(super) fn permission(refusal: &PermissionRefusal) -> (FailureKind, Option<String>) {
    let next = match refusal {
        PermissionRefusal::Over { .. } => {
            "'flagpost permission list' shows what waits; an agent that still wants it asks again"
                .to_owned()
        }
        PermissionRefusal::Changed { n, .. } => format!(
            "'flagpost permission show {n}' shows it as it is now; it can be denied, and its agent asks again"
        ),
    };
    (FailureKind::Conflict, Some(next))
}

pub(super) fn landing(refusal: &LandingRefusal) -> (FailureKind, Option<String>) {
    let (kind, next) = match refusal {
        LandingRefusal::NoGit { .. } => (
            FailureKind::Conflict,
            hint(
                "a run gives its tasks branches with 'flagpost run --worktrees', in a git repository",
            ),
        ),
        LandingRefusal::Detached => (FailureKind::Usage, hint("name the branch: --onto main")),
        LandingRefusal::NoTarget { .. } => (
            FailureKind::NotFound,
            hint("'git branch --list' shows those there are"),
        ),
        LandingRefusal::OwnBranch { .. } => (
            FailureKind::Usage,
            hint("name the branch that people work on: --onto main"),
        ),
        LandingRefusal::UnderWay { .. } => (
            FailureKind::Conflict,
            hint("'flagpost land --status' shows how far it is"),
        ),
        LandingRefusal::NothingToLand { .. } => (
            FailureKind::Conflict,
            hint("'flagpost land --status' shows what can land"),
        ),
        LandingRefusal::NotStarted { .. } => (
            FailureKind::Failed,
            hint("'flagpost land' in a terminal says more"),
        ),
        LandingRefusal::NotAsSeen { task, .. } => (
            FailureKind::Conflict,
            Some(format!("'flagpost diff {task}' shows it as it is now")),
        ),
        LandingRefusal::NoLine { task, .. } => (
            FailureKind::Invalid,
            Some(format!("'flagpost diff {task}' shows its files")),
        ),
        LandingRefusal::NoChange { task } => (
            FailureKind::NotFound,
            hint(&format!(
                "'flagpost run --worktrees' gives each task a branch; 'flagpost show {task}' tells what it said"
            )),
        ),
        LandingRefusal::NoWorktree { task, branch } => (
            FailureKind::NotFound,
            Some(match branch {
                Some(branch) => format!("'git worktree add DIR {branch}' makes one"),
                None => format!("'flagpost show {task}' tells what it said"),
            }),
        ),
        LandingRefusal::Diverged { branch, remote } => (
            FailureKind::Conflict,
            Some(format!(
                "merge {remote}/{branch} into {branch} yourself, and try again"
            )),
        ),
        LandingRefusal::Remote { remote, .. } => (
            FailureKind::Failed,
            Some(format!(
                "'flagpost land --push {remote}' goes on with what is left, once the remote takes it"
            )),
        ),
        LandingRefusal::Moved { from, to, .. } => (
            FailureKind::Conflict,
            Some(format!(
                "'git log {from}..{to}' shows what came; 'flagpost land' goes on on top of it"
            )),
        ),
        LandingRefusal::GitChanged { .. } => (
            FailureKind::Conflict,
            hint("look at them: git runs them in your name; 'flagpost land' asks, and goes on"),
        ),
        LandingRefusal::Overtaken { .. } => (
            FailureKind::TimedOut,
            hint("try again when fewer people push; a shorter check helps, too"),
        ),
        LandingRefusal::Unsound { .. } => (
            FailureKind::Failed,
            hint(
                "it runs in a new worktree: it must install what it needs; --check CMD names another one, and 'flagpost land ID' lands work that mends the branch",
            ),
        ),
        LandingRefusal::NotSetUp { .. } => (
            FailureKind::Failed,
            hint(
                "'flagpost config get run.worktree.setup' shows the command; mend it, or what it needs",
            ),
        ),
        LandingRefusal::NoRequests { .. } => (
            FailureKind::Failed,
            hint(
                "'git remote -v' shows the remotes, and --push names one on GitHub; elsewhere, push the branches of 'flagpost land --status' and open the requests yourself",
            ),
        ),
        LandingRefusal::NoGh => (
            FailureKind::NotFound,
            hint("install it (https://cli.github.com) and sign in with 'gh auth login'"),
        ),
        LandingRefusal::Gh { .. } => (
            FailureKind::Failed,
            hint(
                "'gh auth status' shows whether you are signed in, 'gh auth login' signs in; then 'flagpost land --pr' goes on",
            ),
        ),
        LandingRefusal::Interrupted { .. } => (
            FailureKind::Failed,
            hint("'flagpost land' goes on with what is left"),
        ),
    };
    (kind, next)
}

pub(super) fn gate(refusal: &decision::DecisionRefusal) -> (FailureKind, Option<String>) {
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
        decision::DecisionRefusal::Changed { worker, seq, .. }
        | decision::DecisionRefusal::Archived { worker, seq }
        | decision::DecisionRefusal::Unnamed { worker, seq } => Some(format!(
            "'flagpost inbox {worker} {}' shows how it is now",
            seq.get()
        )),
        decision::DecisionRefusal::Withheld { worker, seq, .. }
        | decision::DecisionRefusal::Foreign { worker, seq } => Some(shows(worker, *seq)),
    };
    (FailureKind::Conflict, next)
}

/// The kind of a refusal to let an agent do what is the operator's, and what the agent can do instead.
pub(super) fn denied(denied: &Denied) -> (FailureKind, Option<String>) {
    let next = match denied.operation {
        Operation::BriefRatify | Operation::BriefReject | Operation::BriefEdit => {
            hint("'flagpost inbox' shows what waits for the operator")
        }
        Operation::TaskAnswer => {
            hint("'flagpost stuck' asks one; the operator answers in a terminal of their own")
        }
        Operation::RunStop | Operation::TaskTake => {
            hint("'flagpost release' gives your own task back; 'flagpost stuck' asks a person")
        }
        Operation::TaskRemove => hint("'flagpost cancel' says that it is not wanted"),
        Operation::WorkerAdd | Operation::WorkerRemove => {
            hint("an agent joins and leaves by itself: $FLAGPOST_WORKER, or --as, says who it is")
        }
        _ => hint("'flagpost stuck' asks a person, who does it in a terminal of their own"),
    };
    (FailureKind::Conflict, next)
}

/// The kind of a refusal to let somebody say something, and what to do next.
pub(super) fn speech(refusal: &message::MessageRefusal) -> (FailureKind, Option<String>) {
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

pub(super) fn coordination(refusal: &coordination::CoordRefusal) -> (FailureKind, Option<String>) {
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
pub(super) fn refusal(refusal: &Refusal) -> (FailureKind, Option<String>) {
    let next = match refusal {
        // An agent may not stop it; the operator may.
        Refusal::Held { task, holder, .. } if holder.is_process() => Some(format!(
            "'flagpost claim --next' gives you another task; 'flagpost stop {task}' ends the run's \
             agent that has this one, which is pending again then"
        )),
        Refusal::Held { .. } => hint("'flagpost claim --next' gives you another task"),
        Refusal::AlreadyYours { .. } => hint(
            "go on with it; 'flagpost task renew' extends the lease, 'flagpost release' gives it back",
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
        Refusal::WrongState {
            task,
            state,
            wanted: "approved" | "returned",
        } => Some(match state {
            StateName::Stuck => format!("'flagpost answer {task} WORDS' has it go on"),
            StateName::Pending | StateName::Claimed | StateName::InProgress => format!(
                "it is not done; 'flagpost note {task} WORDS' tells whoever does it something more"
            ),
            StateName::Completed | StateName::Failed | StateName::Cancelled => {
                format!("'flagpost reopen {task}' has it done again")
            }
        }),
        Refusal::WrongState { .. } => {
            hint("'flagpost reopen' makes it pending again, if that is what you want")
        }
        Refusal::HasLanded { .. } => hint("'flagpost add' makes a task of what is to be different"),
        Refusal::AsksNothing {
            task,
            state: StateName::Failed,
        } => Some(format!(
            "'flagpost retry {task}' has it tried again; 'flagpost note {task} WORDS' tells the next try something"
        )),
        Refusal::AsksNothing { .. } => {
            hint("'flagpost status' shows what is asked; 'flagpost note' leaves a remark")
        }
        Refusal::Answered { task, .. } => Some(format!(
            "'flagpost answer --again {task} WORDS' adds to that"
        )),
        Refusal::OpenParts { .. } => {
            hint("finish them first, or say --force if they do not matter")
        }
        Refusal::Tied { .. } => hint("move them together, or say --cut to leave them behind"),
        Refusal::UidTaken { .. } => hint("'flagpost edit' changes that task"),
        Refusal::TimerRuns { .. } => hint("'flagpost task timer show' names the timers that run"),
        Refusal::NoTimer { .. } => hint("'flagpost task timer start' starts one"),
        Refusal::BuiltOn { .. } => {
            hint("'flagpost show' tells how it is now; change it with 'flagpost edit'")
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
                hint("'flagpost graph' shows what waits for what"),
            );
        }
    };
    (FailureKind::Conflict, next)
}
