//! Finding a text in a text, in whatever case.
//!
//! Owns what "the same letters" means: each character's lower case as Unicode has it. What is found
//! is told as a place in the text itself, not in a copy of it.

use std::ops::Range;

/// Where `wanted` first is in `text`, in bytes.
pub fn find(text: &str, wanted: &str) -> Option<Range<usize>> {
    if text.is_ascii() && wanted.is_ascii() {
        return find_ascii(text.as_bytes(), wanted.as_bytes());
    }
    let wanted: Vec<char> = wanted.chars().flat_map(char::to_lowercase).collect();
    let begins = text.char_indices().map(|(at, _)| at);
    begins
        .filter_map(|begin| Some(begin..begin + prefix(&text[begin..], &wanted)?))
        .next()
}

fn find_ascii(text: &[u8], wanted: &[u8]) -> Option<Range<usize>> {
    let last = text.len().checked_sub(wanted.len())?;
    let same = |at: &usize| text[*at..*at + wanted.len()].eq_ignore_ascii_case(wanted);
    let at = (0..=last).find(same)?;
    Some(at..at + wanted.len())
}

/// How many bytes of the text's beginning are the wanted characters.
fn prefix(text: &str, wanted: &[char]) -> Option<usize> {
    let mut wanted = wanted.iter();
    for (at, c) in text.char_indices() {
        if wanted.as_slice().is_empty() {
            return Some(at);
        }
        for lower in c.to_lowercase() {
            if wanted.next() != Some(&lower) {
                return None;
            }
        }
    }
    wanted.as_slice().is_empty().then_some(text.len())
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn letters_are_the_same_in_whatever_case() {
        for (text, wanted, found) in [
            ("Write the Parser", "parser", Some("Parser")),
            ("Write the Parser", "PARSE", Some("Parse")),
            ("aab", "AB", Some("ab")),
            ("Die GRÖSSE der Straße", "größe", None),
            ("Die GRÖßE", "größe", Some("GRÖßE")),
            ("Übung", "übung", Some("Übung")),
            ("日本語のテスト", "テスト", Some("テスト")),
            ("İstanbul x", "X", Some("x")),
            ("abc", "abcd", None),
            ("", "a", None),
            ("é", "", Some("")),
        ] {
            let range = find(text, wanted);
            assert_eq!(range.map(|range| &text[range]), found, "{wanted} in {text}");
        }
    }
}
