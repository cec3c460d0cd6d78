//! What lines of JSON have in common, whichever client prints them.
//!
//! Owns the cheap look at a line's type: most lines tell a run nothing, and of those no more is read.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use super::text::JsonText;

/// What a line begins with where its type comes first, as it mostly does.
const FIRST: &[u8] = br#"{"type":""#;

/// A line, with nothing but its type read.
#[derive(Deserialize)]
struct LineType<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: JsonText<'a>,
}

/// Whether this may be an object of JSON rather than words for a person.
pub(crate) fn is_object(line: &[u8]) -> bool {
    line.first() == Some(&b'{')
}

/// The type of a line; none where it is no whole object, or names none.
pub(crate) fn kind(line: &[u8]) -> Option<Cow<'_, str>> {
    if let Some(rest) = line.strip_prefix(FIRST) {
        let name = &rest[..rest.iter().position(|byte| *byte == b'"')?];
        let name = std::str::from_utf8(name).ok()?;
        if !name.contains('\\') {
            return Some(Cow::Borrowed(name));
        }
    }
    let head: LineType<'_> = serde_json::from_slice(line).ok()?;
    head.kind.get().map(|kind| Cow::Owned(kind.to_owned()))
}

/// The whole of a line: for the few that have much to tell.
pub(crate) fn value(line: &[u8]) -> Option<Value> {
    serde_json::from_slice(line).ok()
}

/// The text under a key; none where it is empty or of another kind.
pub(crate) fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str().filter(|text| !text.is_empty())
}

/// The number under a key.
pub(crate) fn number(value: &Value, key: &str) -> Option<u64> {
    value.get(key)?.as_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_found_wherever_it_stands() {
        for (line, expected) in [
            (r#"{"type":"user","x":1}"#, Some("user")),
            (r#"{"x":{"type":"no"},"type":"result"}"#, Some("result")),
            (r#"{ "type" : "init" }"#, Some("init")),
            (r#"{"type":"a\u0062"}"#, Some("ab")),
            (r#"{"type":7}"#, None),
            (r#"{"type":"#, None),
            (r#"{"x":1,"type":"result""#, None),
            ("[1]", None),
            ("words", None),
            ("", None),
        ] {
            assert_eq!(kind(line.as_bytes()).as_deref(), expected, "{line}");
        }
    }
}
