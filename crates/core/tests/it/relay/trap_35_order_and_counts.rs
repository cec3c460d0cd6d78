//! Numbers are ordered as numbers; a count is no exit status above 125.

use flagpost_core::{
    relay::{
        briefs,
        decide::Decided,
        fleet::ratify_all,
        workers::{self, Traits},
    },
    slash::{self, SlashContext},
};
use flagpost_model::{Seq, decision::Via, envelope::Direction};

use super::{mail, one_worker, propose, ratify, register, seq, stages};
use crate::world::{World, worker};

#[test]
fn trap_35_ten_thousand_comes_after_9999() {
    let world = one_worker(&[]);
    let w1 = mail(&world, "W1");
    std::fs::write(w1.dir(Direction::Inbox).join(".seq"), "9998\n").unwrap();
    for body in ["nine", "ten", "eleven"] {
        propose(&w1, body);
    }
    let numbers: Vec<u64> = stages(&w1).iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [9999, 10_000, 10_001]);
    assert!(w1.dir(Direction::Inbox).join("10000.brief").is_file());
    ratify(&w1, 10_000);
    ratify(&w1, 9999);
    let first = flagpost_core::relay::deliver::next(&w1, &worker("W1")).unwrap();
    assert_eq!(first.unwrap().brief.seq, seq(9999));
}

#[test]
fn trap_35_a_count_is_capped() {
    for (count, status) in [
        (0, 0),
        (1, 1),
        (125, 125),
        (126, 125),
        (256, 125),
        (1000, 125),
    ] {
        assert_eq!(slash::count_status(count), status);
    }
}

#[test]
fn ratify_all_says_what_the_seed_says_and_counts() {
    let world = World::real();
    register(&world, &["W1", "W2", "W12"]);
    workers::heartbeat(&mail(&world, "W2"), Traits::default()).unwrap();
    for name in ["W1", "W2", "W12"] {
        propose(&mail(&world, name), "Fix it");
    }
    let (fleet, ann) = (world.fleet(), worker("ann"));
    let desk = SlashContext {
        fleet: &fleet,
        actor: &ann,
        via: Via::Slash,
        origin: flagpost_model::task::Origin::Person,
        seen: None,
        dir: world.place(),
    };
    let say = |line: &str| {
        let command = flagpost_model::slash::parse(line).unwrap();
        slash::carry_out(&desk, command, None).unwrap()
    };
    let some = say("/ratify all --scope=W{1,2}");
    assert_eq!(
        some.lines,
        ["RATIFIED #1192 Fix it → W1", "RATIFIED #1192 Fix it → W2"]
    );
    assert_eq!((some.status, some.faults.len()), (2, 0));
    let rest = say("/ratify all --scope=W*");
    assert_eq!(
        (rest.lines, rest.status),
        (vec!["RATIFIED #1192 Fix it → W12".to_owned()], 1)
    );
    assert_eq!(say("/ratify all").status, 0);
    let assigned = say("/assign 1244 W2 --inline='Write it'");
    assert_eq!(assigned.lines, ["ASSIGNED #1244 → W2 (seq=0002)"]);
    assert_eq!(
        say("/inbox").lines,
        ["W2 0002 dispatch_brief #1244 Write it"]
    );
}

#[test]
fn what_arrives_while_all_are_ratified_is_named_and_waits() {
    let world = World::real();
    register(&world, &["W1", "W2"]);
    for name in ["W1", "W2"] {
        propose(&mail(&world, name), "Listed");
    }
    let (fleet, ann) = (world.fleet(), worker("ann"));
    let mut late = Vec::new();
    let mut heard = |_: &Decided| {
        if late.is_empty() {
            late.push(propose(&mail(&world, "W2"), "Late").brief.seq);
        }
    };
    let all = ratify_all(&fleet, &ann, None, Via::Cli, &mut heard).unwrap();
    assert_eq!(all.done.len(), 2);
    let arrived: Vec<Seq> = all.arrived.iter().map(|it| it.brief.seq).collect();
    assert_eq!(arrived, [seq(2)]);
    assert_eq!(arrived, late);
    let told = slash::ratified_lines(&all).faults;
    assert_eq!(told, ["ARRIVED MEANWHILE W2 (seq=0002): Late"]);
    assert_eq!(briefs::newest_pending(&mail(&world, "W2")).unwrap(), seq(2));
}
