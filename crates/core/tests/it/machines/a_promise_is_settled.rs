//! A claimer to whom another one promised a task hears nothing else until that is settled: the other one's
//! change may be in the order, though nobody here knows.

use std::{fs, path::PathBuf, thread};

use flagpost_core::{Error, claims, order::OrderRefusal};
use flagpost_disk::fsx::{self, Lock, Rank};
use flagpost_testkit::{patience::patience, race::until};

use super::{
    Answer, Fleet3, Node,
    of_one_order::{add, refused},
};
use crate::world::terms;

/// The list's lock, held by somebody who is busy.
fn busy(node: &Node) -> Lock {
    let (fs, now) = (node.home.fs(), node.home.now());
    let path = node.list().dir().join(".lock");
    fsx::lock(fs, &path, Rank::List, patience(), now).unwrap()
}

/// The places of those who wait.
fn queue(node: &Node) -> Vec<PathBuf> {
    let places = fs::read_dir(node.list().dir().join(".queue"));
    let places = places.into_iter().flatten().map(|it| it.unwrap().path());
    let is_taken = |path: &PathBuf| fs::read(path).is_ok_and(|text| text.starts_with(b"{"));
    places.filter(is_taken).collect()
}

#[test]
fn who_was_promised_a_task_is_told_nothing_else_until_that_is_settled() {
    // What the order makes of the promise, and of the own attempt of whoever was promised it.
    for (promise, own) in [
        (Answer::Unheard, Answer::Away),
        (Answer::Lost, Answer::Away),
        (Answer::Unheard, Answer::Truly),
        (Answer::Lost, Answer::Truly),
    ] {
        let fleet = Fleet3::new();
        let a = &fleet.nodes()[0];
        for number in 1..=4 {
            add(a, &format!("Task {number}"));
        }
        let lock = busy(a);
        let (first, second) = thread::scope(|scope| {
            let claim = |name: &'static str| {
                scope.spawn(move || claims::claim_next(&a.list(), &terms(name)))
            };
            let waiting = [claim("W1"), claim("W2")];
            until("both wait", || queue(a).len() == 2);
            fleet.stream.answers(&[promise, own]);
            drop(lock);
            let [one, other] = waiting.map(|it| it.join().unwrap());
            // Whoever had the list promised the other one a task.
            match matches!(one, Err(Error::Order(OrderRefusal::Unsettled { .. }))) {
                true => (one, other),
                false => (other, one),
            }
        });
        assert!(matches!(refused(first), OrderRefusal::Unsettled { .. }));
        match (promise, own) {
            // It happened, or nobody can say that it did not.
            (_, Answer::Away) => {
                assert!(matches!(refused(second), OrderRefusal::Unsettled { .. }));
            }
            _ => {
                let claimed = second.unwrap();
                fleet.all_alike();
                let all = a.list().load().unwrap().outlines;
                let held = all.iter().filter_map(|it| {
                    let task = a.list().task(&it.id).unwrap().task;
                    let claim = task.state.claim()?.clone();
                    (claim.by == claimed.claim.by).then_some(task.id)
                });
                assert_eq!(held.collect::<Vec<_>>(), [claimed.task.id]);
            }
        }
    }
}

#[test]
fn who_gives_up_waiting_after_a_promise_does_not_know() {
    let fleet = Fleet3::new();
    let a = &fleet.nodes()[0];
    add(a, "Write it");
    let lock = busy(a);
    let waited = thread::scope(|scope| {
        let waiting = scope.spawn(|| claims::claim_next(&a.list(), &terms("W1")));
        until("it waits", || queue(a).len() == 1);
        let place = &queue(a)[0];
        let wish = fs::read_to_string(place).unwrap();
        let promise = "{\"claim\":{\"task\":\"1\",\"token\":9}}";
        let text = format!("{}\n{promise}\n", wish.trim_end());
        fs::write(place, text.clone() + &"\n".repeat(1024 - text.len())).unwrap();
        waiting.join().unwrap()
    });
    drop(lock);
    assert!(matches!(refused(waited), OrderRefusal::Unsettled { .. }));
}
