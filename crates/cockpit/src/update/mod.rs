//! What each key and event does to the state.
//!
//! Owns the one way in: [`update`] takes an input and answers with what the world is asked for. It does no
//! I/O and knows no clock but the moment it is told. Decisions on briefs are in `decide`, what is typed
//! in `answer`.

mod answer;
mod command;
mod decide;
mod mouse;
mod news;
mod review;
#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use crossterm::event::KeyEventKind;
use flagpost_model::TaskId;

use crate::{
    act::Act,
    app::{App, ItemMark, Page, TOAST, mark_of_item},
    event::{Input, Outcome, TaskText},
    keys::KeyName,
    rows,
    snapshot::Snapshot,
    tab::Tab,
    thread,
};

/// A selection that moved by itself takes no decision for so long.
pub const GUARD: Duration = Duration::from_millis(300);

/// Does what an input asks for. `at` is the time since the cockpit was started.
pub fn update(app: &mut App, input: Input, at: Duration) -> Vec<Act> {
    app.toasts.retain(|it| it.is_error || at < it.at + TOAST);
    let mut acts = match input {
        Input::Key(key) if key.kind != KeyEventKind::Release => {
            app.toasts.retain(|it| !it.is_error);
            match app.prompt.is_some() || matches!(app.pages.last(), Some(Page::Help { .. })) {
                true => answer::key(app, &key, at),
                false => {
                    match KeyName::of(&key).and_then(|it| app.keymap.command(&it, app.context())) {
                        Some(command) => command::carry_out(app, command, at),
                        None => Vec::new(),
                    }
                }
            }
        }
        Input::Key(_) => Vec::new(),
        Input::Paste(text) => {
            answer::paste(app, &text);
            Vec::new()
        }
        Input::Mouse(event) => mouse::take(app, event, at),
        Input::Size(columns, rows) => {
            app.size = (columns, rows);
            Vec::new()
        }
        Input::Data(data) => {
            take_data(app, data, at);
            // Its words may be others now.
            app.is_preview_fresh = false;
            refresh_landing(app)
        }
        Input::Unreadable(why) => {
            if app.stale.as_ref() != Some(&why) {
                app.complain(at, why.as_str());
            }
            app.stale = Some(why);
            Vec::new()
        }
        Input::Source(source) => {
            app.source = source;
            Vec::new()
        }
        Input::News(lines) => {
            news::take(app, &lines, at);
            Vec::new()
        }
        Input::Done(request, outcome) => decide::done(app, &request, outcome, at),
        Input::Edited(brief, made) => decide::edited(app, *brief, made, at),
        Input::Task(id, read) => {
            take_task(app, &id, *read);
            Vec::new()
        }
        Input::Log(task, event) => {
            let height = crate::view::page_rows(app);
            let log = app.pages.iter_mut().find_map(|page| match page {
                Page::Log(log) if log.task == task => Some(log),
                _ => None,
            });
            if let Some(log) = log {
                log.take(event, height);
            }
            Vec::new()
        }
        Input::Landing(answer) => {
            take_landing(app, answer);
            Vec::new()
        }
        Input::Change(task, path, answer) => {
            review::take(app, &task, path.as_deref(), answer);
            Vec::new()
        }
        // Who looks at it is told by the screen.
        Input::Notice(_, text) if app.focus == Some(true) => {
            app.toast(at, text);
            Vec::new()
        }
        Input::Notice(signal, text) => vec![Act::Notify(signal, text)],
        Input::Focus(is_in_front) => {
            app.focus = Some(is_in_front);
            Vec::new()
        }
        Input::Hangup => {
            app.is_over = true;
            Vec::new()
        }
        Input::Tick(now) => {
            app.now = now;
            // What a landing does is in no line of the history.
            match is_landing(app) {
                true => refresh_landing(app),
                false => Vec::new(),
            }
        }
    };
    app.refresh_body();
    let rows = crate::view::body_rows(app);
    app.scroll = app.scroll.min(app.body.len().saturating_sub(rows));
    acts.extend(preview(app));
    acts
}

