//! Signals, a dead terminal, Ctrl-Z, `kill -9`: the terminal is left as it was, or can be mended.

use std::{fs, thread, time::Duration};

use flagpost_testkit::{
    background::{is_alive, kill},
    race::until,
};
use rustix::process::Signal;

use crate::cockpit::{
    stage::{decided, editor, next, waiting},
    terminal::Terminal,
};

#[test]
fn a_signal_that_ends_it_gives_the_terminal_back() {
    for signal in [Signal::TERM, Signal::HUP] {
        ended_by(signal);
    }
}

#[test]
fn signals_that_keys_stand_for_elsewhere_give_it_back_too() {
    for signal in [Signal::INT, Signal::QUIT] {
        ended_by(signal);
    }
}

fn ended_by(signal: Signal) {
    let fleet = waiting(1);
    let terminal = or_skip!(Terminal::open(&fleet.world, 80, 24));
    terminal.keeps_its_settings();
    terminal.cockpit();
    let pid = terminal.pid();
    kill(pid, signal);
    until("it ends", || !is_alive(pid));
    terminal.assert_as_before();
}

#[test]
fn a_signal_in_the_midst_of_a_question_gives_it_back_too() {
    let fleet = waiting(1);
    let terminal = or_skip!(Terminal::open(&fleet.world, 80, 24));
    terminal.keeps_its_settings();
    terminal.cockpit();
    terminal.keys(&["n"]).shows("why:");
    kill(terminal.pid(), Signal::TERM);
    terminal.ended();
    terminal.assert_as_before();
    assert_eq!(decided(&fleet).len(), 0);
}

#[test]
fn a_window_that_is_closed_leaves_nobody_behind() {
    let mut fleet = waiting(1);
    let script = editor(&fleet, "echo 'in the editor'; exec sleep 600");
    fleet.world.set("EDITOR", script);
    for is_editing in [false, true] {
        let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
        if is_editing {
            terminal.keys(&["e"]).shows("in the editor");
        }
        let pid = terminal.pid();
        terminal.tmux(&["kill-server"]);
        until(&format!("it ends, editing: {is_editing}"), || {
            !is_alive(pid)
        });
        assert_eq!(decided(&fleet).len(), 0);
    }
}

#[test]
fn a_signal_while_the_editor_is_open_ends_it_once_the_editor_has_ended() {
    let mut fleet = waiting(1);
    let script = editor(
        &fleet,
        "echo 'in the editor'; until [ -e \"${0%/*}/go\" ]; do sleep 0.05; done",
    );
    fleet.world.set("EDITOR", script);
    let terminal = or_skip!(Terminal::open(&fleet.world, 80, 24));
    terminal.keeps_its_settings();
    terminal.cockpit();
    terminal.keys(&["e"]).shows("in the editor");
    kill(terminal.pid(), Signal::TERM);
    fs::write(fleet.world.outside().join("go"), "").unwrap();
    terminal.ended();
    terminal.assert_as_before();
    assert_eq!(decided(&fleet).len(), 0);
}

#[test]
fn ctrl_c_in_the_editor_is_the_editors() {
    let mut fleet = waiting(1);
    let script = editor(
        &fleet,
        "trap 'echo more >> \"$1\"; exit 0' INT; echo 'in the editor'; while :; do sleep 0.05; done",
    );
    fleet.world.set("EDITOR", script);
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    terminal.keys(&["e"]).shows("in the editor");
    let screen = terminal.keys(&["C-c"]).until("it is back", |it| {
        it.contains("[y/N]") || it.contains("^C\nat your service")
    });
    assert!(screen.contains("with this change? [y/N]"), "{screen}");
}

#[test]
fn kill_9_leaves_a_terminal_that_reset_mends_and_no_half_decision() {
    for delay in [0, 1, 3, 6, 10, 20] {
        let fleet = waiting(1);
        let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
        let pid = terminal.pid();
        terminal.keys(&["y"]);
        thread::sleep(Duration::from_millis(delay));
        kill(pid, Signal::KILL);
        until("it is gone", || !is_alive(pid));
        terminal.runs("stty sane; reset");
        terminal.until("the cursor is back", |_| {
            terminal.knows("#{cursor_flag} #{mouse_any_flag}") == "1 0"
        });
        terminal.runs("echo still$((20+22))").shows("still42");
        let told = fleet.world.ok(["doctor", "--quiet"]);
        assert_eq!(told, "", "after {delay} ms");
        // Decided or not, it goes on from there.
        if decided(&fleet).is_empty() {
            fleet.world.ok(["ratify", "W1", "1"]);
        }
        assert_eq!(decided(&fleet).len(), 1);
        assert_eq!(next(&fleet, "W1")["decision"], "ratified");
    }
}

#[test]
fn ctrl_z_gives_the_terminal_to_the_shell_and_fg_takes_it_back() {
    let fleet = waiting(2);
    let terminal = or_skip!(Terminal::open(&fleet.world, 140, 24));
    terminal.keeps_its_settings();
    terminal.runs("flagpost cockpit").shows("Needs you 2");
    terminal.looks();
    let before = terminal.rests();
    for round in 1..=3 {
        terminal.keys(&["C-z"]).shows("Stopped");
        terminal.assert_as_before();
        let pid = terminal.pid();
        assert!(is_alive(pid), "round {round}");
        terminal.runs("clear");
        terminal.runs("fg");
        terminal.until("the screen is back", |it| it == before);
        assert_eq!(terminal.knows("#{alternate_on}"), "1");
    }
    // The keys are the cockpit's again, each of them once.
    terminal.keys(&["j"]).shows("Merge the seal 2");
    terminal.keys(&["n"]).shows("reject W2 1");
    terminal.types("abcdefghijklmnopqrstuvwxyz");
    terminal.shows(": abcdefghijklmnopqrstuvwxyz");
    terminal.keys(&["Escape"]);
    terminal.until("it is left", |it| !it.contains("why:"));
    terminal.keys(&["q"]);
    terminal.assert_as_before();
}

#[test]
fn a_brief_that_comes_while_it_is_suspended_is_there_afterwards_in_any_size() {
    let fleet = waiting(1);
    let terminal = or_skip!(Terminal::open(&fleet.world, 80, 24));
    terminal.runs("flagpost cockpit").shows("Needs you 1");
    terminal.keys(&["C-z"]).shows("Stopped");
    super::stage::propose(&fleet, "W1", "I came meanwhile");
    terminal.resize(120, 40);
    terminal.runs("stty size").shows("40 120");
    terminal.runs("fg");
    terminal.until("all is there in the new size", |it| {
        let border = it.lines().nth(3).unwrap_or_default();
        it.contains("Needs you 2") && border.chars().count() == 120
    });
}
