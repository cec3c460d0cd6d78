//! What `doctor` finds in the mail, and that one file costs its neighbours nothing.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, chown, symlink},
    path::Path,
};

use flagpost_testkit::sealed::Ran;
use serde_json::Value;

use crate::{fleet::Fleet, is_root};

/// The codes that are found, and where.
fn found(fleet: &Fleet) -> Vec<(String, String)> {
    let (_, told) = fleet.world.json(["doctor"]);
    let findings = told["findings"].as_array().unwrap().iter();
    let ours = findings.filter(|it| {
        let code = it["code"].as_str().unwrap();
        code.starts_with("worker") || code.starts_with("mail")
    });
    let name = |path: &Value| {
        let path = Path::new(path.as_str().unwrap());
        path.file_name().unwrap().to_string_lossy().into_owned()
    };
    ours.map(|it| (it["code"].as_str().unwrap().to_owned(), name(&it["path"])))
        .collect()
}

fn pair(code: &str, name: &str) -> (String, String) {
    (code.to_owned(), name.to_owned())
}

#[test]
fn a_broken_or_linked_worker_and_a_broken_message_are_found() {
    let fleet = Fleet::of(3);
    fleet.assign_each(1);
    assert_eq!(found(&fleet), []);
    let worker = |id: &str| fleet.of_worker(id).join("worker.json");
    fs::write(worker("W1"), "{").unwrap();
    let elsewhere = fleet.world.outside().join("elsewhere.json");
    fs::rename(worker("W2"), &elsewhere).unwrap();
    symlink(&elsewhere, worker("W2")).unwrap();
    fs::write(fleet.inbox("W3").join("0001.brief.meta.json"), "[]").unwrap();
    assert_eq!(
        found(&fleet),
        [
            pair("worker-broken", "worker.json"),
            pair("worker-broken", "worker.json"),
            pair("mail-broken", "0001.brief.meta.json"),
        ]
    );
}

/// Gives all of it to nobody.
fn give_away(dir: &Path) {
    chown(dir, Some(65534), Some(65534)).unwrap();
    if dir.is_dir() {
        for entry in fs::read_dir(dir).unwrap() {
            give_away(&entry.unwrap().path());
        }
    }
}

#[test]
fn a_message_of_another_owner_stops_only_itself() {
    if !is_root("acting as somebody else") {
        return;
    }
    let fleet = Fleet::of(1);
    for ticket in 1..=3 {
        fleet.assign_each(ticket);
    }
    let inbox = fleet.inbox("W1");
    fs::write(inbox.join("0001.ratified"), "").unwrap();
    give_away(fleet.world.home().parent().unwrap().parent().unwrap());
    let theirs = inbox.join("0001.brief.meta.json");
    chown(&theirs, Some(0), Some(0)).unwrap();
    fs::set_permissions(&theirs, PermissionsExt::from_mode(0o600)).unwrap();
    let nobody = |args: &[&str]| as_nobody(&fleet, args);
    if nobody(&["--version"]).code != 0 {
        println!("skipped: nobody else can run the binary here");
        return;
    }
    let said = nobody(&["slash", "/ratify all"]);
    assert_eq!(said.code, 2, "{said}");
    let shown = nobody(&["inbox", "--briefs", "--all"]);
    assert!(shown.stderr.contains("Permission denied"), "{shown}");
    let next = nobody(&["worker", "next", "--as", "W1"]);
    assert!(next.stdout.ends_with("Do 2\n"), "{next}");
}

fn as_nobody(fleet: &Fleet, args: &[&str]) -> Ran {
    let mut command = fleet.world.command_of("setpriv");
    command
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(env!("CARGO_BIN_EXE_flagpost"))
        .args(args);
    fleet.world.run(&mut command)
}

#[test]
fn a_closed_directory_of_one_worker_keeps_nobody_from_the_mail_of_the_others() {
    if !is_root("acting as somebody else") {
        return;
    }
    let fleet = Fleet::of(2);
    fleet.assign_each(1);
    give_away(fleet.world.home().parent().unwrap().parent().unwrap());
    let closed = fleet.of_worker("W1");
    let close = |mode| fs::set_permissions(&closed, PermissionsExt::from_mode(mode)).unwrap();
    close(0);
    let nobody = |args: &[&str]| as_nobody(&fleet, args);
    if nobody(&["--version"]).code != 0 {
        println!("skipped: nobody else can run the binary here");
        return;
    }
    let named = "workers/W1 a directory that you can open";
    for verb in ["inbox", "status", "outbox"] {
        let shown = nobody(&[verb]);
        assert_eq!(shown.code, 0, "{shown}");
        assert!(shown.stderr.contains(named), "{shown}");
    }
    let said = nobody(&["ratify", "all"]);
    assert!(said.stdout.contains("\u{2192} W2"), "{said}");
    assert!(said.stderr.contains("NOT RATIFIED W1"), "{said}");
    let found = nobody(&["doctor"]);
    assert!(!found.stdout.contains("check-failed"), "{found}");
    assert!(found.stdout.contains(named), "{found}");
    assert!(found.stdout.contains("chmod u+rwx"), "{found}");
    close(0o700);
    let next = nobody(&["worker", "next", "--as", "W2"]);
    assert!(next.stdout.contains("Do 1"), "{next}");
}
