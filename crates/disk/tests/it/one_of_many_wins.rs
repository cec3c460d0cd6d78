//! Sixteen processes want the same thing at the same moment: one gets it.

use std::{collections::BTreeSet, fs, path::Path};

use flagpost_disk::{
    Error,
    fsx::{RealFs, publish},
};
use flagpost_testkit::scratch::scratch;

use crate::child::{CHILDREN, ROUNDS};

const RACERS: usize = 16;

/// Each round's winner by number; fails where a round has two winners or none.
fn winners(role: &str, place: &Path) -> Vec<usize> {
    let reports = CHILDREN.race(RACERS, role, place);
    (0..ROUNDS)
        .map(|round| {
            let round = round.to_string();
            let won: Vec<usize> = (0..RACERS)
                .filter(|racer| reports[*racer].contains(&round))
                .collect();
            assert_eq!(won.len(), 1, "round {round} was won by {won:?}");
            won[0]
        })
        .collect()
}

#[test]
fn each_number_is_drawn_once() {
    let place = scratch();
    let reports = CHILDREN.race(RACERS, "allocate", place.path());
    let drawn: Vec<u64> = reports
        .iter()
        .flatten()
        .map(|number| number.parse().unwrap())
        .collect();
    let all: BTreeSet<u64> = drawn.iter().copied().collect();
    let count = RACERS * ROUNDS;
    assert_eq!(drawn.len(), count);
    assert_eq!(all, (1..=count as u64).collect());
    for own in &reports {
        let own: Vec<u64> = own.iter().map(|number| number.parse().unwrap()).collect();
        assert!(own.is_sorted(), "a later number is a higher one: {own:?}");
    }
}

#[test]
fn trap_33_rename_overwrites() {
    let place = scratch();
    for (round, winner) in winners("publish", place.path()).into_iter().enumerate() {
        let file = place.path().join(format!("{round}.md"));
        assert_eq!(fs::read_to_string(&file).unwrap(), format!("{winner}\n"));
        let late = publish(&RealFs, &file, b"too late\n").unwrap_err();
        assert!(matches!(late, Error::Conflict { path } if path == file));
    }
    let names = fs::read_dir(place.path()).unwrap().count();
    assert_eq!(names, ROUNDS, "the losers left something behind");
}

#[test]
fn each_flag_is_raised_once() {
    let place = scratch();
    winners("flag", place.path());
    for round in 0..ROUNDS {
        let flag = place.path().join(format!("{round}.ratified"));
        assert_eq!(fs::metadata(flag).unwrap().len(), 0);
    }
}
