//! Each line of a history carries a short hash of the line before it, and `doctor` says from which
//! line on that does not hold.

use std::{fs, path::Path};

use flagpost_core::{
    doctor::{self, Fix, Repair, RepairOutcome},
    history::{Entry, History, Kind},
    relay::workers,
    tasks,
};
use flagpost_model::{RepoId, envelope::Hash, finding::Code};
use serde_json::Value;

use crate::world::{World, add, ids, worker};

/// What `flagpost` wrote when its lines carried nothing.
const BEFORE: &str = include_str!("fixtures/history-before-the-chain.jsonl");

/// What somebody does to the lines.
type Hand = fn(&mut Vec<String>);

fn text(world: &World) -> String {
    String::from_utf8_lossy(&fs::read(world.history_path()).unwrap()).into_owned()
}

fn lines(world: &World) -> Vec<String> {
    text(world).lines().map(str::to_owned).collect()
}

fn write(world: &World, lines: &[String]) {
    fs::write(world.history_path(), lines.join("\n") + "\n").unwrap();
}

fn prev(line: &str) -> Option<String> {
    let line: Value = serde_json::from_str(line).unwrap();
    Some(line.get("prev")?.as_str()?.to_owned())
}

fn hash(line: &str) -> Option<String> {
    Some(Hash::of(line.as_bytes()).as_str()[..16].to_owned())
}

/// What is found about the history, and each time the line from which on.
/// What is to be done about it: what is acknowledged stays as a note.
fn found(world: &World) -> Vec<(Code, String)> {
    let mut found = told(world);
    found.retain(|(code, _)| *code != Code::HistoryAcknowledged);
    found
}

fn told(world: &World) -> Vec<(Code, String)> {
    let findings = doctor::examine(&world.home, world.place());
    let of_history = findings
        .into_iter()
        .filter(|it| it.path.as_deref() == Some(&*world.history_path()));
    of_history.map(|it| (it.code, it.what)).collect()
}

fn altered(world: &World, line: usize) {
    match &found(world)[..] {
        [(Code::HistoryAltered, what)] => {
            assert!(what.contains(&format!("line {line} ")), "{what}");
        }
        other => panic!("{other:?}"),
    }
}

fn mend(world: &World) {
    let findings = doctor::examine(&world.home, Path::new("/"));
    let fixes = findings.into_iter().filter_map(|it| match it.repair {
        Repair::Fix(fix @ Fix::Resume(_)) => Some(fix),
        _ => None,
    });
    for mended in doctor::mend(&world.home, &worker("ann"), fixes.collect()) {
        assert!(matches!(mended.outcome, RepairOutcome::Done), "{mended:?}");
    }
}

/// A world with some tasks and one change of several lines.
fn busy() -> World {
    let world = World::with_tasks(&["One", "Two"]);
    let list = world.list();
    tasks::note(&list, &worker("W1"), &ids(&[1, 2]), "mind the ends").unwrap();
    add(&list, "Three", &[]);
    world
}

#[test]
fn each_line_carries_the_hash_of_the_line_before() {
    let world = busy();
    let lines = lines(&world);
    assert_eq!(lines.len(), 6);
    assert_eq!(prev(&lines[0]), None, "nothing stands before it");
    for pair in lines.windows(2) {
        assert_eq!(prev(&pair[1]), hash(&pair[0]), "{}", pair[1]);
    }
    assert_eq!(found(&world), []);
}

#[test]
fn a_line_that_was_changed_taken_out_put_in_or_moved_is_told_of() {
    let hands: [(&str, usize, Hand); 5] = [
        ("changed", 3, |lines| {
            lines[1] = lines[1].replace("operator", "somebody")
        }),
        ("taken out", 3, |lines| drop(lines.remove(2))),
        ("its beginning taken out", 1, |lines| drop(lines.remove(0))),
        ("put in", 7, |lines| {
            let line = lines[5].replace("\"n\":6", "\"n\":7");
            let end = line.rfind(",\"prev\"").unwrap();
            lines.push(format!("{}}}", &line[..end]));
        }),
        ("stripped of its hash", 6, |lines| {
            let end = lines[5].rfind(",\"prev\"").unwrap();
            lines[5] = format!("{}}}", &lines[5][..end]);
        }),
    ];
    for (what, line, hand) in hands {
        let world = busy();
        let mut lines = lines(&world);
        hand(&mut lines);
        write(&world, &lines);
        println!("{what}");
        altered(&world, line);
    }
}

