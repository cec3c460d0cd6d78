//! What other programs wrote into a task must not steer the reader's terminal, nor forge lines.

use crate::world;

const EVIL: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}[31mred\u{1b}[8m\u{9b}1A\u{202e}drow\n9   completed  Forged\r\u{8}";

/// A list with one task whose every text is evil.
fn evil_world() -> flagpost_testkit::sealed::World {
    let world = world();
    world.ok(["init"]);
    let task = serde_json::json!({
        "id": "1", "subject": EVIL, "description": EVIL, "status": "pending", "owner": EVIL,
        "blockedBy": ["2\u{1b}[2J", "3"],
        "metadata": {"complexity": EVIL, "task_group": EVIL, "project": EVIL, "tags": [EVIL],
            "flagpost": {"state": "stuck", "result": {"ending": "stuck", "text": EVIL, "by": "W1", "at": "2026-05-13T14:25:00Z"}}},
    });
    std::fs::write(world.list("web").join("1.json"), task.to_string()).unwrap();
    std::fs::write(world.list("web").join("\u{1b}[2Jx.json"), "{}").unwrap();
    world
}

#[test]
fn nothing_that_steers_reaches_the_terminal() {
    let world = evil_world();
    for color in ["never", "always"] {
        for args in [
            &["list", "--all"][..],
            &["show", "1"],
            &["status"],
            &["task", "graph"],
            &["task", "graph", "--format", "svg"],
            &["task", "graph", "--format", "dot"],
            &["task", "graph", "--format", "mermaid"],
            &["task", "graph", "--format", "svg", "--json"],
            &["ready"],
            &["task", "rm", "1", "--dry-run"],
            &["task", "edit", "1", "-p", "low"],
            &["task", "cancel", "1"],
            &["task", "reopen", "1"],
            &["claim", "1"],
            &["list", "--all", "--json"],
            &["show", "1", "--json"],
            &["show", "\u{1b}[2J"],
            &["add", "\u{1b}[2J", "--after", "\u{1b}[2J"],
            &["add", "x", "--file", "/\u{1b}[2J"],
            &["add", "\u{1b}[2J"],
            &["\u{1b}[2J\u{9b}2J"],
            &["list", "\u{9b}2J\u{202e}"],
            &["run", "--dry-run"],
            &["done", "1", "--quiet"],
        ] {
            let ran = world.flagpost(args.iter().chain(&["--color", color]));
            let seen = format!("{}{}", ran.stdout, ran.stderr);
            let seen = [
                "\u{1b}[0m",
                "\u{1b}[1m",
                "\u{1b}[31m",
                "\u{1b}[32m",
                "\u{1b}[33m",
                "\u{1b}[34m",
                "\u{1b}[36m",
                "\u{1b}[90m",
            ]
            .iter()
            .filter(|_| color == "always")
            .fold(seen, |seen, style| seen.replace(style, ""));
            let bad = seen
                .chars()
                .find(|c| (c.is_control() && *c != '\n') || "\u{202e}\u{2028}".contains(*c));
            assert_eq!(bad, None, "{args:?} {color}: {seen:?}");
            assert!(
                !seen.lines().any(|line| line.starts_with("9   completed")) || args[0] == "show",
                "{args:?}: {seen}"
            );
        }
    }
}

#[test]
fn json_still_has_every_character() {
    let (_, task) = evil_world().json(["show", "1"]);
    assert_eq!(task["subject"], EVIL);
    assert_eq!(task["description"], EVIL);
}

#[test]
fn how_it_is_shown() {
    transcript!(evil_world(), @"
    $ show 1
    1 ␛]0;owned␇␛[2J␛[31mred␛[8m�1A�drow 9   completed  Forged ␈
      state       stuck
      owner       ␛]0;owned␇␛[2J␛[31mred␛[8m�1A�drow 9   completed  Forged ␈
      waits for   3
      complexity  ␛]0;owned␇␛[2J␛[31mred␛[8m�1A�drow 9   completed  Forged ␈
      group       ␛]0;owned␇␛[2J␛[31mred␛[8m�1A�drow 9   completed  Forged ␈
      project     ␛]0;owned␇␛[2J␛[31mred␛[8m�1A�drow 9   completed  Forged ␈
      tags        ␛]0;owned␇␛[2J␛[31mred␛[8m�1A�drow 9   completed  Forged ␈

    ␛]0;owned␇␛[2J␛[31mred␛[8m�1A�drow
    9   completed  Forged␍␈

    question 1 by W1, now
    ␛]0;owned␇␛[2J␛[31mred␛[8m�1A�drow
    9   completed  Forged␍␈

    answered with: flagpost answer 1 'WORDS'
    $ list --all
    ID  STATE  OWNER                                   WAITS FOR  SUBJECT
    1   stuck  ␛]0;owned␇␛[2J␛[31mred␛[8m�1A�drow 9    3          ␛]0;owned␇␛[2J␛[31mred␛[8m�1A�drow 9
               completed  Forged ␈                                completed  Forged ␈
    2> flagpost: skipped ␛[2Jx.json: its name is no task id
    ");
}

#[test]
fn wide_subjects_line_up() {
    let mut world = world();
    world.ok(["add", "日本語のタスクを書く", "--priority", "high"]);
    world.ok(["add", "Ünïcödé 🚩 flag"]);
    world.ok([
        "add",
        &"A long subject that goes on and on, ".repeat(12),
        "--after",
        "1,2",
    ]);
    world.ok(["claim", "1", "--as", "W1-with-a-long-name"]);
    transcript!(world, @"
    $ list
    ID  STATE    PRIORITY  OWNER                WAITS FOR  SUBJECT
    1   claimed  high      W1-with-a-long-name             日本語のタスクを書く
    2   pending                                            Ünïcödé 🚩 flag
    3   pending                                 1 2        A long subject that goes on and on, A long
                                                           subject that goes on and on, A long subject
                                                           that goes on and on, A long subject that…
    ");
    world.set("COLUMNS", "40");
    transcript!(world, @"
    $ list
    ID  STATE    PRIORITY  WAITS  SUBJECT
                           FOR
    1   claimed  high             日本語のタ
                                  スクを書く
    2   pending                   Ünïcödé 🚩
                                  flag
    3   pending            1 2    A long
                                  subject
                                  that goes…
    ");
    world.set("COLUMNS", "200");
    transcript!(world, @r#"
    $ list
    ID  STATE    PRIORITY  OWNER                WAITS FOR  SUBJECT
    1   claimed  high      W1-with-a-long-name             日本語のタスクを書く
    2   pending                                            Ünïcödé 🚩 flag
    3   pending                                 1 2        A long subject that goes on and on, A long subject that goes on and on, A long subject that goes on and on, A long subject that goes on and on, A
                                                           long subject that goes on and on, A long subject that goes on and on, A long subject that goes on and on, A long subject that goes on and on, A
                                                           long subject that goes on and on, A long subject that goes on and on, A long subject that goes on and on, A long subject that goes on and on,
    "#);
}

#[test]
fn a_subject_of_a_megabyte_is_listed_in_a_few_lines() {
    let world = world();
    let subject = "wörter ".repeat(1 << 17);
    let ran = world.feed(["add", "-", "--quiet"], subject.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let list = world.ok(["list"]);
    assert!(
        list.len() < 1_000 && list.contains('…'),
        "{} bytes",
        list.len()
    );
    assert_eq!(world.json(["show", "1"]).1["subject"], subject);
}
