//! A brief that was proposed and cannot be read any more is a finding, which one verb settles.

use std::{fs, os::unix::fs::symlink, path::Path};

use flagpost_core::relay::{
    Mail, briefs, broken,
    decide::{self, DecisionRequest},
    deliver, fleet,
};
use flagpost_model::{
    decision::{Decision, Via},
    envelope::Direction::Inbox,
};

use super::{mail, propose, put, ratify, register, rewrite, seq, times};
use crate::world::{World, worker};

/// What a hand does to the first of two briefs.
type Hand = fn(&Mail<'_>, &Path);

fn reject(mail: &Mail<'_>) {
    let wish = DecisionRequest::new(Decision::Rejected, Via::Cli);
    decide::decide(mail, &worker("ann"), Some(seq(1)), &wish).unwrap();
}

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
            let world = World::real();
            register(&world, &["W1"]);
            let w1 = mail(&world, "W1");
            propose(&w1, "Good");
            if is_decided {
                ratify(&w1, 1);
            }
            hand(&w1, &w1.dir(Inbox));
            for _ in 0..2 {
                let w1 = mail(&world, "W1");
                let (_, unread) = fleet::pending(&world.fleet()).unwrap();
                assert_eq!(unread.len(), 1, "{what}: {unread:?}");
                let verb = broken::put_away_by(&unread[0]);
                assert_eq!(
                    verb.as_deref(),
                    Some("flagpost relay reject W1 1"),
                    "{what}"
                );
                assert!(deliver::next(&w1, &worker("W1")).unwrap().is_none());
                // Somebody else writes.
                propose(&w1, "another");
            }
            assert_eq!(times(&world, "history.void 1"), 0, "{what}");
            for _ in 0..2 {
                reject(&w1);
                let (_, unread) = briefs::list(&mail(&world, "W1")).unwrap();
                assert!(unread.is_empty(), "{what}: {unread:?}");
            }
            assert!(deliver::next(&w1, &worker("W1")).unwrap().is_none());
        }
    }
}

#[test]
fn what_was_read_and_archived_or_never_came_is_not_missed() {
    let world = World::real();
    register(&world, &["W1"]);
    let w1 = mail(&world, "W1");
    propose(&w1, "Good");
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
