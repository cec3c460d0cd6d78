//! Briefs and decisions, as the operator types them.

use flagpost_testkit::sealed::World;
use insta::assert_snapshot;

use crate::world;

/// The text with each message's own id, which differs from run to run, named.
fn named(told: &str) -> String {
    let mut parts = told.split("\"id\":\"01");
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        all += "\"id\":\"[id]";
        all += &part[34..];
    }
    all
}

/// A fleet of two, and a brief for each.
fn fleet() -> World {
    let world = world();
    world.ok(["worker", "add", "W1", "--agent", "claude"]);
    world.ok(["worker", "add", "W2"]);
    world.ok([
        "assign",
        "#1192",
        "W1",
        "--inline",
        "# Merge the seal\n\nAll of it.\n",
    ]);
    world.ok(["assign", "1244", "W2", "--inline", "Write the parser"]);
    world
}

#[test]
fn assign() {
    let world = world();
    world.ok(["worker", "add", "W7"]);
    std::fs::write(world.repository().join("brief.md"), "# From a file\n").unwrap();
    assert_snapshot!(named(&world.transcript(
        "assign '#1244' W7 --brief brief.md
        assign 1244 W7 --brief brief.md
        assign 1245 W7 --inline 'Now' --summary 'Short' --expires-in 2h --json
        assign 1246 W7 --inline Then --quiet
        assign x1 W7 --inline a
        assign 1 ../W7 --inline a
        assign 1 W9 --inline a
        assign 1 W7 --brief nope.md
        assign 1 W7 --inline a --brief brief.md
        assign 1 W7 --inline ' '
        assign 1 W7 --inline a --expires-in never
        assign 1 W7")), @"");
    let fed = world.feed(["assign", "7", "W7"], b"From stdin\n");
    assert_eq!(fed.stdout, "ASSIGNED #7 → W7 (seq=0004)\n");
}

#[test]
fn a_worker_that_nobody_answers_for_gets_no_work() {
    let world = world();
    world.ok(["worker", "add", "W7"]);
    assert_snapshot!(world.transcript(
        "FLAGPOST_CLOCK=2026-05-13T15:00:00Z assign 1 W7 --inline a
        FLAGPOST_CLOCK=2026-05-13T15:00:00Z worker heartbeat W7
        FLAGPOST_CLOCK=2026-05-13T15:00:00Z assign 1 W7 --inline a"), @"");
}

#[test]
fn inbox() {
    assert_snapshot!(named(&fleet().transcript(
        "inbox
        inbox W2
        inbox --quiet
        inbox --limit 1
        inbox W1 1
        inbox W1 1 --json
        inbox W1 9
        inbox W9
        inbox W1 0
        ratify W1
        inbox W1
        inbox W1 --json
        inbox --all")), @"");
}

#[test]
fn ratify() {
    let world = fleet();
    assert_snapshot!(named(&world.transcript(
        "ratify W1 1
        ratify W1 1
        relay reject W1 1
        ratify W1
        ratify W1 7
        ratify W9
        ratify
        ratify W1 --scope 'W*'
        ratify all 1
        ratify all --scope 'W{'
        ratify all --scope 'W{1,3}'
        ratify all --json
        ratify all
        ratify all --quiet
        ratify all --count-status")), @"");
    for text in ["one", "two", "three"] {
        world.ok(["relay", "redirect", "W1", text]);
    }
    assert_eq!(world.flagpost(["ratify", "all", "--count-status"]).code, 3);
}

#[test]
fn reject() {
    let world = fleet();
    assert_snapshot!(named(&world.transcript(
        "relay reject W1 --reason 'Too large: split it'
        relay reject W1 1
        ratify W1 1
        relay reject W2 1 --json
        relay reject W2
        worker next --as W1")), @"");
}

#[test]
fn edit() {
    let world = fleet();
    std::fs::write(world.repository().join("better.md"), "Better\n").unwrap();
    assert_snapshot!(named(&world.transcript(
        "relay edit W1
        EDITOR='sed -i s/seal/door/' relay edit W1 1
        inbox W1 1
        EDITOR=true relay edit W1 1
        EDITOR=false relay edit W2
        EDITOR=true relay edit W1
        relay edit W2 1 --file better.md --json
        worker next --as W2")), @"");
    let left = std::fs::read_dir(world.home()).unwrap();
    let drafts = left.filter(|it| {
        let name = it.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with("draft-")
    });
    assert_eq!(
        drafts.count(),
        1,
        "what was refused is kept, the rest is gone"
    );
}

#[test]
fn redirect_and_merge() {
    let world = fleet();
    world.ok([
        "worker", "report", "Ready", "--pr", "12", "--ticket", "9", "--as", "W2",
    ]);
    assert_snapshot!(named(&world.transcript(
        "relay redirect W1 'Look at #1244 first'
        relay redirect W1
        relay redirect W9 x
        relay redirect W1 Stop --json
        relay merge 12
        relay merge 13
        relay merge x")), @"");
}

#[test]
fn outbox() {
    let world = fleet();
    assert_snapshot!(named(&world.transcript(
        "outbox
        worker report 'Cycle 3 complete' --re 1 --as W1
        worker report 'Which grammar?' --kind blocked --ticket 7 --as W2
        outbox
        outbox W1 --json
        outbox W1 1
        outbox --unread
        outbox W1 1 --json
        outbox W1 2")), @"");
}

#[test]
fn gc() {
    let world = fleet();
    assert_snapshot!(world.transcript("relay gc\nrelay gc --dry-run --json"), @"");
    for number in 0..101 {
        world.ok(["relay", "redirect", "W1", &format!("Turn {number}")]);
    }
    world.ok(["ratify", "all"]);
    for number in ["1", "2", "3"] {
        world.ok(["worker", "ack", number, "--as", "W1"]);
    }
    assert_snapshot!(world.transcript("relay gc --dry-run\nrelay gc\nrelay gc --quiet"), @"");
}

#[test]
fn slash() {
    let world = fleet();
    assert_snapshot!(named(&world.transcript(
        "slash '/inbox'
        slash '/ratify all --scope=W{1,3}'
        slash '/ratify all' --json
        slash '/ratify all'
        slash '/ratify W1'
        slash '/reject W1 1'
        slash '/assign #7 W2 --inline=\"Fix it, now\"'
        slash '/assign seven W2 --inline=x'
        slash '/assign 7 W9 --inline=x'
        slash '/assign 7 W2 --brief=nope.md'
        slash '/redirect W2 do not stop'
        EDITOR='sed -i s/not/never/' slash '/edit W2'
        slash '/reject W2'
        slash '/merge 12'
        slash '/outbox W1'
        slash '/relay-gc'
        slash '/search PARSER' --quiet
        slash '/nope'
        slash ratify
        slash")), @"");
}

#[test]
fn a_policy_ratifies_what_it_names() {
    let world = world();
    world.ok(["worker", "add", "W1"]);
    let policy = world.home().join("policy.toml");
    let rule = "[[rule]]\nname = \"turns\"\nkind = \"redirect\"\nthen = \"ratify\"\n";
    std::fs::write(&policy, rule).unwrap();
    let turned = world.transcript("relay redirect W1 Left\nassign 1 W1 --inline Right");
    std::fs::write(&policy, "[[rule]]\nthen = \"yes\"\n").unwrap();
    let broken = world.transcript("relay redirect W1 Back");
    assert_snapshot!(turned + &broken, @"");
}

#[test]
fn nowhere() {
    assert_snapshot!(world().transcript("inbox\nworker list\nslash '/ratify all' --json"), @"");
}
