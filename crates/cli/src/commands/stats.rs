//! `stats`: a list in numbers.

use flagpost_model::{
    tally::{self, Count, Stats, Work},
    task::Effort,
};
use serde_json::{Value, json};

use crate::{
    context::Context,
    output::{Answer, Screen},
    shape,
    terminal::line,
};

/// Show the list in numbers
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost task stats --json")]
pub struct Args {}

/// Shows them.
pub fn run(context: &Context, _: &Args) -> anyhow::Result<Answer> {
    let list = context.list()?;
    let loaded = list.load()?;
    let stats = tally::stats(&loaded.outlines, context.home.now(), &context.home.zone());
    let text = match stats.tasks.all {
        0 => format!("{} has no tasks yet; 'flagpost add' makes one", list.id()),
        _ => page(Screen::of(context), list.id().as_str(), &stats),
    };
    let states = stats.states.iter();
    let body = json!({
        "list": list.id(),
        "open": stats.tasks.open,
        "all": stats.tasks.all,
        "ready": stats.ready,
        "overdue": stats.overdue,
        "completed_last_7_days": stats.completed_lately,
        "running_timers": stats.timers,
        "states": states.map(|(state, n)| json!({"name": state, "all": n})).collect::<Value>(),
        "priorities": counts(&stats.priorities),
        "owners": counts(&stats.owners),
        "projects": counts(&stats.projects),
        "work": work(stats.work),
        "completed_with_estimate": work(stats.estimated_and_done),
        "skipped": shape::skipped(&loaded.skipped),
    });
    Ok(Answer::new("stats", body)
        .text(text)
        .notes(shape::skipped_notes(&loaded.skipped)))
}

fn counts<K: serde::Serialize>(counts: &[(Option<K>, Count)]) -> Value {
    let each = counts.iter();
    each.map(|(name, count)| json!({"name": name, "open": count.open, "all": count.all}))
        .collect()
}

fn work(work: Work) -> Value {
    json!({
        "estimated_minutes": work.estimated.minutes(),
        "tracked_seconds": work.tracked.seconds(),
    })
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
        .map(|(state, n)| format!("{n} {}", screen.state(*state)))
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
        ("work", said(stats.work)),
        ("work done", said(stats.estimated_and_done)),
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
fn said(work: Work) -> String {
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
