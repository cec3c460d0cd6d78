//! Pages over a screen: a task, a log, the keys, what I did, an answer; and the palette.

use ratatui::{
    Frame,
    layout::Rect,
    text::{Line, Span},
    widgets::{Clear, Paragraph},
};

use super::{frame_of, inner, landing_lines, styled};
use crate::{
    app::{App, Page},
    keys::{Context, KeyCommand},
    palette,
    prompt::{Ask, Prompt},
    review::ReviewPage,
    tab::Tab,
    text::{self, LineKind, cut, wrapped},
    theme::Role,
};

/// Draws the page in front.
pub(super) fn draw(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let Some(page) = app.pages.last() else {
        return;
    };
    let inside = inner(area);
    let (width, height) = (usize::from(inside.width), usize::from(inside.height));
    let (heading, top) = match page {
        Page::Task { id, top, .. } => (format!("#{id}"), *top),
        Page::Log(log) => (log_heading(log), 0),
        Page::Help { line, top } => (format!("Keys of this screen /{}", line.text()), *top),
        Page::Journal { top } => ("What I did, as commands: y copies them".to_owned(), *top),
        Page::Landing(page) => ("Landing: flagpost land --status".to_owned(), page.top),
        Page::Review(page) => (review_heading(app, page), page.top),
        Page::Text { title, top, .. } => (title.clone(), *top),
    };
    let heading = cut(
        &format!(" {heading} "),
        usize::from(area.width).saturating_sub(4),
    );
    frame.render_widget(frame_of(app, heading), area);
    let lines = match page {
        Page::Log(log) => log_lines(app, log, (width, height)),
        Page::Review(page) => super::review::lines(app, page, (top, height), width),
        _ => lines(app, width)
            .into_iter()
            .skip(top)
            .take(height)
            .collect(),
    };
    frame.render_widget(Paragraph::new(lines), inside);
}

/// The lines of the page in front; a log and a task's work have their own way.
pub(super) fn lines(app: &App, width: usize) -> Vec<Line<'static>> {
    match app.pages.last() {
        None | Some(Page::Log(_) | Page::Review(_)) => Vec::new(),
        Some(Page::Task { text, .. }) => match text {
            Some(text) => wrapped(text, width).into_iter().map(Line::from).collect(),
            None => vec![Line::from("…")],
        },
        Some(Page::Help { line, .. }) => help(app, line.text()),
        Some(Page::Journal { .. }) => match app.journal.is_empty() {
            true => vec![Line::from("nothing yet")],
            false => app
                .journal
                .iter()
                .map(|it| Line::from(cut(it, width)))
                .collect(),
        },
        Some(Page::Landing(page)) => {
            let lines = landing_lines(app, page).into_iter();
            lines
                .flat_map(|line| {
                    let style = match line.is_selected {
                        true => app.theme.style(Role::Selected),
                        false => ratatui::style::Style::new(),
                    };
                    let column = line.column;
                    let lines = wrapped(&line.words, width.saturating_sub(column)).into_iter();
                    lines.map(move |it| Line::styled(" ".repeat(column) + &it, style))
                })
                .collect()
        }
        Some(Page::Text { lines, .. }) => lines
            .iter()
            .flat_map(|(kind, line)| {
                let (sign, style) = match kind {
                    LineKind::Plain => ("  ", ratatui::style::Style::new()),
                    LineKind::Added => ("+ ", app.theme.style(Role::Added)),
                    LineKind::Removed => ("- ", app.theme.style(Role::Removed)),
                };
                let lines = wrapped(line, width.saturating_sub(2)).into_iter();
                lines.map(move |it| Line::styled(format!("{sign}{it}"), style))
            })
            .collect(),
    }
}

/// Whose work it is, and what was remarked.
fn review_heading(app: &App, page: &ReviewPage) -> String {
    let task = app.data.tasks.iter().find(|it| it.id == page.task);
    let subject = task.map(|it| text::line(&it.subject).into_owned());
    let remarks = match page.remarks.len() {
        0 => String::new(),
        1 => " · 1 remark".to_owned(),
        n => format!(" · {n} remarks"),
    };
    format!("#{} {}{remarks}", page.task, subject.unwrap_or_default())
}

