//! The bridge inside the daemon: where the configuration wants it, and beside nobody else.

use std::{fs, ops::ControlFlow::Continue, thread, time::Duration};

use flagpost_core::{
    List,
    bridge::{Bridge, Host, Processor, Running},
};
use flagpost_testkit::{patience::patience, race::until};
use serde_json::{Value, json};

use crate::served::Place;

/// An inbox that is looked at once an hour, unless the system tells of it.
const ENABLED: &str = "[integrations.agent]\nenabled = true\npoll_interval = \"1h\"\n";

fn configure(place: &Place, text: &str) {
    fs::write(place.home.root().join("config.toml"), text).unwrap();
}

fn create(id: &str) -> Value {
    json!({"id": id, "command": "create", "payload": {"title": id}})
}

fn put(place: &Place, items: &Value) {
    let (root, next) = (place.home.root(), place.home.root().join("next"));
    fs::write(&next, items.to_string()).unwrap();
    fs::rename(next, root.join("agent-inbox.json")).unwrap();
}

fn bridge(place: &Place) -> Bridge<'_> {
    Bridge::of(&place.home, None).unwrap()
}

fn running(place: &Place) -> Option<Running> {
    bridge(place).running().unwrap()
}

fn is_served(place: &Place) -> bool {
    running(place).is_some_and(|it| it.host == Host::Daemon && it.poll.is_some())
}

fn is_answered(place: &Place, id: &str) -> bool {
    let answers = bridge(place).answers().unwrap();
    answers.iter().any(|it| it["commandId"] == *id)
}

fn tasks(place: &Place) -> usize {
    let list = List::open(&place.home, &"web".parse().unwrap()).unwrap();
    list.load().unwrap().outlines.len()
}

/// Long enough for the daemon to have looked.
fn a_look() {
    thread::sleep(Duration::from_millis(1500));
}

#[test]
fn a_command_is_carried_out_as_soon_as_it_is_there() {
    let place = Place::new();
    configure(&place, ENABLED);
    put(&place, &json!([create("before")]));
    let served = place.serve();
    until("the first", || is_answered(&place, "before"));
    until("the bridge is served", || is_served(&place));
    put(&place, &create("after"));
    until("the second", || is_answered(&place, "after"));
    assert_eq!(tasks(&place), 2);
    assert_eq!(running(&place).unwrap().pid, std::process::id());
    drop(served);
    assert_eq!(running(&place), None);
}

#[test]
fn it_is_as_the_configuration_is_now() {
    let place = Place::new();
    let _served = place.serve();
    put(&place, &json!([create("a")]));
    a_look();
    assert!(!is_answered(&place, "a") && running(&place).is_none());
    configure(&place, ENABLED);
    until("it is enabled", || is_answered(&place, "a"));
    configure(&place, "[integrations.agent]\nenabled = ");
    a_look();
    configure(&place, ENABLED);
    // A file that cannot be read says nothing new: it went on where it was.
    assert_eq!(running(&place).map(|it| it.processed), Some(1));
    configure(&place, &ENABLED.replace("1h", "7s"));
    let poll = jiff::SignedDuration::from_secs(7);
    until("another interval", || {
        running(&place).is_some_and(|it| it.poll == Some(poll))
    });
    configure(&place, "");
    until("it is disabled", || running(&place).is_none());
}

#[test]
fn trap_16_it_waits_for_whoever_processes() {
    let place = Place::new();
    let bridge = Bridge::of(&place.home, Some("web".parse().unwrap())).unwrap();
    let mut first = Processor::start(&bridge).unwrap().unwrap();
    configure(&place, ENABLED);
    let _served = place.serve();
    a_look();
    put(&place, &json!([create("a")]));
    assert_eq!(running(&place).unwrap().host, Host::Command);
    // The daemon has made the list.
    assert_eq!(first.pass(&mut |_| Continue(())).unwrap(), 1);
    drop(first);
    until("the daemon takes over", || is_served(&place));
    assert_eq!(tasks(&place), 1);
}

#[test]
fn a_stop_holds_until_the_next_daemon() {
    let place = Place::new();
    configure(&place, ENABLED);
    let served = place.serve();
    until("the bridge is served", || is_served(&place));
    let stopped = bridge(&place).stop(patience()).unwrap().unwrap();
    assert_eq!(stopped.host, Host::Daemon);
    put(&place, &json!([create("a")]));
    a_look();
    assert!(!is_answered(&place, "a") && running(&place).is_none());
    // It was the bridge that was stopped, and nothing else.
    assert_eq!(served.get("/v1/daemon").status, 200);
    drop(served);
    let _next = place.serve();
    until("the next one goes on", || is_answered(&place, "a"));
}

#[test]
fn one_that_ends_in_the_middle_of_an_inbox_leaves_the_rest_to_the_next() {
    let place = Place::new();
    configure(&place, ENABLED);
    let all: Vec<String> = (0..300).map(|n| format!("c{n}")).collect();
    put(&place, &all.iter().map(|id| create(id)).collect());
    let served = place.serve();
    until("some are done", || {
        List::open(&place.home, &"web".parse().unwrap()).is_ok() && tasks(&place) > 3
    });
    drop(served);
    println!("ended after {}", tasks(&place));
    let _next = place.serve();
    until("all are answered", || is_answered(&place, "c299"));
    assert_eq!(tasks(&place), all.len());
}
