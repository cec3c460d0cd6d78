//! The relay's failure injection and crash recovery, row by row, where the daemon is at work.
//!
//! | failure injected | test |
//! |---|---|
//! | the daemon killed in the middle of writing a brief | `a_daemon_killed_while_it_writes_a_brief…` |
//! | the daemon killed in the middle of a ratification | `a_daemon_killed_in_the_middle…` |
//! | `/ratify all` from two surfaces at once | `ratify_all_from_a_screen_and_a_command…` |
//! | the disk is full | `a_full_disk_is_said…` |
//! | two producers that ask nobody for a number | `producers_beside_the_daemon…`, `a_rename_over_a_number…` |
//! | inotify is exhausted | `exhausted_inotify_is_made_up_for…` |
//!
//! | crash | test |
//! |---|---|
//! | of the daemon | `the_daemon_after_a_crash_goes_on…` |
//! | of a screen, and its return | `the_state_comes_first…` and `whoever_comes_again…` in the daemon's `events` |
//!
//! A slow subscriber, half a brief and the sweep of temporaries are with the daemon's own tests, in
//! `crates/daemon/tests/it/events.rs` and `crates/daemon/tests/it/duties.rs`.

use std::{collections::BTreeSet, fs, path::Path, thread, time::Duration};

use flagpost_testkit::{
    background::{Background, kill},
    chance::Chance,
    race::until,
    scratch::SmallDisk,
};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::{
    daemon::{Daemon, answer, ask, kill_daemon, pid, request},
    fleet::Fleet,
    listening::Listening,
};

const DISPATCH: &str = "POST /v1/controller/dispatch";
const RATIFY: &str = "POST /v1/relay/outbox/ratify";

/// Sends it, and kills the daemon somewhere in the middle; whether it had answered well by then.
fn kill_while(fleet: &Fleet, asked: (&str, &Value), chance: &mut Chance) -> bool {
    fleet.world.ok(["up"]);
    let killed = pid(&fleet.world).unwrap();
    let asked = request(&fleet.world, asked.0, &asked.1.to_string());
    thread::sleep(Duration::from_micros(chance.below(4000) as u64));
    kill(killed, Signal::KILL);
    until("it is gone", || pid(&fleet.world).is_none());
    answer(asked).is_some_and(|it| it["schema"] != "flagpost.error/1")
}

#[test]
fn a_daemon_killed_while_it_writes_a_brief_leaves_whole_ones() {
    let fleet = Fleet::of(1);
    let _daemon = Daemon(&fleet.world);
    let mut chance = Chance::of(4);
    let mut acknowledged = BTreeSet::new();
    for ticket in 1..=20_u64 {
        let command = format!("/assign {ticket} W1 --inline={ticket}");
        let asked = json!({"command": command});
        if kill_while(&fleet, (DISPATCH, &asked), &mut chance) {
            acknowledged.insert(ticket.to_string());
        }
    }
    let shown = fleet.world.json(["inbox", "W1", "--limit", "0"]).1;
    assert_eq!(shown["skipped"], json!([]));
    let mut there = BTreeSet::new();
    for brief in shown["briefs"].as_array().unwrap() {
        assert_eq!(brief["body"], brief["brief"]["ticket"], "half a brief");
        there.insert(brief["body"].as_str().unwrap().to_owned());
    }
    assert!(there.is_superset(&acknowledged), "{there:?}");
    println!("{} of 20 were acknowledged", acknowledged.len());
    fleet.told_once("relay.brief_proposed");
}

