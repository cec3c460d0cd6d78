//! `slash`: what the operator types in a palette.

use flagpost_core::{
    answers::SlashAnswer,
    relay::decide::DecisionRequest,
    slash::{SlashContext, carry_out, operation},
};
use flagpost_model::{
    decision::{Decision, Via},
    slash::{Slash, TextSource, parse},
};

use crate::{
    context::Context,
    error::usage,
    output::Answer,
    text::{self, TextArg},
};

/// Carry out a slash command
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost slash '/ratify all --scope=W{1,2}'\n\n\
    /ratify all [--scope=GLOB], /ratify W, /reject W [SEQ], /edit W [SEQ], /inbox [W], /outbox [W],\n\
    /assign TICKET W [--brief=FILE|--inline=TEXT], /redirect W TEXT, /merge PR, /relay-gc,\n\
    /search TEXT. The exit status of '/ratify all' is how many it ratified, at most 125."
)]
pub struct SlashArgs {
    /// The command; - is stdin
    command: Option<String>,
    #[command(flatten)]
    source: TextArg,
}

/// Carries it out.
pub fn run(context: &Context, args: &SlashArgs) -> anyhow::Result<Answer> {
    let line = args.source.read(args.command.as_deref())?;
    let line = line.ok_or_else(|| usage("type a command, as in slash '/inbox'"))?;
    let command = parse(&line)?;
    context.permit(operation(&command))?;
    if let Slash::Edit(worker, seq) = &command {
        let source = TextArg::default();
        return super::amend::edit(context, worker, *seq, &source, Via::Slash);
    }
    let asks = matches!(
        &command,
        Slash::Assign {
            text: TextSource::Given,
            ..
        }
    );
    let given = match asks {
        true => Some(text::piped(
            "say --brief=FILE or --inline=TEXT, or pipe the brief in",
        )?),
        false => None,
    };
    let command = named(context, command)?;
    let fleet = context.fleet()?;
    let actor = context.actor()?;
    let desk = SlashContext {
        fleet: &fleet,
        actor: &actor,
        via: Via::Slash,
        origin: context.settings.origin(),
        seen: None,
        dir: &context.dir,
    };
    let said = carry_out(&desk, command, given)?;
    let shown = SlashAnswer {
        command: line.trim(),
        output: &said,
    };
    let mut answer = Answer::of(&shown)
        .text(said.lines.join("\n"))
        .ids(&said.lines)
        .notes(said.faults);
    answer.code = said.status;
    Ok(answer)
}

/// The same command, with the brief that is meant where none is named.
fn named(context: &Context, command: Slash) -> anyhow::Result<Slash> {
    let newest = |worker, decision| {
        let wish = DecisionRequest::new(decision, Via::Slash);
        super::decide::newest(context, worker, &wish).map(|it| it.brief.seq)
    };
    Ok(match command {
        Slash::Ratify(worker, None) => {
            let seq = newest(&worker, Decision::Ratified)?;
            Slash::Ratify(worker, Some(seq))
        }
        Slash::Reject(worker, None) => {
            let seq = newest(&worker, Decision::Rejected)?;
            Slash::Reject(worker, Some(seq))
        }
        other => other,
    })
}
