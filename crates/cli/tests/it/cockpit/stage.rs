//! A fleet whose briefs wait, and what became of them.

use std::path::PathBuf;

use flagpost_testkit::race::until;
use serde_json::Value;

use crate::fleet::{Fleet, write_program};

/// A fleet of so many workers, each with a brief that waits.
pub fn waiting(workers: usize) -> Fleet {
    let fleet = Fleet::of(workers);
    for n in 1..=workers {
        propose(
            &fleet,
            &format!("W{n}"),
            &format!("Merge the seal {n}\n\nby noon"),
        );
    }
    fleet
}

/// Proposes a brief; what is assigned has a number of its own.
pub fn propose(fleet: &Fleet, worker: &str, body: &str) {
    let ticket = (1000 + fleet.history().len()).to_string();
    fleet
        .world
        .ok(["assign", &ticket, worker, "--inline", body]);
}

/// The decisions so far, as the history tells them.
pub fn decided(fleet: &Fleet) -> Vec<Value> {
    let mut lines = fleet.history();
    lines.retain(|line| line["kind"] == "relay.decided");
    lines
}

/// Waits for so many decisions.
pub fn until_decided(fleet: &Fleet, count: usize) -> Vec<Value> {
    until("it is decided", || decided(fleet).len() >= count);
    let lines = decided(fleet);
    assert_eq!(lines.len(), count, "{lines:?}");
    lines
}

/// Nothing is decided, and nothing of a decision lies about.
pub fn assert_undecided(fleet: &Fleet, worker: &str) {
    assert_eq!(decided(fleet), Vec::<Value>::new());
    for name in ["0001.ratified", "0001.rejected", ".0001.decision.json"] {
        assert!(!fleet.inbox(worker).join(name).exists(), "{name}");
    }
}

/// What a worker is told next.
pub fn next(fleet: &Fleet, worker: &str) -> Value {
    let mut command = fleet.world.command();
    let asked = command.args(["worker", "next", "--as", worker, "--json"]);
    let output = asked.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// An editor of a few lines of shell; `$1` is the file. What EDITOR is to be.
pub fn editor(fleet: &Fleet, lines: &str) -> PathBuf {
    let path = fleet.world.outside().join("editor");
    write_program(&path, &format!("#!/bin/sh\n{lines}\n"));
    path
}
