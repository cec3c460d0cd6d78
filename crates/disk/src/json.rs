//! JSON of somebody else's, with its numbers as they are spelt.
//!
//! Owns that `1e3` stays `1e3`: the parser keeps the digits of a number and gives every exponent a sign
//! and a small letter. Owns what it means that a key stands twice. Invariant: what is read here and
//! written again has each number byte for byte. Owns the canonical form, which hashes are over. It says nothing
//! of other blanks, and decides nothing.

use std::{collections::BTreeSet, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};

/// Whatever the text says.
pub fn value(text: &[u8]) -> serde_json::Result<Value> {
    let mut value = serde_json::from_slice(text)?;
    if may_have_exponents(text) {
        Walk { text, at: 0 }.give_back(Some(&mut value));
    }
    Ok(value)
}

/// An object, or why it is none.
pub fn object(text: &[u8]) -> Result<Map<String, Value>, String> {
    match value(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("it is not a JSON object".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Refuses a text in which an object has a key twice: of its two values one reader takes the first and
/// another the last. What is no JSON is refused as well.
pub fn each_key_once(text: &[u8]) -> serde_json::Result<()> {
    serde_json::from_slice::<Once>(text).map(drop)
}

/// A value whose objects have each key once.
struct Once;

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(KeyVisitor)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Once;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_str<E>(self, _: &str) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Once, A::Error> {
        while items.next_element::<Once>()?.is_some() {}
        Ok(Once)
    }

    /// A number may come as one, of one key.
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Once, A::Error> {
        let mut known = BTreeSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            if known.contains(&key) {
                return Err(A::Error::custom(format_args!("{key:?} stands in it twice")));
            }
            known.insert(key);
            entries.next_value::<Once>()?;
        }
        Ok(Once)
    }
}

/// Most texts have none, and are not walked through.
fn may_have_exponents(text: &[u8]) -> bool {
    let mut pairs = text.windows(2);
    pairs.any(|pair| pair[0].is_ascii_digit() && matches!(pair[1], b'e' | b'E'))
}

/// A way through a text that the parser took, beside what it made of it.
struct Walk<'t> {
    text: &'t [u8],
    at: usize,
}

impl Walk<'_> {
    /// Past one value, whose numbers get their spelling back. Of a key that stands twice the parser has
    /// the last; what does not fit is left alone.
    fn give_back(&mut self, mut made: Option<&mut Value>) {
        match self.next_mark() {
            Some(b'{') => {
                self.at += 1;
                while let Some(b'"' | b',') = self.next_mark() {
                    if self.skip(b',') {
                        continue;
                    }
                    let key = serde_json::from_slice::<String>(self.string()).ok();
                    self.next_mark();
                    self.skip(b':');
                    let object = made.as_deref_mut().and_then(Value::as_object_mut);
                    let inner = object.zip(key).and_then(|(map, key)| map.get_mut(&key));
                    self.give_back(inner);
                }
                self.at += 1;
            }
            Some(b'[') => {
                self.at += 1;
                let items = made.and_then(Value::as_array_mut);
                let mut items = items.into_iter().flatten();
                while let Some(mark) = self.next_mark().filter(|mark| *mark != b']') {
                    if mark == b',' {
                        self.at += 1;
                    } else {
                        self.give_back(items.next());
                    }
                }
                self.at += 1;
            }
            Some(b'"') => {
                self.string();
            }
            Some(_) => {
                let word = self.word();
                if let Some(Value::Number(number)) = made
                    && parsed(number.as_str()) == parsed(word)
                {
                    // The one way to a number that is spelt otherwise than the parser does.
                    *number = Number::from_string_unchecked(word.to_owned());
                }
            }
            None => {}
        }
    }

    /// The next byte that is no blank.
    fn next_mark(&mut self) -> Option<u8> {
        let rest = self.text.get(self.at..)?;
        self.at += rest
            .iter()
            .take_while(|it| it.is_ascii_whitespace())
            .count();
        self.text.get(self.at).copied()
    }

    fn skip(&mut self, mark: u8) -> bool {
        let is_there = self.text.get(self.at) == Some(&mark);
        self.at += usize::from(is_there);
        is_there
    }

    /// Past a text, quotes included.
    fn string(&mut self) -> &[u8] {
        let begin = self.at;
        self.at += 1;
        while let Some(byte) = self.text.get(self.at) {
            self.at += match byte {
                b'\\' => 2,
                _ => 1,
            };
            if *byte == b'"' {
                break;
            }
        }
        self.text.get(begin..self.at).unwrap_or_default()
    }

    /// Past a number or a name.
    fn word(&mut self) -> &str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let is_part = |it: &&u8| it.is_ascii_alphanumeric() || matches!(it, b'+' | b'-' | b'.');
        // One at least: whatever else is here is passed by.
        let length = rest.iter().take_while(is_part).count().max(1);
        self.at += length;
        let word = rest.get(..length).unwrap_or_default();
        std::str::from_utf8(word).unwrap_or_default()
    }
}

