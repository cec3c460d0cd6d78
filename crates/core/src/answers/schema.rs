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
    from: From,
}

#[derive(Debug, Clone, Copy)]
enum From {
    Type(fn() -> schemars::Schema),
    Text(&'static str),
}

impl Schema {
    /// The schema of a type.
    pub const fn of<T: Published>() -> Self {
        Self {
            name: T::NAME,
            from: From::Type(|| {
                let settings = SchemaSettings::draft2020_12().for_serialize();
                let generator = settings.with_transform(Tidy).into_generator();
                generator.into_root_schema_for::<T>()
            }),
        }
    }

    /// A schema that was written by hand.
    pub(crate) const fn written(name: &'static str, text: &'static str) -> Self {
        Self {
            name,
            from: From::Text(text),
        }
    }

    /// What the answer is, in a line.
    pub fn title(&self) -> serde_json::Result<String> {
        let whole = self.whole()?;
        Ok(whole["title"].as_str().unwrap_or_default().to_owned())
    }

    /// The whole schema, complete in itself.
    pub fn whole(&self) -> serde_json::Result<Value> {
        let mut body = match self.from {
            From::Type(body) => body(),
            From::Text(text) => return crate::schemas::whole(text),
        };
        let (title, description) = said(body.remove("description"));
        let mut properties = Map::new();
        let full = crate::shape::schema(self.name);
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
        Ok(whole)
    }
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
        if schema.get("properties").is_some() && schema.get("additionalProperties").is_none() {
            schema.insert("additionalProperties".to_owned(), false.into());
        }
        transform_subschemas(self, schema);
    }
}
