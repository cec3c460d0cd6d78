//! `doctor --agents`: which clients could do tasks, as people and programs read it.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use flagpost_testkit::sealed::World;
use insta::assert_snapshot;

use crate::world;

/// What a client's help lists that knows its options.
const CLAUDE: &str = "-p, --print|--output-format <x>|--verbose|--permission-mode <x>|--session-id <x>|\
    -n, --name <x>|--allowedTools <x>|--add-dir <x>|--settings <x>|--mcp-config <x>|--resume <x>|\
    --input-format <x>|--replay-user-messages|-h, --help";

/// A client of this version; its help lists the options, a `|` between them. Else it does this.
fn client(bin: &Path, name: &str, version: &str, options: &str, otherwise: &str) {
    let help = options.replace('|', "\n  ");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in\n*--version) echo {version};;\n*--help) cat <<'END'\nOptions:\n  {help}\nEND\n;;\n\
         *) {otherwise};;\nesac\n"
    );
    let program = bin.join(name);
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
}

/// A world in which nothing is found but what is put into this directory.
fn alone() -> (World, PathBuf) {
    let world = world();
    let bin = world.outside().join("bin");
    fs::create_dir(&bin).unwrap();
    for tool in ["git", "cat"] {
        let dirs = ["/usr/local/bin", "/usr/bin", "/bin"].map(|dir| Path::new(dir).join(tool));
        symlink(dirs.iter().find(|it| it.exists()).unwrap(), bin.join(tool)).unwrap();
    }
    let path = bin.display().to_string();
    (world.with("PATH", &path), bin)
}

