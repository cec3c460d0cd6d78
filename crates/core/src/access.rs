//! The operations by name, and who may ask for each.
//!
//! Owns the name of every operation and the only rule about who may ask for it. Each face asks
//! [`Operation::permit`] before it does anything. An agent is whoever is named by `FLAGPOST_WORKER` or by
//! the header of that name, and whoever has an environment that was made for an agent. The table
//! guards against agents that do more than they were asked to; a program that hides what it is passes.

use flagpost_model::{WorkerId, task::Origin};

/// Who may ask for an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everybody: nothing changes.
    Read,
    /// Everybody, an agent for itself only.
    Agent,
    /// A person, or an agent that is no worker. The words say what a worker does not do.
    Controller(&'static str),
    /// A person. The words say what an agent does not do.
    Operator(&'static str),
}

/// An agent asked for what it may not do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} {words}: only the operator does", agent.as_ref().map_or("an agent", WorkerId::as_str))]
pub struct Denied {
    /// The operation.
    pub operation: Operation,
    /// Which agent, where it has a name.
    pub agent: Option<WorkerId>,
    /// What it does not do.
    words: &'static str,
}

macro_rules! operations {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $access:expr;)+) => {
        /// Something that Flagpost can do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Operation { $($(#[$doc])* $variant),+ }

        impl Operation {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// What it is called everywhere: a noun and a verb.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// Who may ask for it.
            pub const fn access(self) -> Access {
                match self { $(Self::$variant => $access),+ }
            }
        }
    };
}

/// What no agent does about a brief.
const DECIDES: &str = "decides on no brief";
/// What no agent does about what agents ask to be allowed.
const ALLOWS: &str = "decides on no permission";
/// What no agent does about work that is to land.
const REVIEWS: &str = "reviews no work";
/// What no agent does about the settings.
const SETTLES: &str = "changes no settings";

use Access::{Agent, Controller, Operator, Read};

