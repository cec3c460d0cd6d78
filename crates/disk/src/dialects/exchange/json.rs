//! The records as one JSON document, and as one line each.

use flagpost_model::{ListRef, intake::Drafts};
use serde_json::{Map, Value, json};

use super::{
    read::RecordReader,
    write::{Exported, ListDocument},
};
use crate::{json as spelt, record::Record};

/// What a document of ours calls itself.
const SCHEMA: &str = "flagpost.list/1";

/// Whether an object looks like a record of ours, and not like another tool's.
pub fn is_ours(object: &Map<String, Value>) -> bool {
    object.contains_key("subject")
}

/// One document.
pub fn to_json(list: &ListRef, tasks: &[Exported<'_>]) -> String {
    let mut document = Map::from_iter([("schema".to_owned(), SCHEMA.into())]);
    if let Value::Object(rest) = json!(ListDocument::from((list, tasks))) {
        document.extend(rest);
    }
    format!("{:#}\n", Value::Object(document))
}

/// One record a line.
pub fn to_jsonl(tasks: &[Exported<'_>]) -> String {
    let line = |task: &Exported<'_>| format!("{}\n", Value::Object(task.record()));
    tasks.iter().map(line).collect()
}

/// Reads a document: ours, a bare list of records, or one record.
pub fn from_json(text: &str) -> Result<Drafts, String> {
    let document = spelt::value(text.as_bytes()).map_err(|error| error.to_string())?;
    let records = match document {
        Value::Array(records) => records,
        Value::Object(mut document) => match document.shift_remove("tasks") {
            Some(Value::Array(records)) => records,
            Some(_) => return Err("tasks: not a list".to_owned()),
            None => vec![Value::Object(document)],
        },
        _ => return Err("it is neither an object nor a list".to_owned()),
    };
    let mut reader = RecordReader::new("json");
    let mut drafts = Drafts::default();
    for (at, record) in records.into_iter().enumerate() {
        let place = format!("task {}", at + 1);
        let read = Record::of(record).and_then(|it| reader.draft(&place, it));
        drafts.take(&place, read);
    }
    Ok(drafts)
}

/// Reads one record a line; blank lines are none.
pub fn from_jsonl(text: &str) -> Drafts {
    let mut reader = RecordReader::new("json");
    let mut drafts = Drafts::default();
    for (at, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let place = format!("line {}", at + 1);
        let read = Record::of_line(line).and_then(|it| reader.draft(&place, it));
        drafts.take(&place, read);
    }
    drafts
}
