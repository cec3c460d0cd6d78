//! A graph in Graphviz' language, DOT.
//!
//! Owns its quoting: a label is read twice, as a string and then as text with escapes and entities.

use super::{
    EdgeStyle, MARK, Picture, sign,
    text::{cut, line, wrap},
    word,
};
use crate::task::StateName;

/// The picture as a DOT file.
pub fn dot(picture: &Picture<'_>) -> String {
    let mut text = format!(
        "// {MARK}\ndigraph \"{}\" {{\n  rankdir=LR\n  \
         node [shape=box style=\"rounded,filled\" fontname=\"sans-serif\" fontsize=11 fontcolor=\"#1f2328\"]\n  \
         edge [color=\"#8c959f\"]\n",
        quoted(picture.title)
    );
    let marked = picture.marked();
    for task in &picture.tasks {
        let state = task.state.name();
        let rows = wrap(&task.subject, 30, 3);
        let rows: String = rows
            .iter()
            .map(|row| format!("\\n{}", quoted(row)))
            .collect();
        let is_critical = marked.contains(&task.id);
        text += &format!(
            "  \"{}\" [label=\"{} {}{rows}\" class=\"{state}{}\" {}{} tooltip=\"{}: {}\"]\n",
            task.id,
            sign(state),
            task.id,
            if is_critical { " critical" } else { "" },
            look(state),
            if is_critical { " penwidth=3" } else { "" },
            word(state),
            quoted(&cut(&task.subject, 400)),
        );
    }
    for edge in &picture.edges {
        let look = match edge.line {
            EdgeStyle::Plain => "",
            EdgeStyle::Critical => " [class=\"critical\" penwidth=3 color=\"#8250df\"]",
            // It must not pull its ends out of their order.
            EdgeStyle::Closing => {
                " [class=\"closing\" style=dashed color=\"#cf222e\" constraint=false]"
            }
        };
        let (from, to) = (picture.tasks[edge.from], picture.tasks[edge.to]);
        text += &format!("  \"{}\" -> \"{}\"{look}\n", from.id, to.id);
    }
    text + "}\n"
}

/// A state's colour and shape.
fn look(state: StateName) -> &'static str {
    match state {
        StateName::Pending => "color=\"#59636e\" fillcolor=\"#ffffff\"",
        StateName::Claimed => "color=\"#0e7490\" fillcolor=\"#effcff\"",
        StateName::InProgress => "color=\"#0969da\" fillcolor=\"#eef6ff\" peripheries=2",
        StateName::Completed => "color=\"#1a7f37\" fillcolor=\"#effbf2\" style=\"filled\"",
        StateName::Failed => {
            "color=\"#cf222e\" fillcolor=\"#fff1f0\" shape=octagon style=\"filled\""
        }
        StateName::Stuck => {
            "color=\"#9a6700\" fillcolor=\"#fff8dd\" shape=hexagon style=\"filled\""
        }
        StateName::Cancelled => {
            "color=\"#818b98\" fillcolor=\"#f6f8fa\" style=\"rounded,filled,dashed\""
        }
    }
}

/// The text within quotes.
fn quoted(text: &str) -> String {
    let text = line(text);
    let mut quoted = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            // Labels know the entities of HTML.
            '&' => quoted.push_str("&amp;"),
            c => quoted.push(c),
        }
    }
    quoted
}
