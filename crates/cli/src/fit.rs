//! Text that fits: cut, folded or wrapped to so many columns.
//!
//! Owns how wide a text is on a terminal, and where it may be broken: between words, and inside one
//! only where that word alone is wider than the line; never inside a character. Pure. Invariant: what
//! comes out is never wider than what was asked for.

use anstyle::Style;
use textwrap::{Options, WordSeparator, WordSplitter};
use unicode_width::UnicodeWidthStr;

/// What says that there is more.
pub const MORE: &str = "…";

/// How much further in the rest of a wrapped line stands.
const HANG: usize = 2;

/// How a line begins that is a command.
const COMMANDS: [&str; 2] = ["flagpost ", "git "];

/// How many columns a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// A text of several styles on one line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StyledLine(Vec<(Style, String)>);

impl StyledLine {
    /// A row of plain text.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::default().then(Style::new(), text)
    }

    /// With this behind it.
    #[must_use]
    pub fn then(mut self, style: Style, text: impl Into<String>) -> Self {
        self.0.push((style, text.into()));
        self
    }

    /// The text without its styles.
    pub fn text(&self) -> String {
        self.0.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// The row in so many columns.
    #[must_use]
    pub fn shortened(&self, room: usize) -> Self {
        let text = self.text();
        let Some(mut left) = end(&text, room) else {
            return self.clone();
        };
        let mut row = Self::default();
        for (style, part) in &self.0 {
            let shown = &part[..left.min(part.len())];
            left -= shown.len();
            row = row.then(*style, shown);
        }
        row.then(Style::new(), if room > 0 { MORE } else { "" })
    }

    /// The row in so many columns, in its styles where that is wanted.
    pub fn fit(&self, room: usize, painted: bool) -> String {
        let parts = self.shortened(room).0.into_iter();
        parts
            .map(|(style, text)| paint(style, &text, painted))
            .collect()
    }
}

/// The text in this style, where that is wanted.
pub fn paint(style: Style, text: &str, painted: bool) -> String {
    if painted && !text.is_empty() && style != Style::new() {
        format!("{style}{text}{style:#}")
    } else {
        text.to_owned()
    }
}

/// The text in so many columns.
pub fn cut(text: &str, room: usize) -> String {
    StyledLine::plain(text).fit(room, false)
}

/// The text in lines of so many columns, at most so many of them; the last one is cut.
pub fn fold(text: &str, room: usize, most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() && lines.len() < most {
        let is_last = lines.len() + 1 == most;
        match line_end(rest, room).filter(|_| !is_last) {
            Some(end) if end > 0 => {
                lines.push(rest[..end].trim_end().to_owned());
                rest = rest[end..].trim_start();
            }
            _ => {
                lines.push(cut(rest, room));
                break;
            }
        }
    }
    lines
}

/// A page whose lines are broken between words to fit so many columns. What goes on in the next line
/// stands further in than its beginning. A line that is a command stays whole: it is there to be copied.
pub fn wrapped(page: &str, columns: usize) -> String {
    let lines = page.split_inclusive('\n');
    lines.map(|line| wrapped_line(line, columns)).collect()
}

fn wrapped_line(line: &str, columns: usize) -> String {
    let text = line.trim_start_matches(' ');
    let is_command = COMMANDS.iter().any(|name| text.starts_with(name));
    if is_command || textwrap::core::display_width(line.trim_end()) <= columns {
        return line.to_owned();
    }
    let inner = " ".repeat(line.len() - text.len() + HANG);
    let options = Options::new(columns)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .subsequent_indent(&inner);
    let end = if line.ends_with('\n') { "\n" } else { "" };
    textwrap::wrap(line.trim_end(), options).join("\n") + end
}

/// How much of a text is kept where it does not fit, room for [`MORE`] left; none where it fits.
fn end(text: &str, room: usize) -> Option<usize> {
    if is_within(text, room) {
        return None;
    }
    let room = room.saturating_sub(width(MORE));
    let end = line_end(text, room).unwrap_or(text.len());
    // What introduces something that is not there.
    let text = text[..end].trim_end_matches([' ', ',', ':', ';', '…']);
    Some(text.len())
}

