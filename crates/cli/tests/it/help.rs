//! The help of every verb: an example that parses, within the screen, and nothing destructive.

use std::{collections::BTreeSet, sync::OnceLock};

use insta::assert_snapshot;

use crate::world;

/// The verbs that a help text lists.
fn verbs(help: &str) -> Vec<String> {
    contents(help)
        .into_iter()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|verb| !verb.is_empty() && *verb != "help")
        .map(str::to_owned)
        .collect()
}

/// The lines of a help text that list verbs: those of a group, or of the program's groups.
fn contents(help: &str) -> Vec<&str> {
    let lines = help
        .lines()
        .skip_while(|line| !["Commands:", "Start here:"].contains(line));
    let lines = lines.take_while(|line| !line.starts_with("Options"));
    lines.filter(|line| line.starts_with("  ")).collect()
}

/// Every command there is, and its help: asked for once, for all tests.
fn all() -> &'static [(Vec<String>, String)] {
    static ALL: OnceLock<Vec<(Vec<String>, String)>> = OnceLock::new();
    ALL.get_or_init(|| {
        let world = world().with("COLUMNS", "80");
        let mut found = Vec::new();
        let mut open = vec![Vec::new()];
        while let Some(words) = open.pop() {
            let help = world.ok(words.iter().map(String::as_str).chain(["--help"]));
            let below = verbs(&help).into_iter();
            open.extend(below.map(|verb| [words.clone(), vec![verb]].concat()));
            found.push((words, help));
        }
        found
    })
}

