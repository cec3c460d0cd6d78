//! `stats`: a list in numbers.

use flagpost_core::{Skipped, answers};
use flagpost_model::{
    ListRef,
    tally::{self, Count, EffortTotals, Stats},
    task::{Effort, Priority, StateName},
    view,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{list::no_tasks, tags::Counted};
use crate::{context::Context, output::Answer, screen::Screen, shape, terminal::line};

/// Show the list in numbers
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost task stats --json")]
pub struct StatsArgs {}

/// A list in numbers.
///
/// After 'flagpost task stats'.
#[derive(Serialize, JsonSchema)]
pub struct InNumbers<'a> {
    /// The list's name.
    list: &'a ListRef,
    /// Tasks that are neither completed nor cancelled.
    open: usize,
    all: usize,
    /// Tasks that can begin now.
    ready: usize,
    /// Open tasks that were due before today.
    overdue: usize,
    completed_last_7_days: usize,
    running_timers: usize,
    states: Vec<InState>,
    /// How many tasks have each.
    priorities: Vec<Counted<'a, Priority>>,
    /// How many tasks have each.
    owners: Vec<Counted<'a, String>>,
    /// How many tasks have each.
    projects: Vec<Counted<'a, String>>,
    /// Of all tasks.
    work: WorkInNumbers,
    /// Of the completed tasks that had an estimate, so that the two can be compared.
    completed_with_estimate: WorkInNumbers,
    /// Files of the list that are no tasks and were passed over.
    skipped: &'a [Skipped],
}

view! {
    /// How many tasks are in a state.
    struct InState {
        name: StateName,
        all: usize,
    }

    /// Work, thought of and measured.
    struct WorkInNumbers from work: EffortTotals {
        estimated_minutes: u64 = work.estimated.minutes(),
        tracked_seconds: u64 = work.tracked.seconds(),
    }
}

/// Shows them.
pub fn run(context: &Context, _: &StatsArgs) -> anyhow::Result<Answer> {
    let list = context.list()?;
    let loaded = list.load()?;
    let stats = tally::stats(&loaded.outlines, context.home.now(), &context.home.zone());
    let text = match stats.tasks.all {
        0 => no_tasks(&list, &loaded.skipped)?,
        _ => page(Screen::of(context), list.id().as_str(), &stats),
    };
    let states = stats.states.iter();
    let answer = InNumbers {
        list: list.id(),
        open: stats.tasks.open,
        all: stats.tasks.all,
        ready: stats.ready,
        overdue: stats.overdue,
        completed_last_7_days: stats.completed_lately,
        running_timers: stats.timers,
        states: states
            .map(|(name, all)| InState::new(*name, *all))
            .collect(),
        priorities: answers::each(&stats.priorities),
        owners: answers::each(&stats.owners),
        projects: answers::each(&stats.projects),
        work: stats.work.into(),
        completed_with_estimate: stats.estimated_and_done.into(),
        skipped: &loaded.skipped,
    };
    Ok(Answer::of(&answer)
        .text(text)
        .notes(shape::skipped_notes(&loaded.skipped)))
}

fn page(screen: Screen, list: &str, stats: &Stats) -> String {
    let mut text = format!(
        "{}: {} open of {}\n",
        screen.bold(list),
        stats.tasks.open,
        stats.tasks.all
    );
    let states = stats.states.iter();
    let states: Vec<_> = states
        .map(|(state, n)| format!("{n} {}", screen.state(state.as_str())))
        .collect();
    let facts = [
        ("states", states.join(", ")),
        ("ready", stats.ready.to_string()),
        ("overdue", some(stats.overdue)),
        (
            "last 7 days",
            format!("{} completed", stats.completed_lately),
        ),
        ("timers", some(stats.timers)),
        ("work", effort_text(stats.work)),
        ("work done", effort_text(stats.estimated_and_done)),
    ];
    for (name, fact) in facts.iter().filter(|(_, fact)| !fact.is_empty()) {
        text += &format!("  {name:<13}{fact}\n");
    }
    text += &section(screen, "PRIORITY", &stats.priorities);
    text += &section(screen, "OWNER", &stats.owners);
    text += &section(screen, "PROJECT", &stats.projects);
    text
}

fn some(n: usize) -> String {
    match n {
        0 => String::new(),
        n => n.to_string(),
    }
}

/// Nothing where no work was thought of or measured.
fn effort_text(work: EffortTotals) -> String {
    let none = Effort::default();
    match (work.estimated, work.tracked) {
        (estimated, tracked) if estimated == none && tracked == none => String::new(),
        (estimated, tracked) => format!("{estimated} estimated, {tracked} tracked"),
    }
}

/// A table of counts, unless no task has any of these.
fn section<K: ToString>(screen: Screen, head: &str, counts: &[(Option<K>, Count)]) -> String {
    if counts.iter().all(|(name, _)| name.is_none()) {
        return String::new();
    }
    let rows = counts.iter().map(|(name, count)| {
        let name = name.as_ref().map_or("none".to_owned(), ToString::to_string);
        vec![count.open.to_string(), count.all.to_string(), line(&name)]
    });
    format!("\n{}", screen.table(&["OPEN", "ALL", head], rows.collect()))
}
