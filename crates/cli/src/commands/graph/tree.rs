//! A graph on a terminal: what waits for a task is drawn below it.
//!
//! Owns the lines. Every task is drawn in full once, however many it waits for, circles included.

use std::collections::HashSet;

use flagpost_model::{
    TaskId,
    drawing::sign,
    plan::Graph,
    task::{Outline, StateName},
};

use crate::{screen::Screen, terminal::line};

/// Draws all tasks of a graph: what waits below what it waits for, `root` first.
pub fn draw<'o>(
    graph: &Graph<'o>,
    screen: Screen,
    root: Option<&TaskId>,
    tasks: &'o [Outline],
) -> String {
    let mut drawing = Drawing {
        graph,
        screen,
        drawn: HashSet::new(),
        text: String::new(),
    };
    if let Some(root) = root.and_then(|id| graph.get(id)) {
        drawing.tree(root);
    }
    let is_free = |task: &Outline| graph.blockers(&task.id).next().is_none();
    let (free, waiting): (Vec<_>, Vec<_>) = tasks.iter().partition(|task| is_free(task));
    // Those of the waiting that are still to be drawn hang in circles.
    for task in free.into_iter().chain(waiting) {
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
struct TreeRow<'o> {
    task: &'o Outline,
    level: usize,
    lead: String,
    joint: &'static str,
    below: &'static str,
}

impl<'o> Drawing<'_, 'o> {
    /// Draws a task and what waits for it. Does not recurse: a chain may be as long as the list.
    fn tree(&mut self, root: &'o Outline) {
        let mut next = vec![TreeRow {
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
                TreeRow {
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

    fn line(&mut self, place: &TreeRow<'_>, see_above: bool) {
        let state = place.task.state.name();
        let mark = sign(state);
        let named = match state {
            StateName::Pending | StateName::Completed => String::new(),
            other => format!(" [{}]", self.screen.state(other.as_str())),
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
