//! `flagpost demo`: the main job, as a newcomer sees it.

use std::{
    fs,
    time::{Duration, Instant},
};

use flagpost_testkit::{background, sealed::World};

use crate::run_stage::lines;

fn world() -> World {
    crate::world_without_repository().with("FLAGPOST_CLOCK", "")
}

/// The commands that the words at the end name, as somebody types them one after the other.
fn commands(stdout: &str) -> String {
    let lines = stdout.lines().filter(|line| line.starts_with("  "));
    lines.map(|line| format!("{}\n", line.trim())).collect()
}

/// The tasks whose landing a log of git tells of, one for each time.
fn landed(log: &str) -> Vec<u32> {
    let told = log
        .lines()
        .filter_map(|line| line.split_once(" Land task "));
    told.filter_map(|(_, rest)| rest.split_once(':')?.0.parse().ok())
        .collect()
}

#[test]
fn the_demo_ends_well_and_every_command_that_it_names_works() {
    let world = world();
    let dir = world.outside().join("it's a demo");
    let began = Instant::now();
    // As it is printed: the commands are to be typed.
    let mut demo = world.command();
    let demo = demo.args(["demo", "--dir", dir.to_str().unwrap()]).output();
    let demo = demo.unwrap();
    let (stdout, stderr) = (text(&demo.stdout), text(&demo.stderr));
    assert!(demo.status.success(), "{stdout}\n{stderr}");
    // It paces itself.
    assert!(began.elapsed() >= Duration::from_secs(10));
    for seen in [
        "asks  3 Agree on how a filter works: Does a filter take options?",
        "flagpost answer 3 'WORDS'",
        "answer 3 by ann: None: what it does is its name",
        "failed 5 Write the filter count",
        "start 5 Write the filter count (try 2 of 3)",
    ] {
        assert!(stderr.contains(seen), "{seen}: {stderr}");
    }

    let commands = commands(&stdout);
    assert_eq!(commands.lines().count(), 9, "{commands}");
    let mut shell = world.command_of("sh");
    let typed = shell.args(["-exc", &commands]).output().unwrap();
    let (seen, said) = (text(&typed.stdout), text(&typed.stderr));
    assert!(typed.status.success(), "{commands}\n{seen}\n{said}");
    for seen_there in [
        "ok   tests/count.sh",
        "Land task 12: Run the whole suite",
        "12  completed",
        "None: what it does is its name",
        "count says 1 for three words",
    ] {
        assert!(seen.contains(seen_there), "{seen_there}: {seen}\n{said}");
    }
    let landed = landed(&seen);
    let has_landed = |task: u32| landed.iter().filter(|it| **it == task).count() == 1;
    // Task 3 writes nothing: it brings a commit where what it builds on is not there yet, and counts as landed
    // without one where that comes along.
    let idle = usize::from(has_landed(3));
    assert!((1..=12).all(|task| task == 3 || has_landed(task)), "{seen}");
    assert_eq!(landed.len(), 11 + idle, "{seen}");
    let told = (landed.len()..=12)
        .any(|count| stdout.contains(&format!("12 of 12 tasks passed; {count} landed on main")));
    assert!(told, "{}: {stdout}", landed.len());
    // Nothing of it is in the newcomer's own home.
    assert!(!world.home().exists());
    let home = format!("FLAGPOST_HOME={}", dir.join("home").display());
    background::none_is_left_with(&home);
}

/// An agent may look at the demonstration too: its operator is a person all the same.
#[test]
fn the_demo_answers_its_question_whoever_starts_it() {
    let world = world()
        .with("CLAUDECODE", "1")
        .with("FLAGPOST_TASK", "7")
        .with("FLAGPOST_LIST", "elsewhere");
    let dir = world.outside().join("demo");
    let ran = world.flagpost(["demo", "--dir", dir.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{ran}");
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_demo_needs_no_network_and_answers_in_json() {
    let world = world();
    let dir = world.outside().join("demo");
    let mut command = world.command_of("unshare");
    command.args(["--net", env!("CARGO_BIN_EXE_flagpost")]);
    if world
        .run(world.command_of("unshare").args(["--net", "true"]))
        .code
        != 0
    {
        eprintln!("with the network: it cannot be taken away here");
        command = world.command();
    }
    let ran = world.run(command.args(["demo", "--json", "--dir", dir.to_str().unwrap()]));
    assert_eq!(ran.code, 0, "{ran}");
    let all = lines(&ran.stdout);
    let answer = all.last().unwrap();
    assert_eq!(answer["schema"], "flagpost.demo/1");
    assert_eq!(
        [&answer["passed"], &answer["failed"], &answer["skipped"]],
        [12, 0, 0]
    );
    assert!(all.len() > 24 && all[0]["event"] == "session.started");
}

#[test]
fn a_directory_that_is_there_is_left_as_it_is() {
    let world = world();
    let dir = world.outside().join("mine");
    fs::create_dir(&dir).unwrap();
    let ran = world.flagpost(["demo", "--dir", dir.to_str().unwrap()]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(
        ran.stderr
            .contains("exists already: name a directory that does not"),
        "{ran}"
    );
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
}
