//! Each screen as a picture: in four sizes and both sets of signs, and once with its styles.

use std::sync::Arc;

use flagpost_core::accounts::Park;
use flagpost_model::machines::{CopyState, FleetSight, ServerCopy};
use jiff::tz::TimeZone;
use ratatui::style::{Color, Modifier};

use crate::{
    app::{App, Page},
    event::Input,
    fixture::{cockpit, draw, fleet, give, machines, now, press, screen, type_in},
    log::{LogEvent, LogView},
    snapshot::Snapshot,
    tab::Tab,
    theme::Glyphs,
};

const SIZES: [(u16, u16); 4] = [(79, 23), (80, 24), (120, 40), (200, 60)];

fn on(tab: Tab, size: (u16, u16), glyphs: Glyphs) -> App {
    let mut app = cockpit(fleet(), size, glyphs);
    let key = (tab as usize + 1).to_string();
    press(&mut app, &key, 1_000);
    app
}

#[test]
fn every_screen_in_every_size_with_either_set_of_signs() {
    for tab in Tab::ALL {
        for (columns, rows) in SIZES {
            for (glyphs, name) in [(Glyphs::Unicode, "unicode"), (Glyphs::Ascii, "ascii")] {
                let page = screen(&mut on(tab, (columns, rows), glyphs));
                let name = format!("{}_{columns}x{rows}_{name}", tab.title().to_lowercase());
                if glyphs == Glyphs::Ascii {
                    let ours = page.replace(|c| "日本語".contains(c), "");
                    assert!(ours.is_ascii(), "{name}: {page}");
                }
                insta::assert_snapshot!(name, page);
            }
        }
    }
}

#[test]
fn the_bridge_is_in_the_header_only_while_it_runs() {
    for size in SIZES {
        let mut data = fleet();
        data.is_bridge_up = false;
        let page = screen(&mut cockpit(data, size, Glyphs::Unicode));
        assert!(page.contains("files") && !page.contains("Agent"), "{page}");
    }
}

#[test]
fn an_account_that_rests_is_named_before_who_is_at_work() {
    let today = now() + jiff::SignedDuration::from_mins(5);
    let later = now() + jiff::SignedDuration::from_hours(72);
    let day = later.to_zoned(TimeZone::UTC).strftime("%a %H:%M");
    let minute = today.to_zoned(TimeZone::UTC).strftime("%H:%M");
    for (until, told) in [
        (today, format!(" NOW    claude parked until {minute} · ")),
        (later, format!(" NOW    claude parked until {day} · ")),
    ] {
        let mut data = fleet();
        let (agent, why) = ("claude".to_owned(), "its limit".to_owned());
        data.parked.push(Park { agent, until, why });
        let page = screen(&mut cockpit(data, SIZES[0], Glyphs::Unicode));
        assert!(page.contains(&told), "{told}: {page}");
    }
}

/// All is well; one is behind; one of three servers is away; this one stands still; it is alone; nobody follows.
#[test]
fn the_fleet_of_machines_as_it_stands() {
    let well = machines();
    let mut behind = well.clone();
    behind.machines[1].lag = Some(12);
    behind.machines[1].behind = true;
    behind.machines[1].behind_since = Some(now() - jiff::SignedDuration::from_mins(2));
    let mut lacking = well.clone();
    let copies = [CopyState::Whole, CopyState::Whole, CopyState::Away];
    lacking.server.copies = copies
        .into_iter()
        .zip(5..)
        .map(|(state, n)| {
            let server = format!("10.0.0.{n}:4222");
            ServerCopy { server, state }
        })
        .collect();
    let mut frozen = well.clone();
    frozen.repositories[0].frozen = Some("a newer Flagpost changes it".to_owned());
    let alone = well.alone(
        now() - jiff::SignedDuration::from_mins(3),
        "nats://127.0.0.1:4222 cannot be reached: it does not answer".to_owned(),
    );
    let since = now() - jiff::SignedDuration::from_mins(7);
    for (name, sight) in [
        ("well", FleetSight::Known(well.into())),
        ("behind", FleetSight::Known(behind.into())),
        ("lacking", FleetSight::Known(lacking.into())),
        ("frozen", FleetSight::Known(frozen.into())),
        ("alone", FleetSight::Known(alone.into())),
        ("unknown", FleetSight::Unknown(Some(since))),
    ] {
        let with = |size, glyphs| {
            let data = Snapshot {
                machines: Some(sight.clone()),
                ..fleet()
            };
            let mut app = cockpit(data, size, glyphs);
            press(&mut app, "1", 1_000);
            app
        };
        for size in [(79, 23), (120, 40)] {
            let page = screen(&mut with(size, Glyphs::Unicode));
            insta::assert_snapshot!(format!("machines_{name}_{}x{}", size.0, size.1), page);
            let plain = screen(&mut with(size, Glyphs::Ascii));
            let ours = plain.replace(|c| "日本語".contains(c), "");
            assert!(ours.is_ascii(), "{name}: {plain}");
        }
    }
}

