//! Which operation a command line asks for.
//!
//! Owns the one place where a verb meets the table of `core`, which says who may ask for it. Each verb
//! passes here before anything is done. It decides nothing.

use flagpost_core::operations::Operation as Op;
use flagpost_model::WorkerId;

use crate::commands::{
    bridge::BridgeCommand,
    config::ConfigCommand,
    daemon::DaemonCommand,
    fleet::FleetCommand,
    hooks::HooksCommand,
    index::IndexCommand,
    msg::MsgCommand,
    notify::NotifyCommand,
    permission::PermissionCommand,
    policy::PolicyCommand,
    relay::{GateCommand, RelayCommand},
    reserve::ReserveCommand,
    session::SessionCommand,
    timer::TimerCommand,
    worker::WorkerCommand,
    worktree::WorktreeCommand,
};
use crate::{
    args::{Command, DailyCommand, TaskCommand},
    context::Context,
};

/// What the command asks for; a slash command asks for more once it is read.
pub fn of(context: &Context, command: &Command) -> anyhow::Result<Op> {
    Ok(match command {
        Command::Init(_) => Op::RepositoryInit,
        // What is done in it asks again.
        Command::Status(_) | Command::Cockpit(_) | Command::Mcp(_) => Op::StatusShow,
        Command::Doctor(args) if args.fix => Op::HomeMend,
        Command::Doctor(_) => Op::HomeExamine,
        Command::Demo(_) => Op::ProgramTry,
        Command::Daily(verb) => of_daily(verb),
        Command::Search(_) => Op::TextSearch,
        Command::History(_) => Op::HistoryShow,
        Command::Index(IndexCommand::Rebuild) => Op::IndexRebuild,
        Command::Index(IndexCommand::Status | IndexCommand::Path | IndexCommand::Sql(_)) => {
            Op::HistoryShow
        }
        Command::Run(args) if args.allows() => Op::PermissionAllow,
        Command::Run(_) => Op::RunStart,
        Command::Stop(_) => Op::RunStop,
        Command::Diff(_) => Op::TaskDiff,
        Command::Review(args) => args.operation(),
        Command::Open(_) => Op::WorktreeList,
        Command::Attach(_) => Op::RunAttach,
        Command::Approve(args) => args.operation(context),
        Command::Return(_) => Op::ReviewReturn,
        Command::Land(args) => args.operation(),
        Command::Session(verb) => of_sessions(verb),
        Command::Worktree(WorktreeCommand::List) => Op::WorktreeList,
        Command::Worktree(WorktreeCommand::Clean(_)) => Op::WorktreeClean,
        Command::Hooks(HooksCommand::Status(_)) => Op::ConfigShow,
        Command::Hooks(_) | Command::Config(ConfigCommand::Set(_)) => Op::ConfigSet,
        Command::Config(ConfigCommand::Unset(_)) => Op::ConfigUnset,
        Command::Config(ConfigCommand::List | ConfigCommand::Get(_) | ConfigCommand::Path) => {
            Op::ConfigShow
        }
        Command::Policy(PolicyCommand::Accept(_)) => Op::PolicyAccept,
        Command::Notify(NotifyCommand::Test(_)) => Op::NoticeTest,
        Command::Gate(verb) => of_gate(verb),
        Command::Inbox(args) => args.operation(),
        Command::Allow(_) => Op::PermissionAllow,
        Command::Deny(_) => Op::PermissionDeny,
        Command::Permission(PermissionCommand::List(_)) => Op::PermissionList,
        Command::Permission(PermissionCommand::Show(_)) => Op::PermissionShow,
        Command::Relay(verb) => of_relay(verb),
        Command::Msg(verb) => of_messages(verb),
        Command::Reserve(ReserveCommand::Add(_)) => Op::ReservationAdd,
        Command::Reserve(ReserveCommand::Release(_)) => Op::ReservationRelease,
        Command::Reserve(ReserveCommand::List(_) | ReserveCommand::Check(_)) => Op::ReservationList,
        Command::Worker(verb) => of_workers(context, verb)?,
        Command::Fleet(FleetCommand::Status(_)) => Op::FleetShow,
        Command::Fleet(_) => Op::FleetChange,
        Command::Slash(_) => Op::SlashDispatch,
        Command::Up(_) | Command::Daemon(DaemonCommand::Up(_)) => Op::DaemonUp,
        Command::Down(_) | Command::Daemon(DaemonCommand::Down(_)) => Op::DaemonDown,
        Command::Daemon(DaemonCommand::Logs(_)) => Op::DaemonShow,
        Command::Board(_) => Op::DaemonLink,
        Command::Hook(_) | Command::Acp(_) | Command::Codex(_) => Op::BriefNext,
        Command::Logs(_) => Op::SessionLog,
        Command::Bridge(verb) => of_bridge(verb),
        Command::Task(verb) => of_tasks(verb),
        Command::Coord(args) => args.operation(),
        Command::Instructions(_)
        | Command::Completions(_)
        | Command::Man(_)
        | Command::Schema(_) => Op::ProgramDescribe,
    })
}

