//! `graph`: what waits for what, drawn.

use std::collections::HashSet;

use flagpost_model::{
    TaskId,
    plan::Graph,
    task::{Outline, StateName},
};
use serde_json::json;

use crate::{
    context::Context,
    output::{Answer, Screen},
    shape,
    terminal::line,
};

/// Draw which task waits for which
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost task graph\n\
    A task that waits for several is drawn under each, and in full under the first.\n\
    More than 40 levels deep, tasks stand below each other behind '…'.")]
pub struct Args {
    /// Only this task and what waits for it
    id: Option<String>,
}

/// Draws it.
pub fn run(context: &Context, args: &Args) -> anyhow::Result<Answer> {
    let list = context.list()?;
    let loaded = list.load()?;
    let graph = Graph::new(&loaded.outlines);
    let root = args.id.as_deref().map(|id| list.resolve(id)).transpose()?;
    let shown: Vec<&Outline> = match &root {
        Some(id) => {
            let reached = reached(&graph, id);
            let all = loaded.outlines.iter();
            all.filter(|task| reached.contains(&task.id)).collect()
        }
        None => loaded.outlines.iter().collect(),
    };
    let text = if context.globals.json || context.globals.quiet {
        String::new()
    } else if loaded.outlines.is_empty() {
        format!("{} has no tasks yet; 'flagpost add' makes one", list.id())
    } else {
        draw(&graph, Screen::of(context), root.as_ref(), &shown)
    };
    let edges = shown.iter().flat_map(|task| {
        graph
            .blockers(&task.id)
            .map(|blocker| json!({"task": task.id, "waits_for": blocker.id}))
    });
    let cycle = graph.cycle();
    let body = json!({
        "list": list.id(),
        "tasks": shown.iter().map(|task| shape::outline(task)).collect::<Vec<_>>(),
        "edges": edges.collect::<Vec<_>>(),
        "unknown": graph.unknown().iter().map(|(task, missing)| json!({"task": task, "waits_for": missing})).collect::<Vec<_>>(),
        "cycle": cycle,
        "skipped": shape::skipped(&loaded.skipped),
    });
    let unknown = graph
        .unknown()
        .iter()
        .map(|(task, missing)| format!("task {task} waits for {missing}, which does not exist"));
    let cycle = cycle.map(|path| {
        let path: Vec<_> = path.iter().map(TaskId::as_str).collect();
        format!("these wait for each other: {}", path.join(" → "))
    });
    Ok(Answer::new("graph", body)
        .text(text)
        .ids(shown.iter().map(|task| &task.id))
        .notes(unknown.chain(cycle))
        .notes(shape::skipped_notes(&loaded.skipped)))
}

/// A task and all that waits for it, however indirectly.
fn reached<'o>(graph: &Graph<'o>, root: &TaskId) -> HashSet<&'o TaskId> {
    let mut reached = HashSet::new();
    let mut next: Vec<&Outline> = graph.get(root).into_iter().collect();
    while let Some(task) = next.pop() {
        if reached.insert(&task.id) {
            next.extend(graph.dependants(&task.id));
        }
    }
    reached
}

/// Draws these tasks below `root`, or below all that wait for nothing.
fn draw(graph: &Graph<'_>, screen: Screen, root: Option<&TaskId>, shown: &[&Outline]) -> String {
    let mut drawing = Drawing {
        graph,
        screen,
        drawn: HashSet::new(),
        text: String::new(),
    };
    if let Some(root) = root {
        graph
            .get(root)
            .into_iter()
            .for_each(|root| drawing.tree(root));
        return drawing.text;
    }
    let free = |task: &&&Outline| graph.blockers(&task.id).next().is_none();
    shown
        .iter()
        .filter(free)
        .for_each(|root| drawing.tree(root));
    // What is left hangs in circles: every task is shown somewhere.
    for task in shown {
        if !drawing.drawn.contains(&task.id) {
            drawing.tree(task);
        }
    }
    drawing.text
}

/// Below this level nothing is indented any more: chains are long, and screens are not wide.
const LEVELS: usize = 40;

struct Drawing<'g, 'o> {
    graph: &'g Graph<'o>,
    screen: Screen,
    drawn: HashSet<&'o TaskId>,
    text: String,
}

/// Where a task is drawn: behind `lead` and `joint`, and what is below it behind `lead` and
/// `below`.
struct Place<'o> {
    task: &'o Outline,
    level: usize,
    lead: String,
    joint: &'static str,
    below: &'static str,
}

impl<'o> Drawing<'_, 'o> {
    /// Draws a task and what waits for it. Does not recurse: a chain may be as long as the list.
    fn tree(&mut self, root: &'o Outline) {
        let mut next = vec![Place {
            task: root,
            level: 0,
            lead: String::new(),
            joint: "",
            below: "",
        }];
        while let Some(place) = next.pop() {
            let again = !self.drawn.insert(&place.task.id);
            let dependants: Vec<&Outline> = self.graph.dependants(&place.task.id).collect();
            self.line(&place, again && !dependants.is_empty());
            if again {
                continue;
            }
            let last = dependants.len().saturating_sub(1);
            let lead = place.lead + place.below;
            let below = dependants.into_iter().enumerate().map(|(at, task)| {
                let (joint, below) = match place.level {
                    LEVELS.. => ("… ", ""),
                    _ if at == last => ("└─ ", "   "),
                    _ => ("├─ ", "│  "),
                };
                Place {
                    task,
                    level: place.level + 1,
                    lead: lead.clone(),
                    joint,
                    below,
                }
            });
            // The first of them is the next to be taken.
            next.extend(below.rev());
        }
    }

    fn line(&mut self, place: &Place<'_>, see_above: bool) {
        let state = place.task.state.name();
        let mark = match state {
            StateName::Pending => "○",
            StateName::Claimed => "◔",
            StateName::InProgress => "◑",
            StateName::Completed => "●",
            StateName::Failed => "✗",
            StateName::Stuck => "!",
            StateName::Cancelled => "–",
        };
        let named = match state {
            StateName::Pending | StateName::Completed => String::new(),
            other => format!(" [{}]", self.screen.state(other)),
        };
        self.text += &format!(
            "{}{}{mark} {} {}{named}{}\n",
            place.lead,
            place.joint,
            place.task.id,
            line(&place.task.subject),
            if see_above { " (above)" } else { "" },
        );
    }
}
