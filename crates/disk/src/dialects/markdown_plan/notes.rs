//! The notes at the end of a subject's line: `(after: …)` and `{key: value}`.
//!
//! Owns the fields and what each may hold. What an `after` refers to is for `links`.

use std::{borrow::Cow, str::FromStr};

use flagpost_model::{
    names::UnknownName,
    query::plain_date,
    task::{Effort, Priority, State, StateName},
};
use jiff::{Timestamp, civil::Date};

use super::PlanError;

/// Every field, in the order in which they are documented.
pub(super) const KEYS: [&str; 11] = [
    "priority",
    "group",
    "complexity",
    "project",
    "tags",
    "due",
    "not_before",
    "estimate",
    "parent",
    "state",
    "uid",
];

#[derive(Default)]
pub(super) struct Notes {
    pub subject: String,
    /// The text of each `(after: …)`.
    pub after: Vec<String>,
    pub fields: NoteFields,
    /// What is left in the subject and may be meant as a note.
    pub warning: Option<String>,
}

#[derive(Default)]
pub(super) struct NoteFields {
    pub priority: Option<Priority>,
    pub group: Option<String>,
    pub complexity: Option<String>,
    pub project: Option<String>,
    pub tags: Vec<String>,
    pub due: Option<Date>,
    pub not_before: Option<Timestamp>,
    pub estimate: Option<Effort>,
    /// The name of the task that it is part of.
    pub parent: Option<String>,
    pub state: Option<State>,
    pub uid: Option<String>,
}

/// Takes notes off the end until what remains is the subject.
pub(super) fn split(text: &str, line: usize) -> Result<Notes, PlanError> {
    let mut notes = Notes::default();
    let mut seen = Vec::new();
    let mut rest = text.trim();
    loop {
        if let Some((before, inside)) = fields_at_end(rest) {
            for part in parts(inside) {
                let (key, value) = key_and_value(part, line)?;
                if seen.contains(&key) {
                    return Err(PlanError::RepeatedField { line, key });
                }
                notes.fields.set(&key, &value, line)?;
                seen.push(key);
            }
            rest = before.trim_end();
        } else if let Some((before, inside)) = after_at_end(rest) {
            if inside.trim_matches([',', ' ', '\t']).is_empty() {
                let allowed = "numbers or titles of tasks, separated by commas";
                return Err(bad("after", inside.trim(), allowed, line));
            }
            notes.after.insert(0, inside.trim().to_owned());
            rest = before.trim_end();
        } else {
            break;
        }
    }
    // A dependency must not be lost because a word stands behind it.
    let bare = rest.replace("\\(", "").to_ascii_lowercase();
    if bare.contains("(after:") {
        return Err(PlanError::MisplacedAfter { line });
    }
    notes.warning = nearly_field(rest);
    notes.subject = unescaped(rest);
    Ok(notes)
}

/// Whether a text ends in what says something of a task.
pub(super) fn has_notes(text: &str) -> bool {
    let text = text.trim();
    fields_at_end(text).is_some() || after_at_end(text).is_some()
}

/// A backslash keeps a brace or a parenthesis from opening a note.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('\\', Some('{' | '(')) => {}
            _ => plain.push(c),
        }
    }
    plain
}

/// `… {key: …}`. Braces that hold something else, as in `/users/{id}`, are the subject's own.
fn fields_at_end(text: &str) -> Option<(&str, &str)> {
    let (before, inside) = text.strip_suffix('}')?.rsplit_once('{')?;
    let (key, _) = inside.split_once(':')?;
    let separate = before.is_empty() || before.ends_with(char::is_whitespace);
    let key = key.trim();
    let is_word = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
    let is_key = is_word || key.contains(',');
    (separate && is_key).then_some((before, inside))
}

