//! The options of `run` that say what it may use up, and when it waits, before anything runs.

use crate::{run_stage::Stage, world_with};

#[test]
fn what_cannot_be_meant_is_refused_before_anything_runs() {
    let world = world_with(&["a"]);
    transcript!(world, @r#"
    $ run --agent true --max-usd 0
    exit 2
    2> flagpost: invalid value '0' for '--max-usd <N>': it must be a number above 0, such as 5 or 2.5
    2>   hint: 'flagpost run --help' shows how
    $ run --agent true --max-tokens 1.5
    exit 2
    2> flagpost: invalid value '1.5' for '--max-tokens <N>': it must be a whole number from 1
    2>   hint: 'flagpost run --help' shows how
    $ run --agent true --park-until soon
    exit 2
    2> flagpost: invalid value 'soon' for '--park-until <TIME>': use a time, as in 2026-12-01T09:00:00Z, 14:30 or 2h
    2>   hint: 'flagpost run --help' shows how
    $ run --agent true --park-until 2026-05-13T14:24:59Z
    exit 2
    2> flagpost: --park-until names a time to come, as in --park-until 2h, 14:30 or 2026-12-01T09:00:00Z
    2>   hint: flagpost run --help shows how
    $ run --agent true --park-until 0s
    exit 2
    2> flagpost: --park-until names a time to come, as in --park-until 2h, 14:30 or 2026-12-01T09:00:00Z
    2>   hint: flagpost run --help shows how
    $ run --agent true --park-until 2h --no-park
    exit 2
    2> flagpost: the argument '--park-until <TIME>' cannot be used with '--no-park'
    2>   hint: 'flagpost run --help' shows how
    $ run --agent true --schedule asap
    exit 2
    2> flagpost: invalid value 'asap' for '--schedule <HOW>': "asap" is none of waves, eager
    2>   hint: 'flagpost run --help' shows how
    "#);
    assert_eq!(world.ok(["list", "--quiet"]), "1\n");
}

#[test]
fn a_time_that_is_over_is_refused_though_there_is_nothing_to_run() {
    let world = world_with(&["a"]);
    world.ok(["done", "1"]);
    for more in [&[][..], &["--dry-run"]] {
        let args = ["run", "--agent", "true", "--park-until", "0s"];
        let ran = world.flagpost([&args[..], more].concat());
        assert_eq!(ran.code, 2, "{ran}");
        assert!(ran.stderr.contains("names a time to come"), "{ran}");
    }
}

#[test]
fn the_schedule_is_settled_and_an_option_comes_first() {
    for (settled, options, waves) in [
        ("eager", &[][..], false),
        ("waves", &[], true),
        ("eager", &["--schedule", "waves"], true),
        ("waves", &["--schedule", "eager"], false),
    ] {
        let stage = Stage::new("- [ ] First\n- [ ] Second (after: 1)\n");
        stage.world.ok(["config", "set", "run.schedule", settled]);
        let ran = stage.run("report PASS", options);
        assert_eq!(ran.code, 0, "{ran}");
        assert_eq!(
            ran.stderr.contains("wave 2 of 2"),
            waves,
            "{settled}: {ran}"
        );
    }
}

#[test]
fn terms_that_are_not_reached_change_nothing() {
    let stage = Stage::new("- [ ] First\n");
    for (name, value) in [
        ("run.max_usd", "0.01"),
        ("run.max_tokens", "1"),
        ("run.quota.reserve", "50%"),
        ("run.resume_after_limit", "true"),
    ] {
        stage.world.ok(["config", "set", name, value]);
    }
    let ran = stage.run("report PASS", &["--park-until", "23:59", "--fixed"]);
    assert_eq!(ran.code, 0, "{ran}");
}
