//! `coord register`, `coord worker heartbeat`: who takes part.

use flagpost_core::{Error, answers::CoordAgentAnswer, coordination};
use flagpost_model::{WorkerId, coordination::CoordAgent};

use super::{
    CoordContext,
    worker_words::{self, WorkerWords},
};
use crate::{commands::capabilities::Capabilities, output::Answer};

/// Say who you are and what you can do
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost coord register terminal-2 --can rust,sql")]
pub struct RegisterArgs {
    /// The agent [default: who acts]
    agent: Option<String>,
    #[command(flatten)]
    can: Capabilities,
}

/// Give a sign of life: what you hold stays yours
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost coord worker heartbeat --task task-001 --as terminal-2")]
pub struct CoordHeartbeatArgs {
    /// The task that you work on: exit code 4 where you do not hold it
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// The worker, as other programs of the format want it
    #[arg(hide = true)]
    agent: Option<String>,
}

/// Registers.
pub fn register(place: &CoordContext<'_>, args: &RegisterArgs) -> anyhow::Result<Answer> {
    let agent: WorkerId = match &args.agent {
        Some(name) => place.context.settings.speaker(Some(name))?.name,
        None => place.context.actor()?,
    };
    let (directory, made) = match place.open() {
        Ok(directory) => (directory, None),
        Err(error) if is_missing(&error) => {
            let directory = coordination::lay_out(&place.context.home, &place.dir, None)?;
            let made = format!("made {}", directory.dir().display());
            (directory, Some(made))
        }
        Err(error) => return Err(error),
    };
    let agent = coordination::register(&directory, &agent, &args.can.words())?;
    Ok(answer(place, &agent, format!("registered {}", agent.id)).notes(made))
}

fn is_missing(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(Error::NotFound { .. }))
}

/// Gives the sign.
pub fn heartbeat(place: &CoordContext<'_>, args: &CoordHeartbeatArgs) -> anyhow::Result<Answer> {
    let directory = place.open()?;
    let WorkerWords { actor, rest: [] } =
        worker_words::read(place, &directory, &[args.agent.as_deref()])?;
    let task = args.task.as_deref();
    let task = task.map(|it| directory.resolve(it)).transpose()?;
    let agent = coordination::heartbeat(&directory, &actor, task.as_ref())?;
    Ok(answer(place, &agent, format!("{} is at work", agent.id)))
}

fn answer(place: &CoordContext<'_>, agent: &CoordAgent, text: String) -> Answer {
    let zone = place.context.home.zone();
    Answer::of(&CoordAgentAnswer::new((agent, &zone).into()))
        .text(text)
        .ids([&agent.id])
}