/// `… (after: …)`; what it names may have parentheses of its own.
fn after_at_end(text: &str) -> Option<(&str, &str)> {
    let body = text.strip_suffix(')')?;
    let mut depth = 1_usize;
    let (open, _) = body.char_indices().rev().find(|&(_, c)| {
        match c {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    let (word, inside) = body[open + 1..].split_once(':')?;
    let is_after = word.trim().eq_ignore_ascii_case("after");
    let is_open = !body[..open].ends_with('\\');
    (is_after && is_open).then_some((&body[..open], inside))
}

/// The parts between commas; those of `tags` are one.
fn parts(inside: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = Vec::new();
    let mut start = 0;
    let mut is_tags = false;
    for part in inside.split(',') {
        let end = start + part.len();
        let key = part.split_once(':').map(|(key, _)| key.trim());
        match parts.last_mut() {
            Some(tags) if is_tags && key.is_none() => {
                *tags = &inside[end - part.len() - 1 - tags.len()..end];
            }
            _ => {
                is_tags = key.is_some_and(|key| key.eq_ignore_ascii_case("tags"));
                parts.push(part);
            }
        }
        start = end + 1;
    }
    parts
}

/// `{due 2026-12-01}` at the end of a subject, or `{due: 2026-12-01`: the colon is missing, or the brace.
fn nearly_field(subject: &str) -> Option<String> {
    let is_known = |key: &str| KEYS.contains(&key.to_lowercase().as_str());
    let Some(closed) = subject.strip_suffix('}') else {
        let (before, inside) = subject.rsplit_once('{')?;
        let (key, _) = inside.split_once(':')?;
        let is_meant = is_known(key.trim()) && !before.ends_with('\\') && !inside.contains('}');
        return is_meant.then(|| format!("{{{inside} is text: write {{{inside}}}"));
    };
    let (before, inside) = closed.rsplit_once('{')?;
    let (key, value) = inside.trim().split_once(char::is_whitespace)?;
    let is_key = is_known(key);
    let is_text = before.ends_with('\\') || inside.contains(':');
    (is_key && !is_text).then(|| format!("{{{inside}}} is text: write {{{key}: {}}}", value.trim()))
}

/// Labels between blanks or commas, as a list or not.
fn labels(value: &str) -> Vec<String> {
    let listed = value.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let labels = listed.unwrap_or(value);
    let labels = labels.split(|c: char| c == ',' || c.is_whitespace());
    let labels = labels.filter(|label| !label.is_empty());
    labels.map(|label| unquoted(label).into_owned()).collect()
}

fn key_and_value(part: &str, line: usize) -> Result<(String, Cow<'_, str>), PlanError> {
    match part.split_once(':') {
        Some((key, value)) => {
            let key = key.trim().to_lowercase();
            let value = value.trim();
            // Labels are quoted one by one.
            let quoted = (key != "tags").then(|| unquoted(value));
            Ok((key, quoted.unwrap_or(Cow::Borrowed(value))))
        }
        None => Err(PlanError::NotAField {
            line,
            text: part.trim().to_owned(),
        }),
    }
}

/// A text in quotes is JSON, so that it can hold what would end it.
fn unquoted(text: &str) -> Cow<'_, str> {
    let quoted = text
        .starts_with('"')
        .then(|| serde_json::from_str(text).ok());
    match quoted.flatten() {
        Some(plain) => Cow::Owned(plain),
        None => Cow::Borrowed(text),
    }
}

impl NoteFields {
    fn set(&mut self, key: &str, value: &str, line: usize) -> Result<(), PlanError> {
        let text = || match value {
            "" => Err(bad(key, value, "any text", line)),
            _ => Ok(Some(value.to_owned())),
        };
        match key {
            "priority" => {
                let priority = Priority::from_str(&value.to_lowercase());
                self.priority = Some(priority.map_err(|error| unknown(key, error, value, line))?);
            }
            "group" => self.group = text()?,
            "complexity" => self.complexity = text()?,
            "project" => self.project = text()?,
            "tags" => {
                text()?;
                self.tags = labels(value);
            }
            "due" => {
                self.due = Some(date(key, value, line)?);
            }
            "not_before" => {
                let allowed = "a time such as 2026-12-01T09:00:00Z";
                let at = Timestamp::from_str(value);
                self.not_before = Some(at.map_err(|_| bad(key, value, allowed, line))?);
            }
            "estimate" => {
                let effort = Effort::from_str(value);
                self.estimate =
                    Some(effort.map_err(|_| bad(key, value, "90m, 2h, 1h30m, 1d, 1w", line))?);
            }
            "parent" => self.parent = text()?,
            "state" => {
                let allowed = "pending, completed, failed, stuck, cancelled";
                self.state = Some(match StateName::from_str(&value.to_lowercase()) {
                    Ok(StateName::Pending) => State::Pending,
                    Ok(StateName::Completed) => State::Completed,
                    Ok(StateName::Failed) => State::Failed,
                    Ok(StateName::Stuck) => State::Stuck,
                    Ok(StateName::Cancelled) => State::Cancelled,
                    Ok(StateName::Claimed | StateName::InProgress) | Err(_) => {
                        return Err(bad(key, value, allowed, line));
                    }
                });
            }
            "uid" => self.uid = text()?,
            _ => {
                let key = key.to_owned();
                return Err(PlanError::UnknownField { line, key });
            }
        }
        Ok(())
    }
}

fn date(key: &str, value: &str, line: usize) -> Result<Date, PlanError> {
    plain_date(value).ok_or_else(|| bad(key, value, "a date such as 2026-12-01", line))
}

fn unknown(key: &str, error: UnknownName, value: &str, line: usize) -> PlanError {
    bad(key, value, &error.allowed.join(", "), line)
}

fn bad(key: &str, value: &str, allowed: &str, line: usize) -> PlanError {
    PlanError::BadValue {
        line,
        key: key.to_owned(),
        value: value.to_owned(),
        allowed: allowed.to_owned(),
    }
}
