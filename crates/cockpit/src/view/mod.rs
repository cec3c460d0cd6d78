//! How the state looks: a pure function of it.
//!
//! Owns the layout and what every screen has: the header with NOW, NEXT and QUEUED, the line of keys, what
//! is asked, toasts. A screen's list is in `lists`, its main pane in `panes`, the board in `board`, a
//! page over it in `pages`, other machines in `machines`. Text of agents goes through [`crate::text`] before it comes here.

mod board;
mod header;
mod landing;
mod lists;
mod machines;
mod pages;
mod panes;
mod reading;
mod review;
#[cfg(test)]
mod tests;

use ratatui::{
    Frame,
    layout::Rect,
    style::Style,
    text::{Line, Span},
    widgets::{Block, BorderType, Paragraph},
};

pub(crate) use landing::lines as landing_lines;

use crate::{
    app::{App, Page},
    keys::Context,
    landing::LandingPage,
    prompt::Ask,
    tab::Tab,
    text::{cut, wrapped},
    theme::{Glyphs, Role, ascii},
};

/// Rows of the header.
const HEADER: u16 = 3;
/// Rows below: what is asked or told, and the keys.
const FOOTER: u16 = 2;
/// Fewer columns than these, or rows, have one pane.
const TWO_PANES: (u16, u16) = (80, 24);
/// From so many columns a log stands beside the screen that it was opened from.
const LOG_BESIDE: u16 = 200;

/// Where the parts of a screen are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Areas {
    /// Where a page over the screen is: all of it between header and footer, but for a log that stands
    /// beside it.
    pub page: Rect,
    /// The list; of no size where the main pane is alone.
    pub list: Rect,
    /// The fleet of machines, below the list; mostly of no size.
    pub machines: Rect,
    /// The main pane; of no size where the list is alone.
    pub main: Rect,
    /// What is asked or told.
    pub message: Rect,
    /// The keys.
    pub hints: Rect,
}

/// The parts of this screen.
pub(crate) fn areas(app: &App) -> Areas {
    let (columns, rows) = app.size;
    let height = rows.saturating_sub(HEADER + FOOTER);
    let page = Rect::new(0, HEADER.min(rows), columns, height);
    let (body, page) = match has_log_beside(app) {
        true => halves(page),
        false => (page, page),
    };
    let columns = body.width;
    let none = Rect::new(0, body.y, 0, 0);
    let (list, main) = match (is_single(app), app.zoom, app.tab) {
        // Who decides must see the words.
        (true, _, Tab::Inbox) | (false, true, _) => (none, body),
        (true, false, _) => (body, none),
        (true, true, _) => (none, body),
        (false, false, Tab::Board) => {
            let upper = height.saturating_sub((height / 3).max(6));
            (
                Rect {
                    height: upper,
                    ..body
                },
                Rect {
                    y: body.y + upper,
                    height: height - upper,
                    ..body
                },
            )
        }
        (false, false, tab) => {
            let left = match tab {
                Tab::Inbox | Tab::Mail => (columns / 3).clamp(26, 48),
                Tab::Tasks => columns * 3 / 5,
                _ => (columns * 27 / 50).clamp(42, 80),
            };
            (
                Rect {
                    width: left,
                    ..body
                },
                Rect {
                    x: left,
                    width: columns - left,
                    ..body
                },
            )
        }
    };
    let (machines, list) = machines::split(app, list);
    let message = Rect::new(0, rows.saturating_sub(2), app.size.0, 1.min(rows));
    let hints = Rect::new(0, rows.saturating_sub(1), app.size.0, 1.min(rows));
    Areas {
        page,
        list,
        machines,
        main,
        message,
        hints,
    }
}

/// Whether the page in front is a log with the screen beside it.
fn has_log_beside(app: &App) -> bool {
    app.size.0 >= LOG_BESIDE && matches!(app.pages[..], [Page::Log(_)])
}

/// The left and the right half.
fn halves(area: Rect) -> (Rect, Rect) {
    let width = area.width / 2;
    let right = Rect {
        x: area.x + width,
        width: area.width - width,
        ..area
    };
    (Rect { width, ..area }, right)
}

