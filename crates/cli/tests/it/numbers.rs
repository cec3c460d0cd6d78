//! Labels, projects, and a list in numbers.

use insta::assert_snapshot;

use crate::world;

#[test]
fn labels_and_projects_are_counted() {
    let world = world();
    world.ok(["init"]);
    assert_snapshot!(world.transcript(
        "task tags
        task projects
        task stats
        task stats --json
        add Write --tag api --tag lang --project web -p high --estimate 2h --due 2026-05-12
        add Test --tag api --project web
        add Ship
        done 2
        task timer start 1
        task tags
        task tags --json
        task tags --quiet
        task projects
        task projects --json
        FLAGPOST_CLOCK=2026-05-13T15:55:00Z task stats
        task stats --json
        task tags --list nope
        task stats extra"), @r"");
}
