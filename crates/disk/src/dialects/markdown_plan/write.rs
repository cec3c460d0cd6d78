//! Tasks → plan.
//!
//! Owns that reading what was written gives the same plan again. What the grammar cannot hold as it
//! is, is written in another form: a brace with a backslash, a value in quotes, a description in a
//! fence. What it cannot hold at all, [`leaves_out`] tells.

use std::{collections::HashMap, fmt::Write};

use flagpost_model::{
    TaskId,
    task::{State, Task},
};

use super::{notes, parse, read};

/// How far a description is indented.
const MARGIN: &str = "      ";

/// Whether a task has something that a plan has no place for.
pub fn leaves_out(task: &Task) -> bool {
    !task.notes.is_empty()
        || !task.metadata.is_empty()
        || !task.late.is_empty()
        || task.result.as_ref().is_some_and(|it| !it.text.is_empty())
        || task.tracked.seconds() > 0
        || !task.active_form.is_empty()
}

/// A plan of these tasks under their uids.
pub fn write(title: &str, tasks: &[(&Task, &str)]) -> String {
    let mut text = format!("# {title}\n\n");
    let places = tasks.iter().enumerate();
    let places = places.map(|(at, (task, _))| (&task.id, at + 1)).collect();
    let names = TaskRefs {
        places,
        mark: mark(tasks),
    };
    for (task, uid) in tasks {
        let tick = if task.state == State::Completed {
            'x'
        } else {
            ' '
        };
        let fields = fields(task, uid, &names);
        // Writing to a text cannot fail.
        let _ = write!(text, "- [{tick}] {}", subject(task));
        let after: Vec<String> = task
            .blocked_by
            .iter()
            .filter_map(|id| names.of(id))
            .collect();
        if !after.is_empty() {
            let _ = write!(text, " (after: {})", after.join(", "));
        }
        let _ = writeln!(text, " {{{}}}", fields.join(", "));
        text += &indented(&description(&task.description));
    }
    text
}

/// How other tasks of the plan are referred to.
struct TaskRefs<'t> {
    places: HashMap<&'t TaskId, usize>,
    mark: String,
}

impl TaskRefs<'_> {
    fn of(&self, id: &TaskId) -> Option<String> {
        let place = self.places.get(id)?;
        Some(format!("{}{place}", self.mark))
    }
}

/// What is written before a number so that it is no task's title.
fn mark(tasks: &[(&Task, &str)]) -> String {
    let is_like = |c: char| c.is_ascii_digit() || c == '#' || c == ',' || c.is_whitespace();
    let like = tasks.iter().map(|(task, _)| &task.subject);
    let like: Vec<&String> = like.filter(|it| it.chars().all(is_like)).collect();
    let mut mark = "#".to_owned();
    while like.iter().any(|title| title.contains(&mark)) {
        mark.push('0');
    }
    mark
}

fn fields(task: &Task, uid: &str, names: &TaskRefs<'_>) -> Vec<String> {
    let state = match &task.state {
        State::Failed | State::Stuck | State::Cancelled => Some(task.state.name().to_string()),
        State::Pending | State::Claimed(_) | State::InProgress(_) | State::Completed => None,
    };
    // A field without a value says nothing.
    let tags = task.tags.iter().filter(|tag| !tag.is_empty());
    let tags: Vec<String> = tags.map(|tag| label(tag)).collect();
    let value_of = |text: &str| (!text.is_empty()).then(|| value(text));
    let text = |text: &Option<String>| text.as_deref().and_then(value_of);
    let fields = [
        ("priority", task.priority.map(|it| it.to_string())),
        ("group", text(&task.group)),
        ("complexity", text(&task.complexity)),
        ("project", text(&task.project)),
        ("tags", (!tags.is_empty()).then(|| tags.join(" "))),
        ("due", task.due.map(|it| it.to_string())),
        ("not_before", task.not_before.map(|it| it.to_string())),
        ("estimate", task.estimate.map(|it| it.minutes().to_string())),
        ("parent", task.parent.as_ref().and_then(|id| names.of(id))),
        ("state", state),
        ("uid", value_of(uid)),
    ];
    let fields = fields.into_iter();
    fields
        .filter_map(|(key, value)| Some(format!("{key}: {}", value?)))
        .collect()
}

/// One line that is read as this subject.
fn subject(task: &Task) -> String {
    let line = task.subject.replace(['\n', '\r'], " ");
    let line = match line.trim() {
        "" => "(untitled)",
        line => line,
    };
    let read = notes::split(line, 0).ok();
    let is_plain = read.is_some_and(|it| it.subject == line);
    match is_plain {
        true => line.to_owned(),
        false => line.replace('{', "\\{").replace('(', "\\("),
    }
}

/// A value as it is, or in quotes.
fn value(text: &str) -> String {
    let is_plain = text.trim() == text
        && !text.is_empty()
        && !text.starts_with('"')
        && !text.contains([',', '{', '}', '\n', '\r']);
    match is_plain {
        true => text.to_owned(),
        false => quoted(text, |c| c == ' '),
    }
}

/// A label as it is, or in quotes and without a blank.
fn label(text: &str) -> String {
    let is_plain =
        value(text) == text && !text.contains(char::is_whitespace) && !text.starts_with('[');
    match is_plain {
        true => text.to_owned(),
        false => quoted(text, |_| false),
    }
}

/// JSON without a character that the grammar knows.
fn quoted(text: &str, may_stay: impl Fn(char) -> bool) -> String {
    let mut quoted = "\"".to_owned();
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if may_stay(c) => quoted.push(c),
            ',' | '{' | '}' => quoted += &format!("\\u{:04x}", u32::from(c)),
            c if c.is_control() || c.is_whitespace() => {
                quoted += &format!("\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// A text that comes back as it is, in a fence of ours where it would not without.
fn description(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    if text.is_empty() {
        return text;
    }
    let read = parse(&format!("- [ ] x\n{}", indented(&text)));
    let survives = read.is_ok_and(|plan| match plan.tasks.as_slice() {
        [only] => only.description == text,
        _ => false,
    });
    if survives {
        return text;
    }
    let mut fence = "~~~".to_owned();
    while text.contains(&fence) {
        fence.push('~');
    }
    format!("{fence}{}\n{text}\n{fence}", read::EXACT)
}

fn indented(text: &str) -> String {
    let line = |line: &str| match line {
        "" => "\n".to_owned(),
        line => format!("{MARGIN}{line}\n"),
    };
    match text {
        "" => String::new(),
        text => text.split('\n').map(line).collect(),
    }
}

#[cfg(test)]
mod tests;
