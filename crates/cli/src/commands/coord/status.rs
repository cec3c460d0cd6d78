//! `coord leader status`: how far it is, and what is in the way.

use flagpost_core::{
    answers::CoordAnswer,
    coordination::{CoordSnapshot, Directory},
};
use flagpost_model::coordination::CoordReadiness;

use super::{CoordContext, shown};
use crate::{output::Answer, screen::Screen, shape, terminal::line};

/// See how far it is, and what is in the way
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost coord leader status")]
pub struct CoordStatusArgs {}

/// Shows it.
pub fn run(place: &CoordContext<'_>) -> anyhow::Result<Answer> {
    let directory = place.open()?;
    let look = directory.look()?;
    Ok(answer(place, &directory, &look))
}

/// What is said about a whole directory.
pub fn answer(place: &CoordContext<'_>, directory: &Directory<'_>, look: &CoordSnapshot) -> Answer {
    let zone = place.context.home.zone();
    Answer::of(&CoordAnswer::from((directory.dir(), look, &zone)))
        .text(text(place, directory, look))
        .ids(look.tasks().map(|(it, _)| &it.id))
        .notes(shape::skipped_notes(&look.skipped))
}

fn text(place: &CoordContext<'_>, directory: &Directory<'_>, look: &CoordSnapshot) -> String {
    let screen = Screen::of(place.context);
    let mut text = String::new();
    if let Some(goal) = &look.goal {
        text += &format!("{}\n", screen.bold(&line(goal)));
    }
    text += &format!("{}\n\n", directory.dir().display());
    if look.board.tasks.is_empty() {
        text += "no tasks yet; 'flagpost coord leader add-task' adds one\n";
    } else {
        text += &shown::table(place.context, look.tasks());
    }
    if !look.board.agents.is_empty() {
        let rows = look.board.agents.iter().map(|agent| {
            let is_its = |(task, standing): &(&_, &CoordReadiness)| {
                let task: &flagpost_model::coordination::CoordTask = task;
                let by = task.holder().map(|it| it.by.as_str());
                by == Some(agent.id.as_str()) && matches!(standing, CoordReadiness::Held)
            };
            let seen = shown::moment(place.context, agent.last_seen);
            let holds = look.tasks().filter(is_its);
            let holds: Vec<_> = holds.map(|(it, _)| it.id.to_string()).collect();
            vec![
                agent.id.to_string(),
                line(&agent.capabilities.join(", ")),
                seen.map(|at| screen.time(at)).unwrap_or_default(),
                holds.join(", "),
            ]
        });
        text += "\n";
        text += &screen.table(&["AGENT", "CAN", "LAST SEEN", "HOLDS"], rows.collect());
    }
    text
}
