//! `fleet`: one list and one gate on several machines.
//!
//! Owns the arguments.

pub mod following;
pub mod reseed;
pub mod servers;
pub mod status;
pub mod verbs;

use std::{net::SocketAddr, path::PathBuf};

use clap::Subcommand;
use flagpost_model::MachineId;

use crate::{context::Context, output::Answer};

/// The verbs on the machines of a fleet.
#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    Up(FleetUpArgs),
    Serve(FleetServeArgs),
    Share(FleetShareArgs),
    Invite(FleetInviteArgs),
    Join(FleetJoinArgs),
    Status(FleetStatusArgs),
    Leave(FleetLeaveArgs),
    Rm(FleetRmArgs),
    Restore(FleetRestoreArgs),
    Compact(FleetCompactArgs),
}

/// Found a fleet, with its server on this machine
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost fleet up\n\
    It needs nats-server 2.12 or newer, which the daemon keeps running. Nothing is shared yet.\n\
    With --beside said twice there are three servers: the fleet goes on when one is lost. It writes what\n\
    the other two are told with 'flagpost fleet serve'. They listen for each other 2000 ports further on.")]
pub struct FleetUpArgs {
    /// Where the server listens [default: as before, else 127.0.0.1:4222]
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<SocketAddr>,
    /// Encrypt nothing on the way to the server: the network is private
    #[arg(long)]
    pub private_network: bool,
    /// Where another of three servers will listen
    #[arg(long, value_name = "ADDR")]
    pub beside: Vec<SocketAddr>,
}

/// Keep one of a fleet's three servers on this machine
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: ssh box flagpost fleet serve - < for-10.0.0.6-4222.json\n\
    The file is one that 'flagpost fleet up --beside …' wrote on the first machine. It is a secret."
)]
pub struct FleetServeArgs {
    /// What this server is told; - is stdin
    pub file: PathBuf,
}

/// Share this repository with the fleet
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost fleet share\n\
    Its tasks, mail, reservations and history are then the same on every machine that joins.\n\
    Only the machine that founded the fleet can do it.")]
pub struct FleetShareArgs {}

/// Let one more machine in: print its invitation
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost fleet invite --gate\n\
    The line is a secret: whoever has it is that machine. It is printed once.")]
pub struct FleetInviteArgs {
    /// People decide on briefs there
    #[arg(long)]
    pub gate: bool,
    /// How the machine reaches the server [default: where it listens]
    #[arg(long, value_name = "HOST:PORT")]
    pub address: Option<String>,
}

/// Join a fleet with the clone you stand in
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost fleet join 'tls://127.0.0.1:4222#SU….…'\n\
    Once joined, 'flagpost fleet join' in another clone brings that one."
)]
pub struct FleetJoinArgs {
    /// The line of 'flagpost fleet invite'; - is stdin [default: as before]
    pub invitation: Option<String>,
}

/// Show the fleet's server, repositories and machines
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost fleet status --json\n\
    While the server is away, what agents here say of their work is kept: KEPT counts it.")]
pub struct FleetStatusArgs {}

/// Leave the fleet; what is here stays
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost fleet leave\n\
    What is shared can still be read here, and is not changed any more. Reports that the fleet has not heard \
    yet are kept, and told once this machine joins again.")]
pub struct FleetLeaveArgs {}

/// Shut a machine out of the fleet
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost fleet rm tmnrax2b\n\
    Its key opens no server any more. What it has stays there, and what it did stays done.")]
pub struct FleetRmArgs {
    /// The machine, as 'flagpost fleet status' calls it
    pub machine: MachineId,
}

/// Begin this repository's order anew, after the server lost it
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost fleet restore\n\
    It begins with what is on this machine, the one that founded the fleet; the others take it over.\n\
    What only another machine has is kept there in quarantine. Cut short, it is done again.")]
pub struct FleetRestoreArgs {
    /// Also where another machine has more than this one
    #[arg(long)]
    pub even_behind: bool,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}

/// Make this repository's order short on the server
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost fleet compact\n\
    The server then has what the repository has come to, and no longer each change that led there; every\n\
    machine keeps its whole history. Changes wait for it. Only the machine that founded the fleet can do it.")]
pub struct FleetCompactArgs {
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}

/// Carries out the verb.
pub fn run(context: &Context, verb: &FleetCommand) -> anyhow::Result<Answer> {
    verbs::run(context, verb)
}
