//! Briefs that one machine proposes, another one decides on and a third one takes.

use std::sync::atomic::Ordering;

use flagpost_testkit::{chance::Chance, fleet_log::Told, sealed::World};

use serde_json::Value;

use super::workers::Log;

/// Who gets them.
pub const WORKERS: [&str; 1] = ["M1"];

/// Proposes until it is over.
pub fn propose(log: &Log, world: &World, mut chance: Chance) {
    while !log.is_over.load(Ordering::Relaxed) {
        let args = [
            "assign", "7", WORKERS[0], "--inline", "Do it", "--as", "lead",
        ];
        log.verb(world, &mut chance, &args);
    }
}

/// Lets through what waits.
pub fn decide(log: &Log, world: &World, mut chance: Chance) {
    while !log.is_over.load(Ordering::Relaxed) {
        log.verb(world, &mut chance, &["ratify", WORKERS[0], "--as", "ann"]);
    }
}

/// Takes what was let through.
pub fn take(log: &Log, world: &World, mut chance: Chance) {
    while !log.is_over.load(Ordering::Relaxed) {
        let told = log.verb(
            world,
            &mut chance,
            &["worker", "next", "--as", WORKERS[0], "--json"],
        );
        let Told::Ok(next) = told else { continue };
        let brief: Value = serde_json::from_str(&next.stdout).unwrap();
        if let Some(seq) = brief["brief"]["seq"].as_u64() {
            let seq = seq.to_string();
            log.verb(
                world,
                &mut chance,
                &["worker", "ack", &seq, "--as", WORKERS[0]],
            );
        }
    }
}
