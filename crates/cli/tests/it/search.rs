//! Looking for a text.

use insta::assert_snapshot;

use crate::{world, world_with};

#[test]
fn search() {
    let world = world_with(&["Write the parser", "Ship"]);
    world.ok([
        "task",
        "edit",
        "2",
        "--description",
        "First line\nthe Parser, whole",
    ]);
    world.ok(["task", "note", "2", "no"]);
    world.ok(["task", "note", "2", "PARSER: see above"]);
    world.ok(["done", "2", "The parser is in it"]);
    world.ok(["--list", "other", "add", "Another parser"]);
    assert_snapshot!(world.transcript(
        "search parser
        search parser --limit 2
        search parser --limit 2 --json
        search parser --quiet
        search parser --all-lists --quiet
        search 'parser, WHOLE' --all-lists
        search lexer
        search lexer --json
        search
        search '  '
        search parser --all-lists --list web
        --list nope search parser
        --color always search line"), @r"");
    let fed = world.feed(["search", "-"], b"see above\n");
    assert_eq!(
        fed.stdout,
        "2 Ship (completed)\n  note 2: PARSER: see above\n"
    );
}

#[test]
fn a_broken_file_hides_none_of_its_neighbours() {
    let world = world_with(&["one", "two one"]);
    std::fs::write(world.list("web").join("1.json"), "{").unwrap();
    let ran = world.flagpost(["search", "one"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "2 two one (pending)\n")
    );
    assert!(
        ran.stderr.starts_with("flagpost: skipped 1.json: "),
        "{ran}"
    );
    let (code, json) = world.json(["search", "nothing"]);
    assert_eq!(
        (code, json["skipped"][0]["list"].as_str()),
        (0, Some("web"))
    );
}

#[test]
fn what_is_found_cannot_steer_a_terminal() {
    let world = world_with(&["plain"]);
    world.ok(["task", "note", "1", "a\u{1b}[2Jb found \u{202e}c"]);
    let text = world.ok(["search", "found"]);
    assert_eq!(
        text,
        "1 plain (pending)\n  note 1: a␛[2Jb found \u{fffd}c\n"
    );
}

#[test]
fn nowhere_to_search() {
    assert_snapshot!(world().transcript("search x\nsearch x --all-lists"), @r"");
}
