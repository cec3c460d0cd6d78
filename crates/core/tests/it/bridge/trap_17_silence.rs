//! Null entries and missing ids got no answer; bad JSON wiped the inbox; raw exception text leaked.

use serde_json::{Value, json};

use super::{answers, ask, command, inbox, is_idle, pass, processing, put};
use crate::world::{World, tasks_of};

#[test]
fn every_item_is_answered_by_its_id_or_its_place() {
    let world = World::real();
    let mut nameless = command("x", "create", json!({"title": "a"}));
    nameless["id"] = Value::Null;
    let answers = ask(
        &world,
        &json!([
            null, 5, "text", [], {}, nameless, {"id": "bare"}, command("good", "stats", json!({})),
            command("unknown", "destroy", json!({})),
        ]),
    );
    for (at, answer) in answers[..6].iter().enumerate() {
        let place = (&answer["commandId"], &answer["index"]);
        assert_eq!(place, (&Value::Null, &json!(at)));
        assert_eq!(answer["status"], "error");
    }
    let named: Vec<_> = answers[6..]
        .iter()
        .map(|it| (&it["commandId"], &it["status"]))
        .collect();
    let (bare, good, unknown) = (json!("bare"), json!("good"), json!("unknown"));
    let (ok, error) = (json!("ok"), json!("error"));
    assert_eq!(named, [(&bare, &error), (&good, &ok), (&unknown, &error)]);
    assert!(
        tasks_of(&world.list()).is_empty(),
        "what has no id is not carried out"
    );
}

#[test]
fn one_bare_command_is_a_list_of_one() {
    let world = World::real();
    let answers = ask(&world, &command("c", "create", json!({"title": "a"})));
    assert_eq!(answers[0]["data"]["id"], "1");
}

#[test]
fn an_inbox_that_is_no_json_is_kept_and_answered_once() {
    let world = World::real();
    for (at, bad) in ["[{\"id\": \"c\"", "not JSON", "[1] [2]"]
        .iter()
        .enumerate()
    {
        put(&world.home, bad);
        assert_eq!(pass(&world.home), 1);
        let told = answers(&world.home);
        assert_eq!(told.len(), at + 1);
        assert_eq!(
            (&told[at]["commandId"], &told[at]["status"]),
            (&Value::Null, &json!("error"))
        );
    }
    assert!(is_idle(&world.home) && processing(&world.home).is_empty());
    let names = world.home.fs().names(world.home.root()).unwrap();
    let mut kept: Vec<String> = names
        .iter()
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| name.starts_with("agent-inbox.json.rejected-"))
        .map(|name| std::fs::read_to_string(world.home.root().join(name)).unwrap())
        .collect();
    kept.sort();
    assert_eq!(kept, ["[1] [2]", "[{\"id\": \"c\"", "not JSON"]);
}

#[test]
fn an_error_tells_nothing_of_the_machine() {
    let world = World::real();
    ask(&world, &command("c", "create", json!({"title": "a"})));
    world.put("1.json", "{ broken");
    world.put("2.json", "[]");
    // The list of a foreign program, which no history records.
    std::fs::create_dir(world.home.tasks_root().join("foreign")).unwrap();
    let mut foreign = command("f", "create", json!({"title": "a"}));
    foreign["list"] = json!("foreign");
    let items = json!([
        command("show", "show", json!({"taskId": "1"})),
        command("edit", "update", json!({"taskId": "2", "title": "b"})),
        foreign,
        command("path", "show", json!({"taskId": "../../etc/passwd"})),
    ]);
    let place = world.place().to_string_lossy().into_owned();
    for answer in ask(&world, &items) {
        let error = answer["error"].as_str().unwrap();
        for leak in [
            place.as_str(),
            "at line",
            "os error",
            ".json",
            "src/",
            "/home",
        ] {
            assert!(!error.contains(leak), "{error}");
        }
    }
    assert_eq!(
        std::fs::read_to_string(world.path("1.json")).unwrap(),
        "{ broken"
    );
}

#[test]
fn nothing_to_do_is_left_as_it_is() {
    let world = World::real();
    assert_eq!(pass(&world.home), 0);
    for idle in ["", "[]", " []\n"] {
        put(&world.home, idle);
        assert_eq!(pass(&world.home), 0);
        assert_eq!(std::fs::read_to_string(inbox(&world.home)).unwrap(), idle);
    }
    assert_eq!(answers(&world.home), Vec::<Value>::new());
}
