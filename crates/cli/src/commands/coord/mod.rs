//! `coord`: a coordination directory, which agents share with any program of that format.
//!
//! Owns which verb is which function, and which directory is meant.

pub mod agents;
pub mod discoveries;
pub mod exchange;
pub mod leader;
mod shown;
pub mod status;
pub mod worker;
mod worker_words;

use std::path::PathBuf;

use clap::Subcommand;
use flagpost_core::{coordination::Directory, operations::Operation};

use crate::{context::Context, output::Answer};

/// Share a .coordination/ table of tasks
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost coord leader init 'Build a REST API'\n\n\
    The directory is that of --dir, else of $COORDINATION_DIR, else the nearest .coordination/ \
    upwards, else .coordination/ at the top of the repository."
)]
pub struct CoordArgs {
    /// The directory [default: $COORDINATION_DIR, else .coordination]
    #[arg(long, value_name = "DIR", global = true)]
    dir: Option<PathBuf>,
    #[command(subcommand)]
    verb: CoordCommand,
}

#[derive(Debug, Subcommand)]
enum CoordCommand {
    /// Say what is to be done, and see how far it is
    #[command(
        subcommand,
        after_help = "Example: flagpost coord leader add-task 'Write the parser' -p 2"
    )]
    Leader(leader::LeaderCommand),
    Register(agents::RegisterArgs),
    /// Take tasks, and say what came of them
    #[command(
        subcommand,
        after_help = "Example: flagpost coord worker claim --as terminal-2"
    )]
    Worker(worker::CoordWorkerCommand),
    /// Tell everybody what you found, and read what others did
    #[command(
        subcommand,
        after_help = "Example: flagpost coord discoveries add 'The API wants a key' --as terminal-2"
    )]
    Discoveries(discoveries::DiscoveriesCommand),
    Import(exchange::CoordImportArgs),
    Export(exchange::CoordExportArgs),
}

/// The second step of the arguments: which directory they mean.
#[derive(Debug)]
pub struct CoordContext<'c> {
    /// The opened world.
    pub context: &'c Context,
    /// Where the directory is, or would be.
    pub dir: PathBuf,
}

impl<'c> CoordContext<'c> {
    /// The directory, which must be there.
    pub fn open(&self) -> anyhow::Result<Directory<'c>> {
        Ok(Directory::open(&self.context.home, &self.dir)?)
    }
}

impl CoordArgs {
    /// What is asked of the table.
    pub fn operation(&self) -> Operation {
        match &self.verb {
            CoordCommand::Leader(leader::LeaderCommand::Status(_))
            | CoordCommand::Worker(worker::CoordWorkerCommand::List(_))
            | CoordCommand::Discoveries(discoveries::DiscoveriesCommand::List(_)) => {
                Operation::CoordinationShow
            }
            CoordCommand::Leader(_) => Operation::CoordinationLead,
            CoordCommand::Register(_) | CoordCommand::Worker(_) | CoordCommand::Discoveries(_) => {
                Operation::CoordinationWork
            }
            CoordCommand::Import(_) | CoordCommand::Export(_) => Operation::CoordinationExchange,
        }
    }
}

/// Carries out the verb.
pub fn run(context: &Context, args: &CoordArgs) -> anyhow::Result<Answer> {
    let dir = context.coordination_dir(args.dir.as_deref())?;
    let place = CoordContext { context, dir };
    match &args.verb {
        CoordCommand::Leader(verb) => leader::run(&place, verb),
        CoordCommand::Register(args) => agents::register(&place, args),
        CoordCommand::Worker(verb) => worker::run(&place, verb),
        CoordCommand::Discoveries(verb) => discoveries::run(&place, verb),
        CoordCommand::Import(exchange::CoordImportArgs {}) => exchange::import(&place),
        CoordCommand::Export(args) => exchange::export(&place, args),
    }
}