#[test]
fn each_client_is_named_with_what_is_wrong_and_what_to_do() {
    let (world, bin) = alone();
    client(&bin, "claude", "'2.1.330 (Claude Code)'", CLAUDE, "exit 1");
    let without = CLAUDE.replace("--output-format <x>|", "");
    client(&bin, "gemini", "0.60.0", &without, "exit 1");
    client(&bin, "aider", "'aider 0.86.2'", "", "exit 1");
    let world = world.with("ANTHROPIC_API_KEY", "sk-hush");
    world.ok(["config", "set", "run.agents.opus.like", "claude"]);
    world.ok([
        "config",
        "set",
        "run.agents.opus.args",
        "--",
        "--max-turns",
        "3",
    ]);
    world.ok(["config", "set", "run.agents.boxed.command", "box claude"]);
    world.ok(["config", "set", "run.agents.boxed.like", "claude"]);
    let ran = world.flagpost(["doctor", "--agents"]);
    assert_eq!(ran.code, 1, "{ran}");
    let (table, told) = ran.stdout.split_once("\n\n").unwrap();
    for (n, words) in [
        (
            1,
            "claude 2.1.330 tested [dir]/bin/claude $ANTHROPIC_API_KEY",
        ),
        (2, "codex not installed"),
        (
            3,
            "gemini 0.60.0 older than 0.61.0 [dir]/bin/gemini not found",
        ),
        (
            6,
            "aider 0.86.2 untested [dir]/bin/aider $ANTHROPIC_API_KEY",
        ),
        (7, "opus 2.1.330 tested [dir]/bin/claude $ANTHROPIC_API_KEY"),
    ] {
        let row: Vec<&str> = table.lines().nth(n).unwrap().split_whitespace().collect();
        assert_eq!(row.join(" "), words, "{table}");
    }
    assert_snapshot!(told, @r#"
    error gemini: gemini 0.60.0 does not know --approval-mode, --skip-trust, -o, --policy, --include-directories, with which it would be started
      repair  install version 0.61.0, which was tested, or a newer one; or give a command line of your own: flagpost config set run.agents.gemini.command '…'
    note aider: 'aider --help' lists no options, so those of its command line were not looked at
    note opus: its help does not name --max-turns, which is in run.agents.opus.args
    "#);
    let quiet = world.flagpost(["doctor", "--agents", "--quiet"]);
    assert_eq!(quiet.stdout, "claude\naider\nopus\n");
    let (code, told) = world.json(["doctor", "--agents"]);
    assert_eq!(code, 1);
    let agents = told["agents"].as_array().unwrap();
    assert_snapshot!(agents[0].to_string(), @r#"
    {"agent":"claude","client":"claude","program":"[dir]/bin/claude","version":"2.1.330","tested":"2.1.330","standing":"tested","login":{"how":"variable","by":"ANTHROPIC_API_KEY"},"faults":[],"notes":[],"tried":null,"fit":true}
    "#);
    assert_snapshot!(agents[1].to_string(), @r#"
    {"agent":"codex","client":"codex","program":null,"version":null,"tested":"0.169.0","standing":"missing","login":{"how":"not_found","by":null},"faults":[],"notes":[],"tried":null,"fit":false}
    "#);
    assert_snapshot!(agents[2]["faults"].to_string(), @r#"
    [{"what":"gemini 0.60.0 does not know --approval-mode, --skip-trust, -o, --policy, --include-directories, with which it would be started","hint":"install version 0.61.0, which was tested, or a newer one; or give a command line of your own: flagpost config set run.agents.gemini.command '…'"}]
    "#);
    assert!(!told.to_string().contains("hush"), "{told}");
}

#[test]
fn an_option_that_is_the_runs_own_is_told_of_before_any_run() {
    let (world, bin) = alone();
    client(&bin, "claude", "2.1.330", CLAUDE, "exit 1");
    world.ok([
        "config",
        "set",
        "run.agents.claude.args",
        "--",
        "--settings=x",
    ]);
    let (code, told) = world.json(["doctor", "--agents"]);
    assert_eq!(code, 1);
    let faults = &told["agents"][0]["faults"];
    let what = faults[0]["what"].as_str().unwrap();
    assert!(what.contains("--settings=x, which the run sets"), "{what}");
    assert_eq!(told["agents"][0]["fit"], false);
}

#[test]
fn where_all_is_well_or_nothing_is_there_nothing_failed() {
    let (world, bin) = alone();
    let ran = world.flagpost(["doctor", "--agents", "--quiet"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    client(&bin, "claude", "2.1.331", CLAUDE, "exit 1");
    let ran = world.flagpost(["doctor", "--agents", "--quiet"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "claude\n"));
    assert!(!world.home().exists(), "looking makes nothing");
}

#[test]
fn nobody_is_put_to_the_cost_of_a_try_unasked() {
    let (world, bin) = alone();
    let script = "echo 'status: PASS' > \"$FLAGPOST_REPORT\"";
    client(&bin, "claude", "2.1.330", CLAUDE, script);
    transcript!(world, @r"
    $ doctor --agents --try
    exit 2
    2> flagpost: claude would write one report each, at your cost
    2> flagpost: nobody is there to confirm, so nothing was tried
    2>   hint: --yes does not ask
    $ doctor --try
    exit 2
    2> flagpost: the following required arguments were not provided: --agents
    2>   hint: 'flagpost doctor --help' shows how
    $ doctor --agents --yes
    exit 2
    2> flagpost: --yes is for --fix and for --try
    2>   hint: flagpost --help shows how
    $ doctor --agents --fix
    exit 2
    2> flagpost: the argument '--agents' cannot be used with '--fix'
    2>   hint: 'flagpost doctor --help' shows how
    ");
    let (code, told) = world.json(["doctor", "--agents", "--try", "--yes"]);
    assert_eq!((code, &told["agents"][0]["tried"]), (0, &true.into()));
    client(
        &bin,
        "claude",
        "2.1.330",
        CLAUDE,
        "echo Not logged in; exit 1",
    );
    let (code, told) = world.json(["doctor", "--agents", "--try", "--yes"]);
    assert_eq!((code, &told["agents"][0]["tried"]), (1, &false.into()));
    let what = told["agents"][0]["faults"][0]["what"].as_str().unwrap();
    assert!(what.ends_with("Not logged in"), "{what}");
}

#[test]
fn a_client_that_lacks_an_option_ends_a_run_before_any_task_is_tried() {
    let (world, bin) = alone();
    world.ok(["add", "Write the parser"]);
    let without = CLAUDE.replace("--session-id <x>|", "");
    client(&bin, "claude", "2.0.9", &without, "exit 1");
    transcript!(world, @r#"
    $ run --agent claude
    exit 6
    2> flagpost: agent "claude" could do no task: claude 2.0.9 does not know --session-id, with which it would be started
    2>   hint: install version 2.1.330, which was tested, or a newer one; or give a command line of your own: flagpost config set run.agents.claude.command '…'
    $ list
    ID  STATE    SUBJECT
    1   pending  Write the parser
    "#);
    assert!(!world.repository().join(".claude/sessions").exists());
    client(&bin, "claude", "2.1.330", CLAUDE, "exit 1");
    world.ok(["config", "set", "run.retries", "1"]);
    let ran = world.flagpost(["run", "--agent", "claude"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(
        world.repository().join(".claude/sessions").exists(),
        "{ran}"
    );
}
