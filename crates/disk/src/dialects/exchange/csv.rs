//! The records as a table: one row a task.
//!
//! Owns how a value becomes a cell and comes back: lists, objects, and texts that a spreadsheet
//! would take for a formula.

use flagpost_model::{TaskId, intake::Drafts, task::Task};
use serde_json::{Map, Value};

use super::{read::RecordReader, write::Exported};
use crate::record::Record;

/// What separates the items of a list in a cell.
const SEPARATOR: char = ';';

/// What a spreadsheet takes for the beginning of a formula.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Columns that hold lists of texts.
const LISTS: [&str; 2] = ["tags", "blocked_by"];

/// Columns that hold JSON.
const OBJECTS: [&str; 7] = [
    "claim",
    "timer",
    "notes",
    "metadata",
    "provenance",
    "result",
    "late",
];

/// A header, and a row for each task.
pub fn to_csv(tasks: &[Exported<'_>]) -> Result<String, String> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let mut write = |row: Vec<String>| table.write_record(&row).map_err(|it| it.to_string());
    write(keys())?;
    for task in tasks {
        write(task.record().values().map(cell).collect())?;
    }
    let bytes = table.into_inner().map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

/// What the columns are called.
fn keys() -> Vec<String> {
    let any = Task::new(TaskId::from(1), "");
    let any = Exported {
        task: &any,
        uid: "",
        list: "",
    };
    any.record().keys().cloned().collect()
}

/// Columns that are read besides.
const SYNONYMS: [&str; 2] = ["title", "due_date"];

fn known_columns() -> Vec<String> {
    let synonyms = SYNONYMS.iter().map(|name| (*name).to_owned());
    keys().into_iter().chain(synonyms).collect()
}

/// A column that we know, however a person capitalised it; another one as it is.
fn column<'n>(known: &'n [String], name: &'n str) -> &'n str {
    let name = name.trim();
    let plain = name.to_lowercase().replace(' ', "_");
    let known = known.iter().find(|known| **known == plain);
    known.map_or(name, |known| known)
}

/// Reads a table whose first row names the columns.
pub fn from_csv(text: &str) -> Result<Drafts, String> {
    let delimiter = delimiter(text);
    if let Some(line) = unclosed(text, delimiter) {
        return Err(format!("line {line}: a quote opens here and never closes"));
    }
    let mut table = csv::ReaderBuilder::new()
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(text.as_bytes());
    let header = table.headers().map_err(|error| error.to_string())?.clone();
    let known = known_columns();
    let columns: Vec<&str> = header.iter().map(|name| column(&known, name)).collect();
    check(&columns)?;
    let mut reader = RecordReader::new("csv");
    let mut drafts = Drafts::default();
    for row in table.records() {
        let row = row.map_err(|error| error.to_string())?;
        let line = row.position().map_or(0, csv::Position::line);
        let place = format!("line {line}");
        let read = record(&columns, &row).and_then(|it| reader.draft(&place, it));
        drafts.take(&place, read);
    }
    Ok(drafts)
}

/// What the header is separated by: some spreadsheets write semicolons or tabs.
fn delimiter(text: &str) -> u8 {
    let header = text.lines().next().unwrap_or_default();
    let other = [b';', b'\t'].into_iter();
    let mut other = other.filter(|it| header.as_bytes().contains(it));
    match other.next() {
        Some(other) if !header.contains(',') => other,
        _ => b',',
    }
}

/// The line where a quoted cell begins that has no end: it would swallow every row after it.
fn unclosed(text: &str, delimiter: u8) -> Option<usize> {
    enum At {
        Start,
        Plain,
        Quoted,
        Quote,
    }
    let (mut at, mut line, mut opened) = (At::Start, 1, 1);
    for byte in text.trim_start_matches('\u{feff}').bytes() {
        at = match (at, byte) {
            (At::Start, b'"') => {
                opened = line;
                At::Quoted
            }
            (At::Quoted, b'"') => At::Quote,
            (At::Quoted, _) | (At::Quote, b'"') => At::Quoted,
            (_, b'\r' | b'\n') => At::Start,
            (_, byte) if byte == delimiter => At::Start,
            _ => At::Plain,
        };
        line += usize::from(byte == b'\n');
    }
    matches!(at, At::Quoted).then_some(opened)
}

fn check(columns: &[&str]) -> Result<(), String> {
    if !columns.iter().any(|it| matches!(*it, "subject" | "title")) {
        return Err("line 1: the header names no column \"subject\"".to_owned());
    }
    for (at, column) in columns.iter().enumerate() {
        if columns[..at].contains(column) && !column.is_empty() {
            return Err(format!("line 1: the column {column:?} is there twice"));
        }
    }
    Ok(())
}

fn record(columns: &[&str], row: &csv::StringRecord) -> Result<Record, String> {
    if row.len() != columns.len() {
        let (cells, names) = (row.len(), columns.len());
        let noun = if cells == 1 { "cell" } else { "cells" };
        return Err(format!("{cells} {noun}, and the header names {names}"));
    }
    let mut object = Map::new();
    for (column, cell) in columns.iter().zip(row) {
        let text = plain(cell);
        let value = if text.is_empty() {
            Value::Null
        } else if OBJECTS.contains(column) {
            serde_json::from_str(text).map_err(|_| format!("{column}: it is no JSON"))?
        } else if LISTS.contains(column) {
            list(text)
        } else {
            Value::from(text)
        };
        object.insert((*column).to_owned(), value);
    }
    Ok(Record::new(object))
}

fn cell(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => String::new(),
        Value::Object(map) if map.is_empty() => String::new(),
        Value::Array(items) => joined(items).unwrap_or_else(|| value.to_string()),
        other => other.to_string(),
    };
    let formula = text.trim_start_matches('\'').starts_with(FORMULA);
    if formula { format!("'{text}") } else { text }
}

/// The text of a cell without the quote that keeps it from being a formula.
fn plain(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(rest) if rest.trim_start_matches('\'').starts_with(FORMULA) => rest,
        _ => cell,
    }
}

/// Texts between separators, where reading them gives the same texts.
fn joined(items: &[Value]) -> Option<String> {
    let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
    let joined = texts?.join(&SEPARATOR.to_string());
    (list(&joined).as_array().map(Vec::as_slice) == Some(items)).then_some(joined)
}

fn list(text: &str) -> Value {
    if text.starts_with('[')
        && let Ok(list @ Value::Array(_)) = serde_json::from_str(text)
    {
        return list;
    }
    let items = text.split(SEPARATOR).map(str::trim);
    items
        .filter(|item| !item.is_empty())
        .map(Value::from)
        .collect()
}
