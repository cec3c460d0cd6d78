//! A person goes on with the conversation of an agent that a run has at work, in the client's own window; then the run
//! goes on with it.

use std::fs;

use flagpost_testkit::{
    clients::{Client, shell},
    model_server::Step,
};
use serde_json::json;

use super::stage::{Stage, runs};
use crate::{cockpit::terminal::Terminal, says};

/// What Claude Code asks a new user, and in a new place, before it opens its window was answered.
fn knows_its_user(stage: &Stage) {
    let place = stage.world.repository().display().to_string();
    let settings = json!({
        "hasCompletedOnboarding": true,
        "theme": "dark",
        "customApiKeyResponses": {"approved": ["sk-ant-fake"], "rejected": []},
        "projects": {place: {"hasTrustDialogAccepted": true}},
    });
    let path = stage.world.outside().join("home/.claude.json");
    fs::write(path, settings.to_string()).unwrap();
}

#[test]
#[ignore = "the whole client matrix: ./check --all"]
fn a_person_takes_over_the_conversation_of_claude_and_the_run_goes_on_with_it() {
    let client = Client::Claude;
    let stage = or_skip!(Stage::new(client, "- [ ] Find the word\n"));
    knows_its_user(&stage);
    stage.script(
        1,
        [
            Step::calls([shell(client, "touch begun; sleep 600")]),
            // What the person asks, in the client's own window.
            Step::text("The word is lantern."),
            // In the same conversation, of the run.
            runs(client, "flagpost done 1 'Lantern'"),
            Step::text("Said."),
        ],
    );
    let mut run = stage.begin(&["--agent", "claude", "--retries", "1", "--shared"]);
    stage.until("it works", &mut run, |_| {
        stage.world.repository().join("begun").exists()
    });
    let terminal = or_skip!(Terminal::open(&stage.world, 100, 30));
    let claude = stage.world.command_of("claude");
    let path = claude.get_envs().find(|(name, _)| *name == "PATH");
    let path = path.and_then(|(_, path)| path).unwrap().to_str().unwrap();
    terminal.runs(&format!("PATH=\"$PATH:{path}\"; clear"));
    terminal.runs("flagpost attach 1");
    // The conversation has the name that the run gave it. It takes no key for a moment after it opened.
    terminal.shows("web/1#1");
    terminal.rests();
    assert_eq!(stage.states(1), ["stuck"]);
    let again = stage.world.flagpost(["attach", "1"]);
    says(again, 3, &["it is taken up", "flagpost answer 1"]);
    let types = |words: &str| {
        terminal.until("it takes keys", |screen| {
            let is_typed = screen.contains(words);
            if !is_typed {
                terminal.keys(&["C-u"]).types(words);
                terminal.rests();
            }
            is_typed
        });
        terminal.keys(&["Enter"]);
    };
    types("Which word?");
    terminal.shows("The word is lantern.");
    types("/exit");
    terminal.shows("a run goes on with it");
    let run = stage.ended(run);
    run.came_to(0, &["STUCK", "PASS"]);
    let sessions = run.events.iter().filter(|it| it["event"] == "task.session");
    let sessions: Vec<_> = sessions
        .map(|it| (&it["client_session"], &it["resumed"]))
        .collect();
    assert_eq!(sessions.len(), 2, "{}", run.shown);
    assert_eq!(
        (sessions[0].0, sessions[1].1),
        (sessions[1].0, &json!(true)),
        "{}",
        run.shown
    );
}
