//! A text out of a client's JSON, and what is left of one that is too long to keep.
//!
//! Owns that a foreign value of the wrong kind counts as absent and never costs the rest of its
//! line, and how foreign texts are shortened: never inside a character, always with a mark.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};

/// A text, borrowed from the line where it can be; anything else that stands there is none.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct JsonText<'a>(Option<Cow<'a, str>>);

impl JsonText<'_> {
    /// The text; empty where there is none.
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// The text, where there is one that is not empty.
    pub fn get(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.is_empty())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for JsonText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = JsonText<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(JsonText(Some(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(JsonText(Some(Cow::Owned(text.to_owned()))))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(JsonText(None))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(JsonText(None))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(JsonText(None))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(JsonText(None))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(JsonText(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(JsonText(None))
    }

    // An object, or a number whose digits are kept.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(JsonText(None))
    }
}

/// The beginning of a text, in so many bytes at most.
pub(crate) fn beginning(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let head = head(text, most.saturating_sub(MARK.len())).trim_end();
    Cow::Owned(format!("{head}{MARK}"))
}

/// The end of a text, in so many bytes at most.
pub(crate) fn end(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let from = text.len() - most.saturating_sub(MARK.len()).min(text.len());
    let from = (from..text.len()).find(|at| text.is_char_boundary(*at));
    Cow::Owned(format!("{MARK}{}", &text[from.unwrap_or(text.len())..]))
}

/// A text on one line, in so many bytes at most.
pub(crate) fn line(text: &str, most: usize) -> String {
    // Only what can be left of it is looked at.
    let words = head(text, most.saturating_mul(4)).split_whitespace();
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > most {
            break;
        }
    }
    beginning(&line, most).into_owned()
}

/// The first so many bytes, without the part of a character.
fn head(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Stands for what was left out.
const MARK: &str = "…";

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Two<'a> {
        #[serde(borrow, default)]
        a: JsonText<'a>,
        #[serde(borrow, default)]
        b: JsonText<'a>,
    }

    #[test]
    fn whatever_is_no_text_counts_as_none_and_costs_nothing_else() {
        for odd in [
            "null",
            "true",
            "1",
            "-1",
            "1.5e3",
            "[1,[2]]",
            "{\"x\":{\"y\":1}}",
        ] {
            let line = format!(r#"{{"a":{odd},"c":{odd},"b":"é\n"}}"#);
            let two: Two<'_> = serde_json::from_str(&line).unwrap();
            assert_eq!((two.a.get(), two.b.as_str()), (None, "é\n"), "{odd}");
        }
        let two: Two<'_> = serde_json::from_str(r#"{"a":""}"#).unwrap();
        assert_eq!((two.a.get(), two.b.get()), (None, None));
    }

    #[test]
    fn a_long_text_is_cut_between_characters_and_says_so() {
        assert_eq!(beginning("abc", 3), "abc");
        assert_eq!(beginning("äöü-äöü", 8), "äö…");
        assert_eq!(end("äöü-äöü", 8), "…öü");
        assert_eq!(end("äöü", 6), "äöü");
        for most in 0..40 {
            let text = "äöü-€😀-".repeat(9);
            assert!(beginning(&text, most).len() <= most.max(MARK.len()));
            assert!(end(&text, most).len() <= most.max(MARK.len()));
            assert!(line(&text, most).len() <= most.max(MARK.len()));
        }
    }

    #[test]
    fn a_line_has_no_line_breaks() {
        assert_eq!(line(" cargo test\n\t--all\r\n", 100), "cargo test --all");
        assert_eq!(line("cargo test --all", 9), "cargo…");
    }
}
