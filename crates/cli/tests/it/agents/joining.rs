//! A session of a real client that a person started: it joins the fleet, and its hooks and commands are the
//! worker's.

use std::{env, path::Path};

use flagpost_testkit::{clients::Client, model_server::Step};

use super::{
    for_clients,
    stage::{Stage, runs},
};

for_clients! {
    claude Claude: a_session_joins_by_itself_and_acknowledges_its_brief;
}

/// What the person types, by which the model server knows the session.
const PROMPT: &str = "# Task 9: Take part in the fleet";

fn a_session_joins_by_itself_and_acknowledges_its_brief(client: Client) {
    let Some(stage) = Stage::new(client, "- [ ] Nothing\n") else {
        return;
    };
    let world = &stage.world;
    world.ok(["worker", "add", "W3"]);
    world.ok(["assign", "9", "W3", "--inline", "Rebase on main first"]);
    world.ok(["ratify", "W3"]);
    world.ok(["hooks", "install", "--agent", client.as_str()]);
    stage.script(
        9,
        [
            runs(client, "flagpost worker join W3"),
            Step::text("I am done."),
            runs(client, "flagpost worker ack 1"),
            Step::text("Now I am."),
        ],
    );
    let mut claude = world.command_of("claude");
    claude.args(["-p", PROMPT, "--allowedTools", "Bash(flagpost:*)"]);
    // As on the machine of a person who has installed it.
    let path = claude.get_envs().find(|(name, _)| *name == "PATH");
    let path = path.and_then(|(_, path)| path).unwrap().to_owned();
    let bin = Path::new(env!("CARGO_BIN_EXE_flagpost")).parent().unwrap();
    let dirs = [bin.to_owned()].into_iter().chain(env::split_paths(&path));
    claude.env("PATH", env::join_paths(dirs).unwrap());
    let ran = world.run(&mut claude);
    assert_eq!(ran.code, 0, "{ran}");
    let heard = stage.heard(9);
    assert!(!heard[0].contains("of the Flagpost fleet"), "{}", heard[0]);
    assert!(heard[1].contains("is worker W3"), "{}", heard[1]);
    // The end of its turn was held, since a brief of W3 waited.
    assert!(heard[2].contains("Rebase on main first"), "{}", heard[2]);
    let (_, brief) = world.json(["inbox", "W3", "1"]);
    assert_eq!(brief["stage"], "read", "{brief}");
    assert_eq!(heard.len(), 4, "{ran}");
}
