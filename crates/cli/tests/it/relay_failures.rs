//! The relay's failure injection and crash recovery, row by row, with real processes on files alone.
//!
//! | failure injected | test |
//! |---|---|
//! | killed in the middle of writing a brief | `a_writer_killed_in_the_middle_of_a_brief…` |
//! | killed in the middle of a ratification | `a_ratifier_killed_in_the_middle…` |
//! | `/ratify all` from two surfaces at once | `ratify_all_from_two_surfaces…` |
//! | a worker's poller killed while it reads a flag | `a_poller_killed_while_it_reads…` |
//! | the disk is full | `a_full_disk…` |
//! | a body without its sidecar | `a_body_without_its_sidecar…` |
//! | two producers that ask nobody for a number | `producers_that_ask_for_no_number…` |
//! | inotify is exhausted | `exhausted_inotify…` |
//!
//! | crash | test |
//! |---|---|
//! | of a worker's session | `a_worker_that_crashed_before_it_acknowledged…` |
//! | of the operator's screen, and its return | `an_operator_who_comes_back…` |
//! | power loss | `a_crash_leaves_whole_messages` in core, after every step of every operation |
//! | disk full, inotify limit | as above |
//!
//! The same rows where the daemon is at work are in `relay_failures_of_the_daemon`.

use std::{
    fs::{self, OpenOptions},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    thread,
    time::Duration,
};

use flagpost_testkit::{
    background::{Background, is_alive},
    chance::Chance,
    patience::patience,
    race::until,
    scratch::SmallDisk,
};
use rustix::process::Signal;

use crate::fleet::{Fleet, Way, poller, write_program};

/// Long after everything that a test did.
const LATER: &str = "2099-01-01T00:00:00Z";

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let names = entries.map(|it| it.unwrap().file_name().into_string().unwrap());
    names.collect()
}

fn temporaries(dir: &Path) -> Vec<String> {
    let mut names = names(dir);
    names.retain(|name| name.contains(".tmp-"));
    names
}

/// Kills it after some milliseconds; whether it had ended well by then.
fn kill_after(mut process: Background, ms: usize) -> bool {
    thread::sleep(Duration::from_millis(ms as u64));
    process.signal(Signal::KILL);
    process.end().code == 0
}

#[test]
fn a_writer_killed_in_the_middle_of_a_brief_leaves_a_temporary_that_is_swept() {
    let fleet = Fleet::of(1);
    let mut chance = Chance::of(1);
    let mut acknowledged = Vec::new();
    for ticket in 1..=40_u64 {
        let text = ticket.to_string();
        let writer = fleet.start(&["assign", &text, "W1", "--inline", &text]);
        if kill_after(writer, chance.below(12)) {
            acknowledged.push(text);
        }
    }
    // However that went, here is one that was cut short.
    let gone = fleet.start(&["--version"]);
    let pid = gone.id();
    gone.end();
    assert!(!is_alive(pid));
    let inbox = fleet.inbox("W1");
    let random = "0".repeat(32);
    fs::write(inbox.join(format!(".0099.brief.tmp-{pid}-{random}")), "hal").unwrap();

    let shown = fleet.world.json(["inbox", "W1", "--limit", "0"]).1;
    assert_eq!(shown["skipped"], serde_json::json!([]));
    let briefs = shown["briefs"].as_array().unwrap();
    let tickets: Vec<&str> = briefs
        .iter()
        .map(|it| it["brief"]["ticket"].as_str().unwrap())
        .collect();
    for ticket in &acknowledged {
        assert!(tickets.contains(&ticket.as_str()), "{ticket} is lost");
    }
    for brief in briefs {
        assert_eq!(brief["body"], brief["brief"]["ticket"], "half a brief");
    }
    fleet.told_once("relay.brief_proposed");

    fleet.world.flagpost(["doctor", "--fix", "--yes"]);
    assert!(!temporaries(&inbox).is_empty(), "a young one may be in use");
    let mut later = fleet.world.command();
    later
        .args(["doctor", "--fix", "--yes"])
        .env("FLAGPOST_CLOCK", LATER);
    let swept = fleet.world.run(&mut later);
    assert_eq!(temporaries(&inbox), [""; 0], "{swept}");
    fleet.world.ok(["assign", "41", "W1", "--inline", "41"]);
}

