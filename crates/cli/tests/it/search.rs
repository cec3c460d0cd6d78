//! Looking for a text.

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
    transcript!(world, @r#"
    $ search parser
    1 Write the parser (pending)
    2 Ship (completed)
      description: First line the Parser, whole
      note 2: PARSER: see above
      result: The parser is in it
    $ search parser --limit 2
    1 Write the parser (pending)
    2 Ship (completed)
      description: First line the Parser, whole
    … and 2 more: --limit 0 shows all
    $ search parser --limit 2 --json
    {"schema":"flagpost.search/1","text":"parser","hits":[{"kind":"task","list":"web","task":"1","state":"pending","subject":"Write the parser","repository":null,"worker":null,"seq":null,"month":null,"file":null,"line":null,"field":"subject","n":1,"at":10,"length":6,"snippet":{"before":"Write the ","found":"parser","after":""}},{"kind":"task","list":"web","task":"2","state":"completed","subject":"Ship","repository":null,"worker":null,"seq":null,"month":null,"file":null,"line":null,"field":"description","n":1,"at":15,"length":6,"snippet":{"before":"First line the ","found":"Parser","after":", whole"}}],"total":4,"truncated":true,"skipped":[],"unreadable":[]}
    $ search parser --quiet
    1
    2
    $ search parser --all-lists --quiet
    other/1
    web/1
    web/2
    $ search 'parser, WHOLE' --all-lists
    web/2 Ship (completed)
      description: First line the Parser, whole
    $ search lexer
    "lexer" is nowhere
    $ search lexer --json
    {"schema":"flagpost.search/1","text":"lexer","hits":[],"total":0,"truncated":false,"skipped":[],"unreadable":[]}
    $ search
    exit 2
    2> flagpost: say what to look for, as in search parser
    2>   hint: flagpost --help shows how
    $ search '  '
    exit 6
    2> flagpost: text: say what to look for
    $ search parser --all-lists --list web
    exit 2
    2> flagpost: the argument '--all-lists' cannot be used with '--list <NAME>'
    2>   hint: 'flagpost search --help' shows how
    $ --list nope search parser
    exit 3
    2> flagpost: there is no list nope
    2>   hint: 'flagpost add SUBJECT' makes the list with its first task; 'flagpost status' names the lists there are
    "#);
    let coloured = world.ok(["--color", "always", "search", "line"]);
    assert!(
        coloured.contains("First \u{1b}[1mline\u{1b}[0m the Parser"),
        "{coloured}"
    );
    let fed = world.feed(["search", "-"], b"see above\n");
    assert_eq!(
        fed.stdout,
        "2 Ship (completed)\n  note 2: PARSER: see above\n"
    );
}

#[test]
fn what_is_no_file_is_passed_over_with_its_reason() {
    let world = world_with(&["one"]);
    std::fs::create_dir(world.list("web").join("2.json")).unwrap();
    let ran = world.flagpost(["search", "one"]);
    assert_eq!(
        ran.stderr,
        "flagpost: skipped 2.json: it is not a regular file\n"
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
    transcript!(world(), @r#"
    $ search x
    exit 3
    2> flagpost: [dir]/web is in no repository that Flagpost knows
    2>   hint: run 'flagpost init' at the top of your project, or name a list with --list
    $ search x --all-lists
    "x" is nowhere
    "#);
}

#[test]
fn all_lists_are_those_in_other_directories_too() {
    let world = world_with(&["Our parser"]);
    let root = world.outside().join("agents");
    std::fs::create_dir_all(root.join("theirs")).unwrap();
    let task = r#"{"id": "1", "subject": "Their parser", "status": "pending"}"#;
    std::fs::write(root.join("theirs").join("1.json"), task).unwrap();
    world.ok(["config", "set", "tasks.roots", root.to_str().unwrap()]);
    let found = world.ok(["search", "parser", "--all-lists", "--quiet"]);
    assert_eq!(found, "theirs/1\nweb/1\n");
}

#[test]
fn mail_sessions_and_history_are_looked_through_too() {
    let world = world_with(&["Mend the grammar"]);
    world.ok(["worker", "add", "W1"]);
    world.ok(["assign", "1192", "W1", "--inline", "The grammar has a hole"]);
    world.ok(["ratify", "W1"]);
    world.ok([
        "--as",
        "W1",
        "worker",
        "report",
        "Done.\nThe grammar is whole.",
        "--ticket",
        "1192",
    ]);
    transcript!(world, @r#"
    $ search grammar
    1 Mend the grammar (pending)
    W1/inbox/0001 DISPATCH_BRIEF
      body: The grammar has a hole
    W1/outbox/0001 CYCLE_REPORT
      body: Done. The grammar is whole.
    $ search grammar --kind brief,report --quiet
    W1/inbox/0001
    W1/outbox/0001
    $ search grammar --kind history --limit 1
    history 4: …h_brief","ticket":"1192","summary":"The grammar has a hole","sha256":"7da4791851e751e99…
    … and 1 more: --limit 0 shows all
    $ search 'hole' --kind report
    W1/outbox/0001 CYCLE_REPORT
      body: Done. The grammar is whole.
    $ search grammar --kind nothing
    exit 2
    2> flagpost: invalid value 'nothing' for '--kind <KIND>': use one of task, brief, report, session, history
    2>   hint: 'flagpost search --help' shows how
    $ --list web search grammar --quiet
    1
    "#);
    let (_, found) = world.json(["search", "grammar", "--kind", "report"]);
    let hit = &found["hits"][0];
    tells!(hit, {"worker": "W1", "seq": 1, "subject": "CYCLE_REPORT"});
}
