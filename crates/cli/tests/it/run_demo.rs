//! `flagpost demo`: the main job, as a newcomer sees it.

use std::{fs, time::Instant};

use flagpost_testkit::{background, sealed::World};

use crate::run_stage::lines;

fn world() -> World {
    crate::world_without_repository().with("FLAGPOST_CLOCK", "")
}

#[test]
fn the_demo_ends_well_and_says_where_to_look() {
    let world = world();
    let dir = world.outside().join("it's a demo");
    let began = Instant::now();
    let ran = world.flagpost(["demo", "--dir", dir.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
    assert!(ran.stdout.contains("12 of 12 tasks passed"), "{ran}");
    // Every path that it names is there.
    for line in ran
        .stdout
        .lines()
        .filter(|line| line.contains("[dir]") && !line.contains("Try"))
    {
        let path = &line[line.find("[dir]").unwrap()..];
        let path = path.replace("[dir]", world.outside().to_str().unwrap());
        let path = path.replace("/repos/*/history.jsonl", "/repos");
        if !line.contains("FLAGPOST_HOME") {
            assert!(fs::metadata(path.trim()).is_ok(), "{line}");
        }
    }
    let mut tests = world.command_of("sh");
    tests.current_dir(dir.join("toolkit")).arg("run-tests.sh");
    let tests = world.run(&mut tests);
    assert_eq!(tests.code, 0, "{tests}");
    let mut log = world.command_of("git");
    log.current_dir(dir.join("toolkit"))
        .args(["log", "--oneline"]);
    assert!(world.run(&mut log).stdout.contains("A small text toolkit"));
    // Nothing of it is in the newcomer's own home.
    assert!(!world.home().exists());
    let home = format!("FLAGPOST_HOME={}", dir.join("home").display());
    assert_eq!(background::with_in_environment(&home), Vec::<u32>::new());
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