/// Where a line of a text that does not fit ends; none where it fits.
fn line_end(text: &str, room: usize) -> Option<usize> {
    if is_within(text, room) {
        return None;
    }
    let (mut inside, mut between) = (0, 0);
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        if !is_within(&text[..end], room) {
            break;
        }
        inside = end;
        let at_blank = c == ' ' || text[end..].starts_with(' ');
        if at_blank && !text[..end].trim().is_empty() {
            between = text[..end].trim_end().len();
        }
    }
    let word = text[between..].trim_start();
    let word = word.split(' ').next().unwrap_or_default();
    // A word that no line can hold is broken: nothing of it would be seen else.
    let is_broken = between == 0 || !is_within(word, room);
    Some(if is_broken { inside } else { between })
}

/// Whether it fits; a text of any length is looked at no further than it matters.
fn is_within(text: &str, room: usize) -> bool {
    // Nothing that is seen takes more than so many bytes for a column.
    const WIDEST: usize = 64;
    text.len() <= room.saturating_mul(WIDEST).saturating_add(WIDEST) && width(text) <= room
}

#[cfg(test)]
mod tests {
    use anstyle::AnsiColor;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_is_cut_between_words() {
        let text = "Write the parser and all of its tests";
        for (room, expected) in [
            (37, text),
            (36, "Write the parser and all of its…"),
            (20, "Write the parser…"),
            (17, "Write the parser…"),
            (16, "Write the…"),
            (3, "Wr…"),
            (1, "…"),
            (0, ""),
        ] {
            assert_eq!(cut(text, room), expected, "{room}");
        }
    }

    #[test]
    fn a_word_is_broken_only_where_no_line_could_hold_it() {
        let path = "see /a/path/that/is/longer/than/any/line/of/this/screen now";
        assert_eq!(cut(path, 24), "see /a/path/that/is/lon…");
        assert_eq!(cut("see /a/path now", 10), "see…");
        assert_eq!(cut("日本語の字", 8), "日本語…");
    }

    #[test]
    fn a_style_ends_where_the_line_is_cut() {
        let red = AnsiColor::Red.on_default();
        let row = StyledLine::default()
            .then(red, "failed")
            .then(Style::new(), " 7 Write the parser");
        assert_eq!(row.fit(15, true), "\u{1b}[31mfailed\u{1b}[0m 7 Write…");
        assert_eq!(row.fit(5, true), "\u{1b}[31mfail\u{1b}[0m…");
        assert_eq!(row.fit(15, false), "failed 7 Write…");
    }

    #[test]
    fn a_long_text_is_folded_and_its_last_line_cut() {
        let text = "Which of the two frameworks is meant, argparse or click?";
        assert_eq!(
            fold(text, 24, 3),
            [
                "Which of the two",
                "frameworks is meant,",
                "argparse or click?"
            ]
        );
        assert_eq!(
            fold(text, 24, 2),
            ["Which of the two", "frameworks is meant…"]
        );
        assert_eq!(fold("  ", 24, 2), Vec::<String>::new());
    }

    #[test]
    fn a_page_is_wrapped_between_words_and_its_commands_stay_whole() {
        let page = "Waits for you\n  1 Write it: W1 asks: which \u{1b}[31mof both\u{1b}[0m?\n    \
                    flagpost answer 1 'WORDS of mine'\n";
        assert_eq!(
            wrapped(page, 22),
            "Waits for you\n  1 Write it: W1 asks:\n    which \u{1b}[31mof both\u{1b}[0m?\n    \
             flagpost answer 1 'WORDS of mine'\n"
        );
        assert_eq!(wrapped(page, 80), page);
        assert_eq!(wrapped("a  table   row\n", 14), "a  table   row\n");
    }

    proptest! {
        #[test]
        fn nothing_is_wider_than_its_room(text in ".{0,200}", room in 0_usize..60) {
            prop_assert!(width(&cut(&text, room)) <= room, "{:?}", cut(&text, room));
            for line in fold(&text, room, 5) {
                prop_assert!(width(&line) <= room, "{line:?}");
            }
        }

        #[test]
        fn folding_loses_no_word(text in "[a-z]{1,8}( [a-z]{1,8}){0,20}") {
            prop_assert_eq!(fold(&text, 10, usize::MAX).join(" "), text);
        }
    }
}
