//! `fleet restore` and `fleet compact`: the order of a repository begins anew with what this machine has.

use flagpost_core::Repository;
use flagpost_fleet::{Begun, Behind};
use flagpost_model::view;

use super::{FleetCompactArgs, FleetRestoreArgs};
use crate::{context::Context, output::Answer, streams::confirm};

/// What a refusal says did not happen.
const NOTHING: &str = "nothing was begun";

view! {
    /// An order that began anew.
    ///
    /// After 'flagpost fleet restore' or 'flagpost fleet compact'.
    pub struct FleetBegun {
        repository: String,
        /// The number of the last line that it began with.
        n: u64,
        /// Which order of this repository it is.
        epoch: u64,
    }
}

/// Restores it.
pub fn restore(context: &Context, args: &FleetRestoreArgs) -> anyhow::Result<Answer> {
    let repository = context.own_repository()?;
    confirm(
        args.yes,
        &format!(
            "begin the fleet's order of {} anew with what is on this machine?",
            repository.name
        ),
        NOTHING,
    )?;
    let behind = match args.even_behind {
        true => Behind::Accept,
        false => Behind::Refuse,
    };
    let actor = context.actor()?;
    let begun = flagpost_fleet::restore(&context.home, &repository, &actor, behind)?;
    Ok(answer(&repository, begun))
}

/// Makes it short.
pub fn compact(context: &Context, args: &FleetCompactArgs) -> anyhow::Result<Answer> {
    let repository = context.own_repository()?;
    confirm(
        args.yes,
        &format!(
            "remove what led {} to where it is from the fleet's server? Each machine keeps its history",
            repository.name
        ),
        NOTHING,
    )?;
    let begun = flagpost_fleet::compact(&context.home, &repository, &context.actor()?)?;
    Ok(answer(&repository, begun))
}

fn answer(repository: &Repository, Begun { n, epoch }: Begun) -> Answer {
    let name = repository.name.to_string();
    let text = format!("the fleet's order of {name} begins anew with {n} lines of history\n");
    let hint =
        "other machines take it over by themselves; 'flagpost fleet status' shows how far they are";
    Answer::of(&FleetBegun::new(name.clone(), n, epoch))
        .text(text)
        .ids([name])
        .notes([hint.to_owned()])
}
