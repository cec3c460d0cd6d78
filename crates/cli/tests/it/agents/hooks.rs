//! Hooks in the real clients: a delivered brief reaches a working agent and holds the end of its turn, a
//! reserved file is not edited, and the user's own settings stay as they are. A run adds them to Claude Code
//! and Codex; opencode has them installed.

use std::fs;

use flagpost_testkit::{
    clients::{self, Client},
    model_server::Step,
};

use super::{
    deliveries::{ACKNOWLEDGE, Pause, TOLD, deliver, script},
    for_clients,
    stage::{Stage, runs},
};

for_clients! {
    codex Codex: a_brief_reaches_a_working_agent_and_holds_its_end, a_reserved_file_is_not_edited, without_injection_nothing_is_told;
    claude Claude: a_brief_reaches_a_working_agent_and_holds_its_end, a_reserved_file_is_not_edited, without_injection_nothing_is_told;
    opencode Opencode: a_brief_reaches_a_working_agent, a_reserved_file_is_not_edited;
}

const PLAN: &str = "- [ ] Write the parser\n";
/// Installs the hooks, where a run does not add them.
fn has_hooks(stage: &Stage, client: Client) {
    if client == Client::Opencode {
        stage
            .world
            .ok("hooks install --agent opencode --user --deny-reserved".split(' '));
        // opencode fetches a package for plugins before it loads one, ours needs none: here it is told that
        // the package is there, and needs no network.
        let own = stage.world.outside().join("home").join(".config/opencode");
        fs::create_dir_all(own.join("node_modules")).unwrap();
        let lock = r#"{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"1.18.33"}}}}"#;
        fs::write(own.join("package-lock.json"), lock).unwrap();
    }
}

fn a_brief_reaches_a_working_agent_and_holds_its_end(client: Client) {
    let stage = or_skip!(Stage::new(client, PLAN));
    let before = stage.users_files();
    let (first, pause) = Pause::before(runs(client, "echo one"));
    script(
        &stage,
        client,
        [first, Step::text("I think that I am done.")],
    );
    let run = stage.begin(&["--agent", client.as_str()]);
    deliver(&stage, &pause);
    pause.goes_on();
    let run = stage.ended(run);
    run.came_to(0, &["PASS"]);
    let heard = stage.heard(1);
    assert!(
        heard[0].contains("of the Flagpost fleet of web"),
        "{}",
        heard[0]
    );
    assert!(!heard[0].contains(TOLD), "{}", heard[0]);
    assert!(heard[1].contains(TOLD), "{}", heard[1]);
    // Its turn did not end: it was told why, in another request.
    let again = heard[2].matches(ACKNOWLEDGE).count();
    assert!(
        again > heard[1].matches(ACKNOWLEDGE).count(),
        "{}",
        heard[2]
    );
    assert_eq!(
        heard.len(),
        5,
        "an acknowledged brief holds nothing: {}",
        run.shown
    );
    assert_eq!(stage.users_files(), before);
}

fn a_brief_reaches_a_working_agent(client: Client) {
    let stage = or_skip!(Stage::new(client, PLAN));
    has_hooks(&stage, client);
    let (first, pause) = Pause::before(runs(client, "echo one"));
    stage.script(
        1,
        [
            first,
            runs(client, "flagpost done 1 Parsed"),
            Step::text("Said."),
        ],
    );
    let run = stage.begin(&["--agent", client.as_str()]);
    deliver(&stage, &pause);
    pause.goes_on();
    let run = stage.ended(run);
    run.came_to(0, &["PASS"]);
    let heard = stage.heard(1);
    assert!(
        heard[0].contains("of the Flagpost fleet of web"),
        "{}",
        heard[0]
    );
    assert!(heard[1].contains(TOLD), "{}", heard[1]);
}

fn a_reserved_file_is_not_edited(client: Client) {
    let stage = or_skip!(Stage::new(client, PLAN));
    has_hooks(&stage, client);
    stage.world.ok(["worker", "add", "W7"]);
    stage.world.ok([
        "reserve",
        "add",
        "README.md",
        "--reason",
        "the new lexer",
        "--as",
        "W7",
    ]);
    let readme = stage.world.repository().join("README.md");
    let held = readme.display().to_string();
    let free = stage
        .world
        .repository()
        .join("NEW.md")
        .display()
        .to_string();
    stage.script(
        1,
        [
            Step::calls([clients::write(client, &held, "gone")]),
            Step::calls([clients::write(client, &free, "new")]),
            runs(client, "flagpost done 1 Parsed"),
            Step::text("Said."),
        ],
    );
    let run = stage.run(&["--agent", client.as_str(), "--shared"]);
    run.came_to(0, &["PASS"]);
    assert_eq!(fs::read_to_string(&readme).unwrap(), "# Web\n");
    assert_eq!(fs::read_to_string(&free).unwrap().trim_end(), "new");
    let heard = stage.heard(1);
    for said in ["README.md is reserved by W7 until", "(the new lexer)"] {
        assert!(heard[1].contains(said), "{said} is not in\n{}", heard[1]);
    }
}

fn without_injection_nothing_is_told(client: Client) {
    let stage = or_skip!(Stage::new(client, PLAN));
    let settings = stage.world.home().join("config.toml");
    fs::write(settings, "[run]\ninject = []\n").unwrap();
    stage.script(
        1,
        [runs(client, "flagpost done 1 Parsed"), Step::text("Said.")],
    );
    let run = stage.run(&["--agent", client.as_str()]);
    assert_eq!(run.ends(1), ["PASS"], "{}", run.shown);
    assert!(!stage.heard(1)[0].contains("of the Flagpost fleet of web"));
}
