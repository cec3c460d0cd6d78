//! The shapes of the JSON answers, as JSON Schema.
//!
//! Owns the files in `schemas/`, one for each `flagpost.NAME/1`, and makes each of them complete in
//! itself: what several have in common is written once, in `parts.json`, and put into the `$defs`
//! of those that refer to it. The files are the contract with whoever writes a client; the tests
//! hold every answer to them.

use serde_json::{Map, Value};

use crate::{
    answers::{ANSWERS, Schema},
    operations,
};

macro_rules! schemas {
    ($($name:literal)+) => {
        /// Every shape, by name.
        pub const WRITTEN: &[Schema] = &[$(Schema::written(
            $name,
            include_str!(concat!("schemas/", $name, ".json")),
        )),+];
    };
}

schemas! {
    "event"
}

const PARTS: &str = include_str!("schemas/parts.json");

/// Every schema.
pub fn all() -> impl Iterator<Item = &'static Schema> {
    ANSWERS.iter().chain(operations::ANSWERS).chain(WRITTEN)
}

/// A schema with every part that it refers to.
pub(crate) fn whole(text: &str) -> serde_json::Result<Value> {
    let mut schema: Map<String, Value> = serde_json::from_str(text)?;
    let parts: Value = serde_json::from_str(PARTS)?;
    let mut used = Map::new();
    let mut open: Vec<String> = schema.values().flat_map(refers_to).collect();
    while let Some(name) = open.pop() {
        if let Some(part) = parts["$defs"].get(&name)
            && !used.contains_key(&name)
        {
            open.extend(refers_to(part));
            used.insert(name, part.clone());
        }
    }
    if !used.is_empty() {
        used.sort_keys();
        schema.insert("$defs".to_owned(), used.into());
    }
    Ok(schema.into())
}

/// The parts that a schema names.
fn refers_to(schema: &Value) -> Vec<String> {
    let below: Vec<&Value> = match schema {
        Value::Object(map) => map.values().collect(),
        Value::Array(items) => items.iter().collect(),
        Value::String(text) => {
            let name = text.strip_prefix("#/$defs/");
            return name.map(str::to_owned).into_iter().collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => return Vec::new(),
    };
    below.into_iter().flat_map(refers_to).collect()
}