fn help(app: &App, typed: &str) -> Vec<Line<'static>> {
    // The page stands over the screen whose keys are meant.
    let context = match app.pages.iter().rev().nth(1) {
        Some(Page::Task { .. }) => Context::Task,
        Some(Page::Log(_)) => Context::Log,
        Some(Page::Landing(_)) => Context::Landing,
        Some(Page::Review(_)) => Context::Review,
        Some(_) => Context::Text,
        None => Context::Tab(app.tab),
    };
    let typed = typed.to_lowercase();
    // What is asked stands over every screen.
    let contexts = [context, Context::Line, Context::Question];
    let is_here = |it: &&KeyCommand| contexts.iter().any(|context| it.is_on(*context));
    let here = KeyCommand::ALL.iter().filter(is_here);
    let rows = here.filter_map(|command| {
        let keys = app.keymap.shown(*command);
        let text = format!("{keys:<14} {:<16} {}", command.name(), command.about());
        let fits = !keys.is_empty() && text.to_lowercase().contains(&typed);
        fits.then(|| Line::from(text))
    });
    rows.collect()
}

fn log_heading(log: &crate::log::LogView) -> String {
    let between = "·";
    let mut words = vec![format!("log #{}", log.task)];
    if !log.title.is_empty() {
        words.push(text::line(&log.title).into_owned());
    }
    words.push(match (&log.ended, log.follows) {
        (Some(why), _) => why.clone(),
        (None, true) => "following".to_owned(),
        (None, false) => format!("line {} of {}", log.top + 1, log.rows.len()),
    });
    if !log.filter.is_empty() {
        words.push(format!("/{}", log.filter));
    }
    words.join(&format!(" {between} "))
}

/// The end of a log whose lines are wrapped.
fn last_lines(log: &crate::log::LogView, (width, height): (usize, usize)) -> Vec<Line<'static>> {
    let mut last: Vec<String> = Vec::new();
    for row in log.rows.iter().rev() {
        let raw = log.lines.get(*row).map_or("", |it| it);
        last.extend(wrapped(raw, width).into_iter().rev());
        if last.len() >= height {
            break;
        }
    }
    last.truncate(height);
    last.into_iter().rev().map(Line::from).collect()
}

fn log_lines(
    app: &App,
    log: &crate::log::LogView,
    (width, height): (usize, usize),
) -> Vec<Line<'static>> {
    if log.wraps && log.follows {
        return last_lines(log, (width, height));
    }
    let mut lines = Vec::new();
    let hit = log.filter.to_lowercase();
    for row in log.rows.iter().skip(log.top).take(height) {
        let raw = log.lines.get(*row).map_or("", |it| it);
        if log.wraps {
            lines.extend(wrapped(raw, width).into_iter().map(Line::from));
            continue;
        }
        let is_hit = !hit.is_empty() && !hit.starts_with('!');
        let spans = text::styled(raw)
            .into_iter()
            .map(|(text, style)| match is_hit {
                true => styled(text, style.patch(app.theme.style(Role::NeedsYou))),
                false => styled(text, style),
            });
        lines.push(Line::from(spans.collect::<Vec<Span<'static>>>()));
    }
    // Broken lines take more rows: the last ones stay in sight.
    let over = if log.follows {
        lines.len().saturating_sub(height)
    } else {
        0
    };
    lines.drain(..over);
    lines
}

/// What the palette offers, above the line that is typed.
pub(super) fn palette(app: &App, frame: &mut Frame<'_>, (body, row): (Rect, usize), typed: &str) {
    let choices = palette::choices(typed);
    let height = u16::try_from(choices.len().min(10)).unwrap_or(10);
    let area = Rect {
        y: (body.y + body.height).saturating_sub(height + 2),
        height: (height + 2).min(body.height),
        ..body
    };
    frame.render_widget(Clear, area);
    let heading = format!(" {} commands: enter runs, tab completes ", choices.len());
    frame.render_widget(frame_of(app, heading), area);
    let inside = inner(area);
    let width = usize::from(inside.width);
    let shown = usize::from(inside.height).max(1);
    let top = row.saturating_sub(shown - 1);
    let lines = choices.iter().enumerate().skip(top).take(shown);
    let lines = lines.map(|(at, choice)| {
        let style = match at == row {
            true => app.theme.style(Role::Selected),
            false => ratatui::style::Style::new(),
        };
        let about = cut(&choice.about, width.saturating_sub(24));
        Line::from(vec![
            styled(format!(" {:<22} ", cut(&choice.line, 22)), style),
            styled(about, app.theme.style(Role::Dim)),
        ])
    });
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), inside);
}

