//! What Codex' sandboxes leave in the directories of git that a run opened to them is gone after the run, and
//! nothing else is.

use std::{fs, sync::Arc};

use flagpost_testkit::{clients::Client, model_server::Step};

use super::{
    for_clients,
    stage::{Stage, runs},
};

for_clients! {
    codex Codex: what_a_sandbox_left_is_gone_and_what_was_there_stays;
}

fn what_a_sandbox_left_is_gone_and_what_was_there_stays(client: Client) {
    let stage = or_skip!(Stage::new(client, "- [ ] Write the parser\n"));
    let stage = Arc::new(stage);
    let git = stage.world.repository().join(".git");
    fs::create_dir(git.join(".aws")).unwrap();
    let there = git.clone();
    // As one of two commands leaves it that end at once: nobody can make them do so.
    let leaves = Step::by(move |_| {
        for name in [".git", ".codex", ".agents/kept"] {
            fs::create_dir_all(there.join(name)).unwrap();
        }
        runs(client, "flagpost done 1 Parsed")
    });
    stage.script(1, [leaves, Step::text("Said.")]);
    let run = stage.run(&["--agent", client.as_str(), "--worktrees"]);
    run.came_to(0, &["PASS"]);
    let left = [".agents", ".aws", ".codex", ".git"].map(|name| git.join(name).exists());
    assert_eq!(left, [true, true, false, false], "{}", run.shown);
}
