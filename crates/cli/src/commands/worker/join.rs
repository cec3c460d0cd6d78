//! `worker join` and `worker leave`: a session that a person started takes part in the fleet, or no longer.

use flagpost_core::{
    hooks::JoinedSessions,
    relay::workers::{self, Traits},
};
use flagpost_model::WorkerId;

use crate::{context::Context, error::usage, output::Answer};

/// Let an agent's session join the fleet as this worker
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost worker join W3 --agent claude\n\n\
    For a session that you started without FLAGPOST_WORKER, with installed hooks. Typed by the agent\n\
    in its session, the session is the worker at once. Typed by you, the next session that starts in\n\
    this repository within ten minutes is; workers that join one after the other have the next\n\
    sessions in that order. Its hooks and its commands then speak for the worker, also after the\n\
    session is compacted, resumed or (Claude Code, Gemini CLI) cleared, until\n\
    'flagpost worker leave'. A worker that is not in the fleet is added.")]
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

/// Let no session speak for this worker any more
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost worker leave W3\n\n\
    Takes 'flagpost worker join' back, also where no session has started since. The worker stays in\n\
    the fleet, with its mail.")]
pub struct LeaveArgs {
    /// The worker; an agent takes off only itself [default: who acts]
    pub worker: Option<String>,
}

/// Joins.
pub fn join(context: &Context, args: &JoinArgs) -> anyhow::Result<Answer> {
    let worker: WorkerId = args.worker.parse()?;
    let session = args.session.as_deref();
    if session.is_some_and(|it| it.trim().is_empty()) {
        return Err(usage("which session? A client's session has a name"));
    }
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
    let sessions = JoinedSessions::of(&context.home, &repository);
    let own = context.settings.client_session.as_deref();
    let (text, remark) = match session.or(own) {
        Some(session) => {
            let before = sessions.join(&worker, session)?;
            (
                format!("session {session} is worker {worker}"),
                before.map(|it| format!("session {it} was {worker} and is so no longer")),
            )
        }
        None => {
            let before = sessions.wait(&worker)?;
            let text = format!(
                "the next session that starts in {} within ten minutes is worker {worker}",
                repository.name
            );
            (text, later(&before, &worker))
        }
    };
    let seen = workers::show(&fleet.mail(&worker)?)?;
    Ok(super::answer(&seen, text).notes(remark))
}

/// Which workers have their session before this one.
fn later(before: &[WorkerId], worker: &WorkerId) -> Option<String> {
    let first = before.first()?;
    let names: Vec<&str> = before.iter().map(WorkerId::as_str).collect();
    Some(format!(
        "{worker} comes after {}: the first session that starts is {first} \
         ('flagpost worker leave {first}' takes that back)",
        names.join(", ")
    ))
}

/// Leaves.
pub fn leave(context: &Context, args: &LeaveArgs) -> anyhow::Result<Answer> {
    let worker: WorkerId = match &args.worker {
        Some(worker) => worker.parse()?,
        None => context.actor()?,
    };
    let mail = context.fleet()?.mail(&worker)?;
    let repository = context.own_repository()?;
    let text = match JoinedSessions::of(&context.home, &repository).leave(&worker)? {
        true => format!("no session is worker {worker} any more"),
        false => format!("no session was worker {worker}, and none was to be"),
    };
    Ok(super::answer(&workers::show(&mail)?, text))
}
