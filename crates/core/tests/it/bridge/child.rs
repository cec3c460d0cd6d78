//! What the other processes of these tests do.

use std::{fs, ops::ControlFlow::Continue, thread, time::Duration};

use flagpost_core::{
    Home, List,
    bridge::{Bridge, NewCommand, Processor, send},
    tasks,
};
use flagpost_testkit::{
    patience::patience,
    race::{self, ChildRole, Children, until},
};
use serde_json::{Value, json};

use super::{command, inbox, put};
use crate::world::{subject, worker};

/// The children of these tests.
pub const CHILDREN: Children = Children::of("bridge::child::main");

/// How many commands each producer sends.
pub const COMMANDS: usize = 200;

#[test]
fn main() {
    let Some(part) = race::part() else { return };
    let home = Home::at(part.place().join("home"));
    match part.role() {
        "serve" => serve(&part, &home),
        "pass through" => (0..COMMANDS).for_each(|_| pass_through(&home)),
        "produce" => produce(&part, &home),
        "send" => send_all(&part, &home),
        "edit" => edit(&part, &home),
        role => panic!("no such part: {role}"),
    }
}

/// Polls every 20 ms until it is killed, or told to stop by a file.
fn serve(part: &ChildRole, home: &Home) {
    let bridge = super::bridge(home);
    let mut processor = None;
    until("nobody else processes", || {
        processor = Processor::start(&bridge).unwrap();
        processor.is_some()
    });
    let mut processor = processor.unwrap();
    part.report("serving");
    while !part.place().join("stop").exists() {
        let passed = processor.pass(&mut |done| {
            if done.error.is_none() {
                part.report(format!("did {}", done.id.as_deref().unwrap_or_default()));
            }
            Continue(())
        });
        passed.unwrap();
        thread::sleep(Duration::from_millis(20));
    }
}

fn pass_through(home: &Home) {
    let bridge = super::bridge(home);
    if let Some(mut processor) = Processor::start(&bridge).unwrap() {
        processor.pass(&mut |_| Continue(())).unwrap();
    }
}

/// Adds commands to the inbox as scripts do: reads it, and writes it anew with one more, half of
/// the time in place.
fn produce(part: &ChildRole, home: &Home) {
    for n in 0..COMMANDS {
        let id = format!("{}-{n}", part.number());
        let new = command(&id, "create", json!({"title": id}));
        let text = fs::read_to_string(inbox(home)).unwrap_or_default();
        let mut items: Vec<Value> = serde_json::from_str(&text).unwrap_or_default();
        items.push(new);
        let text = Value::Array(items).to_string();
        match n % 2 {
            0 => put(home, text),
            _ => fs::write(inbox(home), text).unwrap(),
        }
        part.report(format!("sent {id}"));
        thread::sleep(Duration::from_millis(3));
    }
}

fn send_all(part: &ChildRole, home: &Home) {
    let bridge: Bridge<'_> = super::bridge(home);
    for n in 0..COMMANDS / 4 {
        let id = format!("{}-{n}", part.number());
        let Value::Object(command) = command(&id, "create", json!({"title": id})) else {
            panic!("a command is an object");
        };
        let given = NewCommand {
            command,
            source: flagpost_model::bridge::CommandSource::Custom,
            list: None,
        };
        let answer = send(&bridge, given, patience()).unwrap();
        tells!(answer, {"commandId": id, "status": "ok"});
        part.report(format!(
            "answered {id} {}",
            answer["data"]["id"].as_str().unwrap()
        ));
    }
}

/// Adds and changes tasks as the command line does.
fn edit(part: &ChildRole, home: &Home) {
    let list = List::open(home, &"repo".parse().unwrap()).unwrap();
    for n in 0..COMMANDS {
        let name = format!("by hand {n}");
        let added = tasks::add(&list, &worker("ann"), &subject(&name), &[]).unwrap();
        let note = format!("note {n}");
        tasks::note(
            &list,
            &worker("ann"),
            std::slice::from_ref(&added.id),
            &note,
        )
        .unwrap();
        part.report(format!("added {}", added.id));
    }
}

/// Waits until the inbox has been renamed.
pub fn until_taken_in(home: &Home) {
    until("the inbox is taken in", || super::is_idle(home));
}
