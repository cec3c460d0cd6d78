//! Text of agents and other programs, made fit for a screen.
//!
//! Owns a security boundary: whatever steers a terminal is shown as a mark and never obeyed. Only plain
//! colours and weights of logs become styles. Nothing is dropped unseen.

use std::borrow::Cow;

use flagpost_model::{drawing::steers, plain::picture};
use ratatui::style::{Color, Modifier, Style};
use unicode_width::UnicodeWidthChar;

/// A longer line of a log is cut.
pub const LONGEST_LOG_LINE: usize = 4_000;

/// No text shows more characters than columns times this: marks that take no room can be many.
const MARKS: usize = 4;

/// How many columns a tab goes on to the next multiple of.
const TAB: usize = 4;

/// What a line of a difference is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// Plain.
    Plain,
    /// It came.
    Added,
    /// It went.
    Removed,
}

/// The text on one line, in which nothing steers.
pub fn line(text: &str) -> Cow<'_, str> {
    if !text.contains(|c: char| steers(c)) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| match c {
        '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => ' ',
        c if steers(c) => picture(c),
        c => c,
    };
    Cow::Owned(text.chars().map(shown).collect())
}

/// The text in lines of at most so many columns, broken between words where that is possible; nothing
/// of it is left out. Tabs are spaces, and nothing steers.
pub fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    for raw in text.split('\n') {
        wrap_line(raw.strip_suffix('\r').unwrap_or(raw), columns, &mut lines);
    }
    if lines.len() > 1 && lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

fn wrap_line(raw: &str, columns: usize, lines: &mut Vec<String>) {
    let (mut line, mut width) = (String::new(), 0);
    // Where the line could be broken: the length of its text up to there, and its width.
    let mut gap: Option<(usize, usize)> = None;
    for c in raw.chars() {
        let (shown, size) = match c {
            '\t' => (' ', TAB - width % TAB),
            c if steers(c) => (picture(c), 1),
            c => (c, c.width().unwrap_or(0)),
        };
        if width + size > columns && width > 0 {
            let rest = match gap.filter(|(at, _)| *at < line.len()) {
                Some((at, _)) => line.split_off(at),
                None => String::new(),
            };
            lines.push(std::mem::replace(&mut line, rest));
            width = line.chars().filter_map(UnicodeWidthChar::width).sum();
            gap = None;
        }
        match c {
            '\t' => line.extend(std::iter::repeat_n(' ', size.min(columns))),
            _ => line.push(shown),
        }
        width += size;
        if shown == ' ' {
            gap = Some((line.len(), width));
        }
    }
    lines.push(line);
}

/// Cut to so many columns; what was cut ends in an ellipsis.
pub fn cut(text: &str, columns: usize) -> String {
    // Most of a text that is far too long is not even looked at.
    let end = text.char_indices().nth(columns * MARKS + 1);
    let (head, is_long) = end.map_or((text, false), |(end, _)| (&text[..end], true));
    let text = line(head);
    let width = |it: &str| {
        it.chars()
            .filter_map(UnicodeWidthChar::width)
            .sum::<usize>()
    };
    if !is_long && (text.len() <= columns || width(&text) <= columns) {
        return text.into_owned();
    }
    let (mut kept, mut used) = (String::new(), 0);
    for c in text.chars() {
        let size = c.width().unwrap_or(0);
        if used + size + 1 > columns {
            break;
        }
        kept.push(c);
        used += size;
    }
    kept.push('…');
    kept
}

/// A line of a log in pieces of one style each. Colours and weights become styles; every other
/// escape is shown.
pub fn styled(raw: &str) -> Vec<(String, Style)> {
    let end = raw.char_indices().nth(LONGEST_LOG_LINE);
    let (raw, is_cut) = end.map_or((raw, false), |(end, _)| (&raw[..end], true));
    let (mut pieces, mut style) = (Vec::new(), Style::new());
    let mut piece = String::new();
    let mut rest = raw;
    while let Some(c) = rest.chars().next() {
        if let Some((codes, len)) = sgr(rest) {
            if !piece.is_empty() {
                pieces.push((std::mem::take(&mut piece), style));
            }
            style = restyled(style, codes);
            rest = &rest[len..];
            continue;
        }
        match c {
            '\t' => piece.push_str("    "),
            c if steers(c) => piece.push(picture(c)),
            c => piece.push(c),
        }
        rest = &rest[c.len_utf8()..];
    }
    if is_cut {
        piece.push('…');
    }
    if !piece.is_empty() {
        pieces.push((piece, style));
    }
    pieces
}

