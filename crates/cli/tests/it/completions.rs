//! What a shell is offered, asked as the shells ask.

use std::{collections::BTreeMap, fs, path::Path, process::Stdio};

use flagpost_testkit::sealed::World;
use insta::assert_snapshot;

use crate::{world, world_with};

/// What fish shows for this line: each value with its help, a line each.
fn offered(world: &World, line: &[&str]) -> String {
    let mut asked = world.command();
    let ran = world.run(
        asked
            .env("FLAGPOST_COMPLETE", "fish")
            .args(["--", "flagpost"])
            .args(line),
    );
    assert_eq!((ran.code, &*ran.stderr), (0, ""), "{line:?}");
    ran.stdout
}

fn values(world: &World, line: &[&str]) -> Vec<String> {
    let told = offered(world, line);
    let value = |line: &str| line.split('\t').next().unwrap_or_default().to_owned();
    told.lines().map(value).collect()
}

/// Two lists, tasks in several states, two workers, one ended session.
fn busy() -> World {
    let world = world_with(&["Write: the \"parser\"", "Test\u{1b}[31m it", "Ship $(it)"]);
    world.ok(["add", "other", "--list", "api"]);
    world.ok(["claim", "1", "--as", "W3"]);
    world.ok(["claim", "2", "--as", "W7"]);
    world.ok(["done", "2", "--as", "W7"]);
    world
}

/// Every file with its content and every directory below.
fn tree(dir: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let content = fs::read(&path).unwrap_or_default();
        found.insert(path.display().to_string(), content);
        if path.is_dir() {
            tree(&path, found);
        }
    }
}

#[test]
fn what_is_asked_is_offered_to_whoever_answers() {
    let world = busy();
    world.ok(["stuck", "1", "Which\u{1b}[2J parser?", "--as", "W3"]);
    assert_snapshot!(offered(&world, &["answer", ""]), @"1\tWhich␛[2J parser?");
}

