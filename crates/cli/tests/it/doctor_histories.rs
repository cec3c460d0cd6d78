//! What `doctor` says of a history that lost lines, was altered or tells of what did not happen, and how
//! it is mended.

use std::fs;

use serde_json::{Value, json};

use crate::{
    doctor_faults::{chained, edit, finds, finds_and_mends, is_healthy, put, task},
    fleet::Fleet,
    world_with,
};

#[test]
fn a_history_without_a_line_that_can_be_read() {
    let world = world_with(&["a"]);
    put(&world.kept().join("history.jsonl"), "nothing\nof it\n");
    finds_and_mends(&world, 0, "history-damaged");
    world.ok(["add", "b"]);
    is_healthy(&world);
}

#[test]
fn a_decision_misses_the_end_of_its_history() {
    let fleet = Fleet::of(1);
    let world = &fleet.world;
    world.ok(["assign", "1", "W1", "--inline", "Do"]);
    world.ok(["ratify", "W1"]);
    let path = world.kept().join("history.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    let cut: String = whole.lines().take(2).map(|it| format!("{it}\n")).collect();
    for left in [Some(cut), None] {
        match &left {
            Some(cut) => put(&path, cut),
            None => fs::remove_file(&path).unwrap(),
        }
        let found = world.json(["doctor"]).1;
        let findings = found["findings"].as_array().unwrap();
        let finding = findings.iter().find(|it| it["code"] == "history-behind");
        let what = finding.unwrap_or_else(|| panic!("{found}"))["what"].as_str();
        let told = "brief 0001 of W1";
        assert!(what.unwrap().contains(told), "{found}");
        world.flagpost(["doctor", "--fix", "--yes"]);
        let again = world.json(["doctor"]).1.to_string();
        assert!(!again.contains("history-behind"), "{again}");
        let resumed = fs::read_to_string(&path).unwrap();
        let numbers = |text: &str| {
            let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
            last["n"].as_u64().unwrap()
        };
        assert!(numbers(&resumed) > numbers(&whole), "{resumed}");
        put(&path, &whole);
    }
}

#[test]
fn history_jumped() {
    let world = world_with(&["a"]);
    let path = world.kept().join("history.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let mut line: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    line["n"] = json!(9_007_199_254_740_991_u64);
    let jumped = chained(&text, line);
    put(&path, &jumped);
    finds(&world, 1, "history-jumped");
    // One more, and there are none.
    let claimed = world.json(["claim", "1", "--as", "W1"]).1;
    assert_eq!(claimed["claim"]["token"], json!(9_007_199_254_740_992_u64));
    let full = fs::read_to_string(&path).unwrap();
    let refused = world.flagpost(["add", "b"]);
    assert_eq!(refused.code, 6, "{refused}");
    assert!(refused.stderr.contains("flagpost doctor"), "{refused}");
    finds_and_mends(&world, 1, "history-jumped");
    let kept = fs::read_dir(path.with_file_name("quarantine")).unwrap();
    let kept: Vec<_> = kept
        .map(|it| fs::read_to_string(it.unwrap().path()).unwrap())
        .collect();
    assert!(kept.contains(&full), "{kept:?}");
    let n = |line: &str| {
        serde_json::from_str::<Value>(line).unwrap()["n"]
            .as_u64()
            .unwrap()
    };
    let text = fs::read_to_string(&path).unwrap();
    let numbers: Vec<u64> = text.lines().map(n).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    // The claim that was made meanwhile holds, with and without its token.
    world.ok(["task", "start", "1", "--as", "W1"]);
    world.ok([
        "done",
        "1",
        "x",
        "--as",
        "W1",
        "--token",
        "9007199254740992",
    ]);
    world.ok(["add", "b"]);
    world.ok(["claim", "--next", "--as", "W1"]);
    is_healthy(&world);
}

/// What a caller says is no number of ours.
#[test]
fn a_token_that_a_caller_typed_moves_no_number() {
    let world = world_with(&["A"]);
    world.ok(["claim", "1", "--as", "W1"]);
    for token in ["9007199254740990", "99"] {
        let done = world.flagpost(["done", "1", "my words", "--as", "W1", "--token", token]);
        assert_eq!(done.code, 4, "{done}");
        assert!(done.stderr.contains("unknown"), "{done}");
    }
    let (_, shown) = world.json(["show", "1"]);
    assert_eq!(shown["state"], "claimed");
    assert_eq!(shown["late"][0]["text"], "my words");
    assert_eq!(shown["late"][0]["token"], Value::Null);
    is_healthy(&world);
    world.ok(["doctor", "--fix", "--yes"]);
    world.ok(["add", "B"]);
    world.ok(["add", "C"]);
    // Nor is what stands in a task's file since before it was refused, or was written there by hand.
    edit(&task(&world, "1"), |task| {
        let ours = &mut task["metadata"]["flagpost"];
        ours["late"][0]["token"] = json!(9_007_199_254_740_990_u64);
        ours["claim"]["token"] = json!(9_007_199_254_740_990_u64);
    });
    is_healthy(&world);
    world.ok(["add", "D"]);
    let token = world.json(["claim", "2", "--as", "W2"]).1["claim"]["token"].as_u64();
    assert!(token.unwrap() < 100, "{token:?}");
}
