//! What can be typed.
//!
//! Owns the options that every verb takes, and the list of verbs. The doc comments are the help.

use clap::{Parser, Subcommand, ValueEnum};

use crate::commands;

/// Coordinate a fleet of coding agents through plain files.
#[derive(Debug, Parser)]
#[command(
    name = "flagpost",
    version,
    max_term_width = 100,
    after_help = "Example: flagpost add 'Write the parser' && flagpost run --agent claude\n\n\
        Without a command: what is going on, and what waits for you.\n\
        Exit codes: 0 ok, 1 failed, 2 usage, 3 not found, 4 conflict, 5 timed out, 6 invalid."
)]
pub struct Args {
    /// Options of every command.
    #[command(flatten)]
    pub globals: Globals,
    /// The command.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Options of every command.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Globals {
    /// Answer in JSON: one object, or one per line of a stream
    #[arg(long, global = true)]
    pub json: bool,
    /// Print ids only
    #[arg(long, short, global = true, conflicts_with = "json")]
    pub quiet: bool,
    /// Act as [default: $FLAGPOST_WORKER, else your login name]
    #[arg(long = "as", alias = "agent-id", value_name = "ID", global = true)]
    pub actor: Option<String>,
    /// The list [default: $FLAGPOST_LIST, else the repository's]
    #[arg(long, value_name = "NAME", global = true)]
    pub list: Option<String>,
    /// Colour: auto, always or never; auto heeds NO_COLOR
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN", global = true, hide_possible_values = true, hide_default_value = true)]
    pub color: Color,
    /// Show the chain of causes behind an error
    #[arg(long, short, global = true)]
    pub verbose: bool,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    Init(commands::init::Args),
    Status(commands::status::Args),
    Doctor(commands::doctor::Args),
    Add(commands::add::Args),
    List(commands::list::Args),
    Show(commands::show::Args),
    Ready(commands::ready::Args),
    Claim(commands::claim::Args),
    Done(commands::finish::DoneArgs),
    Fail(commands::finish::FailArgs),
    Stuck(commands::finish::StuckArgs),
    Answer(commands::answer::Args),
    Search(commands::search::Args),
    History(commands::history::Args),
    /// Ask everything in SQL: the index and its messages table
    #[command(
        subcommand,
        after_help = "Example: flagpost index sql 'SELECT * FROM messages'"
    )]
    Index(commands::index::Index),
    Run(commands::run::Args),
    Stop(commands::stop::Args),
    /// See and mend sessions: the runs of a list
    #[command(subcommand, after_help = "Example: flagpost session show")]
    Session(commands::session::Session),
    /// See and change what is settled for all runs
    #[command(
        subcommand,
        after_help = "Example: flagpost config set run.agent claude"
    )]
    Config(commands::config::Config),
    Assign(commands::relay::assign::Args),
    Ratify(commands::relay::decide::RatifyArgs),
    Inbox(commands::relay::mail::InboxArgs),
    Outbox(commands::relay::mail::OutboxArgs),
    /// Propose, decide, read: the mail of controllers and workers
    #[command(subcommand, after_help = "Example: flagpost relay inbox W3")]
    Relay(commands::relay::Relay),
    /// Typed messages between an orchestrator and its workers
    #[command(
        subcommand,
        after_help = "Example: flagpost msg send --subject DONE --task b1 'Parser written' --as W1"
    )]
    Msg(commands::msg::Msg),
    /// Announce who works on which files, before two do
    #[command(
        subcommand,
        after_help = "Example: flagpost reserve add 'src/parser/**' --as W1"
    )]
    Reserve(commands::reserve::Reserve),
    /// See and change the fleet; a worker's side of its mail
    #[command(
        subcommand,
        after_help = "Example: flagpost worker add W3 --agent claude"
    )]
    Worker(commands::worker::Worker),
    Slash(commands::relay::slash::Args),
    Up(commands::daemon::UpArgs),
    Down(commands::daemon::DownArgs),
    Logs(commands::logs::Args),
    /// Start, end and hear the daemon, which tells screens what happens
    #[command(subcommand, after_help = "Example: flagpost daemon logs --follow")]
    Daemon(commands::daemon::Daemon),
    /// The JSON bridge: two files for agents that run no commands
    #[command(subcommand, after_help = "Example: flagpost agent start")]
    Agent(commands::agent::Agent),
    Demo(commands::demo::Args),
    /// Work with the tasks of a list
    #[command(
        subcommand,
        after_help = "Example: flagpost task add 'Write the parser' --after 3"
    )]
    Task(Task),
    Coord(commands::coord::Args),
    Instructions(commands::instructions::Args),
    Completions(commands::completions::Args),
    Man(commands::man::Args),
    Schema(commands::schema::Args),
}

/// The verbs on tasks.
#[derive(Debug, Subcommand)]
pub enum Task {
    Add(commands::add::Args),
    List(commands::list::Args),
    Show(commands::show::Args),
    Edit(commands::edit::Args),
    Ready(commands::ready::Args),
    Claim(commands::claim::Args),
    Start(commands::moves::StartArgs),
    Done(commands::finish::DoneArgs),
    Fail(commands::finish::FailArgs),
    Stuck(commands::finish::StuckArgs),
    Answer(commands::answer::Args),
    Release(commands::moves::ReleaseArgs),
    Renew(commands::moves::RenewArgs),
    Reopen(commands::moves::ReopenArgs),
    Cancel(commands::moves::CancelArgs),
    Rm(commands::rm::Args),
    Move(commands::relocate::Args),
    Undo(commands::undo::Args),
    Note(commands::note::Args),
    #[command(subcommand)]
    Timer(commands::timer::Timer),
    Tags(commands::tags::TagsArgs),
    Projects(commands::tags::ProjectsArgs),
    Stats(commands::stats::Args),
    #[command(subcommand)]
    Dep(commands::dep::Dep),
    Graph(commands::graph::Args),
    Import(commands::import::Args),
    Export(commands::export::Args),
}
