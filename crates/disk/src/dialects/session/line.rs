//! Free text as part of one line.
//!
//! Owns what a subject becomes where a format gives it one line and no way to escape. The change
//! is for that line only: the subject itself stays with its task.

/// The em dash between the parts of an entry.
pub(super) const DASH: char = '—';

/// `text` without line breaks of any kind, control characters, or outer and doubled spaces.
pub(super) fn one_line(text: &str) -> String {
    text.split(breaks_a_line)
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Spaces, control characters, and what some reader takes for either: JavaScript ends lines at
/// U+2028 and U+2029 and trims U+FEFF.
fn breaks_a_line(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// A subject for an entry `- [5] Subject — …`: one line, no em dash, no brackets, never empty.
pub(super) fn entry_subject(subject: &str) -> String {
    let clean: String = one_line(subject)
        .chars()
        .map(|c| match c {
            DASH => '–',
            '[' => '(',
            ']' => ')',
            c => c,
        })
        .collect();
    or(clean, "(no subject)")
}

/// `text`, or `other` where there is none.
pub(super) fn or(text: String, other: &str) -> String {
    if text.is_empty() {
        other.to_owned()
    } else {
        text
    }
}

/// The id and the rest of an entry `[5] rest`; also `[#5]`, as agents write it.
pub(super) fn entry_id(text: &str) -> Option<(flagpost_model::TaskId, &str)> {
    let (id, rest) = text.trim_start().strip_prefix('[')?.split_once(']')?;
    let id = id.trim().trim_start_matches('#').parse().ok()?;
    Some((id, rest.trim()))
}

/// The value of a line `Key: value`, whatever the key's case, and if it is in bold.
pub(super) fn value<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    let (found, value) = line.split_once(':')?;
    let plain = |c: char| c.is_whitespace() || matches!(c, '*' | '_' | '-' | '\u{feff}');
    found
        .trim_matches(plain)
        .eq_ignore_ascii_case(key)
        .then(|| value.trim().trim_matches('*').trim())
}
