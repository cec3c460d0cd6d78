//! What `status` tells of the briefs that only the operator can let through.

use flagpost_core::{
    relay::{Fleet, briefs::Letter, fleet::pending},
    shape,
};
use serde_json::{Value, json};

use crate::{commands::list::counted, context::Context, output::Screen, terminal::line};

/// The briefs that wait, the oldest first; none where no repository is.
pub fn waiting(context: &Context) -> anyhow::Result<Vec<Letter>> {
    match context.repository()? {
        Some(repository) => Ok(pending(&Fleet::of(&context.home, &repository.id))?),
        None => Ok(Vec::new()),
    }
}

/// How many there are, which has waited longest, and how the gate is opened.
pub fn section(screen: Screen, waiting: &[Letter]) -> String {
    let Some(oldest) = waiting.first().map(|letter| &letter.brief) else {
        return String::new();
    };
    let (worker, seq) = (&oldest.target_worker, oldest.seq.get());
    let ticket = oldest.target_ticket.as_ref();
    let ticket = ticket.map(|it| format!(" #{it}")).unwrap_or_default();
    let many = counted(waiting.len(), "brief", "briefs");
    format!(
        "{}\n  {many}, the oldest for {worker} since {}:{ticket} {}\n  \
         'flagpost ratify {worker} {seq}' lets it through, 'flagpost ratify all' all; \
         'flagpost inbox' shows them\n\n",
        screen.bold("Waits for your word"),
        oldest.submitted_at,
        line(&oldest.summary),
    )
}

/// The same for a program.
pub fn shape(waiting: &[Letter]) -> Value {
    let oldest = waiting.first().map(|letter| shape::brief(&letter.brief));
    json!({"total": waiting.len(), "oldest": oldest})
}
