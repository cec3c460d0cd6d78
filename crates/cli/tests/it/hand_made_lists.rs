//! A list of which somebody wrote nothing but the tasks.

use std::fs;

use flagpost_testkit::sealed::World;
use insta::assert_snapshot;

use crate::world;

/// A world with two tasks written by hand, in a list of this name.
fn by_hand(list: &str) -> World {
    let world = world();
    fs::create_dir_all(world.list(list)).unwrap();
    for n in ["1", "2"] {
        let task = format!(r#"{{"id":"{n}","subject":"Task {n}","status":"pending"}}"#);
        fs::write(world.list(list).join(format!("{n}.json")), task).unwrap();
    }
    world
}

#[test]
fn it_is_read_as_it_is_and_belongs_to_the_repository_that_changes_it() {
    let world = by_hand("web");
    let binding = world.list("web").join(".repo");
    transcript!(world, @r#"
    $ list --list web
    ID  STATE    SUBJECT
    1   pending  Task 1
    2   pending  Task 2
    $ task rm 1 --dry-run --list web
    would remove 1 Task 1
    $ run --dry-run --list web --agent true
    Wave 1 of 1
      1 Task 1
      2 Task 2
    "#);
    assert!(!binding.exists(), "a reader binds nothing");
    transcript!(world, @"
    $ claim --next --list web
    claimed 1 Task 1 (token 2, lease ends in 15m)
    $ list
    ID  STATE    OWNER  SUBJECT
    1   claimed  ann    Task 1
    2   pending         Task 2
    ");
    assert!(binding.exists());
}

#[test]
fn every_change_binds_it() {
    let changes = "claim 1
        task start 1
        task cancel 1
        done 1
        task edit 1 --subject x
        task dep add 1 2
        task rm 1 --yes
        run --agent true";
    for change in changes.lines().map(str::trim) {
        let world = by_hand("ops");
        let ran = world.flagpost(
            [
                &change.split(' ').collect::<Vec<_>>()[..],
                &["--list", "ops"],
            ]
            .concat(),
        );
        assert_eq!(ran.code, 0, "{change}: {ran}");
        assert!(world.list("ops").join(".repo").exists(), "{change}");
    }
}

#[test]
fn in_no_repository_it_is_not_changed() {
    let world = by_hand("web");
    let mut command = world.command();
    command
        .args(["claim", "1", "--list", "web"])
        .current_dir(world.outside());
    assert_snapshot!(world.run(&mut command), @r#"
    exit 3
    2> flagpost: [dir] is in no repository that Flagpost knows
    2>   hint: run 'flagpost init' at the top of the project that web is for, and this command there
    "#);
}