#[test]
fn every_verb_has_an_example_that_fits_the_screen() {
    let mut faults = BTreeSet::new();
    for (words, help) in all() {
        let name = words.join(" ");
        let example = help.split_once("\nExample").and_then(|(_, rest)| {
            let examples = rest
                .trim_start_matches('s')
                .trim_start_matches([':', '\n', ' ']);
            examples.lines().next()
        });
        match example {
            None => drop(faults.insert(format!("{name}: no example"))),
            Some(example) if !words.last().is_none_or(|verb| example.contains(verb)) => {
                faults.insert(format!(
                    "{name}: the example is of something else: {example}"
                ));
            }
            Some(example) if !example.contains("flagpost") => {
                faults.insert(format!("{name}: {example}"));
            }
            Some(_) => {}
        }
        for line in help.lines().filter(|line| line.chars().count() > 80) {
            faults.insert(format!("{name}: wider than 80: {line}"));
        }
        let about = help.lines().next().unwrap_or_default();
        if about.ends_with('.') && !words.is_empty() {
            faults.insert(format!("{name}: ends in a full stop: {about}"));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// A group's help is its table of contents: a verb is a line, and the line says what it does.
#[test]
fn every_group_lists_its_verbs_a_line_each() {
    let mut faults = BTreeSet::new();
    let mut groups = 0;
    for (words, help) in all() {
        let contents = contents(help);
        groups += usize::from(!contents.is_empty());
        for line in contents {
            let mut columns = line.trim_start().splitn(2, "  ");
            let verb = columns.next().unwrap_or_default();
            let about = columns.next().unwrap_or_default().trim();
            if !line.starts_with("  ") || line.starts_with("   ") || about.is_empty() {
                faults.insert(format!("{words:?}: no line of its own: {verb}"));
            }
        }
    }
    assert!(groups > 3, "{groups}");
    assert!(faults.is_empty(), "{faults:#?}");
}

/// One page for a verb, with an option in a line where that is possible: the long form of clap
/// would put three lines between a verb's own options.
#[test]
fn there_is_no_second_longer_help() {
    let world = world().with("COLUMNS", "80");
    for (words, help) in all() {
        let short = world.ok(words.iter().map(String::as_str).chain(["-h"]));
        assert_eq!(short, *help, "{words:?}");
    }
    let of_all = all()[0]
        .1
        .split_once("Options of every command:\n")
        .unwrap()
        .1;
    let lines = of_all.lines().take_while(|line| !line.is_empty());
    for line in lines {
        assert!(line.contains("--"), "more than a line: {line}");
    }
}

#[test]
fn typos_and_verbs_of_a_group() {
    let world = world();
    let told = world.transcript(
        "lst
        task dne
        list --limt 3
        recover
        session import x
        task init
        session rm 1
        nonsense --json",
    );
    let hints: Vec<_> = told
        .lines()
        .filter(|line| {
            ["$ ", "2>   tip", "2>   hint", "{"]
                .iter()
                .any(|start| line.starts_with(start))
        })
        .collect();
    assert_snapshot!(hints.join("\n"), @r#"
    $ lst
    2>   hint: do you mean stop or ls or list?
    $ task dne
    2>   hint: do you mean note or done?
    $ list --limt 3
    2>   hint: do you mean --limit?
    $ recover
    2>   hint: type 'flagpost session recover'
    $ session import x
    2>   hint: type 'flagpost import'
    $ task init
    2>   hint: type 'flagpost init'
    $ session rm 1
    2>   hint: 'flagpost session --help' shows how
    $ nonsense --json
    {"schema":"flagpost.error/1","kind":"usage","exit_code":2,"message":"unrecognized subcommand 'nonsense'","hint":"do you mean note?","causes":[]}
    "#);
}

#[test]
fn trap_44_help_and_hints_never_suggest_what_destroys() {
    for (words, help) in all() {
        let examples = help.lines().skip_while(|line| !line.starts_with("Example"));
        for line in examples {
            for bad in ["--yes", "--force", "rm -", "kill"] {
                assert!(!line.contains(bad), "{words:?}: {line}");
            }
        }
    }
    let world = crate::world_with(&["a", "b"]);
    world.ok(["claim", "1", "--as", "W1"]);
    let told = world.transcript(
        "task rm 1
        task rm 2
        task rm 1 --yes
        claim 1
        claim 9
        task release 1
        done 1
        task cancel 1
        task reopen 2
        task dep add 1 1
        --list nope list
        lst",
    );
    for line in told.lines().filter(|line| !line.starts_with('$')) {
        for bad in [
            "--yes", "--force", "task rm", "rm -", "kill", "delete", "end it",
        ] {
            assert!(!line.contains(bad), "{line}");
        }
    }
}

#[test]
fn the_map() {
    let mut names: Vec<String> = all().iter().map(|(words, _)| words.join(" ")).collect();
    names.sort();
    for verb in [
        "add",
        "claim",
        "done",
        "init",
        "list",
        "ready",
        "show",
        "status",
        "task dep add",
        "task import",
    ] {
        assert!(names.iter().any(|name| name == verb), "{verb}");
    }
    let mut pages: Vec<String> = world()
        .ok(["man", "--out", "pages", "--quiet"])
        .lines()
        .map(|page| page["flagpost".len()..].replace('-', " ").trim().to_owned())
        .collect();
    pages.sort();
    let names = names.iter().map(|name| name.replace('-', " "));
    assert_eq!(
        pages,
        names.collect::<Vec<_>>(),
        "each has a page in the manual"
    );
}

#[test]
fn the_daily_verbs_are_the_same_as_below_task() {
    let world = world();
    for verb in ["add", "list", "show", "ready", "claim", "done"] {
        let top = world.ok([verb, "--help"]);
        let below = world.ok(["task", verb, "--help"]);
        assert_eq!(
            top.replace(&format!("flagpost {verb}"), ""),
            below
                .replace(&format!("flagpost task {verb}"), "")
                .replace(&format!("flagpost {verb}"), "")
        );
    }
}

#[test]
fn a_page_of_help() {
    transcript!(world(), @"
    $ add --help
    Add a task to the list

    Usage: flagpost add [OPTIONS] <SUBJECT>

    Arguments:
      <SUBJECT>  What is to be done, in one line; - reads stdin

    Options:
          --after <ID>  Wait for this task; may be repeated
      -h, --help        Print help

    Fields:
      -d, --description <TEXT>   What is to be done, in full; - reads stdin
          --file <PATH>          Read the description from this file; - is stdin
      -p, --priority <PRIORITY>  critical, high, medium, low or none
          --group <NAME>         The feature it belongs to
          --project <NAME>       The project it belongs to
          --complexity <SIZE>    How large it is, in your own scale: S, M, L…
          --tag <TAG>            A label; may be repeated. On edit they take the place of those it has
          --due <DATE>           When it is due: 2026-12-01, today, tomorrow, or none
          --not-before <DATE>    Do not hand it out before this day, or none
          --parent <ID>          The task it is part of, or none
          --estimate <TIME>      How much work it is: 90m, 2h, 1h30m, 1d (8 hours), 1w (5 days), or none
          --meta <KEY=VALUE>     Anything else, under a key of yours; JSON or a text; KEY= takes it
                                 away; may be repeated
          --uid <UID>            Your own name for it, which no other task has; importing that name
                                 updates it

    Options of every command:
          --json          Answer in JSON: one object, or one per line of a stream
      -q, --quiet         Print ids only
          --as <ID>       Act as [default: $FLAGPOST_WORKER, else your login name]
          --list <NAME>   The list [default: $FLAGPOST_LIST, else the repository's]
          --color <WHEN>  Colour: auto, always or never; auto heeds NO_COLOR
          --time <STYLE>  Times: relative, or iso for date and time
      -v, --verbose       Show the chain of causes behind an error

    Example: flagpost add 'Write the parser' --priority high --after 3 --after 4
    $ claim --help
    Claim a task for the time of a lease

    Usage: flagpost claim [OPTIONS] <ID|--next>

    Arguments:
      [ID]  The task

    Options:
          --next          The first ready task
          --lease <TIME>  How long without renewal: 15m, 1h [default: the setting claim.lease, else 15m]
      -h, --help          Print help

    Options of every command:
          --json          Answer in JSON: one object, or one per line of a stream
      -q, --quiet         Print ids only
          --as <ID>       Act as [default: $FLAGPOST_WORKER, else your login name]
          --list <NAME>   The list [default: $FLAGPOST_LIST, else the repository's]
          --color <WHEN>  Colour: auto, always or never; auto heeds NO_COLOR
          --time <STYLE>  Times: relative, or iso for date and time
      -v, --verbose       Show the chain of causes behind an error

    Example: flagpost claim --next --as W3
    The token in the answer fences you off from later holders: give it to done, fail and stuck.
    ");
}

#[test]
fn help_in_all_its_spellings() {
    let world = world();
    let help = world.ok(["task", "dep", "--help"]);
    for spelling in [
        &["help", "task", "dep"][..],
        &["task", "help", "dep"],
        &["task", "dep", "-h"],
        &["task", "dep", "--json", "--help"],
    ] {
        assert_eq!(world.ok(spelling), help, "{spelling:?}");
    }
    assert!(world.ok(["--version"]).starts_with("flagpost 0."));
}

#[test]
fn names_that_moved_are_understood() {
    let world = world();
    for (moved, here) in [
        ("up", "daemon up"),
        ("down", "daemon down"),
        ("agent", "bridge"),
        ("agent status", "bridge status"),
        ("relay reject", "reject"),
        ("task edit", "edit"),
        ("task note", "note"),
        ("task graph", "graph"),
        ("task import", "import"),
        ("task export", "export"),
        ("task undo", "undo"),
        ("task release", "release"),
    ] {
        let help = |words: &str| world.ok(words.split(' ').chain(["--help"]));
        let (moved, here) = (help(moved), help(here));
        let page = |help: &str| {
            let lines = help.lines().filter(|line| !line.starts_with("Usage: "));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(page(&moved), page(&here));
    }
    assert!(world.ok(["slash", "--help"]).contains("flagpost slash"));
}
