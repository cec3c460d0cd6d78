//! The list of each screen but the board: a row an item.

use flagpost_core::messages::MessageView;
use flagpost_model::{session::Outcome, task::Outline, worker};
use ratatui::{
    Frame,
    layout::Rect,
    text::{Line, Span},
    widgets::Paragraph,
};

use super::{age, frame_of, inner, spread, styled, width_of};
use crate::{
    app::App,
    rows,
    snapshot::{Lane, WaitingItem},
    tab::Tab,
    text::{cut, line},
    theme::Role,
};

/// The first row on the screen, so that the selected one is in sight.
pub(super) fn top(app: &App, height: usize) -> usize {
    let list = app.list();
    let last = list.rows.len().saturating_sub(height);
    list.at.saturating_sub(height / 2).min(last)
}

/// Draws it.
pub(super) fn draw(app: &App, frame: &mut Frame<'_>, area: Rect) {
    if area.width < 3 || area.height < 3 {
        return;
    }
    let inside = inner(area);
    let (width, height) = (usize::from(inside.width), usize::from(inside.height));
    let list = app.list();
    let heading = heading(app, name(app.tab), area.width.into());
    frame.render_widget(frame_of(app, format!(" {heading} ")), area);
    if list.rows.is_empty() {
        let words = empty(app);
        frame.render_widget(
            Paragraph::new(words).style(app.theme.style(Role::Dim)),
            inside,
        );
        return;
    }
    let top = top(app, height);
    let shown = list.rows.iter().enumerate().skip(top).take(height);
    let lines = shown.map(|(at, row)| {
        let (sign, role, left, right) = cells(app, *row);
        let key = app.key_of(app.tab, *row);
        let sign = if list.marks.contains(&key) { "+" } else { sign };
        let bar = if at == list.at { "▌" } else { " " };
        let room = width.saturating_sub(2 + width_of(sign));
        let text = spread(&line(&left), &right, room);
        let asks = matches!(
            (app.tab, app.data.waiting.get(*row)),
            (
                Tab::Inbox,
                Some(WaitingItem::Permission(_) | WaitingItem::Question(_) | WaitingItem::Other(_))
            )
        );
        let text_style = match (at == list.at, asks) {
            (true, _) => app.theme.style(Role::Selected),
            (false, true) => app.theme.style(Role::NeedsYou),
            (false, false) => ratatui::style::Style::new(),
        };
        Line::from(vec![
            Span::raw(bar),
            styled(format!("{sign} "), app.theme.style(role)),
            styled(text, text_style),
        ])
    });
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), inside);
}

/// What the list of a screen is called.
fn name(tab: Tab) -> &'static str {
    match tab {
        Tab::Fleet => "Workers",
        Tab::Board => "Board",
        Tab::Tasks => "Tasks",
        Tab::Inbox => "Needs you",
        Tab::Run => "Tasks of the run",
        Tab::Mail => "Conversations",
    }
}

/// The heading of a list: its name, how many rows, its filter.
pub(super) fn heading(app: &App, name: &str, width: usize) -> String {
    let list = app.list();
    let filter = match (list.filter.is_empty(), &list.fault) {
        (true, _) => String::new(),
        (false, None) => format!(" /{}", list.filter),
        (false, Some(why)) => format!(" /{}: {why}", list.filter),
    };
    let marks = match list.marks.len() {
        0 => String::new(),
        n => format!(", {n} marked"),
    };
    let heading = format!("{name} {}{marks}{filter}", list.rows.len());
    cut(&heading, width.saturating_sub(6))
}

fn empty(app: &App) -> &'static str {
    if !app.is_begun {
        return " reading the files…";
    }
    if !app.list().filter.is_empty() {
        return " nothing fits the filter; esc ends it";
    }
    match app.tab {
        Tab::Fleet => " no workers yet: 'flagpost worker add W1'",
        Tab::Board | Tab::Tasks => " no tasks yet: 'flagpost add …', or : task.add",
        Tab::Inbox => " nothing needs you",
        Tab::Run => " no run: 'flagpost run --agent …'",
        Tab::Mail => " no messages yet",
    }
}

/// A row: its sign, what that says, the text at the left and at the right.
fn cells(app: &App, row: usize) -> (&'static str, Role, String, String) {
    match app.tab {
        Tab::Fleet => worker_cells(app, row),
        Tab::Board | Tab::Tasks => match app.data.tasks.get(row) {
            Some(task) => task_cells(app, row, task),
            None => gone(),
        },
        Tab::Inbox => match app.data.waiting.get(row) {
            Some(item) => waiting_cells(app, item),
            None => gone(),
        },
        Tab::Run => run_cells(app, row),
        Tab::Mail => mail_cells(app, row),
    }
}

fn gone() -> (&'static str, Role, String, String) {
    (" ", Role::Dim, String::new(), String::new())
}

