//! `claim`: take possession of a task.

use flagpost_core::{
    Config,
    answers::TaskAnswer,
    claims::{self, Claimed, Terms},
    config::keys::CLAIM_LEASE,
    operations::Operation,
};
use jiff::SignedDuration;

use crate::{context::Context, error::usage, output::Answer, screen::Screen, terminal::title};

/// Claim a task for the time of a lease
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "flagpost claim [OPTIONS] <ID|--next>",
    after_help = "Example: flagpost claim --next --as W3\n\
    The token in the answer fences you off from later holders: give it to done, fail and stuck."
)]
pub struct ClaimArgs {
    /// The task
    #[arg(required_unless_present = "next")]
    id: Option<String>,
    /// The first ready task
    #[arg(long, conflicts_with = "id")]
    next: bool,
    /// How long without renewal: 15m, 1h [default: the setting claim.lease, else 15m]
    #[arg(long, value_name = "TIME", value_parser = time)]
    lease: Option<SignedDuration>,
}

impl ClaimArgs {
    /// The first ready task is nobody's choice.
    pub fn operation(&self) -> Operation {
        match self.id {
            Some(_) => Operation::TaskClaim,
            None => Operation::TaskNext,
        }
    }
}

/// How long, as it is typed; what is below nothing is refused by whoever needs it.
pub fn time(text: &str) -> Result<SignedDuration, String> {
    text.parse()
        .map_err(|_| "use a time, as in 15m or 1h".to_owned())
}

/// Claims it.
pub fn run(context: &Context, args: &ClaimArgs) -> anyhow::Result<Answer> {
    let list = context.list_to_change()?;
    let terms = terms(context, args.lease)?;
    let claimed = match &args.id {
        Some(id) => claims::claim(&list, &terms, &list.resolve(id)?)?,
        None => claims::claim_next(&list, &terms)?,
    };
    Ok(answer(Screen::of(context), &claimed, "claimed"))
}

/// The terms of the caller's claims.
pub fn terms(context: &Context, lease: Option<SignedDuration>) -> anyhow::Result<Terms> {
    if lease.is_some_and(|lease| !CLAIM_LEASE.kind.contains(lease)) {
        return Err(usage(
            "a lease lasts from one second to 30 days, as in --lease 15m",
        ));
    }
    Ok(Terms {
        actor: context.actor()?,
        lease: match lease {
            Some(lease) => lease,
            None => Config::read(&context.home)?.need(&CLAIM_LEASE)?,
        },
        session: None,
    })
}

/// What is said about a claim just made.
pub fn answer(screen: Screen, claimed: &Claimed, verb: &str) -> Answer {
    let Claimed { task, claim } = claimed;
    let text = format!(
        "{verb} {} {} (token {}, lease ends {})",
        task.id,
        title(&task.subject),
        claim.token,
        screen.time(claim.expires_at)
    );
    Answer::of(&TaskAnswer::from(task))
        .text(text)
        .ids([&task.id])
}
