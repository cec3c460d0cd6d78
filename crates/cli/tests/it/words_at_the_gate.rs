//! What an operator is told at the gate: about which brief, why, and what comes next.

use std::fs;

use flagpost_testkit::sealed::Ran;
use serde_json::{Value, json};

use crate::{exits, fleet::Fleet, says};

/// The inbox of W1 holds one brief that was rewritten and one that an unknown hand let through.
fn meddled() -> Fleet {
    let fleet = Fleet::of(2);
    for (ticket, words) in [("1", "Merge the seal"), ("2", "Write the parser")] {
        fleet.world.ok(["assign", ticket, "W1", "--inline", words]);
    }
    let inbox = fleet.inbox("W1");
    fs::write(inbox.join("0001.brief"), "EVIL").unwrap();
    fs::write(inbox.join("0002.ratified"), "").unwrap();
    fleet
}

fn wide(ran: &str) -> usize {
    ran.lines().map(|it| it.chars().count()).max().unwrap_or(0)
}

#[test]
fn nothing_is_let_through_before_its_words_were_shown() {
    let fleet = meddled();
    let world = &fleet.world;
    for face in [&["inbox", "--briefs"][..], &["status"], &["doctor"]] {
        let said = world.flagpost(face);
        for seq in ["1", "2"] {
            let shows = format!("flagpost inbox W1 {seq}");
            assert!(said.stdout.contains(&shows), "{face:?}: {said}");
        }
        assert!(!said.stdout.contains("flagpost ratify W1"), "{said}");
        assert!(!said.stdout.contains("--seen"), "{face:?}: {said}");
    }
    for brief in world.json(["inbox", "--briefs"]).1["briefs"]
        .as_array()
        .unwrap()
    {
        let (seq, settled) = (&brief["brief"]["seq"], &brief["withheld"]["settle_with"]);
        assert_eq!(settled, &json!(format!("flagpost inbox W1 {seq}")));
    }
    let refused = says(
        world.flagpost(["ratify", "W1", "1"]),
        4,
        &["'flagpost inbox W1 1'"],
    );
    assert!(!refused.stderr.contains("--seen"), "{refused}");
}

#[test]
fn a_brief_in_full_names_both_ways_to_settle_it_and_fits_on_80_columns() {
    let fleet = meddled();
    let world = &fleet.world;
    let shown = world.ok(["inbox", "W1", "1"]);
    let brief = world.json(["inbox", "W1", "1"]).1;
    let hash = brief["envelope"].as_str().unwrap();
    let ratify = format!("flagpost ratify W1 1 \\\n    --seen {hash}\n");
    assert!(shown.contains(&ratify), "{shown}");
    assert!(shown.contains("'flagpost reject W1 1'"), "{shown}");
    assert!(wide(&shown) <= 80, "{shown}");
    let settled = brief["withheld"]["settle_with"].as_str().unwrap();
    assert_eq!(settled, format!("flagpost ratify W1 1 --seen {hash}"));
    let foreign = world.json(["inbox", "W1", "2"]).1;
    let settled = foreign["withheld"]["settle_with"].as_str().unwrap();
    assert_eq!(settled, "flagpost ratify W1 2");
}

#[test]
fn ratify_all_names_what_it_left_aside_and_what_comes_next() {
    let fleet = meddled();
    let ran = fleet.world.flagpost(["ratify", "all"]);
    for (seq, why) in [
        ("1", "changed since it was proposed"),
        ("2", "decided by an unknown hand"),
    ] {
        let line = ran.stderr.lines().find(|line| line.contains(why));
        let line = line.unwrap_or_else(|| panic!("{ran}"));
        assert!(line.contains(&format!("W1 (seq=000{seq})")), "{ran}");
        let next = format!("'flagpost inbox W1 {seq}'");
        assert!(ran.stderr.contains(&next), "{ran}");
    }
    assert!(!ran.stdout.contains("nothing waits"), "{ran}");
    let (_, told) = fleet.world.json(["ratify", "all"]);
    let left = told["left_aside"].as_array().unwrap();
    assert_eq!(left.len(), 1, "{told}");
    assert_eq!(left[0]["why"], "foreign_decision");
    let scoped = fleet.world.flagpost(["ratify", "all", "--scope", "W2"]);
    assert_eq!(
        scoped.stdout, "nothing in W2 waits for you; 2 other briefs wait\n",
        "{scoped}"
    );
}