#[test]
fn a_ratifier_killed_in_the_middle_has_decided_or_not() {
    const BRIEFS: usize = 40;
    let fleet = Fleet::of(1);
    for ticket in 1..=BRIEFS {
        fleet.assign_each(ticket);
    }
    let mut chance = Chance::of(2);
    for seq in 1..=BRIEFS {
        let ratifier = fleet.start(&["ratify", "W1", &seq.to_string()]);
        let acknowledged = kill_after(ratifier, chance.below(12));
        let has = |name: String| fleet.inbox("W1").join(name).is_file();
        let (decided, flag) = (
            has(format!(".{seq:04}.decision.json")),
            has(format!("{seq:04}.ratified")),
        );
        assert!(decided || !flag, "{seq}: a flag that nobody decided on");
        assert!(flag || !acknowledged, "{seq}: acknowledged and lost");
    }
    fleet.world.ok(["ratify", "all"]);
    assert_eq!(fleet.told_once("relay.decided").len(), BRIEFS);
    for seq in 1..=BRIEFS {
        let flag = fleet.inbox("W1").join(format!("{seq:04}.ratified"));
        assert_eq!(fs::metadata(flag).unwrap().len(), 0);
    }
    assert_eq!(
        fleet.world.ok(["inbox", "--briefs"]),
        "nothing waits for you\n"
    );
}

#[test]
fn ratify_all_from_two_surfaces_at_once_counts_each_brief_once() {
    let fleet = Fleet::of(11);
    for ticket in 1..=3 {
        fleet.assign_each(ticket);
    }
    let surfaces = [
        fleet.start(&["slash", "/ratify all"]),
        fleet.start(&["ratify", "all", "--count-status"]),
    ];
    let counts = surfaces.map(|it| it.end().code);
    assert_eq!(counts.iter().sum::<i32>(), 33, "{counts:?}");
    assert_eq!(fleet.told_once("relay.decided").len(), 33);
}

#[test]
fn a_poller_killed_while_it_reads_a_flag_is_given_the_brief_again() {
    let fleet = Fleet::of(1);
    fleet.assign_each(1);
    fleet.world.ok(["ratify", "all"]);
    let mark = fleet.world.outside().join("pid");
    let hand = fleet.world.outside().join("hand");
    write_program(
        &hand,
        &format!("#!/bin/sh\necho $$ >'{}'\nexec sleep 600\n", mark.display()),
    );
    let mut command = fleet.world.command_of("sh");
    command
        .arg(poller())
        .arg(fleet.of_worker("W1"))
        .env("FLAGPOST_HAND", &hand);
    let mut killed = Background::start(&mut command);
    let pid = || fs::read_to_string(&mark).ok()?.trim().parse::<u32>().ok();
    until("the hand has the brief", || pid().is_some());
    killed.signal(Signal::KILL);
    killed.end();
    flagpost_testkit::background::kill(pid().unwrap(), Signal::KILL);
    let inbox = fleet.inbox("W1");
    assert!(inbox.join("0001.ratified").is_file() && !inbox.join("0001.read").exists());

    let again = fleet.work("W1", Way::Poller);
    until("it is read", || inbox.join("0001.read").is_file());
    fleet.stop(vec![again]);
    assert_eq!(fleet.told("worker.paste_back").len(), 1);
}

