//! What a coordination directory holds, as answers and as lines.

use flagpost_core::{
    answers::{self, CoordTaskAnswer, CoordTasksPage, standings},
    coordination::CoordSnapshot,
};
use flagpost_model::{
    TaskId,
    coordination::{CoordReadiness, CoordTask},
};
use jiff::{Timestamp, civil::DateTime};

use crate::{context::Context, output::Answer, screen::Screen, shape, terminal::line};

/// A time of the directory as a moment.
pub fn moment(context: &Context, at: Option<DateTime>) -> Option<Timestamp> {
    answers::moment(&context.home.zone(), at)
}

/// Tasks, each with how it stands, for a person.
pub fn table<'t>(
    context: &Context,
    tasks: impl IntoIterator<Item = (&'t CoordTask, &'t CoordReadiness)>,
) -> String {
    let screen = Screen::of(context);
    let rows = tasks.into_iter().map(|(task, standing)| {
        let status = match standing {
            CoordReadiness::Blocked(_) => "blocked",
            _ => task.status.as_str(),
        };
        let by = task.claim.as_ref().map(|it| line(&it.by));
        vec![
            task.id.to_string(),
            screen.state(status),
            task.priority.get().to_string(),
            by.unwrap_or_default(),
            standing.to_string(),
            line(&task.description),
        ]
    });
    let header = ["TASK", "STATUS", "PRI", "WHO", "WHY", "DESCRIPTION"];
    screen.table(&header, rows.collect())
}

/// One task that a verb was about.
pub fn one(context: &Context, it: &CoordTask, also: &[TaskId], text: String) -> Answer {
    let task = (it, &context.home.zone()).into();
    Answer::of(&CoordTaskAnswer::new(task, also))
        .text(text)
        .ids([&it.id])
}

/// Tasks by their ids, as they are now.
pub fn by_ids(context: &Context, look: &CoordSnapshot, ids: &[TaskId], text: String) -> Answer {
    let found: Vec<_> = look
        .tasks()
        .filter(|(it, _)| ids.contains(&it.id))
        .collect();
    found_tasks(context, look, &found, text)
}

/// Tasks of a look.
pub fn found_tasks(
    context: &Context,
    look: &CoordSnapshot,
    found: &[(&CoordTask, &CoordReadiness)],
    text: String,
) -> Answer {
    let tasks = standings(found.iter().copied(), &context.home.zone());
    Answer::of(&CoordTasksPage::new(tasks, found.len(), &look.skipped))
        .text(text)
        .ids(found.iter().map(|(it, _)| &it.id))
        .notes(shape::skipped_notes(&look.skipped))
}
