//! `config.toml` as a text that people write in.
//!
//! Owns how a value is found in it, put into it and taken out of it. Invariant: whatever else
//! stands in the text, comments above all, stands there afterwards, in the same order.

use std::path::Path;

use flagpost_disk as disk;
use toml_edit::{Array, DocumentMut, Item, Table, TableLike};

use super::kind::SettingValue;
use crate::error::Result;

/// The file's text, and what it says.
#[derive(Debug)]
pub(super) struct Document {
    parsed: toml_edit::Document<String>,
}

/// What stands at a name.
#[derive(Debug, PartialEq)]
pub(super) struct RawSetting {
    /// The value; `None` where it is of a type that no setting has.
    pub value: Option<SettingValue>,
    /// As it is written.
    pub written: String,
    /// On which line.
    pub line: usize,
}

impl Document {
    /// Reads the text of the file at `path`.
    pub fn parse(path: &Path, bytes: Vec<u8>) -> Result<Self> {
        let malformed = |reason| disk::Error::Malformed {
            path: path.to_owned(),
            reason,
        };
        let text = String::from_utf8(bytes).map_err(|error| {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let lines = before.iter().filter(|byte| **byte == b'\n').count();
            malformed(format!("line {}: not UTF-8", lines + 1))
        })?;
        let parsed = toml_edit::Document::parse(text.clone()).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let message = error.message().replace('\n', ", ");
            malformed(format!("line {}: {message}", line_at(&text, at)))
        })?;
        Ok(Self { parsed })
    }

    /// What stands at this name.
    pub fn get(&self, path: &[&str]) -> Option<RawSetting> {
        let (item, is_whole) = find(self.parsed.as_table(), path)?;
        let span = item.span().unwrap_or_default();
        let text = self.parsed.raw();
        Some(RawSetting {
            value: read(item).filter(|_| is_whole),
            written: text.get(span.clone()).unwrap_or_default().to_owned(),
            line: line_at(text, span.start),
        })
    }

    /// The path of every name that has a value.
    pub fn names(&self) -> Vec<Vec<String>> {
        let mut names = Vec::new();
        collect(self.parsed.as_table(), &[], &mut names);
        names
    }

    /// The text with this value at this name.
    pub fn with(&self, path: &[&str], value: &SettingValue) -> Option<String> {
        let mut document: DocumentMut = self.parsed.raw().parse().ok()?;
        let (name, tables) = path.split_last()?;
        let is_new = |n: &usize| find(document.as_table(), &tables[..*n]).is_none();
        let mut before = String::new();
        if (1..=tables.len()).any(|n| is_new(&n)) {
            // What stands at the end of the text stays where it is, before the new table.
            let end = document.trailing().as_str().unwrap_or_default().to_owned();
            if !end.trim().is_empty() {
                document.set_trailing("");
                before = format!("{}\n\n", end.trim_end());
            }
        }
        let mut table: &mut dyn TableLike = document.as_table_mut();
        for (depth, part) in tables.iter().enumerate() {
            if !table.contains_key(part) {
                let mut new = Table::new();
                let is_last = depth + 1 == tables.len();
                new.set_implicit(!is_last);
                if is_last && !before.is_empty() {
                    new.decor_mut().set_prefix(std::mem::take(&mut before));
                }
                table.insert(part, Item::Table(new));
            }
            table = table.get_mut(part)?.as_table_like_mut()?;
        }
        match table.get_mut(name) {
            Some(Item::Value(old)) if !old.is_inline_table() => {
                let mut new = match (&*old, value) {
                    (toml_edit::Value::Array(old), SettingValue::Texts(texts)) => {
                        toml_edit::Value::Array(rewritten(old, texts))
                    }
                    _ => stored(value),
                };
                *new.decor_mut() = old.decor().clone();
                *old = new;
            }
            // Whole tables are not written over.
            Some(_) => return None,
            None => drop(table.insert(name, Item::Value(stored(value)))),
        }
        Some(self.with_its_line_ends(document.to_string()))
    }

    /// The text without what stands at this name. A comment on its line stays, on a line of its
    /// own.
    pub fn without(&self, path: &[&str]) -> Option<String> {
        let (name, tables) = path.split_last()?;
        let root = self.parsed.as_table();
        let (item, true) = find(root, path)? else {
            return None;
        };
        let inside_a_value = (1..=tables.len())
            .filter_map(|n| find(root, &path[..n]))
            .any(|(table, _)| table.is_inline_table());
        let text = self.parsed.raw();
        if inside_a_value {
            let mut document: DocumentMut = text.parse().ok()?;
            let mut table: &mut dyn TableLike = document.as_table_mut();
            for part in tables {
                table = table.get_mut(part)?.as_table_like_mut()?;
            }
            table.remove(name)?;
            return Some(self.with_its_line_ends(document.to_string()));
        }
        let span = item.as_value()?.span()?;
        let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[span.end..]
            .find('\n')
            .map_or(text.len(), |at| span.end + at + 1);
        let comment = text[span.end..end].trim_start();
        Some([&text[..start], comment, &text[end..]].concat())
    }

    /// An edited text, whose lines all end in LF, with the ends that the file's lines have.
    fn with_its_line_ends(&self, edited: String) -> String {
        let raw = self.parsed.raw();
        if raw.contains("\r\n") && !raw.replace("\r\n", "").contains('\n') {
            edited.replace("\r\n", "\n").replace('\n', "\r\n")
        } else {
            edited
        }
    }
}

