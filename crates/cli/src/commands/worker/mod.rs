//! `worker`: the fleet, and a worker's own side of its mail.

pub mod join;
pub mod next;
pub mod report;
pub mod token;

use clap::Subcommand;
use flagpost_core::{
    answers::WorkersPage,
    relay::workers::{self, Traits, WorkerView},
};
use flagpost_model::{
    WorkerId,
    worker::{Liveness, Worker as Record},
};

use crate::{
    commands::capabilities::Capabilities, context::Context, output::Answer, screen::Screen,
};

/// The verbs on workers.
#[derive(Debug, Subcommand)]
pub enum WorkerCommand {
    Add(WorkerAddArgs),
    List(WorkerListArgs),
    Show(WorkerShowArgs),
    Rm(WorkerRmArgs),
    Heartbeat(WorkerHeartbeatArgs),
    Join(join::JoinArgs),
    Leave(join::LeaveArgs),
    Token(token::TokenArgs),
    Next(next::NextArgs),
    Wait(next::WorkerWaitArgs),
    Ack(next::WorkerAckArgs),
    Report(report::ReportArgs),
    Confirm(report::ConfirmArgs),
}

/// What is known about a worker
#[derive(Debug, clap::Args)]
struct WorkerTraitArgs {
    /// Which agent it is, as in claude
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    #[command(flatten)]
    can: Capabilities,
    /// Its process: it counts as live while that runs
    #[arg(long, value_name = "PID")]
    pid: Option<u32>,
    /// Its pane, as in fleet:1.0
    #[arg(long, value_name = "TARGET")]
    tmux: Option<String>,
    /// Where it works
    #[arg(long, value_name = "DIR")]
    worktree: Option<String>,
}

/// Add a worker to the fleet
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost worker add W3 --agent claude --pid $$")]
pub struct WorkerAddArgs {
    /// Its id, as in W3
    pub worker: String,
    #[command(flatten)]
    about: WorkerTraitArgs,
}

/// List the fleet: who is live, and what waits
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost worker list")]
pub struct WorkerListArgs {
    /// Those that were taken off too
    #[arg(long, short)]
    all: bool,
}

/// Show a worker
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost worker show W3")]
pub struct WorkerShowArgs {
    /// The worker
    worker: String,
}

/// Take a worker off the fleet; its mail stays
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost worker rm W3\n\
    'flagpost worker add' brings it back; its numbers go on where they were.")]
pub struct WorkerRmArgs {
    /// The worker; an agent takes off only itself
    pub worker: String,
    /// Even where nobody has decided on, or read, all of its mail
    #[arg(long)]
    force: bool,
}

/// Give a sign of life, and say what has changed
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost worker heartbeat --as W3 --pid 4711")]
pub struct WorkerHeartbeatArgs {
    /// The worker [default: who acts]
    worker: Option<String>,
    #[command(flatten)]
    about: WorkerTraitArgs,
}

impl WorkerTraitArgs {
    fn traits(&self) -> Traits {
        Traits {
            agent: self.agent.clone(),
            capabilities: self.can.words(),
            pid: self.pid,
            tmux: self.tmux.clone(),
            worktree: self.worktree.clone(),
        }
    }
}

/// Carries out the verb.
pub fn run(context: &Context, verb: &WorkerCommand) -> anyhow::Result<Answer> {
    match verb {
        WorkerCommand::Add(args) => add(context, args),
        WorkerCommand::List(args) => list(context, args),
        WorkerCommand::Show(args) => show(context, args),
        WorkerCommand::Rm(args) => rm(context, args),
        WorkerCommand::Heartbeat(args) => heartbeat(context, args),
        WorkerCommand::Join(args) => join::join(context, args),
        WorkerCommand::Leave(args) => join::leave(context, args),
        WorkerCommand::Token(args) => token::run(context, args),
        WorkerCommand::Next(args) => next::next(context, args),
        WorkerCommand::Wait(args) => next::wait(context, args),
        WorkerCommand::Ack(args) => next::ack(context, args),
        WorkerCommand::Report(args) => report::run(context, args),
        WorkerCommand::Confirm(args) => report::confirm(context, args),
    }
}

fn add(context: &Context, args: &WorkerAddArgs) -> anyhow::Result<Answer> {
    let worker: WorkerId = args.worker.parse()?;
    context.repository_or_register()?;
    let fleet = context.fleet()?;
    workers::register(&fleet, &context.actor()?, &worker, args.about.traits())?;
    let seen = workers::show(&fleet.mail(&worker)?)?;
    Ok(answer(&seen, format!("added {worker}")))
}

