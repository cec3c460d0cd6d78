//! A person's own keys, and where the cockpit refuses to begin.

use std::fs;

use crate::cockpit::{
    stage::{assert_undecided, until_decided, waiting},
    terminal::Terminal,
};

#[test]
fn a_key_of_ones_own_takes_the_place_of_the_usual_one() {
    let fleet = waiting(1);
    fleet.world.ok(["config", "set", "keys.ratify", "ctrl-y"]);
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    terminal.shows("ctrl-y approve");
    terminal.keys(&["y"]).rests();
    assert_undecided(&fleet, "W1");
    terminal.keys(&["C-y"]);
    until_decided(&fleet, 1);
}

#[test]
fn keys_that_cannot_be_used_are_told_before_the_screen_is_taken() {
    let fleet = waiting(1);
    let config = fleet.world.home().join("config.toml");
    let terminal = or_skip!(Terminal::open(&fleet.world, 100, 24));
    for (keys, said) in [
        ("ratify = \"q\"", "q means both ratify and quit"),
        ("ratify = \"hyper-y\"", "\"hyper-y\" is no key"),
        ("rattify = \"y\"", "keys.rattify"),
    ] {
        fs::write(&config, format!("[keys]\n{keys}\n")).unwrap();
        terminal.runs("clear; flagpost cockpit; echo \"it ended with $?\"");
        let screen = terminal.shows("it ended with 6");
        let flat = screen.replace('\n', "");
        assert!(flat.contains(said), "{screen}");
        assert!(!screen.contains("1:Fleet"), "{screen}");
        assert_eq!(terminal.knows("#{alternate_on}"), "0");
        // The next begins with an empty screen.
        terminal.runs("clear");
        terminal.until("it is clear", |it| !it.contains("it ended"));
    }
}

#[test]
fn what_is_no_terminal_gets_a_pointer_to_status_instead() {
    let fleet = waiting(1);
    let terminal = or_skip!(Terminal::open(&fleet.world, 100, 24));
    for command in [
        "flagpost cockpit | cat; echo \"it ended with ${PIPESTATUS[0]}\"",
        "flagpost cockpit < /dev/null; echo \"it ended with $?\"",
        "flagpost cockpit > /dev/null; echo \"it ended with $?\"",
        "flagpost cockpit --json; echo \"it ended with $?\"",
        "TERM=dumb flagpost cockpit; echo \"it ended with $?\"",
        "env -u TERM flagpost cockpit; echo \"it ended with $?\"",
        "flagpost tui | cat; echo \"it ended with ${PIPESTATUS[0]}\"",
    ] {
        let screen = terminal.runs(command).shows("it ended with 2");
        assert!(
            screen.replace('\n', "").contains("flagpost status"),
            "{command}: {screen}"
        );
        assert_eq!(terminal.knows("#{alternate_on}"), "0", "{command}");
        terminal.runs("clear");
        terminal.until("it is clear", |it| !it.contains("it ended"));
    }
}
