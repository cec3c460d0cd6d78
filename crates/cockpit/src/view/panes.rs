//! The main pane of each screen: what is selected, in full.

use flagpost_model::{reservation::Reservation, task::Outline};
use ratatui::{
    Frame,
    layout::Rect,
    text::{Line, Span},
    widgets::Paragraph,
};
use similar::{ChangeTag, TextDiff};

use super::{age, frame_of, inner, lists, styled};
use crate::{
    app::App,
    snapshot::{RunState, WaitingBrief, WaitingItem},
    tab::Tab,
    text::{cut, line, wrapped},
    theme::Role,
};

/// A longer subject is cut.
const LONGEST_SUBJECT: usize = 4_000;

/// Draws it.
pub(super) fn draw(app: &App, frame: &mut Frame<'_>, area: Rect) {
    if area.width < 3 || area.height < 3 {
        return;
    }
    let inside = inner(area);
    let width = usize::from(inside.width);
    let (heading, lines) = match app.tab {
        Tab::Fleet => worker(app),
        Tab::Board | Tab::Tasks => task(app, width),
        Tab::Inbox => return inbox(app, frame, area),
        Tab::Run => run(app, width),
        Tab::Mail => thread(app, width),
    };
    let heading = cut(
        &format!(" {heading} "),
        usize::from(area.width).saturating_sub(4),
    );
    frame.render_widget(frame_of(app, heading), area);
    let lines: Vec<Line<'_>> = lines.into_iter().skip(app.scroll).collect();
    frame.render_widget(Paragraph::new(lines), inside);
}

fn labelled(app: &App, label: &str, text: &str) -> Line<'static> {
    Line::from(vec![
        styled(format!("{label:<8}"), app.theme.style(Role::Title)),
        Span::raw(line(text).into_owned()),
    ])
}

fn worker(app: &App) -> (String, Vec<Line<'static>>) {
    let list = app.list();
    let view = list
        .rows
        .get(list.at)
        .and_then(|it| app.data.workers.get(*it));
    let Some(view) = view else {
        return ("No worker".to_owned(), Vec::new());
    };
    let id = view.worker.id.as_str();
    let mut lines = Vec::new();
    let now = app
        .data
        .held_by(id)
        .map(|task| format!("#{} {}", task.id, task.subject));
    let now: Vec<String> = now.collect();
    lines.push(labelled(app, "NOW", now.first().map_or("idle", |it| it)));
    for more in now.iter().skip(1) {
        lines.push(labelled(app, "", more));
    }
    let next = match &view.next {
        None => "nothing".to_owned(),
        Some(it) => {
            let ticket = it.target_ticket.as_ref();
            let ticket = ticket.map(|it| format!("#{it} ")).unwrap_or_default();
            let more = match view.unread {
                0 | 1 => String::new(),
                n => format!(" (+{})", n - 1),
            };
            let (seq, summary) = (it.seq.get(), &it.summary);
            format!("{id}/{seq} {ticket}{summary}{more}")
        }
    };
    lines.push(labelled(app, "NEXT", &next));
    let of =
        |item: &&WaitingItem| matches!(item, WaitingItem::Brief(it) if it.worker.as_str() == id);
    let queued = app.data.waiting.iter().filter(of);
    let queued: Vec<String> = queued
        .map(|it| format!("{} {}", it.key(), it.line()))
        .collect();
    lines.push(labelled(
        app,
        "QUEUED",
        queued.first().map_or("nothing", |it| it),
    ));
    for more in queued.iter().skip(1) {
        lines.push(labelled(app, "", more));
    }
    lines.push(Line::default());
    if let Some(agent) = &view.worker.agent {
        lines.push(labelled(app, "agent", agent));
    }
    if let Some(tmux) = &view.worker.tmux {
        lines.push(labelled(app, "tmux", tmux));
    }
    if let Some(worktree) = &view.worker.worktree {
        lines.push(labelled(app, "dir", worktree));
    }
    let holds = |it: &&Reservation| it.wanted.holder.as_str() == id;
    for (n, it) in app.data.reserved.iter().filter(holds).enumerate() {
        let label = if n == 0 { "files" } else { "" };
        lines.push(labelled(app, label, it.wanted.path.as_str()));
    }
    let seen = match view.worker.last_seen {
        Some(at) => format!("{} ago, {}", age(app, at), view.liveness),
        None => format!("never, {}", view.liveness),
    };
    lines.push(labelled(app, "seen", &seen));
    if view.reports > 0 {
        let reports = format!("{} unread (:report.list)", view.reports);
        lines.push(labelled(app, "reports", &reports));
    }
    (id.to_owned(), lines)
}

