//! Rows under a header, fitted to a screen.
//!
//! Owns which columns are shown and how they share the screen: one that nobody uses is left out,
//! expendable ones make room for the last, and the widest gives way first. A line ends between two
//! words; a word that no column has room for is cut, and says so with an ellipsis. A cell can neither
//! steer the terminal nor pretend to be a row.

use crate::{
    fit::{self, MORE},
    terminal,
};

/// Between two columns.
const GAP: usize = 2;
/// No cell shows more characters.
const LONGEST: usize = 1_000;
/// A cell has at most so many lines.
const LINES: usize = 3;
/// No word keeps a column wider than so much of the screen, in percent.
const SHARE: usize = 40;
/// So many characters of the last column are worth more than an expendable one.
const READABLE: usize = 30;

const RESET: &str = "\u{1b}[0m";

/// The rows with their header. Where the screen is too narrow for the last column to be read, the
/// expendable ones are left out, in this order; without a screen nothing need fit.
pub fn table(
    width: Option<u16>,
    header: &[String],
    rows: &[Vec<String>],
    expendable: &[usize],
) -> String {
    let width = width.map(usize::from);
    let lines = [header].into_iter().chain(rows.iter().map(Vec::as_slice));
    let lines: Vec<Vec<Cell<'_>>> = lines
        .map(|row| row.iter().map(|cell| Cell::of(cell)).collect())
        .collect();
    let used = used(width, &lines, expendable);
    let widths = widths(width, &lines, &used);
    lines.iter().map(|row| drawn(row, &used, &widths)).collect()
}