#[test]
fn pages_over_the_screen() {
    let mut app = on(Tab::Tasks, (100, 30), Glyphs::Unicode);
    press(&mut app, "?", 0);
    type_in(&mut app, "filter", 0);
    insta::assert_snapshot!("help_narrowed", screen(&mut app));
    press(&mut app, "esc", 0);
    press(&mut app, ":", 0);
    type_in(&mut app, "rat", 0);
    insta::assert_snapshot!("palette", screen(&mut app));
    press(&mut app, "esc", 0);
    let id: flagpost_model::TaskId = "12".parse().unwrap();
    app.pages.push(Page::Log(LogView::new(id.clone())));
    let title = "attempt 1 by claude".to_owned();
    let opened = LogEvent::Opened {
        title,
        has_earlier: false,
    };
    give(&mut app, Input::Log(id.clone(), opened), 0);
    let lines = vec![
        "\u{1b}[32m   Compiling\u{1b}[0m parser v0.1.0".to_owned(),
        "test parser::utf8 ... ok\u{1b}[2J".to_owned(),
    ];
    give(&mut app, Input::Log(id, LogEvent::Lines(lines)), 0);
    insta::assert_snapshot!("log", screen(&mut app));
}

#[test]
fn where_there_is_room_a_log_stands_beside_the_board() {
    let mut app = on(Tab::Board, (200, 60), Glyphs::Unicode);
    app.pages
        .push(Page::Log(LogView::new("12".parse().unwrap())));
    insta::assert_snapshot!("board_and_log", screen(&mut app));
}

/// Each run of one style, by its row.
fn styles(app: &mut App) -> String {
    let buffer = draw(app);
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let mut runs: Vec<(String, String)> = Vec::new();
        for x in 0..buffer.area.width {
            let cell = &buffer[(x, y)];
            let mut style = String::new();
            if cell.fg != Color::Reset {
                style += &format!("{:?} ", cell.fg);
            }
            if cell.modifier != Modifier::empty() {
                style += &format!("{:?}", cell.modifier);
            }
            match runs.last_mut() {
                Some((last, run)) if *last == style => *run += cell.symbol(),
                _ => runs.push((style, cell.symbol().to_owned())),
            }
        }
        for (style, run) in runs {
            if !style.is_empty() && !run.trim().is_empty() {
                text += &format!("{y:>2} {:<22} {}\n", style.trim(), run.trim());
            }
        }
    }
    text
}

#[test]
fn colours_never_stand_alone() {
    insta::assert_snapshot!(
        "inbox_styles",
        styles(&mut on(Tab::Inbox, (80, 24), Glyphs::Unicode))
    );
    insta::assert_snapshot!(
        "board_styles",
        styles(&mut on(Tab::Board, (120, 40), Glyphs::Unicode))
    );
}

#[test]
fn an_empty_home_says_what_to_do() {
    let mut app = cockpit(Snapshot::default(), (80, 24), Glyphs::Unicode);
    let page = screen(&mut app);
    assert!(
        page.contains("no workers yet: 'flagpost worker add W1'"),
        "{page}"
    );
    for (key, words) in [
        ("3", "no tasks yet"),
        ("4", "nothing needs"),
        ("5", "no run"),
        ("6", "no messages"),
    ] {
        press(&mut app, key, 0);
        let page = screen(&mut app);
        assert!(page.contains(words), "{page}");
    }
}

#[test]
fn hostile_text_is_shown_in_every_pane_and_obeyed_in_none() {
    let mut data = fleet();
    let evil = "\u{1b}]52;c;x\u{7}\u{1b}[2J\u{9b}H\u{202e}evil\u{200d}\u{feff}";
    for task in &mut data.tasks {
        let task = Arc::make_mut(task);
        task.subject = evil.to_owned();
        task.owner = Some(evil.to_owned());
        task.group = Some(evil.to_owned());
        task.tags = vec![evil.to_owned()];
    }
    for it in &mut data.mail {
        it.message.body = evil.to_owned();
        it.message.from = evil.to_owned();
        it.message.thread = Some(evil.to_owned());
    }
    for item in &mut data.waiting {
        if let crate::snapshot::WaitingItem::Brief(brief) = item {
            brief.body = evil.repeat(3);
            brief.summary = evil.to_owned();
            brief.from = evil.to_owned();
            brief.ticket = Some(evil.to_owned());
            brief.withheld = Some((evil.to_owned(), evil.to_owned()));
        }
    }
    for worker in &mut data.workers {
        worker.worker.agent = Some(evil.to_owned());
        worker.worker.tmux = Some(evil.to_owned());
    }
    data.list = evil.to_owned();
    for tab in 1..=6 {
        let mut app = cockpit(data.clone(), (120, 40), Glyphs::Unicode);
        press(&mut app, &tab.to_string(), 0);
        app.complain(std::time::Duration::ZERO, evil);
        let buffer = draw(&mut app);
        for cell in buffer.content() {
            let steers = cell
                .symbol()
                .contains(|c: char| flagpost_model::drawing::steers(c));
            assert!(!steers, "screen {tab}: {:?}", cell.symbol());
        }
    }
}
