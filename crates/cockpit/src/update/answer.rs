//! What is typed at the bottom of the screen, and what each answer asks for.
//!
//! Owns that a decision is confirmed by `y` alone, and that nothing pasted confirms anything.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use flagpost_core::operations::Operation;
use flagpost_model::{TaskId, decision::Decision};

use super::{
    command::{carry, scroll},
    decide, go, review,
};
use crate::{
    act::{Act, Request},
    app::{App, Page},
    keys::{Context, KeyCommand, KeyName},
    palette::{self, Chosen},
    prompt::{Ask, Assignment, Prompt},
    rows, view,
};

/// Takes a key for what is asked, or for the help page.
pub(super) fn key(app: &mut App, key: &KeyEvent, at: Duration) -> Vec<Act> {
    let Some(mut prompt) = app.prompt.take() else {
        help_key(app, key);
        return Vec::new();
    };
    let name = KeyName::of(key);
    let command = name.and_then(|it| app.keymap.command(&it, prompt.context()));
    if command == Some(KeyCommand::Cancel) {
        return cancel(app, prompt);
    }
    match prompt.ask {
        // What nobody can have read yet is confirmed by no key.
        Ask::Confirm { .. } if !prompt.is_drawn => {
            app.prompt = Some(prompt);
            if !view::shows_question(app) {
                decide::withdraw_question(app, at);
            }
            return Vec::new();
        }
        Ask::Confirm { requests, .. } => {
            drop_difference(app);
            return match command {
                Some(KeyCommand::Yes) => carry(app, requests),
                _ => {
                    app.toast(at, "nothing was done");
                    Vec::new()
                }
            };
        }
        Ask::MoveTo(tasks) => return move_to(app, tasks, key.code, at),
        Ask::Palette(row) => {
            if let Some(moved) = moved_row(command, row) {
                let last = palette::choices(prompt.line.text()).len().saturating_sub(1);
                prompt.ask = Ask::Palette(moved.min(last));
                app.prompt = Some(prompt);
                return Vec::new();
            }
        }
        _ => {}
    }
    match command {
        Some(KeyCommand::Accept) => return enter(app, prompt, false, at),
        Some(KeyCommand::Complete) if is_palette(&prompt) => return enter(app, prompt, true, at),
        _ => {}
    }
    prompt.line.key(key);
    if let Ask::Palette(row) = &mut prompt.ask {
        *row = 0;
    }
    follow_filter(app, &prompt);
    app.prompt = Some(prompt);
    Vec::new()
}

/// Puts pasted text into the line that is being typed; nowhere else does it mean anything.
pub(super) fn paste(app: &mut App, text: &str) {
    let Some(mut prompt) = app.prompt.take() else {
        return;
    };
    if prompt.context() == Context::Line {
        prompt.line.paste(text);
        follow_filter(app, &prompt);
    }
    app.prompt = Some(prompt);
}

fn is_palette(prompt: &Prompt) -> bool {
    matches!(prompt.ask, Ask::Palette(_))
}

/// Narrows the help, scrolls it, or closes it.
fn help_key(app: &mut App, key: &KeyEvent) {
    let is_ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
    let page = isize::try_from(view::page_rows(app)).unwrap_or(1);
    match key.code {
        KeyCode::Down => drop(scroll(app, 1)),
        KeyCode::Up => drop(scroll(app, -1)),
        KeyCode::PageDown => drop(scroll(app, page)),
        KeyCode::PageUp => drop(scroll(app, -page)),
        KeyCode::Esc | KeyCode::Enter => drop(app.pages.pop()),
        KeyCode::Char('c') if is_ctrl => drop(app.pages.pop()),
        _ => {
            if let Some(Page::Help { line, top }) = app.pages.last_mut() {
                line.key(key);
                *top = 0;
            }
        }
    }
}

fn moved_row(command: Option<KeyCommand>, row: usize) -> Option<usize> {
    match command {
        Some(KeyCommand::NextChoice) => Some(row + 1),
        Some(KeyCommand::PreviousChoice) => Some(row.saturating_sub(1)),
        _ => None,
    }
}

/// Shows at once what a filter leaves.
fn follow_filter(app: &mut App, prompt: &Prompt) {
    if matches!(prompt.ask, Ask::Filter(_)) {
        set_filter(app, prompt.line.text());
    }
}

fn set_filter(app: &mut App, filter: &str) {
    let height = view::page_rows(app);
    match app.pages.last_mut() {
        Some(Page::Log(log)) => log.filter_by(filter, height),
        _ => {
            filter.clone_into(&mut app.list_mut().filter);
            rows::refresh(app, app.tab);
        }
    }
}

fn cancel(app: &mut App, prompt: Prompt) -> Vec<Act> {
    match prompt.ask {
        Ask::Filter(before) => set_filter(app, &before),
        Ask::Confirm { .. } => drop_difference(app),
        _ => {}
    }
    Vec::new()
}