/// A row, in as many lines as its longest cell has.
fn drawn(row: &[Cell<'_>], used: &[usize], widths: &[usize]) -> String {
    let cells = used.iter().zip(widths);
    let cells: Vec<_> = cells.map(|(&c, &room)| row[c].folded(room)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    let mut text = String::new();
    for at in 0..height.max(1) {
        let mut line = String::new();
        for ((lines, &c), &width) in cells.iter().zip(used).zip(widths) {
            let part = lines.get(at).map_or("", String::as_str);
            line += &row[c].painted(part);
            line += &" ".repeat((width + GAP).saturating_sub(fit::width(part)));
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// The columns that are shown.
fn used(width: Option<usize>, lines: &[Vec<Cell<'_>>], expendable: &[usize]) -> Vec<usize> {
    let rows = lines.iter().skip(1);
    let is_used = |c: &usize| rows.clone().any(|row| !row[*c].text.is_empty());
    let mut used: Vec<usize> = (0..lines[0].len()).filter(is_used).collect();
    let Some(width) = width else {
        return used;
    };
    let room = |used: &[usize]| {
        let (last, others) = used.split_last()?;
        let others = others.iter();
        let others = others.map(|&c| widest(lines, c).min(width * SHARE / 100) + GAP);
        Some(others.sum::<usize>() + widest(lines, *last).min(READABLE))
    };
    for dropped in expendable {
        if room(&used).is_none_or(|room| room <= width) {
            break;
        }
        used.retain(|c| c != dropped);
    }
    used
}

/// How wide the columns are: the widest gives way, at first no further than its longest word.
fn widths(width: Option<usize>, lines: &[Vec<Cell<'_>>], used: &[usize]) -> Vec<usize> {
    let mut widths: Vec<usize> = used.iter().map(|&c| widest(lines, c)).collect();
    let Some(width) = width else {
        return widths;
    };
    let word = |c: usize| lines.iter().map(|row| row[c].longest_word()).max();
    let word = |c: usize| word(c).unwrap_or(0).min(width * SHARE / 100);
    let words: Vec<usize> = used.iter().map(|&c| word(c)).collect();
    let room = width.saturating_sub(GAP * used.len().saturating_sub(1));
    while widths.iter().sum::<usize>() > room {
        let whole = (0..used.len()).filter(|&at| widths[at] > words[at]);
        let gives = whole.max_by_key(|&at| widths[at]);
        let gives = gives.or_else(|| (0..used.len()).max_by_key(|&at| widths[at]));
        match gives.filter(|&at| widths[at] > 1) {
            Some(at) => widths[at] -= 1,
            None => break,
        }
    }
    widths
}

fn widest(lines: &[Vec<Cell<'_>>], column: usize) -> usize {
    let widths = lines.iter().map(|row| fit::width(&row[column].text));
    widths.max().unwrap_or(0)
}

/// A cell's text, made harmless, and the style that it came in.
struct Cell<'c> {
    style: &'c str,
    text: String,
}

impl<'c> Cell<'c> {
    fn of(painted: &'c str) -> Self {
        let (style, text) = painted.split_at(terminal::style_len(painted));
        let text = match style {
            "" => text,
            _ => text.strip_suffix(RESET).unwrap_or(text),
        };
        let text = match text.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}{MORE}", &text[..end]),
            None => text.to_owned(),
        };
        let text = terminal::clean(&terminal::line(&text), false);
        Self { style, text }
    }

    fn longest_word(&self) -> usize {
        let words = self.text.split(' ').map(fit::width);
        words.max().unwrap_or(0)
    }

    /// Its lines in so many columns.
    fn folded(&self, room: usize) -> Vec<String> {
        // A script of wide characters has no blanks: there a line may end anywhere.
        let is_wide = |word: &str| fit::width(word) > word.chars().count();
        let words = self.text.split(' ').map(|word| match is_wide(word) {
            true => word.to_owned(),
            false => fit::cut(word, room),
        });
        let text: Vec<String> = words.collect();
        fit::fold(&text.join(" "), room, LINES)
    }

    /// A part of it in its style.
    fn painted(&self, part: &str) -> String {
        match self.style.is_empty() || part.is_empty() {
            true => part.to_owned(),
            false => format!("{}{part}{RESET}", self.style),
        }
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    fn draw(width: u16, header: &[&str], rows: &[&[&str]]) -> String {
        let own = |row: &[&str]| {
            row.iter()
                .map(|cell| (*cell).to_owned())
                .collect::<Vec<_>>()
        };
        let rows: Vec<_> = rows.iter().map(|row| own(row)).collect();
        table(Some(width), &own(header), &rows, &[])
    }

    #[test]
    fn wide_characters_and_styles_take_the_room_they_show() {
        let rows: &[&[&str]] = &[
            &["1", "日本語", "\u{1b}[36mclaimed\u{1b}[0m", "x"],
            &["2", "abc", "pending", "y"],
        ];
        let drawn = draw(60, &["ID", "OWNER", "STATE", "SUBJECT"], rows);
        let expected = "ID  OWNER   STATE    SUBJECT\n1   日本語  \u{1b}[36mclaimed\u{1b}[0m  x\n2   abc     pending  y\n";
        assert_eq!(drawn, expected);
    }

    #[test]
    fn a_long_cell_is_cut_and_says_so() {
        let long = "word ".repeat(60) + &"x".repeat(300);
        let drawn = draw(60, &["ID", "STATE", "SUBJECT"], &[&["1", "pending", &long]]);
        assert!(
            drawn.contains('…') && drawn.lines().count() <= LINES + 1,
            "{drawn}"
        );
        assert!(
            drawn.lines().all(|line| line.chars().count() <= 60),
            "{drawn}"
        );
    }

    #[test]
    fn a_line_ends_between_two_words() {
        let path = "crates/core/src/operations.rs";
        let drawn = draw(
            40,
            &["PATH", "STATE", "SAYS"],
            &[&[path, "in_progress", "It says it all"]],
        );
        let expected = "PATH              STATE        SAYS\n\
            crates/core/src…  in_progress  It says\n                               it all\n";
        assert_eq!(drawn, expected);
    }

    #[test]
    fn a_cell_may_be_longer_than_any_screen() {
        let owner = "w".repeat(70_000);
        let drawn = draw(
            80,
            &["ID", "OWNER", "SUBJECT"],
            &[&["1", &owner, "x"], &["2", "", "y"]],
        );
        assert!(drawn.lines().count() < 10 && drawn.contains("2"), "{drawn}");
    }

    #[test]
    fn expendable_columns_make_room_for_the_last() {
        let header = ["ID", "OWNER", "PROJECT", "SUBJECT"].map(str::to_owned);
        let row = [
            "1",
            "somebody",
            "somewhere",
            "Write the parser and all of its tests",
        ];
        let rows = vec![row.map(str::to_owned).to_vec()];
        let columns = |width| {
            let drawn = table(Some(width), &header, &rows, &[2, 1]);
            drawn.lines().next().unwrap().split_whitespace().count()
        };
        assert_eq!([80, 55, 54, 44, 43, 20].map(columns), [4, 4, 3, 3, 2, 2]);
    }

    #[test]
    fn without_a_screen_every_column_is_there_and_no_line_is_broken() {
        let header = ["ID", "OWNER", "SUBJECT"].map(str::to_owned);
        let subject = "word ".repeat(100);
        let rows = vec![vec!["1".to_owned(), "w".repeat(64), subject]];
        let drawn = table(None, &header, &rows, &[1]);
        assert_eq!(drawn.lines().count(), 2);
        assert!(drawn.contains("OWNER") && !drawn.contains('…'), "{drawn}");
    }

    #[test]
    fn a_cell_cannot_forge_a_row() {
        let drawn = draw(
            60,
            &["ID", "SUBJECT"],
            &[&["1", "a\n2   completed\u{1b}[2K"]],
        );
        assert_eq!(drawn, "ID  SUBJECT\n1   a 2   completed␛[2K\n");
    }
}
