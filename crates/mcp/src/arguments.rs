//! What a tool takes, and what was said with a call.
//!
//! Owns the inputs as a JSON Schema, short as every model reads it, and their check. An id and a token may
//! be a text or a number: models send both.

use flagpost_core::{Error, Result, operations::ArgumentRefusal};
use serde_json::{Map, Value, json};

/// Something that a tool takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolParam {
    pub(crate) name: &'static str,
    pub(crate) input: ToolInput,
    is_needed: bool,
    about: &'static str,
}

/// What it may be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ToolInput {
    /// An id: a text, or a number.
    Id,
    /// Several of them.
    Ids,
    /// A number that is somebody's name: of a brief, a claim; also spelled as a text.
    Number,
    /// A text.
    Text,
    /// Several texts.
    Texts,
    /// How many, from and to.
    Count(u64, u64),
    /// Yes or no.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
}

/// Something that must be said.
pub(crate) const fn needed(name: &'static str, input: ToolInput) -> ToolParam {
    ToolParam {
        is_needed: true,
        ..optional(name, input)
    }
}

/// Something that may be said.
pub(crate) const fn optional(name: &'static str, input: ToolInput) -> ToolParam {
    ToolParam {
        name,
        input,
        is_needed: false,
        about: "",
    }
}

impl ToolParam {
    /// The same with words, where the name does not say enough.
    pub(crate) const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }
}

impl ToolInput {
    fn schema(self) -> Value {
        match self {
            // Not every client takes a list of types.
            Self::Id | Self::Number => json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
            Self::Ids => json!({"type": "array", "items": Self::Id.schema()}),
            Self::Text => json!({"type": "string"}),
            Self::Texts => json!({"type": "array", "items": {"type": "string"}}),
            Self::Count(least, most) => {
                json!({"type": "integer", "minimum": least, "maximum": most})
            }
            Self::Flag => json!({"type": "boolean"}),
            Self::Word(words) => json!({"type": "string", "enum": words}),
        }
    }

    /// The value as an operation takes it; none where it is no such value.
    pub(crate) fn taken(self, value: &Value) -> Option<Value> {
        match self {
            Self::Id => Some(id(value)?.into()),
            Self::Ids => {
                let all: Option<Vec<String>> = value.as_array()?.iter().map(id).collect();
                Some(json!(all?))
            }
            Self::Number => Some(number(value)?.into()),
            Self::Count(least, most) => {
                let number = number(value)?;
                (least..=most).contains(&number).then(|| number.into())
            }
            Self::Text => value.is_string().then(|| value.clone()),
            Self::Texts => {
                let all = value.as_array()?;
                all.iter().all(Value::is_string).then(|| value.clone())
            }
            Self::Flag => value.is_boolean().then(|| value.clone()),
            Self::Word(words) => {
                let word = value.as_str()?;
                words.contains(&word).then(|| word.into())
            }
        }
    }

    fn described(self) -> String {
        match self {
            Self::Id => "an id, as a text or a number".to_owned(),
            Self::Ids => "a list of ids".to_owned(),
            Self::Number => "a whole number".to_owned(),
            Self::Text => "a text".to_owned(),
            Self::Texts => "a list of texts".to_owned(),
            Self::Count(least, most) => format!("a whole number from {least} to {most}"),
            Self::Flag => "true or false".to_owned(),
            Self::Word(words) => format!("one of {}", words.join(", ")),
        }
    }
}

fn id(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) => Some(number(value)?.to_string()),
        _ => None,
    }
}

fn number(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.parse().ok(),
        _ => value.as_u64(),
    }
}

/// The JSON Schema of an object that says these.
pub(crate) fn schema(params: &[ToolParam]) -> Map<String, Value> {
    let described = |it: &ToolParam| {
        let mut schema = it.input.schema();
        if !it.about.is_empty() {
            schema["description"] = it.about.into();
        }
        (it.name.to_owned(), schema)
    };
    let properties: Map<String, Value> = params.iter().map(described).collect();
    let needed = params.iter().filter(|it| it.is_needed).map(|it| it.name);
    let needed: Vec<&str> = needed.collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    if !needed.is_empty() {
        schema.insert("required".to_owned(), needed.into());
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

/// What was said, each value as an operation takes it.
pub(crate) fn read(params: &[ToolParam], said: &Map<String, Value>) -> Result<Map<String, Value>> {
    let mut taken = Map::new();
    for (name, value) in said {
        let Some(param) = params.iter().find(|it| it.name == name) else {
            return Err(ArgumentRefusal::Unknown {
                name: name.clone(),
                there: params.iter().map(|it| it.name).collect(),
            }
            .into());
        };
        if value.is_null() && !param.is_needed {
            continue;
        }
        let value = param.input.taken(value).ok_or_else(|| {
            let given: String = value.to_string().chars().take(64).collect();
            Error::Invalid {
                what: name.clone(),
                reason: format!("it must be {}, not {given}", param.input.described()),
            }
        })?;
        taken.insert(name.clone(), value);
    }
    let missing = params
        .iter()
        .find(|it| it.is_needed && !taken.contains_key(it.name));
    match missing {
        Some(missing) => Err(ArgumentRefusal::Missing(missing.name).into()),
        None => Ok(taken),
    }
}
