//! Which verb is which function.
//!
//! Owns that each verb passes the table of operations first, which says who may ask for it.

use flagpost_core::operations::Operation;

use crate::{
    args::{Command, DailyCommand, TaskCommand},
    commands::{
        acp, add, answer, attach, board, bridge, claim, cockpit, completions, config, coord,
        daemon, demo, dep, diff, doctor, edit, export, finish, fleet, graph, history, hooks,
        import, index, init, instructions, land, list, logs, man, mcp, moves, msg, needs, note,
        notify, open, permission, policy, ready, relay, relocate, reserve, review, rm, run, schema,
        search, session, show, stats, status, stop, tags, timer, undo, worker, worktree,
    },
    context::Context,
    groups, operation,
    output::Answer,
    schemas,
};

/// Carries out a command; none is `status`.
pub fn run(context: &Context, command: Option<Command>) -> anyhow::Result<Answer> {
    let asked = command.as_ref().map(|it| operation::of(context, it));
    let operation = asked.transpose()?;
    if let Some(operation) = operation {
        context.permit(operation)?;
    }
    if !matches!(
        operation,
        Some(Operation::HomeExamine | Operation::HomeMend | Operation::ProgramDescribe)
    ) {
        context.home.must_know_the_time()?;
    }
    match command {
        None => status::run(context, &status::StatusArgs::default()),
        Some(Command::Init(args)) => init::run(context, &args),
        Some(Command::Status(args)) => status::run(context, &args),
        Some(Command::Doctor(args)) => doctor::run(context, &args),
        Some(Command::Daily(verb)) => daily(context, &verb),
        Some(Command::Search(args)) => search::run(context, &args),
        Some(Command::History(args)) => history::run(context, &args),
        Some(Command::Index(verb)) => index::run(context, &verb),
        Some(Command::Run(args)) => run::run(context, &args),
        Some(Command::Stop(args)) => stop::run(context, &args),
        Some(Command::Diff(args)) => diff::run(context, &args),
        Some(Command::Open(args)) => open::run(context, &args),
        Some(Command::Attach(args)) => attach::run(context, &args),
        Some(Command::Review(args)) => review::review(context, &args),
        Some(Command::Approve(args)) => review::approve(context, &args),
        Some(Command::Return(args)) => review::return_it(context, &args),
        Some(Command::Land(args)) => land::run(context, &args),
        Some(Command::Session(verb)) => session::run(context, &verb),
        Some(Command::Worktree(verb)) => worktree::run(context, &verb),
        Some(Command::Config(verb)) => config::run(context, &verb),
        Some(Command::Policy(verb)) => policy::run(context, &verb),
        Some(Command::Gate(verb)) => relay::gate(context, &verb),
        Some(Command::Inbox(args)) => needs::inbox(context, &args),
        Some(Command::Allow(args)) => permission::allow(context, &args),
        Some(Command::Deny(args)) => permission::deny(context, &args),
        Some(Command::Permission(verb)) => permission::run(context, &verb),
        Some(Command::Relay(verb)) => relay::run(context, &verb),
        Some(Command::Msg(verb)) => msg::run(context, &verb),
        Some(Command::Reserve(verb)) => reserve::run(context, &verb),
        Some(Command::Worker(verb)) => worker::run(context, &verb),
        Some(Command::Fleet(verb)) => fleet::run(context, &verb),
        Some(Command::Slash(args)) => relay::slash::run(context, &args),
        Some(Command::Up(args)) => daemon::up(context, &args),
        Some(Command::Down(args)) => daemon::down(context, &args),
        Some(Command::Cockpit(args)) => cockpit::run(context, &args),
        Some(Command::Board(args)) => board::run(context, &args),
        // Answered before anything is opened.
        Some(Command::Hook(_)) => Ok(Answer::silent()),
        Some(Command::Hooks(verb)) => hooks::run(context, &verb),
        Some(Command::Mcp(args)) => mcp::run(context, &args),
        Some(Command::Acp(args)) => acp::run(context, &args),
        Some(Command::Codex(args)) => acp::codex(context, &args),
        Some(Command::Logs(args)) => logs::run(context, &args),
        Some(Command::Daemon(verb)) => daemon::run(context, &verb),
        Some(Command::Bridge(verb)) => bridge::run(context, &verb),
        Some(Command::Coord(args)) => coord::run(context, &args),
        Some(Command::Demo(args)) => demo::run(context, &args),
        Some(Command::Task(verb)) => task(context, &verb),
        Some(Command::Instructions(args)) => instructions::run(context, &args),
        Some(Command::Notify(verb)) => notify::run(context, &verb),
        Some(Command::Completions(args)) => completions::run(context, &args),
        Some(Command::Man(args)) => man::run(context, groups::program(), &args),
        Some(Command::Schema(args)) => schema::run(context, &schemas::all(), &args),
    }
}

fn daily(context: &Context, verb: &DailyCommand) -> anyhow::Result<Answer> {
    match verb {
        DailyCommand::Add(args) => add::run(context, args),
        DailyCommand::List(args) => list::run(context, args),
        DailyCommand::Show(args) => show::run(context, args),
        DailyCommand::Edit(args) => edit::run(context, args),
        DailyCommand::Note(args) => note::run(context, args),
        DailyCommand::Ready(args) => ready::run(context, args),
        DailyCommand::Graph(args) => graph::run(context, args),
        DailyCommand::Import(args) => import::run(context, args),
        DailyCommand::Export(args) => export::run(context, args),
        DailyCommand::Undo(args) => undo::run(context, args),
        DailyCommand::Answer(args) => answer::run(context, args),
        DailyCommand::Claim(args) => claim::run(context, args),
        DailyCommand::Done(args) => finish::done(context, args),
        DailyCommand::Fail(args) => finish::fail(context, args),
        DailyCommand::Stuck(args) => finish::stuck(context, args),
        DailyCommand::Release(args) => moves::release(context, args),
        DailyCommand::Reopen(args) => moves::reopen(context, args),
        DailyCommand::Cancel(args) => moves::cancel(context, args),
        DailyCommand::Rm(args) => rm::run(context, args),
    }
}

fn task(context: &Context, verb: &TaskCommand) -> anyhow::Result<Answer> {
    match verb {
        TaskCommand::Daily(verb) => daily(context, verb),
        TaskCommand::Start(args) => moves::start(context, args),
        TaskCommand::Renew(args) => moves::renew(context, args),
        TaskCommand::Timer(verb) => timer::run(context, verb),
        TaskCommand::Move(args) => relocate::run(context, args),
        TaskCommand::Tags(args) => tags::tags(context, args),
        TaskCommand::Projects(args) => tags::projects(context, args),
        TaskCommand::Stats(args) => stats::run(context, args),
        TaskCommand::Dep(verb) => dep::run(context, verb),
    }
}
