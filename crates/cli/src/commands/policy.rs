//! `policy`: which rules may decide on briefs, and on what agents want to do.

use clap::Subcommand;
use flagpost_core::{permissions::Permissions, policy};
use flagpost_model::view;

use crate::{
    context::Context,
    output::Answer,
    streams::{confirm, say},
    terminal::{clean, counted},
};

/// The verbs on policies.
#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    Accept(AcceptArgs),
}

/// Have the policy of this repository count as it is now
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost policy accept\n\n\
    Prints policy.toml, which is the repository's own or else the home's, and asks. Its hash goes into the\n\
    history. A policy that was changed, or never accepted, decides nothing. Each repository accepts\n\
    for itself.")]
pub struct AcceptArgs {
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

view! {
    /// The policy that counts.
    ///
    /// After 'flagpost policy accept'.
    pub struct AcceptedPolicy {
        /// Its file; null where there is none any more.
        path: Option<String>,
        /// The SHA-256 of its content; null where there is none any more.
        sha256: Option<String>,
        /// It counted before.
        already: bool,
    }
}

/// Carries out the verb.
pub fn run(context: &Context, verb: &PolicyCommand) -> anyhow::Result<Answer> {
    let PolicyCommand::Accept(args) = verb;
    let (home, repository) = (&context.home, context.own_repository()?);
    let Some(seen) = policy::there(home, &repository.id)? else {
        if policy::is_gone(home, &repository.id)? {
            let question = format!(
                "the policy of {} that you accepted is gone: is there to be none?",
                repository.name
            );
            confirm(args.yes, &question, "nothing was accepted")?;
            policy::accept_none(home, &repository.id, &context.operator()?)?;
            let none = AcceptedPolicy::new(None, None, false);
            return Ok(Answer::of(&none).text(format!("{} has no policy\n", repository.name)));
        }
        return Err(flagpost_core::Error::NotFound {
            what: "policy",
            id: format!("of {}", repository.name),
            list: None,
        }
        .into());
    };
    let path = seen.path.display().to_string();
    say(&format!("{path}:\n{}", clean(seen.text.trim_end(), false)));
    let question = format!(
        "let it decide on briefs and requests of {}?",
        repository.name
    );
    confirm(args.yes, &question, "nothing was accepted")?;
    let already = policy::accept(home, &repository.id, &context.operator()?, &seen)?;
    let mut said = match already {
        true => format!("the policy of {} counts already", repository.name),
        false => format!(
            "the policy of {} counts as it is printed here",
            repository.name
        ),
    };
    let decided = Permissions::of(home, &repository.id).decide_by_policy()?;
    if decided > 0 {
        let requests = counted(decided, "waiting request", "waiting requests");
        said += &format!("\nits rules decided {requests}");
    }
    let sha256 = seen.policy.sha256.map(String::from);
    Ok(Answer::of(&AcceptedPolicy::new(Some(path), sha256, already)).text(said))
}
