//! Rows under a header, fitted to a screen.
//!
//! Owns which columns are shown and how they share the screen: one that nobody uses is left out,
//! expendable ones make room for the last, and a cell that is cut says so with an ellipsis. The layout is `comfy-table`'s. A cell can
//! neither steer the terminal nor pretend to be a row.

use std::borrow::Cow;

use comfy_table::{ColumnConstraint, ContentArrangement, Row, Table, Width, presets};

use crate::terminal;

/// Between two columns.
const GAP: u16 = 2;
/// No cell shows more characters.
const LONGEST: usize = 1_000;
/// A cell has at most so many lines.
const LINES: usize = 3;
/// No column but the last takes more of the screen, in percent.
const SHARE: u16 = 40;

/// So many characters of the last column are worth more than an expendable one.
const READABLE: usize = 30;

/// The rows with their header. Where the screen is too narrow for the last column to be read, the
/// expendable ones are left out, in this order; without a screen nothing need fit.
pub fn table(
    width: Option<u16>,
    header: &[String],
    rows: &[Vec<String>],
    expendable: &[usize],
) -> String {
    let used = used(width, header, rows, expendable);
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_truncation_indicator("…")
        .set_header(used.iter().map(|&c| &header[c]));
    match width {
        Some(width) => table
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(width),
        None => table.set_content_arrangement(ContentArrangement::Disabled),
    };
    for row in rows {
        let mut drawn = Row::from(used.iter().map(|&c| cell(&row[c])));
        if width.is_some() {
            drawn.max_height(LINES);
        }
        table.add_row(drawn);
    }
    let last = used.len().saturating_sub(1);
    for (at, column) in table.column_iter_mut().enumerate() {
        if at == last {
            column.set_padding((0, 0));
        } else {
            column.set_padding((0, GAP));
            if width.is_some() {
                column.set_constraint(ColumnConstraint::UpperBoundary(Width::Percentage(SHARE)));
            }
        }
    }
    let lines = table.lines();
    lines.map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The columns that are shown.
fn used(
    width: Option<u16>,
    header: &[String],
    rows: &[Vec<String>],
    expendable: &[usize],
) -> Vec<usize> {
    let mut used: Vec<usize> = (0..header.len())
        .filter(|&c| rows.iter().any(|row| !row[c].is_empty()))
        .collect();
    let Some(width) = width else {
        return used;
    };
    let share = usize::from(width) * usize::from(SHARE) / 100;
    let room = |used: &[usize]| {
        let widest = |c: usize| {
            let cells = rows.iter().map(|row| &row[c]).chain([&header[c]]);
            cells.map(|cell| shown_len(cell)).max().unwrap_or(0)
        };
        let (last, others) = used.split_last()?;
        let others = others
            .iter()
            .map(|&c| widest(c).min(share) + usize::from(GAP));
        Some(others.sum::<usize>() + widest(*last).min(READABLE))
    };
    for dropped in expendable {
        if room(&used).is_none_or(|room| room <= usize::from(width)) {
            break;
        }
        used.retain(|c| c != dropped);
    }
    used
}

/// How many characters of a cell are seen.
fn shown_len(painted: &str) -> usize {
    let (style, text) = painted.split_at(terminal::style_len(painted));
    let text = if style.is_empty() {
        text
    } else {
        text.strip_suffix(RESET).unwrap_or(text)
    };
    text.chars().count()
}

/// A cell's text, made harmless, in the style that it came in.
fn cell(painted: &str) -> String {
    let (style, text) = painted.split_at(terminal::style_len(painted));
    let (text, end) = match style {
        "" => (text, ""),
        _ => (text.strip_suffix(RESET).unwrap_or(text), RESET),
    };
    // The library counts columns in 16 bits.
    let text: Cow<'_, str> = match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    };
    format!(
        "{style}{}{end}",
        terminal::clean(&terminal::line(&text), false)
    )
}

const RESET: &str = "\u{1b}[0m";

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