operations! {
    /// Help, manuals, schemas.
    ProgramDescribe = "program.describe", Read;
    /// Show the operations that take plain values.
    OperationList = "operation.list", Read;
    /// Show what the program can do, or how fast it is.
    ProgramTry = "program.try", Agent;
    /// Look whether everything holds.
    HomeExamine = "home.examine", Read;
    /// Mend what does not hold.
    HomeMend = "home.mend", Operator("mends nothing");
    /// What is going on.
    StatusShow = "status.show", Read;
    /// Show what needs a person.
    NeedsList = "needs.list", Read;
    /// Register a repository and tell its agents.
    RepositoryInit = "repository.init", Agent;
    /// Show the registered repositories.
    RepositoryList = "repository.list", Read;
    /// Show what is settled.
    ConfigShow = "config.show", Read;
    /// Settle something.
    ConfigSet = "config.set", Operator(SETTLES);
    /// Take a setting away.
    ConfigUnset = "config.unset", Operator(SETTLES);
    /// Send a notification that tries a channel.
    NoticeTest = "notice.test", Operator("sends no notifications");

    /// Show the tasks of a list.
    TaskList = "task.list", Read;
    /// Show a task; labels, numbers.
    TaskShow = "task.show", Read;
    /// Show which task waits for which.
    TaskGraph = "task.graph", Read;
    /// Write tasks to a file of another format.
    TaskExport = "task.export", Read;
    /// Add a task.
    TaskAdd = "task.add", Agent;
    /// Bring tasks in from elsewhere.
    TaskImport = "task.import", Agent;
    /// Change what is said of a task.
    TaskEdit = "task.edit", Agent;
    /// Add or remove a dependency.
    TaskLink = "task.link", Agent;
    /// Leave a remark.
    TaskNote = "task.note", Agent;
    /// Measure the work.
    TaskTime = "task.time", Agent;
    /// Take a task that nobody has.
    TaskClaim = "task.claim", Agent;
    /// Take the first ready task.
    TaskNext = "task.next", Agent;
    /// Begin the work on it.
    TaskStart = "task.start", Agent;
    /// Extend a claim.
    TaskRenew = "task.renew", Agent;
    /// Give one's own task back.
    TaskRelease = "task.release", Agent;
    /// Take a task from whoever holds it.
    TaskTake = "task.take", Controller("takes no task from others");
    /// Complete a task.
    TaskDone = "task.done", Agent;
    /// Give a task up.
    TaskFail = "task.fail", Agent;
    /// Ask for help with a task.
    TaskStuck = "task.stuck", Agent;
    /// Answer what is asked about a task.
    TaskAnswer = "task.answer", Operator("answers no question");
    /// Make a task pending again.
    TaskReopen = "task.reopen", Agent;
    /// Say that a task is not wanted.
    TaskCancel = "task.cancel", Agent;
    /// Move a task to another list.
    TaskMove = "task.move", Agent;
    /// Take back one's own last change.
    TaskUndo = "task.undo", Agent;
    /// Remove a task's file.
    TaskRemove = "task.remove", Controller("removes no task");

    /// Ask in SQL, read the history.
    HistoryShow = "history.show", Read;
    /// Show what happened to a task.
    TaskHistory = "task.history", Read;
    /// Find words.
    TextSearch = "text.search", Read;
    /// Make the index anew.
    IndexRebuild = "index.rebuild", Agent;
    /// Show the sessions of a repository.
    SessionList = "session.list", Read;
    /// Show a session.
    SessionShow = "session.show", Read;
    /// Show when a session's attempts ran.
    SessionTimeline = "session.timeline", Read;
    /// Show what a session wrote for people.
    SessionDocuments = "session.documents", Read;
    /// Show what an agent printed.
    SessionLog = "session.log", Read;
    /// Give back what a dead session holds.
    SessionRecover = "session.recover", Agent;
    /// Archive a session that is complete.
    SessionArchive = "session.archive", Agent;
    /// Run agents over a list.
    RunStart = "run.start", Controller("starts no run");
    /// End a run, or a task in it.
    RunStop = "run.stop", Controller("stops nobody");
    /// Go on with an agent's conversation.
    RunAttach = "run.attach", Operator("takes over no conversation");
    /// Show what a task changes.
    TaskDiff = "task.diff", Read;
    /// Show which work is to land, and which has landed.
    LandingShow = "landing.show", Read;
    /// Approve a task's work.
    ReviewApprove = "review.approve", Operator(REVIEWS);
    /// Return a task's work with words.
    ReviewReturn = "review.return", Operator(REVIEWS);
    /// Show the worktrees that runs left.
    WorktreeList = "worktree.list", Read;
    /// Remove worktrees that hold nothing of their own.
    WorktreeClean = "worktree.clean", Controller("removes no worktrees");
    /// Land the work of passed tasks.
    LandingStart = "landing.start", Controller("lands no work");

    /// Show briefs.
    BriefList = "brief.list", Read;
    /// Show a brief in full.
    BriefShow = "brief.show", Read;
    /// Propose a brief.
    BriefPropose = "brief.propose", Agent;
    /// Let a brief through.
    BriefRatify = "brief.ratify", Operator(DECIDES);
    /// Keep a brief from its worker.
    BriefReject = "brief.reject", Operator(DECIDES);
    /// Rewrite a brief and let it through.
    BriefEdit = "brief.edit", Operator(DECIDES);
    /// Show what agents ask to be allowed.
    PermissionList = "permission.list", Read;
    /// Show a request in full.
    PermissionShow = "permission.show", Read;
    /// Allow what an agent asks for.
    PermissionAllow = "permission.allow", Operator(ALLOWS);
    /// Deny what an agent asks for.
    PermissionDeny = "permission.deny", Operator(ALLOWS);
    /// Have a policy decide on briefs.
    PolicyAccept = "policy.accept", Operator("accepts no policy");
    /// Take the next decided brief.
    BriefNext = "brief.next", Agent;
    /// Say that a brief was read.
    BriefAck = "brief.ack", Agent;
    /// Show reports.
    ReportList = "report.list", Read;
    /// Show a report, which counts as read.
    ReportRead = "report.read", Agent;
    /// Report.
    ReportSend = "report.send", Agent;
    /// Say that one's own report came full circle.
    ReportConfirm = "report.confirm", Agent;
    /// The next number of a direction.
    MailAllocate = "mail.allocate", Agent;
    /// Archive older mail.
    MailArchive = "mail.archive", Agent;
    /// Show messages.
    MessageList = "message.list", Read;
    /// Show a message.
    MessageShow = "message.show", Read;
    /// Show a conversation.
    MessageThread = "message.thread", Read;
    /// Show messages that nobody has acknowledged.
    MessageUnacked = "message.unacked", Read;
    /// Wait for a message, and leave it where it is.
    MessageWait = "message.wait", Read;
    /// Send a message.
    MessageSend = "message.send", Agent;
    /// Receive a message.
    MessageReceive = "message.receive", Agent;
    /// Acknowledge a message.
    MessageAck = "message.ack", Agent;
    /// Bring messages in from elsewhere.
    MessageImport = "message.import", Agent;
    /// Show who works on which files.
    ReservationList = "reservation.list", Read;
    /// Reserve files.
    ReservationAdd = "reservation.add", Agent;
    /// Give files back.
    ReservationRelease = "reservation.release", Agent;

    /// Show the fleet.
    WorkerList = "worker.list", Read;
    /// Show a worker.
    WorkerShow = "worker.show", Read;
    /// Join the fleet oneself.
    WorkerJoin = "worker.join", Agent;
    /// Leave the fleet oneself.
    WorkerLeave = "worker.leave", Agent;
    /// Add somebody else to the fleet.
    WorkerAdd = "worker.add", Operator("adds nobody else to the fleet");
    /// Take somebody else off the fleet.
    WorkerRemove = "worker.remove", Operator("takes nobody else off the fleet");
    /// Give a worker a token for the daemon's tools.
    TokenIssue = "token.issue", Operator("issues no tokens");
    /// Give a sign of life.
    WorkerHeartbeat = "worker.heartbeat", Agent;

    /// Carry out a slash command, which asks for more once it is read.
    SlashDispatch = "slash.dispatch", Agent;
    /// How the daemon is, and its log.
    DaemonShow = "daemon.show", Read;
    /// Show the machines that share repositories.
    FleetShow = "fleet.show", Read;
    /// Found, join or leave a fleet of machines, share a repository with it, let a machine in.
    FleetChange = "fleet.change", Operator("shares nothing with other machines");
    /// Start the daemon.
    DaemonUp = "daemon.up", Controller("starts no daemon");
    /// End the daemon.
    DaemonDown = "daemon.down", Controller("ends no daemon");
    /// A link that lets a browser in.
    DaemonLink = "daemon.link", Controller("lets no browser in");
    /// How the JSON bridge is.
    BridgeShow = "bridge.show", Read;
    /// Carry out the commands of the JSON bridge, or end that.
    BridgeServe = "bridge.serve", Agent;
    /// Leave a command for the JSON bridge, or clear its answers.
    BridgeSend = "bridge.send", Agent;
    /// Show a table that agents share.
    CoordinationShow = "coordination.show", Read;
    /// Plan work in such a table.
    CoordinationLead = "coordination.lead", Agent;
    /// Do work of such a table.
    CoordinationWork = "coordination.work", Agent;
    /// Copy tasks between such a table and a list.
    CoordinationExchange = "coordination.exchange", Agent;
}

