//! Listening to a history: each transition once, and none before it has happened.

use flagpost_core::history::{Entry, History, Kind, NewLines, Tail};
use flagpost_model::Seq;

use crate::world::{World, add, worker};

fn history(world: &World) -> History<'_> {
    History::of(&world.home, &world.repository.id)
}

fn told(tail: &mut Tail, world: &World) -> Vec<String> {
    match tail.read_on(&history(world)).unwrap() {
        NewLines::Lines(lines) => lines
            .iter()
            .map(|line| format!("{} {}", line.n, line.entry.kind.as_str()))
            .collect(),
        NewLines::Rewritten => vec!["rewritten".to_owned()],
    }
}

/// A line whose file is not there: somebody is between the two.
fn begin_a_brief(world: &World, seq: u64) {
    let last = world.history().pop().unwrap();
    let mut line = last.clone();
    line.n = last.n + 1;
    line.entry =
        Entry::new(Kind::BriefProposed).mail(&worker("W1"), Some(Seq::try_from(seq).unwrap()));
    let mut all = std::fs::read(world.history_path()).unwrap();
    all.extend(format!("{}\n", line.to_json()).into_bytes());
    std::fs::write(world.history_path(), all).unwrap();
}

#[test]
fn each_transition_is_told_once_wherever_one_begins() {
    let world = World::real();
    let list = world.list();
    let mut ahead = Tail::at_end(&history(&world)).unwrap();
    // The last change before may not have appeared yet, so it is told all the same.
    assert_eq!(told(&mut ahead, &world).len(), 1);
    add(&list, "One", &[]);
    add(&list, "Two", &[]);
    let news = told(&mut ahead, &world);
    assert_eq!(news.len(), 2, "{news:?}");
    assert!(told(&mut ahead, &world).is_empty());
    let mut late = Tail::since(ahead.read_up_to() - 1);
    assert_eq!(told(&mut late, &world), news[1..]);
    assert_eq!(late.read_up_to(), ahead.read_up_to());
    let mut whole = Tail::since(0);
    assert_eq!(told(&mut whole, &world).len(), world.history().len());
}

#[test]
fn what_has_not_appeared_is_not_told_and_what_is_taken_back_never() {
    let world = World::with_tasks(&["One"]);
    let list = world.list();
    let mut tail = Tail::since(0);
    told(&mut tail, &world);
    let before = tail.read_up_to();
    begin_a_brief(&world, 1);
    assert!(told(&mut tail, &world).is_empty());
    assert!(tail.is_waiting());
    assert_eq!(tail.read_up_to(), before);
    // Whoever begins to listen now must hear of it should it happen after all.
    assert_eq!(Tail::at_end(&history(&world)).unwrap().read_up_to(), before);
    // The next writer takes it back.
    add(&list, "Two", &[]);
    let news = told(&mut tail, &world);
    assert_eq!(news, [format!("{} task.created", before + 3)]);
    assert!(!tail.is_waiting());
    assert_eq!(told(&mut Tail::since(before), &world), news);
}

#[test]
fn another_history_in_its_place_is_noticed() {
    let world = World::with_tasks(&["One"]);
    let mut tail = Tail::since(0);
    told(&mut tail, &world);
    let all = std::fs::read(world.history_path()).unwrap();
    let half = all.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    std::fs::write(world.history_path(), &all[..half]).unwrap();
    assert_eq!(told(&mut tail, &world), ["rewritten"]);
    std::fs::write(world.history_path(), &all).unwrap();
    assert_eq!(
        told(&mut tail, &world).last().unwrap(),
        &format!("{} task.created", tail.read_up_to())
    );
}
