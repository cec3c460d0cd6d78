//! The tools that a run gives its agents, called by the real clients.

use flagpost_testkit::{
    clients::{self, Client},
    model_server::Step,
};
use serde_json::json;

use super::{for_clients, stage::Stage};

for_clients! {
    claude Claude: an_agent_ends_its_task_with_a_tool;
    codex Codex: an_agent_ends_its_task_with_a_tool;
    opencode Opencode: an_agent_ends_its_task_with_a_tool;
}

fn an_agent_ends_its_task_with_a_tool(client: Client) {
    let stage = or_skip!(Stage::new(client, "- [ ] Write the parser\n"));
    let before = stage.users_files();
    let note = json!({"task": 1, "text": "The lexer was there already"});
    let end = json!({"task": 1, "outcome": "completed", "text": "Parsed"});
    stage.script(
        1,
        [
            Step::calls([clients::served(client, "note", note)]),
            Step::calls([clients::served(client, "end", end)]),
            Step::text("Said."),
        ],
    );
    let run = stage.run(&["--agent", client.as_str()]);
    run.came_to(0, &["PASS"]);
    let (_, task) = stage.world.json(["show", "1"]);
    tells!(task, {"result/text": "Parsed", "notes/0/text": "The lexer was there already"});
    assert_eq!(stage.users_files(), before);
}
