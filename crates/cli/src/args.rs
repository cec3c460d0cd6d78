//! What can be typed.
//!
//! Owns the list of verbs. The doc comments are the help.

use clap::{Parser, Subcommand};

use crate::{commands, globals::Globals};

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

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    Init(commands::init::InitArgs),
    Demo(commands::demo::DemoArgs),
    Status(commands::status::StatusArgs),
    Doctor(commands::doctor::DoctorArgs),
    #[command(flatten)]
    Daily(DailyCommand),
    Search(commands::search::SearchArgs),
    /// All verbs on tasks: start, move, dep, timer…
    #[command(
        subcommand,
        after_help = "Example: flagpost task add 'Write the parser' --after 3"
    )]
    Task(TaskCommand),
    Run(commands::run::RunArgs),
    Stop(commands::stop::StopArgs),
    Logs(commands::logs::LogsArgs),
    Diff(commands::diff::DiffArgs),
    Review(commands::review::ReviewArgs),
    Open(commands::open::OpenArgs),
    Attach(commands::attach::AttachArgs),
    Approve(commands::review::ApproveArgs),
    Return(commands::review::ReturnArgs),
    Land(commands::land::LandArgs),
    #[command(alias = "tui")]
    Cockpit(commands::cockpit::CockpitArgs),
    Board(commands::board::BoardArgs),
    Hook(commands::hook::HookArgs),
    /// Bring agents their mail through their hooks
    #[command(
        subcommand,
        after_help = "Example: flagpost hooks install --agent claude"
    )]
    Hooks(commands::hooks::HooksCommand),
    Mcp(commands::mcp::McpArgs),
    /// Show and recover the sessions of runs
    #[command(subcommand, after_help = "Example: flagpost session show")]
    Session(commands::session::SessionCommand),
    /// List and remove the worktrees that runs left
    #[command(subcommand, after_help = "Example: flagpost worktree list")]
    Worktree(commands::worktree::WorktreeCommand),
    Instructions(commands::instructions::InstructionsArgs),
    #[command(flatten)]
    Gate(commands::relay::GateCommand),
    Inbox(commands::needs::NeedsArgs),
    Allow(commands::permission::AllowArgs),
    Deny(commands::permission::DenyArgs),
    /// Show what agents want to do and wait for
    #[command(subcommand, after_help = "Example: flagpost permission list")]
    Permission(commands::permission::PermissionCommand),
    /// All verbs on briefs: edit, redirect, merge…
    #[command(subcommand, after_help = "Example: flagpost relay inbox W3")]
    Relay(commands::relay::RelayCommand),
    /// Manage the fleet, or read a worker's mail
    #[command(
        subcommand,
        after_help = "Example: flagpost worker add W3 --agent claude"
    )]
    Worker(commands::worker::WorkerCommand),
    /// Share lists and mail with other machines
    #[command(subcommand, after_help = "Example: flagpost fleet status")]
    Fleet(commands::fleet::FleetCommand),
    /// Exchange typed messages with workers
    #[command(
        subcommand,
        after_help = "Example: flagpost msg send --subject DONE --task b1 'Parser written' --as W1"
    )]
    Msg(commands::msg::MsgCommand),
    /// Announce who works on which files
    #[command(
        subcommand,
        after_help = "Example: flagpost reserve add 'src/parser/**' --as W1"
    )]
    Reserve(commands::reserve::ReserveCommand),
    History(commands::history::HistoryArgs),
    /// Serve agents that can only use files
    #[command(
        subcommand,
        alias = "agent",
        after_help = "Example: flagpost bridge start"
    )]
    Bridge(commands::bridge::BridgeCommand),
    Coord(commands::coord::CoordArgs),
    Schema(commands::schema::SchemaArgs),
    /// Start and stop the daemon, show its log
    #[command(subcommand, after_help = "Example: flagpost daemon logs --follow")]
    Daemon(commands::daemon::DaemonCommand),
    /// Show and change the settings
    #[command(
        subcommand,
        after_help = "Example: flagpost config set run.agent claude"
    )]
    Config(commands::config::ConfigCommand),
    /// Say which policy may decide for you
    #[command(subcommand, after_help = "Example: flagpost policy accept")]
    Policy(commands::policy::PolicyCommand),
    /// Try how you are told of what waits for you
    #[command(subcommand, after_help = "Example: flagpost notify test desktop")]
    Notify(commands::notify::NotifyCommand),
    Completions(commands::completions::CompletionsArgs),
    Man(commands::man::ManArgs),
    /// Query everything in SQL
    #[command(
        subcommand,
        after_help = "Example: flagpost index sql 'SELECT * FROM messages'"
    )]
    Index(commands::index::IndexCommand),
    #[command(hide = true)]
    Up(commands::daemon::UpArgs),
    #[command(hide = true)]
    Down(commands::daemon::DownArgs),
    #[command(hide = true)]
    Acp(commands::acp::AcpArgs),
    #[command(hide = true)]
    Codex(commands::acp::CodexArgs),
    #[command(hide = true)]
    Slash(commands::relay::slash::SlashArgs),
}

/// The verbs on tasks that are typed without their noun too.
#[derive(Debug, Subcommand)]
pub enum DailyCommand {
    Add(commands::add::AddArgs),
    #[command(alias = "ls")]
    List(commands::list::ListArgs),
    Show(commands::show::ShowArgs),
    Edit(commands::edit::EditArgs),
    Note(commands::note::NoteArgs),
    Ready(commands::ready::ReadyArgs),
    Graph(commands::graph::GraphArgs),
    Import(commands::import::ImportArgs),
    Export(commands::export::ExportArgs),
    Undo(commands::undo::UndoArgs),
    Answer(commands::answer::AnswerArgs),
    Claim(commands::claim::ClaimArgs),
    Done(commands::finish::DoneArgs),
    Fail(commands::finish::FailArgs),
    Stuck(commands::finish::StuckArgs),
    Release(commands::moves::ReleaseArgs),
    #[command(alias = "retry")]
    Reopen(commands::moves::ReopenArgs),
    Cancel(commands::moves::CancelArgs),
    Rm(commands::rm::RmArgs),
}

/// The verbs on tasks.
#[derive(Debug, Subcommand)]
pub enum TaskCommand {
    #[command(flatten)]
    Daily(Box<DailyCommand>),
    Start(commands::moves::StartArgs),
    Renew(commands::moves::RenewArgs),
    Move(commands::relocate::MoveArgs),
    #[command(subcommand)]
    Timer(commands::timer::TimerCommand),
    #[command(subcommand)]
    Dep(commands::dep::DepCommand),
    Tags(commands::tags::TagsArgs),
    Projects(commands::tags::ProjectsArgs),
    Stats(commands::stats::StatsArgs),
}
