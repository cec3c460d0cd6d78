//! Looking at the work of tasks, and what a person says of it.
//!
//! Owns when it is said: on the page of that work, about the commit that the page was read with. Landing is asked
//! about before it begins.

use std::time::Duration;

use flagpost_core::{operations::Operation, shell::quoted};
use flagpost_model::TaskId;
use serde_json::json;

use super::command::carry;
use crate::{
    act::{Act, Request},
    app::{App, Page},
    event::Outcome,
    prompt::{Ask, Prompt},
    review::ReviewPage,
    view,
};

/// Opens the page of a task's work.
pub(super) fn open(app: &mut App, at: Duration) -> Vec<Act> {
    match app.selected_task() {
        Some(task) => open_task(app, task),
        None => {
            app.complain(at, "no task is selected whose work could be shown");
            Vec::new()
        }
    }
}

/// The same of this task.
pub(super) fn open_task(app: &mut App, task: TaskId) -> Vec<Act> {
    app.pages.push(Page::Review(ReviewPage::new(task.clone())));
    vec![Act::ReadChange(task, None)]
}

/// Moves the selection of the page in front, which stays in sight.
pub(super) fn step(app: &mut App, by: isize) {
    let height = view::page_rows(app).max(1);
    if let Some(Page::Review(page)) = app.pages.last_mut() {
        let last = page.rows().len().saturating_sub(1);
        page.at = page.at.saturating_add_signed(by).min(last);
        page.top = page
            .top
            .clamp((page.at + 1).saturating_sub(height), page.at);
    }
}

/// Opens or closes the file of the selected row.
pub(super) fn toggle(app: &mut App) -> Vec<Act> {
    let Some(Page::Review(page)) = app.pages.last_mut() else {
        return Vec::new();
    };
    let Some(path) = page.path() else {
        return Vec::new();
    };
    let acts = match page.patches.remove(&path) {
        Some(_) => {
            // The selection goes to the file that was closed.
            let rows = page.rows();
            let at = rows.iter().position(
                |it| matches!(it, crate::review::ReviewRow::File { path: it, .. } if *it == path),
            );
            page.at = at.unwrap_or_default();
            Vec::new()
        }
        None => {
            page.patches.insert(path.clone(), None);
            vec![Act::ReadChange(page.task.clone(), Some(path))]
        }
    };
    step(app, 0);
    acts
}

/// Takes what was answered about a task's work, or one of its files.
pub(super) fn take(app: &mut App, task: &TaskId, path: Option<&str>, answer: Outcome) {
    let page = app.pages.iter_mut().find_map(|page| match page {
        Page::Review(page) if page.task == *task => Some(page),
        _ => None,
    });
    let Some(page) = page else {
        return;
    };
    match path {
        Some(path) => page.take_patch(path, &answer),
        None => {
            page.change = Some(answer);
            // The patches are of what it was before.
            page.patches.clear();
        }
    }
    step(app, 0);
}

fn page(app: &App) -> Option<&ReviewPage> {
    match app.pages.last() {
        Some(Page::Review(page)) => Some(page),
        _ => None,
    }
}

/// Approves the commit that the page shows.
pub(super) fn approve(app: &mut App, at: Duration) -> Vec<Act> {
    let shown = page(app).map(|it| (it.task.clone(), it.commit().map(str::to_owned)));
    let Some((task, Some(commit))) = shown else {
        app.complain(at, "no commit of it waits to land");
        return Vec::new();
    };
    let list = app.data.list.clone();
    let arguments = json!({"list": list, "id": task, "commit": commit});
    let command = format!(
        "flagpost approve {task} --commit {commit:.10} --list {}",
        quoted(&list)
    );
    carry(
        app,
        vec![Request::new(Operation::ReviewApprove, arguments, command)],
    )
}

/// Asks with which words it is returned.
pub(super) fn ask_to_return(app: &mut App) -> Vec<Act> {
    if let Some(task) = page(app).map(|it| it.task.clone()) {
        app.prompt = Some(Prompt::new(Ask::Return(task)));
    }
    Vec::new()
}

/// Returns it with these words and with what is remarked on its lines.
pub(super) fn return_it(app: &mut App, task: &TaskId, words: &str, at: Duration) -> Vec<Act> {
    let page = page(app);
    let lines: Vec<String> = page
        .into_iter()
        .flat_map(|it| it.remarks.iter().map(ToString::to_string))
        .collect();
    let commit = page.and_then(|it| it.commit().map(str::to_owned));
    if words.is_empty() && lines.is_empty() {
        app.toast(at, "nothing was returned: say what is to be different");
        return Vec::new();
    }
    let list = app.data.list.clone();
    let mut command = format!("flagpost return {task}");
    if !words.is_empty() {
        command += &format!(" {}", quoted(words));
    }
    for line in &lines {
        command += &format!(" --line {}", quoted(line));
    }
    let mut arguments = json!({"list": list, "id": task, "text": words, "lines": lines});
    if let Some(commit) = commit {
        command += &format!(" --commit {commit:.10}");
        arguments["commit"] = commit.into();
    }
    command += &format!(" --list {}", quoted(&list));
    carry(
        app,
        vec![Request::new(Operation::ReviewReturn, arguments, command)],
    )
}

/// Asks what there is to say of the selected line.
pub(super) fn ask_to_remark(app: &mut App, at: Duration) -> Vec<Act> {
    match page(app).and_then(ReviewPage::line) {
        Some((path, line)) => app.prompt = Some(Prompt::new(Ask::Remark(path, line))),
        None => app.complain(at, "select a line of an opened file that is not removed"),
    }
    Vec::new()
}

/// Keeps it.
pub(super) fn remark(app: &mut App, place: (String, usize), words: String) {
    if let Some(Page::Review(page)) = app.pages.last_mut() {
        page.remark(place, words);
    }
    step(app, 0);
}

/// Asks whether the work is to land: of the page's task, else all that can.
pub(super) fn land(app: &mut App, at: Duration) -> Vec<Act> {
    let list = app.data.list.clone();
    let tasks: Vec<TaskId> = page(app).map(|it| it.task.clone()).into_iter().collect();
    let question = match tasks.as_slice() {
        [task] => format!("land #{task}?"),
        _ => match landable(app) {
            0 => {
                app.complain(at, "nothing can land now");
                return Vec::new();
            }
            1 => "land 1 branch?".to_owned(),
            n => format!("land {n} branches?"),
        },
    };
    let ids: Vec<&str> = tasks.iter().map(TaskId::as_str).collect();
    let ids = ids.join(" ");
    let command = format!("flagpost land {ids} --yes --list {}", quoted(&list));
    let command = command.replace("  ", " ");
    let arguments = json!({"list": list, "tasks": tasks});
    let request = Request::new(Operation::LandingStart, arguments, command);
    app.prompt = Some(Prompt::confirm(question, vec![request]));
    Vec::new()
}

/// How many branches of the landing page can land.
fn landable(app: &App) -> usize {
    let answer = app.pages.iter().find_map(|page| match page {
        Page::Landing(page) => page.answer.as_ref(),
        _ => None,
    });
    let Some(Outcome::Answer(answer)) = answer else {
        return 0;
    };
    let branches = answer["branches"].as_array().into_iter().flatten();
    branches.filter(|it| it["state"] == "queued").count()
}
