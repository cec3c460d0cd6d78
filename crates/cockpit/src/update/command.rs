//! Commands: what a key asks for on the screen in front.
//!
//! Owns moving about, opening and closing, and what is asked before a change. Nothing here decides on a
//! brief.

use std::time::Duration;

use flagpost_core::operations::Operation;
use flagpost_model::TaskId;
use serde_json::json;

use super::{decide, go, review};
use crate::{
    act::{Act, Request},
    app::{App, Page},
    input::LineInput,
    keys::KeyCommand,
    landing::LandingPage,
    log::LogView,
    prompt::{Ask, Assignment, Prompt},
    rows,
    snapshot::{Lane, WaitingItem},
    tab::Tab,
    view,
};

/// Carries it out.
pub(super) fn carry_out(app: &mut App, command: KeyCommand, at: Duration) -> Vec<Act> {
    match command {
        // These answer what is asked, and nothing is.
        KeyCommand::Yes
        | KeyCommand::Accept
        | KeyCommand::Complete
        | KeyCommand::NextChoice
        | KeyCommand::PreviousChoice
        | KeyCommand::Cancel => {}
        KeyCommand::Ratify => return decide::ratify(app, at),
        KeyCommand::Reject => return decide::reject(app, at),
        KeyCommand::Edit => return decide::edit(app, at),
        KeyCommand::Always => return decide::always(app, at),
        KeyCommand::RatifyAll => return decide::ratify_all(app, at),
        KeyCommand::Review => return review::open(app, at),
        KeyCommand::Approve => return review::approve(app, at),
        KeyCommand::Return => return review::ask_to_return(app),
        KeyCommand::Remark => return review::ask_to_remark(app, at),
        KeyCommand::Land => return review::land(app, at),
        KeyCommand::Answer => return answer(app, at),
        KeyCommand::Claim => return change(app, Operation::TaskClaim, "claim", at),
        KeyCommand::Release => return change(app, Operation::TaskRelease, "release", at),
        KeyCommand::Done => return ask_about_tasks(app, Ask::Done, at),
        KeyCommand::Move => return ask_about_tasks(app, Ask::MoveTo, at),
        KeyCommand::Assign => return assign(app, at),
        KeyCommand::Log | KeyCommand::LogHere => return open_log(app, at),
        KeyCommand::Undo => return vec![undo(app)],
        KeyCommand::Stop => return stop(app, at),
        KeyCommand::Mark => return mark(app),
        KeyCommand::Range => return range(app),
        KeyCommand::Open => return open(app, at),
        KeyCommand::Back => return back(app),
        KeyCommand::Filter => return filter(app),
        KeyCommand::NextHit => return on_log(app, |log, height| log.hit(true, height)),
        KeyCommand::PreviousHit => return on_log(app, |log, height| log.hit(false, height)),
        KeyCommand::Follow => return on_log(app, |log, height| log.follow(!log.follows, height)),
        KeyCommand::Wrap => return on_log(app, |log, _| log.wraps = !log.wraps),
        KeyCommand::Times => app.absolute = !app.absolute,
        KeyCommand::Palette => app.prompt = Some(Prompt::new(Ask::Palette(0))),
        KeyCommand::Down => return step(app, 1),
        KeyCommand::Up => return step(app, -1),
        KeyCommand::Left => return column(app, -1),
        KeyCommand::Right => return column(app, 1),
        KeyCommand::First => return step(app, isize::MIN),
        KeyCommand::Last => return step(app, isize::MAX),
        KeyCommand::HalfDown => return step(app, half(app)),
        KeyCommand::HalfUp => return step(app, -half(app)),
        KeyCommand::ScrollDown => return scroll(app, part(app)),
        KeyCommand::ScrollEnd => return scroll(app, isize::MAX),
        KeyCommand::ScrollUp => return scroll(app, -part(app)),
        KeyCommand::Zoom => app.zoom = !app.zoom,
        KeyCommand::Copy | KeyCommand::CopyHere => return copy(app, at),
        KeyCommand::Fleet => return go(app, Tab::Fleet),
        KeyCommand::Board => return go(app, Tab::Board),
        KeyCommand::Tasks => return go(app, Tab::Tasks),
        KeyCommand::Inbox => return go(app, Tab::Inbox),
        KeyCommand::Run => return go(app, Tab::Run),
        KeyCommand::Mail => return go(app, Tab::Mail),
        KeyCommand::EarlierRun => return other_run(app, 1),
        KeyCommand::LaterRun => return other_run(app, -1),
        KeyCommand::NextTab => return turn(app, 1),
        KeyCommand::PreviousTab => return turn(app, Tab::ALL.len() - 1),
        KeyCommand::Landing => return open_landing(app),
        KeyCommand::Journal => app.pages.push(Page::Journal { top: 0 }),
        KeyCommand::Help => app.pages.push(Page::Help {
            line: LineInput::default(),
            top: 0,
        }),
        KeyCommand::Reread => return vec![Act::Reread],
        KeyCommand::Suspend => return vec![Act::Suspend],
        KeyCommand::Quit => app.is_over = true,
    }
    Vec::new()
}