#[test]
fn a_wrong_hash_is_told_with_the_brief_and_the_next_command() {
    let fleet = meddled();
    let world = &fleet.world;
    world.ok(["assign", "3", "W2", "--inline", "Benign"]);
    let wrong = "a".repeat(64);
    for worker in ["W1", "W2"] {
        let ran = exits(world.flagpost(["ratify", worker, "1", "--seen", &wrong]), 4);
        let words = [
            &*format!("brief 0001 of {worker} "),
            " the hash aaaaaaaaaaaa…",
        ];
        assert!(words.iter().all(|it| ran.stderr.contains(it)), "{ran}");
        let next = format!("'flagpost inbox {worker} 1'");
        assert!(ran.stderr.contains(&next), "{ran}");
    }
    let ran = world.flagpost(["ratify", "W1", "1", "--seen", "12"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.stderr.contains("64 hexadecimal digits"), "{ran}");
}

#[test]
fn raw_bytes_of_a_withheld_brief_come_with_a_warning() {
    let fleet = meddled();
    let ran = fleet.world.flagpost(["inbox", "W1", "1", "--raw"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "EVIL"), "{ran}");
    let warned = "W1 0001 is withheld: changed since it was proposed";
    assert!(ran.stderr.contains(warned), "{ran}");
    fleet.world.ok(["assign", "3", "W2", "--inline", "Benign"]);
    let ran = fleet.world.flagpost(["inbox", "W2", "1", "--raw"]);
    assert_eq!(ran.stderr, "", "{ran}");
}

#[test]
fn a_malformed_brief_is_named_by_a_path_that_is_there() {
    let fleet = Fleet::of(1);
    let sidecar = fleet.inbox("W1").join("0001.brief.meta.json");
    fleet.world.ok(["assign", "1", "W1", "--inline", "Do"]);
    fs::write(&sidecar, "{").unwrap();
    let ran = exits(fleet.world.flagpost(["inbox", "W1", "1"]), 6);
    let path = fleet.world.redact(&sidecar.display().to_string());
    assert!(ran.stderr.contains(&path), "{path}: {ran}");
    assert!(!ran.stderr.contains("inbox/W1"), "{ran}");
}

#[test]
fn relay_show_is_another_word_for_the_inbox() {
    let fleet = Fleet::of(1);
    fleet.world.ok(["assign", "1", "W1", "--inline", "Do it"]);
    assert_eq!(fleet.world.ok(["relay", "show", "W1", "1"]), "Do it\n");
}

#[test]
fn a_hint_names_the_brief_that_it_is_about() {
    let fleet = Fleet::of(2);
    let world = &fleet.world;
    let names = |ran: &Ran, command: &str| assert!(ran.stderr.contains(command), "{ran}");
    world.ok(["assign", "1", "W2", "--inline", "Do", "--as", "hub"]);
    let unseen = world.flagpost(["ratify", "W2"]);
    names(&unseen, "'flagpost inbox W2'");
    names(&unseen, "'flagpost ratify W2 1'");
    let rejected = world.flagpost(["relay", "reject", "W2"]);
    names(&rejected, "'flagpost reject W2 1'");
    let seq = world.flagpost(["ratify", "all", "1"]);
    assert!(!seq.stderr.contains("W3"), "{seq}");
    let mut edit = world.command();
    edit.env("EDITOR", "true").args(["relay", "edit", "W2"]);
    names(&world.run(&mut edit), "'flagpost ratify W2 1'");
}

#[test]
fn a_key_that_stands_twice_makes_a_sidecar_malformed() {
    let fleet = Fleet::of(1);
    let sidecar = fleet.inbox("W1").join("0001.brief.meta.json");
    fleet.world.ok(["assign", "1", "W1", "--inline", "Do"]);
    let text = fs::read_to_string(&sidecar).unwrap();
    let twice = text.replacen('{', "{\"summary\":\"Something else\",", 1);
    fs::write(&sidecar, twice).unwrap();
    says(
        fleet.world.flagpost(["inbox", "W1", "1"]),
        6,
        &["\"summary\" stands in it twice"],
    );
    assert_ne!(fleet.world.flagpost(["ratify", "W1", "1"]).code, 0);
}

#[test]
fn a_brief_that_nobody_proposed_is_marked_as_a_foreign_hands() {
    let fleet = Fleet::of(1);
    let (world, inbox) = (&fleet.world, fleet.inbox("W1"));
    world.ok(["assign", "1", "W1", "--inline", "Ours"]);
    let text = fs::read_to_string(inbox.join("0001.brief.meta.json")).unwrap();
    let mut sidecar: Value = serde_json::from_str(&text).unwrap();
    for key in ["id", "data"] {
        sidecar.as_object_mut().unwrap().remove(key);
    }
    sidecar["seq"] = json!("0007");
    sidecar["summary"] = json!("Theirs");
    fs::write(inbox.join("0007.brief.meta.json"), sidecar.to_string()).unwrap();
    fs::write(inbox.join("0007.brief"), "Ours").unwrap();
    let listed = world.ok(["inbox", "--briefs"]);
    assert!(listed.contains("W1      0001  pending  "), "{listed}");
    assert!(listed.contains("W1      0007  foreign  "), "{listed}");
    let told = "W1 0007 was put there by an unknown hand: nobody is on record for it";
    assert!(listed.contains(told), "{listed}");
    let briefs = world.json(["inbox", "--briefs"]).1["briefs"].clone();
    assert_eq!(briefs[0]["unproposed"], false, "{briefs}");
    assert_eq!(briefs[1]["unproposed"], true, "{briefs}");
}

#[test]
fn a_policy_says_which_words_it_takes() {
    let fleet = Fleet::of(1);
    let policy = fleet.world.home().join("policy.toml");
    fs::write(policy, "foreign_flags = true\n").unwrap();
    let ran = fleet
        .world
        .flagpost(["assign", "1", "W1", "--inline", "Do"]);
    let told = "foreign_flags is \"ask\" or \"accept\", not true";
    assert!(ran.stderr.contains(told), "{ran}");
}
