//! Which operation a command line asks for.
//!
//! Owns the one place where a verb meets the table of `core`, which says who may ask for it. Each verb
//! passes here before anything is done. It decides nothing.

use flagpost_core::operations::Operation as Op;
use flagpost_model::WorkerId;

use super::{
    agent::Agent, config::Config, daemon::Daemon, index::Index, msg::Msg, relay::Relay,
    reserve::Reserve, session::Session, timer::Timer, worker::Worker,
};
use crate::{
    args::{Command, Task},
    context::Context,
};

/// What the command asks for; none for a slash command, which asks the table once it is read.
pub fn of(context: &Context, command: &Command) -> anyhow::Result<Option<Op>> {
    Ok(Some(match command {
        Command::Init(_) => Op::RepositoryInit,
        Command::Status(_) => Op::StatusShow,
        Command::Doctor(args) if args.fix => Op::HomeMend,
        Command::Doctor(_) => Op::HomeExamine,
        Command::Demo(_) => Op::ProgramTry,
        Command::Add(_) => Op::TaskAdd,
        Command::List(_) | Command::Show(_) | Command::Ready(_) => Op::TaskShow,
        Command::Claim(_) => Op::TaskClaim,
        Command::Done(_) => Op::TaskDone,
        Command::Fail(_) => Op::TaskFail,
        Command::Stuck(_) => Op::TaskStuck,
        Command::Answer(_) => Op::TaskAnswer,
        Command::Search(_) | Command::History(_) => Op::HistoryShow,
        Command::Index(Index::Rebuild) => Op::IndexRebuild,
        Command::Index(Index::Status | Index::Path | Index::Sql(_)) => Op::HistoryShow,
        Command::Run(_) => Op::RunStart,
        Command::Stop(_) => Op::RunStop,
        Command::Session(verb) => of_sessions(verb),
        Command::Config(Config::Set(_)) => Op::ConfigSet,
        Command::Config(Config::Unset(_)) => Op::ConfigUnset,
        Command::Config(Config::List | Config::Get(_) | Config::Path) => Op::ConfigShow,
        Command::Assign(_) => Op::BriefPropose,
        Command::Ratify(_) => Op::BriefRatify,
        Command::Inbox(_) => Op::BriefShow,
        Command::Outbox(args) => args.operation(),
        Command::Relay(verb) => of_relay(verb),
        Command::Msg(verb) => of_messages(verb),
        Command::Reserve(Reserve::Add(_)) => Op::ReservationAdd,
        Command::Reserve(Reserve::Release(_)) => Op::ReservationRelease,
        Command::Reserve(Reserve::List(_) | Reserve::Check(_)) => Op::ReservationShow,
        Command::Worker(verb) => of_workers(context, verb)?,
        Command::Slash(_) => return Ok(None),
        Command::Up(_) | Command::Daemon(Daemon::Up(_)) => Op::DaemonUp,
        Command::Down(_) | Command::Daemon(Daemon::Down(_)) => Op::DaemonDown,
        Command::Daemon(Daemon::Logs(_)) => Op::DaemonShow,
        Command::Logs(_) => Op::SessionShow,
        Command::Agent(verb) => of_bridge(verb),
        Command::Task(verb) => of_tasks(verb),
        Command::Coord(args) => args.operation(),
        Command::Instructions(_)
        | Command::Completions(_)
        | Command::Man(_)
        | Command::Schema(_) => Op::ProgramDescribe,
    }))
}

fn of_tasks(verb: &Task) -> Op {
    match verb {
        Task::Add(_) => Op::TaskAdd,
        Task::List(_)
        | Task::Show(_)
        | Task::Ready(_)
        | Task::Tags(_)
        | Task::Projects(_)
        | Task::Stats(_)
        | Task::Graph(_) => Op::TaskShow,
        Task::Edit(_) => Op::TaskEdit,
        Task::Claim(_) => Op::TaskClaim,
        Task::Start(_) => Op::TaskStart,
        Task::Done(_) => Op::TaskDone,
        Task::Fail(_) => Op::TaskFail,
        Task::Stuck(_) => Op::TaskStuck,
        Task::Answer(_) => Op::TaskAnswer,
        Task::Release(args) => Op::releasing(args.force),
        Task::Renew(_) => Op::TaskRenew,
        Task::Reopen(_) => Op::TaskReopen,
        Task::Cancel(_) => Op::TaskCancel,
        Task::Rm(_) => Op::TaskRemove,
        Task::Move(_) => Op::TaskMove,
        Task::Undo(_) => Op::TaskUndo,
        Task::Note(_) => Op::TaskNote,
        Task::Timer(Timer::Show) => Op::TaskShow,
        Task::Timer(Timer::Start { .. } | Timer::Stop { .. }) => Op::TaskTime,
        Task::Dep(_) => Op::TaskLink,
        Task::Import(_) => Op::TaskImport,
        Task::Export(_) => Op::TaskExport,
    }
}

fn of_sessions(verb: &Session) -> Op {
    match verb {
        Session::List | Session::Show(_) | Session::Timeline(_) => Op::SessionShow,
        Session::Recover => Op::SessionRecover,
        Session::Archive => Op::SessionArchive,
    }
}

fn of_relay(verb: &Relay) -> Op {
    match verb {
        Relay::Assign(_) | Relay::Redirect(_) | Relay::Merge(_) => Op::BriefPropose,
        Relay::Ratify(_) => Op::BriefRatify,
        Relay::Reject(_) => Op::BriefReject,
        Relay::Edit(_) => Op::BriefEdit,
        Relay::Inbox(_) => Op::BriefShow,
        Relay::Outbox(args) => args.operation(),
        Relay::Gc(_) => Op::MailArchive,
    }
}

fn of_messages(verb: &Msg) -> Op {
    match verb {
        Msg::Send(args) if args.ratify => Op::BriefRatify,
        Msg::Send(_) => Op::MessageSend,
        Msg::Recv(_) => Op::MessageReceive,
        Msg::Ack(_) => Op::MessageAck,
        Msg::Unacked(_) | Msg::Thread(_) | Msg::List(_) | Msg::Show(_) | Msg::Wait(_) => {
            Op::MessageShow
        }
        Msg::Import(_) => Op::MessageImport,
    }
}

fn of_workers(context: &Context, verb: &Worker) -> anyhow::Result<Op> {
    let asked = context.globals.actor.as_deref();
    let agent = context.settings.acting_agent(asked)?;
    let named = |name: &str| name.parse::<WorkerId>();
    Ok(match verb {
        Worker::Add(args) => Op::adding(&named(&args.worker)?, agent.as_ref()),
        Worker::Rm(args) => Op::removing(&named(&args.worker)?, agent.as_ref()),
        Worker::List(_) | Worker::Show(_) => Op::WorkerShow,
        Worker::Heartbeat(_) => Op::WorkerHeartbeat,
        Worker::Next(_) | Worker::Wait(_) => Op::BriefNext,
        Worker::Ack(_) => Op::BriefAck,
        Worker::Report(_) => Op::ReportSend,
        Worker::Confirm(_) => Op::ReportConfirm,
    })
}

fn of_bridge(verb: &Agent) -> Op {
    match verb {
        Agent::Start(_) | Agent::Stop(_) => Op::BridgeServe,
        Agent::Send(_) | Agent::Clear(_) => Op::BridgeSend,
        Agent::Status(_) | Agent::Outbox(_) | Agent::Snippet(_) => Op::BridgeShow,
    }
}
