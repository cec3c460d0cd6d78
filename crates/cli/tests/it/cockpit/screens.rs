//! The screens, their sizes, and what an open cockpit costs.

use std::{fs, thread, time::Duration};

use flagpost_testkit::race::until;

use crate::{
    cockpit::{stage::waiting, terminal::Terminal},
    world,
};

#[test]
fn it_opens_on_the_inbox_shows_each_screen_and_leaves_the_terminal_as_it_was() {
    let fleet = waiting(2);
    fleet.world.ok(["add", "Write the parser"]);
    let terminal = or_skip!(Terminal::open(&fleet.world, 80, 24));
    terminal.keeps_its_settings();
    terminal.runs("echo what was there before");
    terminal.cockpit();
    let screen = terminal.shows("Needs you 2");
    assert!(screen.contains("4:Inbox(2)"), "{screen}");
    assert!(!screen.contains("what was there before"), "{screen}");
    for (key, title) in [
        ("1", "Workers 2"),
        ("2", "Ready 1"),
        ("3", "Tasks 1"),
        ("4", "Needs you 2"),
        ("5", "no run"),
        ("6", "Conversations 2"),
        ("Tab", "Workers 2"),
        ("]", "Ready 1"),
        ("[", "Workers 2"),
    ] {
        terminal.keys(&[key]).shows(title);
    }
    assert_eq!(terminal.knows("#{alternate_on}"), "1");
    assert_eq!(terminal.knows("#{pane_title}"), "(2) flagpost");
    terminal.keys(&["q"]);
    assert_eq!(terminal.ended(), 0);
    let screen = terminal.screen();
    assert!(screen.contains("what was there before"), "{screen}");
    assert!(!screen.contains("Workers 2"), "{screen}");
    terminal.assert_as_before();
}

#[test]
fn it_opens_on_the_fleet_where_nothing_waits_and_ends_by_ctrl_c_too() {
    let world = world();
    world.ok(["init"]);
    let terminal = or_skip!(Terminal::open(&world, 80, 24));
    terminal.keeps_its_settings();
    terminal.cockpit();
    terminal.shows("no workers yet");
    terminal.keys(&["C-c"]);
    assert_eq!(terminal.ended(), 0);
    terminal.assert_as_before();
}

/// What a terminal of this size shows where the cockpit is opened in it.
fn fresh(world: &flagpost_testkit::sealed::World, (columns, rows): (u16, u16)) -> Option<String> {
    let terminal = Terminal::open(world, columns, rows)?;
    terminal.runs("flagpost cockpit").until("it is open", |it| {
        it.starts_with(' ') && terminal.knows("#{alternate_on}") == "1"
    });
    Some(terminal.rests())
}

#[test]
fn another_size_shows_what_a_cockpit_opened_in_it_shows() {
    let fleet = waiting(3);
    fleet.world.ok(["add", "Write the parser"]);
    let sizes = [
        (79, 20),
        (120, 40),
        (80, 24),
        (40, 10),
        (200, 60),
        (20, 5),
        (80, 24),
    ];
    let mut wanted = Vec::new();
    for size in sizes {
        let screen = or_skip!(fresh(&fleet.world, size));
        wanted.push(screen);
    }
    assert!(wanted[0].contains("one pane below 80×24"), "{}", wanted[0]);
    assert!(!wanted[2].contains("one pane below"), "{}", wanted[2]);
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    for (size, wanted) in sizes.into_iter().zip(wanted) {
        terminal.resize(size.0, size.1);
        let words = format!("{size:?} looks like this:\n{wanted}\nbut");
        terminal.until(&words, |it| it == wanted);
    }
    // As small as can be, and nothing breaks.
    for size in [(1, 1), (2, 2), (10, 3), (80, 1), (1, 40), (79, 20)] {
        terminal.resize(size.0, size.1);
        terminal.rests();
    }
    terminal.shows("one pane below 80×24");
    terminal.keys(&["q"]);
    assert_eq!(terminal.ended(), 0);
}

#[test]
fn in_one_pane_the_keys_decide_as_well() {
    let fleet = waiting(1);
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 60, 15));
    terminal.shows("by noon");
    terminal.keys(&["y"]);
    super::stage::until_decided(&fleet, 1);
}

#[test]
fn where_the_locale_has_no_such_signs_letters_stand_for_them() {
    let fleet = waiting(1);
    let terminal = or_skip!(Terminal::open(&fleet.world, 80, 24));
    for settings in ["LANG=C", "LC_ALL=POSIX", "LANG= LC_CTYPE=C"] {
        terminal.runs(&format!("{settings} flagpost cockpit"));
        terminal.shows("by noon");
        let screen = terminal.rests();
        assert!(screen.is_ascii(), "{settings}:\n{screen}");
        terminal.keys(&["q"]).until("the shell is back", |_| {
            terminal.knows("#{alternate_on}") == "0"
        });
    }
}

/// How much of a processor it has used, in ticks.
fn ticks(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(')').unwrap();
    let fields: Vec<&str> = rest.split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

/// Waits until it does nothing for so long: at first it does what was asked of it, and on a busy machine a tick may
/// be counted that was another's.
fn rests(pid: u32, seconds: u64) {
    until(&format!("it does nothing for {seconds} s"), || {
        let before = ticks(pid);
        thread::sleep(Duration::from_secs(seconds));
        ticks(pid) - before <= 1
    });
}

#[test]
fn an_idle_cockpit_does_nothing() {
    let fleet = waiting(3);
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    let pid = terminal.pid();
    for key in ["1", "5", "4"] {
        terminal.keys(&[key]);
        rests(pid, 4);
    }
    // Nor in the time in which it asks.
    terminal.keys(&["n"]).shows("why:");
    rests(pid, 2);
}
