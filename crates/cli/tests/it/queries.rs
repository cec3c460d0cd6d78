//! Lists by query: expressions, options, columns, headings.

use insta::assert_snapshot;

use crate::world;

/// Six tasks that differ in every field.
fn planned() -> flagpost_testkit::sealed::World {
    let world = world();
    for line in [
        "add 'Write the parser' -p high --project web --tag api --tag lang --due 2026-05-12 --estimate 2h",
        "add 'Test the parser' -p critical --project web --tag api --after 1 --due 2026-05-13 --parent 1",
        "add 'Draw the logo' -p low --project art --due 2026-05-19 --meta sprint=12",
        "add 'Ship it' --after 1,2 --not-before 2026-06-01 --description 'With the PARSER in it'",
        "add 'Sketch the logo' --project art --parent 1",
        "add 'Ask the printer'",
    ] {
        let ran = world.transcript(line);
        assert!(ran.contains("added"), "{ran}");
    }
    world.ok(["claim", "3", "--as", "W1"]);
    world.ok(["done", "5", "Three of them"]);
    world
}

#[test]
fn a_list_shows_the_columns_that_are_used() {
    assert_snapshot!(planned().transcript(
        "list
        COLUMNS=80 list
        COLUMNS=140 list --all
        list 'project=art'"), @r"");
}

#[test]
fn expressions_and_options_say_the_same() {
    assert_snapshot!(planned().transcript(
        "list 'priority=high,critical and tag=api sort=due limit=1' --quiet
        list --priority high,critical --tag api --sort due --limit 1 --quiet
        list --priority high --priority critical --tag api --sort=-priority --quiet
        list tag=api priority=high --quiet
        list --due overdue,today --quiet
        list due=week -q
        list --owner W1 -q
        list --owner me --as W1 -q
        list parser -q
        list --text parser --all -q
        list 'three of them' --all -q
        list '\"three of them\"' --all -q
        list is=ready -q
        list is=blocked -q
        list --status completed -q
        list ended=today -q
        list 'not (project=web or project=none)' -q
        list 'estimate>=90m' -q
        list meta.sprint=12 -q
        list parent=1 --all -q
        list --project art --all --sort -id -q
        list 'limit=2' --limit 0 -q
        list tag=api limit=1 --json"), @r"");
}

#[test]
fn a_query_that_is_wrong_says_where() {
    assert_snapshot!(planned().transcript(
        "list 'tag=api and prioritty=high'
        list 'tag=api and prioritty=high' --json
        list due=2026-02-30
        list '(tag=api'
        list tag:api
        list --due 2026-02-30
        list --sort size
        list --group-by size
        list --state open --all
        list 'owner=nobody'
        list --tag nope --json"), @r"");
}

#[test]
fn a_list_stands_under_headings() {
    assert_snapshot!(planned().transcript(
        "list --group-by due
        list --group-by tag --limit 2
        list --group-by parent --all --quiet
        list --group-by project --limit 1 --json
        list --group-by state project=nope"), @r"");
}

#[test]
fn a_query_can_be_saved() {
    assert_snapshot!(planned().transcript(
        "list @urgent
        config set queries.urgent 'priority>=high or due=week sort=-priority' --quiet
        config set queries.broken 'prio=high' --quiet
        config set queries.twice '@urgent tag=api' --quiet
        list @urgent -q
        list @urgent tag=api limit=1 sort=id -q
        list '@urgent and tag=api' -q
        task edit --where '@urgent project=art' --tag logo --dry-run
        list @broken
        list @twice
        list @nope
        list @../evil --json
        list tag=api @urgent
        list '@urgent tag>api'"), @r"");
}

#[test]
fn a_task_in_a_circle_of_parents_is_listed() {
    let world = planned();
    for (id, parent) in [("4", "6"), ("6", "4")] {
        let path = world.list("web").join(format!("{id}.json"));
        let text = std::fs::read_to_string(&path).unwrap();
        let mut file: serde_json::Value = serde_json::from_str(&text).unwrap();
        file["metadata"]["parent"] = parent.into();
        std::fs::write(&path, file.to_string()).unwrap();
    }
    assert_eq!(world.ok(["list", "parent=4,6", "--quiet"]), "4\n6\n");
    assert!(
        world
            .ok(["list", "--group-by", "parent"])
            .contains("4 Ship it (1)")
    );
}
