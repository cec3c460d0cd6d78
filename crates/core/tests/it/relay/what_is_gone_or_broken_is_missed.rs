//! A brief that was proposed and cannot be read any more is a finding, which one verb settles.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use flagpost_core::{
    Error, doctor,
    relay::{
        Mail, brief_snapshots, briefs, broken,
        decide::{self, DecisionRequest},
        deliver, fleet,
    },
    slash,
};
use flagpost_model::{
    decision::{Decision, DecisionRefusal, Via},
    envelope::Direction::Inbox,
    finding::{Code, Severity},
};

use super::{go_on, mail, one_worker, propose, put, ratify, register, reject, rewrite, seq, times};
use crate::world::{World, worker};

/// What a hand does to the first of two briefs.
type Hand = fn(&Mail<'_>, &Path);

#[test]
fn whatever_is_done_to_a_proposed_brief_is_told_and_settled_by_its_rejection() {
    let hands: [(&str, Hand); 8] = [
        ("body gone", |_, inbox| {
            fs::remove_file(inbox.join("0001.brief")).unwrap();
        }),
        ("sidecar gone", |_, inbox| {
            fs::remove_file(inbox.join("0001.brief.meta.json")).unwrap();
        }),
        ("both gone", |_, inbox| {
            fs::remove_file(inbox.join("0001.brief")).unwrap();
            fs::remove_file(inbox.join("0001.brief.meta.json")).unwrap();
        }),
        ("symlink", |_, inbox| {
            fs::remove_file(inbox.join("0001.brief")).unwrap();
            symlink("/etc/hostname", inbox.join("0001.brief")).unwrap();
        }),
        ("too large", |_, inbox| {
            let file = fs::File::create(inbox.join("0001.brief")).unwrap();
            file.set_len(17 << 20).unwrap();
        }),
        ("no text", |mail, _| {
            put(mail, Inbox, "0001.brief", b"\xff");
        }),
        ("version", |mail, _| rewrite(mail, 1, "version", 1.5.into())),
        ("number", |mail, _| rewrite(mail, 1, "seq", 2.into())),
    ];
    for (what, hand) in hands {
        for is_decided in [false, true] {
            let world = one_worker(&["Good"]);
            let w1 = mail(&world, "W1");
            if is_decided {
                ratify(&w1, 1);
            }
            hand(&w1, &w1.dir(Inbox));
            for _ in 0..2 {
                let w1 = mail(&world, "W1");
                let (_, unread) = fleet::pending(&world.fleet()).unwrap();
                assert_eq!(unread.len(), 1, "{what}: {unread:?}");
                let verb = broken::put_away_by(&unread[0]);
                assert_eq!(verb.as_deref(), Some("flagpost reject W1 1"), "{what}");
                assert!(deliver::next(&w1, &worker("W1")).unwrap().is_none());
                // Somebody else writes.
                propose(&w1, "another");
            }
            assert_eq!(times(&world, "history.void 1"), 0, "{what}");
            for _ in 0..2 {
                reject(&w1, 1);
                let (_, unread) = briefs::list(&mail(&world, "W1")).unwrap();
                assert!(unread.is_empty(), "{what}: {unread:?}");
            }
            assert!(deliver::next(&w1, &worker("W1")).unwrap().is_none());
        }
    }
}

#[test]
fn what_was_read_and_archived_or_never_came_is_not_missed() {
    let world = one_worker(&["Good"]);
    let w1 = mail(&world, "W1");
    ratify(&w1, 1);
    deliver::ack(&w1, &worker("W1"), seq(1)).unwrap();
    for name in ["0001.brief", "0001.brief.meta.json"] {
        fs::remove_file(w1.dir(Inbox).join(name)).unwrap();
    }
    assert!(briefs::list(&w1).unwrap().1.is_empty());
    let nobody = DecisionRequest::new(Decision::Rejected, Via::Cli);
    let refused = decide::decide(&w1, &worker("ann"), Some(seq(9)), &nobody);
    assert!(refused.is_err(), "there was never such a brief");
}

/// The names of what is skipped in the inbox, and the codes that `doctor` finds.
fn missed(world: &World) -> (Vec<String>, Vec<Code>) {
    let (_, unread) = fleet::pending(&world.fleet()).unwrap();
    let (_, told) = slash::inbox(&world.fleet(), None).unwrap();
    assert_eq!(unread.len(), told.len(), "{unread:?} {told:?}");
    let findings = doctor::examine(&world.home, &world.repository.top);
    let codes = findings.iter().map(|it| it.code);
    let codes = codes.filter(|it| it.severity() == Severity::Error);
    let names = unread.into_iter().map(|it| it.name);
    (names.collect(), codes.collect())
}

/// What takes a worker of a world away.
type Loss = fn(&World);

/// Two briefs of a worker, the first of which is ratified.
fn two_briefs() -> World {
    let world = World::real();
    register(&world, &["W1", "W2"]);
    let w1 = mail(&world, "W1");
    propose(&w1, "one");
    propose(&w1, "two");
    ratify(&w1, 1);
    // The last change of a history may be one that never appeared.
    propose(&mail(&world, "W2"), "else");
    world
}

#[test]
fn briefs_whose_worker_is_gone_are_missed() {
    let hands: [(&str, Loss); 3] = [
        ("its file", |world| {
            fs::remove_file(world.fleet().dir().join("W1/worker.json")).unwrap();
        }),
        ("its directory", |world| {
            fs::remove_dir_all(world.fleet().dir().join("W1")).unwrap();
        }),
        ("its directory is a file", |world| {
            fs::remove_dir_all(world.fleet().dir().join("W1")).unwrap();
            fs::write(world.fleet().dir().join("W1"), "").unwrap();
        }),
    ];
    for (what, hand) in hands {
        let world = two_briefs();
        assert_eq!(missed(&world), (vec![], vec![]));
        hand(&world);
        let (names, codes) = missed(&world);
        assert_eq!(names, ["W1/worker.json"], "{what}");
        assert_eq!(codes, [Code::WorkerMissing], "{what}");
    }
    let world = two_briefs();
    fs::remove_dir_all(world.fleet().dir()).unwrap();
    let (names, codes) = missed(&world);
    assert_eq!(names, ["W1/worker.json"], "W2's may never have appeared");
    assert_eq!(codes, [Code::WorkerMissing]);
    register(&world, &["W1"]);
    let (names, codes) = missed(&world);
    assert_eq!(names, ["W1/inbox/0001.brief", "W1/inbox/0002.brief"]);
    assert_eq!(codes, [Code::MailBroken, Code::MailBroken]);
}

/// Moves all of an inbox into the archive by hand, and says where to.
fn archive(mail: &Mail<'_>) -> PathBuf {
    let inbox = mail.dir(Inbox);
    let month = inbox.with_file_name("archive").join("2026-11/inbox");
    fs::create_dir_all(&month).unwrap();
    for entry in fs::read_dir(&inbox).unwrap() {
        let name = entry.unwrap().file_name();
        if name.to_str().unwrap().contains("000") {
            fs::rename(inbox.join(&name), month.join(&name)).unwrap();
        }
    }
    month
}

#[test]
fn what_is_over_and_in_the_archive_is_shown_as_changed_and_decided_on_by_nobody() {
    let world = one_worker(&["Good"]);
    let w1 = mail(&world, "W1");
    ratify(&w1, 1);
    deliver::ack(&w1, &worker("W1"), seq(1)).unwrap();
    let month = archive(&w1);
    fs::write(month.join("0001.brief"), "Evil").unwrap();
    // What is on record of it lies far back.
    go_on(&world, 2_000);
    let w1 = mail(&world, "W1");
    for decision in [Decision::Ratified, Decision::Rejected] {
        let wish = DecisionRequest::new(decision, Via::Cli);
        let refused = decide::decide(&w1, &worker("ann"), Some(seq(1)), &wish).unwrap_err();
        let is_over = matches!(refused, Error::Gate(DecisionRefusal::Archived { .. }));
        assert!(is_over, "{decision}: {refused}");
    }
    let (letter, before) = brief_snapshots::show(&w1, seq(1)).unwrap();
    assert_eq!(
        (letter.resolving_command(), letter.is_rewritten()),
        (None, true)
    );
    assert_eq!(before.unwrap().body, "Good");
}

#[test]
fn briefs_that_lie_in_the_archive_and_nobody_read_are_missed() {
    let world = two_briefs();
    let month = archive(&mail(&world, "W1"));
    let (names, codes) = missed(&world);
    assert_eq!(names, ["W1/inbox/0001.brief", "W1/inbox/0002.brief"]);
    assert_eq!(codes, [Code::MailBroken, Code::MailBroken]);
    // One that was let through may have been read by who leaves nothing but a mark.
    for name in ["0001.read", "0002.read"] {
        fs::write(month.join(name), "").unwrap();
    }
    assert_eq!(missed(&world).0, ["W1/inbox/0002.brief"]);
}

#[test]
fn an_unreadable_history_is_the_only_finding_about_itself() {
    let world = two_briefs();
    let dir = world.home.repository_dir(&world.repository.id);
    fs::rename(dir.join("history.jsonl"), dir.join("kept")).unwrap();
    symlink("kept", dir.join("history.jsonl")).unwrap();
    let findings = doctor::examine(&world.home, &world.repository.top);
    let codes: Vec<Code> = findings.iter().map(|it| it.code).collect();
    assert_eq!(codes, [Code::HistoryUnreadable], "{findings:?}");
}

#[test]
fn a_brief_that_a_hand_put_there_takes_no_number_from_the_counter() {
    for decision in [Decision::Ratified, Decision::Rejected] {
        let world = two_briefs();
        let w1 = mail(&world, "W1");
        for name in ["brief", "brief.meta.json"] {
            let text = fs::read_to_string(w1.dir(Inbox).join(format!("0002.{name}"))).unwrap();
            let text = text.replace("\"seq\": 2", "\"seq\": 7");
            put(&w1, Inbox, &format!("0007.{name}"), text);
        }
        let wish = DecisionRequest::new(decision, Via::Cli);
        decide::decide(&w1, &worker("ann"), Some(seq(7)), &wish).unwrap();
        let findings = doctor::examine(&world.home, &world.repository.top);
        let behind = findings.iter().find(|it| it.code == Code::CounterBehind);
        assert!(behind.is_none(), "{behind:?}");
        assert_eq!(propose(&w1, "next").brief.seq, seq(8));
    }
}
