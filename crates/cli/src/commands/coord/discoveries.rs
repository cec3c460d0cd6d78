//! `coord discoveries`: what everybody should know.

use clap::Subcommand;
use flagpost_core::{
    answers::DiscoveriesAnswer,
    coordination::{self, Discovery},
};

use super::{CoordContext, shown};
use crate::{error::usage, output::Answer, screen::Screen, terminal::line, text::TextArg};

/// The verbs on discoveries.
#[derive(Debug, Subcommand)]
pub enum DiscoveriesCommand {
    Add(DiscoveryAddArgs),
    List(DiscoveryListArgs),
}

/// Tell everybody what you found
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost coord discoveries add 'The API wants a key' --as terminal-2"
)]
pub struct DiscoveryAddArgs {
    /// What you found; - reads stdin
    text: Option<String>,
    #[command(flatten)]
    source: TextArg,
}

/// Read what was found
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost coord discoveries list")]
pub struct DiscoveryListArgs {}

/// Carries out the verb.
pub fn run(place: &CoordContext<'_>, verb: &DiscoveriesCommand) -> anyhow::Result<Answer> {
    match verb {
        DiscoveriesCommand::Add(args) => add(place, args),
        DiscoveriesCommand::List(DiscoveryListArgs {}) => list(place),
    }
}

fn add(place: &CoordContext<'_>, args: &DiscoveryAddArgs) -> anyhow::Result<Answer> {
    let text = args.source.read(args.text.as_deref())?;
    let text = text.ok_or_else(|| usage("say what you found, as in add 'The API wants a key'"))?;
    let found = coordination::discover(&place.open()?, &place.context.actor()?, &text)?;
    let said = format!("told everybody ({} bytes)", text.len());
    Ok(answer(place, &[found]).text(said))
}

fn list(place: &CoordContext<'_>) -> anyhow::Result<Answer> {
    let found = coordination::discoveries(&place.open()?)?;
    let screen = Screen::of(place.context);
    let mut text = String::new();
    for it in &found {
        let at = shown::moment(place.context, it.at);
        let heading = [it.by.clone(), at.map(|at| screen.time(at))];
        let heading: Vec<String> = heading.into_iter().flatten().collect();
        if !heading.is_empty() {
            text += &format!("{}\n", screen.bold(&line(&heading.join(", "))));
        }
        text += &format!("{}\n\n", it.text);
    }
    let text = match found.is_empty() {
        true => "nothing was found yet",
        false => text.trim_end(),
    };
    Ok(answer(place, &found).text(text))
}

fn answer(place: &CoordContext<'_>, found: &[Discovery]) -> Answer {
    let zone = place.context.home.zone();
    Answer::of(&DiscoveriesAnswer::from((found, &zone)))
        .ids(found.iter().filter_map(|it| it.by.as_ref()))
}
