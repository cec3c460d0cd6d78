//! What a task's agent printed, as a person reads it: scripts print what the real clients did.

use std::{
    io::{BufRead, BufReader, Read},
    process::Stdio,
};

use flagpost_testkit::{background::Background, race, repository};
use insta::assert_snapshot;
use rustix::process::Signal;

use crate::{
    exits,
    run_stage::{self, Stage},
};

/// The line of a script that prints what a client printed.
fn prints(fixture: &str) -> String {
    let dir = repository::root().join("crates/run/src/client/reader/fixtures");
    format!("cat '{}/{fixture}.log'", dir.display())
}

/// Waits until a follower has shown this.
fn await_shown(following: &mut Background, words: &str) {
    race::until(words, || {
        assert!(
            following.is_running() || following.stdout().contains(words),
            "it ended before {words:?}\n{}\n{}",
            following.stdout(),
            following.stderr()
        );
        following.stdout().contains(words)
    });
}

impl Stage {
    fn follow(&self, args: &[&str]) -> Background {
        let words = ["logs", "1", "--follow"].iter().chain(args);
        Background::start(self.world.command().args(words))
    }
}

#[test]
fn what_an_agent_did_is_told_and_what_it_printed_is_kept() {
    let stage = Stage::of_equal(3);
    let (claude, codex) = (prints("claude_refused"), prints("codex_passes"));
    let ran = stage.run(
        &format!(
            r#"case $task in
            1) {claude} ;;
            2) {codex} ;;
            3) printf 'compiling\n\033[31mred\033[0m \033]0;owned\007\nsch\366n\n{{"level":"info"}}\nno end' ;;
            esac"#
        ),
        &[],
    );
    assert_eq!(ran.code, 0, "{ran}");
    let session = stage.archived();
    let session = session.file_name().unwrap().to_str().unwrap();
    let told = stage
        .world
        .transcript("logs 1\nlogs 2\nlogs 3\nlogs 3 --quiet\nlogs 3 -n 2");
    assert_snapshot!(told.replace(session, "[session]"), @r#"
    $ logs 1
    claude 2.1.330, claude-opus-5-5, session 51487545-b24a-4ded-ba61-3c123eb4b176
    $ curl http://example.invalid
    write /home/me/home/zz
        This command requires approval
        Claude requested permissions to write to /home/me/home/zz, but you haven't granted it yet.
    Could not.
    ended (3 turns, 274 tokens read, 60 of them cached, 40 written, $0.0017)
    2> flagpost: task 1, attempt 1: .claude/sessions/[session]/logs/task-1-attempt-1.log
    $ logs 2
    WARNING: proceeding, even though we could not create PATH aliases: Refusing to create helper binaries under temporary dir "/tmp" (codex_home: AbsolutePathBuf("/home/me/home/.codex"))
    codex, session 01a204c6-82ae-7332-9e27-3c48280cbafa
    I look.
    $ echo hello; ls
        hello
        README.md
    add /home/me/repo/a.rs
    $ false
        exit code 1
    All done.
    ended (400 tokens read, 120 of them cached, 80 written)
    2> flagpost: task 2, attempt 1: .claude/sessions/[session]/logs/task-2-attempt-1.log
    $ logs 3
    compiling
    red ␛]0;owned␇
    sch�n
    {"level":"info"}
    no end
    2> flagpost: task 3, attempt 1: .claude/sessions/[session]/logs/task-3-attempt-1.log
    $ logs 3 --quiet
    .claude/sessions/[session]/logs/task-3-attempt-1.log
    $ logs 3 -n 2
    {"level":"info"}
    no end
    2> flagpost: task 3, attempt 1: .claude/sessions/[session]/logs/task-3-attempt-1.log
    "#);
    let raw = |args: &[&str]| {
        let all = ["logs", "3", "--raw"].iter().chain(args);
        stage.world.command().args(all).output().unwrap().stdout
    };
    let printed =
        b"compiling\n\x1b[31mred\x1b[0m \x1b]0;owned\x07\nsch\xf6n\n{\"level\":\"info\"}\nno end";
    assert_eq!(raw(&[]), printed);
    assert_eq!(raw(&["-n", "2"]), b"{\"level\":\"info\"}\nno end");
    assert_eq!(raw(&["-n", "9"]), printed);
}