#[test]
fn a_repair_is_recorded_and_hides_nothing_that_is_done_later() {
    let world = busy();
    let mut all = lines(&world);
    all[1] = all[1].replace("operator", "somebody");
    write(&world, &all);
    altered(&world, 3);
    mend(&world);
    assert_eq!(found(&world), []);
    let resumed = world.history().pop().unwrap().entry;
    assert_eq!(resumed.kind, Kind::Resumed);
    assert_eq!(resumed.detail["unchained"], 1);
    assert_eq!(
        text(&world).lines().nth(1),
        Some(&*all[1]),
        "it stays as it is"
    );
    add(&world.list(), "Four", &[]);
    assert_eq!(found(&world), []);
    match &told(&world)[..] {
        [(Code::HistoryAcknowledged, what)] => {
            let said =
                "line 3 without the hash of the line before), which ann acknowledged at 2026-";
            assert!(what.contains(said), "{what}");
        }
        other => panic!("{other:?}"),
    }
    // A hand before the repair, after it.
    let mut all = lines(&world);
    all[3] = all[3].replace("mind", "lose");
    write(&world, &all);
    match &found(&world)[..] {
        [(Code::HistoryAltered, what)] => assert!(what.contains("2 lines"), "{what}"),
        other => panic!("{other:?}"),
    }
    mend(&world);
    assert_eq!(found(&world), []);
}

#[test]
fn a_torn_end_is_a_link_too() {
    for torn in ["{\"n\":7,\"at\":\"2026-05", "\0\0\0", "{}"] {
        let world = busy();
        fs::write(world.history_path(), text(&world) + torn).unwrap();
        add(&world.list(), "After the crash", &[]);
        let lines = lines(&world);
        assert_eq!(prev(&lines[7]), hash(torn));
        let codes: Vec<Code> = found(&world).into_iter().map(|it| it.0).collect();
        assert_eq!(codes, [Code::HistoryDamaged], "it cannot be read, as ever");
        mend(&world);
        assert_eq!(found(&world), []);
        // Whoever clears it away breaks the chain.
        let mut lines = lines;
        lines.remove(6);
        write(&world, &lines);
        altered(&world, 7);
    }
}

#[test]
fn a_history_of_before_there_was_a_chain_is_read_and_gone_on_with() {
    let world = World::real();
    let repo = &world.repository.id;
    let theirs: Value = serde_json::from_str(BEFORE.lines().next().unwrap()).unwrap();
    let theirs: RepoId = theirs["repo"].as_str().unwrap().parse().unwrap();
    let old = BEFORE.replace(theirs.as_str(), repo.as_str());
    // The worker that its last line tells of.
    let traits = workers::Traits::default();
    workers::register(&world.fleet(), &worker("ann"), &worker("W3"), traits).unwrap();
    fs::write(world.history_path(), &old).unwrap();
    assert_eq!(found(&world), []);
    assert_eq!(world.history().len(), old.lines().count());
    let history = History::of(&world.home, repo);
    for _ in 0..2 {
        let entry = Entry::new(Kind::SessionStarted);
        history
            .record(&worker("ann"), world.home.now(), vec![entry])
            .unwrap();
    }
    assert_eq!(found(&world), []);
    let mut all = lines(&world);
    let first = old.lines().count();
    assert_eq!(prev(&all[first - 1]), None);
    assert_eq!(prev(&all[first]), hash(&all[first - 1]));
    // The last old line is held by the first new one; those before it by nobody.
    all[first - 1] = all[first - 1].replace("web", "wob");
    write(&world, &all);
    altered(&world, first + 1);
}