fn is_single(app: &App) -> bool {
    app.size.0 < TWO_PANES.0 || app.size.1 < TWO_PANES.1
}

/// The inside of a pane.
fn inner(area: Rect) -> Rect {
    Rect {
        x: area.x + 1.min(area.width),
        y: area.y + 1.min(area.height),
        width: area.width.saturating_sub(2),
        height: area.height.saturating_sub(2),
    }
}

/// Rows of the inbox's main pane that show words.
pub(crate) fn body_rows(app: &App) -> usize {
    let rows = inner(areas(app).main).height.into();
    match app.tab {
        Tab::Inbox => panes::text_rows(app, rows),
        _ => rows,
    }
}

/// Columns of the main pane.
pub(crate) fn body_width(app: &App) -> usize {
    inner(areas(app).main).width.into()
}

/// Rows of a page, or of the list.
pub(crate) fn page_rows(app: &App) -> usize {
    match app.pages.is_empty() {
        false => inner(areas(app).page).height.into(),
        true => inner(areas(app).list).height.into(),
    }
}

/// How many lines the page in front has.
pub(crate) fn page_lines(app: &App) -> usize {
    pages::lines(app, inner(areas(app).page).width.into()).len()
}

/// Which line of the page of what is to land names the selected branch.
pub(crate) fn landing_row(app: &App, page: &LandingPage) -> usize {
    let width = usize::from(inner(areas(app).page).width);
    let lines = landing_lines(app, page).into_iter();
    let before = lines.take_while(|it| !it.is_selected);
    let rows = before.map(|it| wrapped(&it.words, width.saturating_sub(it.column)).len());
    rows.sum()
}

/// Whether the screen has room for all of the question, and for the list that it is about.
pub(crate) fn shows_question(app: &App) -> bool {
    app.prompt.as_ref().is_some_and(|prompt| {
        // In one row the keys are drawn over it.
        app.size.1 > 1
            && width_of(&prompt.label(&app.keymap)) < app.size.0.into()
            && (!prompt.has_list || page_lines(app) <= page_rows(app))
    })
}

/// Something on the screen that the mouse can point at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// A screen's name.
    Tab(Tab),
    /// A row of the list, by its place in it.
    Row(usize),
    /// The list beside its rows.
    List,
    /// The main pane.
    Main,
}

/// What is at this place of the screen.
pub(crate) fn target(app: &App, column: u16, row: u16) -> Option<Target> {
    if !app.pages.is_empty() {
        return Some(Target::Main);
    }
    if row == 0 {
        return header::tab_at(app, column).map(Target::Tab);
    }
    let at = |area: Rect| area.contains((column, row).into());
    let areas = areas(app);
    if at(areas.main) {
        return Some(Target::Main);
    }
    if !at(areas.list) || app.tab == Tab::Board {
        return at(areas.list).then_some(Target::List);
    }
    let inside = inner(areas.list);
    let line = usize::from(row.checked_sub(inside.y)?);
    let place = lists::top(app, inside.height.into()) + line;
    let is_there = line < inside.height.into() && place < app.list().rows.len();
    Some(if is_there {
        Target::Row(place)
    } else {
        Target::List
    })
}

/// Draws all of it.
pub fn draw(app: &App, frame: &mut Frame<'_>) {
    let areas = areas(app);
    header::draw(app, frame);
    if app.pages.is_empty() || has_log_beside(app) {
        match app.tab {
            Tab::Board => board::draw(app, frame, areas.list),
            _ => lists::draw(app, frame, areas.list),
        }
        machines::draw(app, frame, areas.machines);
        panes::draw(app, frame, areas.main);
    }
    if !app.pages.is_empty() {
        pages::draw(app, frame, areas.page);
    }
    message(app, frame, areas.message);
    if let Some(prompt) = &app.prompt
        && let Ask::Palette(row) = prompt.ask
    {
        pages::palette(app, frame, (areas.page, row), prompt.line.text());
    }
    hints(app, frame, areas.hints);
    if app.theme.glyphs == Glyphs::Ascii {
        let area = frame.area();
        for place in area.positions() {
            let cell = &mut frame.buffer_mut()[place];
            if let Some(plain) = ascii(cell.symbol()) {
                cell.set_symbol(plain);
            }
        }
    }
}

