//! One change of all tasks that a query selects.

use insta::assert_snapshot;

use crate::world_with;

fn tagged() -> flagpost_testkit::sealed::World {
    let world = world_with(&["Write", "Test", "Ship", "Rest"]);
    world.ok(["task", "edit", "1,2,3", "--tag", "api"]);
    world
}

#[test]
fn a_dry_run_says_which_and_changes_nothing() {
    let world = tagged();
    let before = world.ok(["list", "--json"]);
    assert_snapshot!(world.transcript(
        "task edit --where tag=api --priority high --dry-run
        task edit --where 'tag=api sort=-id limit=2' --priority high --dry-run --quiet
        task edit --where 'id=1' --priority high --dry-run --json
        done --where tag=api --dry-run
        fail --where tag=api 'No time' --dry-run
        task cancel --where tag=api --dry-run
        task release --where tag=api --dry-run
        task note --where tag=api 'Look here' --dry-run
        task rm --where tag=api --dry-run
        task reopen --where state=completed --dry-run
        task edit 4 --priority high --dry-run"), @r"");
    assert_eq!(world.ok(["list", "--json"]), before);
}

#[test]
fn without_a_terminal_nobody_can_be_asked() {
    let world = tagged();
    assert_snapshot!(world.transcript(
        "task edit --where tag=api --priority high
        task rm --where tag=api
        done --where tag=api --json
        list --priority high
        task edit --where tag=api --priority high --yes
        done --where tag=api 'All of it' --yes
        task reopen --where 'state=completed text~\"all of it\"' --yes --quiet
        task rm --where 'tag=api limit=1' --yes
        task note --where tag=api 'Look here' --yes
        list"), @r"");
}

#[test]
fn all_or_none() {
    let world = tagged();
    world.ok(["claim", "2", "--as", "W1"]);
    let before = world.ok(["list", "--all", "--json"]);
    assert_snapshot!(world.transcript(
        "done --where tag=api --yes
        task reopen --where tag=api --yes
        task rm --where tag=api --yes
        task release --where is=blocked --yes
        task edit --where tag=api
        task edit 1 --where tag=api --priority low
        task cancel 1 --where tag=api
        done 1 text --where tag=api
        done --where tag=api --token 5 --yes
        task edit --where 'tag=' --priority low
        task edit --priority low"), @r"");
    assert_eq!(world.ok(["list", "--all", "--json"]), before);
}