/// The page that a question was about goes with it.
pub(super) fn drop_difference(app: &mut App) {
    if matches!(app.pages.last(), Some(Page::Text { .. })) {
        app.pages.pop();
    }
}

fn enter(app: &mut App, prompt: Prompt, completes: bool, at: Duration) -> Vec<Act> {
    let text = prompt.line.text().trim().to_owned();
    match prompt.ask {
        Ask::Filter(_) => Vec::new(),
        Ask::Palette(row) => choose(app, &text, row, completes, at),
        Ask::Reason(brief) => {
            let reason = Some(text.as_str()).filter(|it| !it.is_empty());
            carry(
                app,
                vec![Request::decision(&brief, Decision::Rejected, reason)],
            )
        }
        Ask::Denial(request) => {
            let reason = Some(text.as_str()).filter(|it| !it.is_empty());
            carry(app, vec![Request::deny(&request, reason)])
        }
        Ask::AnswerTo(task) => {
            if text.is_empty() {
                app.toast(at, "nothing was answered");
                return Vec::new();
            }
            let list = app.data.list.clone();
            let request =
                Request::task(Operation::TaskAnswer, &list, &task, ("answer", Some(&text)));
            carry(app, vec![request])
        }
        Ask::Return(task) => review::return_it(app, &task, &text, at),
        Ask::Remark(path, line) => {
            review::remark(app, (path, line), text);
            Vec::new()
        }
        Ask::Assign(half) => {
            if text.is_empty() {
                app.toast(at, "nothing was assigned");
                return Vec::new();
            }
            let line = match half {
                Assignment::Task(task) => format!("/assign {task} {text}"),
                Assignment::Worker(worker) => {
                    format!("/assign {} {worker}", text.trim_start_matches('#'))
                }
            };
            carry(app, vec![Request::slash(&line, None)])
        }
        Ask::Done(tasks) => {
            let words = Some(text.as_str()).filter(|it| !it.is_empty());
            let list = app.data.list.clone();
            let requests = tasks
                .iter()
                .map(|it| Request::task(Operation::TaskDone, &list, it, ("done", words)));
            carry(app, requests.collect())
        }
        Ask::MoveTo(_) | Ask::Confirm { .. } => Vec::new(),
    }
}

/// Carries out the line of the palette, or completes it.
fn choose(app: &mut App, typed: &str, row: usize, completes: bool, at: Duration) -> Vec<Act> {
    let choices = palette::choices(typed);
    let picked = choices.get(row);
    // What stands there whole needs no choice.
    let is_whole = picked.is_some_and(|it| typed.starts_with(&it.line));
    let line = match picked {
        Some(choice) if completes || !is_whole => {
            let rest = typed.split_once(' ').map(|(_, rest)| rest);
            let rest = rest.filter(|_| !typed.starts_with('/')).unwrap_or_default();
            let line = format!("{} {rest}", choice.line);
            if completes || choice.wants_more && rest.is_empty() {
                app.prompt = Some(Prompt {
                    line: crate::input::LineInput::new(line),
                    ..Prompt::new(Ask::Palette(0))
                });
                return Vec::new();
            }
            line
        }
        _ => typed.to_owned(),
    };
    match palette::chosen(app, &line) {
        Ok(Chosen::Go(tab)) => go(app, tab),
        Ok(Chosen::Carry(request)) => carry(app, vec![request]),
        Ok(Chosen::RatifyAll(briefs)) => {
            decide::ask_to_ratify(app, &briefs, at);
            Vec::new()
        }
        Err(why) => {
            app.complain(at, why);
            Vec::new()
        }
    }
}

/// A letter that names the state.
fn move_to(app: &mut App, tasks: Vec<TaskId>, code: KeyCode, at: Duration) -> Vec<Act> {
    let (operation, verb) = match code {
        KeyCode::Char('d') => {
            app.prompt = Some(Prompt::new(Ask::Done(tasks)));
            return Vec::new();
        }
        KeyCode::Char('f') => (Operation::TaskFail, "fail"),
        KeyCode::Char('s') => (Operation::TaskStuck, "stuck"),
        KeyCode::Char('r') => (Operation::TaskRelease, "release"),
        KeyCode::Char('o') => (Operation::TaskReopen, "reopen"),
        KeyCode::Char('x') => (Operation::TaskCancel, "cancel"),
        _ => {
            app.toast(at, "nothing was moved");
            return Vec::new();
        }
    };
    let list = app.data.list.clone();
    let requests: Vec<Request> = tasks
        .iter()
        .map(|task| Request::task(operation, &list, task, (verb, None)))
        .collect();
    if operation != Operation::TaskCancel {
        return carry(app, requests);
    }
    let tasks = crate::prompt::named(&tasks);
    let question = format!("cancel {tasks}? It is not wanted any more then.");
    app.prompt = Some(Prompt::confirm(question, requests));
    Vec::new()
}
