//! What needs the operator is the first thing that `status` says, and the same on every face.

use flagpost_testkit::sealed;
use serde_json::Value;

use crate::{
    cockpit::terminal::Terminal,
    daemon::{Daemon, ask},
    world, world_with,
};

#[test]
fn what_needs_a_person_comes_before_everything_else() {
    let world = world();
    world.ok(["worker", "add", "W1"]);
    world.ok(["worker", "add", "W2"]);
    world.ok(["assign", "1192", "W2", "--inline", "Merge the seal"]);
    transcript!(world, @"
    $ status
    Needs you: 1
      W2 1 #1192: Merge the seal (now)
        flagpost ratify W2 1

    no tasks here yet
    next: flagpost add 'What is to be done', or flagpost demo
    $ add 'A task'
    added 1 A task
    $ FLAGPOST_CLOCK=2026-05-13T14:26:00Z relay redirect W1 'Look at #1244 first'
    REDIRECTED → W1 (seq=0001)
    2> flagpost: W1 is not running: it reads this when it starts
    $ status
    Needs you: 2
      W2 1 #1192: Merge the seal (now)
        flagpost ratify W2 1
      W1 1: Look at #1244 first (in 1m)
        flagpost ratify W1 1

    web: 1 task (1 pending)

    Ready
      1 A task
    $ ratify W2 1
    RATIFIED #1192 Merge the seal → W2
    $ status
    Needs you: 1
      W1 1: Look at #1244 first (in 1m)
        flagpost ratify W1 1

    web: 1 task (1 pending)

    Ready
      1 A task
    ");
    world.ok(["ratify", "all"]);
    let bare = world.ok([""; 0]);
    assert!(bare.starts_with("web: 1 task"), "{bare}");
}

/// What each thing says is a row of [`flagpost_core::needs`]; here it is that every face shows the same ones.
#[test]
fn every_face_shows_the_same_things_in_the_same_order() {
    let world = world_with(&["Choose", "Build", "Ship"]);
    world.ok(["add", "Elsewhere", "--list", "other"]);
    for (task, end, list) in [
        ("1", "stuck", "web"),
        ("2", "fail", "web"),
        ("1", "stuck", "other"),
    ] {
        world.ok(["claim", task, "--as", "W3", "--list", list]);
        world.ok([end, task, "So it is", "--as", "W3", "--list", list]);
    }
    world.ok(["worker", "add", "W1"]);
    world.ok(["assign", "9", "W1", "--inline", "Merge the seal"]);
    let kinds = |needs: &Value| -> Vec<String> {
        let all = needs["needs"].as_array().unwrap().iter();
        all.map(|it| {
            format!(
                "{} {}",
                it["kind"].as_str().unwrap(),
                it["line"].as_str().unwrap()
            )
        })
        .collect()
    };
    let expected = [
        "brief W1 1 #9: Merge the seal",
        "stuck other/1 Elsewhere: W3 asks: So it is",
        "stuck 1 Choose: W3 asks: So it is",
        "failed 2 Build: failed: So it is",
    ];
    let (_, status) = world.json(["status"]);
    assert_eq!(kinds(&status["needs"]), expected);
    let text = world.ok(["status"]);
    assert!(text.starts_with("Needs you: 4\n"), "{text}");
    for words in [&["inbox"][..], &["inbox", "--all"]] {
        assert_eq!(kinds(&world.json(words).1), expected, "{words:?}");
    }
    {
        let _daemon = Daemon(&world);
        world.ok(["up"]);
        assert_eq!(kinds(&ask(&world, "GET /v1/needs", "")), expected);
        assert_eq!(kinds(&ask(&world, "GET /v1/needs?all=true", "")), expected);
        let [mut told, mut asked] = [world.json(["status"]).1, ask(&world, "GET /v1/status", "")];
        // A command's answer is made alike wherever its home is; whoever asks the daemon knows that it is there.
        for answer in [&mut told, &mut asked] {
            let keys = answer.as_object_mut().unwrap();
            keys.retain(|key, _| !["home", "daemon"].contains(&key.as_str()));
        }
        assert_eq!(asked, told);
    }
    let terminal = or_skip!(Terminal::open(&world, 120, 40));
    terminal.cockpit();
    let screen = terminal.shows("Needs you 4");
    assert!(screen.contains("4:Inbox(4)"), "{screen}");
    for (row, command) in [
        ("j", "flagpost answer 1 --list other"),
        ("j", "A answers"),
        ("j", "flagpost retry 2"),
    ] {
        terminal.keys(&[row]).shows(command);
    }
}

#[test]
fn the_inbox_is_all_that_needs_a_person_and_briefs_where_they_are_asked_for() {
    let world = world();
    transcript!(world, @"
    $ inbox
    nothing needs you
    $ worker add W1
    added W1
    $ assign 7 W1 --inline 'Merge the seal'
    ASSIGNED #7 → W1 (seq=0001)
    2> flagpost: W1 is not running: it reads this when it starts
    $ add Build
    added 1 Build
    $ claim 1 --as W3 --quiet
    1
    $ fail 1 'It broke' --as W3 --quiet
    1
    $ inbox
    W1 1 #7: Merge the seal (now)
        flagpost ratify W1 1
    1 Build: failed: It broke (now)
        flagpost retry 1
    $ inbox --limit 1
    W1 1 #7: Merge the seal (now)
        flagpost ratify W1 1
    … and 1 more: --limit 0 shows all
    $ inbox --all
    web: W1 1 #7: Merge the seal (now)
        flagpost ratify W1 1
    web: 1 Build: failed: It broke (now)
        flagpost retry 1
    $ inbox --quiet
    W1/inbox/0001
    web/1
    $ inbox --briefs
    WORKER  SEQ   STAGE    KIND            TICKET  SUMMARY
    W1      0001  pending  dispatch brief  7       Merge the seal
    $ ratify W1 1
    RATIFIED #7 Merge the seal → W1
    $ inbox W1
    nothing waits for you
    $ inbox W1 --all
    WORKER  SEQ   STAGE     KIND            TICKET  SUMMARY
    W1      0001  ratified  dispatch brief  7       Merge the seal
    ");
}

/// The text of `status` has each row's command.
#[test]
fn each_command_settles_its_row_from_where_the_reader_stands() {
    let mut world = world_with(&["Build"]);
    world.ok(["claim", "1", "--as", "W3"]);
    world.ok(["fail", "1", &"It broke. ".repeat(10_000), "--as", "W3"]);
    world.ok(["worker", "add", "W1"]);
    world.ok(["assign", "7", "W1", "--inline", "Lost"]);
    world.ok(["assign", "8", "W1", "--inline", "Read"]);
    let binding = std::fs::read_to_string(world.list("web").join(".repo")).unwrap();
    let repository = world.home().join("repos").join(binding.trim());
    std::fs::remove_file(repository.join("workers/W1/inbox/0001.brief")).unwrap();
    world.ok(["add", "Held"]);
    world.ok(["claim", "2", "--as", "W1"]);
    world.ok(["add", "Other", "--list", "second"]);
    world.set("FLAGPOST_LIST", "second");
    let commands = |world: &sealed::World| -> Vec<String> {
        let (_, status) = world.json(["status"]);
        let all = status["needs"]["needs"].as_array().unwrap().iter();
        let short = |it: &Value| it["line"].as_str().unwrap().chars().count() <= 301;
        assert!(all.clone().all(short), "{status}");
        all.map(|it| it["settle_with"].as_str().unwrap().to_owned())
            .collect()
    };
    let mut expected = vec![
        "flagpost reject W1 1",
        "flagpost ratify W1 2",
        "flagpost retry 1 --list web",
    ];
    assert_eq!(commands(&world), expected);
    // Claiming was a sign of life.
    world.set("FLAGPOST_CLOCK", "2026-05-13T14:28:00Z");
    expected.push("flagpost task release 2 --list web --force");
    assert_eq!(commands(&world), expected);
    for command in expected {
        let words = command.split(' ').skip(1);
        world.ok(words.collect::<Vec<_>>());
    }
    assert_eq!(commands(&world), [""; 0]);
}
