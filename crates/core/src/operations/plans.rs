//! Plans: which task waits for which.

use flagpost_model::{
    drawing::{self, Picture},
    plan::{Excerpt, Graph, expected, groups},
};
use serde_json::{Value, json};

use super::{
    Arguments, Caller, CallerPart, Operation, OperationEntry, ParamKind, Parameter, Run,
    tasks::LIST,
};
use crate::{
    answers::{GraphCard, GraphLayout},
    error::Result,
};

/// A plan of more tasks is laid out by group, so that a person can take it in.
const MOST: usize = 400;

pub(super) const ENTRIES: &[OperationEntry] = &[OperationEntry::new(
    Operation::TaskGraph,
    "Which task waits for which, laid out; more than 400 tasks by group",
    Run::Answer("graph_layout", graph),
)
.asking(&[CallerPart::Repo])
.taking(&[
    LIST,
    Parameter::new(
        "root",
        ParamKind::Id,
        "Only this task and what waits for it.",
    ),
    Parameter::text(
        "group",
        "Only the tasks of this group; an empty text for those without one.",
    ),
    Parameter::flag("open", "Only what is neither completed nor cancelled."),
])];

fn graph(caller: &Caller, arguments: &Arguments) -> Result<Value> {
    let list = caller.list(arguments)?;
    let loaded = list.load()?;
    let root = arguments.text("root").map(|given| list.resolve(given));
    let root = root.transpose()?;
    let excerpt = Excerpt {
        root: root.as_ref(),
        only_unfinished: arguments.flag("open"),
    };
    let mut shown = excerpt.of(&loaded.outlines);
    if let Some(group) = arguments.text("group") {
        shown.retain(|it| it.group.as_deref().unwrap_or_default() == group);
    }
    let whole = Graph::new(&loaded.outlines);
    let cycle = whole.cycle();
    let faults = (whole.unknown(), cycle.as_deref());
    if shown.len() > MOST {
        let groups = groups(&shown);
        let outlines: Vec<_> = groups.iter().map(|it| it.outline.clone()).collect();
        // How long a group takes is not what its first task says.
        let picture = Picture::new(list.id().as_str(), &Graph::new(&outlines), |_| 0);
        let placed = drawing::place(&picture);
        let card = |n: usize, (x, y)| {
            GraphCard::new(
                None,
                groups[n].name.as_deref(),
                groups[n].tasks,
                x,
                y,
                false,
            )
        };
        return Ok(json!(GraphLayout::of(
            list.id(),
            (&picture, &placed),
            faults,
            card
        )));
    }
    let graph = Graph::new(&shown);
    let picture = Picture::new(list.id().as_str(), &graph, expected);
    let placed = drawing::place(&picture);
    let critical = picture.marked();
    let card = |n: usize, (x, y)| {
        let id = &picture.tasks[n].id;
        GraphCard::new(Some(id), None, 1, x, y, critical.contains(id))
    };
    Ok(json!(GraphLayout::of(
        list.id(),
        (&picture, &placed),
        faults,
        card
    )))
}