/// The codes of a colour or weight that the text begins with, and how long it is.
fn sgr(text: &str) -> Option<(&str, usize)> {
    let rest = text.strip_prefix("\u{1b}[")?;
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == ';'))?;
    let is_one = rest[end..].starts_with('m') && end <= 20;
    is_one.then(|| (&rest[..end], "\u{1b}[".len() + end + 1))
}

/// A style after these codes. Neither concealed, nor blinking, nor one of 256 colours: those say nothing
/// here that others do not.
fn restyled(style: Style, codes: &str) -> Style {
    let mut style = style;
    let mut codes = codes.split(';').map(|it| it.parse().unwrap_or(0_u16));
    while let Some(code) = codes.next() {
        style = match code {
            0 => Style::new(),
            1 => style.add_modifier(Modifier::BOLD),
            2 => style.add_modifier(Modifier::DIM),
            3 => style.add_modifier(Modifier::ITALIC),
            4 => style.add_modifier(Modifier::UNDERLINED),
            22 => style.remove_modifier(Modifier::BOLD | Modifier::DIM),
            30..=37 => style.fg(COLORS[usize::from(code - 30)]),
            90..=97 => style.fg(BRIGHT[usize::from(code - 90)]),
            // The rest of it names a colour of its own.
            38 | 48 => {
                let skipped = if codes.next() == Some(2) { 3 } else { 1 };
                codes.by_ref().take(skipped).for_each(drop);
                style
            }
            39 => style.fg(Color::Reset),
            _ => style,
        };
    }
    style
}

/// Black is shown as grey, so that nothing hides on a dark ground.
const COLORS: [Color; 8] = [
    Color::DarkGray,
    Color::Red,
    Color::Green,
    Color::Yellow,
    Color::Blue,
    Color::Magenta,
    Color::Cyan,
    Color::Gray,
];
const BRIGHT: [Color; 8] = [
    Color::DarkGray,
    Color::LightRed,
    Color::LightGreen,
    Color::LightYellow,
    Color::LightBlue,
    Color::LightMagenta,
    Color::LightCyan,
    Color::White,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// What hostile agents say.
    const HOSTILE: [&str; 9] = [
        "\u{1b}]52;c;aGVsbG8=\u{7}",
        "\u{1b}[2J\u{1b}[H",
        "\u{1b}P1$r0m\u{1b}\\",
        "ends with a lone \u{1b}",
        "\u{9b}2J\u{9d}0;x\u{9c}",
        "left\u{202e}thgir\u{202c}",
        "a\u{200d}b\u{feff}c",
        "bell\u{7}back\u{8}\u{8}del\u{7f}",
        "\u{1b}[38;5;1;8mhidden",
    ];

    #[test]
    fn nothing_hostile_reaches_the_screen() {
        for text in HOSTILE {
            let logged: String = styled(text).into_iter().map(|(text, _)| text).collect();
            for shown in [line(text).into_owned(), wrapped(text, 7).concat(), logged] {
                assert!(!shown.contains(|c: char| steers(c)), "{text:?}: {shown:?}");
            }
        }
    }

    #[test]
    fn a_text_is_broken_between_words_and_whole() {
        assert_eq!(
            wrapped("let it through\n\nnow\n", 8),
            ["let it ", "through", "", "now"]
        );
        assert_eq!(wrapped("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("日本語日本", 5), ["日本", "語日", "本"]);
        assert_eq!(wrapped("", 5), [""]);
        let long = "x".repeat(1 << 20);
        assert_eq!(wrapped(&long, 80).concat().len(), long.len());
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(cut("Merge the seal", 14), "Merge the seal");
        assert_eq!(cut("Merge the seal", 8), "Merge t…");
        assert_eq!(cut("日本語", 5), "日本…");
    }

    #[test]
    fn colours_of_logs_are_styles() {
        let pieces = styled("\u{1b}[1;31merror\u{1b}[0m: \u{1b}[2Kx");
        let red = Style::new().add_modifier(Modifier::BOLD).fg(Color::Red);
        assert_eq!(pieces[0], ("error".to_owned(), red));
        assert_eq!(pieces[1], (": ␛[2Kx".to_owned(), Style::new()));
    }

    #[test]
    fn what_would_hide_in_a_line_is_a_mark() {
        for hidden in [
            '\u{e0049}',
            '\u{e0101}',
            '\u{34f}',
            '\u{115f}',
            '\u{200b}',
            '\u{fff9}',
            '\u{1ffff}',
            '\u{fe01}',
        ] {
            assert_eq!(line(&format!("a{hidden}b")), "a\u{fffd}b", "{hidden:?}");
            assert_eq!(wrapped(&format!("a{hidden}b"), 9), ["a\u{fffd}b"]);
        }
        let words = "क\u{94d}\u{200d}ष ⚠\u{fe0f}";
        assert_eq!(line(words), words);
    }
}
