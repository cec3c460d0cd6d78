//! A fleet for the tests: workers, tasks in each state, what waits, a run, mail.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use flagpost_core::{
    messages::MessageView,
    relay::workers::{NextBrief, WorkerView},
};
use flagpost_model::{
    TaskId, Token,
    machines::{FleetMachine, FleetRepository, FleetServer, FleetStanding},
    message::{Message, MessageStatus, Subject},
    reservation::{Reservation, ReservationMode, ReservationRequest},
    session::{ActiveTask, LogRow, Outcome},
    task::{Claim, Outline, Priority, State, Task},
    worker::{Liveness, Worker, WorkerStatus},
};
use jiff::{SignedDuration, Timestamp, tz::TimeZone};

use crate::{
    act::Act,
    app::App,
    event::Input,
    keys::Keymap,
    snapshot::{Lane, RunState, Snapshot, WaitingBrief, WaitingItem, WaitingQuestion},
    theme::{ColorDepth, Glyphs, Theme},
    update::update,
    view,
};

/// When all of it is looked at.
pub fn now() -> Timestamp {
    "2026-11-22T14:02:09Z".parse().unwrap()
}

fn ago(minutes: i64) -> Timestamp {
    now() - SignedDuration::from_mins(minutes)
}

fn worker(id: &str, liveness: Liveness, pending: usize) -> WorkerView {
    WorkerView {
        worker: Worker {
            id: id.parse().unwrap(),
            agent: Some("claude".to_owned()),
            capabilities: Vec::new(),
            registered_at: ago(60),
            last_seen: Some(ago(if liveness == Liveness::Silent { 6 } else { 0 })),
            pid: None,
            tmux: Some(format!("web:{id}")),
            worktree: None,
            standing: WorkerStatus::Active,
            token: None,
        },
        liveness,
        pending,
        withheld: 0,
        unread: 0,
        reports: 0,
        has_token: false,
        next: None,
    }
}

fn task(id: &str, subject: &str, state: State) -> Outline {
    let mut task = Task::new(id.parse().unwrap(), subject);
    task.state = state;
    Outline::from(&task)
}

fn held(by: &str, minutes: i64) -> Claim {
    Claim {
        by: by.parse().unwrap(),
        token: Token(7),
        at: ago(minutes),
        expires_at: now() + SignedDuration::from_mins(10),
        lease: SignedDuration::from_mins(15),
        session: None,
    }
}

/// A brief for a worker.
pub fn brief(worker: &str, seq: u64, body: &str) -> WaitingBrief {
    WaitingBrief {
        worker: worker.parse().unwrap(),
        seq: seq.to_string().parse().unwrap(),
        ticket: Some("1192".to_owned()),
        summary: body.lines().next().unwrap_or_default().to_owned(),
        body: body.to_owned(),
        envelope: flagpost_model::envelope::Hash::of(body.as_bytes()).to_string(),
        from: "operator".to_owned(),
        at: ago(12),
        expires_at: Some(now() + SignedDuration::from_mins(48)),
        withheld: None,
        is_unproposed: false,
    }
}

/// The words of the first brief.
pub const BODY: &str = "Merge the seal of the parser.\n\n1. Rebase on main\n2. Run ./check\n3. Report with the commit\n";

fn message(place: &str, subject: Subject, from: &str, to: &str, body: &str) -> MessageView {
    MessageView {
        message: Message {
            place: place.parse().unwrap(),
            id: None,
            subject: Some(subject),
            word: None,
            kind: "brief",
            from: from.to_owned(),
            to: to.to_owned(),
            by: None,
            thread: Some("parser".to_owned()),
            answers: None,
            at: ago(3),
            body: body.to_owned(),
        },
        state: MessageStatus::New,
        decision: None,
        lease: None,
    }
}

