//! Faults of the history: lines that are lost, torn, altered or untrue. Nothing of it is ever rewritten.

use super::*;

pub(super) const FAULTS: &[Fault] = &[
    ("the history is a link", 1, HistoryUnreadable, |world| {
        let (path, kept) = (history(world), repository(world).join("kept"));
        fs::rename(&path, &kept).unwrap();
        symlink("kept", &path).unwrap();
        by_hand(move |_| fs::rename(kept, path).unwrap())
    }),
    ("a line that is none", 0, HistoryDamaged, |world| {
        let text = fs::read_to_string(history(world)).unwrap();
        put(&history(world), text + "garbage\n");
        fixed()
    }),
    ("garbage at the end is kept", 0, HistoryDamaged, |world| {
        kept(world, |text| text + "garbage\n")
    }),
    ("a torn end is kept", 0, HistoryDamaged, |world| {
        kept(world, |text| text + "{\"n\":4,\"at\":\"2026-05-1")
    }),
    ("an end of zeros", 1, HistoryUnreadable, |world| {
        let text = fs::read(history(world)).unwrap();
        put(&history(world), [&text[..], &[0; 2 << 20]].concat());
        let told = world.flagpost(["history"]);
        let words = format!("is damaged from byte {} on", text.len());
        assert!(told.stderr.contains(&words), "{told}");
        by_hand(move |world| {
            let now = fs::read(history(world)).unwrap();
            assert!(now.starts_with(&text) && !now.contains(&0));
        })
    }),
    (
        "a long end that is no line",
        1,
        HistoryUnreadable,
        |world| {
            let (path, rest) = (history(world), b"half a line\x1b".repeat(100_000));
            let text = fs::read(&path).unwrap();
            put(&path, [&text, &rest[..]].concat());
            by_hand(move |_| {
                let kept = fs::read_dir(path.with_file_name("quarantine")).unwrap();
                let mut kept = kept.map(|it| fs::read(it.unwrap().path()).unwrap());
                assert!(kept.any(|it| it == rest), "it is kept");
            })
        },
    ),
    ("a number given twice is kept", 0, HistoryDamaged, |world| {
        kept(world, |text| {
            let line = json!({"n": 1, "at": "2026-05-13T14:25:00Z", "repo": "x", "kind": "y"});
            chained(&text, line)
        })
    }),
    ("an altered line", 0, HistoryAltered, |world| {
        put(&history(world), altered(world));
        fixed()
    }),
    ("altered lines are kept", 0, HistoryAltered, |world| {
        let text = altered(world);
        put(&history(world), &text);
        let told = world.ok(["doctor"]);
        assert!(told.contains("line 3 without the hash"), "{told}");
        by_hand(move |world| {
            let now = fs::read_to_string(history(world)).unwrap();
            assert!(now.starts_with(&text), "{now}");
            let line = world.ok(["history", "--kind", "history", "--json"]);
            assert!(line.contains("\"unchained\":1"), "{line}");
        })
    }),
    (
        "altered lines that a repair went on after",
        0,
        HistoryAcknowledged,
        |world| {
            put(&history(world), altered(world));
            // Whoever's name they take, the hand is told.
            world.ok(["doctor", "--fix", "--yes", "--as", "W1"]);
            let told = world.ok(["doctor"]);
            assert!(told.contains("which ann acknowledged"), "{told}");
            fixed()
        },
    ),
    (
        "other lines, altered after a repair went on",
        0,
        HistoryAltered,
        |world| {
            let text = fs::read_to_string(history(world)).unwrap();
            put(&history(world), altered(world));
            world.ok(["doctor", "--fix", "--yes"]);
            let now = fs::read_to_string(history(world)).unwrap();
            let resumed = now.lines().last().unwrap();
            // As many lines as were seen then, and others.
            let other = text.replacen("worker.registered", "worker.retired", 1);
            put(&history(world), format!("{other}{resumed}\n"));
            fixed()
        },
    ),
    ("a history that lost its end", 1, HistoryBehind, |world| {
        world.ok(["claim", "1", "--as", "W1"]);
        let text = fs::read_to_string(history(world)).unwrap();
        let first = text.lines().next().unwrap();
        put(&history(world), format!("{first}\n"));
        fixed()
    }),
    ("a history is gone", 1, HistoryBehind, |world| {
        let last = token(world, "1");
        fs::remove_file(history(world)).unwrap();
        by_hand(move |world| assert!(token(world, "2") > last))
    }),
    ("something moved a target", 0, TargetMoved, |world| {
        let text = fs::read_to_string(history(world)).unwrap();
        let mut line = first(&text, "worker.registered");
        line["n"] = json!(text.lines().count() + 1);
        line["kind"] = json!("land.target_moved");
        line["detail"] = json!({"onto": "main", "from": "a", "to": "b"});
        put(&history(world), chained(&text, line));
        fixed()
    }),
    ("a number at the end of all", 1, HistoryJumped, |world| {
        let text = fs::read_to_string(history(world)).unwrap();
        let mut line = first(&text, "worker.registered");
        line["n"] = json!(9_007_199_254_740_992_u64);
        put(&history(world), chained(&text, line));
        fixed()
    }),
    ("a change that never was", 0, HistoryUnsettled, |world| {
        let text = fs::read_to_string(history(world)).unwrap();
        let mut line = first(&text, "task.created");
        line["n"] = json!(text.lines().count() + 1);
        line["detail"]["rev"] = json!(2);
        put(&history(world), chained(&text, line));
        by_hand(|world| {
            let now = fs::read_to_string(history(world)).unwrap();
            assert!(now.contains("history.void"), "{now}");
        })
    }),
];

/// Puts this in the place of the history, all of which is still there when it is mended.
fn kept(world: &World, damage: fn(String) -> String) -> ByHand {
    let damaged = damage(fs::read_to_string(history(world)).unwrap());
    put(&history(world), &damaged);
    by_hand(move |world| {
        let now = fs::read_to_string(history(world)).unwrap();
        assert!(now.starts_with(&damaged), "something is rewritten: {now}");
    })
}

/// The history with another word in its second line.
fn altered(world: &World) -> String {
    let text = fs::read_to_string(history(world)).unwrap();
    text.replacen("task.created", "task.noted", 1)
}

/// The first line of this kind.
fn first(text: &str, kind: &str) -> Value {
    let line = text.lines().find(|it| it.contains(kind)).unwrap();
    serde_json::from_str(line).unwrap()
}

/// The token of a claim that is made now.
fn token(world: &World, task: &str) -> u64 {
    let (_, claimed) = world.json(["claim", task, "--as", "W1"]);
    claimed["claim"]["token"].as_u64().unwrap()
}

#[test]
fn from_each_fault_of_a_history_to_a_home_that_works() {
    lead_home(FAULTS);
}