fn task(app: &App, width: usize) -> (String, Vec<Line<'static>>) {
    let list = app.list();
    let task = list
        .rows
        .get(list.at)
        .and_then(|it| app.data.tasks.get(*it));
    match task {
        Some(task) => (
            format!("#{} {}", task.id, cut(&task.subject, width)),
            outline(app, task, width),
        ),
        None => ("No task".to_owned(), Vec::new()),
    }
}

fn outline(app: &App, task: &Outline, width: usize) -> Vec<Line<'static>> {
    let mut words = vec![task.state.name().to_string()];
    words.extend(task.priority.map(|it| it.to_string()));
    words.extend(task.group.clone());
    words.extend(task.complexity.clone());
    words.extend(task.due.map(|it| format!("due {it}")));
    if let Some(claim) = task.state.claim() {
        let until = match claim.is_live(app.now) {
            true => String::new(),
            false => ", lease over".to_owned(),
        };
        words.push(format!("{} for {}{until}", claim.by, age(app, claim.at)));
    }
    let between = format!(" {} ", "·");
    let mut lines: Vec<Line<'static>> = wrapped(&words.join(&between), width)
        .into_iter()
        .map(Line::from)
        .collect();
    let named = |ids: &[flagpost_model::TaskId]| {
        let ids = ids.iter().map(|id| {
            let state = app.data.task(id).map(|it| it.state.name());
            let state = state.map_or("gone".to_owned(), |it| it.to_string());
            format!("#{id} ({state})")
        });
        ids.collect::<Vec<_>>().join(", ")
    };
    if !task.blocked_by.is_empty() {
        lines.push(labelled(app, "after", &named(&task.blocked_by)));
    }
    if !task.blocks.is_empty() {
        lines.push(labelled(app, "before", &named(&task.blocks)));
    }
    if !task.tags.is_empty() {
        lines.push(labelled(app, "tags", &task.tags.join(", ")));
    }
    lines.push(Line::default());
    let subject = cut(&task.subject, LONGEST_SUBJECT);
    lines.extend(wrapped(&subject, width).into_iter().map(Line::from));
    let (of, words) = &app.preview;
    if of.as_ref() == Some(&task.id) && !words.is_empty() {
        lines.push(Line::default());
        lines.extend(wrapped(words, width).into_iter().map(Line::from));
    }
    lines
}

/// Rows of the inbox's pane that show words: what stands above and below them takes the rest.
pub(super) fn text_rows(app: &App, rows: usize) -> usize {
    rows.saturating_sub(above(app, super::body_width(app)).len() + 1)
}

fn inbox(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let inside = inner(area);
    let Some(item) = app.waiting() else {
        frame.render_widget(frame_of(app, " Nothing needs you "), area);
        return;
    };
    let (heading, bottom) = match item {
        WaitingItem::Permission(it) => (
            format!(
                " {} · request {} · wants to do this ",
                it.workers, it.request
            ),
            format!(" {} ago · {:.8} ", age(app, it.at), it.sha256),
        ),
        WaitingItem::Brief(brief) => (brief_heading(brief), brief_bottom(app, brief)),
        WaitingItem::Question(it) => {
            let by = it.by.as_deref().unwrap_or("somebody");
            (
                format!(" #{} {} · question ", it.task, line(&it.subject)),
                format!(" from {} · A answers ", line(by)),
            )
        }
        WaitingItem::Other(it) => {
            let command = it.settle_with.as_deref().map(|it| format!(" {it} "));
            let name = it
                .task
                .as_ref()
                .map_or(line(&it.name), |id| format!("#{id}").into());
            (format!(" {name} "), command.unwrap_or_default())
        }
    };
    let width = usize::from(area.width).saturating_sub(4);
    let style = match item {
        WaitingItem::Brief(_) => ratatui::style::Style::new(),
        WaitingItem::Permission(_) | WaitingItem::Question(_) | WaitingItem::Other(_) => {
            app.theme.style(Role::NeedsYou)
        }
    };
    let block = frame_of(app, Line::styled(cut(&heading, width), style));
    let bottom = cut(&bottom, width);
    frame.render_widget(block.title_bottom(bottom), area);
    let above = above(app, inside.width.into());
    let rows = usize::from(inside.height).saturating_sub(above.len() + 1);
    let mut lines = above;
    let body = app.body.iter().skip(app.scroll).take(rows);
    lines.extend(body.map(|it| Line::raw(it.as_str())));
    let left = app.body.len().saturating_sub(app.scroll + rows);
    let rule = "─".repeat(2);
    let end = match left {
        0 => {
            let bytes = item.text().len();
            format!("{rule} end of body {} {bytes} bytes {rule}", "·")
        }
        n => format!("{rule} {n} more lines: J scrolls {rule}"),
    };
    lines.push(Line::styled(end, app.theme.style(Role::Dim)));
    frame.render_widget(Paragraph::new(lines), inside);
}