/// The keys that matter here, most first.
pub(super) fn hints(app: &App) -> Vec<String> {
    use KeyCommand::{
        Accept, Answer, Approve, Assign, Back, Cancel, Claim, Complete, Done, Edit, Filter, Follow,
        Help, Land, Left, Log, Mark, Move, NextHit, Open, Palette, Quit, Ratify, RatifyAll, Reject,
        Remark, Return, Right, ScrollDown, Stop, Undo, Wrap, Yes, Zoom,
    };
    if let (None, Some(Page::Help { .. })) = (&app.prompt, app.pages.last()) {
        return vec![
            "type to narrow".into(),
            "pgdn scroll".into(),
            "esc back".into(),
        ];
    }
    let asked = app.prompt.as_ref();
    let context = asked.map_or_else(|| app.context(), Prompt::context);
    let commands: &[(KeyCommand, &str)] = match context {
        Context::Line => match asked.map(|it| &it.ask) {
            Some(Ask::Palette(_)) => {
                &[(Accept, "do it"), (Complete, "complete"), (Cancel, "leave")]
            }
            _ => &[(Accept, "take it"), (Cancel, "leave")],
        },
        Context::Question => match asked.map(|it| &it.ask) {
            Some(Ask::Confirm { .. }) => &[(Yes, "yes"), (Cancel, "no")],
            _ => &[(Cancel, "leave")],
        },
        Context::Tab(Tab::Fleet) => &[
            (Open, "open"),
            (Assign, "assign"),
            (Log, "log"),
            (Filter, "filter"),
            (Palette, "palette"),
            (Help, "keys"),
            (Quit, "quit"),
        ],
        Context::Tab(Tab::Board) => &[
            (Left, "column"),
            (Right, "column"),
            (Move, "move…"),
            (Open, "open"),
            (Claim, "claim"),
            (Done, "done"),
            (Mark, "mark"),
            (Undo, "undo"),
            (Filter, "filter"),
            (Help, "keys"),
            (Quit, "quit"),
        ],
        Context::Tab(Tab::Tasks) => &[
            (Open, "open"),
            (Claim, "claim"),
            (Done, "done…"),
            (Move, "move…"),
            (Undo, "undo"),
            (Filter, "query"),
            (Palette, "palette"),
            (Help, "keys"),
            (Quit, "quit"),
        ],
        Context::Tab(Tab::Inbox) => &[
            (Ratify, "approve"),
            (Reject, "reject…"),
            (Edit, "edit"),
            (RatifyAll, "all…"),
            (Answer, "answer"),
            (ScrollDown, "scroll"),
            (Filter, "filter"),
            (Help, "keys"),
            (Quit, "quit"),
        ],
        Context::Tab(Tab::Run) => &[
            (Open, "log"),
            (Zoom, "zoom"),
            (Stop, "stop the run…"),
            (Filter, "filter"),
            (Help, "keys"),
            (Quit, "quit"),
        ],
        Context::Tab(Tab::Mail) => &[
            (Open, "zoom"),
            (ScrollDown, "scroll"),
            (Filter, "filter"),
            (Palette, "palette"),
            (Help, "keys"),
            (Quit, "quit"),
        ],
        Context::Task => &[
            (Back, "back"),
            (Claim, "claim"),
            (Done, "done…"),
            (Move, "move…"),
            (Log, "log"),
            (Answer, "answer"),
            (Help, "keys"),
        ],
        Context::Log => &[
            (Back, "back"),
            (Follow, "follow"),
            (Wrap, "wrap"),
            (Filter, "filter"),
            (NextHit, "next hit"),
            (Help, "keys"),
        ],
        Context::Landing => &[
            (Open, "look at it"),
            (Land, "land all that can…"),
            (Back, "back"),
            (ScrollDown, "scroll"),
            (Help, "keys"),
            (Quit, "quit"),
        ],
        Context::Review => &[
            (Open, "open"),
            (Remark, "remark…"),
            (Approve, "approve"),
            (Return, "return…"),
            (Land, "land…"),
            (Back, "back"),
            (Help, "keys"),
        ],
        Context::Text => &[(Back, "back"), (ScrollDown, "scroll"), (Quit, "quit")],
    };
    let shown = commands.iter().filter_map(|(command, words)| {
        let key = app.keymap.first(*command);
        (!key.is_empty()).then(|| format!("{key} {words}"))
    });
    shown.collect()
}
