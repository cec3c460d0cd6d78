//! What `status` tells of the briefs that only the operator can let through.

use flagpost_core::{
    Skipped,
    answers::{Withheld, each},
    relay::{Fleet, briefs::BriefView, fleet::pending},
};
use flagpost_model::{envelope::Brief, view};

use crate::{
    commands::relay::withheld::notice,
    context::Context,
    screen::Screen,
    terminal::{counted, line},
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
        "{}\n  {many}, the oldest for {worker}, {}:{ticket} {}\n  \
         'flagpost ratify {worker} {seq}' lets it through, 'flagpost ratify all' all; \
         'flagpost inbox' shows them\n\n",
        screen.bold("Waits for your word"),
        screen.time(oldest.submitted_at),
        line(&oldest.summary),
    )
}

view! {
    /// Briefs that wait for the operator's decision.
    #[derive(Default)]
    pub struct ToDecide<'a> from all: &'a [BriefView] {
        /// How many there are.
        total: usize = all.iter().filter(|it| it.held.is_none()).count(),
        /// Briefs that somebody changed, or decided by an unknown hand: none of them is delivered.
        withheld: Vec<WithheldBrief<'a>> = each(all.iter().filter(|it| it.held.is_some())),
        /// The one that has waited longest; null where none waits.
        oldest: Option<&'a Brief> = all.iter().find(|it| it.held.is_none()).map(|it| &it.brief),
    }

    struct WithheldBrief<'a> from it: &'a BriefView {
        brief: &'a Brief = &it.brief,
        withheld: Option<Withheld> = Withheld::of(it),
    }
}
