//! What `status` tells of questions that wait for an answer.

use flagpost_core::questions::OpenQuestion;

use crate::{context::Context, terminal::line};

/// The command that answers a question, but for the words, as it works from where the reader stands.
pub fn command(context: &Context, asked: &OpenQuestion<'_>) -> String {
    format!("flagpost answer {}{}", asked.task.id, elsewhere(context))
}

/// What a command needs to be about the same list.
pub fn elsewhere(context: &Context) -> String {
    let list = context.globals.list.as_ref();
    let list = list.map(|list| format!(" --list {}", quoted(list)));
    list.unwrap_or_default()
}

/// A question in a line, and below how to answer it. A task that came stuck from elsewhere asks
/// nothing in words.
pub fn words(context: &Context, asked: &OpenQuestion<'_>) -> String {
    let subject = line(&asked.task.subject);
    if asked.by.is_none() && asked.said.is_empty() {
        return format!("{} stuck {subject}", asked.task.id);
    }
    let by = asked.by.as_deref().map_or("somebody".into(), line);
    let said = asked.said.trim();
    let said = match said.lines().next() {
        None => " is stuck and said no more".to_owned(),
        Some(first) if first.len() < said.len() => format!(" asks: {} …", line(first)),
        Some(first) => format!(" asks: {}", line(first)),
    };
    let (id, command) = (&asked.task.id, command(context, asked));
    format!("{id} {subject}: {by}{said}\n    {command} 'WORDS'")
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-:/".contains(c);
    match word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
