//! The pages' scripts against a daemon, run by node.

use std::{path::PathBuf, process::Command};

use flagpost_testkit::repository;

use crate::served::Place;

/// The node that `./check` installs for the agents; without it the test is said to be skipped.
fn node() -> Option<PathBuf> {
    let named = std::env::var_os("FLAGPOST_TEST_NODE").filter(|it| !it.is_empty());
    let node = named.map_or_else(
        || repository::root().join("target/agents/node_modules/.bin/node"),
        PathBuf::from,
    );
    let is_there = node.exists();
    if !is_there {
        eprintln!("skipped: node is not installed (./check installs it into target/agents/)");
    }
    is_there.then_some(node)
}

#[test]
fn a_browser_signs_in_and_shows_what_waits_and_what_happens() {
    let Some(node) = node() else {
        return;
    };
    let place = Place::new();
    let served = place.serve();
    assert_eq!(served.post("/v1/workers", r#"{"id":"W1"}"#).status, 200);
    let assigned = r#"{"command":"/assign 7 W1","text":"<b>Merge</b> the seal"}"#;
    let told = served.post("/v1/controller/dispatch", assigned);
    assert_eq!(told.json()["exit_status"], 0, "{told:?}");
    let link = served.post("/v1/links", "").json();
    let of_crate = repository::root().join("crates/daemon");
    let ran = Command::new(node)
        .arg(of_crate.join("tests/it/pages.mjs"))
        .arg(of_crate.join("src/pages"))
        .arg(link["url"].as_str().unwrap())
        .env("NODE_NO_WARNINGS", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
}