/// A number as the parser spells it.
fn parsed(word: &str) -> String {
    match word.split_once(['e', 'E']) {
        Some((digits, power)) if power.starts_with(['+', '-']) => format!("{digits}e{power}"),
        Some((digits, power)) => format!("{digits}e+{power}"),
        None => word.to_owned(),
    }
}

/// The one form of a value that hashes are over: without blanks, the keys of every object in the order of their
/// bytes, as `jq -cS` prints it. It must never change: hashes are on record.
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    text
}

fn write_canonical(value: &Value, to: &mut String) {
    match value {
        Value::Object(object) => write_canonical_object(object, to),
        Value::Array(items) => {
            to.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    to.push(',');
                }
                write_canonical(item, to);
            }
            to.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            to.push_str(&value.to_string());
        }
    }
}

/// An object in its canonical form, at the end of a text.
pub(crate) fn write_canonical_object(object: &Map<String, Value>, to: &mut String) {
    let mut entries: Vec<(&String, &Value)> = object.iter().collect();
    entries.sort_by_key(|(key, _)| *key);
    to.push('{');
    for (at, (key, value)) in entries.into_iter().enumerate() {
        if at > 0 {
            to.push(',');
        }
        to.push_str(&Value::from(key.as_str()).to_string());
        to.push(':');
        write_canonical(value, to);
    }
    to.push('}');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_key_that_stands_twice_is_seen_wherever_it_stands() {
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"[{"x":{"a":1,"b":[],"\u0061":2}}]"#,
            r#"{"a":[[{"":null,"":true}]]}"#,
        ] {
            let told = each_key_once(text.as_bytes()).unwrap_err().to_string();
            assert!(told.contains("stands in it twice"), "{text}: {told}");
        }
        for text in [
            r#"{"a":1,"A":1e3,"b":{"a":-1.5,"c":"a"},"c":[{"a":1},{"a":null}]}"#,
            "123456789012345678901234567890",
            "[true,false,null,\"a\"]",
        ] {
            assert!(each_key_once(text.as_bytes()).is_ok(), "{text}");
        }
        assert!(each_key_once(b"{\"a\":1").is_err());
    }

    #[test]
    fn every_number_is_spelt_as_it_was() {
        for text in [
            "1e3",
            "[1E3,1e+3,1E-3,-0.0e0,1.50,123456789012345678901234567890,2e3]",
            r#"{"a":{"b":[{"c":1E5}]},"text 1e3":"7e7 \" 1e3","d":0e1,"e\n":1e2}"#,
            r#"["1e9\\",1e9,true,null,{},[],{"x":false,"y":9E9}]"#,
        ] {
            assert_eq!(value(text.as_bytes()).unwrap().to_string(), text);
        }
        let spaced = " {\r\n\t\"a\" : 1e3 , \"b\":[ 1 ,2E2\n] } ";
        let told = value(spaced.as_bytes()).unwrap().to_string();
        assert_eq!(told, r#"{"a":1e3,"b":[1,2E2]}"#);
    }

    #[test]
    fn of_a_key_that_stands_twice_the_last_counts() {
        let text = r#"{"a":1e3,"a":"x","b":"y","b":1e4,"c":1e3,"c":1E3,"d":[1e1],"d":{"e":1e1}}"#;
        let told = value(text.as_bytes()).unwrap().to_string();
        assert_eq!(told, r#"{"a":"x","b":1e4,"c":1E3,"d":{"e":1e1}}"#);
    }

    fn document() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,3})?([eE][+-]?[0-9]{1,3})?",
            "[0-9eE,\\]}{\\[\":\\\\]{0,6}".prop_map(|it| Value::String(it).to_string()),
            Just("null".to_owned()),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            let list = prop::collection::vec(inner.clone(), 0..4);
            let pairs = prop::collection::btree_map("[a-z1\"e]{0,3}", inner, 0..4);
            let object = |pairs: std::collections::BTreeMap<String, String>| {
                let pairs = pairs.into_iter();
                let pairs = pairs.map(|(key, it)| format!("{}:{it}", Value::String(key)));
                format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
            };
            prop_oneof![
                list.prop_map(|it| format!("[{}]", it.join(","))),
                pairs.prop_map(object)
            ]
        })
    }

    proptest! {
        #[test]
        fn any_document_is_written_as_it_was_read(text in document()) {
            prop_assert_eq!(value(text.as_bytes()).unwrap().to_string(), text);
        }

        #[test]
        fn anything_is_read_or_refused_as_ever(text in "[0-9eE,\\]}{\\[\":a ]{0,20}") {
            let plain: serde_json::Result<Value> = serde_json::from_str(&text);
            prop_assert_eq!(value(text.as_bytes()).is_ok(), plain.is_ok());
        }
    }
}