/// Shows what is to land.
fn open_landing(app: &mut App) -> Vec<Act> {
    if !app.pages.iter().any(|it| matches!(it, Page::Landing(_))) {
        app.pages.push(Page::Landing(LandingPage::default()));
    }
    vec![Act::OpenLanding]
}

fn half(app: &App) -> isize {
    isize::try_from(view::page_rows(app) / 2)
        .unwrap_or(1)
        .max(1)
}

/// Most of what the page in front shows, or the main pane.
fn part(app: &App) -> isize {
    let rows = match app.pages.is_empty() {
        true => view::body_rows(app),
        false => view::page_rows(app),
    };
    isize::try_from(rows.saturating_sub(2)).unwrap_or(1).max(1)
}

fn turn(app: &mut App, by: usize) -> Vec<Act> {
    let next = (app.tab as usize + by) % Tab::ALL.len();
    go(app, Tab::ALL[next])
}

/// Moves the selection, or scrolls the page in front.
fn step(app: &mut App, by: isize) -> Vec<Act> {
    match app.pages.last() {
        None => {}
        Some(Page::Review(_)) => {
            review::step(app, by);
            return Vec::new();
        }
        Some(Page::Landing(_)) => return step_landing(app, by),
        Some(_) => return scroll(app, by),
    }
    let tab = app.tab;
    let list = app.list();
    let last = list.rows.len().saturating_sub(1);
    let at = list.at.saturating_add_signed(by).min(last);
    let key = list.rows.get(at).map(|row| app.key_of(tab, *row));
    let list = app.list_mut();
    let is_other = list.key != key;
    (list.at, list.key) = (at, key);
    if is_other {
        app.scroll = 0;
        // A person moved it, and sees where to.
        app.moved = None;
    }
    Vec::new()
}

/// Selects another branch of what is to land.
fn step_landing(app: &mut App, by: isize) -> Vec<Act> {
    let height = view::page_rows(app).max(1);
    if let Some(Page::Landing(page)) = app.pages.last_mut() {
        let last = page.count().saturating_sub(1);
        page.at = page.at.saturating_add_signed(by).min(last);
    }
    let row = match app.pages.last() {
        Some(Page::Landing(page)) => view::landing_row(app, page),
        _ => 0,
    };
    if let Some(Page::Landing(page)) = app.pages.last_mut() {
        page.top = page.top.clamp((row + 1).saturating_sub(height), row);
    }
    Vec::new()
}

/// Scrolls the page in front, else the main pane.
pub(super) fn scroll(app: &mut App, by: isize) -> Vec<Act> {
    let height = view::page_rows(app);
    let lines = view::page_lines(app);
    let journal = app.journal.len();
    let to = |top: usize, lines: usize| {
        let last = lines.saturating_sub(height);
        top.saturating_add_signed(by).min(last)
    };
    match app.pages.last_mut() {
        None => {
            let rows = view::body_rows(app);
            let last = app.body.len().saturating_sub(rows);
            app.scroll = app.scroll.saturating_add_signed(by).min(last);
        }
        Some(Page::Log(log)) => {
            if log.scroll(by, height) {
                return vec![Act::EarlierLog];
            }
        }
        Some(Page::Task { top, .. } | Page::Text { top, .. } | Page::Help { top, .. }) => {
            *top = to(*top, lines);
        }
        Some(Page::Landing(page)) => page.top = to(page.top, lines),
        Some(Page::Review(_)) => review::step(app, by),
        Some(Page::Journal { top }) => *top = to(*top, journal),
    }
    Vec::new()
}

/// The column of the board beside this one that is there.
fn column(app: &mut App, by: isize) -> Vec<Act> {
    let at = (app.lane as usize).saturating_add_signed(by);
    if let Some(lane) = Lane::ALL.get(at) {
        app.lane = *lane;
        let list = app.list_mut();
        (list.key, list.at) = (None, 0);
        rows::refresh(app, Tab::Board);
    }
    Vec::new()
}