fn show(context: &Context, args: &WorkerShowArgs) -> anyhow::Result<Answer> {
    let seen = workers::show(&context.fleet()?.mail(&args.worker.parse()?)?)?;
    let worker = &seen.worker;
    let screen = Screen::of(context);
    let name = screen.bold(worker.id.as_str());
    let mut text = format!("{name} {}\n", screen.state(how(&seen)));
    let withheld = match seen.withheld {
        0 => String::new(),
        n => format!("{n} withheld, "),
    };
    let lines = [
        ("agent", worker.agent.clone()),
        (
            "can",
            Some(worker.capabilities.join(", ")).filter(|it| !it.is_empty()),
        ),
        ("pid", worker.pid.map(|pid| pid.to_string())),
        ("tmux", worker.tmux.clone()),
        ("worktree", worker.worktree.clone()),
        (
            "token",
            seen.has_token
                .then(|| "opens /mcp of the daemon".to_owned()),
        ),
        ("added", Some(screen.time(worker.registered_at))),
        ("seen", Some(seen_at(screen, worker))),
        (
            "inbox",
            Some(format!(
                "{} to decide, {withheld}{} to read",
                seen.pending, seen.unread
            )),
        ),
        ("outbox", Some(format!("{} to read", seen.reports))),
    ];
    for (name, value) in lines {
        if let Some(value) = value {
            text += &format!("  {name:<9}{}\n", crate::terminal::line(&value));
        }
    }
    Ok(answer(&seen, text))
}

fn rm(context: &Context, args: &WorkerRmArgs) -> anyhow::Result<Answer> {
    let worker: WorkerId = args.worker.parse()?;
    let fleet = context.fleet()?;
    workers::retire(&fleet, &context.actor()?, &worker, args.force)?;
    let seen = workers::show(&fleet.mail(&worker)?)?;
    Ok(answer(
        &seen,
        format!("took {worker} off the fleet; its mail stays"),
    ))
}

fn heartbeat(context: &Context, args: &WorkerHeartbeatArgs) -> anyhow::Result<Answer> {
    let mail = match &args.worker {
        Some(worker) => {
            let speaker = context.settings.speaker(Some(worker))?;
            context.fleet()?.mail(&speaker.name)?
        }
        None => context.own_mail()?,
    };
    let worker: Record = workers::heartbeat(&mail, args.about.traits())?;
    let seen = workers::show(&mail)?;
    let text = match seen.liveness {
        // It was taken off.
        Liveness::Silent => format!("{} belongs to the fleet no more", worker.id),
        Liveness::Heartbeat | Liveness::Process => format!("{} is live", worker.id),
    };
    Ok(answer(&seen, text))
}

fn list(context: &Context, args: &WorkerListArgs) -> anyhow::Result<Answer> {
    let (mut all, skipped) = workers::list(&context.fleet()?)?;
    all.retain(|it| args.all || it.worker.standing == flagpost_model::worker::WorkerStatus::Active);
    let screen = Screen::of(context);
    let rows = all.iter().map(|seen| {
        let number = |n: usize| if n == 0 { String::new() } else { n.to_string() };
        vec![
            seen.worker.id.to_string(),
            screen.state(how(seen)),
            seen.worker.agent.clone().unwrap_or_default(),
            number(seen.pending),
            number(seen.withheld),
            number(seen.unread),
            number(seen.reports),
            seen_at(screen, &seen.worker),
        ]
    });
    let text = match all.is_empty() {
        true => "no workers yet; 'flagpost worker add W1' adds one".to_owned(),
        false => {
            let header = [
                "WORKER",
                "STATE",
                "AGENT",
                "TO DECIDE",
                "WITHHELD",
                "TO READ",
                "REPORTS",
                "LAST SEEN",
            ];
            screen.table(&header, rows.collect())
        }
    };
    let page = WorkersPage::new(all.iter().collect(), all.len(), &skipped);
    Ok(Answer::of(&page)
        .text(text)
        .ids(all.iter().map(|it| &it.worker.id))
        .notes(crate::shape::skipped_notes(&skipped)))
}

/// How a worker is, in a word.
fn how(seen: &WorkerView) -> &'static str {
    match (seen.worker.standing, seen.liveness) {
        (flagpost_model::worker::WorkerStatus::Retired, _) => "retired",
        (_, Liveness::Heartbeat | Liveness::Process) => "live",
        (_, Liveness::Silent) => "silent",
    }
}

fn seen_at(screen: Screen, worker: &Record) -> String {
    let at = worker.last_seen.map(|at| screen.time(at));
    at.unwrap_or_else(|| "never".to_owned())
}

fn answer(seen: &WorkerView, text: String) -> Answer {
    Answer::of(seen).text(text).ids([&seen.worker.id])
}
