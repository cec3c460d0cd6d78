//! The YAML at the top of a file, as an object.
//!
//! Owns where it ends. Which YAML is read, [`yaml`] says.

use serde_json::{Map, Value};

use crate::yaml;

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

fn object(text: &str) -> Result<Map<String, Value>, String> {
    // The first line is the mark above the front matter.
    match yaml::read(text, 1)? {
        Value::Object(object) => Ok(object),
        Value::Null => Ok(Map::new()),
        _ => Err("its front matter is no list of keys".to_owned()),
    }
}
