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
pub struct Cli {
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
    Init(commands::init::InitArgs),
    Status(commands::status::StatusArgs),
    Doctor(commands::doctor::DoctorArgs),
    Add(commands::add::AddArgs),
    List(commands::list::ListArgs),
    Show(commands::show::ShowArgs),
    Ready(commands::ready::ReadyArgs),
    Claim(commands::claim::ClaimArgs),
    Done(commands::finish::DoneArgs),
    Fail(commands::finish::FailArgs),
    Stuck(commands::finish::StuckArgs),
    Answer(commands::answer::AnswerArgs),
    Search(commands::search::SearchArgs),
    History(commands::history::HistoryArgs),
    /// Ask everything in SQL: the index and its messages table
    #[command(
        subcommand,
        after_help = "Example: flagpost index sql 'SELECT * FROM messages'"
    )]
    Index(commands::index::IndexCommand),
    Run(commands::run::RunArgs),
    Stop(commands::stop::StopArgs),
    /// See and mend sessions: the runs of a list
    #[command(subcommand, after_help = "Example: flagpost session show")]
    Session(commands::session::SessionCommand),
    /// See and change what is settled for all runs
    #[command(
        subcommand,
        after_help = "Example: flagpost config set run.agent claude"
    )]
    Config(commands::config::ConfigCommand),
    Assign(commands::relay::assign::AssignArgs),
    Ratify(commands::relay::decide::RatifyArgs),
    Inbox(commands::relay::mail::InboxArgs),
    Outbox(commands::relay::mail::OutboxArgs),
    /// Propose, decide, read: the mail of controllers and workers
    #[command(subcommand, after_help = "Example: flagpost relay inbox W3")]
    Relay(commands::relay::RelayCommand),
    /// Typed messages between an orchestrator and its workers
    #[command(
        subcommand,
        after_help = "Example: flagpost msg send --subject DONE --task b1 'Parser written' --as W1"
    )]
    Msg(commands::msg::MsgCommand),
    /// Announce who works on which files, before two do
    #[command(
        subcommand,
        after_help = "Example: flagpost reserve add 'src/parser/**' --as W1"
    )]
    Reserve(commands::reserve::ReserveCommand),
    /// See and change the fleet; a worker's side of its mail
    #[command(
        subcommand,
        after_help = "Example: flagpost worker add W3 --agent claude"
    )]
    Worker(commands::worker::WorkerCommand),
    Slash(commands::relay::slash::SlashArgs),
    Up(commands::daemon::UpArgs),
    Down(commands::daemon::DownArgs),
    Logs(commands::logs::LogsArgs),
    /// Start, end and hear the daemon, which tells screens what happens
    #[command(subcommand, after_help = "Example: flagpost daemon logs --follow")]
    Daemon(commands::daemon::DaemonCommand),
    /// The JSON bridge: two files for agents that run no commands
    #[command(subcommand, after_help = "Example: flagpost agent start")]
    Agent(commands::agent::AgentCommand),
    Demo(commands::demo::DemoArgs),
    /// Work with the tasks of a list
    #[command(
        subcommand,
        after_help = "Example: flagpost task add 'Write the parser' --after 3"
    )]
    Task(TaskCommand),
    Coord(commands::coord::CoordArgs),
    Instructions(commands::instructions::InstructionsArgs),
    Completions(commands::completions::CompletionsArgs),
    Man(commands::man::ManArgs),
    Schema(commands::schema::SchemaArgs),
}

/// The verbs on tasks.
#[derive(Debug, Subcommand)]
pub enum TaskCommand {
    Add(commands::add::AddArgs),
    List(commands::list::ListArgs),
    Show(commands::show::ShowArgs),
    Edit(commands::edit::EditArgs),
    Ready(commands::ready::ReadyArgs),
    Claim(commands::claim::ClaimArgs),
    Start(commands::moves::StartArgs),
    Done(commands::finish::DoneArgs),
    Fail(commands::finish::FailArgs),
    Stuck(commands::finish::StuckArgs),
    Answer(commands::answer::AnswerArgs),
    Release(commands::moves::ReleaseArgs),
    Renew(commands::moves::RenewArgs),
    Reopen(commands::moves::ReopenArgs),
    Cancel(commands::moves::CancelArgs),
    Rm(commands::rm::RmArgs),
    Move(commands::relocate::MoveArgs),
    Undo(commands::undo::UndoArgs),
    Note(commands::note::NoteArgs),
    #[command(subcommand)]
    Timer(commands::timer::TimerCommand),
    Tags(commands::tags::TagsArgs),
    Projects(commands::tags::ProjectsArgs),
    Stats(commands::stats::StatsArgs),
    #[command(subcommand)]
    Dep(commands::dep::DepCommand),
    Graph(commands::graph::GraphArgs),
    Import(commands::import::ImportArgs),
    Export(commands::export::ExportArgs),
}