#[test]
fn a_worker_that_crashed_before_it_acknowledged_is_offered_the_same_brief() {
    let fleet = Fleet::of(1);
    let mut waiting = fleet.start(&["worker", "next", "--wait", "--json", "--as", "W1"]);
    fleet.assign_each(1);
    fleet.world.ok(["ratify", "all"]);
    until("it is offered", || !waiting.is_running());
    let first: serde_json::Value = serde_json::from_str(&waiting.end().stdout).unwrap();
    assert_eq!(first["again"], false);
    for _ in 0..5 {
        // A session that dies at some point of its look.
        let next = fleet.start(&["worker", "next", "--as", "W1"]);
        kill_after(next, 3);
    }
    let (code, second) = fleet.world.json(["worker", "next", "--as", "W1"]);
    assert_eq!((code, &second["again"]), (0, &true.into()));
    assert_eq!(second["brief"]["id"], first["brief"]["id"]);
    assert_eq!(fleet.told("relay.delivered").len(), 1);
}

#[test]
fn a_full_disk_publishes_nothing_by_halves() {
    let disk = or_skip!(SmallDisk::mount(400));
    let world = crate::world().with("FLAGPOST_HOME", disk.path().join("home"));
    let fleet = Fleet::on_disk(world, &disk.path().join("home"), 1);
    fleet.assign_each(1);
    let before = names(&fleet.inbox("W1"));
    let filler = disk.path().join("filler");
    // As much as fits.
    assert!(fs::write(&filler, vec![0; 400 << 10]).is_err());
    for verb in [
        &["assign", "2", "W1", "--inline", "Two"][..],
        &["ratify", "W1"],
        &["worker", "report", "Mine", "--as", "W1"],
    ] {
        let ran = fleet.world.flagpost(verb);
        assert_eq!(ran.code, 1, "{ran}");
        assert!(ran.stderr.contains("No space left on device"), "{ran}");
        assert!(ran.stderr.contains("make room"), "{ran}");
    }
    let mut after = names(&fleet.inbox("W1"));
    after.retain(|name| !before.contains(name));
    assert_eq!(after, [""; 0], "nothing half written");
    fs::remove_file(filler).unwrap();
    for ticket in ["2", "3"] {
        fleet.world.ok(["assign", ticket, "W1", "--inline", ticket]);
    }
    let said = fleet.world.flagpost(["slash", "/ratify all"]);
    assert_eq!(said.code, 3, "{said}");
    fleet.told_once("relay.brief_proposed");
}

#[test]
fn a_body_without_its_sidecar_is_delivered_to_nobody_and_kept_aside() {
    let fleet = Fleet::of(1);
    let inbox = fleet.inbox("W1");
    fs::write(inbox.join("0001.brief"), "half").unwrap();
    fs::write(inbox.join("0001.ratified"), "").unwrap();
    let seen = fleet.world.flagpost(["inbox", "--briefs"]);
    assert_eq!(
        seen.stdout, "nothing that can be read waits for you\n",
        "{seen}"
    );
    assert!(
        seen.stderr
            .contains("W1/inbox/0001.brief: it has no sidecar"),
        "{seen}"
    );
    let next = fleet.world.flagpost(["worker", "next", "--as", "W1"]);
    assert_eq!(next.code, 3, "{next}");
    assert!(
        inbox.join("0001.brief").is_file(),
        "its sidecar may still come"
    );

    let mut later = fleet.world.command();
    later
        .args(["relay", "redirect", "W1", "Look"])
        .env("FLAGPOST_CLOCK", LATER);
    let ran = fleet.world.run(&mut later);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(!inbox.join("0001.brief").exists());
    let kept = names(&inbox.join("quarantine"));
    assert!(
        kept.iter().any(|name| name.starts_with("0001.brief")),
        "{kept:?}"
    );
    let lines = fleet.history();
    let quarantined = lines.iter().filter(|it| it["kind"] == "relay.quarantined");
    assert_eq!(quarantined.count(), 1);
    assert_eq!(fleet.told("relay.brief_proposed"), [("W1".to_owned(), 2)]);
}