#[test]
fn workers_and_their_messages_are_live() {
    let world = world();
    for worker in ["W2", "W10"] {
        world.ok(["worker", "add", worker]);
        for text in ["One", "Two", "Three"] {
            world.ok(["relay", "redirect", worker, text]);
        }
    }
    world.ok(["ratify", "W2", "1"]);
    world.ok(["relay", "reject", "W2", "2"]);
    world.ok(["worker", "ack", "1", "--as", "W2"]);
    world.ok(["worker", "report", "Done\u{1b}[2J", "--as", "W10"]);
    assert_snapshot!(offered(&world, &["relay", "edit", "W10", ""]), @r"
    3	Three
    2	Two
    1	One
    ");
    for (line, wanted) in [
        (&["ratify", ""][..], "all W2 W10"),
        (&["assign", "1", ""], "W2 W10"),
        (&["worker", "show", "W1"], "W10"),
        (&["worker", "add", ""], ""),
        (&["worker", "next", "--as", ""], "W2 W10"),
        (&["ratify", "W2", ""], "3"),
        (&["relay", "reject", "W10", ""], "3 2 1"),
        (&["inbox", "W2", ""], "3 2 1"),
        (&["outbox", "W10", ""], "1"),
        (&["outbox", "W2", ""], ""),
        (&["worker", "ack", "--as", "W2", ""], "2"),
    ] {
        let told = values(&world, line);
        let told: Vec<_> = told.into_iter().filter(|it| !it.starts_with('-')).collect();
        assert_eq!(told.join(" "), wanted, "{line:?}");
    }
    assert!(!offered(&world, &["outbox", "W10", ""]).contains('\u{1b}'));
}

#[test]
fn ids_and_names_are_live() {
    let world = busy();
    world.ok(["config", "set", "queries.urgent", "priority>=high"]);
    world.ok(["config", "set", "run.agents.opus.like", "claude"]);
    assert_snapshot!(offered(&world, &["show", ""]), @r#"
    1	Write: the "parser"
    2	Test␛[31m it
    3	Ship $(it)
    "#);
    for (line, wanted) in [
        (
            &["task", "export", "--to", ""][..],
            "json jsonl csv markdown",
        ),
        (&["task", "import", "--from", "b"], "beads backlog"),
        (&["task", "move", "1", "--to", ""], "api web"),
        (&["list", "--group-by", "p"], "priority project parent"),
        (&["run", "--agent", "c"], "claude codex cursor"),
        (&["run", "--agent", "o"], "opencode opus"),
        (&["list", "@"], "@urgent"),
        (&["done", "--where", "@"], "@urgent"),
        (&["done", ""], "1 3"),
        (&["task", "reopen", ""], "1 2 3"),
        (&["task", "dep", "add", "1", ""], "1 3"),
        (&["add", "x", "--after", "1,"], "1,1 1,3"),
        (&["show", "--list", "api", ""], "1"),
        (&["--list=api", "show", ""], "1"),
        (&["--list", ""], "api web"),
        (&["list", "--list=a"], "--list=api"),
        (&["done", "--as", ""], "W3 W7"),
        (&["list", "--state", "pending,com"], "pending,completed"),
        (&["add", "--priority", ""], "critical high medium low none"),
        (
            &["instructions", ""],
            "tasks claims reports relay sessions messages files",
        ),
        (&["completions", ""], "bash zsh fish elvish powershell"),
        (&["run", "--schedule", ""], "waves eager"),
        (
            &["config", "get", "run.quota"],
            "run.quota.reserve run.quota.park",
        ),
        (&["session", "show", ""], "live"),
        (&["sess"], "session"),
        (&["task", "re"], "ready release reopen renew"),
        (&["show", "--js"], "--json"),
        (&["man", "ses"], "session"),
    ] {
        let told = values(&world, line).join(" ");
        assert_eq!(told, wanted, "{line:?}");
    }
}

#[test]
fn an_ended_session_is_offered() {
    let world = world_with(&["a"]);
    world.ok(["run", "--agent", "true"]);
    let told = values(&world, &["session", "show", "exec"]);
    assert_eq!(told.len(), 1, "{told:?}");
    world.ok(["session", "show", &told[0]]);
}

#[test]
fn asking_leaves_no_trace_and_says_nothing_about_faults() {
    let nowhere = world();
    assert_eq!(
        values(&nowhere, &["show", ""])
            .concat()
            .matches("--")
            .count(),
        values(&nowhere, &["show", ""]).len()
    );
    assert!(!nowhere.home().exists());
    let world = busy();
    // Old enough to be kept aside by any reader that leaves traces.
    fs::write(world.list("web").join("9.json"), "[").unwrap();
    for n in 100..200 {
        let task = format!("{{\"id\":\"{n}\",\"subject\":\"s\",\"status\":\"pending\"}}");
        fs::write(world.list("web").join(format!("{n}.json")), task).unwrap();
    }
    let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
    tree(world.outside(), &mut before);
    for line in [
        &["show", ""][..],
        &["--as", ""],
        &["session", "show", ""],
        &["--list", ""],
    ] {
        let ran = world.run(
            world
                .command()
                .env("FLAGPOST_CLOCK", "2100-01-01T00:00:00Z")
                .env("FLAGPOST_COMPLETE", "zsh")
                .env("_CLAP_COMPLETE_INDEX", line.len().to_string())
                .args(["--", "flagpost"])
                .args(line),
        );
        assert_eq!((ran.code, &*ran.stderr), (0, ""), "{line:?}");
        assert!(!ran.stdout.is_empty(), "{line:?}");
    }
    tree(world.outside(), &mut after);
    assert_eq!(before, after);
    for (shell, args) in [("nosuch", &["list"][..]), ("bash", &["--", "flagpost"])] {
        let asked = world
            .command()
            .env("FLAGPOST_COMPLETE", shell)
            .env("_CLAP_COMPLETE_INDEX", "9")
            .args(args)
            .output();
        let asked = asked.unwrap();
        assert!(
            asked.stdout.is_empty() && asked.stderr.is_empty(),
            "{shell}: {asked:?}"
        );
    }
}

#[test]
fn a_script_for_each_shell() {
    let world = world();
    for (shell, word) in [
        ("bash", "complete -o nospace"),
        ("zsh", "#compdef flagpost"),
        ("fish", "complete --keep-order"),
        ("elvish", "set edit:completion"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let script = world.ok(["completions", shell]);
        assert!(
            script.contains(word) && script.contains("FLAGPOST_COMPLETE"),
            "{script}"
        );
        assert!(!script.contains(env!("CARGO_BIN_EXE_flagpost")), "{script}");
        let (code, json) = world.json(["completions", shell]);
        assert_eq!(
            (code, &json["shell"], &json["script"]),
            (0, &shell.into(), &script.into())
        );
    }
    transcript!(world, @r"
    $ completions bash --quiet
    bash
    $ completions tcsh
    exit 2
    2> flagpost: invalid value 'tcsh' for '<SHELL>' [possible values: bash, zsh, fish, elvish, powershell]
    2>   hint: do you mean zsh?
    $ completions
    exit 2
    2> flagpost: the following required arguments were not provided: <SHELL>
    2>   hint: 'flagpost completions --help' shows how
    ");
    assert!(!world.home().exists());
}

/// Runs a script in a shell that has this binary on its path; `None` where there is no such shell.
fn in_shell(world: &World, shell: &[&str], script: &str) -> Option<String> {
    let dir = Path::new(env!("CARGO_BIN_EXE_flagpost")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = [dir.to_owned()]
        .into_iter()
        .chain(std::env::split_paths(&path));
    let mut command = world.command_of(shell[0]);
    command
        .args(&shell[1..])
        .arg(script)
        .env("PATH", std::env::join_paths(paths).unwrap());
    if command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_err()
    {
        println!("skipped: there is no {}", shell[0]);
        return None;
    }
    let ran = world.run(&mut command);
    assert_eq!((ran.code, &*ran.stderr), (0, ""), "{ran}");
    Some(ran.stdout)
}

#[test]
fn bash_completes_a_line() {
    let world = busy();
    let script = r#"
        eval "$(flagpost completions bash)"
        line() {
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE} COMP_TYPE=9
            COMPREPLY=()
            last=${COMP_WORDS[COMP_CWORD]}
            $(complete -p flagpost | sed 's/.*-F \([^ ]*\).*/\1/') flagpost "$last"
            echo "$*: ${COMPREPLY[*]}"
        }
        line flagpost show ''
        line flagpost done --as W
        line flagpost ses
        line flagpost list --list = a
        line flagpost --list = ''
        line flagpost show --list = api ''
    "#;
    let told = in_shell(&world, &["bash", "--norc", "-c"], script).expect("there is a bash");
    assert_snapshot!(told, @r#"
    flagpost show : 1 2 3
    flagpost done --as W: W3 W7
    flagpost ses: session
    flagpost list --list = a: api
    flagpost --list = : api web
    flagpost show --list = api : 1
    "#);
}

#[test]
fn fish_completes_a_line() {
    let world = busy();
    let script = "flagpost completions fish | source; complete -C 'flagpost done '";
    if let Some(told) = in_shell(&world, &["fish", "--no-config", "-c"], script) {
        assert!(
            told.contains("1\tWrite: the \"parser\"\n") && !told.contains("2\t"),
            "{told}"
        );
    }
}

#[test]
fn zsh_takes_the_script() {
    let script = "autoload -U compinit && compinit -D && eval \"$(flagpost completions zsh)\" && print $_comps[flagpost]";
    if let Some(told) = in_shell(&busy(), &["zsh", "-f", "-c"], script) {
        assert_eq!(told, "_clap_dynamic_completer_flagpost\n");
    }
}