/// The fleet.
pub fn fleet() -> Snapshot {
    let mut tasks = vec![
        task("3", "Lexer", State::Completed),
        task("9", "Which API is meant?", State::Stuck),
        task("12", "Parser", State::InProgress(Some(held("W1", 12)))),
        task("14", "Seal", State::InProgress(Some(held("W3", 3)))),
        task("15", "Split the lexer", State::Pending),
        task("18", "Token ring", State::Pending),
        task("19", "Cursor", State::Pending),
        task("20", "Docs", State::Claimed(held("W7", 1))),
        task("22", "日本語 for everybody", State::Failed),
    ];
    tasks[4].priority = Some(Priority::High);
    tasks[4].group = Some("auth".to_owned());
    tasks[6].blocked_by = vec!["15".parse().unwrap()];
    let mut lanes: [Vec<usize>; 6] = Default::default();
    lanes[Lane::Ready as usize] = vec![4, 5];
    lanes[Lane::Blocked as usize] = vec![6];
    lanes[Lane::Claimed as usize] = vec![7];
    lanes[Lane::Running as usize] = vec![2, 3];
    lanes[Lane::NeedsYou as usize] = vec![1, 8];
    lanes[Lane::Done as usize] = vec![0];
    let mut first = worker("W1", Liveness::Heartbeat, 1);
    first.unread = 2;
    first.next = Some(NextBrief {
        seq: "2".parse().unwrap(),
        target_ticket: Some("1188".to_owned()),
        summary: "Take the new token ring".to_owned(),
    });
    let row = |id: &str, outcome, attempt| LogRow {
        id: id.parse().unwrap(),
        subject: "Lexer".to_owned(),
        outcome,
        attempt,
        of: 3,
        duration: Some(SignedDuration::from_secs(154)),
        tokens: None,
    };
    let id = |text: &str| -> TaskId { text.parse().unwrap() };
    Snapshot {
        at: now(),
        list: "web".to_owned(),
        lanes,
        workers: vec![
            first,
            worker("W3", Liveness::Process, 1),
            worker("W4", Liveness::Silent, 0),
            worker("W7", Liveness::Heartbeat, 0),
        ],
        reserved: vec![Reservation {
            n: 4,
            wanted: ReservationRequest {
                path: "crates/parser/**".parse().unwrap(),
                holder: "W1".parse().unwrap(),
                mode: ReservationMode::Exclusive,
                task: Some("12".to_owned()),
                reason: None,
            },
            at: ago(12),
            until: now() + SignedDuration::from_mins(3),
        }],
        waiting: vec![
            WaitingItem::Brief(brief("W1", 3, BODY)),
            WaitingItem::Brief(brief("W3", 7, &"One of many lines.\n".repeat(60))),
            WaitingItem::Question(WaitingQuestion {
                task: id("9"),
                subject: "Which API is meant?".to_owned(),
                by: Some("W4".to_owned()),
                at: Some(ago(40)),
                said: "The old one or the new one?".to_owned(),
            }),
        ],
        run: Some(RunState {
            title: "20261122-140200".to_owned(),
            stage: flagpost_core::sessions::SessionStatus::Live,
            wave: Some((2, 4)),
            max_parallel: 5,
            active: vec![ActiveTask {
                id: id("12"),
                subject: "Parser".to_owned(),
                phase: "Attempt 1/3".to_owned(),
            }],
            ended: vec![row("3", Outcome::Pass, 1), row("22", Outcome::Fail, 3)],
            timeline: None,
            waves: vec![vec![id("12"), id("14")], vec![id("15"), id("18")]],
        }),
        sessions: vec!["20261122-140200".to_owned()],
        mail: vec![
            message(
                "W1/inbox/1",
                Subject::Task,
                "orchestrator",
                "W1",
                "Write the parser.",
            ),
            message(
                "W1/outbox/1",
                Subject::Progress,
                "W1",
                "orchestrator",
                "half of it",
            ),
        ],
        machines: None,
        parked: Vec::new(),
        is_bridge_up: true,
        skipped: 0,
        tasks: tasks.into_iter().map(Arc::new).collect(),
    }
}