/// Looks at the session that began before the one on the screen, or after it.
fn other_run(app: &mut App, by: isize) -> Vec<Act> {
    let titles = &app.data.sessions;
    let shown = app.data.run.as_ref().map(|it| &it.title);
    let at = titles.iter().position(|it| Some(it) == shown);
    let other = at.and_then(|at| titles.get(at.checked_add_signed(by)?));
    let Some(other) = other.cloned() else {
        return Vec::new();
    };
    // The newest one gives way to the next that begins.
    let is_newest = titles.first() == Some(&other);
    app.session = (!is_newest).then_some(other);
    app.scroll = 0;
    vec![Act::Interest(app.interest())]
}

fn mark(app: &mut App) -> Vec<Act> {
    let Some(key) = app.list().key.clone() else {
        return Vec::new();
    };
    let list = app.list_mut();
    match list.marks.iter().position(|it| *it == key) {
        Some(at) => drop(list.marks.remove(at)),
        None => list.marks.push(key),
    }
    step(app, 1)
}

fn range(app: &mut App) -> Vec<Act> {
    let tab = app.tab;
    let list = app.list();
    let keys: Vec<String> = list.rows.iter().map(|row| app.key_of(tab, *row)).collect();
    let last = list.marks.last();
    let from = last.and_then(|it| keys.iter().position(|key| key == it));
    let (from, to) = (from.unwrap_or(list.at), list.at);
    let (from, to) = (from.min(to), from.max(to));
    let list = app.list_mut();
    for key in keys.into_iter().skip(from).take(to + 1 - from) {
        if !list.marks.contains(&key) {
            list.marks.push(key);
        }
    }
    Vec::new()
}

fn open(app: &mut App, at: Duration) -> Vec<Act> {
    match app.pages.last() {
        Some(Page::Landing(_)) => return review::open(app, at),
        Some(Page::Review(_)) => return review::toggle(app),
        Some(_) | None => {}
    }
    if let Some(WaitingItem::Other(need)) = app.waiting().filter(|_| app.tab == Tab::Inbox)
        && need.is_review
        && let Some(task) = need.task.clone()
    {
        return review::open_task(app, task);
    }
    match app.tab {
        Tab::Run => open_log(app, at),
        Tab::Inbox | Tab::Mail if app.selected_task().is_none() => {
            app.zoom = !app.zoom;
            Vec::new()
        }
        Tab::Fleet | Tab::Board | Tab::Tasks | Tab::Inbox | Tab::Mail => {
            match app.selected_task() {
                Some(task) => open_task(app, task),
                None => Vec::new(),
            }
        }
    }
}

/// Opens a task's page.
pub(super) fn open_task(app: &mut App, id: TaskId) -> Vec<Act> {
    app.pages.push(Page::Task {
        id: id.clone(),
        text: None,
        top: 0,
    });
    vec![Act::ReadTask(id)]
}

fn open_log(app: &mut App, at: Duration) -> Vec<Act> {
    let Some(task) = app.selected_task() else {
        app.complain(at, "no task is selected whose agent could print something");
        return Vec::new();
    };
    if !matches!(app.pages.last(), Some(Page::Log(log)) if log.task == task) {
        app.pages.push(Page::Log(LogView::new(task.clone())));
    }
    let run = app.data.run.as_ref().filter(|_| app.tab == Tab::Run);
    let session = run.filter(|it| !it.is_current()).map(|it| it.title.clone());
    vec![Act::OpenLog(task, session)]
}

fn back(app: &mut App) -> Vec<Act> {
    let mut acts = Vec::new();
    match app.pages.pop() {
        Some(Page::Log(mut log)) if !log.filter.is_empty() => {
            let height = view::page_rows(app);
            log.filter_by("", height);
            app.pages.push(Page::Log(log));
        }
        Some(Page::Log(_)) => acts.push(Act::CloseLog),
        Some(_) => {}
        None if !app.list().filter.is_empty() => {
            app.list_mut().filter.clear();
            rows::refresh(app, app.tab);
        }
        None if !app.list().marks.is_empty() => app.list_mut().marks.clear(),
        None => app.zoom = false,
    }
    acts
}

fn filter(app: &mut App) -> Vec<Act> {
    let before = match app.pages.last() {
        None => app.list().filter.clone(),
        Some(Page::Log(log)) => log.filter.clone(),
        Some(_) => return Vec::new(),
    };
    app.prompt = Some(Prompt {
        line: LineInput::new(before.clone()),
        ..Prompt::new(Ask::Filter(before))
    });
    Vec::new()
}

fn on_log(app: &mut App, change: impl FnOnce(&mut LogView, usize)) -> Vec<Act> {
    let height = view::page_rows(app);
    if let Some(Page::Log(log)) = app.pages.last_mut() {
        change(log, height);
    }
    Vec::new()
}

