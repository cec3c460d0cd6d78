//! A task that there is not and one that nobody names: each verb refuses it, in the same words.

use flagpost_testkit::table;

use crate::world_with;

/// All of these say this, where task 1 is the only one.
fn say(lines: &[&str], words: &str) {
    let world = world_with(&["a"]);
    table::each(lines.iter().map(|line| (line, line)), |line| {
        assert_eq!(world.transcript(line), format!("$ {line}\n{words}"));
    });
    assert_eq!(world.ok(["list", "--quiet"]), "1\n");
}

#[test]
fn a_task_that_there_is_not() {
    let lines = [
        "add Never --after 9",
        "answer 9 so",
        "claim 9 --as W4",
        "done 9",
        "logs 9",
        "show 9",
        "task cancel 9",
        "task dep add 1 9",
        "task dep add 9 1",
        "task edit 1 --parent 9",
        "task edit 9 --group g",
        "task fail 9",
        "task graph 9",
        "task move 9 --to later",
        "task note 9 lost",
        "task release 9",
        "task renew 9",
        "task reopen 9",
        "task rm 9 --yes",
        "task start 9",
        "task stuck 9",
        "task timer start 9",
    ];
    let words = "exit 3
2> flagpost: there is no task 9 in list web
2>   hint: 'flagpost list' shows what there is
";
    say(&lines, words);
}

#[test]
fn a_task_that_nobody_names() {
    let lines = [
        "done",
        "show",
        "task cancel",
        "task fail",
        "task release",
        "task renew",
        "task reopen",
        "task start",
        "task stuck",
    ];
    let words = "exit 2
2> flagpost: which task? Name its id
2>   hint: flagpost --help shows how
";
    say(&lines, words);
}
