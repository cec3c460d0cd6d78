//! The page of a task's work: rows of files, patches and remarks, as lines.
//!
//! Owns their look. Every row is one line: what is longer than the page is cut.

use ratatui::{style::Style, text::Line};

use super::styled;
use crate::{
    app::App,
    review::{ReviewPage, ReviewRow},
    text::{self, LineKind, cut},
    theme::{Glyphs, Role},
};

/// Columns of a line's number.
const NUMBER: usize = 5;

/// The lines of the page, from `top` on; the selected one is marked.
pub(super) fn lines(
    app: &App,
    page: &ReviewPage,
    (top, height): (usize, usize),
    width: usize,
) -> Vec<Line<'static>> {
    let rows = page.rows();
    let shown = rows.iter().enumerate().skip(top).take(height);
    let lines = shown.map(|(at, row)| {
        let (text, style) = line(app, row);
        let style = match at == page.at {
            true => app.theme.style(Role::Selected),
            false => style,
        };
        Line::from(styled(cut(&text, width), style))
    });
    lines.collect()
}

fn line(app: &App, row: &ReviewRow<'_>) -> (String, Style) {
    let (open, closed) = match app.theme.glyphs {
        Glyphs::Unicode => ("▾", "▸"),
        Glyphs::Ascii => ("-", "+"),
    };
    match row {
        ReviewRow::Words(words) => (words.clone(), app.theme.style(Role::Dim)),
        ReviewRow::File {
            path,
            size,
            is_open,
        } => {
            let sign = if *is_open { open } else { closed };
            let text = format!("{sign} {}  {size}", text::line(path));
            (text, app.theme.style(Role::Title))
        }
        ReviewRow::Patch(_, it) => {
            let number = it.number.map(|it| it.to_string()).unwrap_or_default();
            // A tab takes the place that it has in the file.
            let text = it.text.replace('\t', "    ");
            let text = text::line(&text);
            let (sign, style) = match it.kind {
                LineKind::Plain if it.number.is_none() => (" ", app.theme.style(Role::Dim)),
                LineKind::Plain => (" ", Style::new()),
                LineKind::Added => ("+", app.theme.style(Role::Added)),
                LineKind::Removed => ("-", app.theme.style(Role::Removed)),
            };
            (format!("{number:>NUMBER$} {sign}{text}"), style)
        }
        ReviewRow::Remark(remark) => (
            format!("{:>NUMBER$} ▲ {}", "", text::line(&remark.words)),
            app.theme.style(Role::NeedsYou),
        ),
    }
}
