//! Two names do not exclude each other; one decision file does.

use std::{collections::BTreeMap, thread};

use flagpost_core::relay::{
    briefs,
    decide::{self, DecisionRequest},
};
use flagpost_model::{
    decision::{Decision, DecisionState, Via},
    envelope::{Direction, Hash},
};

use super::{mail, one_worker, propose, put, seq};
use crate::world::worker;

const BRIEFS: u64 = 100;
const HANDS: usize = 10;

#[test]
fn trap_31_a_thousand_concurrent_decisions_make_one_for_each_brief() {
    let world = one_worker(&[]);
    for number in 1..=BRIEFS {
        propose(&mail(&world, "W1"), &format!("brief {number}"));
    }
    let (world, words) = (&world, ["ratified", "rejected", "edited"]);
    let won: Vec<(u64, Decision)> = thread::scope(|scope| {
        let hand = |hand: usize| {
            let w1 = mail(world, "W1");
            let act = move |number: u64| {
                let who = worker(&format!("hand-{hand}"));
                let turn = usize::try_from(number).unwrap() + hand;
                let decision: Decision = words[turn % 3].parse().unwrap();
                if turn.is_multiple_of(HANDS) {
                    // Without any program.
                    put(
                        &w1,
                        Direction::Inbox,
                        &format!("{number:04}.{decision}"),
                        "",
                    );
                    return None;
                }
                let body = format!("brief {number}");
                let decided = match decision {
                    Decision::Edited => {
                        let seen = Hash::of(body.as_bytes());
                        decide::edit(
                            &w1,
                            &who,
                            seq(number),
                            &seen,
                            &format!("by {hand}"),
                            Via::Cli,
                        )
                    }
                    other => decide::decide(
                        &w1,
                        &who,
                        Some(seq(number)),
                        &DecisionRequest::new(other, Via::Api),
                    ),
                };
                let first = decided.ok().filter(|it| !it.already);
                first.map(|it| (number, it.decision))
            };
            (1..=BRIEFS).filter_map(act).collect::<Vec<_>>()
        };
        let hands: Vec<_> = (0..HANDS).map(|n| scope.spawn(move || hand(n))).collect();
        hands
            .into_iter()
            .flat_map(|hand| hand.join().unwrap())
            .collect()
    });
    let winners = won.len();
    let won: BTreeMap<u64, Decision> = won.into_iter().collect();
    assert_eq!(won.len(), winners, "one winner each");
    let w1 = mail(world, "W1");
    // Whoever looks next records what was decided by hand.
    decide::ratify_listed(&w1, &worker("ann"), &super::every(), Via::Cli).unwrap();
    let mut by_hand = 0;
    let names: Vec<String> = std::fs::read_dir(w1.dir(Direction::Inbox))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for number in 1..=BRIEFS {
        let letter = briefs::show(&w1, seq(number)).unwrap();
        let DecisionState::Decided(verdict) = letter.standing else {
            panic!("{number} is not decided");
        };
        match won.get(&number) {
            Some(decision) => assert_eq!(verdict.decision, *decision),
            None => {
                assert_eq!(verdict.via, Via::External);
                by_hand += 1;
            }
        }
        assert_eq!(verdict.sha256, Hash::of(letter.body.as_bytes()));
        let flag = format!("{number:04}.{}", verdict.decision);
        assert!(names.contains(&flag), "{number} lacks its flag");
    }
    let decided = super::told(world)
        .into_iter()
        .filter(|it| it.starts_with("relay.decided"));
    assert_eq!(decided.count(), usize::try_from(BRIEFS).unwrap());
    println!("{by_hand} of {BRIEFS} were decided by hand");
}
