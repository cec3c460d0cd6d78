//! The notes at the end of a subject's line: `(after: …)` and `{key: value}`.
//!
//! Owns the fields and what each may hold. What an `after` refers to is for `links`.

use std::str::FromStr;

use flagpost_model::task::Priority;
use jiff::civil::Date;

use super::PlanError;

/// Every field, in the order in which they are documented.
pub(super) const KEYS: [&str; 7] = [
    "priority",
    "group",
    "complexity",
    "project",
    "tags",
    "due",
    "uid",
];

#[derive(Default)]
pub(super) struct Notes {
    pub subject: String,
    /// The text of each `(after: …)`.
    pub after: Vec<String>,
    pub fields: Fields,
}

#[derive(Default)]
pub(super) struct Fields {
    pub priority: Option<Priority>,
    pub group: Option<String>,
    pub complexity: Option<String>,
    pub project: Option<String>,
    pub tags: Vec<String>,
    pub due: Option<Date>,
    pub uid: Option<String>,
}

/// Takes notes off the end until what remains is the subject.
pub(super) fn split(text: &str, line: usize) -> Result<Notes, PlanError> {
    let mut notes = Notes::default();
    let mut seen = Vec::new();
    let mut rest = text.trim();
    loop {
        if let Some((before, inside)) = fields_at_end(rest) {
            for part in inside.split(',') {
                let (key, value) = key_and_value(part, line)?;
                if seen.contains(&key) {
                    return Err(PlanError::RepeatedField { line, key });
                }
                notes.fields.set(&key, value, line)?;
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
    if rest.to_ascii_lowercase().contains("(after:") {
        return Err(PlanError::MisplacedAfter { line });
    }
    notes.subject = rest.to_owned();
    Ok(notes)
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
    is_after.then_some((&body[..open], inside))
}

fn key_and_value(part: &str, line: usize) -> Result<(String, &str), PlanError> {
    match part.split_once(':') {
        Some((key, value)) => Ok((key.trim().to_lowercase(), value.trim())),
        None => Err(PlanError::NotAField {
            line,
            text: part.trim().to_owned(),
        }),
    }
}

impl Fields {
    fn set(&mut self, key: &str, value: &str, line: usize) -> Result<(), PlanError> {
        let text = || match value {
            "" => Err(bad(key, value, "any text", line)),
            _ => Ok(Some(value.to_owned())),
        };
        match key {
            "priority" => {
                let priority = Priority::from_str(&value.to_lowercase());
                let allowed = |e: flagpost_model::names::UnknownName| e.allowed.join(", ");
                self.priority =
                    Some(priority.map_err(|error| bad(key, value, &allowed(error), line))?);
            }
            "group" => self.group = text()?,
            "complexity" => self.complexity = text()?,
            "project" => self.project = text()?,
            "tags" => {
                text()?;
                self.tags = value.split_whitespace().map(str::to_owned).collect();
            }
            "due" => {
                // jiff reads more spellings than lists should hold.
                let date = Date::from_str(value).ok();
                let date = date.filter(|date| date.to_string() == value);
                let allowed = "a date such as 2026-12-01";
                self.due = Some(date.ok_or_else(|| bad(key, value, allowed, line))?);
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

fn bad(key: &str, value: &str, allowed: &str, line: usize) -> PlanError {
    PlanError::BadValue {
        line,
        key: key.to_owned(),
        value: value.to_owned(),
        allowed: allowed.to_owned(),
    }
}
