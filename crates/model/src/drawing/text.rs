//! Foreign text in a drawing.
//!
//! Owns making it harmless, short, and part of XML. Invariants: what comes out is one line, no
//! character of it steers a terminal or turns a line around, and all of them may stand in XML.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// No text shows more characters than columns times this: marks that take no room can be many.
const MARKS: usize = 4;

/// Whether a character steers a terminal, reorders a line, or hides in it: nobody sees it, and an agent
/// reads it. Joiners are part of words in many scripts, and of pictures; they are left alone.
pub fn steers(c: char) -> bool {
    c.is_control() || hides(c) || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether nothing of it is seen: marks of direction, fillers, tags, selectors of variants beyond the usual
/// sixteen, what annotates, and what is no character.
fn hides(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0d}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
        || u32::from(c) & 0xfffe == 0xfffe
}

/// The text on one line, what steers shown as U+FFFD.
pub(super) fn line(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => ' ',
        // The two that no XML may hold.
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        c if steers(c) => '\u{fffd}',
        c => c,
    };
    text.chars().map(shown).collect()
}

/// One line of at most so many columns; one that was cut ends in an ellipsis.
pub(super) fn cut(text: &str, columns: usize) -> String {
    let text = line(text);
    let text = text.trim();
    if text.width() <= columns && text.chars().count() <= columns * MARKS {
        return text.to_owned();
    }
    let kept = fitting(text, columns.saturating_sub(1));
    format!("{}…", kept.trim_end())
}

/// At most so many lines, broken between words where that is possible.
pub(super) fn wrap(text: &str, columns: usize, lines: usize) -> Vec<String> {
    let text = line(text);
    let mut rest = text.trim();
    let mut wrapped = Vec::new();
    while !rest.is_empty() {
        if wrapped.len() + 1 >= lines {
            wrapped.push(cut(rest, columns));
            break;
        }
        let fits = fitting(rest, columns);
        let whole = fits.len() == rest.len() || rest[fits.len()..].starts_with(' ');
        let kept = match fits.rfind(' ') {
            // A word that takes more than half the line is rather broken than left out of it.
            Some(space) if !whole && fits[..space].width() * 2 >= columns => &fits[..space],
            _ => fits,
        };
        // A character wider than the line goes over its end.
        let end = kept
            .len()
            .max(rest.chars().next().map_or(0, char::len_utf8));
        wrapped.push(rest[..end].trim_end().to_owned());
        rest = rest[end..].trim_start();
    }
    wrapped
}

/// As much of the text as fits.
fn fitting(text: &str, columns: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().enumerate().find_map(|(n, (at, c))| {
        used += c.width().unwrap_or(0);
        (used > columns || n >= columns * MARKS).then_some(at)
    });
    &text[..end.unwrap_or(text.len())]
}

/// The text within XML, in an element or an attribute.
pub(super) fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_by_its_width() {
        for (text, columns, expected) in [
            ("Write", 5, "Write"),
            ("Writes", 5, "Writ…"),
            ("Write it", 7, "Write…"),
            ("日本語", 6, "日本語"),
            ("日本語!", 6, "日本…"),
            ("", 5, ""),
            (" a\nb ", 5, "a b"),
        ] {
            assert_eq!(cut(text, columns), expected, "{text}");
        }
        let marks = "a\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}".repeat(9);
        assert!(cut(&marks, 9).chars().count() <= 9 * MARKS + 1);
    }

    #[test]
    fn a_text_is_wrapped_between_words() {
        for (text, expected) in [
            ("", &[][..]),
            ("Write the parser", &["Write the", "parser"]),
            ("Write the", &["Write the"]),
            ("a interoperability", &["a interope", "rability"]),
            ("interoperability and more", &["interopera", "bility an…"]),
            ("Write the parser and test it", &["Write the", "parser an…"]),
        ] {
            assert_eq!(wrap(text, 10, 2), *expected, "{text}");
        }
    }

    #[test]
    fn what_steers_is_shown_and_nothing_else() {
        assert_eq!(
            line("a\u{1b}[2J\u{202e}b\r\nc\u{ffff}"),
            "a\u{fffd}[2J\u{fffd}b  c\u{fffd}"
        );
        assert_eq!(line("日本語 🏳️‍🌈 é"), "日本語 🏳️‍🌈 é");
        assert_eq!(xml("<a b='\"'>&"), "&lt;a b=&#39;&quot;&#39;&gt;&amp;");
    }
}
