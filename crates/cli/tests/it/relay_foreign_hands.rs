//! What an operator sees of a hand that nobody knows, and how it is settled.

use std::{fs, path::PathBuf};

use flagpost_testkit::sealed::World;
use serde_json::{Value, json};

use crate::fleet::Fleet;

/// A fleet of one, with one brief on ticket 1.
fn fleet() -> (Fleet, PathBuf) {
    let fleet = Fleet::of(1);
    fleet
        .world
        .ok(["assign", "1", "W1", "--inline", "benign words"]);
    let inbox = fleet.inbox("W1");
    (fleet, inbox)
}

fn rewrite(inbox: &std::path::Path, key: &str, value: Value) {
    let path = inbox.join("0001.brief.meta.json");
    let mut sidecar: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    sidecar[key] = value;
    fs::write(&path, sidecar.to_string()).unwrap();
}

/// What the worker gets.
fn next(world: &World) -> i32 {
    world.flagpost(["worker", "next", "--as", "W1"]).code
}

/// Whether the faces name it, with the command that shows it in full; the one that settles it, which
/// that tells.
fn named_everywhere(world: &World, why: &str) -> String {
    let inbox = world.json(["inbox", "--briefs"]).1;
    assert_eq!(inbox["briefs"][0]["withheld"]["why"], why, "{inbox}");
    let shown_by = &inbox["briefs"][0]["withheld"]["settle_with"];
    assert_eq!(shown_by, "flagpost inbox W1 1");
    let status = world.json(["status"]).1;
    let need = &status["needs"]["needs"][0];
    tells!(need, {"kind": "brief", "settle_with": "flagpost inbox W1 1"});
    for face in [&["inbox", "--briefs"][..], &["status"], &["doctor"]] {
        let said = world.flagpost(face);
        let shown_by = "flagpost inbox W1 1";
        assert!(said.stdout.contains(shown_by), "{face:?}: {said}");
        assert!(said.stdout.contains("withheld"), "{face:?}: {said}");
    }
    let workers = world.json(["worker", "list"]).1;
    assert_eq!(workers["workers"][0]["withheld"], 1, "{workers}");
    assert!(world.ok(["worker", "list"]).contains("WITHHELD"));
    let brief = world.json(["inbox", "W1", "1"]).1;
    let settled_by = brief["withheld"]["settle_with"].as_str();
    settled_by.unwrap().to_owned()
}

fn settle(world: &World, command: &str) {
    let args: Vec<&str> = command.split(' ').skip(1).collect();
    world.ok(args);
}

#[test]
fn swapped_words_are_not_ratified_unseen() {
    let (fleet, inbox) = fleet();
    let world = &fleet.world;
    fs::write(inbox.join("0001.brief"), "EVIL").unwrap();
    for asked in [
        &["ratify", "W1", "1"][..],
        &["ratify", "W1"],
        &["ratify", "all"],
        &["slash", "/ratify W1"],
        &["relay", "edit", "W1", "1", "--file", "-"],
    ] {
        let refused = world.flagpost(asked);
        assert_ne!(refused.code, 0, "{asked:?}: {refused}");
        let why = ["changed since it was proposed", "came since you looked"];
        let is_told = why.iter().any(|why| refused.stderr.contains(why));
        assert!(is_told, "{asked:?}: {refused}");
    }
    assert_eq!(next(world), 3);
    let settled_by = named_everywhere(world, "changed_since_proposed");
    let shown = world.ok(["inbox", "W1", "1"]);
    assert!(
        shown.contains("This was proposed:\n\n  benign words\n"),
        "{shown}"
    );
    assert!(
        shown.contains("  body:\n  - benign words\n  + EVIL\n"),
        "{shown}"
    );
    let before = world.json(["inbox", "W1", "1"]).1["before"].clone();
    assert_eq!(before["body"], "benign words");
    assert!(settled_by.contains(" --seen "), "{settled_by}");
    settle(world, &settled_by);
    assert_eq!(next(world), 0);
    assert_eq!(fleet.told("relay.changed_outside").len(), 1);
}

