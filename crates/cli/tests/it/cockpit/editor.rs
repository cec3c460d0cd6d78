//! The person's editor: it alone has the terminal while it is open, and what it leaves is asked about.

use flagpost_testkit::race::until;
use std::fs;

use crate::{
    cockpit::{
        stage::{assert_undecided, editor, next, until_decided, waiting},
        terminal::Terminal,
    },
    fleet::Fleet,
};

/// A brief that waits, and an editor of these lines.
fn edited_by(lines: &str) -> Fleet {
    let mut fleet = waiting(1);
    let path = editor(&fleet, lines);
    fleet.world.set("EDITOR", path);
    fleet
}

#[test]
fn a_changed_body_is_shown_as_a_difference_and_sent_by_y() {
    let fleet = edited_by(
        "sed 's/noon/midnight/' \"$1\" > \"$1.new\"; cat \"$1.new\" > \"$1\"; rm \"$1.new\"",
    );
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    terminal.keys(&["e"]);
    let screen = terminal.shows("approve W1 1 with this change? [y/N]");
    assert!(
        screen.contains("- by noon") && screen.contains("+ by midnight"),
        "{screen}"
    );
    assert_undecided(&fleet, "W1");
    terminal.keys(&["y"]);
    let line = until_decided(&fleet, 1).remove(0);
    assert_eq!(line["detail"]["decision"], "edited");
    assert_eq!(line["detail"]["via"], "cockpit");
    let offer = next(&fleet, "W1");
    assert_eq!(offer["body"], "Merge the seal 1\n\nby midnight");
    terminal.keys(&["q"]);
    assert_eq!(terminal.ended(), 0);
}

#[test]
fn a_line_break_that_the_editor_adds_at_the_end_is_no_changed_line() {
    let fleet = edited_by("printf '\\nand more\\n' >> \"$1\"");
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    terminal.keys(&["e"]);
    let screen = terminal.shows("approve W1 1 with this change? [y/N]");
    assert!(screen.contains("+ and more"), "{screen}");
    assert!(!screen.contains("- by noon"), "{screen}");
}

#[test]
fn a_difference_that_is_not_wanted_is_dropped_with_its_words() {
    let fleet = edited_by("echo Delete everything > \"$1\"");
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    for answer in ["n", "Enter", "Escape"] {
        terminal.keys(&["e"]);
        terminal.shows("approve W1 1 with this change? [y/N]");
        let screen = terminal.keys(&[answer]).shows("end of body");
        assert!(!screen.contains("Delete everything"), "{screen}");
    }
    assert_undecided(&fleet, "W1");
}

#[test]
fn an_editor_that_changes_nothing_is_asked_whether_it_goes_as_it_is() {
    let fleet = edited_by("exit 0");
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    terminal.keys(&["e"]);
    terminal.shows("nothing was changed: approve W1 1 as it is? [y/N]");
    terminal.keys(&["Enter"]).shows("nothing was done");
    assert_undecided(&fleet, "W1");
    terminal.keys(&["e"]).shows("as it is? [y/N]");
    terminal.keys(&["y"]);
    let line = until_decided(&fleet, 1).remove(0);
    assert_eq!(line["detail"]["decision"], "ratified");
    assert_eq!(next(&fleet, "W1")["body"], "Merge the seal 1\n\nby noon");
}

#[test]
fn an_emptied_body_decides_nothing() {
    let fleet = edited_by(": > \"$1\"");
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    let screen = terminal.keys(&["e"]).shows("nothing happened");
    assert!(screen.contains("by noon"), "{screen}");
    assert_undecided(&fleet, "W1");
}

#[test]
fn an_editor_that_fails_or_is_not_there_decides_nothing() {
    let mut fleet = edited_by("echo Delete everything > \"$1\"; exit 3");
    for (place, said) in [
        (None, "exit status: 3"),
        (Some("/not/there"), "cannot be started"),
    ] {
        if let Some(place) = place {
            fleet.world.set("EDITOR", place);
        }
        let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 160, 24));
        let screen = terminal.keys(&["e"]).shows("nothing was decided");
        assert!(screen.contains(said), "{screen}");
        assert!(!screen.contains("Delete everything"), "{screen}");
        assert_undecided(&fleet, "W1");
    }
}

#[test]
fn an_editor_that_leaves_what_is_no_text_ends_nothing() {
    let fleet = edited_by("printf 'bad \\377\\n' > \"$1\"");
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    let screen = terminal.keys(&["e"]).until("it is back", |it| {
        it.contains("✗") || it.contains("[y/N]") || it.contains("\nit ended with")
    });
    assert!(!screen.contains("\nit ended with"), "{screen}");
    assert_undecided(&fleet, "W1");
}

#[test]
fn an_editor_that_takes_its_file_away_ends_nothing() {
    let fleet = edited_by("rm \"$1\"");
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    let screen = terminal.keys(&["e"]).until("it is back", |it| {
        it.contains("✗") || it.contains("nothing happened") || it.contains("\nit ended with")
    });
    assert!(!screen.contains("\nit ended with"), "{screen}");
    assert_undecided(&fleet, "W1");
}

