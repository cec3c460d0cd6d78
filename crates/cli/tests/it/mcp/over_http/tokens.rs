//! `worker token`: what is shown, what is kept, and who may.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};

use flagpost_testkit::sealed::World;

use super::{Door, token};
use crate::mcp::{fleet, json_of};

/// Every file below a directory.
fn files(dir: PathBuf) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(path)),
            false => found.push(path),
        }
    }
    found
}

/// The files of the home in which this stands.
fn with(world: &World, text: &str) -> Vec<PathBuf> {
    let all = files(world.home()).into_iter();
    let says = |path: &PathBuf| {
        let bytes = fs::read(path).unwrap_or_default();
        bytes.windows(text.len()).any(|it| it == text.as_bytes())
    };
    all.filter(says).collect()
}

#[test]
fn a_token_is_shown_once_and_only_its_hash_is_kept() {
    let world = fleet(&[]);
    let ran = world.flagpost(["worker", "token", "W1"]);
    assert_eq!(ran.code, 0, "{ran}");
    let shown = ran.stdout.trim();
    assert!(shown.starts_with("W1~") && !shown.contains(' '), "{ran}");
    assert!(ran.stderr.contains("flagpost daemon up"), "{ran}");
    let secret = shown.rsplit('~').next().unwrap();
    assert!(secret.len() >= 64, "{ran}");
    let door = Door::of(&world);
    let told = json_of(&world, &["worker", "token", "W1"]);
    tells!(told, {"worker": "W1", "replaced": true, "address": door.url()});
    let quiet = world.ok(["worker", "token", "W2", "--quiet"]);
    for token in [
        secret,
        &door.token,
        told["token"].as_str().unwrap(),
        quiet.trim(),
    ] {
        assert_eq!(with(&world, token), [""; 0].map(PathBuf::from), "{token}");
    }
    let kept = with(&world, "token_sha256");
    assert_eq!(kept.len(), 2, "{kept:?}");
    for path in kept {
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{path:?}");
    }
    let shown = json_of(&world, &["worker", "show", "W1"]);
    assert_eq!(shown["has_token"], true, "{shown}");
    assert!(!shown.to_string().contains("sha256"), "{shown}");
    let history = world.ok(["history", "--json"]);
    assert_eq!(
        history.matches("worker.token_issued").count(),
        4,
        "{history}"
    );
    world.ok(["doctor"]);
}

#[test]
fn only_a_person_makes_one_and_only_for_a_worker_of_the_fleet() {
    let world = fleet(&[]);
    for agent in ["W1", "W2"] {
        let mut command = world.command();
        command
            .args(["worker", "token", "W1"])
            .env("FLAGPOST_WORKER", agent);
        let ran = world.run(&mut command);
        assert_eq!((ran.code, ran.stdout.as_str()), (4, ""), "{ran}");
    }
    assert_eq!(world.flagpost(["worker", "token", "W9"]).code, 3);
    assert_eq!(world.flagpost(["worker", "token", "../W1"]).code, 6);
    token(&world, "W1");
    world.ok(["worker", "rm", "W1"]);
    assert_eq!(with(&world, "token_sha256").len(), 0);
    assert_eq!(world.flagpost(["worker", "token", "W1"]).code, 3);
    world.ok(["worker", "add", "W1"]);
    tells!(json_of(&world, &["worker", "show", "W1"]), {"has_token": false});
}
