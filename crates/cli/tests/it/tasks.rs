//! Adding, listing, showing, editing, linking, removing and drawing tasks.

use crate::{world, world_with};

#[test]
fn add() {
    let world = world();
    transcript!(world, @r#"
    $ add 'Write the parser' --priority high --group core --project web --complexity M --tag a --tag b --due 2026-12-01 --uid p1
    added 1 Write the parser
    $ add 'Test the parser' --after 1 --description 'All of it'
    added 2 Test the parser (description: 9 bytes)
    $ add 'Print' --after 1,2 --quiet
    3
    $ add 'Ship' --after 1 --after 3 --json
    {"schema":"flagpost.task/1","id":"4","subject":"Ship","description":"","state":"pending","owner":null,"claim":null,"blocks":[],"blocked_by":["1","3"],"priority":null,"complexity":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"uid":null,"estimate_minutes":null,"tracked_seconds":0,"timer":null,"notes":[],"metadata":{},"provenance":{"origin":"person","by":"ann","at":"2026-05-13T14:25:00Z"},"attempts":0,"rev":1,"result":null,"late":[],"landing":null}
    $ add 'Never' --after 1 --json --after 9
    exit 3
    {"schema":"flagpost.error/1","kind":"not_found","exit_code":3,"message":"there is no task 9 in list web","hint":"'flagpost list' shows what there is","causes":[]}
    $ add --description 'no subject'
    exit 2
    2> flagpost: the following required arguments were not provided: <SUBJECT>
    2>   hint: 'flagpost add --help' shows how
    $ list --all
    ID  STATE    PRIORITY  DUE         PROJECT  TAGS  WAITS FOR  SUBJECT
    1   pending  high      2026-12-01  web      a b              Write the parser
    2   pending                                       1          Test the parser
    3   pending                                       1 2        Print
    4   pending                                       1 3        Ship
    "#);
}

#[test]
fn add_registers_the_repository_it_stands_in() {
    transcript!(world(), @r#"
    $ add one
    added 1 one
    $ status
    web: 1 task (1 pending)

    Ready
      1 one
    $ init
    [dir]/web is registered; its list is web
    AGENTS.md: written
    "#);
}

#[test]
fn list() {
    let world = world_with(&["Write", "Test", "Ship"]);
    world.ok(["task", "dep", "add", "2", "1"]);
    world.ok(["done", "3"]);
    transcript!(world, @r#"
    $ list
    ID  STATE    WAITS FOR  SUBJECT
    1   pending             Write
    2   pending  1          Test
    $ list --all
    ID  STATE      OWNER  WAITS FOR  SUBJECT
    1   pending                      Write
    2   pending           1          Test
    3   completed  ann               Ship
    $ list --state completed,stuck
    ID  STATE      OWNER  SUBJECT
    3   completed  ann    Ship
    $ list --state failed
    none of the 3 tasks of web fits state=failed
    $ list --quiet
    1
    2
    $ list --json
    {"schema":"flagpost.tasks/1","list":"web","tasks":[{"id":"1","subject":"Write","state":"pending","owner":null,"claim":null,"blocks":["2"],"blocked_by":[],"priority":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":0},{"id":"2","subject":"Test","state":"pending","owner":null,"claim":null,"blocks":[],"blocked_by":["1"],"priority":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":0}],"total":2,"truncated":false,"skipped":[],"groups":null}
    $ list --state nonsense
    exit 2
    2> flagpost: invalid value 'nonsense' for '--state <STATE>': "nonsense" is no value of state; use pending, claimed, in_progress, completed, failed, stuck, cancelled
    2>   hint: 'flagpost list --help' shows how
    $ list --state done --json
    exit 2
    {"schema":"flagpost.error/1","kind":"usage","exit_code":2,"message":"invalid value 'done' for '--state <STATE>': \"done\" is no value of state; use pending, claimed, in_progress, completed, failed, stuck, cancelled","hint":"'flagpost list --help' shows how","causes":[]}
    "#);
}

#[test]
fn list_without_tasks() {
    let world = world();
    transcript!(world, @r#"
    $ list
    exit 3
    2> flagpost: [dir]/web is in no repository that Flagpost knows
    2>   hint: run 'flagpost init' at the top of your project, or name a list with --list
    $ init --quiet --as W1
    [repo]
    $ list
    web has no tasks yet; 'flagpost add' makes one
    $ list --quiet
    $ list --json
    {"schema":"flagpost.tasks/1","list":"web","tasks":[],"total":0,"truncated":false,"skipped":[],"groups":null}
    $ ready
    no task of web is ready; 'flagpost list' shows what there is and what it waits for
    $ ready --json
    {"schema":"flagpost.tasks/1","list":"web","tasks":[],"total":0,"truncated":false,"skipped":[],"groups":null}
    $ task graph
    web has no tasks yet; 'flagpost add' makes one
    $ status
    web: 0 tasks
    next: flagpost add 'What is to be done', or flagpost demo
    $ show 1
    exit 3
    2> flagpost: there is no task 1 in list web
    2>   hint: 'flagpost list' shows what there is
    $ claim --next
    exit 3
    2> flagpost: no task of web is ready
    2>   hint: 'flagpost list' shows what the rest waits for
    "#);
}

#[test]
fn show() {
    let world = world_with(&["Write", "Test"]);
    world.ok([
        "task",
        "edit",
        "2",
        "-d",
        "First line\n\n  indented\n",
        "-p",
        "low",
        "--tag",
        "x",
    ]);
    world.ok(["task", "dep", "add", "2", "1"]);
    world.ok(["claim", "1", "--as", "W3"]);
    transcript!(world, @r#"
    $ show 1
    1 Write
      state       claimed
      owner       W3
      claim       by W3, token 6, lease ends in 15m
      blocks      2
      added       by ann, now
      attempts    1
    $ show 2
    2 Test
      state       pending
      priority    low
      waits for   1
      tags        x
      added       by ann, now

    First line

      indented
    $ show 2 --quiet
    2
    $ show 2 --json
    {"schema":"flagpost.task/1","id":"2","subject":"Test","description":"First line\n\n  indented\n","state":"pending","owner":null,"claim":null,"blocks":[],"blocked_by":["1"],"priority":"low","complexity":null,"group":null,"project":null,"tags":["x"],"due":null,"not_before":null,"parent":null,"uid":null,"estimate_minutes":null,"tracked_seconds":0,"timer":null,"notes":[],"metadata":{},"provenance":{"origin":"person","by":"ann","at":"2026-05-13T14:25:00Z"},"attempts":0,"rev":3,"result":null,"late":[],"landing":null,"parts":null}
    $ FLAGPOST_LIST=web FLAGPOST_TASK=1 show --quiet
    1
    $ show 7 --json
    exit 3
    {"schema":"flagpost.error/1","kind":"not_found","exit_code":3,"message":"there is no task 7 in list web","hint":"'flagpost list' shows what there is","causes":[]}
    "#);
}

#[test]
fn edit() {
    let world = world_with(&["Write", "Test"]);
    transcript!(world, @r#"
    $ task edit 1 --subject 'Write it' --priority critical --group g --description 'Six b.'
    edited 1 Write it (description: 6 bytes)
    $ task edit 1 --priority none --group '' --quiet
    1
    $ task edit 1 --complexity L --json
    {"schema":"flagpost.task/1","id":"1","subject":"Write it","description":"Six b.","state":"pending","owner":null,"claim":null,"blocks":[],"blocked_by":[],"priority":null,"complexity":"L","group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"uid":null,"estimate_minutes":null,"tracked_seconds":0,"timer":null,"notes":[],"metadata":{},"provenance":{"origin":"person","by":"ann","at":"2026-05-13T14:25:00Z"},"attempts":0,"rev":4,"result":null,"late":[],"landing":null}
    $ show 1
    1 Write it
      state       pending
      complexity  L
      added       by ann, now

    Six b.
    $ task edit 1
    exit 2
    2> flagpost: say what to change, as in --priority high
    2>   hint: flagpost --help shows how
    $ task edit 1 --subject ''
    exit 6
    2> flagpost: subject: a task needs one
    $ task edit 1 --priority urgent
    exit 2
    2> flagpost: invalid value 'urgent' for '--priority <PRIORITY>': use one of critical, high, medium, low, none
    2>   hint: 'flagpost task edit --help' shows how
    $ task edit 1 --due soon
    exit 2
    2> flagpost: invalid value 'soon' for '--due <DATE>': use a date that exists, as in 2026-12-01, or today, tomorrow, none
    2>   hint: 'flagpost task edit --help' shows how
    $ task edit
    exit 2
    2> flagpost: the following required arguments were not provided: <ID>...
    2>   hint: 'flagpost task edit --help' shows how
    "#);
}

#[test]
fn an_empty_text_takes_a_field_away() {
    let world = world();
    let fields = ["--group", "g", "--tag", "t", "--project", "p", "-d", "x"];
    world.ok(["add", "a"].iter().chain(&fields));
    world.ok(fields
        .iter()
        .fold(vec!["task", "edit", "1"], |mut args, word| {
            args.push(if word.starts_with('-') { word } else { "" });
            args
        }));
    transcript!(world, @"
    $ show 1
    1 a
      state       pending
      added       by ann, now
    ");
}

#[test]
fn edit_that_changes_nothing_leaves_no_trace() {
    let world = world_with(&["Write"]);
    let before = world.json(["show", "1"]);
    world.ok(["task", "edit", "1", "--subject", "Write"]);
    assert_eq!(world.json(["show", "1"]), before);
}

#[test]
fn rm() {
    let world = world_with(&["Write", "Test", "Ship"]);
    world.ok(["task", "dep", "add", "2", "1"]);
    transcript!(world, @r#"
    $ task rm 1
    exit 2
    2> flagpost: nobody is there to confirm; --dry-run shows what would go, and 'flagpost cancel' keeps the record
    2>   hint: the verb's --help tells how to answer beforehand
    $ task rm 1 --json
    exit 2
    {"schema":"flagpost.error/1","kind":"usage","exit_code":2,"message":"nobody is there to confirm; --dry-run shows what would go, and 'flagpost cancel' keeps the record","hint":"the verb's --help tells how to answer beforehand","causes":[]}
    $ task rm 1 --dry-run
    would remove 1 Write; 1 waiting for it
    $ task rm 1 --dry-run --json
    {"schema":"flagpost.removed/1","dry_run":true,"tasks":[{"id":"1","subject":"Write","description":"","state":"pending","owner":null,"claim":null,"blocks":["2"],"blocked_by":[],"priority":null,"complexity":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"uid":null,"estimate_minutes":null,"tracked_seconds":0,"timer":null,"notes":[],"metadata":{},"provenance":{"origin":"person","by":"ann","at":"2026-05-13T14:25:00Z"},"attempts":0,"rev":2,"result":null,"late":[],"landing":null}]}
    $ show 1 --quiet
    1
    $ task rm 1 --yes
    removed 1 Write; 1 waiting for it
    $ task rm 3 --yes --quiet
    3
    $ task rm 1 --yes
    exit 3
    2> flagpost: there is no task 1 in list web
    2>   hint: 'flagpost list' shows what there is
    $ show 2
    2 Test
      state       pending
      added       by ann, now
    $ list --quiet
    2
    "#);
}

#[test]
fn a_removed_number_is_not_given_out_again() {
    let world = world_with(&["Write"]);
    world.ok(["task", "rm", "1", "--yes"]);
    transcript!(world, @r#"
    $ add Test
    added 2 Test
    "#);
}

#[test]
fn rm_of_a_held_task_is_refused() {
    let world = world_with(&["Write"]);
    world.ok(["claim", "1", "--as", "W3"]);
    transcript!(world, @r#"
    $ task rm 1 --yes
    exit 4
    2> flagpost: task 1 is held by W3 until 2026-05-13T14:40:00Z (token 3)
    2>   hint: 'flagpost claim --next' gives you another task
    $ task rm 1 --yes --as W3
    removed 1 Write
    "#);
}

#[test]
fn dep() {
    let world = world_with(&["a", "b", "c", "d"]);
    transcript!(world, @r#"
    $ task dep add 3 1 2
    3 waits for 1, 2
    $ task dep add 3 1 --quiet
    3
    $ task dep add 4 3 --json
    {"schema":"flagpost.task/1","id":"4","subject":"d","description":"","state":"pending","owner":null,"claim":null,"blocks":[],"blocked_by":["3"],"priority":null,"complexity":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"uid":null,"estimate_minutes":null,"tracked_seconds":0,"timer":null,"notes":[],"metadata":{},"provenance":{"origin":"person","by":"ann","at":"2026-05-13T14:25:00Z"},"attempts":0,"rev":2,"result":null,"late":[],"landing":null}
    $ task dep add 1 4
    exit 6
    2> flagpost: that would make a cycle: 1 → 4 → 3 → 1
    2>   hint: 'flagpost graph' shows what waits for what
    $ task dep add 1 1
    exit 6
    2> flagpost: that would make a cycle: 1 → 1
    2>   hint: 'flagpost graph' shows what waits for what
    $ task dep add 1 2 4
    exit 6
    2> flagpost: that would make a cycle: 1 → 4 → 3 → 1
    2>   hint: 'flagpost graph' shows what waits for what
    $ show 1
    1 a
      state       pending
      blocks      3
      added       by ann, now
    $ task dep rm 3 1
    3 waits for 2
    $ task dep rm 3 1
    3 waits for 2
    $ task dep rm 3 9
    3 waits for 2
    $ task dep add 3
    exit 2
    2> flagpost: the following required arguments were not provided: <BLOCKER>...
    2>   hint: 'flagpost task dep add --help' shows how
    "#);
}

#[test]
fn dep_with_an_unknown_blocker_links_none() {
    let world = world_with(&["a", "b", "c"]);
    transcript!(world, @"
    $ task dep add 3 1 99
    exit 3
    2> flagpost: there is no task 99 in list web
    2>   hint: 'flagpost list' shows what there is
    $ show 3
    3 c
      state       pending
      added       by ann, now
    ");
}

#[test]
fn graph() {
    let world = world_with(&["a", "b", "c", "d", "e"]);
    for (task, blocker) in [("2", "1"), ("3", "1"), ("4", "2"), ("4", "3")] {
        world.ok(["task", "dep", "add", task, blocker]);
    }
    world.ok(["done", "1"]);
    world.ok(["claim", "2", "--as", "W3"]);
    transcript!(world, @r#"
    $ task graph
    ● 1 a
    ├─ ◔ 2 b [claimed]
    │  └─ ○ 4 d
    └─ ○ 3 c
       └─ ○ 4 d
    ○ 5 e
    $ task graph 3
    ○ 3 c
    └─ ○ 4 d
    $ task graph --quiet
    1
    2
    3
    4
    5
    $ task graph 3 --json
    {"schema":"flagpost.graph/1","list":"web","nodes":[{"id":"3","subject":"c","state":"pending","owner":null,"claim":null,"blocks":["4"],"blocked_by":["1"],"priority":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":0},{"id":"4","subject":"d","state":"pending","owner":null,"claim":null,"blocks":[],"blocked_by":["2","3"],"priority":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":0}],"edges":[{"task":"4","waits_for":"3","closes_circle":false}],"critical":["3","4"],"unknown":[],"cycle":null,"text":null,"out":null,"skipped":[]}
    "#);
}

#[test]
fn partial_ids() {
    let world = world();
    for id in ["10", "12", "120", "x-alpha", "x-beta", "y"] {
        std::fs::create_dir_all(world.list("web")).unwrap();
        world.ok(["init"]);
        let file = world.list("web").join(format!("{id}.json"));
        std::fs::write(
            file,
            format!(r#"{{"id":"{id}","subject":"s {id}","status":"pending"}}"#),
        )
        .unwrap();
    }
    transcript!(world, @r#"
    $ show 12 --quiet
    12
    $ show 120 --quiet
    120
    $ show x-a --quiet
    x-alpha
    $ show y --quiet
    y
    $ show 1
    exit 4
    2> flagpost: 1 could be any of 10, 12, 120
    2>   hint: type more of the id
    $ show 1 --json
    exit 4
    {"schema":"flagpost.error/1","kind":"conflict","exit_code":4,"message":"1 could be any of 10, 12, 120","hint":"type more of the id","causes":[]}
    $ show x
    exit 4
    2> flagpost: x could be any of x-alpha, x-beta
    2>   hint: type more of the id
    $ show z
    exit 3
    2> flagpost: there is no task z in list web
    2>   hint: 'flagpost list' shows what there is
    $ claim x-b
    claimed x-beta s x-beta (token 2, lease ends in 15m)
    $ task dep add y x
    exit 4
    2> flagpost: x could be any of x-alpha, x-beta
    2>   hint: type more of the id
    "#);
}

#[test]
fn a_list_whose_directory_was_removed_gives_out_no_id_again() {
    let world = world_with(&["One", "Two", "Three"]);
    std::fs::remove_dir_all(world.list("web")).unwrap();
    transcript!(world, @"
    $ add 'After the fire'
    added 4 After the fire
    $ list --quiet
    4
    ");
}

/// Taken away with its directory, or emptied; or emptied but for the name of its repository.
#[test]
fn a_list_that_was_taken_away_as_a_whole_is_told_of_wherever_it_is_asked_for() {
    let told = "another program took list web away, in which Flagpost had 3 tasks";
    let hint = "hint: 'flagpost doctor --fix' brings it back";
    for is_there in [false, true] {
        let world = world_with(&["One", "Two", "Three"]);
        std::fs::remove_dir_all(world.list("web")).unwrap();
        if is_there {
            std::fs::create_dir(world.list("web")).unwrap();
        }
        let mut asked: Vec<&[&str]> = vec![&["list", "--all"], &["show", "1"], &["undo"]];
        asked.extend([
            &["search", "One"][..],
            &["list", "--list", "web"],
            &["ready"],
        ]);
        for words in asked {
            let ran = world.flagpost(words);
            assert_eq!(ran.code, 3, "{words:?}: {ran}");
            assert!(ran.stderr.contains(told), "{words:?}: {ran}");
            assert!(ran.stderr.contains(hint), "{words:?}: {ran}");
        }
        let status = world.ok(["status"]);
        assert!(status.contains(told), "{status}");
        tells!(world.json(["status"]).1, {"list": "web", "vanished": ["1", "2", "3"]});
        let elsewhere = world
            .command_of("git")
            .args(["init", "-q", "other"])
            .status();
        assert!(elsewhere.unwrap().success());
        let beside = |args: &[&str]| {
            let dir = world.repository().join("other");
            world.run(world.command().args(args).current_dir(dir))
        };
        // Its ids would be given out again there.
        let ran = beside(&["add", "New", "--list", "web"]);
        assert!(ran.code == 3 && ran.stderr.contains(told), "{ran}");
        world.ok(["doctor", "--fix", "--yes"]);
        assert_eq!(world.ok(["list", "--quiet"]), "1\n2\n3\n");
    }
    let world = world_with(&["One", "Two"]);
    for task in ["1.json", "2.json"] {
        std::fs::remove_file(world.list("web").join(task)).unwrap();
    }
    let list = world.ok(["list"]);
    assert!(
        list.contains("another program took the files of 2 tasks away"),
        "{list}"
    );
}
