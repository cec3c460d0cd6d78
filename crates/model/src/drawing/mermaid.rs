//! A graph in Mermaid's language.
//!
//! Owns its quoting. Mermaid looks for directives, comments and Markdown even within quotes, so
//! whatever is no letter, no digit and no plain punctuation goes in as the number of its character.

use super::{EdgeStyle, MARK, Picture, sign, text::cut};
use crate::{id::TaskId, task::StateName};

/// As many columns of a subject are shown.
const COLUMNS: usize = 80;

/// The picture as a Mermaid file.
pub fn mermaid(picture: &Picture<'_>) -> String {
    let mut text = format!("%% {MARK}\nflowchart LR\n");
    let marked = picture.marked();
    for task in &picture.tasks {
        let state = task.state.name();
        let (open, close) = brackets(state);
        let subject = cut(&task.subject, COLUMNS);
        let label = format!("{} {} {subject}", sign(state), task.id);
        text += &format!(
            "  {}{open}\"{}\"{close}:::{state}\n",
            name(&task.id),
            quoted(label.trim_end())
        );
    }
    for edge in &picture.edges {
        let arrow = match edge.line {
            EdgeStyle::Plain => "-->",
            EdgeStyle::Critical => "==>",
            EdgeStyle::Closing => "-.->",
        };
        let (from, to) = (picture.tasks[edge.from], picture.tasks[edge.to]);
        text += &format!("  {} {arrow} {}\n", name(&from.id), name(&to.id));
    }
    for &state in StateName::ALL {
        if picture.tasks.iter().any(|task| task.state.name() == state) {
            text += &format!("  classDef {state} {}\n", look(state));
        }
    }
    let names: Vec<String> = picture
        .tasks
        .iter()
        .map(|task| &task.id)
        .filter(|id| marked.contains(id))
        .map(name)
        .collect();
    if !names.is_empty() {
        text += "  classDef critical stroke:#8250df,stroke-width:3px\n";
        text += &format!("  class {} critical\n", names.join(","));
    }
    text
}

/// A task's name in the file: letters, digits and underscores, another for every id.
fn name(id: &TaskId) -> String {
    let mut name = String::from("t");
    for c in id.as_str().chars() {
        if c.is_ascii_alphanumeric() {
            name.push(c);
        } else {
            name += &format!("_{:02x}", u32::from(c));
        }
    }
    name
}

/// The text within quotes.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for c in text.chars() {
        if !c.is_ascii() || c.is_ascii_alphanumeric() || " .,:-()/+=!?'".contains(c) {
            quoted.push(c);
        } else {
            quoted += &format!("#{};", u32::from(c));
        }
    }
    quoted
}

/// A state's shape.
fn brackets(state: StateName) -> (&'static str, &'static str) {
    match state {
        StateName::Pending => ("[", "]"),
        StateName::Claimed => ("(", ")"),
        StateName::InProgress => ("([", "])"),
        StateName::Completed => ("[[", "]]"),
        StateName::Failed => ("{{", "}}"),
        StateName::Stuck => (">", "]"),
        StateName::Cancelled => ("[/", "/]"),
    }
}

/// A state's colours.
fn look(state: StateName) -> &'static str {
    match state {
        StateName::Pending => "fill:#ffffff,stroke:#59636e,color:#1f2328",
        StateName::Claimed => "fill:#effcff,stroke:#0e7490,color:#1f2328",
        StateName::InProgress => "fill:#eef6ff,stroke:#0969da,color:#1f2328",
        StateName::Completed => "fill:#effbf2,stroke:#1a7f37,color:#1f2328",
        StateName::Failed => "fill:#fff1f0,stroke:#cf222e,color:#1f2328",
        StateName::Stuck => "fill:#fff8dd,stroke:#9a6700,color:#1f2328",
        StateName::Cancelled => "fill:#f6f8fa,stroke:#818b98,color:#59636e,stroke-dasharray:5 4",
    }
}
