//! The one binary, tried from outside.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "tests arrange the machine by hand"
)]

/// Runs the command lines of a transcript in a world again and compares what each did with the
/// transcript; with a function in the middle, what that makes of it.
macro_rules! transcript {
    ($world:expr, @$told:literal) => {
        insta::assert_snapshot!($world.repeat($told), @$told)
    };
    ($world:expr, $seen:expr, @$told:literal) => {{
        let seen: &dyn Fn(&str) -> String = &$seen;
        insta::assert_snapshot!(seen(&$world.repeat($told)), @$told)
    }};
}

/// What a test cannot do without. Where that is not there, which has been said, the test ends here.
macro_rules! or_skip {
    ($found:expr) => {{
        let Some(found) = $found else { return };
        found
    }};
}

/// Compares what a JSON value has at these places: `"a/0/b"` is what `["a"][0]["b"]` is.
macro_rules! tells {
    ($told:expr, $expected:tt) => {
        crate::compare(&serde_json::json!($told), &serde_json::json!($expected))
    };
}

mod acp;
mod actors;
mod agents;
mod agents_under_their_own_uid;
mod answers;
mod attach;
mod bad_arguments;
mod bad_files;
mod bad_homes;
mod bridge;
mod bulk;
mod claims;
mod closed_pipes;
mod cockpit;
mod colours;
mod completions;
mod config;
mod config_agents;
mod contrib_coord;
mod contrib_poller;
mod contrib_tmux;
mod contrib_units;
mod coordination;
mod coordination_as_a_list;
mod coordination_beside_the_original;
mod daemon;
mod decisions;
mod diff;
mod doctor;
mod doctor_agents;
mod doctor_beside_others;
mod doctor_faults;
mod doctor_histories;
mod doctor_leads_home;
mod doctor_machines;
mod doctor_mail;
mod documents;
mod drawings;
mod exchange;
mod exit_codes;
mod fleet;
mod foreign_mail;
mod foreign_roots;
mod foreign_subjects;
mod golden;
mod hand_made_lists;
mod help;
mod history;
mod hook_settings;
mod hooks;
mod index;
mod init_files;
mod instructions;
mod joined_sessions;
mod land;
mod land_answers;
mod land_checks;
mod land_kills;
mod land_pr;
mod land_remotes;
mod land_settings;
mod land_submodules;
mod land_trees;
mod land_yard;
mod listening;
mod locks;
mod logs;
mod long_chains;
mod manual;
mod markdown_commands;
mod mcp;
mod messages;
mod messages_by_agents;
mod nemesis;
mod notifications;
mod numbers;
mod operators;
mod own_task;
mod permissions;
mod planning;
mod plans;
mod private_files;
mod queries;
mod questions;
mod relay;
mod relay_failures;
mod relay_failures_of_the_daemon;
mod relay_foreign_hands;
mod relay_races;
mod relay_smoke;
mod reports;
mod repositories;
mod reservations;
mod review;
mod run_demo;
mod run_endings;
mod run_environment;
mod run_files;
mod run_full_disk;
mod run_garbage;
mod run_hell;
mod run_leftovers;
mod run_meddling;
mod run_named_agents;
mod run_on_behalf;
mod run_outcomes;
mod run_output;
mod run_overtaken;
mod run_refusals;
mod run_residents;
mod run_schedule;
mod run_screen;
mod run_stage;
mod run_stalls;
mod run_stop;
mod run_stream;
mod run_survives;
mod run_terms;
mod run_waits;
mod run_worktree_setup;
mod run_worktrees;
mod sandboxed;
mod schemas;
mod search;
mod several_machines;
mod status_watch;
mod tasks;
mod texts;
mod times;
mod tmux;
mod truncated_lists;
mod unknown_tasks;
mod what_waits;
mod words_at_the_gate;
mod workers;

use flagpost_testkit::{
    background::Ended,
    sealed::{Ran, World},
};
use serde_json::Value;

/// A sealed world around this binary.
fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_flagpost"), schemas::check)
}

/// The same, where no repository is.
fn world_without_repository() -> World {
    World::without_repository(env!("CARGO_BIN_EXE_flagpost"), schemas::check)
}

/// A world with these tasks.
fn world_with(subjects: &[&str]) -> World {
    let world = world();
    for subject in subjects {
        world.ok(["add", subject]);
    }
    world
}

/// How a program ended, whoever waited for it.
trait Finished: std::fmt::Display {
    fn code(&self) -> i32;
    fn stderr(&self) -> &str;
}

impl Finished for Ran {
    fn code(&self) -> i32 {
        self.code
    }

    fn stderr(&self) -> &str {
        &self.stderr
    }
}

impl Finished for Ended {
    fn code(&self) -> i32 {
        self.code
    }

    fn stderr(&self) -> &str {
        &self.stderr
    }
}

/// What came of a program that must end with this exit code.
#[track_caller]
fn exits<O: Finished>(ran: O, code: i32) -> O {
    assert_eq!(ran.code(), code, "{ran}");
    ran
}

/// The same of one that must also say all of these words on stderr.
#[track_caller]
fn says<O: Finished>(ran: O, code: i32, words: &[&str]) -> O {
    for words in words {
        assert!(ran.stderr().contains(words), "no {words:?}: {ran}");
    }
    exits(ran, code)
}

/// For `tells!`.
#[track_caller]
fn compare(told: &Value, expected: &Value) {
    for (place, expected) in expected.as_object().unwrap() {
        let value = told.pointer(&format!("/{place}"));
        let value = value.unwrap_or(&Value::Null);
        assert_eq!(value, expected, "{place} in {told}");
    }
}

/// Whether this test may mount file systems; says so where it may not.
fn is_root(what: &str) -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        println!("skipped, because it needs root: {what}");
    }
    root
}
