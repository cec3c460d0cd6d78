//! What may reach a terminal.
//!
//! Owns making foreign text harmless: subjects, reports and file names come from agents, and a
//! control character in them could move the cursor, rename the window or turn a line around.
//! Invariants: of escape sequences only plain colours and weights pass, and those only where
//! colours are wanted; nothing is dropped unseen.

use std::{fmt::Write, os::fd::AsFd};

use flagpost_model::{drawing::steers, plain::picture};

/// The text as a person may see it: line breaks and tabs stay, whatever else steers a terminal is
/// shown instead of obeyed. With `styled`, colours and weights stay too.
pub fn clean(text: &str, styled: bool) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let style = if styled { style_len(rest) } else { 0 };
        let taken = if style > 0 { style } else { c.len_utf8() };
        let (head, tail) = rest.split_at(taken);
        match c {
            _ if style > 0 => clean.push_str(head),
            '\r' if tail.starts_with('\n') => {}
            '\n' | '\t' => clean.push(c),
            c if !steers(c) => clean.push(c),
            c => clean.push(picture(c)),
        }
        rest = tail;
    }
    clean
}

/// The text on one line, for subjects and whatever else must not pretend to be a line of ours.
pub fn line(text: &str) -> String {
    text.replace(['\n', '\r', '\t', '\u{2028}', '\u{2029}'], " ")
}

/// A subject where it is only repeated, so that its task is recognised: on one line, and not
/// longer than one.
pub fn title(subject: &str) -> String {
    const SHOWN: usize = 100;
    match subject.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", line(&subject[..end])),
        None => line(subject),
    }
}

/// JSON text of the same value in which nothing steers a terminal.
pub fn json(text: &str) -> String {
    if !text.contains(steers) {
        return text.to_owned();
    }
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if steers(c) && c > '\u{1f}' {
            // JSON writes a character in units of UTF-16.
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string does not fail.
                let _: std::fmt::Result = write!(safe, "\\u{unit:04x}");
            }
        } else {
            safe.push(c);
        }
    }
    safe
}

/// How long the colour or weight is that the text begins with; 0 where it begins with none.
pub fn style_len(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("\u{1b}[") else {
        return 0;
    };
    let Some(end) = rest.find('m').filter(|end| *end <= 2) else {
        return 0;
    };
    // Neither concealed nor blinking nor black on black.
    match rest[..end].parse::<u8>() {
        Ok(0..=4 | 31..=37 | 90..=97) => "\u{1b}[".len() + end + 1,
        _ => 0,
    }
}

/// A number and what it counts.
pub fn counted(n: usize, one: &str, several: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { several })
}

/// A screen that is said to be narrower is none that anything fits.
pub const NARROWEST: u16 = 20;

/// How many columns the terminal behind a stream has; none where it is no terminal that can be used.
pub fn columns_of(stream: impl AsFd) -> Option<u16> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(size.ws_col).filter(|columns| *columns >= NARROWEST)
}

/// How many rows the terminal behind a stream has; none where it is no terminal.
pub fn rows_of(stream: impl AsFd) -> Option<u16> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(size.ws_row).filter(|rows| *rows > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_shown() {
        let evil = "a\u{1b}]0;owned\u{7}b\u{9b}2Jc\u{202e}d\u{7f}e\u{8}";
        assert_eq!(clean(evil, true), "a␛]0;owned␇b\u{fffd}2Jc\u{fffd}d␡e␈");
    }

    #[test]
    fn only_plain_styles_pass_and_only_where_wanted() {
        let styled = "\u{1b}[1mA\u{1b}[0m \u{1b}[36mB\u{1b}[0m";
        assert_eq!(clean(styled, true), styled);
        assert_eq!(clean(styled, false), "␛[1mA␛[0m ␛[36mB␛[0m");
        for evil in [
            "\u{1b}[8mhidden",
            "\u{1b}[2J",
            "\u{1b}[30mx",
            "\u{1b}[m",
            "\u{1b}[",
        ] {
            assert!(clean(evil, true).starts_with('␛'), "{evil:?}");
        }
    }

    #[test]
    fn a_long_subject_is_not_repeated_whole() {
        assert_eq!(title("a\nb"), "a b");
        assert_eq!(title(&"é".repeat(1 << 20)).chars().count(), 101);
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(clean("a\r\n\tb\rc\n", false), "a\n\tb␍c\n");
        assert_eq!(line("a\nb\r\nc"), "a b  c");
        assert_eq!(clean("日本語 🏳️‍🌈 é", false), "日本語 🏳️‍🌈 é");
    }

    #[test]
    fn safe_json_has_the_same_value() {
        let value = serde_json::json!({"a": "x\u{9b}2J\u{202e}\u{7f}\n\"é"});
        let text = json(&value.to_string());
        assert!(!text.contains(steers), "{text}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).unwrap(),
            value
        );
    }
}
