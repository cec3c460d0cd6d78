//! What a person who plans touches: parts, dates, estimates, notes, timers, other lists, and undo.

use crate::{world, world_with};

#[test]
fn every_field_is_set_shown_and_taken_away() {
    transcript!(world(), @r#"
    $ add 'Rotate the keys' --due tomorrow --not-before today --estimate 1h30m --meta ticket=12 --meta 'who=the designer' --tag ops
    added 1 Rotate the keys
    $ show 1
    1 Rotate the keys
      state       pending
      tags        ops
      due         2026-05-14
      not before  2026-05-13T00:00:00Z
      estimate    1h 30m
      added       by ann, now
      ticket      12
      who         "the designer"
    $ show 1 --json
    {"schema":"flagpost.task/1","id":"1","subject":"Rotate the keys","description":"","state":"pending","owner":null,"claim":null,"blocks":[],"blocked_by":[],"priority":null,"complexity":null,"group":null,"project":null,"tags":["ops"],"due":"2026-05-14","not_before":"2026-05-13T00:00:00Z","parent":null,"uid":null,"estimate_minutes":90,"tracked_seconds":0,"timer":null,"notes":[],"metadata":{"ticket":12,"who":"the designer"},"provenance":{"origin":"person","by":"ann","at":"2026-05-13T14:25:00Z"},"attempts":0,"rev":1,"result":null,"late":[],"landing":null,"parts":null}
    $ task edit 1 --due none --not-before none --estimate none --meta ticket= --meta who= --remove-tag ops --add-tag sec
    edited 1 Rotate the keys
    $ show 1
    1 Rotate the keys
      state       pending
      tags        sec
      added       by ann, now
    $ task edit 1 --meta priority=high
    exit 6
    2> flagpost: priority: it is a field with an option of its own
    $ task edit 1 --meta broken
    exit 2
    2> flagpost: invalid value 'broken' for '--meta <KEY=VALUE>': use KEY=VALUE
    2>   hint: 'flagpost task edit --help' shows how
    $ task edit 1 --estimate 3d
    edited 1 Rotate the keys
    $ task edit 1 --due 2026-02-30
    exit 2
    2> flagpost: invalid value '2026-02-30' for '--due <DATE>': use a date that exists, as in 2026-12-01, or today, tomorrow, none
    2>   hint: 'flagpost task edit --help' shows how
    $ task edit 1 --due 2026-12-01T15:00
    exit 2
    2> flagpost: invalid value '2026-12-01T15:00' for '--due <DATE>': use a date that exists, as in 2026-12-01, or today, tomorrow, none
    2>   hint: 'flagpost task edit --help' shows how
    $ add twin --uid a
    added 2 twin
    $ task edit 1 --uid a
    exit 4
    2> flagpost: task 2 has the uid "a" already
    2>   hint: 'flagpost edit' changes that task
    "#);
}

#[test]
fn parts_are_counted_and_keep_the_whole_from_being_done() {
    let world = world();
    transcript!(world, @r#"
    $ add 'Ship it'
    added 1 Ship it
    $ add Write --parent 1
    added 2 Write
    $ add Test --parent 1
    added 3 Test
    $ done 2
    completed 2 Write
    $ show 1
    1 Ship it
      state       pending
      parts       1 of 2 done
      added       by ann, now
    $ done 1
    exit 4
    2> flagpost: task 1 has parts that are not done: 3
    2>   hint: finish them first, or say --force if they do not matter
    $ done 1 --json
    exit 4
    {"schema":"flagpost.error/1","kind":"conflict","exit_code":4,"message":"task 1 has parts that are not done: 3","hint":"finish them first, or say --force if they do not matter","causes":[]}
    $ done 1,3
    completed 1 Ship it
    completed 3 Test
    $ task reopen 1,3
    reopened 1 Ship it
    reopened 3 Test
    $ done 1 --force
    completed 1 Ship it
    $ task edit 1 --parent 3
    exit 6
    2> flagpost: that would make a task a part of itself: 1 → 3 → 1
    2>   hint: 'flagpost list' shows what there is
    $ task edit 1 --parent 1
    exit 6
    2> flagpost: that would make a task a part of itself: 1 → 1
    2>   hint: 'flagpost list' shows what there is
    $ task rm 1 --yes
    removed 1 Ship it
    $ show 3
    3 Test
      state       pending
      added       by ann, now

    completed by ann, now
    "#);
}

#[test]
fn notes() {
    let world = world_with(&["Write", "Test"]);
    transcript!(world, @r#"
    $ task note 1 'Ask the designer first'
    noted on 1 Write (22 bytes)
    $ task note 1,2 'Seen by W1' --as W1 --quiet
    1
    2
    $ task note 2 one --json
    {"schema":"flagpost.task/1","id":"2","subject":"Test","description":"","state":"pending","owner":null,"claim":null,"blocks":[],"blocked_by":[],"priority":null,"complexity":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"uid":null,"estimate_minutes":null,"tracked_seconds":0,"timer":null,"notes":[{"kind":"note","by":"W1","at":"2026-05-13T14:25:00Z","text":"Seen by W1","question":null},{"kind":"note","by":"ann","at":"2026-05-13T14:25:00Z","text":"one","question":null}],"metadata":{},"provenance":{"origin":"person","by":"ann","at":"2026-05-13T14:25:00Z"},"attempts":0,"rev":3,"result":null,"late":[],"landing":null}
    $ task note 1 ''
    exit 6
    2> flagpost: note: it says nothing
    $ task note 1
    exit 2
    2> flagpost: write something, as in note 7 'Ask the designer first'
    2>   hint: flagpost --help shows how
    $ show 1
    1 Write
      state       pending
      added       by ann, now

    note by ann, now
    Ask the designer first

    note by W1, now
    Seen by W1
    "#);
    let ran = world.feed(["task", "note", "1", "-"], b"from\nstdin\n");
    assert_eq!(ran.code, 0);
    assert!(world.ok(["show", "1"]).ends_with("from\nstdin\n"));
}

#[test]
fn timers() {
    let mut world = world_with(&["Write", "Test"]);
    transcript!(world, @"
    $ task timer show
    nobody measures anything in web
    $ task timer stop
    you measure nothing
    $ task timer stop 1
    exit 4
    2> flagpost: no timer runs on task 1
    2>   hint: 'flagpost task timer start' starts one
    $ task timer start 1
    measuring 1 Write
    $ task timer start 1
    exit 4
    2> flagpost: ann measures task 1 since 2026-05-13T14:25:00Z
    2>   hint: 'flagpost task timer show' names the timers that run
    $ task timer start 1 --as W1
    exit 4
    2> flagpost: ann measures task 1 since 2026-05-13T14:25:00Z
    2>   hint: 'flagpost task timer show' names the timers that run
    ");
    world.set("FLAGPOST_CLOCK", "2026-05-13T15:55:30Z");
    transcript!(world, @r#"
    $ task timer show
    ID  WHO  RUNS    IN ALL  SUBJECT
    1   ann  1h 30m  1h 30m  Write
    $ task timer show --json
    {"schema":"flagpost.timers/1","list":"web","timers":[{"task":"1","subject":"Write","by":"ann","since":"2026-05-13T14:25:00Z","elapsed_seconds":5430,"tracked_seconds":5430}],"skipped":[]}
    $ task timer start 2
    stopped 1 Write: 1h 30m in all
    measuring 2 Test
    $ task timer stop --json
    {"schema":"flagpost.timer/1","started":null,"stopped":[{"id":"2","subject":"Test","description":"","state":"pending","owner":null,"claim":null,"blocks":[],"blocked_by":[],"priority":null,"complexity":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"uid":null,"estimate_minutes":null,"tracked_seconds":0,"timer":null,"notes":[],"metadata":{},"provenance":{"origin":"person","by":"ann","at":"2026-05-13T14:25:00Z"},"attempts":0,"rev":3,"result":null,"late":[],"landing":null}]}
    $ show 1
    1 Write
      state       pending
      tracked     1h 30m
      added       by ann, 2h ago
    "#);
    world.ok(["task", "timer", "start", "1"]);
    world.set("FLAGPOST_CLOCK", "2026-05-13T16:55:30Z");
    transcript!(world, @"
    $ done 1
    completed 1 Write
    $ show 1
    1 Write
      state       completed
      owner       ann
      tracked     2h 30m
      added       by ann, 3h ago

    completed by ann, now
    $ task timer start 1
    exit 4
    2> flagpost: task 1 is completed and cannot be timed
    2>   hint: 'flagpost reopen' makes it pending again, if that is what you want
    ");
}

#[test]
fn undo() {
    let world = world();
    transcript!(world, @r#"
    $ task undo
    exit 3
    2> flagpost: [dir]/web is in no repository that Flagpost knows
    2>   hint: run 'flagpost init' at the top of your project, or name a list with --list
    $ add Write
    added 1 Write
    $ add Test --after 1
    added 2 Test
    $ task edit 1 --priority high
    edited 1 Write
    $ task undo --dry-run
    would take back task.edited: 1 Write
    $ task undo --json
    {"schema":"flagpost.undo/1","n":4,"dry_run":false,"undone":[{"kind":"task.edited","task":"1"}],"tasks":[{"id":"1","subject":"Write","description":"","state":"pending","owner":null,"claim":null,"blocks":["2"],"blocked_by":[],"priority":null,"complexity":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"uid":null,"estimate_minutes":null,"tracked_seconds":0,"timer":null,"notes":[],"metadata":{},"provenance":{"origin":"person","by":"ann","at":"2026-05-13T14:25:00Z"},"attempts":0,"rev":4,"result":null,"late":[],"landing":null}],"removed":[]}
    $ task rm 1 --yes
    removed 1 Write; 1 waiting for it
    $ show 2
    2 Test
      state       pending
      added       by ann, now
    $ task undo
    took back task.removed: 1 Write
    $ show 2
    2 Test
      state       pending
      waits for   1
      added       by ann, now
    $ task note 2 'Mine' --as W1
    noted on 2 Test (4 bytes)
    $ task undo
    exit 4
    2> flagpost: task 2 has moved on: task.noted by W1 at 2026-05-13T14:25:00Z
    2>   hint: 'flagpost show' tells how it is now; change it with 'flagpost edit'
    $ task undo --as W1
    took back task.noted: 2 Test
    $ task undo
    took back task.created: 2 Test
    $ task undo --json
    {"schema":"flagpost.undo/1","n":2,"dry_run":false,"undone":[{"kind":"task.created","task":"1"}],"tasks":[],"removed":["1"]}
    $ task undo
    exit 3
    2> flagpost: ann changed nothing in web that could be taken back
    2>   hint: only your own changes of this very list can be taken back
    "#);
}

#[test]
fn tasks_move_to_another_list() {
    let world = world_with(&["Write", "Test", "Ship"]);
    world.ok(["task", "dep", "add", "2", "1"]);
    world.ok(["task", "note", "1", "Kept"]);
    transcript!(world, @r#"
    $ task move 1 --to later
    exit 4
    2> flagpost: task 1 is tied to 2
    2>   hint: move them together, or say --cut to leave them behind
    $ task move 1 --to later --create
    exit 4
    2> flagpost: task 1 is tied to 2
    2>   hint: move them together, or say --cut to leave them behind
    $ task move 1 --to web
    exit 4
    2> flagpost: task 1 is tied to 2
    2>   hint: move them together, or say --cut to leave them behind
    $ task move 1,2 --to later --dry-run
    would move 1 Write to later
    would move 2 Test to later
    $ task move 1,2 --to later --create
    moved 1 to later as 1 Write
    moved 2 to later as 2 Test
    $ list --list later --json
    {"schema":"flagpost.tasks/1","list":"later","tasks":[{"id":"1","subject":"Write","state":"pending","owner":null,"claim":null,"blocks":["2"],"blocked_by":[],"priority":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":0},{"id":"2","subject":"Test","state":"pending","owner":null,"claim":null,"blocks":[],"blocked_by":["1"],"priority":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":0}],"total":2,"truncated":false,"skipped":[],"groups":null}
    $ show 1 --list later
    1 Write
      state       pending
      blocks      2
      added       by ann, now

    note by ann, now
    Kept
    $ list
    ID  STATE    SUBJECT
    3   pending  Ship
    $ task move 3 --to later --json
    {"schema":"flagpost.moved/1","dry_run":false,"from":"web","to":"later","moved":[{"was":"3","task":{"id":"3","subject":"Ship","description":"","state":"pending","owner":null,"claim":null,"blocks":[],"blocked_by":[],"priority":null,"complexity":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"uid":null,"estimate_minutes":null,"tracked_seconds":0,"timer":null,"notes":[],"metadata":{},"provenance":{"origin":"person","by":"ann","at":"2026-05-13T14:25:00Z"},"attempts":0,"rev":1,"result":null,"late":[],"landing":null}}]}
    $ claim 1 --list later
    claimed 1 Write (token 13, lease ends in 15m)
    $ task move 1 --to web --cut --list later
    exit 4
    2> flagpost: task 1 is held by ann until 2026-05-13T14:40:00Z (token 13)
    2>   hint: 'flagpost claim --next' gives you another task
    $ task move 1 --to ../evil --list later
    exit 6
    2> flagpost: "../evil" is not a list id: use 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit
    "#);
}

#[test]
fn undo_of_a_move() {
    let world = world_with(&["a"]);
    world.ok(["add", "b", "--after", "1"]);
    world.ok(["task", "move", "1,2", "--to", "later", "--create"]);
    transcript!(world, @r#"
    $ task undo
    exit 4
    2> flagpost: the last change moved tasks from list web to later; there they are 1, 2
    2>   hint: move them back: flagpost task move 1,2 --list later --to web
    $ task undo --json
    exit 4
    {"schema":"flagpost.error/1","kind":"conflict","exit_code":4,"message":"the last change moved tasks from list web to later; there they are 1, 2","hint":"move them back: flagpost task move 1,2 --list later --to web","causes":[]}
    $ task undo --list later
    exit 4
    2> flagpost: the last change moved tasks from list web to later; there they are 1, 2
    2>   hint: move them back: flagpost task move 1,2 --list later --to web
    $ task move 1,2 --list later --to web
    moved 1 to web as 3 a
    moved 2 to web as 4 b
    "#);
}
