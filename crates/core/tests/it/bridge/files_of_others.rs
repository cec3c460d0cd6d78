//! What other programs do to the two files.

use std::{fs, ops::ControlFlow::Continue, thread, time::Duration};

use serde_json::{Value, json};

use super::{answers, ask, bridge, command, inbox, pass, put};
use crate::world::World;

#[test]
fn the_newest_hundred_answers_are_kept() {
    let world = World::real();
    let items: Value = (0..130)
        .map(|n| command(&format!("c{n}"), "stats", json!({})))
        .collect();
    put(&world.home, items.to_string());
    assert_eq!(pass(&world.home), 130);
    let ids: Vec<String> = answers(&world.home)
        .iter()
        .map(|answer| answer["commandId"].as_str().unwrap().to_owned())
        .collect();
    let expected: Vec<String> = (30..130).map(|n| format!("c{n}")).collect();
    assert_eq!(ids, expected);
}

#[test]
fn an_emptied_outbox_stays_empty_and_a_broken_one_is_kept_aside() {
    let world = World::real();
    ask(&world, &command("a", "create", json!({"title": "a"})));
    let outbox = bridge(&world.home).outbox_path();
    fs::write(&outbox, "[]").unwrap();
    ask(&world, &command("b", "stats", json!({})));
    assert_eq!(answers(&world.home).len(), 1);
    fs::write(&outbox, "{ broken").unwrap();
    put(&world.home, command("c", "stats", json!({})).to_string());
    pass(&world.home);
    assert_eq!(answers(&world.home).len(), 1);
    let kept = world.home.root().join("quarantine");
    let names = fs::read_dir(kept)
        .unwrap()
        .map(|it| it.unwrap().file_name());
    assert!(
        names
            .into_iter()
            .any(|name| name.to_string_lossy().starts_with("agent-outbox.json"))
    );
    assert_eq!(bridge(&world.home).clear().unwrap(), 1);
    assert_eq!(answers(&world.home), Vec::<Value>::new());
}

/// A script that reads the inbox, adds its command and writes it.
#[test]
fn an_inbox_is_there_from_the_start_and_empty_after_each_pass() {
    let world = World::real();
    assert_eq!(pass(&world.home), 0);
    for id in ["a", "b"] {
        let text = fs::read_to_string(inbox(&world.home)).expect("an inbox to read");
        assert_eq!(text, "[]\n");
        let mut items: Vec<Value> = serde_json::from_str(&text).unwrap();
        items.push(command(id, "create", json!({"title": id})));
        fs::write(inbox(&world.home), Value::Array(items).to_string()).unwrap();
        assert_eq!(pass(&world.home), 1);
    }
    let mode = fs::metadata(inbox(&world.home)).unwrap();
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&mode.permissions()) & 0o777,
        0o600
    );
    assert_eq!(fs::read_to_string(inbox(&world.home)).unwrap(), "[]\n");
}

/// Somebody writes the inbox in place, a piece at a time.
#[test]
fn an_inbox_that_is_still_being_written_is_waited_for() {
    let world = World::real();
    let text = json!([command("slow", "create", json!({"title": "a"}))]).to_string();
    let (begin, end) = text.split_at(text.len() / 2);
    let mut file = fs::File::create(inbox(&world.home)).unwrap();
    std::io::Write::write_all(&mut file, begin.as_bytes()).unwrap();
    thread::scope(|scope| {
        let processing = scope.spawn(|| pass(&world.home));
        crate::bridge::child::until_taken_in(&world.home);
        thread::sleep(Duration::from_millis(50));
        std::io::Write::write_all(&mut file, end.as_bytes()).unwrap();
        assert_eq!(processing.join().unwrap(), 1);
    });
    assert_eq!(answers(&world.home)[0]["status"], "ok");
}

#[test]
fn a_link_or_a_directory_in_its_place_harms_nobody() {
    let world = World::real();
    let target = world.place().join("secret");
    fs::write(&target, "[]").unwrap();
    std::os::unix::fs::symlink(&target, inbox(&world.home)).unwrap();
    let bridge = bridge(&world.home);
    let mut processor = flagpost_core::bridge::Processor::start(&bridge)
        .unwrap()
        .unwrap();
    assert!(processor.pass(&mut |_| Continue(())).is_err());
    fs::remove_file(inbox(&world.home)).unwrap();
    fs::create_dir(inbox(&world.home)).unwrap();
    assert!(processor.pass(&mut |_| Continue(())).is_err());
    assert!(target.exists() && inbox(&world.home).is_dir());
}
