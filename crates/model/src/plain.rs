//! Foreign text that others will read: people at a terminal, agents in a prompt.
//!
//! Owns how a control character looks where it must not act. Nothing is dropped unseen.

use std::borrow::Cow;

/// A control character as something to look at, as wide as any letter.
pub fn picture(c: char) -> char {
    match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '␡',
        _ => '\u{fffd}',
    }
}

/// The text without control characters: line breaks and tabs stay, the others are pictures.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let shown = |c| if acts(c) { picture(c) } else { c };
    text.replace("\r\n", "\n").chars().map(shown).collect()
}

fn acts(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_becomes_a_picture() {
        for (text, expected) in [
            ("a\n\tb é", "a\n\tb é"),
            ("a\r\nb\rc", "a\nb␍c"),
            (
                "\u{1b}[31mred\u{1b}[0m\0\u{7f}\u{9b}2J",
                "␛[31mred␛[0m␀␡\u{fffd}2J",
            ),
        ] {
            assert_eq!(plain(text), expected);
            assert_eq!(plain(expected), expected);
        }
    }
}
