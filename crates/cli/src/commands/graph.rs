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
    A task that waits for several is drawn under each, and in full under the first.")]
pub struct Args {
    /// Only this task and what waits for it
    id: Option<String>,
}

/// Draws it.
pub fn run(context: &Context, args: &Args) -> anyhow::Result<Answer> {
    let list = context.list()?;
    let loaded = list.load()?;
    let graph = Graph::new(&loaded.outlines);
    let roots: Vec<&Outline> = match &args.id {
        Some(id) => {
            let id = list.resolve(id)?;
            graph.get(&id).into_iter().collect()
        }
        None => {
            let free = |task: &&Outline| graph.blockers(&task.id).next().is_none();
            loaded.outlines.iter().filter(free).collect()
        }
    };
    let mut drawing = Drawing {
        graph: &graph,
        screen: Screen::of(context),
        drawn: HashSet::new(),
        text: String::new(),
    };
    for root in roots {
        drawing.draw(root);
    }
    if args.id.is_none() {
        // What is left hangs in circles: every task is shown somewhere.
        for task in &loaded.outlines {
            if !drawing.drawn.contains(&task.id) {
                drawing.draw(task);
            }
        }
    }
    let Drawing { drawn, text, .. } = drawing;
    let text = if loaded.outlines.is_empty() {
        format!("{} has no tasks yet; 'flagpost add' makes one", list.id())
    } else {
        text
    };
    let shown = loaded
        .outlines
        .iter()
        .filter(|task| drawn.contains(&task.id));
    let edges = shown.clone().flat_map(|task| {
        graph
            .blockers(&task.id)
            .map(|blocker| json!({"task": task.id, "waits_for": blocker.id}))
    });
    let body = json!({
        "list": list.id(),
        "tasks": shown.clone().map(shape::outline).collect::<Vec<_>>(),
        "edges": edges.collect::<Vec<_>>(),
        "unknown": graph.unknown().iter().map(|(task, missing)| json!({"task": task, "waits_for": missing})).collect::<Vec<_>>(),
        "cycle": graph.cycle(),
        "skipped": shape::skipped(&loaded.skipped),
    });
    let unknown = graph
        .unknown()
        .iter()
        .map(|(task, missing)| format!("task {task} waits for {missing}, which does not exist"));
    let cycle = graph.cycle().map(|path| {
        let path: Vec<_> = path.iter().map(TaskId::as_str).collect();
        format!("these wait for each other: {}", path.join(" → "))
    });
    Ok(Answer::new("graph", body)
        .text(text)
        .ids(shown.map(|task| &task.id))
        .notes(unknown.chain(cycle))
        .notes(shape::skipped_notes(&loaded.skipped)))
}

struct Drawing<'g> {
    graph: &'g Graph<'g>,
    screen: Screen,
    drawn: HashSet<TaskId>,
    text: String,
}

/// Deeper levels are not indented further: a chain may be as long as the list.
const DEEPEST: usize = 40;

impl<'g> Drawing<'g> {
    /// Draws a task and all that waits for it. On a stack of its own: chains are as deep as they
    /// are long.
    fn draw(&mut self, root: &'g Outline) {
        // What is still to be drawn: a task, its depth, and whether it is the last of its siblings.
        let mut waiting = vec![(root, 0, true)];
        // Whether each level above is at its last sibling.
        let mut ended: Vec<bool> = Vec::new();
        while let Some((task, depth, last)) = waiting.pop() {
            ended.truncate(depth);
            let again = !self.drawn.insert(task.id.clone());
            let dependants: Vec<&Outline> = self.graph.dependants(&task.id).collect();
            let lead = lead(&ended, last && depth > 0, depth);
            self.line(task, &lead, again && !dependants.is_empty());
            ended.push(last);
            if again {
                continue;
            }
            let end = dependants.len();
            let below = dependants.into_iter().enumerate();
            waiting.extend(below.rev().map(|(at, it)| (it, depth + 1, at + 1 == end)));
        }
    }

    fn line(&mut self, task: &Outline, lead: &str, above: bool) {
        let see = if above { " (above)" } else { "" };
        let state = task.state.name();
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
        let subject = line(&task.subject);
        self.text += &format!("{lead}{mark} {} {subject}{named}{see}\n", task.id);
    }
}

/// What stands before a task at this depth.
fn lead(ended: &[bool], last: bool, depth: usize) -> String {
    if depth == 0 {
        return String::new();
    }
    let shown = ended.iter().skip(1).take(DEEPEST);
    let mut lead: String = shown
        .map(|ended| if *ended { "   " } else { "│  " })
        .collect();
    if depth > DEEPEST {
        lead += "… ";
    }
    lead + if last { "└─ " } else { "├─ " }
}
