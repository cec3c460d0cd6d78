//! What others leave among the mail, and names and words that would let through what nobody meant.
//!
//! Owns that one thing that cannot be read holds up nothing beside it. What is malformed inside a
//! regular file is with the tests of the relay's core.

use std::{
    fs::{self, File},
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use flagpost_model::envelope::Key;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use crate::fleet::Fleet;

type Make = fn(&Path);

/// What no message can be, and cannot be copied aside either.
const STRANGE: [(&str, Make); 4] = [
    ("a link", |path| symlink("/etc/passwd", path).unwrap()),
    ("a directory", |path| fs::create_dir(path).unwrap()),
    ("a socket", |path| {
        mknodat(CWD, path, FileType::Socket, Mode::RWXU, 0).unwrap();
    }),
    ("too large", |path| {
        File::create(path).unwrap().set_len(17 << 20).unwrap();
    }),
];

/// Puts something strange in the place of one of the two files of brief 1.
fn with_a_strange(part: &str, make: Make) -> Fleet {
    let fleet = Fleet::of(1);
    fleet
        .world
        .ok(["assign", "1", "W1", "--inline", "the first"]);
    let path = fleet.inbox("W1").join(part);
    fs::remove_file(&path).unwrap();
    make(&path);
    fleet
}

#[test]
fn what_cannot_be_read_holds_up_no_brief_beside_it() {
    for part in ["0001.brief", "0001.brief.meta.json"] {
        for (what, make) in STRANGE {
            let fleet = with_a_strange(part, make);
            let world = &fleet.world;
            world.ok(["assign", "2", "W1", "--inline", "the second"]);
            let shown = world.json(["inbox", "--briefs"]).1;
            assert_eq!(
                shown["skipped"][0]["file"],
                format!("W1/inbox/{part}"),
                "{what}"
            );
            world.ok(["ratify", "all"]);
            let next = world.json(["worker", "next", "--as", "W1"]).1;
            assert_eq!(next["body"], "the second", "{part} is {what}");
            world.ok(["worker", "ack", "2", "--as", "W1"]);
            let path = fleet.inbox("W1").join(part);
            assert!(path.symlink_metadata().is_ok(), "{what} stays");
        }
    }
}

/// Puts so many briefs that nobody proposed into the inbox of W1; their files.
pub fn flood(inbox: &Path, count: u32) -> Vec<PathBuf> {
    let files = (1..=count).flat_map(|n| {
        let body = format!("Theirs {n}");
        let sidecar = json!({
            "seq": format!("{n:04}"),
            "version": 1,
            "kind": "freeform",
            "submitted_at": "2026-05-13T14:25:00Z",
            "controller_session_id": "theirs",
            "target_worker": "W1",
            "target_ticket": null,
            "expires_at": null,
            "summary": &body,
            "in_reply_to": null,
            "idempotency_key": Key::of(&body),
        });
        let path = |end: &str| inbox.join(format!("{n:04}.brief{end}"));
        [(path(".meta.json"), sidecar.to_string()), (path(""), body)]
    });
    let write = |(path, text): (PathBuf, String)| {
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path
    };
    files.map(write).collect()
}

#[test]
fn of_a_flood_of_briefs_the_newest_are_shown_and_the_others_counted() {
    let fleet = Fleet::of(2);
    let world = &fleet.world;
    world.ok(["assign", "1", "W2", "--inline", "Ours"]);
    flood(&fleet.inbox("W1"), 1_203);
    let told = "W1/inbox: older messages are counted and not read: 203, from 0001 to 0203; \
        'flagpost inbox W1 1' shows one";
    let shown = world.flagpost(["inbox", "--briefs"]);
    assert!(shown.stdout.contains("Theirs 1203"), "{shown}");
    assert!(!shown.stdout.contains("Theirs 203 "), "{shown}");
    assert!(shown.stdout.contains("Ours"), "{shown}");
    assert!(shown.stderr.contains(told), "{shown}");
    let (_, answer) = world.json(["inbox", "--briefs", "--limit", "0"]);
    assert_eq!(answer["briefs"].as_array().unwrap().len(), 1_001);
    let status = world.flagpost(["status"]);
    assert!(status.stderr.contains(told), "{status}");
    let (_, workers) = world.json(["worker", "list"]);
    assert_eq!(workers["workers"][0]["to_decide"], 1_203);
    assert!(world.ok(["inbox", "W1", "1"]).contains("Theirs 1"));
    // What the operator decides on is not kept from its worker.
    world.ok(["ratify", "W2", "1"]);
    assert!(world.ok(["worker", "next", "--as", "W2"]).contains("Ours"));
}

#[test]
fn a_half_brief_that_cannot_be_copied_aside_stays() {
    for (what, make) in STRANGE {
        let fleet = with_a_strange("0001.brief", make);
        fs::remove_file(fleet.inbox("W1").join("0001.brief.meta.json")).unwrap();
        fleet
            .world
            .ok(["worker", "heartbeat", "--as", "W1", "--pid", "1"]);
        let mut later = fleet.world.command();
        later
            .args(["assign", "2", "W1", "--inline", "the second"])
            .env("FLAGPOST_CLOCK", "2099-01-01T00:00:00Z");
        let ran = fleet.world.run(&mut later);
        assert_eq!(ran.code, 0, "{what}: {ran}");
        let path = fleet.inbox("W1").join("0001.brief");
        assert!(path.symlink_metadata().is_ok(), "{what} is lost");
    }
}

#[test]
fn what_cannot_be_read_holds_up_no_report_beside_it() {
    for (what, make) in STRANGE {
        let fleet = Fleet::of(1);
        make(&fleet.of_worker("W1").join("outbox/0001.json"));
        fleet.world.ok(["worker", "report", "done", "--as", "W1"]);
        let shown = fleet.world.json(["outbox"]).1;
        assert_eq!(
            shown["reports"][0]["report"]["body"], "done",
            "{what}: {shown}"
        );
    }
}

#[test]
fn a_file_among_directories_is_none_of_them() {
    let fleet = Fleet::of(1);
    let workers = fleet.of_worker("W1").parent().unwrap().to_owned();
    let repositories = workers.ancestors().nth(2).unwrap();
    let tasks = fleet.world.home().join("tasks");
    fs::create_dir_all(&tasks).unwrap();
    fs::write(workers.join("notes"), "who does what").unwrap();
    fs::write(repositories.join("stray"), "what is where").unwrap();
    fs::write(tasks.join("notes"), "what is to be done").unwrap();
    fleet.world.ok(["assign", "1", "W1", "--inline", "x"]);
    transcript!(fleet.world, @r#"
    $ inbox --briefs --quiet
    W1/1
    $ ratify all
    RATIFIED #1 x → W1
    $ worker list --quiet
    W1
    $ worker next --as notes
    exit 3
    2> flagpost: there is no worker notes
    2>   hint: 'flagpost worker list' shows the fleet, 'flagpost worker add' adds to it; a worker's own verbs take --as
    $ outbox
    no reports
    $ search x --quiet --all-lists
    [repo]/W1/inbox/0001
    "#);
}

#[test]
fn a_worker_whose_file_is_none_is_skipped() {
    let fleet = Fleet::of(2);
    let file = fleet.of_worker("W1").join("worker.json");
    fs::remove_file(&file).unwrap();
    symlink("/etc/passwd", &file).unwrap();
    transcript!(fleet.world, @"
    $ worker list
    WORKER  STATE  LAST SEEN
    W2      live   now
    2> flagpost: skipped W1/worker.json: a symbolic link, which is not followed
    ");
}

#[test]
fn no_worker_has_a_name_that_means_somebody_else() {
    let fleet = Fleet::of(1);
    transcript!(fleet.world, @r#"
    $ worker add all
    exit 6
    2> flagpost: no worker is called all: 'ratify all' approves everybody's briefs
    2>   hint: give it a name of its own, as in W3
    $ worker add orchestrator
    exit 6
    2> flagpost: no worker is called orchestrator: it is who gives the workers their tasks
    2>   hint: give it a name of its own, as in W3
    $ worker add operator
    exit 6
    2> flagpost: no worker is called operator: it is the person, where nothing says who acts
    2>   hint: give it a name of its own, as in W3
    $ worker add Operator
    exit 6
    2> flagpost: no worker is called Operator: it is the person, where nothing says who acts
    2>   hint: give it a name of its own, as in W3
    $ worker add ann
    exit 6
    2> flagpost: no worker is called ann: it is the person who is logged in
    2>   hint: give it a name of its own, as in W3
    $ worker add Ann
    exit 6
    2> flagpost: no worker is called Ann: it is the person who is logged in
    2>   hint: give it a name of its own, as in W3
    "#);
}

#[test]
fn what_was_rejected_or_expired_is_proposed_anew() {
    let fleet = Fleet::of(1);
    transcript!(fleet.world, @r#"
    $ relay redirect W1 stop
    REDIRECTED → W1 (seq=0001)
    $ relay reject W1
    REJECTED stop → W1
    $ relay redirect W1 stop
    REDIRECTED → W1 (seq=0002)
    $ relay redirect W1 stop
    REDIRECTED → W1 (seq=0002)
    2> flagpost: the same was proposed a moment ago: nothing was added
    $ assign 1 W1 --inline soon --expires-in 1m
    ASSIGNED #1 → W1 (seq=0003)
    $ FLAGPOST_CLOCK=2026-05-13T14:26:30Z assign 1 W1 --inline soon --expires-in 1h
    ASSIGNED #1 → W1 (seq=0004)
    $ FLAGPOST_CLOCK=2026-05-13T14:26:30Z inbox --briefs --all
    WORKER  SEQ   STAGE     KIND            TICKET  SUMMARY
    W1      0001  rejected  redirect                stop
    W1      0002  pending   redirect                stop
    W1      0003  expired   dispatch brief  1       soon
    W1      0004  pending   dispatch brief  1       soon
    "#);
}

#[test]
fn an_agent_decides_on_no_brief() {
    let fleet = Fleet::of(1);
    fleet.world.ok(["assign", "1", "W1", "--inline", "x"]);
    transcript!(fleet.world, @r#"
    $ FLAGPOST_WORKER=W1 ratify all
    exit 4
    2> flagpost: W1 decides on no brief: only the operator does
    2>   hint: 'flagpost inbox' shows what waits for the operator
    $ FLAGPOST_WORKER=W1 ratify W1 1 --as ann
    exit 4
    2> flagpost: W1 does not act for ann: only the operator acts in another's name
    2>   hint: name nobody else: $FLAGPOST_WORKER says who you are
    $ FLAGPOST_WORKER=W1 relay reject W1
    exit 4
    2> flagpost: W1 decides on no brief: only the operator does
    2>   hint: 'flagpost inbox' shows what waits for the operator
    $ FLAGPOST_WORKER=W1 relay edit W1 --file -
    exit 4
    2> flagpost: W1 decides on no brief: only the operator does
    2>   hint: 'flagpost inbox' shows what waits for the operator
    $ FLAGPOST_WORKER=W1 slash '/ratify all'
    exit 4
    2> flagpost: W1 decides on no brief: only the operator does
    2>   hint: 'flagpost inbox' shows what waits for the operator
    $ FLAGPOST_WORKER=W1 slash '/reject W1'
    exit 4
    2> flagpost: W1 decides on no brief: only the operator does
    2>   hint: 'flagpost inbox' shows what waits for the operator
    $ FLAGPOST_WORKER=W1 slash '/edit W1'
    exit 4
    2> flagpost: W1 decides on no brief: only the operator does
    2>   hint: 'flagpost inbox' shows what waits for the operator
    $ FLAGPOST_WORKER=W1 slash /inbox
    W1 0001 dispatch_brief #1 x
    $ ratify W1
    RATIFIED #1 x → W1
    "#);
}
