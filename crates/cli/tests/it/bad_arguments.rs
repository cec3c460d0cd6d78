//! What was typed wrongly: ids, names, subjects, words that are no verbs.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

use flagpost_testkit::{sealed::World, table};
use insta::assert_snapshot;

use crate::{world, world_with};

/// Each line is refused because this in it is no id of this kind.
fn refuses(world: &World, kind: &str, rows: &[(&str, &str)]) {
    table::each(rows.iter().map(|row| (row.0, row)), |(line, id)| {
        let told = format!(
            "$ {line}\nexit 6\n2> flagpost: \"{id}\" is not a {kind}: use 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit\n"
        );
        assert_eq!(world.transcript(line), told);
    });
}

#[test]
fn ids_that_are_none() {
    let world = world_with(&["a"]);
    let long = "x".repeat(65);
    let show = format!("show {long}");
    let rows = [
        ("show ../web/1", "../web/1"),
        ("show ''", ""),
        ("show ..", ".."),
        ("show .lock", ".lock"),
        ("show 1/../1", "1/../1"),
        (&*show, &*long),
        ("task start '1 2'", "1 2"),
        ("add b --after ../1", "../1"),
        ("task dep add 1 /etc/passwd", "/etc/passwd"),
        ("done '*'", "*"),
    ];
    refuses(&world, "task id", &rows);
    let taken = world.flagpost(["claim", "1.json"]);
    assert_eq!(taken.code, 3, "it may be one: {taken}");
    refuses(&world, "worker id", &[("list --as 'a b'", "a b")]);
}

#[test]
fn lists_that_are_none() {
    let world = world();
    let long = "x".repeat(65);
    let add = format!("--list {long} add x");
    let rows = [
        ("--list ../../evil add x", "../../evil"),
        ("--list ../../evil list", "../../evil"),
        ("--list '' add x", ""),
        ("--list . add x", "."),
        ("--list a/b add x", "a/b"),
        (&*add, &*long),
        ("FLAGPOST_LIST=../evil add x", "../evil"),
        ("FLAGPOST_LIST=../evil status", "../evil"),
    ];
    refuses(&world, "list id", &rows);
    let around: Vec<_> = std::fs::read_dir(world.outside())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(around.len(), 2, "{around:?}");
    assert!(!world.home().join("tasks").exists());
}