#[test]
fn keys_typed_in_the_editor_are_the_editors_none_lost_and_none_doubled() {
    let fleet = edited_by(
        "clear; for n in 1 2 3; do printf 'line %s: ' $n; IFS= read -r line; printf '\\n%s' \"$line\" >> \"$1\"; done",
    );
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    let words = [
        "yYnq jk 123456 /?:@",
        "the quick brown fox jumps over it",
        "e y e y q 4",
    ];
    for _ in 0..3 {
        terminal.keys(&["e"]);
        for (n, words) in (1..).zip(words) {
            terminal.shows(&format!("line {n}:"));
            terminal.types(words);
            terminal.keys(&["Enter"]);
        }
        let screen = terminal.shows("with this change? [y/N]");
        for words in words {
            assert!(screen.contains(&format!("+ {words}")), "{screen}");
        }
        assert_undecided(&fleet, "W1");
        terminal.keys(&["n"]).shows("end of body");
    }
    terminal.keys(&["e"]);
    for (n, words) in (1..).zip(words) {
        terminal.shows(&format!("line {n}:"));
        terminal.types(words);
        terminal.keys(&["Enter"]);
    }
    terminal.shows("with this change? [y/N]");
    terminal.keys(&["y"]);
    until_decided(&fleet, 1);
    let body = format!("Merge the seal 1\n\nby noon\n{}", words.join("\n"));
    assert_eq!(next(&fleet, "W1")["body"], body);
}

#[test]
fn a_y_that_was_typed_before_the_difference_was_shown_does_not_confirm_it() {
    let fleet = edited_by(
        "echo 'in the editor'; touch \"${0%/*}/open\"; \
         until [ -e \"${0%/*}/go\" ]; do sleep 0.05; done; echo Delete everything > \"$1\"",
    );
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    terminal.keys(&["e"]).shows("in the editor");
    terminal.types("yyy").shows("yyy");
    fs::write(fleet.world.outside().join("go"), "").unwrap();
    let screen = terminal.until("it is back", |it| it.contains("1:Fleet"));
    drop(screen);
    let screen = terminal.rests();
    assert_undecided(&fleet, "W1");
    assert!(screen.contains("with this change? [y/N]"), "{screen}");
}

#[test]
fn nobody_else_can_read_the_draft_and_nothing_of_it_stays() {
    let fleet = edited_by("stat -c '%a %n' \"$1\" > \"${0%/*}/seen\"; echo more >> \"$1\"");
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    terminal.keys(&["e"]).shows("[y/N]");
    let seen = fs::read_to_string(fleet.world.outside().join("seen")).unwrap();
    let (mode, path) = seen.trim().split_once(' ').unwrap();
    assert_eq!(mode, "600");
    assert!(
        path.starts_with(fleet.world.home().to_str().unwrap()),
        "{path}"
    );
    until("it is gone", || !std::path::Path::new(path).exists());
}

#[test]
fn a_brief_that_changes_while_the_editor_is_open_is_not_decided_on() {
    let fleet = edited_by(
        "echo 'in the editor'; until [ -e \"${0%/*}/go\" ]; do sleep 0.05; done; echo 'my words' > \"$1\"",
    );
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    terminal.keys(&["e"]).shows("in the editor");
    fs::write(fleet.inbox("W1").join("0001.brief"), "Delete everything").unwrap();
    fs::write(fleet.world.outside().join("go"), "").unwrap();
    terminal.shows("with this change? [y/N]");
    terminal.looks();
    terminal.keys(&["y"]);
    // What was typed is not lost.
    let screen = terminal.shows("What you wrote, which was not sent");
    assert!(screen.contains("my words"), "{screen}");
    assert_undecided(&fleet, "W1");
    terminal.keys(&["Escape"]).shows("Delete everything");
}

#[test]
fn keys_typed_right_behind_e_are_not_taken_for_a_decision() {
    let fleet = edited_by("echo Delete everything > \"$1\"");
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    // In one piece, as fast as a person who expects an editor.
    terminal.types("ey").shows("with this change? [y/N]");
    terminal.rests();
    assert_undecided(&fleet, "W1");
}

#[test]
fn a_window_that_is_resized_in_the_editor_is_drawn_in_its_new_size() {
    let fleet = edited_by("echo 'in the editor'; until [ -e \"${0%/*}/go\" ]; do sleep 0.05; done");
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    terminal.keys(&["e"]).shows("in the editor");
    terminal.resize(120, 40);
    terminal.until("it is resized", |_| {
        terminal.knows("#{pane_width}x#{pane_height}") == "120x40"
    });
    terminal.looks();
    fs::write(fleet.world.outside().join("go"), "").unwrap();
    terminal.until("it is drawn in the new size", |it| {
        let border = it.lines().nth(3).unwrap_or_default();
        it.contains("[y/N]") && border.chars().count() == 120
    });
}
