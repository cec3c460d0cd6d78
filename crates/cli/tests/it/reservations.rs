//! Reservations, as agents and the operator type them.

use crate::{says, world};
use flagpost_testkit::sealed::World;

fn fleet() -> World {
    let world = world();
    world.ok(["worker", "add", "W1"]);
    world.ok(["worker", "add", "W2"]);
    world
}

#[test]
fn one_holder_and_the_others_are_told_who() {
    let world = fleet();
    transcript!(world, @r#"
    $ reserve add src/** README.md --reason 'the new parser' --task 7 --for 30m --as W1
    W1 holds src/**, lease ends in 30m
    W1 holds README.md, lease ends in 30m
    $ reserve add src/lexer.rs --as W2
    exit 4
    2> flagpost: src/lexer.rs is reserved by W1 until 2026-05-13T14:55:00Z, as part of src/**: the new parser
    2>   hint: 'flagpost reserve list' shows who works on what; begin with something else, or wait
    $ reserve add docs --shared --as W1
    W1 holds docs, lease ends in 15m, shared
    $ reserve add docs/guide.md --shared --as W2
    W2 holds docs/guide.md, lease ends in 15m, shared
    $ reserve add docs/guide.md --as W2
    exit 4
    2> flagpost: docs/guide.md is reserved by W1 until 2026-05-13T14:40:00Z, as part of docs
    2>   hint: 'flagpost reserve list' shows who works on what; begin with something else, or wait
    $ reserve add ../elsewhere --as W2
    exit 6
    2> flagpost: "../elsewhere" cannot be reserved: it must lie below the top of the repository
    2>   hint: 'flagpost reserve add --help' tells what can be reserved
    $ reserve add 'src/**' --as W1
    W1 holds src/**, lease ends in 15m
    $ reserve list
    PATH           WORKER  MODE       ENDS    TASK  REASON
    src/**         W1      exclusive  in 15m  7     the new parser
    README.md      W1      exclusive  in 30m  7     the new parser
    docs           W1      shared     in 15m
    docs/guide.md  W2      shared     in 15m
    $ reserve list --quiet
    src/**
    README.md
    docs
    docs/guide.md
    $ reserve release src --as W1
    exit 3
    2> flagpost: there is no reservation of src by W1
    2>   hint: 'flagpost reserve list' shows those there are
    $ reserve release 'src/**' docs --as W1
    W1 gave src/** back
    W1 gave docs back
    $ reserve release --all --as W1
    W1 gave README.md back
    $ reserve release --all --as W1
    nothing was reserved
    $ reserve add src/lexer.rs --as W2
    W2 holds src/lexer.rs, lease ends in 15m
    "#);
}

#[test]
fn a_progress_reserves_and_a_done_gives_back() {
    let world = fleet();
    world.ok(["reserve", "add", "src/a.rs", "--as", "W2"]);
    transcript!(world, @"
    $ msg send --subject PROGRESS --task b1 --touches src/a.rs --touches src/b.rs 'at work' --as W1
    sent PROGRESS W1/outbox/1 from W1 (by ann) to orchestrator (94 bytes)
    2> flagpost: src/a.rs is reserved by W2 until 2026-05-13T14:40:00Z
    $ reserve list
    PATH      WORKER  MODE       ENDS    TASK
    src/a.rs  W2      exclusive  in 15m
    src/b.rs  W1      exclusive  in 15m  b1
    $ msg send --subject DONE --task b1 'Done' --as W1
    sent DONE W1/outbox/2 from W1 (by ann) to orchestrator (43 bytes)
    $ reserve list --quiet
    src/a.rs
    ");
    let (_, sent) =
        world.json("msg send --subject PROGRESS --task b2 --touches src/a.rs x --as W1".split(' '));
    assert_eq!(sent["files"]["refused"][0]["held"]["worker"], "W2");
}

#[test]
fn a_check_names_who_touched_what_without_holding_it() {
    let world = fleet();
    let top = world.repository();
    std::fs::create_dir_all(top.join("src")).unwrap();
    let linked = top.with_file_name("second");
    for (dir, args) in [
        (&top, &["add", "-A"][..]),
        (
            &top,
            &[
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@b",
                "commit",
                "-q",
                "--allow-empty",
                "-m",
                "x",
            ],
        ),
        (
            &top,
            &["worktree", "add", "-q", "-b", "second", "../second"],
        ),
    ] {
        let mut git = std::process::Command::new("git");
        let status = git.arg("-C").arg(dir).args(args).status().unwrap();
        assert!(status.success());
    }
    world.ok([
        "worker",
        "heartbeat",
        "--worktree",
        linked.to_str().unwrap(),
        "--as",
        "W2",
    ]);
    world.ok(["reserve", "add", "src/a.rs", "--as", "W1"]);
    let check = || world.json(["reserve", "check"]);
    assert_eq!(check().0, 0, "nothing was touched");
    std::fs::write(top.join("src/a.rs"), "").unwrap();
    assert_eq!(check().0, 0, "somebody holds it");
    std::fs::create_dir(linked.join("src")).unwrap();
    std::fs::write(linked.join("src/a.rs"), "").unwrap();
    std::fs::write(linked.join("b.rs"), "").unwrap();
    let (code, found) = check();
    assert_eq!(code, 1);
    let touched = found["touched"].as_array().unwrap();
    let told: Vec<String> = touched
        .iter()
        .map(|it| format!("{} {} {}", it["worker"], it["path"], it["held"]["worker"]))
        .collect();
    assert_eq!(told, [r#""W2" "b.rs" null"#, r#""W2" "src/a.rs" "W1""#]);
    world.ok(["reserve", "add", "b.rs", "--as", "W2"]);
    assert_eq!(check().1["touched"].as_array().unwrap().len(), 1);
}

#[test]
fn only_who_is_there_reserves() {
    let world = fleet();
    transcript!(world, @"
    $ reserve add a --as W9
    exit 3
    2> flagpost: there is no worker W9; there are W1, W2
    2>   hint: 'flagpost worker list' shows the fleet, 'flagpost worker add' adds to it; a worker's own verbs take --as
    $ FLAGPOST_WORKER=W9 reserve add a
    exit 3
    2> flagpost: there is no worker W9; there are W1, W2
    2>   hint: 'flagpost worker list' shows the fleet, 'flagpost worker add' adds to it; a worker's own verbs take --as
    $ reserve add a
    ann holds a, lease ends in 15m
    $ FLAGPOST_WORKER=W1 reserve add b --quiet
    b
    $ worker rm W1 --quiet
    W1
    $ FLAGPOST_WORKER=W1 reserve add c
    exit 3
    2> flagpost: there is no worker W1; there is W2
    2>   hint: 'flagpost worker list' shows the fleet, 'flagpost worker add' adds to it; a worker's own verbs take --as
    ");
}

#[test]
fn an_answer_and_a_refusal_tell_the_time_to_the_second() {
    let mut world = fleet();
    world.set("FLAGPOST_CLOCK", "2026-05-13T14:25:00.683Z");
    world.ok(["reserve", "add", "a", "--as", "W1"]);
    world.ok(["add", "one"]);
    for args in [&["claim", "1"][..], &["task", "renew", "1"], &["show", "1"]] {
        let told = world.ok([args, &["--as", "W1", "--time", "iso"]].concat());
        assert!(told.contains("lease ends 2026-05-13T14:40:00Z"), "{told}");
    }
    for args in [&["reserve", "add", "a"][..], &["claim", "1"]] {
        let ran = world.flagpost([args, &["--as", "W2"]].concat());
        assert_eq!(ran.code, 4, "{ran}");
        assert!(ran.stderr.contains(" until 2026-05-13T14:40:00Z"), "{ran}");
    }
}

/// It holds nothing, and whoever asks is told of it once.
#[test]
fn a_file_that_is_none_is_told_of_once() {
    let world = fleet();
    world.ok(["reserve", "add", "a", "--as", "W1"]);
    world.ok(["add", "one", "--meta", r#"files=["b"]"#]);
    world.ok(["add", "two", "--meta", r#"files=["b"]"#]);
    std::fs::write(world.kept().join("reservations/99.json"), "{}").unwrap();
    for verb in [
        "reserve list",
        "reserve add c d --as W1",
        "reserve release --all --as W1",
        "reserve check",
        "run --agent true",
    ] {
        for json in [&[][..], &["--json"]] {
            world.flagpost(["task", "reopen", "1"]);
            let ran = world.flagpost(verb.split(' ').chain(json.iter().copied()));
            let told = "skipped reservations/99.json: it has no path that can be understood";
            assert_eq!(
                ran.stderr.matches(told).count(),
                1,
                "{verb} {json:?}: {ran}"
            );
        }
    }
}

/// One call of an agent holds up nobody, and fills no disk.
#[test]
fn more_than_anybody_means_to_reserve_is_refused() {
    let world = fleet();
    let paths: Vec<String> = (0..201).map(|n| format!("p{n}")).collect();
    let mut words = vec!["reserve", "add", "--as", "W1"];
    words.extend(paths.iter().map(String::as_str));
    says(
        world.flagpost(&words),
        6,
        &["they are 201, and at most 200"],
    );
    words.pop();
    world.ok(&words);
    let reason = "x".repeat(301);
    says(
        world.flagpost(["reserve", "add", "q", "--reason", &reason, "--as", "W1"]),
        6,
        &["more than 300 characters"],
    );
}