#[test]
fn a_sidecar_rewritten_after_the_decision_is_withheld_and_shown() {
    let (fleet, inbox) = fleet();
    let world = &fleet.world;
    world.ok(["ratify", "W1"]);
    rewrite(&inbox, "kind", json!("merge_go"));
    rewrite(&inbox, "target_ticket", json!("2"));
    assert_eq!(next(world), 3);
    named_everywhere(world, "changed_since_decided");
    let shown = world.ok(["inbox", "W1", "1"]);
    assert!(
        shown.contains("This was decided on:\n\n  benign words\n"),
        "{shown}"
    );
    assert!(
        shown.contains("  kind:\n  - dispatch_brief\n  + merge_go\n"),
        "{shown}"
    );
    let again = world.flagpost(["ratify", "W1", "1"]);
    assert_eq!(again.code, 4, "{again}");
    world.ok(["relay", "reject", "W1", "1", "--reason", "Not mine"]);
    let told = world.ok(["worker", "next", "--as", "W1"]);
    assert!(told.contains("rejected"), "{told}");
    assert_eq!(
        world.json(["doctor"]).1["findings"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
}

#[test]
fn a_flag_by_hand_waits_for_a_person_unless_the_policy_accepts_it() {
    let (fleet, inbox) = fleet();
    let world = &fleet.world;
    fs::write(inbox.join("0001.ratified"), "").unwrap();
    assert_eq!(next(world), 3);
    let settled_by = named_everywhere(world, "foreign_decision");
    assert_eq!(settled_by, "flagpost ratify W1 1");
    let all = world.flagpost(["ratify", "all"]);
    assert!(all.stderr.contains("LEFT ASIDE W1 (seq=0001)"), "{all}");
    fleet.accept_foreign_flags();
    assert_eq!(next(world), 0);
    let brief = world.json(["inbox", "W1", "1"]).1;
    tells!(brief, {"verdict/via": "external", "withheld": null});
}

#[test]
fn contradicting_flags_are_a_finding_and_the_next_verb_mends_them() {
    let (fleet, inbox) = fleet();
    let world = &fleet.world;
    world.ok(["ratify", "W1"]);
    fs::write(inbox.join("0001.rejected"), "").unwrap();
    let found = world.json(["doctor"]).1;
    let finding = &found["findings"][0];
    assert_eq!(finding["code"], "flags-contradict", "{found}");
    let hint = finding["repair"]["by_hand"].as_str();
    let hint = hint.or_else(|| finding["hint"].as_str());
    assert_eq!(
        hint.unwrap_or("flagpost ratify W1 1"),
        "flagpost ratify W1 1"
    );
    settle(world, "flagpost ratify W1 1");
    assert!(inbox.join("0001.ratified").exists() && !inbox.join("0001.rejected").exists());
    assert_eq!(
        world.json(["doctor"]).1["findings"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
    assert_eq!(next(world), 0);
}

#[test]
fn an_expired_brief_stands_in_nobodys_way() {
    let fleet = Fleet::of(1);
    let world = &fleet.world;
    world.ok(["assign", "1", "W1", "--inline", "old"]);
    world.ok(["assign", "2", "W1", "--inline", "new", "--expires-in", "1m"]);
    let later = "FLAGPOST_CLOCK=2026-05-13T15:00:00Z";
    let workers = world.transcript(&format!("{later} worker list --json"));
    assert!(workers.contains("\"to_decide\":1"), "{workers}");
    let said = world.transcript(&format!("{later} ratify W1"));
    assert!(said.contains("RATIFIED #1 old → W1"), "{said}");
    let said = world.transcript(&format!("{later} ratify W1"));
    assert!(
        said.contains("no brief of W1 waits for a decision"),
        "{said}"
    );
}

#[test]
fn a_decision_on_record_says_how_it_came_in() {
    let (fleet, inbox) = fleet();
    let world = &fleet.world;
    world.ok(["ratify", "W1"]);
    let verdict = world.json(["inbox", "W1", "1"]).1["verdict"].clone();
    let hand = &verdict["hand"];
    assert!(hand["uid"].is_u64() && hand["pid"].is_u64(), "{verdict}");
    assert_eq!(hand["tty"], Value::Null, "no terminal");
    assert!(hand["parent"].is_string(), "{verdict}");
    assert_eq!(verdict["via"], "cli");
    let line = fleet.told("relay.decided");
    assert_eq!(line.len(), 1);
    let file = fs::read(inbox.join(".0001.decision.json")).unwrap();
    let file: Value = serde_json::from_slice(&file).unwrap();
    assert_eq!((&file["hand"], &file["line"]), (hand, &verdict["line"]));
    // A rule is on record with the policy that it was read from.
    let policy = "[[rule]]\nname = \"all\"\nthen = \"ratify\"\n";
    fs::write(world.home().join("policy.toml"), policy).unwrap();
    world.ok(["policy", "accept", "--yes"]);
    world.ok(["assign", "2", "W1", "--inline", "by rule"]);
    let verdict = world.json(["inbox", "W1", "2"]).1["verdict"].clone();
    let sha256 = flagpost_model::envelope::Hash::of(policy.as_bytes());
    tells!(verdict, {"rule": "all", "policy": sha256});
}