#[test]
fn producers_that_ask_for_no_number_overwrite_nothing() {
    let fleet = Fleet::of(1);
    let inbox = fleet.inbox("W1");
    let writers: Vec<Background> = (1..=20)
        .map(|ticket| {
            let text = ticket.to_string();
            fleet.start(&["assign", &text, "W1", "--inline", &text])
        })
        .collect();
    let theirs: Vec<u64> = (1..=60)
        .filter(|seq| {
            let path = inbox.join(format!("{seq:04}.brief"));
            let made = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(path);
            thread::sleep(Duration::from_millis(2));
            made.is_ok_and(|mut file| std::io::Write::write_all(&mut file, b"by hand").is_ok())
        })
        .collect();
    let ended: Vec<_> = writers.into_iter().map(Background::end).collect();
    assert!(ended.iter().all(|it| matches!(it.code, 0 | 4)), "{ended:?}");
    for seq in &theirs {
        let text = fs::read_to_string(inbox.join(format!("{seq:04}.brief"))).unwrap();
        assert_eq!(text, "by hand", "{seq}");
    }
    let ours = fleet.told_once("relay.brief_proposed");
    let acknowledged = ended.iter().filter(|it| it.code == 0).count();
    assert_eq!(ours.len(), acknowledged);
    assert!(
        ours.iter().all(|(_, seq)| !theirs.contains(seq)),
        "a number twice"
    );
    let violations = fleet.told("relay.contract_violation").len();
    println!("{violations} numbers were taken between our look and our rename");
}

#[test]
fn exhausted_inotify_is_made_up_for_by_looking() {
    let fleet = Fleet::of(1);
    let begins = fleet.world.outside().join("begins");
    let script = format!(
        "echo 0 >/proc/sys/user/max_inotify_instances || exit 99
         : > '{}'
         exec '{}' worker next --wait --timeout {}s --as W1",
        begins.display(),
        env!("CARGO_BIN_EXE_flagpost"),
        patience().as_secs()
    );
    let mut command = fleet.world.command_of("unshare");
    command.args(["-Ur", "sh", "-c", &script]);
    let mut waiting = Background::start(&mut command);
    until("it begins, or cannot", || {
        begins.exists() || !waiting.is_running()
    });
    if !begins.exists() {
        println!(
            "skipped: no user namespace can be had here: {}",
            waiting.end()
        );
        return;
    }
    // It waits already when the brief comes.
    thread::sleep(Duration::from_millis(300));
    fleet.assign_each(1);
    fleet.world.ok(["ratify", "all"]);
    let ended = waiting.end();
    assert_eq!(ended.code, 0, "{ended}");
    assert!(ended.stdout.contains("Do 1"), "{ended}");
}

#[test]
fn an_operator_who_comes_back_after_a_crash_finds_everything_as_it_was() {
    let fleet = Fleet::of(1);
    fleet.assign_each(1);
    let before = fleet.world.json(["inbox", "--briefs"]).1;
    let mark = fleet.world.outside().join("editing");
    let editor = fleet.world.outside().join("editor");
    let text = format!(
        "#!/bin/sh\necho changed >\"$1\"\necho $$ >'{}'\nexec sleep 600\n",
        mark.display()
    );
    write_program(&editor, &text);
    let mut command = fleet.world.command();
    command.args(["relay", "edit", "W1"]).env("EDITOR", &editor);
    let mut screen = Background::start(&mut command);
    let pid = || fs::read_to_string(&mark).ok()?.trim().parse::<u32>().ok();
    until("the editor is open", || pid().is_some());
    screen.signal(Signal::KILL);
    screen.end();
    flagpost_testkit::background::kill(pid().unwrap(), Signal::KILL);
    assert_eq!(fleet.world.json(["inbox", "--briefs"]).1, before);
    assert!(fleet.told("relay.decided").is_empty());
    fleet.world.ok(["ratify", "W1"]);
    let next = fleet.world.ok(["worker", "next", "--as", "W1"]);
    assert!(next.ends_with("\n\nDo 1\n"), "{next}");
}
