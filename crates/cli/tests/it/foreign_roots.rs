//! Lists that another program keeps, as Claude Code does: every verb works on them, and what the
//! other program does is seen by the next verb.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use flagpost_testkit::sealed::World;
use insta::assert_snapshot;

use crate::world;

/// A task file as Claude Code writes it.
fn task(id: u32, subject: &str, status: &str) -> String {
    format!(
        "{{\n  \"id\": \"{id}\",\n  \"subject\": \"{subject}\",\n  \"description\": \"All of it\",\n  \
         \"activeForm\": \"Doing it\",\n  \"status\": \"{status}\",\n  \"blocks\": [],\n  \"blockedBy\": []\n}}"
    )
}

/// A world whose root `~/.claude/tasks` has the list `team` with two tasks; its clock runs.
fn with_team() -> (World, PathBuf) {
    let mut world = world();
    let root = world.outside().join("home/.claude/tasks");
    let team = root.join("team");
    fs::create_dir_all(&team).unwrap();
    for n in [1, 2] {
        fs::write(team.join(format!("{n}.json")), task(n, "Parser", "pending")).unwrap();
    }
    fs::write(team.join(".highwatermark"), "2").unwrap();
    fs::write(team.join(".lock"), "").unwrap();
    world.ok(["config", "set", "tasks.roots", "~/.claude/tasks"]);
    world.set("FLAGPOST_LIST", "team");
    (world, team)
}

/// Another program in the list's directory: a shell that does what it is told, and says when.
struct Foreign {
    shell: Child,
    orders: ChildStdin,
    done: BufReader<ChildStdout>,
}