fn brief_heading(brief: &WaitingBrief) -> String {
    let ticket = brief.ticket.as_ref();
    let ticket = ticket.map(|it| format!(" · #{it}")).unwrap_or_default();
    let (worker, seq) = (&brief.worker, brief.seq.get());
    format!(
        " {worker} · brief {seq:04}{} · as delivered ",
        line(&ticket)
    )
}

fn brief_bottom(app: &App, brief: &WaitingBrief) -> String {
    let expires = match brief.expires_at {
        Some(at) => format!(
            " · expires {}",
            at.to_zoned(app.zone.clone()).strftime("%H:%M")
        ),
        None => String::new(),
    };
    let print: String = brief.envelope.chars().take(8).collect();
    let from = line(&brief.from);
    format!(
        " from {from} {} ago{expires} · {print} ",
        age(app, brief.at)
    )
}

/// What stands above the words: a warning, and what changed since somebody tried to decide.
fn above(app: &App, width: usize) -> Vec<Line<'static>> {
    let alarm = app.theme.style(Role::Failed);
    let (item, brief) = match app.waiting() {
        Some(item @ WaitingItem::Brief(brief)) => (item, brief),
        Some(WaitingItem::Permission(it)) if !it.is_as_asked => {
            let words = "an unknown hand changed it since it was asked: it can be denied only";
            let words = wrapped(words, width).into_iter();
            return words.map(|it| Line::styled(it, alarm)).collect();
        }
        _ => return Vec::new(),
    };
    let mut lines = Vec::new();
    if let Some((why, command)) = &brief.withheld {
        let words = format!("withheld: {why}. To settle it: {command}");
        let words = wrapped(&words, width).into_iter();
        lines.extend(words.map(|it| Line::styled(it, alarm)));
    } else if brief.is_unproposed {
        let words = "nobody is on record for proposing it: an unknown hand put it there";
        let words = wrapped(words, width).into_iter();
        lines.extend(words.map(|it| Line::styled(it, app.theme.style(Role::NeedsYou))));
    }
    if let Some(before) = app.before.get(&item.key()).filter(|it| **it != brief.body) {
        lines.push(Line::styled("it changed since you saw it:", alarm));
        let diff = TextDiff::from_lines(before, &brief.body);
        for change in diff.iter_all_changes() {
            let (sign, role) = match change.tag() {
                ChangeTag::Equal => continue,
                ChangeTag::Insert => ("+", Role::Added),
                ChangeTag::Delete => ("-", Role::Removed),
            };
            let text = cut(change.value().trim_end(), width.saturating_sub(2));
            lines.push(Line::styled(
                format!("{sign} {text}"),
                app.theme.style(role),
            ));
        }
        lines.truncate(8);
    }
    if !lines.is_empty() {
        lines.push(Line::default());
    }
    lines
}

fn run(app: &App, width: usize) -> (String, Vec<Line<'static>>) {
    let Some(run) = &app.data.run else {
        return ("No run".to_owned(), Vec::new());
    };
    let wave = run.wave.map(|(n, of)| format!("wave {n} of {of}, "));
    let how = match run.is_current() {
        true => format!(
            "{}{} of max {} at work",
            wave.unwrap_or_default(),
            run.active.len(),
            run.max_parallel
        ),
        false => format!("{} ended", run.ended.len()),
    };
    let heading = format!("{} is {}: {how}", run.title, run.stage);
    let mut lines = waves(app, run, width);
    if let Some(timeline) = &run.timeline {
        lines.push(Line::styled("Timeline", app.theme.style(Role::Title)));
        lines.extend(bars(app, timeline, width));
    }
    lines.extend(sessions(app, run, width));
    lines.push(Line::default());
    lines.push(Line::styled(
        "l shows what the selected task's agent prints",
        app.theme.style(Role::Dim),
    ));
    (heading, lines)
}

/// So many sessions are named, those about the one on the screen.
const SESSIONS: usize = 7;

