//! A graph as SVG, for people to look at.
//!
//! Owns the cards and the edges. Each task and each edge is drawn once, and each says what it is
//! when pointed at. State is colour, sign and word; the critical path is colour, weight and a
//! ribbon; what closes a circle is colour and dashes.

pub(super) mod sheet;
pub(super) mod state;

use std::collections::BTreeSet;

use self::{sheet::Sheet, state::sign};
use super::{
    EdgeStyle, Picture,
    layers::{HEIGHT, Point, WIDTH, lay_out},
    text::{cut, line, wrap, xml},
    word,
};
use crate::task::{Outline, StateName};

/// As many columns of a subject stand in a line of a card.
const COLUMNS: usize = 29;
/// As much of a subject is said of a card that is pointed at.
const SAID: usize = 400;

/// Where everything in a picture stands, in pixels from its upper left corner.
#[derive(Debug)]
pub struct Placed {
    /// How wide and how high all of it is.
    pub size: Point,
    /// Each card's upper left corner.
    pub cards: Vec<Point>,
    /// Each edge's path, as SVG has it.
    pub paths: Vec<String>,
}

/// Puts the cards of a picture in their places, and draws its edges between them.
pub fn place(picture: &Picture<'_>) -> Placed {
    let layout = lay_out(picture.tasks.len(), &picture.edges);
    let paths = picture.edges.iter().zip(&layout.ways);
    let paths = paths.map(|(edge, way)| match edge.from == edge.to {
        true => around(way),
        false => bent(way),
    });
    Placed {
        size: (layout.width, layout.height),
        paths: paths.collect(),
        cards: layout.cards,
    }
}

/// The picture as an SVG file.
pub fn svg(picture: &Picture<'_>) -> String {
    let placed = place(picture);
    let (width, height) = placed.size;
    let mut sheet = Sheet::new(&cut(picture.title, 64), note(picture), width);
    explain(picture, &mut sheet);
    let mut body = DEFS.to_owned();
    // What matters lies on top.
    for kind in [EdgeStyle::Plain, EdgeStyle::Closing, EdgeStyle::Critical] {
        for (edge, path) in picture.edges.iter().zip(&placed.paths) {
            if edge.line == kind {
                let (from, to) = (picture.tasks[edge.from], picture.tasks[edge.to]);
                let title = format!("<title>{} waits for {}</title>", to.id, from.id);
                body += &format!("{}\n", arrow(kind, path, &title));
            }
        }
    }
    let marked = picture.marked();
    for (task, corner) in picture.tasks.iter().zip(&placed.cards) {
        body += &card(task, *corner, marked.contains(&task.id));
    }
    let (day, night) = state::style();
    let style = (day + DAY, night + NIGHT);
    sheet.finish((&style.0, &style.1), &body, height)
}

/// The picture in a line of words.
fn note(picture: &Picture<'_>) -> String {
    let count = |state| {
        let all = picture.tasks.iter().map(|task| task.state.name());
        all.filter(|other| *other == state).count()
    };
    let tasks = match picture.tasks.len() {
        0 => "no tasks".to_owned(),
        1 => "1 task".to_owned(),
        n => format!("{n} tasks"),
    };
    let counts = StateName::ALL
        .iter()
        .map(|&state| (count(state), word(state)));
    let counts = counts
        .filter(|(n, _)| *n > 0)
        .map(|(n, word)| format!("{n} {word}"));
    let mut said = vec![tasks];
    said.extend(counts);
    if picture.critical.len() > 1 {
        said.push(format!("critical path of {}", picture.critical.len()));
    }
    said.join(" · ")
}

/// What signs there are, as far as they are used.
fn explain(picture: &Picture<'_>, sheet: &mut Sheet) {
    let states: BTreeSet<StateName> = picture.tasks.iter().map(|task| task.state.name()).collect();
    for state in states {
        let drawn = format!("<g class=\"{state}\">{}</g>", sign(state));
        sheet.explain(drawn, 16, word(state));
    }
    for (kind, words, ribbon) in [
        (EdgeStyle::Plain, "comes before", None),
        (EdgeStyle::Critical, "critical path", Some(ribbon(-1, -8))),
        (EdgeStyle::Closing, "closes a circle", None),
    ] {
        if picture.edges.iter().any(|edge| edge.line == kind) {
            let from = ribbon.as_ref().map_or(0, |_| 16);
            let line = arrow(kind, &format!("M{from} 0h32"), "");
            sheet.explain(ribbon.unwrap_or_default() + &line, from + 32, words);
        }
    }
}

/// An edge along this path.
fn arrow(kind: EdgeStyle, path: &str, title: &str) -> String {
    let (class, head) = match kind {
        EdgeStyle::Plain => ("edge", "arrow"),
        EdgeStyle::Critical => ("edge critical", "arrow-critical"),
        EdgeStyle::Closing => ("edge closing", "arrow-closing"),
    };
    format!("<path class=\"{class}\" d=\"{path}\" marker-end=\"url(#{head})\">{title}</path>")
}

