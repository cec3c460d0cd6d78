//! Rows under a header, fitted to a screen.
//!
//! Owns the widths: a column is as wide as its widest cell, the last takes what is left, and where
//! too little is left it moves to a line of its own. Invariants: no line is wider than the screen
//! where any layout makes that possible; a cell that is cut says so with an ellipsis.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::terminal;

/// Between two columns.
const GAP: usize = 2;
/// A last column narrower than this is better off on a line of its own.
const LAST: usize = 16;
/// No other column is broken narrower than this.
const NARROWEST: usize = 4;
/// A cell has at most so many lines.
const LINES: usize = 3;

/// A text and the style it is in.
#[derive(Clone)]
struct Cell {
    style: String,
    text: String,
}

impl Cell {
    fn new(painted: &str) -> Self {
        let (style, text) = painted.split_at(terminal::style_len(painted));
        let text = match style {
            "" => text,
            _ => text.strip_suffix("\u{1b}[0m").unwrap_or(text),
        };
        Self {
            style: style.to_owned(),
            text: terminal::clean(&terminal::line(text), false),
        }
    }

    fn longest_word(&self) -> usize {
        self.text
            .split(' ')
            .map(UnicodeWidthStr::width)
            .max()
            .unwrap_or_default()
    }
}

/// The rows with their header; columns that nobody uses are left out.
pub fn table(width: usize, header: &[String], rows: &[Vec<String>]) -> String {
    let used: Vec<usize> = (0..header.len())
        .filter(|&c| rows.iter().any(|row| !row[c].is_empty()))
        .collect();
    let rows: Vec<Vec<Cell>> = std::iter::once(header)
        .chain(rows.iter().map(Vec::as_slice))
        .map(|row| used.iter().map(|&c| Cell::new(&row[c])).collect())
        .collect();
    let Some(last) = used.len().checked_sub(1) else {
        return String::new();
    };
    let most =
        |c: usize, of: fn(&Cell) -> usize| rows.iter().map(|row| of(&row[c])).max().unwrap_or(0);
    let natural: Vec<usize> = (0..=last)
        .map(|c| most(c, |cell| cell.text.width()))
        .collect();
    let words: Vec<usize> = (0..last).map(|c| most(c, Cell::longest_word)).collect();

    let bounded: Vec<usize> = natural[..last]
        .iter()
        .zip(&words)
        .map(|(natural, word)| (*natural).min((width * 2 / 5).max(*word)))
        .collect();
    let mut widths = bounded.clone();
    let gaps = GAP * last;
    let wanted = natural[last].min(LAST);
    shrink(&mut widths, width.saturating_sub(gaps + wanted), &words);
    let left = width.saturating_sub(widths.iter().sum::<usize>() + gaps);
    let below = left < wanted;
    if below {
        widths = bounded;
        let narrowest = vec![NARROWEST; last];
        shrink(
            &mut widths,
            width.saturating_sub(gaps.saturating_sub(GAP)),
            &narrowest,
        );
    }
    let indent = widths.first().copied().unwrap_or_default() + GAP;
    widths.push(
        if below {
            width.saturating_sub(indent)
        } else {
            left
        }
        .max(1),
    );

    let mut text = String::new();
    for row in &rows {
        let cells: Vec<Vec<String>> = row
            .iter()
            .zip(&widths)
            .map(|(cell, room)| wrap(cell, *room))
            .collect();
        let beside = if below { last } else { last + 1 };
        let height = cells[..beside]
            .iter()
            .map(Vec::len)
            .max()
            .unwrap_or_default();
        for at in 0..height {
            let mut drawn = String::new();
            let mut filled = 0;
            for c in 0..beside {
                if let Some(part) = cells[c].get(at).filter(|part| !part.is_empty()) {
                    let start: usize = widths[..c].iter().map(|width| width + GAP).sum();
                    drawn += &" ".repeat(start.saturating_sub(filled));
                    drawn += &painted(&row[c].style, part);
                    filled = start.max(filled) + part.width();
                }
            }
            text += &format!("{drawn}\n");
        }
        for part in cells[beside..]
            .iter()
            .flatten()
            .filter(|part| !part.is_empty())
        {
            text += &format!(
                "{}{}\n",
                " ".repeat(indent),
                painted(&row[last].style, part)
            );
        }
    }
    text
}

