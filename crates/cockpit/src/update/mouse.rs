//! The mouse: a click selects, a second one opens, the wheel scrolls. It decides nothing.

use std::time::Duration;

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

use super::{command, go};
use crate::{
    act::Act,
    app::App,
    keys::KeyCommand,
    tab::Tab,
    view::{self, Target},
};

/// How many lines a turn of the wheel is.
const WHEEL: isize = 3;

/// Takes what the mouse did.
pub(super) fn take(app: &mut App, event: MouseEvent, at: Duration) -> Vec<Act> {
    if app.prompt.is_some() {
        return Vec::new();
    }
    let target = view::target(app, event.column, event.row);
    match (event.kind, target) {
        (MouseEventKind::Down(MouseButton::Left), Some(Target::Tab(tab))) => go(app, tab),
        (MouseEventKind::Down(MouseButton::Left), Some(Target::Row(place))) => {
            click(app, place, at)
        }
        (MouseEventKind::ScrollDown, Some(Target::Row(_) | Target::List)) => {
            command::carry_out(app, KeyCommand::Down, at)
        }
        (MouseEventKind::ScrollUp, Some(Target::Row(_) | Target::List)) => {
            command::carry_out(app, KeyCommand::Up, at)
        }
        (MouseEventKind::ScrollDown, Some(Target::Main)) => command::scroll(app, WHEEL),
        (MouseEventKind::ScrollUp, Some(Target::Main)) => command::scroll(app, -WHEEL),
        _ => Vec::new(),
    }
}

/// Selects a row; one that is selected is opened, where that is no decision.
fn click(app: &mut App, place: usize, at: Duration) -> Vec<Act> {
    let tab = app.tab;
    let Some(row) = app.list().rows.get(place).copied() else {
        return Vec::new();
    };
    let key = Some(app.key_of(tab, row));
    if app.list().key == key {
        return match tab {
            Tab::Inbox => Vec::new(),
            _ => command::carry_out(app, KeyCommand::Open, at),
        };
    }
    let list = app.list_mut();
    (list.at, list.key) = (place, key);
    (app.scroll, app.moved) = (0, None);
    Vec::new()
}