#[test]
fn subjects_that_are_none() {
    let world = world();
    transcript!(world, @r"
    $ add ''
    exit 6
    2> flagpost: subject: a task needs one
    $ add '  '
    exit 6
    2> flagpost: subject: a task needs one
    $ add
    exit 2
    2> flagpost: the following required arguments were not provided: <SUBJECT>
    2>   hint: 'flagpost add --help' shows how
    ");
    assert_snapshot!(world.flagpost(["add", "a\nb"]), @r#"
    exit 6
    2> flagpost: subject: one line; the rest belongs into --description
    "#);
    assert_snapshot!(world.flagpost(["add", "a\r"]), @r#"
    exit 6
    2> flagpost: subject: one line; the rest belongs into --description
    "#);
    assert_snapshot!(world.flagpost(["list", "--all"]), @r#"web has no tasks yet; 'flagpost add' makes one"#);
}

#[test]
fn arguments_that_are_not_utf8() {
    let world = world_with(&["a"]);
    let bad = OsStr::from_bytes(b"\xff\xfe");
    let cases: [&[&OsStr]; 6] = [
        &["add".as_ref(), bad],
        &[bad],
        &["show".as_ref(), bad],
        &["add".as_ref(), "--json".as_ref(), bad],
        &["--list".as_ref(), bad, "list".as_ref()],
        &["--as".as_ref(), bad, "add".as_ref(), "x".as_ref()],
    ];
    for args in cases {
        let ran = world.flagpost(args);
        assert_eq!(ran.code, 2, "{args:?}: {ran}");
        assert!(!ran.stderr.contains("panicked"), "{ran}");
    }
    // A file may be called anything.
    let name = OsStr::from_bytes(b"caf\xe9.md");
    std::fs::write(world.repository().join(name), "words").unwrap();
    let ran = world.flagpost(["add".as_ref(), "b".as_ref(), "--file".as_ref(), name]);
    assert_snapshot!(ran, @r#"added 2 b (description: 5 bytes)"#);
    let ran = world.flagpost([
        "task".as_ref(),
        "import".as_ref(),
        OsStr::from_bytes(b"\xe9.md"),
    ]);
    assert_eq!(ran.code, 3, "{ran}");
}

#[test]
fn a_program_name_that_is_not_utf8() {
    use std::os::unix::process::CommandExt;
    let world = world();
    let ran = world.run(
        world
            .command()
            .arg0(OsStr::from_bytes(b"/x/\xff"))
            .args(["add", "x"]),
    );
    assert_snapshot!(ran, @r#"added 1 x"#);
}

#[test]
fn words_that_are_no_verbs() {
    transcript!(world(), @r#"
    $ lst
    exit 2
    2> flagpost: unrecognized subcommand 'lst'
    2>   hint: do you mean stop or ls or list?
    $ task shwo 1
    exit 2
    2> flagpost: unrecognized subcommand 'shwo'
    2>   hint: do you mean show?
    $ move 1
    exit 2
    2> flagpost: unrecognized subcommand 'move'
    2>   hint: type 'flagpost task move'
    $ renew 1
    exit 2
    2> flagpost: unrecognized subcommand 'renew'
    2>   hint: type 'flagpost task renew'
    $ stats --json
    exit 2
    {"schema":"flagpost.error/1","kind":"usage","exit_code":2,"message":"unrecognized subcommand 'stats'","hint":"type 'flagpost task stats'","causes":[]}
    $ bench soak --for 1m
    exit 2
    2> flagpost: unrecognized subcommand 'bench'
    2>   hint: the benchmarks are a tool of the source tree: 'cargo bench -p flagpost-bench'
    $ nonsense
    exit 2
    2> flagpost: unrecognized subcommand 'nonsense'
    2>   hint: do you mean note?
    $ task
    exit 2
    2> All verbs on tasks: start, move, dep, timer…
    2> 
    2> Usage: flagpost task [OPTIONS] <COMMAND>
    2> 
    2> Commands:
    2>   add       Add a task to the list
    2>   list      List the open tasks, or those of a query
    2>   show      Show a task in full
    2>   edit      Change fields of one task or several
    2>   note      Leave a remark on a task
    2>   ready     List the tasks that can begin now, in order
    2>   graph     Draw the tasks and their dependencies
    2>   import    Import a plan, or another tool's tasks
    2>   export    Export all tasks as JSON, CSV or a plan
    2>   undo      Take back your last change of the list
    2>   answer    Answer the question of a task or a worker
    2>   claim     Claim a task for the time of a lease
    2>   done      Complete a task
    2>   fail      Give a task up: it did not work
    2>   stuck     Ask the operator, and pause the task
    2>   release   Give a task back
    2>   reopen    Make a task that has ended pending again
    2>   cancel    Say that a task is not wanted any more
    2>   rm        Remove tasks, and their names from others
    2>   start     Begin the work on a task, claiming it first if nobody holds it
    2>   renew     Extend the lease of your claim
    2>   move      Move tasks to another list, where they get new ids
    2>   timer     Measure the work on tasks
    2>   dep       Say which task waits for which
    2>   tags      Show the labels in use, and how many tasks have each
    2>   projects  Show the projects there are, and how many tasks each has
    2>   stats     Show the list in numbers
    2>   help      Print this message or the help of the given subcommand(s)
    2> 
    2> Options:
    2>   -h, --help  Print help
    2> 
    2> Options of every command:
    2>       --json          Answer in JSON: one object, or one per line of a stream
    2>   -q, --quiet         Print ids only
    2>       --as <ID>       Act as [default: $FLAGPOST_WORKER, else your login name]
    2>       --list <NAME>   The list [default: $FLAGPOST_LIST, else the repository's]
    2>       --color <WHEN>  Colour: auto, always or never; auto heeds NO_COLOR
    2>       --time <STYLE>  Times: relative, or iso for date and time
    2>   -v, --verbose       Show the chain of causes behind an error
    2> 
    2> Example: flagpost task add 'Write the parser' --after 3
    $ task dep
    exit 2
    2> Say which task waits for which
    2> 
    2> Usage: flagpost task dep [OPTIONS] <COMMAND>
    2> 
    2> Commands:
    2>   add   Make a task wait for others
    2>   rm    Make a task not wait for others any more
    2>   help  Print this message or the help of the given subcommand(s)
    2> 
    2> Options:
    2>   -h, --help  Print help
    2> 
    2> Options of every command:
    2>       --json          Answer in JSON: one object, or one per line of a stream
    2>   -q, --quiet         Print ids only
    2>       --as <ID>       Act as [default: $FLAGPOST_WORKER, else your login name]
    2>       --list <NAME>   The list [default: $FLAGPOST_LIST, else the repository's]
    2>       --color <WHEN>  Colour: auto, always or never; auto heeds NO_COLOR
    2>       --time <STYLE>  Times: relative, or iso for date and time
    2>   -v, --verbose       Show the chain of causes behind an error
    2> 
    2> Example: flagpost task dep add 7 3 4
    $ list extra
    exit 3
    2> flagpost: [dir]/web is in no repository that Flagpost knows
    2>   hint: run 'flagpost init' at the top of your project, or name a list with --list
    $ list --nope
    exit 2
    2> flagpost: unexpected argument '--nope' found
    2>   hint: 'flagpost list --help' shows how
    $ list --quiet --json
    exit 2
    {"schema":"flagpost.error/1","kind":"usage","exit_code":2,"message":"the argument '--quiet' cannot be used with '--json'","hint":"'flagpost list --help' shows how","causes":[]}
    $ list --limit -1
    exit 2
    2> flagpost: unexpected argument '-1' found
    2>   hint: 'flagpost list --help' shows how
    $ list --limit many
    exit 2
    2> flagpost: invalid value 'many' for '--limit <N>': invalid digit found in string
    2>   hint: 'flagpost list --help' shows how
    $ list --color sometimes
    exit 2
    2> flagpost: invalid value 'sometimes' for '--color <WHEN>' [possible values: auto, always, never]
    2>   hint: 'flagpost list --help' shows how
    "#);
}

#[test]
fn variables_that_are_not_utf8_are_not_passed_over() {
    for name in ["FLAGPOST_WORKER", "FLAGPOST_LIST", "FLAGPOST_CLOCK"] {
        let mut world = world_with(&["a"]);
        world.set(name, OsStr::from_bytes(b"W\xff"));
        let ran = world.flagpost(["add", "b"]);
        assert_eq!(ran.code, 6, "{name}: {ran}");
    }
}

#[test]
fn names_and_subjects_are_looked_at_by_every_verb() {
    let world = world_with(&["One"]);
    transcript!(world, @r#"
    $ task edit 1 --estimate 1w
    edited 1 One
    $ task edit 1 --estimate 99999999999w
    exit 2
    2> flagpost: invalid value '99999999999w' for '--estimate <TIME>': "99999999999w" is no length of work: use 90m, 2h, 1h30m, 1d (8 hours) or 1w (5 days)
    2>   hint: 'flagpost task edit --help' shows how
    $ show 1
    1 One
      state       pending
      estimate    40h
      added       by ann, now
    "#);
    let ran = world.flagpost(["task", "edit", "1", "--subject", "two\nlines"]);
    assert_snapshot!(ran, @"
    exit 6
    2> flagpost: subject: one line; the rest belongs into --description
    ");
}

#[test]
fn a_source_that_never_ends_is_refused() {
    let world = world_with(&["One"]);
    let pipe = world.repository().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    transcript!(world, @"
    $ task import pipe
    exit 6
    2> flagpost: pipe: it is no file; what comes out of a pipe is read with -
    $ task import /dev/zero
    exit 6
    2> flagpost: /dev/zero: it is no file; what comes out of a pipe is read with -
    ");
}

#[test]
fn a_subject_is_repeated_short() {
    let world = world_with(&[]);
    let subject = "x".repeat(100_000);
    let added = world.ok(["add", &subject]);
    assert!(added.len() < 200, "{added}");
    let done = world.ok(["done", "1"]);
    assert!(done.len() < 200, "{done}");
    assert!(world.ok(["show", "1"]).contains(&subject), "show shows it");
}
