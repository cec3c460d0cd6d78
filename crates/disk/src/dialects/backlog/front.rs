//! The YAML at the top of a file, as an object.
//!
//! Owns which YAML is read: one document of plain data. Aliases and endless nesting are refused:
//! a small file must not become a large one, or the end of the process.

use serde_json::{Map, Number, Value};
use yaml_rust2::{
    Event,
    parser::Parser,
    scanner::{Marker, TScalarStyle},
};

/// As deep as front matter may nest.
const DEPTH: usize = 32;

/// The front matter and what follows it.
pub(super) fn split(text: &str) -> Result<(Map<String, Value>, &str), String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rest = text
        .strip_prefix("---")
        .and_then(|rest| rest.trim_start_matches([' ', '\t']).strip_prefix('\n'));
    let rest = rest.ok_or("it does not begin with front matter (---)")?;
    let mut from = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            let body = &rest[from + line.len()..];
            return Ok((object(&rest[..from])?, body));
        }
        from += line.len();
    }
    Err("its front matter never ends (---)".to_owned())
}

/// A collection that is being read.
enum Open {
    List(Vec<Value>),
    Object(Map<String, Value>, Option<String>),
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    let mut parser = Parser::new_from_str(text);
    let mut open: Vec<Open> = Vec::new();
    loop {
        let (event, at) = parser
            .next_token()
            .map_err(|error| refused(*error.marker(), error.info()))?;
        let done = match event {
            Event::StreamEnd => return Ok(Map::new()),
            Event::Alias(_) => return Err(refused(at, "an alias (*) is not read")),
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                None
            }
            Event::MappingStart(..) => {
                open.push(Open::Object(Map::new(), None));
                None
            }
            Event::Scalar(text, style, ..) => Some(scalar(text, style)),
            Event::SequenceEnd | Event::MappingEnd => open.pop().map(Open::close),
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
            (None, Value::Object(object)) => return Ok(object),
            (None, Value::Null) => return Ok(Map::new()),
            (None, _) => return Err("its front matter is no list of keys".to_owned()),
        }
    }
}

fn refused(at: Marker, why: &str) -> String {
    // The first line is the mark above the front matter.
    format!("line {}: {why}", at.line() + 1)
}

impl Open {
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
