//! An answer's JSON Schema, from its type.
//!
//! Owns what all of them have in common: an answer names its schema first, has the keys that are
//! described and no others, and its schema is complete in itself.

use schemars::{
    generate::SchemaSettings,
    transform::{Transform, transform_subschemas},
};
use serde_json::{Map, Value, json};

use super::Published;

/// The schema of an answer.
#[derive(Debug, Clone, Copy)]
pub struct Schema {
    /// Its name, without prefix and version: `task` is for `flagpost.task/1`.
    pub name: &'static str,
    from: fn() -> schemars::Schema,
}

impl Schema {
    /// The schema of a type.
    pub const fn of<T: Published>() -> Self {
        Self {
            name: T::NAME,
            from: || {
                let settings = SchemaSettings::draft2020_12().for_serialize();
                let generator = settings.with_transform(Tidy).into_generator();
                generator.into_root_schema_for::<T>()
            },
        }
    }

    /// What the answer is, in a line.
    pub fn title(&self) -> String {
        let whole = self.whole();
        whole["title"].as_str().unwrap_or_default().to_owned()
    }

    /// The whole schema, complete in itself.
    pub fn whole(&self) -> Value {
        let mut body = (self.from)();
        let (title, description) = said(body.remove("description"));
        let mut properties = Map::new();
        let full = full_name(self.name);
        properties.insert("schema".to_owned(), json!({"const": full}));
        if let Some(Value::Object(own)) = body.remove("properties") {
            properties.extend(own);
        }
        let mut required = vec![Value::from("schema")];
        if let Some(Value::Array(own)) = body.remove("required") {
            required.extend(own);
        }
        let mut whole = json!({
            "$schema": body.remove("$schema"),
            "$id": format!("urn:flagpost:{}:1", self.name),
            "title": title,
            "description": description,
            "type": body.remove("type"),
            "properties": properties,
            "required": required,
        });
        body.remove("title");
        if let (Value::Object(whole), Value::Object(rest)) = (&mut whole, body.to_value()) {
            whole.extend(rest);
        }
        whole
    }
}

/// The whole document of this schema: `task` is `flagpost.task/1`.
pub fn with_schema(name: &str, body: Value) -> Value {
    let mut answer = Map::from_iter([("schema".to_owned(), full_name(name).into())]);
    match body {
        Value::Object(body) => answer.extend(body),
        other => {
            answer.insert("value".to_owned(), other);
        }
    }
    answer.into()
}

/// The whole name of a schema.
pub(super) fn full_name(name: &str) -> String {
    format!("flagpost.{name}/1")
}

/// The title and the description that a doc comment is.
fn said(doc: Option<Value>) -> (String, String) {
    let doc = doc.as_ref().and_then(Value::as_str).unwrap_or_default();
    let (title, description) = doc.split_once("\n\n").unwrap_or((doc, ""));
    (
        title.trim_end_matches('.').to_owned(),
        description.to_owned(),
    )
}

/// Says of every object that it has nothing else, and leaves out what only Rust wants to know.
#[derive(Clone)]
struct Tidy;

impl Transform for Tidy {
    fn transform(&mut self, schema: &mut schemars::Schema) {
        if let Some(Value::String(text)) = schema.get_mut("description") {
            // A paragraph is a line.
            let paragraphs = text.split("\n\n").map(|it| it.replace('\n', " "));
            *text = paragraphs.collect::<Vec<_>>().join("\n\n");
        }
        let format = schema.get("format").and_then(Value::as_str);
        if format
            .is_some_and(|it| it.starts_with("uint") || it.starts_with("int") || it == "double")
        {
            schema.remove("format");
        }
        transform_subschemas(self, schema);
        if schema.get("properties").is_none() || schema.get("additionalProperties").is_some() {
            return;
        }
        let closed_by = match schema.get_mut("oneOf").and_then(Value::as_array_mut) {
            None => "additionalProperties",
            // One of several has its own keys besides those that all have.
            Some(kinds) => {
                for kind in kinds.iter_mut().filter_map(Value::as_object_mut) {
                    kind.remove("additionalProperties");
                }
                "unevaluatedProperties"
            }
        };
        schema.insert(closed_by.to_owned(), false.into());
    }
}
