//! A conversation that is gone when it is to go on: the task begins anew, and is told all.

use std::fs;

use flagpost_testkit::{clients::Client, model_server::Step};

use super::{
    for_each_client,
    stage::{Stage, runs},
};

for_each_client!(where_the_conversation_is_gone_the_task_begins_anew);

fn where_the_conversation_is_gone_the_task_begins_anew(client: Client) {
    let stage = or_skip!(Stage::new(client, "- [ ] Choose the grammar\n"));
    stage.script(
        1,
        [
            runs(client, "flagpost stuck 1 'LL or LR?'"),
            Step::text("I asked."),
            runs(client, "flagpost done 1 'LL it is'"),
            Step::text("Said."),
        ],
    );
    let args = ["--agent", client.as_str(), "--retries", "1"];
    let first = stage.run(&args);
    assert_eq!((first.code, first.fate(1)), (1, "stuck"), "{}", first.shown);
    let kept = match client {
        Client::Claude => ".claude/projects",
        Client::Codex => ".codex/sessions",
        Client::Gemini => ".gemini/tmp",
        _ => ".local/share/opencode",
    };
    fs::remove_dir_all(stage.world.outside().join("home").join(kept)).unwrap();
    stage.world.ok(["answer", "1", "LL, since it is small"]);
    let second = stage.run(&args);
    assert_eq!(
        (second.code, second.ends(1)),
        (0, vec!["PASS".to_owned()]),
        "{}",
        second.shown
    );
    assert!(
        first.sessions(1).is_disjoint(&second.sessions(1)),
        "{}",
        second.shown
    );
    let notices = second.told("session.notice");
    let said = |it: &&&serde_json::Value| it.to_string().contains("it begins anew");
    assert_eq!(notices.iter().filter(said).count(), 1, "{}", second.shown);
    let anew = &stage.heard(1)[2];
    assert!(!anew.contains("I asked."), "{anew}");
    for said in ["LL or LR?", "LL, since it is small", "How to report"] {
        assert!(anew.contains(said), "{said} is not in\n{anew}");
    }
}