fn change(app: &mut App, operation: Operation, verb: &str, at: Duration) -> Vec<Act> {
    let tasks = app.chosen_tasks();
    if tasks.is_empty() {
        app.complain(at, format!("no task is selected to {verb}"));
    }
    let list = app.data.list.clone();
    let requests = tasks
        .iter()
        .map(|task| Request::task(operation, &list, task, (verb, None)));
    carry(app, requests.collect())
}

/// Has these carried out; the marks have done their work.
pub(super) fn carry(app: &mut App, requests: Vec<Request>) -> Vec<Act> {
    app.list_mut().marks.clear();
    app.busy += requests.len();
    requests.into_iter().map(Act::Carry).collect()
}

fn ask_about_tasks(app: &mut App, ask: fn(Vec<TaskId>) -> Ask, at: Duration) -> Vec<Act> {
    let tasks = app.chosen_tasks();
    match tasks.is_empty() {
        true => app.complain(at, "no task is selected"),
        false => app.prompt = Some(Prompt::new(ask(tasks))),
    }
    Vec::new()
}

fn answer(app: &mut App, at: Duration) -> Vec<Act> {
    let asked = app.data.waiting.iter().filter_map(|it| match it {
        WaitingItem::Question(it) => Some(&it.task),
        WaitingItem::Permission(_) | WaitingItem::Brief(_) | WaitingItem::Other(_) => None,
    });
    let task = app.selected_task();
    match task.filter(|task| asked.clone().any(|it| it == task)) {
        Some(task) => app.prompt = Some(Prompt::new(Ask::AnswerTo(task))),
        None => app.complain(
            at,
            "nothing is asked here; the inbox shows questions with ▲",
        ),
    }
    Vec::new()
}

fn assign(app: &mut App, at: Duration) -> Vec<Act> {
    let half = match (app.tab, app.pages.is_empty()) {
        (Tab::Fleet, true) => app.list().key.clone().map(Assignment::Worker),
        _ => app.selected_task().map(Assignment::Task),
    };
    match half {
        Some(half) => app.prompt = Some(Prompt::new(Ask::Assign(half))),
        None => app.complain(at, "nothing is selected to assign"),
    }
    Vec::new()
}

fn undo(app: &mut App) -> Act {
    app.busy += 1;
    let list = &app.data.list;
    Act::Carry(Request::new(
        Operation::TaskUndo,
        json!({"list": list}),
        format!("flagpost undo --list {list}"),
    ))
}

fn stop(app: &mut App, at: Duration) -> Vec<Act> {
    let runs = app
        .data
        .run
        .as_ref()
        .filter(|it| it.stage.as_str() == "live");
    let Some(run) = runs else {
        app.complain(at, "no run is going on here");
        return Vec::new();
    };
    let active = run.active.len();
    let request = Request::new(Operation::RunStop, json!({}), "flagpost stop");
    let question = format!(
        "stop the run {}? The {active} at work may finish.",
        run.title
    );
    app.prompt = Some(Prompt::confirm(question, vec![request]));
    Vec::new()
}

fn copy(app: &mut App, at: Duration) -> Vec<Act> {
    let text = match app.pages.last() {
        Some(Page::Journal { .. }) => Some(app.journal.join("\n")),
        Some(Page::Task { id, text, .. }) => Some(text.clone().unwrap_or_else(|| id.to_string())),
        Some(Page::Text { lines, .. }) => {
            let lines: Vec<&str> = lines.iter().map(|(_, line)| line.as_str()).collect();
            Some(lines.join("\n"))
        }
        Some(Page::Landing(page)) => {
            let lines = view::landing_lines(app, page).into_iter();
            let lines = lines.map(|it| " ".repeat(it.column) + &it.words);
            Some(lines.collect::<Vec<_>>().join("\n"))
        }
        Some(Page::Log(log)) => {
            let shown = log.rows.iter().filter_map(|row| log.lines.get(*row));
            Some(shown.map(String::as_str).collect::<Vec<_>>().join("\n"))
        }
        Some(Page::Review(page)) => Some(format!("flagpost diff {}", page.task)),
        Some(Page::Help { .. }) => None,
        None if app.tab == Tab::Inbox => app.waiting().map(|it| it.text().to_owned()),
        None => app.list().key.clone(),
    };
    match text {
        Some(text) => {
            app.toast(at, format!("copied: {}", crate::text::cut(&text, 40)));
            vec![Act::Copy(text)]
        }
        None => Vec::new(),
    }
}
