//! An agent whose sandbox leaves the home unwritable: what it says is left as a word beside its report, and
//! whoever wrote its prompt takes it up.
//!
//! Owns the verbs' side of it, on a real file system that can only be read; the runs of real sandboxed clients
//! are in `agents`.

use std::{fs, path::PathBuf};

use flagpost_testkit::{
    scratch::SmallDisk,
    sealed::{Ran, World},
};
use serde_json::{Value, json};

/// A home that can only be read, with a task that `run-1` was given.
struct Sandbox {
    world: World,
    out: PathBuf,
    /// The home's file system: unmounted last.
    _disk: SmallDisk,
}

impl Sandbox {
    /// `None` where no file system can be mounted.
    fn new() -> Option<Self> {
        let disk = SmallDisk::mount(4_000)?;
        let mut world = crate::world().with("FLAGPOST_HOME", disk.path().join("home"));
        for subject in ["Parse", "Print"] {
            world.ok(["add", subject]);
        }
        let (_, claimed) = world.json(["claim", "1", "--as", "run-1"]);
        let token = claimed["claim"]["token"].to_string();
        let out = world.outside().join("out");
        fs::create_dir(&out).unwrap();
        for (name, value) in [
            ("FLAGPOST_LIST", "web"),
            ("FLAGPOST_TASK", "1"),
            ("FLAGPOST_WORKER", "run-1"),
            ("FLAGPOST_TOKEN", &token),
        ] {
            world.set(name, value);
        }
        world.set("FLAGPOST_REPORT", out.join("report.md"));
        disk.make_read_only();
        Some(Self {
            world,
            out,
            _disk: disk,
        })
    }

    fn words(&self) -> Vec<Value> {
        let mut paths: Vec<PathBuf> = fs::read_dir(&self.out)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        paths.sort();
        let word = |path: &PathBuf| serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        paths.iter().map(word).collect()
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.world.flagpost(args)
    }
}

#[test]
fn what_an_agent_says_is_left_as_a_word() {
    for (args, operation, text) in [
        (
            &["done", "1", "All is written"][..],
            "task.done",
            "All is written",
        ),
        (&["done", "All is written"], "task.done", "All is written"),
        (
            &["fail", "1", "It does not parse"],
            "task.fail",
            "It does not parse",
        ),
        (&["stuck", "Which grammar?"], "task.stuck", "Which grammar?"),
        (&["task", "release"], "task.release", ""),
        (
            &["task", "note", "Mind the gap"],
            "task.note",
            "Mind the gap",
        ),
    ] {
        let sandbox = or_skip!(Sandbox::new());
        let ran = sandbox.run(args);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (0, "said; the run takes it up\n"),
            "{ran}"
        );
        let words = sandbox.words();
        assert_eq!(words.len(), 1, "{words:?}");
        let token = words[0]["token"].clone();
        let expected = json!({
            "operation": operation, "list": "web", "task": "1", "worker": "run-1", "token": token,
            "text": text,
        });
        assert_eq!(words[0], expected);
        assert_eq!(token.is_u64(), operation != "task.note", "{token}");
    }
}

#[test]
fn a_word_is_told_as_json_too() {
    let sandbox = or_skip!(Sandbox::new());
    let (code, said) = sandbox.world.json(["done", "1", "Written"]);
    let expected = json!({
        "schema": "flagpost.said/1", "operation": "task.done", "list": "web", "tasks": ["1"],
        "worker": "run-1",
    });
    assert_eq!((code, said), (0, expected));
}

#[test]
fn what_would_be_refused_is_refused_at_once() {
    let sandbox = or_skip!(Sandbox::new());
    for (args, why) in [
        (&["task", "release", "2"][..], "not claimed"),
        (&["done", "9", "Written"], "no task 9"),
    ] {
        let ran = sandbox.run(args);
        assert!(ran.code != 0 && ran.stderr.contains(why), "{args:?} {ran}");
    }
    assert!(sandbox.words().is_empty());
}

#[test]
fn any_other_change_needs_a_home_that_can_be_written() {
    let mut sandbox = or_skip!(Sandbox::new());
    for args in [
        &["add", "More"][..],
        &["task", "edit", "1", "--subject", "Less"],
        &["done", "1", "Written", "--force"],
        &["task", "renew"],
        &["claim", "2"],
    ] {
        let ran = sandbox.run(args);
        assert_eq!(ran.code, 4, "{args:?} {ran}");
        assert!(
            ran.stderr.contains("the home cannot be written from here"),
            "{ran}"
        );
        assert!(
            ran.stderr.contains("needs a home that can be written"),
            "{ran}"
        );
    }
    assert!(sandbox.words().is_empty());
    assert_eq!(sandbox.run(&["show", "1"]).code, 0);
    // Whoever reports to no run is told of the file system.
    sandbox.world.unset("FLAGPOST_REPORT");
    let ran = sandbox.run(&["done", "1", "Written"]);
    assert!(
        ran.code == 1 && ran.stderr.contains("can only be read"),
        "{ran}"
    );
}