/// Takes from the widest column until all fit into `room`, or are as narrow as they may be.
fn shrink(widths: &mut [usize], room: usize, least: &[usize]) {
    while widths.iter().sum::<usize>() > room {
        let widest = widths
            .iter_mut()
            .zip(least)
            .filter(|(width, least)| **width > **least)
            .max_by_key(|(width, _)| **width);
        match widest {
            Some((width, _)) => *width -= 1,
            None => return,
        }
    }
}

fn painted(style: &str, text: &str) -> String {
    match style {
        "" => text.to_owned(),
        style => format!("{style}{text}\u{1b}[0m"),
    }
}

/// The cell's lines, broken between words where that is possible.
fn wrap(cell: &Cell, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = cell.text.as_str();
    while rest.width() > room {
        let mut filled = 0;
        let fits = rest.char_indices().find(|(_, c)| {
            filled += c.width().unwrap_or_default();
            filled > room
        });
        let Some((fits, wide)) = fits else { break };
        if lines.len() + 1 == LINES {
            // One column less for the ellipsis.
            let kept = rest[..fits].trim_end();
            let cut = if kept.width() < room {
                kept.len()
            } else {
                kept.char_indices().next_back().map_or(0, |(at, _)| at)
            };
            lines.push(format!("{}…", &kept[..cut]));
            return lines;
        }
        let at = match rest[..fits].rfind(' ') {
            _ if rest[fits..].starts_with(' ') && fits > 0 => fits,
            Some(space) if space > 0 => space,
            // A character wider than the column stands alone.
            _ if fits == 0 => wide.len_utf8(),
            _ => fits,
        };
        lines.push(rest[..at].trim_end().to_owned());
        rest = rest[at..].trim_start();
    }
    lines.push(rest.trim_end().to_owned());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(width: usize, header: &[&str], rows: &[&[&str]]) -> String {
        let own = |row: &[&str]| {
            row.iter()
                .map(|cell| (*cell).to_owned())
                .collect::<Vec<_>>()
        };
        let rows: Vec<_> = rows.iter().map(|row| own(row)).collect();
        table(width, &own(header), &rows)
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
    fn no_line_is_wider_than_the_screen() {
        let long = "word ".repeat(60) + &"x".repeat(300) + &"語".repeat(90);
        let header = ["ID", "STATE", "PRIORITY", "OWNER", "WAITS FOR", "SUBJECT"];
        let ids = "10 20 30 40 50 60 70 80 90 100 110 120";
        let owner = "w".repeat(64);
        let rows: &[&[&str]] = &[
            &["1", "in_progress", "critical", "W1", ids, &long],
            &["2", "pending", "", &owner, "", "short"],
        ];
        for width in 30..220 {
            for line in draw(width, &header, rows).lines() {
                assert!(line.width() <= width, "{width}: {line}");
            }
        }
        assert!(draw(80, &header, rows).contains('…'));
        assert!(draw(80, &header, rows).lines().count() < 12);
    }

    #[test]
    fn a_narrow_screen_gets_the_subject_below() {
        let rows: &[&[&str]] = &[&[
            "1",
            "in_progress",
            "critical",
            "W1",
            "Write the parser first",
        ]];
        let drawn = draw(40, &["ID", "STATE", "PRIORITY", "OWNER", "SUBJECT"], rows);
        assert_eq!(
            drawn,
            "ID  STATE        PRIORITY  OWNER\n    SUBJECT\n1   in_progress  critical  W1\n    Write the parser first\n"
        );
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
