//! Reports: what is said, what counts as read, and what is refused.

use std::{fs::OpenOptions, process::Stdio};

use serde_json::json;

use crate::fleet::Fleet;

#[test]
fn a_report_that_could_not_be_shown_is_not_read() {
    let fleet = Fleet::of(1);
    let world = &fleet.world;
    world.ok(["worker", "report", "Look at this", "--as", "W1"]);
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = world.command();
    let status = command
        .args(["outbox", "W1", "1"])
        .stdin(Stdio::null())
        .stdout(full)
        .stderr(Stdio::null())
        .status();
    assert_eq!(status.unwrap().code(), Some(1));
    let unread = |world: &flagpost_testkit::sealed::World| {
        world.json(["outbox", "--unread"]).1["total"].clone()
    };
    assert_eq!(unread(world), 1);
    assert!(fleet.told("relay.report_read").is_empty());
    world.ok(["outbox", "W1", "1"]);
    assert_eq!(unread(world), 0);
}

#[test]
fn a_worker_that_looks_at_a_report_of_another_leaves_it_unread() {
    let fleet = Fleet::of(2);
    let world = &fleet.world;
    world.ok(["worker", "report", "Look at this", "--as", "W1"]);
    transcript!(world, @r"
    $ FLAGPOST_WORKER=W2 outbox W1 1
    Look at this
    $ outbox --unread --quiet
    W1/1
    $ outbox W1 1
    Look at this
    $ outbox --unread --quiet
    ");
}

#[test]
fn the_same_words_with_another_next_action_are_another_report() {
    let fleet = Fleet::of(1);
    let say = |more: &[&str]| {
        let args = [&["worker", "report", "Ready", "--as", "W1"], more].concat();
        let (code, told) = fleet.world.json(args);
        assert_eq!(code, 0, "{told}");
        (told["report"]["seq"].clone(), told["replay"].clone())
    };
    assert_eq!(say(&[]), (json!(1), json!(false)));
    assert_eq!(
        say(&["--next-action", "merge_go"]),
        (json!(2), json!(false))
    );
    assert_eq!(say(&["--next-action", "merge_go"]), (json!(2), json!(true)));
}

#[test]
fn there_is_no_pull_request_0() {
    let fleet = Fleet::of(1);
    let ran = fleet
        .world
        .flagpost(["worker", "report", "Ready", "--pr", "0", "--as", "W1"]);
    assert_eq!(ran.code, 6, "{ran}");
    assert!(ran.stderr.contains("begin with 1"), "{ran}");
}

#[test]
fn a_brief_that_is_not_ratified_says_why() {
    let fleet = Fleet::of(2);
    fleet.assign_each(1);
    let lock = fleet.inbox("W1").join(".lock");
    std::fs::remove_file(&lock).unwrap();
    std::fs::create_dir(&lock).unwrap();
    let said = fleet.world.flagpost(["slash", "/ratify all"]);
    assert_eq!(said.code, 1, "{said}");
    assert!(said.stdout.contains("→ W2"), "{said}");
    let why = said
        .stderr
        .lines()
        .find(|it| it.contains("NOT RATIFIED W1"));
    assert!(
        why.unwrap().contains("(os error 21); 'flagpost doctor'"),
        "{said}"
    );
}
