//! Faults of a worker's mail, of each of which a list or the home has one of the same code.

use super::*;

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

const FAULTS: &[(Code, Make)] = &[
    (Code::LockUnusable, |world| {
        blocked(inbox(world).join(".lock"))
    }),
    (Code::LockUnusable, |world| {
        let lock = inbox(world).with_file_name("outbox").join(".lock");
        drop(fs::remove_file(&lock));
        symlink("/nonexistent/x", &lock).unwrap();
        by_hand(move |_| fs::remove_file(lock).unwrap())
    }),
    (Code::MailBroken, |world| {
        blocked(inbox(world).join(".0001.offered"))
    }),
    (Code::CounterUnreadable, |world| {
        blocked(inbox(world).join(".seq"))
    }),
    (Code::CounterUnreadable, |world| {
        counted(world, Some("garbage"))
    }),
    (Code::CounterUnreadable, |world| counted(world, Some("-1"))),
    (Code::CounterUnreadable, |world| counted(world, Some(""))),
    (Code::CounterExhausted, |world| {
        counted(world, Some("18446744073709551615"))
    }),
    (Code::CounterExhausted, |world| {
        counted(world, Some("9007199254740992"))
    }),
    (Code::CounterBehind, |world| counted(world, Some("1"))),
    (Code::CounterBehind, |world| counted(world, Some("0"))),
    (Code::CounterBehind, |world| counted(world, None)),
    (Code::PolicyBroken, |world| {
        put(
            &repository(world).join("policy.toml"),
            "foreign_flags = \"acept\"",
        );
        by_hand(|world| put(&repository(world).join("policy.toml"), ""))
    }),
];

/// How the fault is brought about, where it is one of these.
pub(super) fn of_mail(code: Code) -> Option<Make> {
    let fault = FAULTS.iter().find(|(of, _)| *of == code);
    fault.map(|(_, make)| *make)
}

#[test]
fn from_each_fault_of_mail_to_a_home_that_works() {
    for (code, make) in FAULTS {
        leads_home(*code, *make);
    }
}
