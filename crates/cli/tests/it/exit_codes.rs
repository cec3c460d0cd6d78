//! The exit codes of `surfaces.md`, one table; with `--json` the same codes and one object.

use crate::world_with;

/// Kind, exit code, environment, command line.
type Case = (
    &'static str,
    i32,
    &'static [(&'static str, &'static str)],
    &'static [&'static str],
);

const FAILURES: &[Case] = &[
    ("usage", 2, &[], &["lst"]),
    ("usage", 2, &[], &["task"]),
    ("usage", 2, &[], &["task", "dep"]),
    ("usage", 2, &[], &["add"]),
    ("usage", 2, &[], &["add", "x", "--nope"]),
    ("usage", 2, &[], &["add", "x", "--priority", "urgent"]),
    ("usage", 2, &[], &["list", "--limit", "-3"]),
    ("usage", 2, &[], &["show"]),
    ("usage", 2, &[], &["claim"]),
    ("usage", 2, &[], &["claim", "1", "--next"]),
    ("usage", 2, &[], &["task", "edit", "1"]),
    ("usage", 2, &[], &["task", "import"]),
    ("usage", 2, &[], &["task", "rm", "1"]),
    (
        "usage",
        2,
        &[],
        &["add", "x", "--description", "a", "--file", "b"],
    ),
    ("usage", 2, &[], &["--color", "maybe"]),
    ("not_found", 3, &[], &["show", "99"]),
    ("not_found", 3, &[], &["add", "x", "--after", "99"]),
    ("not_found", 3, &[], &["--list", "nope", "list"]),
    ("not_found", 3, &[], &["add", "x", "--file", "nowhere"]),
    ("not_found", 3, &[], &["task", "import", "nowhere.md"]),
    ("not_found", 3, &[], &["claim", "--next", "--list", "done"]),
    ("conflict", 4, &[], &["claim", "2"]),
    ("conflict", 4, &[], &["done", "2"]),
    (
        "conflict",
        4,
        &[],
        &["done", "2", "--as", "W2", "--token", "1"],
    ),
    ("conflict", 4, &[], &["claim", "3"]),
    ("conflict", 4, &[], &["task", "reopen", "1"]),
    ("conflict", 4, &[], &["task", "rm", "2", "--yes"]),
    ("conflict", 4, &[], &["show", "4"]),
    ("invalid", 6, &[], &["show", "../1"]),
    ("invalid", 6, &[], &["--list", "../x", "list"]),
    ("invalid", 6, &[], &["--as", "a b", "claim", "1"]),
    ("invalid", 6, &[], &["add", ""]),
    ("invalid", 6, &[], &["add", "a\nb"]),
    ("invalid", 6, &[], &["add", "x", "--file", "."]),
    ("invalid", 6, &[], &["show", "5"]),
    ("invalid", 6, &[], &["task", "dep", "add", "2", "3"]),
    ("invalid", 6, &[("FLAGPOST_CLOCK", "noon")], &["list"]),
    (
        "invalid",
        6,
        &[("FLAGPOST_TASK", "1"), ("FLAGPOST_TOKEN", "x")],
        &["done"],
    ),
    (
        "failed",
        1,
        &[("FLAGPOST_HOME", ""), ("HOME", "")],
        &["list"],
    ),
    (
        "failed",
        1,
        &[("FLAGPOST_HOME", "/dev/null")],
        &["add", "x"],
    ),
    ("failed", 1, &[("PATH", "/nonexistent")], &["demo"]),
];

#[test]
fn every_failure_has_its_code_and_with_json_is_one_object() {
    let world = world_with(&["a", "b", "c"]);
    world.ok(["task", "dep", "add", "3", "2"]);
    world.ok(["claim", "2", "--as", "W2"]);
    world.ok(["add", "x", "--list", "done"]);
    world.ok(["done", "1", "--list", "done"]);
    let put = |name: &str, text: &str| std::fs::write(world.list("web").join(name), text).unwrap();
    put("40.json", r#"{"subject":"s"}"#);
    put("41.json", r#"{"subject":"s"}"#);
    put("5.json", r#"{"subject":"#);
    let mut faults = Vec::new();
    for (kind, code, env, args) in FAILURES {
        let plain = world.run(world.command().envs(env.iter().copied()).args(*args));
        if plain.code != *code || !plain.stdout.is_empty() || plain.stderr.is_empty() {
            faults.push(format!(
                "{args:?}: expected {code} and stderr alone, got {plain}"
            ));
        }
        let json = world.run(
            world
                .command()
                .envs(env.iter().copied())
                .args(*args)
                .arg("--json"),
        );
        let object: Result<serde_json::Value, _> = serde_json::from_str(&json.stdout);
        let told = object.as_ref().map(|object| {
            let text = |key: &str| object[key].as_str().unwrap_or_default().to_owned();
            (
                text("schema"),
                text("kind"),
                object["exit_code"].as_i64(),
                text("message"),
            )
        });
        match told {
            Ok((schema, told, exit, message))
                if schema == "flagpost.error/1"
                    && told == *kind
                    && exit == Some(i64::from(*code))
                    && json.code == *code
                    && !message.is_empty()
                    && json.stdout.lines().count() == 1 => {}
            _ => faults.push(format!(
                "{args:?} --json: expected {kind} {code}, got {json}"
            )),
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(
        !world.list("web").join("6.json").exists(),
        "a failed add added"
    );
}

#[test]
fn json_in_front_of_the_verb_counts_too() {
    let world = world_with(&["a"]);
    for args in [
        &["--json", "lst"][..],
        &["--json", "show", "9"],
        &["task", "--json"],
        &["task", "dep", "--json", "add"],
    ] {
        let ran = world.flagpost(args);
        let object: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(object["exit_code"], ran.code, "{ran}");
    }
}

#[test]
fn remarks_stay_off_stdout() {
    let world = world_with(&["a"]);
    std::fs::write(world.list("web").join("9.json"), "[").unwrap();
    let ran = world.flagpost(["list", "--json"]);
    let object: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(object["skipped"][0]["file"], "9.json");
    assert_eq!((object["total"].as_u64(), ran.code), (Some(1), 0));
    assert!(ran.stderr.contains("skipped 9.json"), "{ran}");
}
