//! A list's name is the fleet's: two that have one name are refused, and never mixed.

use std::path::{Path, PathBuf};

use flagpost_testkit::{race::until, sealed::World};

use super::{clone, founded, git, joined, server_dir};

/// Does something in another directory, and succeeds.
fn at(machine: &World, dir: &Path, args: &[&str]) {
    let ran = machine.run(machine.command().current_dir(dir).args(args));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

/// A repository of this name beside the machine's own, with a task.
fn another(machine: &World, name: &str) -> PathBuf {
    let dir = machine.repository().with_file_name(name);
    std::fs::create_dir(&dir).unwrap();
    git(&dir, &["init", "--quiet"]);
    git(&dir, &["commit", "--quiet", "--allow-empty", "-m", name]);
    at(machine, &dir, &["add", "Of another"]);
    dir
}

#[test]
fn two_lists_of_one_name_are_refused_and_never_mixed() {
    let Some(server) = server_dir() else { return };
    let box_a = founded(&server);
    let other = joined(&server, &box_a, false);

    // One machine has such a list of its own.
    let own = another(&other, "tools");
    at(&other, &own, &["add", "Ours", "--list", "backlog"]);
    box_a.ok(["add", "Of the fleet", "--list", "backlog"]);
    box_a.ok(["add", "After it"]);
    until("it says what stands in the way", || {
        let refused = other.flagpost(["add", "More"]);
        refused.code == 4 && refused.stderr.contains("the fleet has a list backlog")
    });
    assert!(other.ok(["list", "--list", "backlog"]).contains("Ours"));
    at(&other, &own, &["add", "Goes on"]);
    let dir = other.list("backlog");
    std::fs::rename(&dir, dir.with_file_name("backlog-own")).unwrap();
    until("it goes on", || {
        other.flagpost(["list"]).stdout.contains("After it")
    });
    assert!(
        other
            .ok(["list", "--list", "backlog"])
            .contains("Of the fleet")
    );
    assert!(other.ok(["list", "--list", "backlog-own"]).contains("Ours"));

    // Who has one is told before it joins, and is as it was.
    let late = clone(&server, &box_a);
    let own = another(&late, "tools");
    at(&late, &own, &["add", "Ours", "--list", "backlog"]);
    let line = box_a.ok(["fleet", "invite"]);
    let refused = late.feed(["fleet", "join", "-"], line.as_bytes());
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("list backlog"),
        "{}",
        refused.stderr
    );
    assert!(late.ok(["list", "--list", "backlog"]).contains("Ours"));

    // Two repositories of a fleet have no list of one name, whoever makes it.
    let tools = another(&box_a, "tools");
    at(&box_a, &tools, &["fleet", "share"]);
    let third = joined(&server, &box_a, false);
    let refused = third.flagpost(["add", "More", "--list", "tools"]);
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("another repository of the fleet"),
        "{}",
        refused.stderr
    );
}
