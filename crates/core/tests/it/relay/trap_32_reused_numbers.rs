//! A number is given out once, whatever was archived, restored or removed.

use std::{collections::BTreeSet, thread};

use flagpost_core::relay::{deliver, reports, retention};
use flagpost_model::envelope::Direction;

use super::{go_on, mail, one_worker, propose, put, ratify, register, report, seq, stages};
use crate::world::{World, worker};

const COUNT: u64 = 103;

fn busy(world: &World) {
    register(world, &["W1"]);
    let w1 = mail(world, "W1");
    for number in 1..=COUNT {
        propose(&w1, &format!("brief {number}"));
        report(&w1, &format!("report {number}"));
    }
    for number in [1, 2] {
        ratify(&w1, number);
        deliver::ack(&w1, &worker("W1"), seq(number)).unwrap();
        reports::read(&w1, &worker("ann"), None, seq(number)).unwrap();
    }
}

#[test]
fn trap_32_numbers_go_on_above_what_was_archived() {
    let world = World::real();
    busy(&world);
    let w1 = mail(&world, "W1");
    let would = retention::archive(&w1, &worker("ann"), true).unwrap();
    assert_eq!(would[0].seqs, [seq(1), seq(2)]);
    assert_eq!(stages(&w1).len(), 103, "a dry run moves nothing");
    let archived = retention::archive(&w1, &worker("ann"), false).unwrap();
    assert_eq!(archived.len(), 2);
    assert_eq!(archived[1].seqs, [seq(1), seq(2)]);
    let live = stages(&w1);
    assert_eq!(
        live.first().unwrap().0,
        3,
        "undecided ones stay, old as they are"
    );
    let month = flagpost_disk::dialects::relay::month(world.home.now());
    let dir = w1
        .dir(Direction::Inbox)
        .with_file_name("archive")
        .join(month)
        .join("inbox");
    let mut names: Vec<String> = std::fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let parts = [
        ".{}.decision.json",
        ".{}.words.json",
        "{}.brief",
        "{}.brief.meta.json",
        "{}.ratified",
        "{}.read",
    ];
    let expected: BTreeSet<String> = ["0001", "0002"]
        .iter()
        .flat_map(|number| parts.iter().map(move |part| part.replace("{}", number)))
        .collect();
    assert_eq!(names, expected.into_iter().collect::<Vec<_>>());
    assert!(
        retention::archive(&w1, &worker("ann"), false)
            .unwrap()
            .is_empty()
    );

    // Nothing live, no counter: the archive knows, and the history of an inbox.
    for (direction, next) in [(Direction::Inbox, COUNT + 1), (Direction::Outbox, 3)] {
        let dir = w1.dir(direction);
        for entry in std::fs::read_dir(&dir).unwrap() {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
        assert_eq!(
            world.fleet().allocate(&worker("W1"), direction).unwrap(),
            seq(next)
        );
    }
}

/// An inbox with its counter as it was before the archive.
#[test]
fn an_inbox_that_was_restored_is_not_believed_against_the_archive() {
    for note in [None, Some("9\n"), Some("torn")] {
        let world = one_worker(&["one"]);
        let w1 = mail(&world, "W1");
        let archive = w1.dir(Direction::Inbox).with_file_name("archive");
        let month = archive.join("2026-05/inbox");
        std::fs::create_dir_all(&month).unwrap();
        std::fs::write(month.join("0009.brief"), "nine").unwrap();
        if let Some(note) = note {
            std::fs::write(archive.join(".inbox.seq"), note).unwrap();
        }
        assert_eq!(propose(&w1, "two").brief.seq, seq(10), "{note:?}");
        let noted = std::fs::read_to_string(archive.join(".inbox.seq")).unwrap();
        assert_eq!(noted, "9\n", "{note:?}");
    }
}

/// The archive only grows: what takes a number must not look at all of it.
#[test]
fn a_number_is_given_out_without_a_look_through_the_archive() {
    let world = World::real();
    busy(&world);
    let w1 = mail(&world, "W1");
    retention::archive(&w1, &worker("ann"), false).unwrap();
    let archive = w1.dir(Direction::Inbox).with_file_name("archive");
    let month = flagpost_disk::dialects::relay::month(world.home.now());
    let hidden = archive.join(month).join("inbox");
    // What is no directory cannot be looked through.
    std::fs::rename(&hidden, archive.join("away")).unwrap();
    std::fs::write(&hidden, "").unwrap();
    assert_eq!(propose(&w1, "the next one").brief.seq, seq(COUNT + 1));
}

#[test]
fn a_counter_that_was_put_back_is_not_believed() {
    let world = one_worker(&[]);
    let w1 = mail(&world, "W1");
    for body in ["one", "two"] {
        propose(&w1, body);
    }
    std::fs::write(w1.dir(Direction::Inbox).join(".seq"), "1\n").unwrap();
    assert_eq!(propose(&w1, "three").brief.seq, seq(3));
    std::fs::write(w1.dir(Direction::Inbox).join(".seq"), "9\n").unwrap();
    assert_eq!(propose(&w1, "four").brief.seq, seq(10), "gaps are legal");
}

#[test]
fn numbers_given_to_many_at_once_differ() {
    let world = one_worker(&[]);
    let given: Vec<_> = thread::scope(|scope| {
        let hand = |n: usize| {
            let fleet = world.fleet();
            let w1 = mail(&world, "W1");
            let take = |turn: usize| match turn % 2 {
                0 => fleet.allocate(&worker("W1"), Direction::Inbox).unwrap(),
                _ => propose(&w1, &format!("{n} {turn}")).brief.seq,
            };
            (0..20).map(take).collect::<Vec<_>>()
        };
        let hands: Vec<_> = (0..8).map(|n| scope.spawn(move || hand(n))).collect();
        hands
            .into_iter()
            .flat_map(|hand| hand.join().unwrap())
            .collect()
    });
    let different: BTreeSet<_> = given.iter().collect();
    assert_eq!(different.len(), 160);
}

#[test]
fn a_counter_that_was_put_back_gives_no_number_out_twice() {
    let world = one_worker(&[]);
    let w1 = mail(&world, "W1");
    for body in ["one", "two", "three"] {
        propose(&w1, body);
    }
    for name in ["0003.brief", "0003.brief.meta.json", ".0003.words.json"] {
        std::fs::remove_file(w1.dir(Direction::Inbox).join(name)).unwrap();
    }
    put(&w1, Direction::Inbox, ".seq", "2\n");
    let w1 = mail(&world, "W1");
    assert_eq!(propose(&w1, "four").brief.seq, seq(4));
}

/// The counter as it was after the first brief, and nothing there that was written since.
#[test]
fn a_counter_that_was_put_back_is_not_believed_against_a_long_history() {
    for (lines, by_hand, next) in [(1_600, None, 4), (4_000, Some("0002.brief"), 4)] {
        let world = one_worker(&[]);
        let w1 = mail(&world, "W1");
        for text in ["one", "two", "three"] {
            propose(&w1, text);
        }
        go_on(&world, lines);
        let inbox = w1.dir(Direction::Inbox);
        for entry in std::fs::read_dir(&inbox).unwrap() {
            let entry = entry.unwrap();
            if entry.file_name().to_str().unwrap().contains("000") {
                std::fs::remove_file(entry.path()).unwrap();
            }
        }
        put(&w1, Direction::Inbox, ".seq", "1\n");
        if let Some(name) = by_hand {
            put(&w1, Direction::Inbox, name, "by hand");
        }
        // As another process sees it.
        let w1 = mail(&world, "W1");
        assert_eq!(propose(&w1, "new").brief.seq, seq(next), "{lines}");
        assert_eq!(propose(&w1, "newer").brief.seq, seq(next + 1), "{lines}");
    }
}
