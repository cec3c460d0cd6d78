//! `coord`: a coordination directory, which agents share with any program of that format.
//!
//! Owns which verb is which function, and which directory is meant.

pub mod agents;
pub mod discoveries;
pub mod exchange;
mod hand;
pub mod leader;
mod shown;
pub mod status;
pub mod worker;

use std::path::PathBuf;

use clap::Subcommand;
use flagpost_core::{coordination::Directory, operations::Operation};

use crate::{context::Context, output::Answer};

/// Share one table of tasks with any program: .coordination/
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost coord leader init 'Build a REST API'\n\n\
    The directory is that of --dir, else of $COORDINATION_DIR, else the nearest .coordination/ \
    upwards, else .coordination/ at the top of the repository."
)]
pub struct Args {
    /// The directory [default: $COORDINATION_DIR, else .coordination]
    #[arg(long, value_name = "DIR", global = true)]
    dir: Option<PathBuf>,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Say what is to be done, and see how far it is
    #[command(
        subcommand,
        after_help = "Example: flagpost coord leader add-task 'Write the parser' -p 2"
    )]
    Leader(leader::Leader),
    Register(agents::RegisterArgs),
    /// Take tasks, and say what came of them
    #[command(
        subcommand,
        after_help = "Example: flagpost coord worker claim --as terminal-2"
    )]
    Worker(worker::Worker),
    /// Tell everybody what you found, and read what others did
    #[command(
        subcommand,
        after_help = "Example: flagpost coord discoveries add 'The API wants a key' --as terminal-2"
    )]
    Discoveries(discoveries::Discoveries),
    Import(exchange::ImportArgs),
    Export(exchange::ExportArgs),
}

/// The second step of the arguments: which directory they mean.
#[derive(Debug)]
pub struct Place<'c> {
    /// The opened world.
    pub context: &'c Context,
    /// Where the directory is, or would be.
    pub dir: PathBuf,
}

impl<'c> Place<'c> {
    /// The directory, which must be there.
    pub fn open(&self) -> anyhow::Result<Directory<'c>> {
        Ok(Directory::open(&self.context.home, &self.dir)?)
    }
}

impl Args {
    /// What is asked of the table.
    pub fn operation(&self) -> Operation {
        match &self.verb {
            Verb::Leader(leader::Leader::Status(_))
            | Verb::Worker(worker::Worker::List(_))
            | Verb::Discoveries(discoveries::Discoveries::List(_)) => Operation::CoordinationShow,
            Verb::Leader(_) => Operation::CoordinationLead,
            Verb::Register(_) | Verb::Worker(_) | Verb::Discoveries(_) => {
                Operation::CoordinationWork
            }
            Verb::Import(_) | Verb::Export(_) => Operation::CoordinationExchange,
        }
    }
}

/// Carries out the verb.
pub fn run(context: &Context, args: &Args) -> anyhow::Result<Answer> {
    let dir = context.coordination_dir(args.dir.as_deref())?;
    let place = Place { context, dir };
    match &args.verb {
        Verb::Leader(verb) => leader::run(&place, verb),
        Verb::Register(args) => agents::register(&place, args),
        Verb::Worker(verb) => worker::run(&place, verb),
        Verb::Discoveries(verb) => discoveries::run(&place, verb),
        Verb::Import(exchange::ImportArgs {}) => exchange::import(&place),
        Verb::Export(args) => exchange::export(&place, args),
    }
}