impl Operation {
    /// Refuses what the table does not allow to this caller: `agent` is the worker that it is called
    /// by its environment, and `origin` says what sort of hand it has.
    pub fn permit(self, agent: Option<&WorkerId>, origin: Origin) -> Result<(), Denied> {
        let denied = match self.access() {
            Read | Agent => None,
            Controller(words) => agent.map(|_| words),
            Operator(words) => (agent.is_some() || origin != Origin::Person).then_some(words),
        };
        match denied {
            None => Ok(()),
            Some(words) => Err(Denied {
                operation: self,
                agent: agent.cloned(),
                words,
            }),
        }
    }

    /// Adding this worker to the fleet: joining it, where it is the caller itself.
    pub fn adding(worker: &WorkerId, agent: Option<&WorkerId>) -> Self {
        match agent == Some(worker) {
            true => Self::WorkerJoin,
            false => Self::WorkerAdd,
        }
    }

    /// Taking this worker off the fleet: leaving it, where it is the caller itself.
    pub fn removing(worker: &WorkerId, agent: Option<&WorkerId>) -> Self {
        match agent == Some(worker) {
            true => Self::WorkerLeave,
            false => Self::WorkerRemove,
        }
    }

    /// Giving a task back: taking it from its holder, where that is forced.
    pub fn releasing(force: bool) -> Self {
        if force {
            Self::TaskTake
        } else {
            Self::TaskRelease
        }
    }
}

impl std::fmt::Display for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn who(operation: Operation) -> [bool; 3] {
        let worker: WorkerId = "W1".parse().unwrap();
        [
            (None, Origin::Person),
            (None, Origin::Agent),
            (Some(&worker), Origin::Agent),
        ]
        .map(|(agent, origin)| operation.permit(agent, origin).is_ok())
    }

    #[test]
    fn a_person_may_everything_a_controller_less_and_a_worker_least() {
        for operation in Operation::ALL {
            let [person, controller, worker] = who(*operation);
            assert!(person, "{operation}");
            assert!(controller || !worker, "{operation}");
        }
        assert_eq!(who(Operation::TaskDone), [true, true, true]);
        assert_eq!(who(Operation::RunStart), [true, true, false]);
        assert_eq!(who(Operation::ConfigSet), [true, false, false]);
        assert_eq!(who(Operation::BriefRatify), [true, false, false]);
    }

    #[test]
    fn a_worker_whose_header_is_all_there_is_decides_nothing() {
        let worker: WorkerId = "W1".parse().unwrap();
        let denied = Operation::BriefReject.permit(Some(&worker), Origin::Person);
        assert_eq!(
            denied.unwrap_err().to_string(),
            "W1 decides on no brief: only the operator does"
        );
    }

    #[test]
    fn names_are_a_noun_and_a_verb_and_none_stands_for_two() {
        let names: BTreeSet<&str> = Operation::ALL.iter().map(|it| it.name()).collect();
        assert_eq!(names.len(), Operation::ALL.len());
        for name in names {
            let words: Vec<&str> = name.split('.').collect();
            assert_eq!(words.len(), 2, "{name}");
            let lower = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase());
            assert!(words.iter().all(lower), "{name}");
        }
    }
}
