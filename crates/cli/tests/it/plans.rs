//! Importing a plan.

use insta::assert_snapshot;

use crate::world;

const PLAN: &str = "# Plan\n\n- [ ] Write the parser {priority: high, group: core}\n      It reads the grammar.\n- [ ] Test the parser (after: 1)\n- [x] Read the notes\n";

#[test]
fn import() {
    let world = world();
    std::fs::write(world.repository().join("PLAN.md"), PLAN).unwrap();
    transcript!(world, @r#"
    $ task import PLAN.md --dry-run
           ID  SUBJECT
    added  1   Write the parser
    added  2   Test the parser
    added  3   Read the notes
    3 would be added, 0 would be updated, 0 unchanged; read as markdown
    $ list
    exit 3
    2> flagpost: [dir]/web is in no repository that Flagpost knows
    2>   hint: run 'flagpost init' at the top of your project, or name a list with --list
    $ task import PLAN.md
           ID  SUBJECT
    added  1   Write the parser
    added  2   Test the parser
    added  3   Read the notes
    3 added, 0 updated, 0 unchanged; read as markdown
    $ task import PLAN.md
    0 added, 0 updated, 3 unchanged; read as markdown
    $ task import --file PLAN.md --quiet
    1
    2
    3
    $ task import PLAN.md --json
    {"schema":"flagpost.import/1","list":"web","format":"markdown","dry_run":false,"added":0,"updated":0,"unchanged":3,"outdated":0,"held":0,"broken":[],"warnings":[],"tasks":[{"id":"1","subject":"Write the parser","fate":"unchanged","overwritten":[],"kept_state":null},{"id":"2","subject":"Test the parser","fate":"unchanged","overwritten":[],"kept_state":null},{"id":"3","subject":"Read the notes","fate":"unchanged","overwritten":[],"kept_state":null}],"gone":[]}
    $ list --all
    ID  STATE      PRIORITY  WAITS FOR  SUBJECT
    1   pending    high                 Write the parser
    2   pending              1          Test the parser
    3   completed                       Read the notes
    "#);
}

#[test]
fn import_from_stdin() {
    let world = world();
    assert_snapshot!(world.feed(["task", "import", "-"], PLAN.as_bytes()), @r#"
           ID  SUBJECT
    added  1   Write the parser
    added  2   Test the parser
    added  3   Read the notes
    3 added, 0 updated, 0 unchanged; read as markdown
    "#);
    assert_snapshot!(world.feed(["task", "import", "--file", "-"], PLAN.as_bytes()), @r#"0 added, 0 updated, 3 unchanged; read as markdown"#);
}

#[test]
fn bad_plans_are_refused_whole() {
    let world = world();
    for (name, text) in [
        ("cycle.md", "- [ ] a (after: 2)\n- [ ] b (after: 1)\n"),
        ("unknown.md", "- [ ] a (after: Nobody)\n"),
        ("empty.md", ""),
        ("prose.md", "Just a few words.\n"),
    ] {
        std::fs::write(world.repository().join(name), text).unwrap();
    }
    std::fs::write(world.repository().join("latin1.md"), b"- [ ] caf\xe9\n").unwrap();
    transcript!(world, @r#"
    $ task import cycle.md
    exit 6
    2> flagpost: cycle.md: line 1: these tasks wait for each other: a → b → a
    $ task import unknown.md
    exit 6
    2> flagpost: unknown.md: line 1: no task is called "Nobody"; there is "a" (line 1)
    $ task import empty.md
    exit 6
    2> flagpost: empty.md: the plan has no tasks: write them as a checklist (- [ ] Subject) or as headings
    $ task import prose.md
    exit 6
    2> flagpost: prose.md: the plan has no tasks: write them as a checklist (- [ ] Subject) or as headings
    $ task import latin1.md
    exit 6
    2> flagpost: latin1.md: not UTF-8 at byte 9
    $ task import nowhere.md
    exit 3
    2> flagpost: cannot read nowhere.md: No such file or directory (os error 2)
    $ task import .
    exit 6
    2> flagpost: .: it holds no tasks that any tool keeps
    $ task import
    exit 2
    2> flagpost: name the source: a file, a folder, or - for stdin
    2>   hint: flagpost --help shows how
    $ task import cycle.md --file cycle.md
    exit 2
    2> flagpost: name the source once
    2>   hint: flagpost --help shows how
    $ task import cycle.md --json
    exit 6
    {"schema":"flagpost.error/1","kind":"invalid","exit_code":6,"message":"cycle.md: line 1: these tasks wait for each other: a → b → a","hint":null,"causes":[]}
    $ list --all
    exit 3
    2> flagpost: [dir]/web is in no repository that Flagpost knows
    2>   hint: run 'flagpost init' at the top of your project, or name a list with --list
    "#);
}

#[test]
fn a_long_import_says_how_much_is_not_shown() {
    let world = world();
    let plan: String = (1..=60).map(|n| format!("- [ ] Task {n}\n")).collect();
    let ran = world.feed(["task", "import", "-"], plan.as_bytes());
    let tail: Vec<&str> = ran.stdout.lines().rev().take(3).collect();
    assert_snapshot!(tail.join("\n"), @r#"
    60 added, 0 updated, 0 unchanged; read as markdown
    … and 10 more
    added  50  Task 50
    "#);
}

#[test]
fn what_an_import_leaves_to_somebody_is_said() {
    let world = world();
    let write = |text: &str| std::fs::write(world.repository().join("PLAN.md"), text).unwrap();
    write(
        "- [ ] Write {priority: low}\n  - [ ] Parse\n  - [ ] Print\n- [ ] Test (after 1)\n- [ ] Ship\n-[ ] Rest\n",
    );
    world.ok(["add", "Of somebody else", "--uid", "mine"]);
    let first = world.flagpost(["task", "import", "PLAN.md"]);
    assert_snapshot!(first, @"
           ID  SUBJECT
    added  2   Write
    added  3   Parse
    added  4   Print
    added  5   Test (after 1)
    added  6   Ship
    5 added, 0 updated, 0 unchanged; read as markdown
    2> flagpost: line 4: (after 1) is text: write (after: 1)
    2> flagpost: line 6: this is nearly a task: a blank is missing before the box
    ");
    world.ok(["claim", "2", "--as", "W1"]);
    world.ok(["task", "edit", "6", "--priority", "high"]);
    world.ok(["task", "edit", "2", "--priority", "high"]);
    write("- [x] Write {priority: critical}\n  - [ ] Parse\n- [ ] Test it\n- [ ] Ship\n");
    std::fs::write(world.repository().join("OTHER.md"), "- [ ] Other\n").unwrap();
    transcript!(world, @r#"
    $ task import PLAN.md --dry-run
             ID  SUBJECT
    updated  2   Write
    added    7   Test it
    1 would be added, 1 would be updated, 2 unchanged; read as markdown
    2> flagpost: 2: priority changed here too, and is now as it is there
    2> flagpost: 2 is completed there; here it is not pending, so it stays as it is
    2> flagpost: 4 Print is no longer in PLAN.md; here it stays: edit or cancel it
    2> flagpost: 5 Test (after 1) is no longer in PLAN.md; here it stays: edit or cancel it
    $ task import PLAN.md
             ID  SUBJECT
    updated  2   Write
    added    7   Test it
    1 added, 1 updated, 2 unchanged; read as markdown
    2> flagpost: 2: priority changed here too, and is now as it is there
    2> flagpost: 2 is completed there; here it is not pending, so it stays as it is
    2> flagpost: 4 Print is no longer in PLAN.md; here it stays: edit or cancel it
    2> flagpost: 5 Test (after 1) is no longer in PLAN.md; here it stays: edit or cancel it
    $ task import PLAN.md --json
    {"schema":"flagpost.import/1","list":"web","format":"markdown","dry_run":false,"added":0,"updated":0,"unchanged":4,"outdated":0,"held":0,"broken":[],"warnings":[],"tasks":[{"id":"2","subject":"Write","fate":"unchanged","overwritten":[],"kept_state":"completed"},{"id":"3","subject":"Parse","fate":"unchanged","overwritten":[],"kept_state":null},{"id":"7","subject":"Test it","fate":"unchanged","overwritten":[],"kept_state":null},{"id":"6","subject":"Ship","fate":"unchanged","overwritten":[],"kept_state":null}],"gone":[{"id":"4","subject":"Print"},{"id":"5","subject":"Test (after 1)"}]}
    2> flagpost: 2 is completed there; here it is not pending, so it stays as it is
    2> flagpost: 4 Print is no longer in PLAN.md; here it stays: edit or cancel it
    2> flagpost: 5 Test (after 1) is no longer in PLAN.md; here it stays: edit or cancel it
    $ task import OTHER.md
           ID  SUBJECT
    added  8   Other
    1 added, 0 updated, 0 unchanged; read as markdown
    $ list
    ID  STATE    PRIORITY  OWNER  PARTS  SUBJECT
    1   pending                          Of somebody else
    2   claimed  critical  W1     0/2    Write
    3   pending                          Parse
    4   pending                          Print
    5   pending                          Test (after 1)
    6   pending  high                    Ship
    7   pending                          Test it
    8   pending                          Other
    "#);
}
