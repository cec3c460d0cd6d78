//! The daemon comes and goes while the cockpit is open.

use crate::{
    cockpit::{
        stage::{propose, until_decided, waiting},
        terminal::Terminal,
    },
    daemon::{Daemon, kill_daemon},
};

#[test]
fn it_is_told_by_the_daemon_where_one_runs_and_by_the_files_where_none_does() {
    let fleet = waiting(1);
    let world = &fleet.world;
    let terminal = or_skip!(Terminal::open(world, 80, 24));
    let _daemon = Daemon(world);
    terminal.cockpit();
    let source = |words: &str| {
        terminal.until(words, |it| {
            let top = it.lines().next().unwrap_or_default();
            top.split_whitespace().any(|it| it.ends_with(words))
        });
    };
    source("files");
    propose(&fleet, "W1", "From files");
    terminal.shows("Inbox(2)");
    world.ok(["up"]);
    source("live");
    propose(&fleet, "W1", "From the daemon");
    terminal.shows("Inbox(3)");
    world.ok(["down"]);
    source("files");
    propose(&fleet, "W1", "From files again");
    terminal.shows("Inbox(4)");
    world.ok(["up"]);
    source("live");
    kill_daemon(world);
    source("files");
    propose(&fleet, "W1", "After its end");
    terminal.shows("Inbox(5)");
    // It decides as ever.
    terminal.looks();
    terminal.keys(&["y"]);
    until_decided(&fleet, 1);
    terminal.shows("Inbox(4)");
}

#[test]
fn opened_beside_a_daemon_it_is_live_and_decides_by_itself() {
    let fleet = waiting(1);
    let world = &fleet.world;
    let terminal = or_skip!(Terminal::open(world, 80, 24));
    let _daemon = Daemon(world);
    world.ok(["up"]);
    terminal.cockpit();
    terminal.shows("live");
    terminal.keys(&["y"]);
    let line = until_decided(&fleet, 1).remove(0);
    assert_eq!(line["detail"]["via"], "cockpit");
    terminal.shows("nothing needs you");
}

#[test]
fn what_is_shown_stays_while_the_home_cannot_be_read_and_says_so() {
    let fleet = waiting(1);
    let terminal = or_skip!(Terminal::with_cockpit(&fleet.world, 80, 24));
    terminal.shows("by noon");
    let (home, away) = (fleet.world.home(), fleet.world.outside().join("away"));
    std::fs::rename(&home, &away).unwrap();
    std::fs::write(&home, "").unwrap();
    let screen = terminal.keys(&["R"]).shows(" old");
    assert!(screen.contains("by noon"), "{screen}");
    // Nothing can be decided, and nothing breaks. What cannot be read says so with the same sign.
    terminal.keys(&["y"]).shows("✗ there is no worker W1");
    std::fs::remove_file(&home).unwrap();
    std::fs::rename(&away, &home).unwrap();
    terminal.keys(&["R"]).until("it is read again", |it| {
        it.contains("files") && it.contains("by noon")
    });
    terminal.looks();
    terminal.keys(&["y"]);
    until_decided(&fleet, 1);
}

#[test]
fn of_two_cockpits_one_decides_and_the_other_sees_it() {
    let fleet = waiting(1);
    let first = or_skip!(Terminal::open(&fleet.world, 80, 24));
    first.cockpit();
    first.tmux(&[
        "split-window",
        "-v",
        "-t",
        "0",
        "exec bash --noprofile --norc -i",
    ]);
    // The pane in front is the new one.
    first.runs("flagpost cockpit").until("both show it", |_| {
        first
            .tmux(&["capture-pane", "-p", "-t", "0"])
            .contains("by noon")
            && first.screen().contains("by noon")
    });
    first.looks();
    first.tmux(&["send-keys", "-t", "0", "y"]);
    first.tmux(&["send-keys", "-t", "1", "y"]);
    until_decided(&fleet, 1);
    for pane in ["0", "1"] {
        first.until("both see it", |_| {
            first
                .tmux(&["capture-pane", "-p", "-t", pane])
                .contains("4:Inbox ")
        });
    }
    until_decided(&fleet, 1);
}

#[test]
fn where_no_daemon_runs_the_bridge_the_cockpit_does_and_tells_of_its_commands() {
    let fleet = waiting(1);
    let world = &fleet.world;
    world.ok(["config", "set", "integrations.agent.enabled", "true"]);
    world.ok(["config", "set", "integrations.agent.poll_interval", "100ms"]);
    let terminal = or_skip!(Terminal::with_cockpit(world, 80, 24));
    terminal.shows("⚡Agent");
    let (_, status) = world.json(["bridge", "status"]);
    assert_eq!(status["running"]["host"], "cockpit", "{status}");
    let command = |id: &str, verb: &str, payload: serde_json::Value| {
        let command = serde_json::json!([{"id": id, "command": verb, "payload": payload}]);
        let passing = world.home().join("passing.json");
        std::fs::write(&passing, command.to_string()).unwrap();
        std::fs::rename(passing, world.home().join("agent-inbox.json")).unwrap();
    };
    command("a", "create", serde_json::json!({"title": "Fix bug"}));
    terminal.shows("Agent: created 'Fix bug'");
    command("b", "complete", serde_json::json!({"taskId": "1"}));
    terminal.shows("Agent: completed 'Fix bug'");
    command("c", "delete", serde_json::json!({"taskId": "1"}));
    terminal.shows("Agent: deleted 'Fix bug'");
    let outbox = std::fs::read_to_string(world.home().join("agent-outbox.json")).unwrap();
    assert_eq!(outbox.matches("\"ok\"").count(), 3, "{outbox}");
    terminal.keys(&["q"]);
    assert_eq!(terminal.ended(), 0);
    let (_, status) = world.json(["bridge", "status"]);
    assert_eq!(status["running"], serde_json::Value::Null, "{status}");
}