#[test]
fn a_daemon_killed_in_the_middle_of_a_ratification_has_decided_or_not() {
    const BRIEFS: usize = 20;
    let fleet = Fleet::of(1);
    let _daemon = Daemon(&fleet.world);
    for ticket in 1..=BRIEFS {
        fleet.assign_each(ticket);
    }
    let mut chance = Chance::of(5);
    for seq in 1..=BRIEFS {
        let asked = json!({"worker": "W1", "seq": seq});
        let acknowledged = kill_while(&fleet, (RATIFY, &asked), &mut chance);
        let has = |name: String| fleet.inbox("W1").join(name).is_file();
        let decided = has(format!(".{seq:04}.decision.json"));
        let flag = has(format!("{seq:04}.ratified"));
        assert!(decided || !flag, "{seq}: a flag that nobody decided on");
        assert!(flag || !acknowledged, "{seq}: acknowledged and lost");
    }
    fleet.world.ok(["up"]);
    let all = ask(&fleet.world, RATIFY, r#"{"scope": "all"}"#);
    assert_eq!(all["failed"], json!([]), "{all}");
    assert_eq!(fleet.told_once("relay.decided").len(), BRIEFS);
    for seq in 1..=BRIEFS {
        let flag = fleet.inbox("W1").join(format!("{seq:04}.ratified"));
        assert_eq!(fs::metadata(flag).unwrap().len(), 0);
    }
}

#[test]
fn ratify_all_from_a_screen_and_a_command_at_once_counts_each_brief_once() {
    let fleet = Fleet::of(11);
    for ticket in 1..=3 {
        fleet.assign_each(ticket);
    }
    let _daemon = Daemon(&fleet.world);
    fleet.world.ok(["up"]);
    let command = r#"{"command": "/ratify all"}"#;
    let screens = [(); 2].map(|()| request(&fleet.world, DISPATCH, command));
    let command = fleet.start(&["ratify", "all", "--count-status"]);
    let screens = screens.map(|it| answer(it).unwrap()["exit_status"].as_i64().unwrap());
    let counts = screens.iter().sum::<i64>() + i64::from(command.end().code);
    assert_eq!(counts, 33, "{screens:?}");
    assert_eq!(fleet.told_once("relay.decided").len(), 33);
}

#[test]
fn a_full_disk_is_said_and_the_daemon_goes_on() {
    let disk = or_skip!(SmallDisk::mount(600));
    let home = disk.path().join("home");
    let world = crate::world().with("FLAGPOST_HOME", &home);
    let fleet = Fleet::on_disk(world, &home, 1);
    let _daemon = Daemon(&fleet.world);
    fleet.assign_each(1);
    fleet.world.ok(["up"]);
    let socket = home.join("run/daemon.sock");
    let client = Listening::at(&socket);
    let filler = disk.path().join("filler");
    // As much as fits.
    assert!(fs::write(&filler, vec![0; 600 << 10]).is_err());
    let asked = |it: Value| crate::daemon::ask_at(&socket, RATIFY, &it.to_string());
    let refused = asked(json!({"worker": "W1", "seq": 1}));
    assert_eq!(refused["schema"], "flagpost.error/1", "{refused}");
    assert!(refused["hint"].as_str().unwrap().contains("make room"));
    assert!(!fleet.inbox("W1").join("0001.ratified").exists());
    fs::remove_file(filler).unwrap();
    let decided = asked(json!({"worker": "W1", "seq": 1}));
    assert_eq!(decided["schema"], "flagpost.decided/1", "{decided}");
    client.until("relay.decided", 1);
}

#[test]
fn producers_beside_the_daemon_are_given_a_number_once() {
    let fleet = Fleet::of(1);
    let _daemon = Daemon(&fleet.world);
    fleet.world.ok(["up"]);
    let writers: Vec<Background> = (1..=15)
        .map(|ticket| {
            let text = ticket.to_string();
            fleet.start(&["assign", &text, "W1", "--inline", &text])
        })
        .collect();
    let allocate = "POST /v1/relay/allocate-seq?worker=W1&direction=inbox";
    let given: BTreeSet<u64> = (0..15)
        .map(|_| ask(&fleet.world, allocate, "")["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(given.len(), 15);
    for writer in writers {
        let ended = writer.end();
        assert_eq!(ended.code, 0, "{ended}");
    }
    let ours = fleet.told_once("relay.brief_proposed");
    assert_eq!(ours.len(), 15);
    assert!(ours.iter().all(|(_, seq)| !given.contains(seq)));
}

#[test]
fn exhausted_inotify_is_made_up_for_by_looking_each_second() {
    let fleet = Fleet::of(1);
    let script = format!(
        "echo 0 >/proc/sys/user/max_inotify_instances || exit 99
         exec '{}' up --foreground",
        env!("CARGO_BIN_EXE_flagpost")
    );
    let mut command = fleet.world.command_of("unshare");
    command.args(["-Ur", "sh", "-c", &script]);
    let mut daemon = Background::start(&mut command);
    until("it is up", || {
        pid(&fleet.world).is_some() || !daemon.is_running()
    });
    if !daemon.is_running() {
        let ended = daemon.end();
        println!("skipped: no user namespace can be had here: {ended}");
        return;
    }
    let _daemon = Daemon(&fleet.world);
    let (_, status) = fleet.world.json(["status"]);
    assert_eq!(status["daemon"]["watching"], "polling", "{status}");
    let client = Listening::to(&fleet.world);
    fleet.assign_each(1);
    client.until("controller.brief_proposed", 1);
    fleet.world.ok(["ratify", "all"]);
    client.until("relay.decided", 1);
}

#[test]
fn the_daemon_after_a_crash_goes_on_where_the_last_one_was() {
    let fleet = Fleet::of(2);
    fleet.accept_foreign_flags();
    let _daemon = Daemon(&fleet.world);
    fleet.world.ok(["up"]);
    let client = Listening::to(&fleet.world);
    fleet.assign_each(1);
    client.until("controller.brief_proposed", 2);
    kill_daemon(&fleet.world);
    // Meanwhile somebody lets a brief through by hand, and somebody else goes on writing.
    fs::write(fleet.inbox("W1").join("0001.ratified"), "").unwrap();
    fleet.assign_each(2);
    fleet.world.ok(["up"]);
    let decided = client.until("relay.decided", 1);
    assert_eq!(decided, BTreeSet::from([("W1".to_owned(), 1)]));
    client.until("controller.brief_proposed", 4);
    assert_eq!(client.states(), 1, "it went on where it was");
    let allocate = "POST /v1/relay/allocate-seq?worker=W1&direction=inbox";
    assert_eq!(ask(&fleet.world, allocate, "")["seq"], 3);
    let (_, offered) = fleet.world.json(["worker", "next", "--as", "W1"]);
    assert_eq!(offered["brief"]["seq"], 1, "{offered}");
}

#[test]
fn half_a_brief_and_a_second_producer_are_lines_of_the_log() {
    let fleet = Fleet::of(1);
    let _daemon = Daemon(&fleet.world);
    fleet.world.ok(["up"]);
    let inbox = fleet.inbox("W1");
    let orphan = inbox.join("0007.brief");
    fs::write(&orphan, "half").unwrap();
    let file = fs::File::options().write(true).open(&orphan).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    let logged = |what: &str| {
        let log = fleet.world.ok(["daemon", "logs"]);
        log.lines()
            .any(|line| line.contains("WARN") && line.contains(what))
    };
    until("the orphan is in the log", || logged("0007.brief"));
    assert!(logged("it has no sidecar"));
    until("it is moved aside", || !orphan.exists());
}

#[test]
fn a_rename_over_a_number_is_logged_as_a_contract_violation_with_worker_and_file() {
    let fleet = Fleet::of(1);
    let _daemon = Daemon(&fleet.world);
    fleet.assign_each(1);
    fleet.world.ok(["worker", "report", "Done", "--as", "W1"]);
    fleet.world.ok(["up"]);
    let (inbox, outbox) = (fleet.inbox("W1"), fleet.of_worker("W1").join("outbox"));
    let renamed = |text: &str, to: &Path| {
        let passing = to.with_file_name(".passing");
        fs::write(&passing, text).unwrap();
        fs::rename(passing, to).unwrap();
    };
    // Once this report is told, the daemon knows how all lay there before.
    let report = fs::read_to_string(outbox.join("0001.json")).unwrap();
    let second = report.replacen("\"seq\": 1", "\"seq\": 2", 1);
    renamed(&second, &outbox.join("0002.json"));
    until("the daemon has looked", || {
        fleet.told("worker.paste_back").len() == 2
    });
    for (to, why) in [
        (
            inbox.join("0001.brief"),
            "it was changed after it was proposed",
        ),
        (
            outbox.join("0001.json"),
            "another file was renamed over this report",
        ),
    ] {
        renamed(&report.replace("Done", "Theirs"), &to);
        let file = to.file_name().unwrap().to_str().unwrap();
        until("it is in the log", || {
            let log = fleet.world.ok(["daemon", "logs"]);
            log.lines().any(|line| {
                ["WARN", "contract violation: ", why, "W1", file]
                    .iter()
                    .all(|it| line.contains(it))
            })
        });
    }
    assert_eq!(
        fleet.told_once("relay.contract_violation"),
        BTreeSet::from([("W1".to_owned(), 1)])
    );
}