/// Asks for the words of the task that is selected, where they stand beside the list.
fn preview(app: &mut App) -> Option<Act> {
    let is_beside = app.pages.is_empty() && matches!(app.tab, Tab::Board | Tab::Tasks);
    let task = app.selected_task().filter(|_| is_beside)?;
    let is_same = app.preview.0.as_ref() == Some(&task);
    if is_same && app.is_preview_fresh {
        return None;
    }
    app.is_preview_fresh = true;
    if !is_same {
        app.preview = (Some(task.clone()), String::new());
    }
    Some(Act::ReadTask(task))
}

/// Takes what is known now; selections stay on their items.
fn take_data(app: &mut App, data: Arc<Snapshot>, at: Duration) {
    let was = app.waiting().cloned();
    app.stale = None;
    app.now = data.at;
    app.data = data;
    app.threads = thread::threads(&app.data.mail);
    let is_first = !app.is_begun;
    if is_first {
        app.is_begun = true;
        if !app.data.waiting.is_empty() {
            app.tab = Tab::Inbox;
        }
    }
    let moved = rows::refresh(app, Tab::Inbox);
    // Other words under the same name are another thing to decide on, too.
    if !is_first && (moved || was.is_some() && was.as_ref() != app.waiting()) {
        app.moved = Some(at);
    }
    if app.tab != Tab::Inbox {
        rows::refresh(app, app.tab);
    }
    let waiting = &app.data.waiting;
    let is_there = |key: &String| waiting.iter().any(|it| it.key() == *key);
    app.before.retain(|key, _| is_there(key));
    let current: BTreeSet<ItemMark> = waiting.iter().filter_map(mark_of_item).collect();
    app.shown.retain(|mark| current.contains(mark));
}

/// Shows another screen.
pub(crate) fn go(app: &mut App, tab: Tab) -> Vec<Act> {
    let mut acts = Vec::new();
    if app.pages.iter().any(|it| matches!(it, Page::Log(_))) {
        acts.push(Act::CloseLog);
    }
    app.pages.clear();
    let before = app.interest();
    app.tab = tab;
    app.scroll = 0;
    rows::refresh(app, tab);
    if app.interest() != before {
        acts.push(Act::Interest(app.interest()));
    }
    acts
}

fn take_landing(app: &mut App, answer: Outcome) {
    let page = app.pages.iter_mut().find_map(|page| match page {
        Page::Landing(page) => Some(page),
        _ => None,
    });
    if let Some(page) = page {
        page.take(answer);
        // It may be shorter than before.
        command::scroll(app, 0);
    }
}

fn take_task(app: &mut App, id: &TaskId, read: Result<TaskText, String>) {
    if app.preview.0.as_ref() == Some(id) {
        app.preview.1 = read
            .as_ref()
            .map_or_else(String::clone, |it| it.beside.clone());
    }
    let page = app.pages.iter_mut().find_map(|page| match page {
        Page::Task { id: it, text, .. } if it == id => Some(text),
        _ => None,
    });
    if let Some(text) = page {
        *text = Some(read.map_or_else(|why| why, |it| it.page));
    }
}

/// Whether the page of what is to land shows a landing under way.
fn is_landing(app: &App) -> bool {
    app.pages.iter().any(|page| match page {
        Page::Landing(page) => match &page.answer {
            Some(Outcome::Answer(answer)) => answer["doing"].is_object(),
            Some(Outcome::Refused { .. }) | None => false,
        },
        _ => false,
    })
}

/// Something changed: looks again where the page is open.
fn refresh_landing(app: &App) -> Vec<Act> {
    let is_open = app.pages.iter().any(|it| matches!(it, Page::Landing(_)));
    match is_open {
        true => vec![Act::LookAtLanding],
        false => Vec::new(),
    }
}
