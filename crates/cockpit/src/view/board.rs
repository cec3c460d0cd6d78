//! The board: a column a lane, as many as there is room for; what is blocked lies below what is ready.

use flagpost_model::task::Outline;
use ratatui::{
    Frame,
    layout::Rect,
    style::Style,
    text::{Line, Span},
    widgets::Paragraph,
};

use super::{frame_of, inner, lists, styled};
use crate::{
    app::App,
    snapshot::Lane,
    text::{cut, line},
    theme::Role,
};

/// A column that is narrower says nothing.
const NARROWEST: u16 = 22;

/// A card has its subject, and who has it since when.
const CARD: usize = 2;

/// The lanes of each column, from the top.
const COLUMNS: [&[Lane]; 5] = [
    &[Lane::Ready, Lane::Blocked],
    &[Lane::Claimed],
    &[Lane::Running],
    &[Lane::NeedsYou],
    &[Lane::Done],
];

/// Draws it.
pub(super) fn draw(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let count = (area.width / NARROWEST).clamp(1, 5);
    let width = area.width / count;
    for (n, lanes) in (0..count).zip(shown(app.lane, count.into())) {
        let x = area.x + n * width;
        let is_last = n + 1 == count;
        let column = Rect {
            x,
            width: if is_last {
                area.x + area.width - x
            } else {
                width
            },
            ..area
        };
        stack(app, frame, column, lanes);
    }
}

/// So many columns, with the chosen lane's among them.
fn shown(chosen: Lane, count: usize) -> &'static [&'static [Lane]] {
    static ALL: [&[Lane]; 5] = COLUMNS;
    let has = |lanes: &&[Lane]| lanes.contains(&chosen);
    let at = ALL.iter().position(has).unwrap_or_default();
    let from = at.saturating_sub(count - 1).min(ALL.len() - count);
    &ALL[from..from + count]
}

/// Lanes above each other: the first has two thirds.
fn stack(app: &App, frame: &mut Frame<'_>, area: Rect, lanes: &[Lane]) {
    match lanes {
        [one] => lane(app, frame, area, *one),
        [upper, lower] => {
            let height = area.height - area.height / 3;
            lane(app, frame, Rect { height, ..area }, *upper);
            let rest = Rect {
                y: area.y + height,
                height: area.height - height,
                ..area
            };
            lane(app, frame, rest, *lower);
        }
        _ => {}
    }
}

fn lane(app: &App, frame: &mut Frame<'_>, area: Rect, lane: Lane) {
    let is_chosen = lane == app.lane;
    let (sign, role) = app.theme.lane(lane);
    let list = app.list();
    let rows = match is_chosen {
        true => &list.rows[..],
        false => app.data.lane(lane),
    };
    let width = usize::from(area.width);
    let heading = match is_chosen {
        true => format!(" {sign} {} ", lists::heading(app, lane.title(), width)),
        false => format!(" {sign} {} {} ", lane.title(), rows.len()),
    };
    let style = app.theme.style(if is_chosen { Role::Title } else { role });
    let heading = styled(cut(&heading, width.saturating_sub(2)), style);
    frame.render_widget(frame_of(app, heading), area);
    let inside = inner(area);
    let cards = usize::from(inside.height) / CARD;
    let top = if is_chosen { lists::top(app, cards) } else { 0 };
    let shown = rows.iter().enumerate().skip(top).take(cards);
    let lines = shown.flat_map(|(at, place)| {
        let is_selected = is_chosen && at == list.at;
        let task = app.data.tasks.get(*place);
        task.map_or_else(Vec::new, |task| {
            card(app, (*place, task), is_selected, inside.width.into())
        })
    });
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), inside);
}

fn card(
    app: &App,
    (place, task): (usize, &Outline),
    is_selected: bool,
    width: usize,
) -> Vec<Line<'static>> {
    let bar = if is_selected { "▌" } else { " " };
    let is_marked = app.list().marks.iter().any(|it| *it == task.id.as_str());
    let mark = if is_marked { "+" } else { "" };
    let (_, _, subject, about) = lists::task_cells(app, place, task);
    let room = width.saturating_sub(1);
    let style = match is_selected {
        true => app.theme.style(Role::Selected),
        false => Style::new(),
    };
    let subject = cut(&format!("{mark}{}", line(&subject)), room);
    let mut words: Vec<String> = [task.group.clone(), task.complexity.clone()]
        .into_iter()
        .flatten()
        .collect();
    match task.blocked_by.as_slice() {
        [] => {}
        [one] => words.push(format!("after #{one}")),
        many => words.push(format!("after {} tasks", many.len())),
    }
    if task.attempts > 1 {
        words.push(format!("try {}", task.attempts));
    }
    words.push(about);
    words.retain(|it| !it.is_empty());
    let about = cut(&format!("   {}", words.join(" ")), room);
    vec![
        Line::from(vec![Span::raw(bar), styled(subject, style)]),
        Line::from(vec![
            Span::raw(" "),
            styled(about, app.theme.style(Role::Dim)),
        ]),
    ]
}