/// A way with soft bends.
fn bent(way: &[Point]) -> String {
    let mut path = String::new();
    for (n, &(x, y)) in way.iter().enumerate() {
        path += &match n.checked_sub(1).map(|before| way[before]) {
            None => format!("M{x} {y}"),
            Some((_, before)) if before == y => format!("H{x}"),
            Some((left, above)) => {
                let middle = left.midpoint(x);
                format!("C{middle} {above} {middle} {y} {x} {y}")
            }
        };
    }
    path
}

/// The way of a task that waits for itself.
fn around(way: &[Point]) -> String {
    let (x, y) = way.first().copied().unwrap_or_default();
    format!("M{x} {}c36 -14 36 34 0 20", y - 10)
}

/// The mark of a task on the critical path.
fn ribbon(x: i32, y: i32) -> String {
    format!("<path class=\"ribbon\" d=\"M{x} {y}h12v17l-6 -5l-6 5z\"/>")
}

fn card(task: &Outline, (x, y): Point, is_critical: bool) -> String {
    let state = task.state.name();
    let (critical, ribbon) = match is_critical {
        true => (" critical", ribbon(WIDTH - 24, -1)),
        false => ("", String::new()),
    };
    let owner = task.owner.as_deref().map(|owner| cut(owner, 14));
    let owner = owner.filter(|owner| !owner.is_empty() && state != StateName::Pending);
    let who = owner.map(|owner| format!(" · {owner}")).unwrap_or_default();
    let id = cut(task.id.as_str(), 12);
    let mut text = format!(
        "<text class=\"id\" x=\"36\" y=\"24\">{id}</text>\
         <text class=\"small\" x=\"{}\" y=\"24\">{}{}</text>",
        36 + 8 * id.chars().count() as i32 + 8,
        word(state),
        xml(&who)
    );
    for (n, row) in wrap(&task.subject, COLUMNS, 2).iter().enumerate() {
        text += &format!(
            "<text class=\"subject\" x=\"14\" y=\"{}\">{}</text>",
            44 + 17 * n,
            xml(row)
        );
    }
    format!(
        "<g class=\"task {state}{critical}\" transform=\"translate({x} {y})\"><title>{}</title>\
         <rect class=\"card\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"9\"/>\
         <g transform=\"translate(13 20)\">{}</g><g clip-path=\"url(#card)\">{text}</g>{ribbon}</g>\n",
        xml(&tooltip(task, is_critical)),
        sign(state)
    )
}

/// What a card says when it is pointed at.
fn tooltip(task: &Outline, is_critical: bool) -> String {
    let subject: String = line(&task.subject).chars().take(SAID).collect();
    let mut said = format!("{} {subject}\n{}", task.id, word(task.state.name()));
    if let Some(claim) = task.state.claim() {
        said += &format!(" by {}", claim.by);
    }
    if let Some(priority) = task.priority {
        said += &format!("\npriority {priority}");
    }
    if let Some(estimate) = task.estimate {
        said += &format!("\nestimated {estimate}");
    }
    if let Some(due) = task.due {
        said += &format!("\ndue {due}");
    }
    if is_critical {
        said += "\non the critical path";
    }
    said
}

const DEFS: &str = r#"<defs>
<clipPath id="card"><rect width="214" height="72"/></clipPath>
<marker id="arrow" class="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 1L9 5L0 9Z"/></marker>
<marker id="arrow-critical" class="arrow critical" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="13" markerHeight="13" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L10 5L0 10Z"/></marker>
<marker id="arrow-closing" class="arrow closing" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="10" markerHeight="10" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L10 5L0 10Z"/></marker>
</defs>
"#;

const DAY: &str = "\
.card { stroke: currentColor; stroke-width: 1.25; }
.cancelled .card { stroke-dasharray: 5 4; }
.cancelled .subject { text-decoration: line-through; fill: #59636e; }
.critical .card { stroke: #8250df; stroke-width: 2.5; }
.id { font-weight: 600; }
.edge { fill: none; stroke: #a5aeb8; stroke-width: 1.5; }
.edge.critical { stroke: #8250df; stroke-width: 3; }
.edge.closing { stroke: #cf222e; stroke-width: 2; stroke-dasharray: 7 5; }
.arrow { fill: #8c959f; }
.arrow.critical, .ribbon { fill: #8250df; }
.arrow.closing { fill: #cf222e; }
";

const NIGHT: &str = "\
.cancelled .subject { fill: #9198a1; }
.critical .card { stroke: #a371f7; }
.edge { stroke: #4d5560; }
.edge.critical { stroke: #a371f7; }
.edge.closing { stroke: #ff7b72; }
.arrow { fill: #6e7681; }
.arrow.critical, .ribbon { fill: #a371f7; }
.arrow.closing { fill: #ff7b72; }
";
