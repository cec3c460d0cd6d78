//! Files that are called by a number.
//!
//! Owns which names are such a number's, in a directory whose other files end alike. It looks at no file.

/// Whether a name promises a numbered file, as in `41.json`, and which; none where it is no such name.
pub fn file_number(name: &str) -> Option<Option<u64>> {
    let stem = name.strip_suffix(".json")?;
    if stem.starts_with('.') {
        return None;
    }
    let number = stem.parse().ok();
    Some(number.filter(|n: &u64| n.to_string() == stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_number() {
        for (text, found) in [
            ("41.json", Some(Some(41))),
            ("mine.json", Some(None)),
            ("041.json", Some(None)),
            (".41.json.tmp-1-x", None),
            (".lock", None),
            ("notes.md", None),
        ] {
            assert_eq!(file_number(text), found, "{text}");
        }
    }
}