fn line_at(text: &str, at: usize) -> usize {
    let before = text.as_bytes().iter().take(at);
    before.filter(|byte| **byte == b'\n').count() + 1
}

/// What stands at a name, and `true`; or `false` and what is no table and in the way there.
fn find<'t>(table: &'t dyn TableLike, path: &[&str]) -> Option<(&'t Item, bool)> {
    let (name, rest) = path.split_first()?;
    let item = table.get(name)?;
    match (rest, item.as_table_like()) {
        ([], _) => Some((item, true)),
        (_, Some(inner)) => find(inner, rest),
        (_, None) => Some((item, false)),
    }
}

fn collect(table: &dyn TableLike, above: &[String], names: &mut Vec<Vec<String>>) {
    for (name, item) in table.iter() {
        let path = [above, &[name.to_owned()]].concat();
        match item.as_table_like() {
            Some(inner) if !inner.is_empty() => collect(inner, &path, names),
            // An empty table says nothing.
            Some(_) => {}
            None => names.push(path),
        }
    }
}

fn read(item: &Item) -> Option<SettingValue> {
    match item.as_value()? {
        toml_edit::Value::String(text) => Some(SettingValue::Text(text.value().clone())),
        toml_edit::Value::Integer(n) => Some(SettingValue::Number(*n.value())),
        toml_edit::Value::Float(n) => Some(SettingValue::Decimal(*n.value())),
        toml_edit::Value::Array(array) => {
            let texts = array.iter().map(|text| Some(text.as_str()?.to_owned()));
            texts.collect::<Option<_>>().map(SettingValue::Texts)
        }
        toml_edit::Value::Boolean(on) => Some(SettingValue::Switch(*on.value())),
        _ => None,
    }
}

fn stored(value: &SettingValue) -> toml_edit::Value {
    match value {
        SettingValue::Text(text) => text.into(),
        SettingValue::Number(n) => (*n).into(),
        SettingValue::Decimal(n) => (*n).into(),
        SettingValue::Texts(texts) => texts.iter().collect::<Array>().into(),
        SettingValue::Switch(on) => (*on).into(),
    }
}

/// The array with these texts. What stays keeps its comments; those of what goes come to stand
/// at the array's end.
fn rewritten(old: &Array, texts: &[String]) -> Array {
    let is_comment = |raw: &&str| raw.contains('#');
    let prefix = |value: &toml_edit::Value| raw(value.decor().prefix());
    let suffix = |value: &toml_edit::Value| raw(value.decor().suffix());
    let first = old.get(0).map(prefix).unwrap_or_default();
    let indent = first.rfind('\n').map(|at| first[at..].to_owned());
    // Behind the last comma stands what is said about the last text.
    let mut trailing = old.trailing().as_str().unwrap_or_default().to_owned();
    if let Some(last) = old.iter().last() {
        trailing = suffix(last) + &trailing;
    }
    let mut new = Array::new();
    for text in texts {
        let value = match old.iter().find(|value| value.as_str() == Some(text)) {
            Some(kept) => {
                let mut kept = kept.clone();
                kept.decor_mut().set_suffix("");
                kept
            }
            None => {
                let mut before = String::new();
                if trailing.contains('#') {
                    before = std::mem::replace(&mut trailing, "\n".to_owned());
                    before.truncate(before.trim_end().len());
                    before += indent.as_deref().unwrap_or("\n  ");
                } else if let Some(indent) = &indent {
                    before.clone_from(indent);
                } else if !new.is_empty() {
                    before = " ".to_owned();
                }
                toml_edit::Value::from(text).decorated(before, "")
            }
        };
        new.push_formatted(value);
    }
    let (last, mut end) = (old.len().saturating_sub(1), String::new());
    for (at, value) in old.iter().enumerate() {
        let gone = !texts.iter().any(|text| value.as_str() == Some(text));
        let around = [prefix(value), suffix(value)];
        let lost = [gone, at < last].into_iter().zip(&around);
        let lost = lost.filter_map(|(lost, part)| lost.then_some(part.as_str()));
        end.extend(lost.filter(is_comment));
    }
    new.set_trailing(end + &trailing);
    new.set_trailing_comma(old.trailing_comma() && !new.is_empty());
    new
}

fn raw(part: Option<&toml_edit::RawString>) -> String {
    let text = part.and_then(|raw| raw.as_str());
    text.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
