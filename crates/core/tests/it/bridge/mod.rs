//! The JSON bridge: each command once, each item answered, whatever happens meanwhile.

mod a_crash_executes_once;
mod an_id_is_one_commands;
mod answers_in_the_originals_shapes;
mod child;
mod commands_do_what_they_say;
mod files_of_others;
mod trap_12_read_then_clear;
mod trap_13_ack_before_durable;
mod trap_14_poison;
mod trap_15_in_memory_copy;
mod trap_16_two_bridges;
mod trap_17_silence;
mod trap_18_what_updates_forgot;

use std::{ops::ControlFlow::Continue, path::PathBuf};

use flagpost_core::{
    Home,
    bridge::{Bridge, Processor},
};
use flagpost_disk::fsx;
use serde_json::{Value, json};

use crate::world::World;

/// The bridge of this home, for the list `repo`.
pub fn bridge(home: &Home) -> Bridge<'_> {
    Bridge::of(home, Some("repo".parse().unwrap())).unwrap()
}

/// Writes the inbox as an agent does that knows how to.
pub fn put(home: &Home, content: impl AsRef<[u8]>) {
    fsx::replace(home.fs(), &inbox(home), content.as_ref()).unwrap();
}

pub fn inbox(home: &Home) -> PathBuf {
    home.root().join("agent-inbox.json")
}

/// Nothing is in the inbox.
pub fn is_idle(home: &Home) -> bool {
    let text = std::fs::read_to_string(inbox(home)).unwrap_or_default();
    matches!(text.trim(), "" | "[]")
}

/// One pass by a process that has just begun; how many items it dealt with.
pub fn pass(home: &Home) -> usize {
    let bridge = bridge(home);
    let mut processor = Processor::start(&bridge)
        .unwrap()
        .expect("nobody else processes");
    processor.pass(&mut |_| Continue(())).unwrap()
}

/// What the outbox holds.
pub fn answers(home: &Home) -> Vec<Value> {
    bridge(home).answers().unwrap()
}

/// Sends items and answers with what came of each.
pub fn ask(world: &World, items: &Value) -> Vec<Value> {
    put(&world.home, items.to_string());
    let before = answers(&world.home).len();
    let count = pass(&world.home);
    let answers = answers(&world.home);
    assert_eq!(answers.len(), before + count, "every item is answered");
    answers[before..].to_vec()
}

/// A command under an id of its own.
pub fn command(id: &str, verb: &str, payload: Value) -> Value {
    json!({"id": id, "timestamp": "2026-05-13T14:25:00Z", "source": "codex", "command": verb, "payload": payload})
}

/// Sends one command; its data, or its error.
pub fn ask_one(world: &World, verb: &str, payload: Value) -> Result<Value, String> {
    let id = uuid();
    let answer = ask(world, &command(&id, verb, payload)).pop().unwrap();
    assert_eq!(answer["commandId"], json!(id));
    match answer["status"].as_str() {
        Some("ok") => Ok(answer["data"].clone()),
        _ => Err(answer["error"].as_str().unwrap().to_owned()),
    }
}

fn uuid() -> String {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    static LAST: AtomicU64 = AtomicU64::new(0);
    format!("c-{}", LAST.fetch_add(1, Relaxed))
}

/// What is left in the directory of an inbox that was taken in.
pub fn processing(home: &Home) -> Vec<String> {
    let names = home.fs().names(home.root()).unwrap();
    let names = names.iter().map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(".processing")).collect()
}
