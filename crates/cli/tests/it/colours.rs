//! Colour only where it is wanted, and never as the only carrier of meaning.

use flagpost_testkit::sealed::World;

use crate::world_with;

const COMMANDS: &[&[&str]] = &[
    &["list"],
    &["status"],
    &["show", "1"],
    &["task", "graph"],
    &["ready"],
    &["inbox", "--briefs", "--all"],
    &["worker", "list"],
    &["msg", "list"],
];

/// A task at work, and a brief for a live worker.
fn fleet() -> World {
    let world = world_with(&["a", "b"]);
    world.ok(["claim", "1"]);
    world.ok(["worker", "add", "W1"]);
    world.ok(["worker", "heartbeat", "--as", "W1"]);
    world.ok(["assign", "1", "W1", "--inline", "x"]);
    world.ok(["ratify", "W1"]);
    world
}

#[test]
fn a_state_has_one_colour_on_every_screen() {
    let world = fleet();
    for (line, state) in [
        ("list", "36mclaimed"),
        ("show 1", "36mclaimed"),
        ("inbox --briefs --all", "32mratified"),
        ("worker list", "32mlive"),
        ("worker show W1", "32mlive"),
        ("msg list", "36mnew"),
    ] {
        let told = world.ok(line.split(' ').chain(["--color", "always"]));
        assert!(told.contains(&format!("\u{1b}[{state}")), "{line}: {told}");
    }
}

#[test]
fn no_colour_without_a_terminal_or_when_asked_not_to() {
    let mut world = fleet();
    for args in COMMANDS {
        assert!(!world.ok(*args).contains('\u{1b}'), "{args:?}");
        let never = world.ok(args.iter().chain(&["--color", "never"]));
        assert!(!never.contains('\u{1b}'), "{args:?}");
    }
    world.set("NO_COLOR", "1");
    assert!(!world.ok(["list", "--color", "auto"]).contains('\u{1b}'));
}

#[test]
fn colour_says_nothing_that_words_do_not() {
    let mut world = fleet();
    // Asked for in so many words, it wins over the environment.
    world.set("NO_COLOR", "1");
    for args in COMMANDS {
        let coloured = world.ok(args.iter().chain(&["--color", "always"]));
        assert!(coloured.contains("\u{1b}["), "{args:?}: {coloured}");
        assert_eq!(plain(&coloured), world.ok(*args), "{args:?}");
    }
}

#[test]
fn json_and_ids_are_never_coloured() {
    let world = world_with(&["a"]);
    for args in [
        ["list", "--json"],
        ["list", "--quiet"],
        ["status", "--json"],
    ] {
        assert!(
            !world
                .ok(args.iter().chain(&["--color", "always"]))
                .contains('\u{1b}')
        );
    }
}

fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, style)) = rest.split_once("\u{1b}[") {
        plain += before;
        rest = style.split_once('m').unwrap().1;
    }
    plain + rest
}