/// A fleet of three machines, of which this one decides and one is silent.
pub fn machines() -> FleetStanding {
    let machine = |id: &str, host: &str, since| FleetMachine {
        machine: id.parse().unwrap(),
        host: host.to_owned(),
        flagpost: "0.1.0".to_owned(),
        since,
        lag: since.map(|_| 0),
        behind_since: None,
        behind: false,
        applied: BTreeMap::new(),
    };
    FleetStanding {
        at: now(),
        since: ago(90),
        server: FleetServer {
            address: "nats://127.0.0.1:4222".to_owned(),
            version: Some("2.15.1".to_owned()),
            fault: None,
            syncs: Some(true),
            replicas: Some(1),
            offset_ms: Some(2),
            copies: Vec::new(),
        },
        machine: "aaaaaaaa".parse().unwrap(),
        founder: true,
        may_decide: Some(true),
        repositories: vec![FleetRepository {
            name: "web".to_owned(),
            id: "r-1".parse().unwrap(),
            here: Some(1041),
            there: Some(1041),
            frozen: None,
            kept: 0,
        }],
        machines: vec![
            machine("aaaaaaaa", "box", Some(ago(90))),
            machine("bbbbbbbb", "build", Some(ago(30))),
            machine("cccccccc", "laptop", None),
        ],
    }
}

/// A cockpit of so many columns and rows that shows this.
pub fn cockpit(data: Snapshot, size: (u16, u16), glyphs: Glyphs) -> App {
    let theme = Theme {
        colors: ColorDepth::Ansi,
        glyphs,
    };
    let mut app = App::new(theme, Keymap::default(), now(), TimeZone::UTC);
    give(&mut app, Input::Size(size.0, size.1), 0);
    give(&mut app, Input::Data(Arc::new(data)), 0);
    app
}

/// Gives it an input at so many milliseconds.
pub fn give(app: &mut App, input: Input, millis: u64) -> Vec<Act> {
    update(app, input, Duration::from_millis(millis))
}

/// Presses a key, as it is written, and draws.
pub fn press(app: &mut App, key: &str, millis: u64) -> Vec<Act> {
    let acts = give(app, Input::Key(key_of(key)), millis);
    draw(app);
    acts
}

/// Types a line.
pub fn type_in(app: &mut App, text: &str, millis: u64) {
    for c in text.chars() {
        let key = KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE);
        give(app, Input::Key(key), millis);
    }
}

/// A key as it is written.
pub fn key_of(name: &str) -> KeyEvent {
    let (name, modifiers) = match name.strip_prefix("ctrl-") {
        Some(rest) => (rest, KeyModifiers::CONTROL),
        None => (name, KeyModifiers::NONE),
    };
    let code = match name {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "down" => KeyCode::Down,
        "up" => KeyCode::Up,
        "space" => KeyCode::Char(' '),
        "backspace" => KeyCode::Backspace,
        one => KeyCode::Char(one.chars().next().unwrap()),
    };
    KeyEvent::new(code, modifiers)
}

/// Draws it, as the loop does, and answers with the screen.
pub fn draw(app: &mut App) -> ratatui::buffer::Buffer {
    let backend = ratatui::backend::TestBackend::new(app.size.0, app.size.1);
    let mut terminal = ratatui::Terminal::new(backend).unwrap();
    terminal.draw(|frame| view::draw(app, frame)).unwrap();
    app.drawn();
    terminal.backend().buffer().clone()
}

/// The screen as lines of text.
pub fn screen(app: &mut App) -> String {
    let buffer = draw(app);
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let mut line = String::new();
        let mut hidden = 0;
        for x in 0..buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            // The second column of a wide character is not shown.
            if hidden > 0 {
                hidden -= 1;
                continue;
            }
            hidden = unicode_width::UnicodeWidthStr::width(symbol).saturating_sub(1);
            line += symbol;
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}
