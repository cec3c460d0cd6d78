//! The person decides on what the person saw.

use crate::{exits, fleet::Fleet, tmux::Tmux, world};
use flagpost_model::envelope::Hash;

fn hash(text: &str) -> String {
    Hash::of(text.as_bytes()).as_str().to_owned()
}

#[test]
fn what_came_since_the_operator_looked_is_shown_and_asked_about() {
    let fleet = Fleet::of(1);
    let world = &fleet.world;
    world.ok(["assign", "1", "W1", "--inline", "My own"]);
    let text = "Delete it\n\nall of it\nnow\nand more\n";
    let controller = ["assign", "2", "W1", "--file", "-", "--as", "hub"];
    assert_eq!(world.feed(controller, text.as_bytes()).code, 0);
    transcript!(world, @r"
    $ ratify W1
    exit 4
    2> W1 0001 My own
    2> W1 0002 Delete it  (new)
    2>   | Delete it
    2>   | all of it
    2>   | now
    2>   | …
    2> flagpost: 2 briefs of W1 wait, and 1 came since you looked
    2>   hint: 'flagpost inbox W1' shows them; 'flagpost ratify W1 2' names the newest
    $ relay reject W1
    exit 4
    2> W1 0001 My own
    2> W1 0002 Delete it  (new)
    2>   | Delete it
    2>   | all of it
    2>   | now
    2>   | …
    2> flagpost: 2 briefs of W1 wait, and 1 came since you looked
    2>   hint: 'flagpost inbox W1' shows them; 'flagpost reject W1 2' names the newest
    $ slash '/ratify W1'
    exit 4
    2> W1 0001 My own
    2> W1 0002 Delete it  (new)
    2>   | Delete it
    2>   | all of it
    2>   | now
    2>   | …
    2> flagpost: 2 briefs of W1 wait, and 1 came since you looked
    2>   hint: 'flagpost inbox W1' shows them; 'flagpost ratify W1 2' names the newest
    $ CLAUDECODE=1 inbox --briefs
    WORKER  SEQ   STAGE    KIND            TICKET  SUMMARY
    W1      0001  pending  dispatch brief  1       My own
    W1      0002  pending  dispatch brief  2       Delete it
    $ ratify W1
    exit 4
    2> W1 0001 My own
    2> W1 0002 Delete it  (new)
    2>   | Delete it
    2>   | all of it
    2>   | now
    2>   | …
    2> flagpost: 2 briefs of W1 wait, and 1 came since you looked
    2>   hint: 'flagpost inbox W1' shows them; 'flagpost ratify W1 2' names the newest
    $ inbox --briefs --quiet
    W1/1
    W1/2
    $ ratify W1
    RATIFIED #2 Delete it → W1
      | Delete it
      | all of it
      | now
      | …
    $ ratify W1
    RATIFIED #1 My own → W1
    ");
}

#[test]
fn a_changed_text_was_not_seen() {
    let fleet = Fleet::of(1);
    let world = &fleet.world;
    world.ok(["assign", "1", "W1", "--inline", "Benign"]);
    world.ok(["inbox"]);
    std::fs::write(fleet.inbox("W1").join("0001.brief"), "EVIL").unwrap();
    assert_eq!(world.flagpost(["ratify", "W1"]).code, 4);
}

#[test]
fn an_expired_one_is_never_the_newest() {
    let fleet = Fleet::of(1);
    let world = &fleet.world;
    world.ok(["assign", "1", "W1", "--inline", "Stays"]);
    world.ok("assign 2 W1 --inline Goes --expires-in 1s".split(' '));
    let mut later = world.command();
    later
        .env("FLAGPOST_CLOCK", "2026-05-13T14:26:00Z")
        .args(["ratify", "W1"]);
    let ran = world.run(&mut later);
    assert_eq!(ran.stdout, "RATIFIED #1 Stays → W1\n", "{ran}");
}

#[test]
fn the_text_that_was_seen_is_named_by_its_hash() {
    let fleet = Fleet::of(1);
    let world = &fleet.world;
    for ticket in ["1", "2"] {
        world.ok(["assign", ticket, "W1", "--inline", ticket, "--as", "hub"]);
    }
    let other = hash("another");
    for verb in [
        &["ratify", "W1"][..],
        &["relay", "reject", "W1"],
        &["ratify", "W1", "1"],
    ] {
        exits(world.flagpost([verb, &["--seen", &other]].concat()), 4);
    }
    exits(world.flagpost(["ratify", "W1", "1", "--seen", "abc"]), 2);
    world.ok(["ratify", "W1", "--seen", &hash("2")]);
    world.ok(["relay", "reject", "W1", "1", "--seen", &hash("1")]);
}

#[test]
fn several_workers_are_ratified_at_once_and_a_reason_needs_no_option() {
    let fleet = Fleet::of(3);
    let world = &fleet.world;
    for (ticket, worker) in [
        ("1", "W1"),
        ("2", "W1"),
        ("1", "W2"),
        ("1", "W3"),
        ("2", "W3"),
    ] {
        world.ok(["assign", ticket, worker, "--inline", "Merge the seal"]);
    }
    transcript!(world, @r#"
    $ ratify W1 W9
    exit 3
    2> flagpost: there is no worker W9
    2>   hint: 'flagpost worker list' shows the fleet, 'flagpost worker add' adds to it; a worker's own verbs take --as
    $ ratify W1 1 W2 7
    exit 3
    2> flagpost: there is no brief 0007 of W2
    2>   hint: 'flagpost inbox --briefs --all' shows those there are
    $ ratify W1 W2 --seen acf2ef42d57446b155ed2cc2a2d8fd6b8acf2ef42d57446b155ed2cc2a2d8fd6
    exit 2
    2> flagpost: --seen goes with one brief: 'flagpost ratify WORKER SEQ --seen HASH'
    2>   hint: flagpost --help shows how
    $ ratify W1 1 2 W2
    RATIFIED #1 Merge the seal → W1
    RATIFIED #2 Merge the seal → W1
    RATIFIED #1 Merge the seal → W2
    $ reject W3 too large
    exit 2
    2> flagpost: put the reason in quotes, as in reject W3 'Too large: split it'
    2>   hint: flagpost --help shows how
    $ reject W3 1 'Too large'
    REJECTED #1 Merge the seal → W3
    $ reject W3 'Too large' --reason 'Too late'
    exit 2
    2> flagpost: give the reason once
    2>   hint: flagpost --help shows how
    $ reject W3 'Too large: split it'
    REJECTED #2 Merge the seal → W3
    $ ratify W1 W3
    exit 3
    2> flagpost: no brief of W1 waits for a decision
    2>   hint: 'flagpost inbox --briefs --all' shows what was decided
    "#);
    let (_, told) = world.json(["history", "--kind", "relay.decided"]);
    let lines = told["lines"].as_array().unwrap();
    let reasons = lines
        .iter()
        .filter_map(|line| line["detail"]["reason"].as_str());
    assert_eq!(
        reasons.collect::<Vec<_>>(),
        ["Too large", "Too large: split it"]
    );
}

#[test]
fn who_leaves_the_editor_without_a_change_has_approved_nothing() {
    let fleet = Fleet::of(1);
    let world = &fleet.world;
    world.ok(["assign", "1", "W1", "--inline", "Benign"]);
    transcript!(world, @r"
    $ EDITOR=true relay edit W1
    exit 4
    2> flagpost: brief 0001 of W1 is as it was: nothing was decided
    2>   hint: 'flagpost ratify W1 1' approves it as it is
    $ EDITOR=true slash '/edit W1 1'
    exit 4
    2> flagpost: brief 0001 of W1 is as it was: nothing was decided
    2>   hint: 'flagpost ratify W1 1' approves it as it is
    $ inbox W1 --quiet
    W1/1
    $ EDITOR='sed -i s/Benign/Better/' relay edit W1
    EDITED #1 Better → W1
    ");
}

#[test]
fn a_person_at_a_terminal_is_asked_and_answers() {
    let fleet = Fleet::of(1);
    let world = &fleet.world;
    world.ok([
        "assign",
        "1",
        "W1",
        "--inline",
        "From the hub",
        "--as",
        "hub",
    ]);
    let tmux = Tmux::of(world);
    let binary = env!("CARGO_BIN_EXE_flagpost");
    tmux.open(
        80,
        24,
        &format!("{binary} ratify W1; EDITOR=true {binary} relay edit W1; {binary} ratify W1; cat"),
    );
    tmux.until("the first question", |screen| {
        screen.contains("is 0001 to be ratified? [y/N]")
    });
    tmux.keys(&["n", "Enter"]);
    tmux.until("the second question", |screen| {
        screen.contains("approve W1 0001 as it is? [y/N]")
    });
    tmux.keys(&["Enter"]);
    tmux.until("the third question", |screen| {
        screen.matches("is 0001 to be ratified? [y/N]").count() == 2
    });
    assert!(!fleet.inbox("W1").join("0001.ratified").exists());
    tmux.keys(&["y", "Enter"]);
    let screen = tmux.until("the decision", |screen| screen.contains("RATIFIED #1"));
    assert!(screen.contains("W1 0001 From the hub  (new)"), "{screen}");
    assert!(screen.contains("nothing was decided"), "{screen}");
}

#[test]
fn a_worker_says_that_its_report_came_full_circle() {
    let fleet = Fleet::of(1);
    let world = &fleet.world;
    world.ok(["worker", "report", "Ready to merge", "--as", "W1"]);
    transcript!(world, @r#"
    $ worker confirm 1 --as W1
    W1 confirmed 0001
    $ worker confirm 1 --as W1
    W1 confirmed 0001 before
    $ worker confirm 9 --as W1
    exit 3
    2> flagpost: there is no report 0009 of W1
    2>   hint: 'flagpost outbox' shows those there are
    $ worker confirm 1 --as W1 --json
    {"schema":"flagpost.confirmed/1","worker":"W1","seq":1,"already":true}
    $ outbox
    WORKER  SEQ   STATE      KIND          SAYS
    W1      0001  confirmed  cycle report  Ready to merge
    "#);
    let flag = fleet.of_worker("W1").join("outbox/0001.ratified");
    assert_eq!(std::fs::metadata(flag).unwrap().len(), 0);
    assert_eq!(fleet.told("relay.report_confirmed").len(), 1);
}

#[test]
fn a_clock_that_is_no_time_of_ours_is_refused_in_our_words() {
    let mut world = world();
    for time in ["9999-12-31T23:59:59Z", "12026-01-01T00:00:00Z", "tomorrow"] {
        world.set("FLAGPOST_CLOCK", time);
        let ran = world.flagpost(["list"]);
        assert_eq!(ran.code, 6, "{time}: {ran}");
        let told = format!(
            "flagpost: FLAGPOST_CLOCK: {time:?} is no time of the years 1970 to 9998, as in \
             2026-12-01T09:00:00Z, and no shift, as in -40s\n"
        );
        assert_eq!(ran.stderr, told, "{ran}");
    }
}

#[test]
fn a_clock_beyond_all_times_is_said_and_named_by_doctor() {
    let mut world = world();
    for time in [
        "1969-12-31T23:59:59Z",
        "1901-01-01T00:00:00Z",
        "9999-01-01T00:00:00Z",
        "9999-12-30T22:00:00Z",
    ] {
        world.set("FLAGPOST_CLOCK", time);
        for line in [
            "add x",
            "claim 1",
            "list",
            "status",
            "worker add W1",
            "reserve add a",
            "run --agent true",
            "up",
        ] {
            let ran = world.flagpost(line.split(' '));
            assert_eq!(ran.code, 6, "{time}: {line}: {ran}");
            assert!(
                ran.stderr.contains("the clock of this machine says"),
                "{ran}"
            );
        }
        let ran = world.flagpost(["doctor"]);
        assert_eq!(ran.code, 1, "{time}: {ran}");
        assert!(ran.stdout.contains("clock-beyond"), "{time}: {ran}");
        assert_eq!(world.flagpost(["schema"]).code, 0, "{time}");
    }
    world.set("FLAGPOST_CLOCK", "1970-01-01T00:00:00Z");
    world.ok(["add", "x"]);
    world.ok(["claim", "1", "--as", "W1"]);
}
