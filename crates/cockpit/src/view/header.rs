//! The header of every screen: where we are, how live it is, and NOW, NEXT and QUEUED.

use ratatui::{
    Frame,
    layout::Rect,
    text::{Line, Span},
    widgets::Paragraph,
};

use super::{age, machines, styled, width_of};
use crate::{
    app::App,
    event::WakeSource,
    snapshot::Lane,
    tab::Tab,
    text::{cut, line},
    theme::Role,
};

/// Draws it.
pub(super) fn draw(app: &App, frame: &mut Frame<'_>) {
    let columns = app.size.0;
    let rows = [first(app), now(app), next(app)];
    for (y, row) in (0..).zip(rows) {
        if y < app.size.1 {
            frame.render_widget(Paragraph::new(row), Rect::new(0, y, columns, 1));
        }
    }
}

/// Which screen, the others, and how changes are learned of.
fn first(app: &App) -> Line<'static> {
    let bridge = match app.data.is_bridge_up {
        true => " ⚡Agent ",
        false => " ",
    };
    let live = live(app);
    let right = width_of(&live) + width_of(bridge);
    let room = usize::from(app.size.0).saturating_sub(right + 2);
    let mut spans = Vec::new();
    let mut used = 0;
    for (text, tab) in tabs(app) {
        let style = match tab {
            Some(tab) if tab == app.tab => app.theme.style(Role::Selected),
            Some(_) => app.theme.style(Role::Dim),
            None => app.theme.style(Role::Title),
        };
        if used + width_of(&text) > room {
            break;
        }
        used += width_of(&text);
        spans.push(styled(text, style));
    }
    spans.push(Span::raw(" ".repeat(room - used + 1)));
    let role = match (&app.stale, app.source) {
        (Some(_), _) => Role::Failed,
        (None, WakeSource::Daemon) => Role::Done,
        (None, WakeSource::Files | WakeSource::Polling) => Role::Dim,
    };
    spans.push(styled(live, app.theme.style(role)));
    spans.push(styled(bridge, app.theme.style(Role::Done)));
    Line::from(spans)
}

/// The parts of the first row, with the screen that each stands for.
fn tabs(app: &App) -> Vec<(String, Option<Tab>)> {
    let name = cut(&app.data.list, 24);
    let name = match app.size.0 {
        100.. => format!(" flagpost {name}  "),
        _ => format!(" {} ", cut(&name, 12)),
    };
    let mut parts = vec![(name, None)];
    for (n, tab) in (1..).zip(Tab::ALL) {
        let count = match tab {
            Tab::Inbox if !app.data.waiting.is_empty() => format!("({})", app.data.waiting.len()),
            _ => String::new(),
        };
        parts.push((format!(" {n}:{}{count} ", tab.title()), Some(tab)));
    }
    parts
}

/// The screen whose name is in this column.
pub(super) fn tab_at(app: &App, column: u16) -> Option<Tab> {
    let mut at = 0;
    for (text, tab) in tabs(app) {
        at += width_of(&text);
        if usize::from(column) < at {
            return tab;
        }
    }
    None
}

fn live(app: &App) -> String {
    match (&app.stale, app.source) {
        (Some(_), _) if !app.is_begun => "◌ unread".to_owned(),
        (Some(_), _) => format!("◌ {} old", age(app, app.data.at)),
        (None, WakeSource::Daemon) => "⚡live".to_owned(),
        (None, WakeSource::Files) => "files".to_owned(),
        (None, WakeSource::Polling) => "polling".to_owned(),
    }
}

fn now(app: &App) -> Line<'static> {
    let parked = app.data.parked.iter().map(|it| {
        let until = it.until.to_zoned(app.zone.clone());
        let format = match until.date() == app.now.to_zoned(app.zone.clone()).date() {
            true => "%H:%M",
            false => "%a %H:%M",
        };
        format!("{} parked until {}", it.agent, until.strftime(format))
    });
    let at_work = app.data.now().map(|task| {
        let claim = task.state.claim();
        let who = claim.map_or("?".to_owned(), |it| it.by.to_string());
        let since = claim.map_or(String::new(), |it| format!(" {}", age(app, it.at)));
        format!("{who} #{} {}{since}", task.id, cut(&task.subject, 20))
    });
    // What rests explains why less goes on.
    let words = listed(app, &mut parked.chain(at_work), " NOW    ");
    labelled(app, words, Role::Running)
}

fn next(app: &App) -> Line<'static> {
    let data = &app.data;
    let ready = data.lane(Lane::Ready);
    let blocked = data.lane(Lane::Blocked).len();
    let waits = match data.waiting.len() {
        0 => String::new(),
        1 => " · 1 needs you".to_owned(),
        n => format!(" · {n} need you"),
    };
    let unreadable = match data.skipped {
        0 => String::new(),
        n => format!(" · {n} unreadable"),
    };
    let fleet = machines::trouble(app).map(|it| format!(" · {it}"));
    let fleet = fleet.unwrap_or_default();
    let queued = format!(
        "QUEUED {} ({blocked} blocked){waits}{unreadable}{fleet} ",
        ready.len() + blocked
    );
    let room = usize::from(app.size.0).saturating_sub(width_of(&queued) + 1);
    let ids = ready.iter().take(8).filter_map(|it| data.tasks.get(*it));
    let ids: Vec<String> = ids.map(|task| format!("#{}", task.id)).collect();
    let more = match ready.len().saturating_sub(ids.len()) {
        0 => String::new(),
        more => format!(" +{more}"),
    };
    let label = " NEXT   ";
    let next = match ids.is_empty() {
        true => "nothing is ready".to_owned(),
        false => format!("{}{more}", ids.join(" ")),
    };
    let next = cut(&next, room.saturating_sub(label.len()));
    let gap =
        usize::from(app.size.0).saturating_sub(label.len() + width_of(&next) + width_of(&queued));
    Line::from(vec![
        styled(label, app.theme.style(Role::Title)),
        Span::raw(next),
        Span::raw(" ".repeat(gap)),
        Span::raw(queued),
    ])
}

/// As many parts as there is room for, and how many more there are.
fn listed(app: &App, parts: &mut dyn Iterator<Item = String>, label: &str) -> (String, String) {
    let room = usize::from(app.size.0).saturating_sub(label.len() + 5);
    let between = format!(" {} ", "·");
    let (mut text, mut left) = (String::new(), 0);
    for part in parts {
        let part = line(&part).into_owned();
        let gap = if text.is_empty() { 0 } else { 3 };
        if left > 0 || width_of(&text) + gap + width_of(&part) > room {
            left += 1;
            continue;
        }
        if !text.is_empty() {
            text += &between;
        }
        text += &part;
    }
    match (text.is_empty(), left) {
        (true, 0) => text += "nobody is at work",
        (_, 0) => {}
        (_, left) => text += &format!(" +{left}"),
    }
    (label.to_owned(), text)
}

fn labelled(app: &App, (label, text): (String, String), role: Role) -> Line<'static> {
    Line::from(vec![
        styled(label, app.theme.style(Role::Title)),
        styled(text, app.theme.style(role)),
    ])
}
