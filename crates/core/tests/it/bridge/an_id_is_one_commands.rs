//! An id belongs to the first command under it, and to nothing that never happened.

use std::{fs, ops::ControlFlow::Continue};

use flagpost_core::bridge::{NewCommand, Processor, send};
use flagpost_model::bridge::CommandSource;
use flagpost_testkit::patience::patience;
use serde_json::{Value, json};

use super::{answers, ask, bridge, command, pass, put};
use crate::world::{World, add, tasks_of};

#[test]
fn the_same_command_again_gets_the_recorded_answer() {
    let world = World::real();
    let create = command("same", "create", json!({"title": "a"}));
    let first = ask(&world, &create).pop().unwrap();
    let mut later = create.clone();
    later["timestamp"] = json!("2026-05-13T14:26:00Z");
    put(&world.home, json!([create, later]).to_string());
    assert_eq!(pass(&world.home), 2);
    assert_eq!(answers(&world.home), [first]);
    assert_eq!(tasks_of(&world.list()).len(), 1);
}

#[test]
fn another_command_under_it_is_refused_by_name_and_takes_nothing_away() {
    let world = World::real();
    let create = command("same", "create", json!({"title": "a"}));
    let first = ask(&world, &create).pop().unwrap();
    for other in [
        command("same", "delete", json!({"taskId": "1"})),
        command("same", "show", json!({"taskId": "1"})),
        command("same", "create", json!({"titel": "a"})),
    ] {
        put(&world.home, other.to_string());
        assert_eq!(pass(&world.home), 1);
        let [answer] = answers(&world.home).try_into().unwrap();
        assert_eq!(answer["commandId"], "same");
        let error = answer["error"].as_str().unwrap();
        assert!(error.contains("the id \"same\" was used before"), "{error}");
    }
    assert_eq!(tasks_of(&world.list()).len(), 1);
    put(&world.home, create.to_string());
    pass(&world.home);
    assert_eq!(answers(&world.home), [first], "it is still on record");
}

#[test]
fn who_mends_a_refused_command_gives_it_an_id_of_its_own() {
    let world = World::real();
    ask(&world, &command("c", "create", json!({"title": ""})));
    put(
        &world.home,
        command("c", "create", json!({"title": "a"})).to_string(),
    );
    pass(&world.home);
    let error = answers(&world.home).pop().unwrap()["error"].clone();
    assert!(error.as_str().unwrap().contains("a new id"), "{error}");
}

/// Here a directory stands where the list's lock should be, which stops root as well.
#[test]
fn what_the_machine_refused_may_be_asked_again_under_it() {
    let world = World::real();
    let lock = world.path(".lock");
    fs::create_dir(&lock).unwrap();
    let create = command("c", "create", json!({"title": "a"}));
    let refused = ask(&world, &create).pop().unwrap();
    assert_eq!(refused["status"], "error", "{refused}");
    fs::remove_dir(&lock).unwrap();
    for _ in 0..2 {
        put(&world.home, create.to_string());
        pass(&world.home);
        let [answer] = answers(&world.home).try_into().unwrap();
        assert_eq!(answer["status"], "ok", "{answer}");
    }
    assert_eq!(tasks_of(&world.list()).len(), 1);
}

#[test]
fn who_sends_is_told_the_same() {
    let world = World::real();
    let ask = |command: &Value| {
        let given = NewCommand {
            command: command.as_object().unwrap().clone(),
            source: CommandSource::Custom,
            list: None,
        };
        send(&bridge(&world.home), given, patience())
    };
    let lock = world.path(".lock");
    fs::create_dir(&lock).unwrap();
    let create = command("c", "create", json!({"title": "a"}));
    assert_eq!(ask(&create).unwrap()["status"], "error");
    fs::remove_dir(&lock).unwrap();
    let first = ask(&create).unwrap();
    assert_eq!(first["status"], "ok", "{first}");
    assert_eq!(ask(&create).unwrap(), first);
    let other = ask(&command("c", "stats", json!({}))).unwrap_err();
    assert!(other.to_string().contains("was used before"), "{other}");
    assert_eq!(tasks_of(&world.list()).len(), 1);
}

/// Ids are taken for a whole inbox at once, and others write meanwhile.
#[test]
fn an_id_that_somebody_took_in_the_middle_of_an_inbox_is_passed_over() {
    let world = World::real();
    let create = |n: usize| command(&format!("c{n}"), "create", json!({"title": n.to_string()}));
    let items: Vec<Value> = (1..=4).map(create).collect();
    put(&world.home, Value::from(items).to_string());
    let bridge = super::bridge(&world.home);
    let mut processor = Processor::start(&bridge).unwrap().unwrap();
    let mut count = 0;
    processor
        .pass(&mut |_| {
            count += 1;
            match count {
                1 => world.put(
                    "2.json",
                    r#"{"id": "2", "subject": "theirs", "status": "pending"}"#,
                ),
                2 => drop(add(&world.list(), "ours", &[])),
                _ => {}
            }
            Continue(())
        })
        .unwrap();
    let subjects: Vec<(String, String)> = tasks_of(&world.list())
        .into_values()
        .map(|task| (task.id.to_string(), task.subject))
        .collect();
    let expected = [
        ("1", "1"),
        ("2", "theirs"),
        ("3", "2"),
        ("4", "3"),
        ("5", "ours"),
        ("6", "4"),
    ];
    let expected = expected.map(|(id, subject)| (id.to_owned(), subject.to_owned()));
    assert_eq!(subjects, expected);
}
