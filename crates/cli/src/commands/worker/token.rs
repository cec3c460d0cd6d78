//! `worker token`: what lets an agent's client in at the daemon, as one worker.

use flagpost_core::relay::workers::tokens;
use flagpost_daemon::{DaemonStatus, status};
use flagpost_model::{WorkerId, view};

use crate::{context::Context, output::Answer};

/// Make a token that opens the daemon's tools as this worker
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost worker token W3\n\n\
    It is shown once; only its hash is kept. A second call makes another one, and the one before is void.\n\
    'flagpost worker rm' takes it away. It opens nothing but /mcp of the daemon: docs/mcp.md shows how a\n\
    client is told of it.")]
pub struct TokenArgs {
    /// The worker
    worker: String,
}

view! {
    /// A token that was just made.
    ///
    /// After 'flagpost worker token'.
    pub struct WorkerToken<'a> {
        worker: &'a WorkerId,
        /// It is shown here and nowhere else.
        token: String,
        /// The worker had one before, which is void now.
        replaced: bool,
        /// Where it opens the tools; null while no daemon runs.
        address: Option<String>,
    }
}

/// Makes it.
pub fn run(context: &Context, args: &TokenArgs) -> anyhow::Result<Answer> {
    let mail = context.fleet()?.mail(&args.worker.parse()?)?;
    let issued = tokens::issue(&mail, &context.actor()?)?;
    let worker = mail.worker();
    let address = match status(&context.home)? {
        DaemonStatus::Up(instance) => Some(format!("{}/mcp", instance.http)),
        DaemonStatus::Down | DaemonStatus::Starting(_) | DaemonStatus::Unreadable(_) => None,
    };
    let opens = match &address {
        Some(address) => format!("it opens {address} as {worker}, and is not shown again"),
        None => format!(
            "it opens /mcp of the daemon as {worker}, once 'flagpost daemon up' starts it, and is not \
             shown again"
        ),
    };
    let void = issued
        .replaced
        .then(|| "the token before is void".to_owned());
    let token = issued.token.clone();
    let body = WorkerToken::new(worker, issued.token, issued.replaced, address);
    Ok(Answer::of(&body)
        .text(token.clone())
        .ids([token])
        .notes([opens].into_iter().chain(void)))
}
