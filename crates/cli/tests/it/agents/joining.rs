//! A session of a real client that a person started: it joins the fleet, and its hooks and commands are the
//! worker's, whatever becomes of the conversation.

use flagpost_testkit::{clients::Client, model_server::Step};
use serde_json::json;

use super::{
    for_clients,
    person::{Dialog, Person},
    stage::runs,
};

for_clients! {
    claude Claude: a_session_joins_by_itself_and_acknowledges_its_brief, a_session_is_its_worker_when_it_is_cleared_compacted_and_resumed, the_next_session_is_the_worker;
    codex Codex: the_next_session_is_the_worker;
    gemini Gemini: the_next_session_is_the_worker;
}

/// What the person types, by which the model server knows the session.
const PROMPT: &str = "# Task 9: Take part in the fleet";

/// What a session hears when it starts.
const TOLD: &str = "You are worker W3 of the Flagpost fleet of web.";

fn a_session_joins_by_itself_and_acknowledges_its_brief(client: Client) {
    let person = or_skip!(Person::with(client));
    let world = person.world();
    world.ok(["hooks", "install", "--agent", client.as_str()]);
    person.stage.script(
        9,
        [
            runs(client, "flagpost worker join W3"),
            Step::text("I am done."),
            runs(client, "flagpost worker ack 1"),
            Step::text("Now I am."),
        ],
    );
    let ran = person.asks(PROMPT, &[]);
    let heard = person.stage.heard(9);
    assert!(!heard[0].contains("of the Flagpost fleet"), "{}", heard[0]);
    assert!(heard[1].contains("is worker W3"), "{}", heard[1]);
    // The end of its turn was held, since a brief of W3 waited.
    assert!(heard[2].contains("Rebase on main first"), "{}", heard[2]);
    let (_, brief) = world.json(["inbox", "W3", "1"]);
    assert_eq!(brief["stage"], "read", "{brief}");
    assert_eq!(heard.len(), 4, "{ran}");
}

fn the_next_session_is_the_worker(client: Client) {
    let person = or_skip!(Person::with(client));
    let world = person.world();
    world.ok(["hooks", "install", "--agent", client.as_str()]);
    person.trusts_hooks();
    world.ok(["worker", "join", "W3"]);
    let acks = format!("{} worker ack 1 --as W3", env!("CARGO_BIN_EXE_flagpost"));
    person.stage.script(
        9,
        [
            Step::text("I am done."),
            runs(client, &acks),
            Step::text("Now I am."),
        ],
    );
    let ran = person.asks(PROMPT, &[]);
    let heard = person.stage.heard(9);
    assert!(heard[0].contains(TOLD), "{}\n{ran}", heard[0]);
    let (_, brief) = world.json(["inbox", "W3", "1"]);
    assert_eq!(brief["stage"], "read", "{brief}\n{ran}");
    assert_eq!(heard.len(), 3, "{ran}");
    // The one after it is not.
    person.stage.script(8, [Step::text("Said.")]);
    person.asks("# Task 8: Say so", &[]);
    let heard = person.stage.heard(8);
    assert!(!heard[0].contains(TOLD), "{}", heard[0]);
    let (_, status) = world.json(["hooks", "status", "--agent", client.as_str()]);
    let hooks = status["hooks"].as_array().unwrap();
    let of = |event: &str| hooks.iter().find(|it| it["event"] == event).unwrap();
    for event in ["session-start", "stop"] {
        assert_eq!(of(event)["state"], "installed", "{status}");
        assert!(of(event)["fired"].is_string(), "{status}");
    }
}

fn a_session_is_its_worker_when_it_is_cleared_compacted_and_resumed(client: Client) {
    let person = or_skip!(Person::with(client));
    let (world, stage) = (person.world(), &person.stage);
    world.ok(["hooks", "install", "--agent", client.as_str()]);
    world.ok(["worker", "join", "W3"]);
    let reports = |words: &str| {
        let command = format!("flagpost worker report '{words}'");
        [runs(client, &command), Step::text("Said.")]
    };
    // What was said before is said again in each request: the newest decides.
    stage.script(6, reports("resumed"));
    stage.script(7, reports("compacted"));
    stage.script(8, reports("cleared"));
    let acks = [runs(client, "flagpost worker ack 1"), Step::text("Said.")];
    stage.script(9, acks);
    let mut claude = person.command();
    let streams = [
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
    ];
    claude.args(["-p", "--verbose", "--allowedTools", "Bash(flagpost:*)"]);
    let mut claude = Dialog::with(claude.args(streams));
    for typed in [
        PROMPT,
        "/clear",
        "# Task 8: Go on",
        "/compact",
        "# Task 7: Go on",
    ] {
        let message = json!({"role": "user", "content": typed});
        claude.say(&json!({"type": "user", "message": message}));
        claude.until(|it| it["type"] == "result");
    }
    claude.ends();
    let mut resumed = person.command();
    resumed.args([
        "-p",
        "# Task 6: Go on",
        "--continue",
        "--allowedTools",
        "Bash(flagpost:*)",
    ]);
    let ran = world.run(&mut resumed);
    assert_eq!(ran.code, 0, "{ran}");
    for task in [9, 8, 7, 6] {
        let heard = stage.heard(task);
        assert!(heard[0].contains(TOLD), "task {task}: {}", heard[0]);
    }
    let (_, reports) = world.json(["outbox", "W3"]);
    let reports = reports.to_string();
    for words in ["cleared", "compacted", "resumed"] {
        assert!(reports.contains(words), "{words}: {reports}");
    }
}