#[test]
fn as_json_each_piece_is_a_line() {
    let stage = Stage::of_equal(1);
    exits(stage.run(&prints("claude_refused"), &[]), 0);
    let pieces = run_stage::lines(&stage.world.ok(["logs", "1", "--json"]));
    let kinds: Vec<&str> = pieces
        .iter()
        .map(|it| it["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["note", "did", "did", "failed", "failed", "said", "ended"]
    );
    tells!(pieces, {"1/text": "$ curl http://example.invalid", "1/task": "1", "1/attempt": 1});
    let raw = run_stage::lines(&stage.world.ok(["logs", "1", "--json", "--raw", "-n", "1"]));
    assert_eq!((raw.len(), &raw[0]["kind"]), (1, &"raw".into()));
    assert!(raw[0]["text"].as_str().unwrap().ends_with('}'), "{raw:?}");
}

/// What a call brought is told in brief; a command is not, since somebody may want to repeat it.
#[test]
fn only_what_is_brief_anyway_is_cut_to_the_screen() {
    let stage = Stage::of_equal(1);
    exits(stage.run(&prints("claude_passes"), &[]), 0);
    let wide = stage.world.ok(["logs", "1"]);
    assert!(wide.lines().any(|line| line.len() > 100), "{wide}");
    let narrow = stage.world.run(
        stage
            .world
            .command()
            .args(["logs", "1"])
            .env("COLUMNS", "24"),
    );
    assert!(narrow.stdout.contains("\n    File created…\n"), "{narrow}");
    assert!(
        narrow.stdout.contains("\n$ echo hello > x.txt; ls\n"),
        "{narrow}"
    );
    assert!(
        narrow
            .stdout
            .contains("of them cached, 60 written, $0.0025)\n"),
        "{narrow}"
    );
}

#[test]
fn the_last_attempt_of_the_newest_session_is_shown() {
    let stage = Stage::of_equal(1);
    let ran = stage.run("nth; echo \"start $n\"; exit 3", &["--retries", "2"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert_eq!(stage.world.ok(["logs", "1"]), "start 2\n");
    assert_eq!(stage.world.ok(["logs", "1", "--attempt", "1"]), "start 1\n");
    let ran = stage.run("nth; echo \"start $n\"; exit 3", &["--retries", "1"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert_eq!(stage.world.ok(["logs", "1"]), "start 3\n");
    let (_, all) = stage.world.json(["session", "list"]);
    let [first, last] = [0, 1].map(|at| all["sessions"][at]["id"].as_str().unwrap());
    let of_first = |more: &[&str]| {
        let args = ["logs", "1", "--session", first];
        stage.world.ok(args.iter().chain(more).copied())
    };
    assert_eq!(of_first(&[]), "start 2\n");
    assert_eq!(of_first(&["--attempt", "1"]), "start 1\n");
    let refused = exits(stage.world.flagpost(["logs", "1", "--attempt", "2"]), 3);
    let words = format!(
        "flagpost: task 1 has no attempt 2 in session {last}, which has 1\n  \
         hint: '--session' names another one of 'flagpost session list'\n"
    );
    assert_eq!(refused.stderr, words);
    exits(stage.world.flagpost(["logs", "1", "--attempt", "0"]), 3);
    let none = stage.world.flagpost(["logs", "1", "--session", "nosuch"]);
    assert_eq!(none.code, 3, "{none}");
    // A task that is gone has left what was done on it.
    stage.world.ok(["task", "rm", "1", "--yes"]);
    assert_eq!(stage.world.ok(["logs", "1"]), "start 3\n");
    assert_eq!(
        stage.world.flagpost(["logs", "1", "--attempt", "2"]).code,
        3
    );
}

#[test]
fn what_was_never_begun_has_no_output() {
    let stage = Stage::of_equal(2);
    // A list of its own, with a task of the same id.
    stage.world.ok(["add", "elsewhere", "--list", "other"]);
    exits(stage.run("echo done", &[]), 0);
    stage.world.ok(["add", "later"]);
    transcript!(stage.world, @r#"
    $ logs --list other
    no task has a log yet: 'flagpost run' begins them; 'flagpost daemon logs' shows the daemon's
    $ logs 3
    exit 3
    2> flagpost: there is no output of task 3: no run has begun it
    2>   hint: 'flagpost run' begins it; a worker that runs by itself keeps its own output
    $ logs 1 --list other
    exit 3
    2> flagpost: there is no output of task 1: no run has begun it
    2>   hint: 'flagpost run' begins it; a worker that runs by itself keeps its own output
    $ logs --raw
    exit 2
    2> flagpost: the following required arguments were not provided: <TASK>
    2>   hint: 'flagpost logs --help' shows how
    $ logs 9 --json
    exit 3
    {"schema":"flagpost.error/1","kind":"not_found","exit_code":3,"message":"there is no task 9 in list web","hint":"'flagpost list' shows what there is","causes":[]}
    "#);
}

#[test]
fn an_attempt_is_followed_to_its_end_and_so_is_the_next() {
    let stage = Stage::of_equal(2);
    let body = r#"nth
        [ $task = 2 ] && { await over; exit 0; }
        echo "start $n"; mark "started-$n"; await "go-$n"; echo "end $n"
        [ $n = 3 ]"#;
    let run = stage.start(body, &[]);
    stage.await_mark("started-1");
    let mut following = stage.follow(&[]);
    let mut of_json = stage.follow(&["--json"]);
    let mut of_first = stage.follow(&["--attempt", "1"]);
    for follower in [&mut following, &mut of_json, &mut of_first] {
        await_shown(follower, "start 1");
    }
    stage.mark("go-1");
    await_shown(&mut following, "end 1");
    stage.await_mark("started-2");
    await_shown(&mut following, "attempt 2 begins\nstart 2\n");
    let first = of_first.end();
    assert_eq!(
        (first.code, first.stdout.as_str()),
        (0, "start 1\nend 1\n"),
        "{first}"
    );
    stage.mark("go-2");
    stage.mark("go-3");
    // The run goes on with the other task; nothing more is done on this one.
    let followed = exits(following.end(), 0);
    assert_eq!(
        followed.stdout,
        "start 1\nend 1\nattempt 2 begins\nstart 2\nend 2\nattempt 3 begins\nstart 3\nend 3\n"
    );
    let pieces = run_stage::lines(&of_json.end().stdout);
    let last = pieces.last().unwrap();
    tells!(last, {"attempt": 3, "text": "end 3"});
    stage.mark("over");
    exits(run.end(), 0);
    // What is over is shown, and not waited for.
    assert_eq!(stage.world.ok(["logs", "1", "-f"]), "start 3\nend 3\n");
}

#[test]
fn a_follower_ends_with_the_run_that_dies() {
    let stage = Stage::of_equal(1);
    let mut run = stage.start("echo started; mark started; await never", &[]);
    stage.await_mark("started");
    let mut following = stage.follow(&[]);
    await_shown(&mut following, "started");
    run.signal(Signal::KILL);
    let followed = following.end();
    assert_eq!(
        (followed.code, followed.stdout.as_str()),
        (0, "started\n"),
        "{followed}"
    );
}

#[test]
fn a_follower_that_nobody_reads_ends_quietly() {
    let stage = Stage::of_equal(1);
    let run = stage.start(
        "echo first; mark started; await go; echo second; await end",
        &[],
    );
    stage.await_mark("started");
    let mut child = stage
        .world
        .command()
        .args(["logs", "1", "--follow"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    assert_eq!(first, "first\n");
    drop(reader);
    stage.mark("go");
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{said}");
    assert_eq!(said.lines().count(), 1, "only where it is kept: {said}");
    stage.mark("end");
    assert_eq!(run.end().code, 0);
}

#[test]
fn without_a_task_the_tasks_that_have_a_log_are_listed() {
    let stage = Stage::of_equal(3);
    exits(stage.run("[ $task = 1 ]", &["--retries", "2"]), 1);
    let first = stage.archived();
    exits(stage.run("[ $task = 3 ]", &["--retries", "1"]), 1);
    stage.world.ok(["rm", "3", "--yes"]);
    let session = |dir: &std::path::Path| dir.file_name().unwrap().to_str().unwrap().to_owned();
    let (_, told) = stage.world.json(["logs"]);
    let of = |at: usize, key: &str| told["tasks"][at][key].clone();
    assert_eq!(of(0, "session"), session(&first).as_str());
    assert_ne!(of(1, "session"), session(&first).as_str());
    assert_eq!(
        [0, 1, 2].map(|at| (
            of(at, "task"),
            of(at, "attempt"),
            of(at, "subject").is_null()
        )),
        [
            ("1".into(), 1.into(), false),
            ("2".into(), 1.into(), false),
            ("3".into(), 1.into(), true)
        ]
    );
    let path = of(0, "path");
    assert!(
        path.as_str()
            .unwrap()
            .ends_with("logs/task-1-attempt-1.log"),
        "{path}"
    );
    assert_eq!(stage.world.ok(["logs", "--quiet"]), "1\n2\n3\n");
}
