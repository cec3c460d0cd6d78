//! What `status` tells of the briefs that only the operator can let through.

use flagpost_core::{
    Skipped,
    relay::{Fleet, briefs::BriefView, fleet::pending},
    shape,
};
use serde_json::{Value, json};

use crate::{
    commands::{list::counted, relay::withheld::notice},
    context::Context,
    output::Screen,
    terminal::line,
};

/// The briefs that wait and those that are withheld, and what cannot be understood; none where no
/// repository is.
pub fn waiting(context: &Context) -> anyhow::Result<(Vec<BriefView>, Vec<Skipped>)> {
    match context.repository()? {
        Some(repository) => Ok(pending(&Fleet::of(&context.home, &repository.id))?),
        None => Ok((Vec::new(), Vec::new())),
    }
}

/// How many there are, which has waited longest, and how the gate is opened.
pub fn section(screen: Screen, all: &[BriefView]) -> String {
    let (withheld, waiting): (Vec<_>, Vec<_>) = all.iter().partition(|it| it.held.is_some());
    withheld_section(screen, &withheld) + &waiting_section(screen, &waiting)
}

/// So many are named, each with what settles it.
const NAMED: usize = 5;

fn withheld_section(screen: Screen, withheld: &[&BriefView]) -> String {
    if withheld.is_empty() {
        return String::new();
    }
    let notices = withheld.iter().take(NAMED).filter_map(|it| notice(it));
    let notices: String = notices.map(|it| indented(&it)).collect();
    let more = match withheld.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("  and {more} more, which 'flagpost inbox' shows\n"),
    };
    format!("{}\n{notices}{more}\n", screen.bold("Withheld"))
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

fn waiting_section(screen: Screen, waiting: &[&BriefView]) -> String {
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
pub fn shape(all: &[BriefView]) -> Value {
    let (withheld, waiting): (Vec<_>, Vec<_>) = all.iter().partition(|it| it.held.is_some());
    let oldest = waiting.first().map(|letter| shape::brief(&letter.brief));
    let withheld = withheld
        .iter()
        .map(|it| json!({"brief": shape::brief(&it.brief), "withheld": shape::withheld(it)}));
    json!({"total": waiting.len(), "withheld": withheld.collect::<Vec<_>>(), "oldest": oldest})
}