fn of_daily(verb: &DailyCommand) -> Op {
    match verb {
        DailyCommand::Add(_) => Op::TaskAdd,
        DailyCommand::List(_) | DailyCommand::Ready(_) => Op::TaskList,
        DailyCommand::Show(_) => Op::TaskShow,
        DailyCommand::Graph(_) => Op::TaskGraph,
        DailyCommand::Edit(_) => Op::TaskEdit,
        DailyCommand::Note(_) => Op::TaskNote,
        DailyCommand::Import(_) => Op::TaskImport,
        DailyCommand::Export(_) => Op::TaskExport,
        DailyCommand::Undo(_) => Op::TaskUndo,
        DailyCommand::Answer(_) => Op::TaskAnswer,
        DailyCommand::Claim(args) => args.operation(),
        DailyCommand::Done(_) => Op::TaskDone,
        DailyCommand::Fail(_) => Op::TaskFail,
        DailyCommand::Stuck(_) => Op::TaskStuck,
        DailyCommand::Release(args) => Op::releasing(args.force),
        DailyCommand::Reopen(_) => Op::TaskReopen,
        DailyCommand::Cancel(_) => Op::TaskCancel,
        DailyCommand::Rm(_) => Op::TaskRemove,
    }
}

fn of_tasks(verb: &TaskCommand) -> Op {
    match verb {
        TaskCommand::Daily(verb) => of_daily(verb),
        TaskCommand::Tags(_)
        | TaskCommand::Projects(_)
        | TaskCommand::Stats(_)
        | TaskCommand::Timer(TimerCommand::Show) => Op::TaskShow,
        TaskCommand::Start(_) => Op::TaskStart,
        TaskCommand::Renew(_) => Op::TaskRenew,
        TaskCommand::Move(_) => Op::TaskMove,
        TaskCommand::Timer(TimerCommand::Start { .. } | TimerCommand::Stop { .. }) => Op::TaskTime,
        TaskCommand::Dep(_) => Op::TaskLink,
    }
}

fn of_sessions(verb: &SessionCommand) -> Op {
    match verb {
        SessionCommand::List => Op::SessionList,
        SessionCommand::Show(_) => Op::SessionShow,
        SessionCommand::Timeline(_) => Op::SessionTimeline,
        SessionCommand::Recover => Op::SessionRecover,
        SessionCommand::Archive => Op::SessionArchive,
    }
}

fn of_gate(verb: &GateCommand) -> Op {
    match verb {
        GateCommand::Assign(_) => Op::BriefPropose,
        GateCommand::Ratify(_) => Op::BriefRatify,
        GateCommand::Reject(_) => Op::BriefReject,
        GateCommand::Outbox(args) => args.operation(),
    }
}

fn of_relay(verb: &RelayCommand) -> Op {
    match verb {
        RelayCommand::Gate(verb) => of_gate(verb),
        RelayCommand::Redirect(_) | RelayCommand::Merge(_) => Op::BriefPropose,
        RelayCommand::Edit(_) => Op::BriefEdit,
        RelayCommand::Inbox(args) => args.operation(),
        RelayCommand::Gc(_) => Op::MailArchive,
    }
}

fn of_messages(verb: &MsgCommand) -> Op {
    match verb {
        MsgCommand::Send(args) if args.ratify => Op::BriefRatify,
        MsgCommand::Send(_) => Op::MessageSend,
        MsgCommand::Recv(_) => Op::MessageReceive,
        MsgCommand::Ack(_) => Op::MessageAck,
        MsgCommand::Unacked(_) => Op::MessageUnacked,
        MsgCommand::Thread(_) => Op::MessageThread,
        MsgCommand::List(_) => Op::MessageList,
        MsgCommand::Show(_) => Op::MessageShow,
        MsgCommand::Wait(_) => Op::MessageWait,
        MsgCommand::Import(_) => Op::MessageImport,
    }
}

fn of_workers(context: &Context, verb: &WorkerCommand) -> anyhow::Result<Op> {
    let asked = context.globals.actor.as_deref();
    let agent = context.settings.acting_agent(asked)?;
    let named = |name: &str| name.parse::<WorkerId>();
    Ok(match verb {
        WorkerCommand::Add(args) => Op::adding(&named(&args.worker)?, agent.as_ref()),
        WorkerCommand::Join(args) => match &agent {
            // One that has no name yet takes this one.
            None => Op::WorkerJoin,
            Some(agent) => Op::adding(&named(&args.worker)?, Some(agent)),
        },
        WorkerCommand::Leave(args) => match &args.worker {
            None => Op::WorkerLeave,
            Some(worker) => Op::removing(&named(worker)?, agent.as_ref()),
        },
        WorkerCommand::Rm(args) => Op::removing(&named(&args.worker)?, agent.as_ref()),
        WorkerCommand::List(_) => Op::WorkerList,
        WorkerCommand::Show(_) => Op::WorkerShow,
        WorkerCommand::Token(_) => Op::TokenIssue,
        WorkerCommand::Heartbeat(_) => Op::WorkerHeartbeat,
        WorkerCommand::Next(_) | WorkerCommand::Wait(_) => Op::BriefNext,
        WorkerCommand::Ack(_) => Op::BriefAck,
        WorkerCommand::Report(_) => Op::ReportSend,
        WorkerCommand::Confirm(_) => Op::ReportConfirm,
    })
}

fn of_bridge(verb: &BridgeCommand) -> Op {
    match verb {
        BridgeCommand::Start(_) | BridgeCommand::Stop(_) => Op::BridgeServe,
        BridgeCommand::Send(_) | BridgeCommand::Clear(_) => Op::BridgeSend,
        BridgeCommand::Status(_) | BridgeCommand::Outbox(_) | BridgeCommand::Snippet(_) => {
            Op::BridgeShow
        }
    }
}