fn worker_cells(app: &App, row: usize) -> (&'static str, Role, String, String) {
    let Some(view) = app.data.workers.get(row) else {
        return gone();
    };
    let is_live = view.liveness != worker::Liveness::Silent;
    let (sign, role) = match is_live {
        true => ("●", Role::Done),
        false => ("◌", Role::NeedsYou),
    };
    let id = &view.worker.id;
    let held = app.data.held_by(id.as_str()).next();
    let work = match held {
        Some(task) => {
            let lane = Lane::of(&task.state).unwrap_or(Lane::Claimed);
            format!("{} #{} {}", app.theme.lane(lane).0, task.id, task.subject)
        }
        None => "─ idle".to_owned(),
    };
    let mut right = Vec::new();
    for (count, words) in [
        (view.pending, "to dec."),
        (view.withheld, "withheld"),
        (view.reports, "reports"),
    ] {
        if count > 0 {
            right.push(format!("{count} {words}"));
        }
    }
    if !is_live {
        right.push(match view.worker.last_seen {
            Some(at) => format!("silent {}", age(app, at)),
            None => "never seen".to_owned(),
        });
    } else if let Some(claim) = held.and_then(|it| it.state.claim()) {
        right.push(age(app, claim.at));
    }
    (sign, role, format!("{id}  {work}"), right.join(" "))
}

/// A task in a row: also on its own screen's list.
pub(super) fn task_cells(
    app: &App,
    place: usize,
    task: &Outline,
) -> (&'static str, Role, String, String) {
    let lane = app.data.lane_of(place).unwrap_or(Lane::Done);
    let (sign, role) = match task.state {
        flagpost_model::task::State::Failed => ("✗", Role::Failed),
        flagpost_model::task::State::Cancelled => ("─", Role::Dim),
        _ => app.theme.lane(lane),
    };
    let urgent = match task.priority {
        Some(it) if it.as_str() == "critical" => "!!! ",
        Some(it) if it.as_str() == "high" => "!! ",
        _ => "",
    };
    let who = task.state.claim().map(|it| it.by.to_string());
    let who = who.or_else(|| task.owner.clone()).unwrap_or_default();
    let since = task.state.claim().map(|it| age(app, it.at));
    let since = since.or_else(|| task.ended_at.map(|it| age(app, it)));
    let right = format!("{} {}", cut(&who, 12), since.unwrap_or_default());
    (
        sign,
        role,
        format!("#{} {urgent}{}", task.id, task.subject),
        right.trim().to_owned(),
    )
}

fn waiting_cells(app: &App, item: &WaitingItem) -> (&'static str, Role, String, String) {
    let right = item.since().map(|it| age(app, it)).unwrap_or_default();
    match item {
        WaitingItem::Brief(brief) => {
            let (sign, role) = match (brief.withheld.is_some(), brief.is_unproposed) {
                (true, _) => ("✗", Role::Failed),
                (false, true) => ("▲", Role::NeedsYou),
                (false, false) => (" ", Role::Ready),
            };
            let left = format!("{} {:04} {}", brief.worker, brief.seq.get(), brief.summary);
            (sign, role, left, right)
        }
        WaitingItem::Permission(it) => ("▲", Role::NeedsYou, it.line.clone(), right),
        WaitingItem::Question(it) => (
            "▲",
            Role::NeedsYou,
            format!("#{} {}", it.task, item.line()),
            right,
        ),
        WaitingItem::Other(it) => ("▲", Role::NeedsYou, it.line.clone(), right),
    }
}

fn run_cells(app: &App, row: usize) -> (&'static str, Role, String, String) {
    let tasks = rows::run_tasks(&app.data);
    let (Some(id), Some(run)) = (tasks.get(row), &app.data.run) else {
        return gone();
    };
    if let Some(active) = run.active.iter().find(|it| it.id == **id) {
        let left = format!("#{id} {}", active.subject);
        // What follows the dash is the same for all but those who only linger.
        let phase = match active.is_lingering() {
            true => "its client still runs",
            false => active.phase.split(" — ").next().unwrap_or_default(),
        };
        return ("◐", Role::Running, left, cut(phase, 24));
    }
    let ended = run.ended.iter().rev().find(|it| it.id == **id);
    let Some(ended) = ended else {
        return gone();
    };
    let (sign, role, word) = ending(ended.outcome);
    let took = ended
        .duration
        .map(|it| format!(" {it:#.0}"))
        .unwrap_or_default();
    let right = format!("{word} {}/{}{took}", ended.attempt, ended.of);
    (sign, role, format!("#{id} {}", ended.subject), right)
}

/// How an attempt ended: sign, what that says, and its word on every face.
pub(super) fn ending(outcome: Outcome) -> (&'static str, Role, &'static str) {
    match outcome {
        Outcome::Pass => ("✓", Role::Done, "passed"),
        Outcome::Partial => ("▲", Role::NeedsYou, "partial"),
        Outcome::Fail => ("✗", Role::Failed, "failed"),
    }
}

fn mail_cells(app: &App, row: usize) -> (&'static str, Role, String, String) {
    let Some(thread) = app.threads.get(row) else {
        return gone();
    };
    let last = thread.messages.last().and_then(|it| app.data.mail.get(*it));
    let open = thread
        .messages
        .iter()
        .filter_map(|it| app.data.mail.get(*it));
    let open = open.filter(|it| is_open(it)).count();
    let (sign, role) = match open {
        0 => ("✓", Role::Dim),
        _ => ("●", Role::Claimed),
    };
    let words = last.map(|it| {
        format!(
            "{} {}→{}",
            it.message.title(),
            it.message.from,
            it.message.to
        )
    });
    let age = last.map(|it| age(app, it.message.at)).unwrap_or_default();
    (
        sign,
        role,
        format!("{} {}", cut(&thread.name, 16), words.unwrap_or_default()),
        age,
    )
}

/// Whether a message has not come full circle.
fn is_open(it: &MessageView) -> bool {
    !matches!(it.state.as_str(), "acked" | "withdrawn")
}
