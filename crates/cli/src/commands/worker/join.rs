//! `worker join`: a session that a person started takes part in the fleet.

use flagpost_core::{
    hooks::JoinedSessions,
    relay::workers::{self, Traits},
};
use flagpost_model::WorkerId;

use crate::{context::Context, output::Answer};

/// Let an agent's session join the fleet as this worker
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost worker join W3 --agent claude\n\n\
    For a session that you started without FLAGPOST_WORKER, with installed hooks. Typed by the agent in its\n\
    session, the session is the worker at once. Typed by you, the next session that starts in this\n\
    repository within ten minutes is. From then on its hooks and its commands speak for the worker.\n\
    A worker that is not in the fleet is added. The session leaves when its client ends.")]
pub struct JoinArgs {
    /// Its id, as in W3
    pub worker: String,
    /// Which agent it is, as in claude
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The client's session [default: the one that this is typed in, else the next that starts here]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

/// Joins.
pub fn run(context: &Context, args: &JoinArgs) -> anyhow::Result<Answer> {
    let worker: WorkerId = args.worker.parse()?;
    let repository = context.repository_or_register()?;
    let fleet = context.fleet()?;
    let traits = Traits {
        agent: args.agent.clone(),
        ..Traits::default()
    };
    match workers::register(&fleet, &context.actor()?, &worker, traits) {
        Ok(_) | Err(flagpost_core::Error::Registered { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let session = args.session.as_deref();
    let session = session.or(context.settings.client_session.as_deref());
    JoinedSessions::of(&context.home, &repository).join(&worker, session)?;
    let seen = workers::show(&fleet.mail(&worker)?)?;
    let text = match session {
        Some(session) => format!("session {session} is worker {worker}"),
        None => format!(
            "the next session that starts in {} within ten minutes is worker {worker}",
            repository.name
        ),
    };
    Ok(super::answer(&seen, text))
}
