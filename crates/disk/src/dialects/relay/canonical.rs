//! The one form of an envelope that its hash is over.
//!
//! Owns that form: the sidecar as [`crate::json::canonical`] has it, a newline, the body. Two sidecars that say the
//! same have one form, however they are laid out; every key counts, also one that we do not know. It must never
//! change: hashes are on record.

use flagpost_model::envelope::Hash;
use serde_json::{Map, Value};

use crate::json::write_canonical_object;

/// The hash over a brief's sidecar and body.
pub(super) fn hash(sidecar: &Map<String, Value>, body: &str) -> Hash {
    let mut text = String::with_capacity(body.len() + 512);
    write_canonical_object(sidecar, &mut text);
    text.push('\n');
    text.push_str(body);
    Hash::of(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> Map<String, Value> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn an_envelope_has_one_form_whatever_its_layout() {
        let one = object(r#"{"b": [1, {"y": null, "x": "\u00e9\n"}], "a": 1.50, "key": true}"#);
        let other = object("{\"key\":true,\n\t\"a\":1.50,\"b\":[1,{\"x\":\"é\\n\",\"y\":null}]}");
        // jq -cS . sidecar; cat body
        let form = "{\"a\":1.50,\"b\":[1,{\"x\":\"é\\n\",\"y\":null}],\"key\":true}\nbody";
        for sidecar in [&one, &other] {
            assert_eq!(hash(sidecar, "body"), Hash::of(form.as_bytes()));
        }
    }

    #[test]
    fn every_key_and_every_byte_of_the_body_counts() {
        let hashes = [
            (r#"{"kind":"freeform"}"#, "a"),
            (r#"{"kind":"redirect"}"#, "a"),
            (r#"{"kind":"freeform","pr_number":7}"#, "a"),
            (r#"{"kind":"freeform"}"#, "a\n"),
        ]
        .map(|(sidecar, body)| hash(&object(sidecar), body));
        for (at, hash) in hashes.iter().enumerate() {
            assert!(!hashes[at + 1..].contains(hash), "{at}");
        }
    }
}