impl Foreign {
    fn new(dir: &PathBuf) -> Self {
        let mut command = Command::new("sh");
        command
            .current_dir(dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut shell = command.spawn().unwrap();
        let orders = shell.stdin.take().unwrap();
        let done = BufReader::new(shell.stdout.take().unwrap());
        Self {
            shell,
            orders,
            done,
        }
    }

    fn does(&mut self, order: &str) {
        writeln!(self.orders, "{order}\necho done").unwrap();
        let mut line = String::new();
        self.done.read_line(&mut line).unwrap();
        assert_eq!(line, "done\n");
    }

    fn ends(self) {
        let Self {
            mut shell, orders, ..
        } = self;
        drop(orders);
        assert!(shell.wait().unwrap().success());
    }
}

#[test]
fn every_verb_works_on_such_a_list() {
    let (world, team) = with_team();
    transcript!(world, @"
    $ list
    ID  STATE    SUBJECT
    1   pending  Parser
    2   pending  Parser
    $ status
    team in [dir]/home/.claude/tasks: 2 tasks (2 pending)

    Ready
      1 Parser
      2 Parser

    Lists in other roots
      [dir]/home/.claude/tasks: team
    $ add Printer --after 1,2
    added 3 Printer
    $ claim 1 --as W1
    claimed 1 Parser (token 3, lease ends in 15m)
    $ done 1 'Works' --as W1
    completed 1 Parser (5 bytes)
    $ task dep add 2 1
    2 waits for 1
    $ show 2 --quiet
    2
    $ run --agent true
    2 of 2 passed
    session exec-session-20260513-142500: .claude/sessions/exec-session-20260513-142500/session_summary.md
    2> session exec-session-20260513-142500: 2 tasks
    2>   start 2 Parser (try 1 of 3)
    2>   passed 2 Parser (0 s)
    2>   start 3 Printer (try 1 of 3)
    2>   passed 3 Printer (0 s)
    $ list --all
    ID  STATE      OWNER  SUBJECT
    1   completed  W1     Parser
    2   completed  run-1  Parser
    3   completed  run-1  Printer
    $ task graph
    ● 1 Parser
    ├─ ● 2 Parser
    │  └─ ● 3 Printer
    └─ ● 3 Printer
    $ task rm 3 --yes
    removed 3 Printer
    $ add Scanner
    added 4 Scanner
    ");
    assert!(!world.list("team").exists(), "nothing of it is in the home");
    assert_eq!(
        fs::read_to_string(team.join(".highwatermark"))
            .unwrap()
            .trim(),
        "4"
    );
    let parser = fs::read_to_string(team.join("2.json")).unwrap();
    assert!(parser.contains("\"activeForm\": \"Doing it\""), "{parser}");
    let history = world.outside().join("home/.flagpost/repos");
    let repo = fs::read_dir(history)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let history = fs::read_to_string(repo.join("history.jsonl")).unwrap();
    assert!(history.contains("\"list\":\"team\""), "{history}");
}

#[test]
fn what_another_program_does_is_seen_by_the_next_verb() {
    let (world, team) = with_team();
    let mut foreign = Foreign::new(&team);
    let list = || world.ok(["list", "--all"]);

    foreign.does("echo '{\"id\":\"3\",\"subject\":\"Echoed\",\"status\":\"pending\",\"blocks\":[],\"blockedBy\":[]}' > 3.json");
    assert!(list().contains("3   pending  Echoed"), "{}", list());
    // In place and of the same length, right after we read it.
    foreign.does("sed 's/Echoed/Edited/' 3.json > .new; cat .new > 3.json");
    assert!(list().contains("3   pending  Edited"), "{}", list());
    // Replaced by a rename.
    foreign.does("sed 's/Edited/Moved!/' 3.json > .new; mv .new 3.json");
    assert!(list().contains("3   pending  Moved!"), "{}", list());

    // What it decides wins over what we knew, and ours survives beside it.
    world.ok(["task", "start", "3", "--as", "W1"]);
    foreign.does("sed 's/\"in_progress\"/\"completed\"/' 3.json > .new; mv .new 3.json");
    assert!(list().contains("3   completed"), "{}", list());
    assert_eq!(world.flagpost(["claim", "3", "--as", "W2"]).code, 4);

    // It writes a claimed task anew, without anything of ours.
    world.ok(["claim", "2", "--as", "W1"]);
    let plain = task(2, "Lexer", "pending");
    foreign.does(&format!("cat > .new <<'END'\n{plain}\nEND\nmv .new 2.json"));
    assert_snapshot!(list(), @r#"
    ID  STATE      OWNER  SUBJECT
    1   pending           Parser
    2   pending           Lexer
    3   completed  W1     Moved!
    "#);
    world.ok(["claim", "2", "--as", "W2"]);

    foreign.does("rm 3.json; mkdir sub; echo '{' > 9.json");
    assert_snapshot!(world.flagpost(["list", "--all"]), @r#"
    ID  STATE    OWNER  SUBJECT
    1   pending         Parser
    2   claimed  W2     Lexer
    2> flagpost: skipped 9.json: EOF while parsing an object at line 2 column 0
    "#);
    foreign.ends();
}

#[test]
fn nothing_of_a_busy_writer_is_lost() {
    let (world, team) = with_team();
    let script = "n=101; while [ $n -le 160 ]; do \
        echo \"{\\\"id\\\":\\\"t$n\\\",\\\"subject\\\":\\\"theirs\\\",\\\"status\\\":\\\"pending\\\"}\" > .t; \
        mv .t t$n.json; n=$((n+1)); done";
    let mut writer = Command::new("sh");
    let mut writer = writer
        .args(["-c", script])
        .current_dir(&team)
        .spawn()
        .unwrap();
    let ours: Vec<String> = (0..12)
        .map(|_| world.ok(["add", "ours", "--quiet"]).trim().to_owned())
        .collect();
    assert!(writer.wait().unwrap().success());
    let listed = world.ok(["list", "--quiet", "--limit", "0"]);
    let listed: Vec<_> = listed.lines().collect();
    for id in ours.iter().map(String::as_str) {
        assert!(listed.contains(&id), "{id} of {listed:?}");
    }
    let theirs = (101..=160).map(|n| format!("t{n}"));
    let lost: Vec<_> = theirs.filter(|id| !listed.contains(&id.as_str())).collect();
    assert_eq!(lost, Vec::<String>::new());
}

#[test]
fn status_tells_of_every_root() {
    let (mut world, _) = with_team();
    world.unset("FLAGPOST_LIST");
    world.ok(["init"]);
    world.ok(["add", "a", "--list", "team2"]);
    let other = world.outside().join("other");
    for list in ["team", "team2", "more"] {
        fs::create_dir_all(other.join(list)).unwrap();
    }
    let loop_ = world.outside().join("loop");
    std::os::unix::fs::symlink("loop", &loop_).unwrap();
    let paths = [&other, &loop_].map(|path| path.to_str().unwrap().to_owned());
    world.ok([
        "config",
        "set",
        "tasks.roots",
        "~/.claude/tasks",
        &paths[0],
        "/nowhere",
        &paths[1],
    ]);
    transcript!(world, @r#"
    $ status
    web: 0 tasks
    next: flagpost add 'What is to be done', or flagpost demo

    Lists in other roots
      [dir]/home/.claude/tasks: team
      [dir]/other: more
    2> flagpost: the list team of [dir]/other is shadowed by that of [dir]/home/.claude/tasks
    2> flagpost: the list team2 of [dir]/other is shadowed by that of [dir]/home/.flagpost/tasks
    2> flagpost: the root /nowhere is not there
    2> flagpost: the root [dir]/loop is passed over: cannot resolve [dir]/loop: Too many levels of symbolic links (os error 40)
    $ status --list team
    team in [dir]/home/.claude/tasks: 2 tasks (2 pending)

    Ready
      1 Parser
      2 Parser

    Lists in other roots
      [dir]/home/.claude/tasks: team
      [dir]/other: more
    2> flagpost: the list team of [dir]/other is shadowed by that of [dir]/home/.claude/tasks
    2> flagpost: the list team2 of [dir]/other is shadowed by that of [dir]/home/.flagpost/tasks
    2> flagpost: the root /nowhere is not there
    2> flagpost: the root [dir]/loop is passed over: cannot resolve [dir]/loop: Too many levels of symbolic links (os error 40)
    $ list --list none
    exit 1
    2> flagpost: cannot resolve [dir]/loop: Too many levels of symbolic links (os error 40)
    "#);
    let (_, status) = world.json(["status"]);
    assert_snapshot!(world.redact(&status["roots"].to_string()), @r#"[{"dir":"[dir]/home/.claude/tasks","standing":"readable","reason":null,"lists":["team"],"shadowed":[]},{"dir":"[dir]/other","standing":"readable","reason":null,"lists":["more"],"shadowed":[{"list":"team","by":"[dir]/home/.claude/tasks"},{"list":"team2","by":"[dir]/home/.flagpost/tasks"}]},{"dir":"/nowhere","standing":"missing","reason":null,"lists":[],"shadowed":[]},{"dir":"[dir]/loop","standing":"unreadable","reason":"cannot resolve [dir]/loop: Too many levels of symbolic links (os error 40)","lists":[],"shadowed":[]}]"#);
}

#[test]
fn a_repository_says_where_its_list_is() {
    let (mut world, team) = with_team();
    world.unset("FLAGPOST_LIST");
    fs::rename(&team, team.with_file_name("web")).unwrap();
    transcript!(world, @"
    $ init
    registered [dir]/web as web in [dir]/home/.claude/tasks
    AGENTS.md: written
    no agent's program is on PATH: 'flagpost doctor --agents' lists those that Flagpost knows
    next: flagpost import PLAN.md, or flagpost add 'What is to be done'
    then: flagpost run --agent CMD
    $ init
    [dir]/web is registered; its list is web in [dir]/home/.claude/tasks
    AGENTS.md: is up to date
    $ list --quiet
    1
    2
    ");
}

#[test]
fn doctor_looks_at_them_too() {
    let (world, team) = with_team();
    world.ok(["init", "--no-instructions"]);
    let found = |world: &World| {
        let (_, answer) = world.json(["doctor"]);
        let findings = answer["findings"].as_array().unwrap().iter();
        let code = |it: &serde_json::Value| it["code"].as_str().unwrap().to_owned();
        findings.map(code).collect::<Vec<_>>()
    };
    assert!(found(&world).is_empty());
    fs::write(team.join("3.json"), "{").unwrap();
    assert_eq!(found(&world), ["task-broken"]);
    fs::remove_file(team.join("3.json")).unwrap();
    fs::create_dir(team.with_file_name("web")).unwrap();
    assert_eq!(found(&world), ["list-shadowed"]);
    let roots = ["config", "set", "tasks.roots", "~/.claude/tasks", "~/away"];
    world.ok(roots);
    assert_eq!(found(&world), ["list-shadowed", "root-missing"]);
}
