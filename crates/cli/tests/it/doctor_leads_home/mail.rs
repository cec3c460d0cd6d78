//! Faults of a worker's mail, of each of which a list or the home has one of the same code.

use super::*;
use crate::foreign_mail::flood;

pub(super) const FAULTS: &[Fault] = &[
    ("an inbox's lock is a directory", 1, LockUnusable, |world| {
        blocked(inbox(world).join(".lock"))
    }),
    ("an outbox's lock is a link", 1, LockUnusable, |world| {
        let lock = inbox(world).with_file_name("outbox").join(".lock");
        drop(fs::remove_file(&lock));
        symlink("/nonexistent/x", &lock).unwrap();
        by_hand(move |_| fs::remove_file(lock).unwrap())
    }),
    ("an inbox's flag is a directory", 1, MailBroken, |world| {
        blocked(inbox(world).join(".0001.offered"))
    }),
    ("a counter is a directory", 1, CounterUnreadable, |world| {
        let unblock = blocked(inbox(world).join(".seq"));
        by_hand(move |world| {
            unblock(world);
            mends(world);
        })
    }),
    ("a counter is a word", 1, CounterUnreadable, |world| {
        counted(world, Some("garbage"))
    }),
    ("a counter is below nought", 1, CounterUnreadable, |world| {
        counted(world, Some("-1"))
    }),
    ("a counter is empty", 1, CounterUnreadable, |world| {
        counted(world, Some(""))
    }),
    ("a counter is at the end", 1, CounterExhausted, |world| {
        counted(world, Some("18446744073709551615"))
    }),
    ("a counter is near the end", 1, CounterExhausted, |world| {
        counted(world, Some("9007199254740992"))
    }),
    ("a counter is behind", 0, CounterBehind, |world| {
        counted(world, Some("1"))
    }),
    ("a counter begins anew", 0, CounterBehind, |world| {
        counted(world, Some("0"))
    }),
    ("an inbox has no counter", 0, CounterBehind, |world| {
        counted(world, None)
    }),
    ("more briefs than are read", 0, MailMany, |world| {
        let inbox = repository(world).join("workers/W1/inbox");
        let flood = flood(&inbox, 1_001);
        by_hand(move |_| {
            for file in flood {
                fs::remove_file(file).unwrap();
            }
        })
    }),
    (
        "a policy that nobody accepted",
        0,
        PolicyWithheld,
        |world| {
            put(
                &world.home().join("policy.toml"),
                "foreign_flags = \"accept\"",
            );
            by_hand(|world| drop(world.ok(["policy", "accept", "--yes"])))
        },
    ),
    ("an earlier policy", 0, PolicyWithheld, |world| {
        let note = repository(world).join(".policy-accepted");
        let accept = |world: &World, text: &str| {
            put(&world.home().join("policy.toml"), text);
            world.ok(["policy", "accept", "--yes"]);
            fs::read(&note).unwrap()
        };
        let policy = "[[rule]]\nthen = \"ratify\"\n";
        let earlier = accept(world, policy);
        accept(world, "foreign_flags = \"accept\"");
        put(&world.home().join("policy.toml"), policy);
        put(&note, earlier);
        by_hand(|world| {
            fs::remove_file(world.home().join("policy.toml")).unwrap();
            world.ok(["policy", "accept", "--yes"]);
        })
    }),
    ("a policy has an unknown word", 1, PolicyBroken, |world| {
        let policy = repository(world).join("policy.toml");
        put(&policy, "foreign_flags = \"acept\"");
        by_hand(move |_| put(&policy, ""))
    }),
];

/// Two briefs of W2, the first of which was let through and offered; a third one waits.
fn inbox(world: &World) -> PathBuf {
    for text in ["two", "three"] {
        world.ok(["assign", "9", "W2", "--inline", text]);
    }
    world.ok(["ratify", "W2", "1"]);
    world.ok(["worker", "next", "--as", "W2"]);
    // The last change of a history may be one that never appeared.
    world.ok(["add", "after it"]);
    repository(world).join("workers/W2/inbox")
}

/// A directory where a file is expected, until somebody moves it away.
fn blocked(path: PathBuf) -> ByHand {
    drop(fs::remove_file(&path));
    fs::create_dir(&path).unwrap();
    mode(&path, 0o700);
    by_hand(move |_| fs::remove_dir(path).unwrap())
}

/// What is written in the place of the inbox's counter; nothing takes it away.
fn counted(world: &mut World, text: Option<&str>) -> ByHand {
    let counter = inbox(world).join(".seq");
    fs::remove_file(&counter).unwrap();
    if let Some(text) = text {
        put(&counter, text);
    }
    fixed()
}

#[test]
fn from_each_fault_of_mail_to_a_home_that_works() {
    lead_home(FAULTS);
}
