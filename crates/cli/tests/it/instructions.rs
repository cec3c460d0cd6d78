//! What agents are told: short, by topic, and the same in JSON.

use insta::assert_snapshot;

use crate::world;

#[test]
fn by_topic() {
    let world = world();
    let all = world.ok(["instructions"]);
    assert!(all.starts_with("# Flagpost for agents\n"), "{all}");
    let list = all.split_once("TOPIC`\n\n").unwrap().1;
    assert_snapshot!(list, @r#"
    - tasks: find, read, add and change tasks
    - claims: take a task, keep it, give it back
    - reports: say how a task ended
    - relay: get briefs as a worker, and report back
    - sessions: work under 'flagpost run'
    - messages: take tasks from an orchestrator, and answer
    - files: take part without this program
    "#);
    for topic in world.ok(["instructions", "--quiet"]).lines() {
        let text = world.ok(["instructions", topic]);
        assert!(text.to_lowercase().starts_with(&format!("# {topic}")));
        assert!(text.lines().count() <= 30, "{topic} is no few words");
        assert!(text.lines().all(|line| line.chars().count() <= 80));
        let (code, json) = world.json(["instructions", topic]);
        assert_eq!((code, &json["text"]), (0, &text.into()));
        assert_eq!(json["topic"], topic);
    }
    let (_, json) = world.json(["instructions"]);
    let topics = serde_json::json!([
        "tasks", "claims", "reports", "relay", "sessions", "messages", "files"
    ]);
    tells!(json, {"schema": "flagpost.instructions/1", "topic": null, "topics": topics});
    assert!(!world.home().exists(), "telling leaves no trace");
}

#[test]
fn an_unknown_topic() {
    transcript!(world(), @r#"
    $ instructions nope
    exit 3
    2> flagpost: there is no topic "nope"
    2>   hint: there are tasks, claims, reports, relay, sessions, messages, files
    $ instructions nope --json
    exit 3
    {"schema":"flagpost.error/1","kind":"not_found","exit_code":3,"message":"there is no topic \"nope\"","hint":"there are tasks, claims, reports, relay, sessions, messages, files","causes":[]}
    "#);
}

/// What `init` writes stands in every agent's context: it stays short.
#[test]
fn the_block_is_short() {
    let world = world();
    world.ok(["init"]);
    let text = std::fs::read_to_string(world.repository().join("AGENTS.md")).unwrap();
    assert!(text.lines().count() <= 16, "{text}");
    assert!(text.len() < 1_000, "{} bytes", text.len());
}
