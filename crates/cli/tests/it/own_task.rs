//! The task that an agent was given, and need not name.

use crate::{world, world_with};

#[test]
fn one_word_is_a_text_where_the_task_is_known() {
    let mut world = world_with(&["Write", "Test"]);
    world.set("FLAGPOST_LIST", "web");
    world.set("FLAGPOST_TASK", "1");
    world.ok(["claim", "1"]);
    world.ok(["stuck", "Which API is meant?"]);
    let (_, task) = world.json(["show", "1"]);
    assert_eq!(task["result"]["text"], "Which API is meant?");
    // What looks like an id is one.
    assert_eq!(world.flagpost(["done", "71"]).code, 3);
    world.ok(["done", "2"]);
    assert_eq!(world.json(["show", "2"]).1["state"], "completed");
}

#[test]
fn on_another_list_it_is_not_that_task() {
    let mut world = world_with(&["Write"]);
    world.ok(["add", "Elsewhere", "--list", "other"]);
    world.set("FLAGPOST_LIST", "web");
    world.set("FLAGPOST_TASK", "1");
    world.set("FLAGPOST_TOKEN", "99");
    assert_eq!(world.flagpost(["done", "--list", "other"]).code, 2);
    world.ok(["done", "1", "by hand", "--list", "other"]);
    let (_, task) = world.json(["show", "1", "--list", "other"]);
    assert_eq!(task["state"], "completed");
}

#[test]
fn a_list_made_by_hand_is_worked_on_like_any_other() {
    let world = world();
    world.ok(["init"]);
    let list = world.list("hand");
    std::fs::create_dir_all(&list).unwrap();
    std::fs::write(list.join("1.json"), r#"{"id":"1","subject":"Write"}"#).unwrap();
    world.ok(["claim", "--next", "--list", "hand", "--as", "W1"]);
    world.ok(["done", "1", "--list", "hand", "--as", "W1"]);
    assert_eq!(
        world.json(["show", "1", "--list", "hand"]).1["state"],
        "completed"
    );
}