/// What the sessions are called, the newest first; nothing where there is one.
fn sessions(app: &App, run: &RunState, width: usize) -> Vec<Line<'static>> {
    let titles = &app.data.sessions;
    let at = titles.iter().position(|it| *it == run.title);
    let Some(at) = at.filter(|_| titles.len() > 1) else {
        return Vec::new();
    };
    let heading = format!(
        "Runs {} of {}: ( and ) turn to others",
        at + 1,
        titles.len()
    );
    let first = at
        .saturating_sub(SESSIONS / 2)
        .min(titles.len().saturating_sub(SESSIONS));
    let mut lines = vec![Line::styled(heading, app.theme.style(Role::Title))];
    let shown = titles.iter().enumerate().skip(first).take(SESSIONS);
    lines.extend(shown.map(|(n, title)| {
        let bar = if n == at { "▌" } else { " " };
        Line::from(cut(&format!("{bar} {}", line(title)), width))
    }));
    lines
}

/// The tasks of each wave as signs: what ended first, then what is to come.
fn waves(app: &App, run: &RunState, width: usize) -> Vec<Line<'static>> {
    let mut lines = vec![Line::styled("Waves", app.theme.style(Role::Title))];
    let mut ended = String::new();
    for row in &run.ended {
        let (sign, _, _) = lists::ending(row.outcome);
        ended += sign;
    }
    if !ended.is_empty() {
        lines.push(Line::from(cut(&format!("ended {ended}"), width)));
    }
    for (n, wave) in (1..).zip(&run.waves) {
        let signs = wave.iter().map(|id| {
            let is_active = run.active.iter().any(|it| it.id == *id);
            if is_active { "◐" } else { "○" }
        });
        lines.push(Line::from(cut(
            &format!("{n:>5} {}", signs.collect::<String>()),
            width,
        )));
    }
    lines
}

/// A bar for each attempt, in the time of the run.
fn bars(
    app: &App,
    timeline: &flagpost_model::session::Timeline,
    width: usize,
) -> Vec<Line<'static>> {
    let room = width.saturating_sub(9);
    let all = timeline
        .ended
        .duration_since(timeline.began)
        .as_millis()
        .max(1);
    let column = |at: jiff::Timestamp| {
        let since = at.duration_since(timeline.began).as_millis().clamp(0, all);
        let column = since * i128::try_from(room).unwrap_or(0) / all;
        usize::try_from(column).unwrap_or(0)
    };
    let rows = timeline.rows.iter().map(|row| {
        let mut spans = vec![Span::raw(format!(
            "{:>8} ",
            cut(&format!("#{}", row.task), 8)
        ))];
        let mut at = 0;
        for bar in &row.bars {
            let (from, to) = (column(bar.from).max(at), column(bar.to));
            let to = to.max(from + 1);
            let role = match bar.end.as_str() {
                "passed" => Role::Done,
                "running" => Role::Running,
                "partial" | "stuck" => Role::NeedsYou,
                _ => Role::Failed,
            };
            spans.push(Span::raw(" ".repeat(from - at)));
            spans.push(styled("█".repeat(to - from), app.theme.style(role)));
            at = to;
        }
        Line::from(spans)
    });
    rows.collect()
}

fn thread(app: &App, width: usize) -> (String, Vec<Line<'static>>) {
    let list = app.list();
    let thread = list.rows.get(list.at).and_then(|it| app.threads.get(*it));
    let Some(thread) = thread else {
        return ("No conversation".to_owned(), Vec::new());
    };
    let mut lines = Vec::new();
    for it in thread
        .messages
        .iter()
        .filter_map(|it| app.data.mail.get(*it))
    {
        let message = &it.message;
        let role = match it.state.as_str() {
            "acked" | "withdrawn" => Role::Dim,
            "lapsed" => Role::Failed,
            "undecided" => Role::NeedsYou,
            _ => Role::Claimed,
        };
        let lease = it.lease.as_ref().map(|lease| format!(" by {}", lease.by));
        let head = format!(
            "{} {} → {} {} ago  {}{}",
            message.title(),
            message.from,
            message.to,
            age(app, message.at),
            it.state,
            lease.unwrap_or_default(),
        );
        lines.push(Line::styled(
            line(&head).into_owned(),
            app.theme.style(role),
        ));
        let body = wrapped(&message.in_full(), width.saturating_sub(2)).into_iter();
        lines.extend(body.map(|it| Line::from(format!("  {it}"))));
        lines.push(Line::default());
    }
    (thread.name.clone(), lines)
}
