//! What becomes of a machine whose fleet begins an order anew: it goes on from the same place, takes over what
//! it lacks, and puts aside what nobody else has.

use std::{fs, path::Path};

use flagpost_core::{
    Error, Home,
    history::History,
    order::{self, BasePart, Message, OrderRefusal, TakenOver},
    tasks::{self, observe::TaskWatch},
};

use super::{
    Fleet3, Node, assert_alike,
    of_one_order::{add, refused},
};
use crate::world::{id, subject, worker};

/// What a machine's order begins with, as the second one.
fn base(node: &Node) -> Vec<BasePart> {
    let mut parts = Vec::new();
    let mut keep = |part: &BasePart| {
        parts.push(part.clone());
        Ok(())
    };
    let plain = Home::at(node.home.root().clone());
    order::share(&plain, (&node.stream.repo, 2), &worker("ann"), &mut keep).unwrap();
    parts
}

fn take_over(node: &Node, parts: &[BasePart]) -> Result<TakenOver, Error> {
    let plain = Home::at(node.home.root().clone());
    order::take_over(&plain, (&node.stream.repo, 2), parts.to_vec())
}

fn epoch(node: &Node) -> u64 {
    order::epoch(&node.home, &node.stream.repo).unwrap()
}

fn quarantined(dir: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(dir.join("quarantine")) else {
        return Vec::new();
    };
    let paths = entries.map(|it| it.unwrap().path());
    let copies = paths.filter(|it| !it.to_string_lossy().ends_with(".reason.txt"));
    copies.map(|it| fs::read_to_string(it).unwrap()).collect()
}

#[test]
fn who_has_the_same_goes_on_after_it() {
    let fleet = Fleet3::new();
    let [a, b, _] = fleet.nodes();
    add(a, "One");
    fleet.all_follow();
    let parts = base(a);
    let file = b.list().dir().join("1.json");
    let edited = fs::read_to_string(&file).unwrap().replace("One", "By hand");
    fs::write(&file, &edited).unwrap();
    let taken = take_over(b, &parts).unwrap();
    let last = order::last(&a.home, &a.stream.repo).unwrap();
    assert_eq!((taken.last, taken.aside.len()), (last, 0));
    assert_eq!((epoch(a), epoch(b)), (2, 2));
    // An edit by hand is found later, as ever.
    assert_eq!(fs::read_to_string(&file).unwrap(), edited);
    // Once more it changes nothing.
    assert_eq!(take_over(b, &parts).unwrap(), taken);
}

#[test]
fn who_is_behind_takes_over_the_rest_and_keeps_what_a_hand_wrote() {
    let fleet = Fleet3::new();
    let [a, b, c] = fleet.nodes();
    for text in ["One", "Two", "Three"] {
        add(a, text);
    }
    fleet.all_follow();
    let plain = Home::at(b.home.root().clone());
    // A daemon knows the files as they are.
    TaskWatch::begin(&plain, &b.stream.repo).unwrap();
    tasks::remove(&a.list(), &worker("ann"), &id(1)).unwrap();
    tasks::edit(&a.list(), &worker("ann"), &id(2), &subject("Second")).unwrap();
    add(a, "Four");
    let list = b.list().dir().clone();
    let by_hand = fs::read_to_string(list.join("3.json")).unwrap();
    fs::write(list.join("3.json"), by_hand.replace("Three", "By hand")).unwrap();
    c.follow();
    let taken = take_over(b, &base(a)).unwrap();
    assert_eq!(taken.aside, [list.join("3.json")]);
    let kept = quarantined(&list);
    assert!(kept.len() == 1 && kept[0].contains("By hand"), "{kept:?}");
    assert_alike(&a.replicated(), &b.replicated());
    assert_alike(&c.replicated(), &b.replicated());
    // No number is given out again.
    assert_eq!(epoch(b), 2);
    let history = History::of(&b.home, &b.stream.repo).since(0).unwrap();
    assert_eq!(history.last().unwrap().n, taken.last);
}

#[test]
fn what_nobody_else_has_is_put_aside() {
    let fleet = Fleet3::new();
    let [a, b, _] = fleet.nodes();
    add(a, "One");
    fleet.all_follow();
    // More than the base has, and another line in the place of its last.
    for there in ["", "Theirs"] {
        let before = b.history_text();
        let ours = format!("Ours beside {there:?}");
        add(b, &ours);
        fleet.stream.take_last();
        if !there.is_empty() {
            add(a, there);
        }
        let parts = base(a);
        let plain = Home::at(b.home.root().clone());
        let beyond = b.history_text().replace(&before, "");
        // The order is a later one than the last time.
        fs::remove_file(b.history_path().with_file_name(".epoch")).unwrap_or_default();
        let taken = take_over(b, &parts).unwrap();
        let beside: Vec<_> = taken
            .aside
            .iter()
            .map(|it| it.file_name().unwrap())
            .collect();
        assert!(beside.contains(&"history.jsonl".as_ref()), "{beside:?}");
        let lines = quarantined(&plain.repository_dir(&b.stream.repo));
        assert!(lines.contains(&beyond), "{lines:?}");
        let files = quarantined(b.list().dir());
        assert!(files.iter().any(|it| it.contains("Ours")), "{files:?}");
        assert_alike(&a.replicated(), &b.replicated());
    }
}

#[test]
fn a_base_that_has_nothing_in_common_is_refused() {
    let fleet = Fleet3::new();
    let [a, b, _] = fleet.nodes();
    add(a, "One");
    fleet.all_follow();
    let foreign = base(a).into_iter().map(|part| {
        let text = String::from_utf8(part.to_bytes()).unwrap();
        let text = text.replace("\\\"n\\\":1,", "\\\"n\\\": 1,");
        match Message::parse(&b.stream.repo, text.as_bytes()).unwrap() {
            Message::Base(part) => part,
            Message::Change(change) => panic!("{change:?}"),
        }
    });
    let foreign: Vec<_> = foreign.collect();
    let before = b.replicated();
    let refusal = refused(take_over(b, &foreign));
    assert!(matches!(refusal, OrderRefusal::Frozen { .. }), "{refusal}");
    assert_eq!((b.replicated(), epoch(b)), (before, 1));
}

#[test]
fn what_a_crash_cut_short_is_done_again() {
    let fleet = Fleet3::new();
    let [a, b, _] = fleet.nodes();
    add(a, "One");
    fleet.all_follow();
    add(a, "Two");
    // The lines are there, and the files are not.
    fs::write(b.history_path(), a.history_text()).unwrap();
    take_over(b, &base(a)).unwrap();
    assert_alike(&a.replicated(), &b.replicated());
    assert_eq!(epoch(b), 2);
    fleet.all_alike();
}
