//! The fleet of machines that the home is in: below the workers, and in a word on every screen where something
//! stands in the way. Nothing where the home is in none.

use flagpost_model::machines::{FleetLink, FleetMachine, FleetSight, FleetStanding};
use ratatui::{
    Frame,
    layout::Rect,
    text::{Line, Span},
    widgets::Paragraph,
};

use super::{age, frame_of, inner, spread, styled, width_of};
use crate::{
    app::App,
    tab::Tab,
    text::{cut, line},
    theme::Role,
};

/// Fewer rows are left to the workers alone.
const LEAST: u16 = 12;

/// The part of the list's area in which the machines are, and what is left of it.
pub(super) fn split(app: &App, list: Rect) -> (Rect, Rect) {
    let none = Rect::new(list.x, list.y + list.height, 0, 0);
    if app.tab != Tab::Fleet || list.height < LEAST {
        return (none, list);
    }
    let Some(sight) = &app.data.machines else {
        return (none, list);
    };
    let rows = u16::try_from(rows(app, sight).len()).unwrap_or(u16::MAX);
    let height = rows.min(list.height / 3) + 2;
    let left = list.height - height;
    let below = Rect {
        y: list.y + left,
        height,
        ..list
    };
    let above = Rect {
        height: left,
        ..list
    };
    (below, above)
}

/// Draws them.
pub(super) fn draw(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let Some(sight) = app.data.machines.as_ref().filter(|_| area.height > 2) else {
        return;
    };
    let inside = inner(area);
    let (width, height) = (usize::from(inside.width), usize::from(inside.height));
    let heading = cut(
        &heading(app, sight),
        usize::from(area.width).saturating_sub(6),
    );
    frame.render_widget(frame_of(app, format!(" {heading} ")), area);
    let mut rows = rows(app, sight);
    let more = rows.len().saturating_sub(height);
    if more > 0 {
        rows.truncate(height.saturating_sub(1));
        rows.push((
            " ",
            Role::Dim,
            format!("and {} more", more + 1),
            String::new(),
        ));
    }
    let lines = rows.into_iter().map(|(sign, role, left, right)| {
        let room = width.saturating_sub(3 + width_of(sign));
        Line::from(vec![
            Span::raw(" "),
            styled(format!("{sign} "), app.theme.style(role)),
            Span::raw(spread(&line(&left), &right, room)),
        ])
    });
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), inside);
}

/// What stands in the way, in a word or two for the header; none where nothing does.
pub(super) fn trouble(app: &App) -> Option<String> {
    let sight = app.data.machines.as_ref()?;
    let since = sight
        .since()
        .map_or(String::new(), |at| format!(" {}", age(app, at)));
    let standing = sight.standing();
    let is_frozen = standing.is_some_and(|it| it.frozen().next().is_some());
    let is_behind = standing.is_some_and(|it| it.behind().any(|of| of.machine == it.machine));
    match (sight.link(), is_frozen, is_behind) {
        (FleetLink::Unknown, ..) => Some(format!("◌ fleet unknown{since}")),
        (FleetLink::Alone, ..) => Some(format!("✗ alone{since}")),
        (FleetLink::Connected, true, _) => Some("✗ frozen".to_owned()),
        (FleetLink::Connected, false, true) => Some("▲ behind".to_owned()),
        (FleetLink::Connected, false, false) => None,
    }
}

fn heading(app: &App, sight: &FleetSight) -> String {
    match (sight.link(), sight.standing()) {
        (FleetLink::Connected, Some(standing)) => {
            let (following, all) = (standing.following(), standing.machines.len());
            format!("Machines {all}, {following} follow")
        }
        (link, _) => {
            let since = sight
                .since()
                .map_or(String::new(), |at| format!(" {}", age(app, at)));
            format!("Machines: {link}{since}")
        }
    }
}

/// A row: its sign, what that says, the text at the left and at the right.
type Row = (&'static str, Role, String, String);

fn rows(app: &App, sight: &FleetSight) -> Vec<Row> {
    let Some(standing) = sight.standing() else {
        let what = "no daemon follows here: 'flagpost up'".to_owned();
        return vec![("◌", Role::NeedsYou, what, String::new())];
    };
    let alone = standing.server.fault.iter();
    let alone = alone.map(|why| ("✗", Role::Failed, why.clone(), String::new()));
    let frozen = standing.frozen().map(|(repository, why)| {
        let what = format!("{} is frozen: {why}", repository.name);
        ("✗", Role::Failed, what, String::new())
    });
    let lacking = standing.lacking();
    let lacking = lacking.map(|it| ("▲", Role::NeedsYou, it.to_string(), String::new()));
    let behind: Vec<_> = standing.behind().map(|it| &it.machine).collect();
    let machines = standing.machines.iter();
    let machines = machines.map(|it| machine(app, standing, it, behind.contains(&&it.machine)));
    alone.chain(frozen).chain(lacking).chain(machines).collect()
}

fn machine(app: &App, standing: &FleetStanding, it: &FleetMachine, is_behind: bool) -> Row {
    let here = match it.machine == standing.machine {
        true => " (here)",
        false => "",
    };
    let left = format!("{}{here}", it.host);
    let since = it.behind_since.map(|at| age(app, at)).unwrap_or_default();
    let lag = it.lag.unwrap_or_default();
    match (standing.link(), it.since, is_behind) {
        (FleetLink::Connected, None, _) => ("◌", Role::Dim, left, "silent".to_owned()),
        (FleetLink::Connected, _, true) => {
            ("▲", Role::NeedsYou, left, format!("{lag} behind {since}"))
        }
        (FleetLink::Connected, _, false) => ("●", Role::Done, left, format!("{lag} behind")),
        (FleetLink::Alone | FleetLink::Unknown, ..) => ("◌", Role::Dim, left, "?".to_owned()),
    }
}