/// A frame with a heading.
fn frame_of<'b>(app: &App, title: impl Into<Line<'b>>) -> Block<'b> {
    let block = Block::bordered()
        .border_style(app.theme.style(Role::Dim))
        .title(title);
    match app.theme.glyphs {
        Glyphs::Unicode => block.border_type(BorderType::Plain),
        Glyphs::Ascii => block.border_set(ASCII),
    }
}

const ASCII: ratatui::symbols::border::Set<'_> = ratatui::symbols::border::Set {
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    vertical_left: "|",
    vertical_right: "|",
    horizontal_top: "-",
    horizontal_bottom: "-",
};

/// What is asked, else what is told.
fn message(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let columns = usize::from(area.width);
    if let Some(prompt) = &app.prompt {
        let label = cut(&prompt.label(&app.keymap), columns.saturating_sub(1));
        let room = columns.saturating_sub(width_of(&label) + 1);
        // The end of what is typed stays in sight, with the cursor.
        let before = tail(prompt.line.before(), room);
        let cursor = width_of(&label) + width_of(&before);
        let after = &prompt.line.text()[prompt.line.before().len()..];
        let typed = cut(&format!("{before}{after}"), room.max(1));
        let line = Line::from(vec![
            Span::styled(label, app.theme.style(Role::NeedsYou)),
            Span::raw(typed),
        ]);
        frame.render_widget(Paragraph::new(line), area);
        if prompt.context() == Context::Line {
            let cursor = u16::try_from(cursor).unwrap_or(u16::MAX);
            frame.set_cursor_position((area.x + cursor.min(area.width), area.y));
        }
        return;
    }
    let Some(toast) = app.toasts.last() else {
        if app.busy > 0 {
            frame.render_widget(Paragraph::new(" …"), area);
        }
        return;
    };
    let others = match app.toasts.len() {
        1 => String::new(),
        n => format!("  (+{})", n - 1),
    };
    let (sign, role) = match toast.is_error {
        true => ("✗", Role::Failed),
        false => ("✓", Role::Done),
    };
    let room = columns.saturating_sub(others.len() + 4);
    let line = Line::from(vec![
        Span::styled(format!(" {} ", sign), app.theme.style(role)),
        Span::raw(cut(&toast.text, room)),
        Span::styled(others, app.theme.style(Role::Dim)),
    ]);
    frame.render_widget(Paragraph::new(line), area);
}

/// The end of a text, in at most so many columns.
fn tail(text: &str, columns: usize) -> String {
    let mut kept = Vec::new();
    let mut used = 0;
    for c in text.chars().rev() {
        used += unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
        if used > columns {
            break;
        }
        kept.push(c);
    }
    kept.iter().rev().collect()
}

fn width_of(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

/// The keys that matter here.
fn hints(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let mut line = String::new();
    let single = is_single(app).then_some("one pane below 80×24");
    for part in single
        .map(str::to_owned)
        .into_iter()
        .chain(pages::hints(app))
    {
        if width_of(&line) + width_of(&part) + 3 > area.width.into() {
            break;
        }
        line += " ";
        line += &part;
        line += " ";
    }
    let hints = Paragraph::new(line).style(app.theme.style(Role::Dim));
    frame.render_widget(hints, area);
}

/// How long ago, in the largest unit; the time of day where that is wanted.
pub(crate) fn age(app: &App, at: jiff::Timestamp) -> String {
    if app.absolute {
        let zoned = at.to_zoned(app.zone.clone());
        return zoned.strftime("%d %H:%M").to_string();
    }
    let seconds = app.now.duration_since(at).as_secs().max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// A text to the left and one to the right of a row of so many columns.
fn spread(left: &str, right: &str, columns: usize) -> String {
    let room = columns.saturating_sub(width_of(right) + 1);
    let left = cut(left, room);
    let gap = columns.saturating_sub(width_of(&left) + width_of(right));
    format!("{left}{}{right}", " ".repeat(gap))
}

fn styled(text: impl Into<String>, style: Style) -> Span<'static> {
    Span::styled(text.into(), style)
}
