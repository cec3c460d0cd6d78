//! YAML as values.
//!
//! Owns which YAML is read: one document of plain data. Aliases and endless nesting are refused:
//! a small file must not become a large one, or the end of the process.

use serde_json::{Map, Number, Value};
use yaml_rust2::{
    Event,
    parser::Parser,
    scanner::{Marker, TScalarStyle},
};

/// As deep as it may nest.
const DEPTH: usize = 32;

/// A collection that is being read.
enum OpenCollection {
    List(Vec<Value>),
    Object(Map<String, Value>, Option<String>),
}

/// The one document in a text, `above` lines of which were taken off before; null where there is none.
pub(crate) fn read(text: &str, above: usize) -> Result<Value, String> {
    let refused = |at: Marker, why: &str| format!("line {}: {why}", at.line() + above);
    let mut parser = Parser::new_from_str(text);
    let mut open: Vec<OpenCollection> = Vec::new();
    let mut whole = None;
    loop {
        let (event, at) = parser
            .next_token()
            .map_err(|error| refused(*error.marker(), error.info()))?;
        let done = match event {
            Event::StreamEnd => return Ok(whole.unwrap_or_default()),
            Event::DocumentStart if whole.is_some() => {
                return Err(refused(at, "a second document begins here"));
            }
            Event::Alias(_) => return Err(refused(at, "an alias (*) is not read")),
            Event::SequenceStart(..) => {
                open.push(OpenCollection::List(Vec::new()));
                None
            }
            Event::MappingStart(..) => {
                open.push(OpenCollection::Object(Map::new(), None));
                None
            }
            Event::Scalar(text, style, ..) => Some(scalar(text, style)),
            Event::SequenceEnd | Event::MappingEnd => open.pop().map(OpenCollection::close),
            Event::Nothing | Event::StreamStart | Event::DocumentStart | Event::DocumentEnd => None,
        };
        if open.len() > DEPTH {
            return Err(refused(at, "it nests too deep"));
        }
        let Some(value) = done else {
            continue;
        };
        match (open.last_mut(), value) {
            (Some(above), value) => above.take(value).map_err(|why| refused(at, &why))?,
            (None, value) => whole = Some(value),
        }
    }
}

impl OpenCollection {
    fn take(&mut self, value: Value) -> Result<(), String> {
        match self {
            Self::List(items) => items.push(value),
            Self::Object(object, key @ None) => {
                let name = match value {
                    Value::String(name) => name,
                    other => other.to_string(),
                };
                if object.contains_key(&name) {
                    return Err(format!("{name} is there twice"));
                }
                *key = Some(name);
            }
            Self::Object(object, key) => {
                object.extend(key.take().map(|key| (key, value)));
            }
        }
        Ok(())
    }

    fn close(self) -> Value {
        match self {
            Self::List(items) => Value::Array(items),
            Self::Object(object, _) => Value::Object(object),
        }
    }
}

/// What a word without quotes means; a number keeps its spelling.
fn scalar(text: String, style: TScalarStyle) -> Value {
    if style != TScalarStyle::Plain {
        return Value::String(text);
    }
    match text.as_str() {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => match serde_json::from_str::<Number>(&text) {
            Ok(number) => Value::Number(number),
            Err(_) => Value::String(text),
        },
    }
}
