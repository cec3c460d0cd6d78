//! Undo: whatever one actor did, taken back step by step, leaves the files as they were; and not
//! where somebody built on it.

use std::collections::BTreeMap;

use flagpost_core::{
    Error, List, claims,
    history::{Entry, History, Kind},
    tasks::{self, Fields, Labels, Move, UndoMode},
};
use flagpost_model::{Refusal, TaskId, task::Ending};
use flagpost_testkit::power::{PowerFs, every_crash};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::world::{
    World, act, add, finish, id, ids, power, simulated_home, subject, terms, worker,
};

/// Every task file, without what only tells changes apart and without keys that say nothing.
fn picture(list: &List<'_>) -> BTreeMap<TaskId, Value> {
    list.ids()
        .unwrap()
        .into_iter()
        .map(|id| {
            let file = list.task(&id).unwrap();
            let mut raw = file.raw().clone();
            let ours = raw["metadata"]["flagpost"].as_object_mut().unwrap();
            ours.shift_remove("rev");
            ours.retain(|_, value| !value.is_null());
            (id, Value::Object(raw))
        })
        .collect()
}

#[derive(Debug, Clone)]
enum Step {
    Add(Vec<u64>),
    Part(u64),
    Edit(u64, u8),
    Note(u64),
    Answer(u64),
    Timer(u64),
    Link(u64, u64),
    Unlink(u64, u64),
    Claim(u64),
    Finish(u64, Ending),
    Move(u64, Move),
    Remove(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let task = || 1..7_u64;
    prop_oneof![
        4 => prop::collection::vec(task(), 0..3).prop_map(Step::Add),
        2 => task().prop_map(Step::Part),
        3 => (task(), any::<u8>()).prop_map(|(task, n)| Step::Edit(task, n)),
        2 => task().prop_map(Step::Note),
        2 => task().prop_map(Step::Answer),
        2 => task().prop_map(Step::Timer),
        2 => (task(), task()).prop_map(|(a, b)| Step::Link(a, b)),
        2 => (task(), task()).prop_map(|(a, b)| Step::Unlink(a, b)),
        3 => task().prop_map(Step::Claim),
        3 => (task(), prop_oneof![3 => Just(Ending::Completed), 1 => Just(Ending::Failed), 2 => Just(Ending::Stuck)])
            .prop_map(|(task, ending)| Step::Finish(task, ending)),
        2 => (task(), prop_oneof![
            Just(Move::Start), Just(Move::Release { force: false }),
            Just(Move::Reopen), Just(Move::Cancel),
        ]).prop_map(|(task, event)| Step::Move(task, event)),
        2 => task().prop_map(Step::Remove),
    ]
}

/// Does one step as W1; one that is refused is no step.
fn take(list: &List<'_>, step: &Step) {
    let w1 = worker("W1");
    let task = |n: &u64| id(*n);
    let done = match step {
        Step::Add(after) => tasks::add(list, &w1, &subject("Added"), &ids(after)).map(drop),
        Step::Part(of) => {
            let part = Fields {
                parent: Some(Some(id(*of))),
                ..subject("Part")
            };
            tasks::add(list, &w1, &part, &[]).map(drop)
        }
        Step::Edit(n, seed) => {
            let fields = Fields {
                description: Some(format!("Seed {seed}")),
                tags: Labels::Set(vec![format!("t{}", seed % 3)]),
                metadata: vec![(
                    format!("k{}", seed % 4),
                    (seed % 2 == 0).then(|| json!(seed)),
                )],
                parent: (seed % 5 == 0).then(|| Some(id(u64::from(*seed) % 7))),
                ..Fields::default()
            };
            tasks::edit(list, &w1, &task(n), &fields).map(drop)
        }
        Step::Note(n) => tasks::note(list, &w1, &[task(n)], "Ask first").map(drop),
        Step::Answer(n) => tasks::answer(list, &w1, &task(n), "The first", true).map(drop),
        Step::Timer(n) => tasks::start_timer(list, &w1, &task(n)).map(drop),
        Step::Link(n, on) => tasks::link(list, &w1, &task(n), &[task(on)]).map(drop),
        Step::Unlink(n, on) => tasks::unlink(list, &w1, &task(n), &task(on)).map(drop),
        Step::Claim(n) => claims::claim(list, &terms("W1"), &task(n)).map(drop),
        Step::Finish(n, ending) => {
            tasks::act(list, &act("W1", None), &task(n), finish(*ending)).map(drop)
        }
        Step::Move(n, event) => {
            tasks::act(list, &act("W1", None), &task(n), event.clone()).map(drop)
        }
        Step::Remove(n) => tasks::remove(list, &w1, &task(n)).map(drop),
    };
    match done {
        Ok(()) | Err(Error::Refused(_) | Error::NotFound { .. } | Error::KeptLate(_)) => {}
        Err(error) => panic!("{error}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn step_by_step_to_where_it_began(steps in prop::collection::vec(step(), 1..14)) {
        let fs = power();
        fs.run_free();
        let world = World::simulated(&fs);
        let list = world.list();
        let mut pictures = Vec::new();
        for step in &steps {
            let (before, told) = (picture(&list), world.history().len());
            take(&list, step);
            if world.history().len() > told {
                pictures.push(before);
            }
        }
        for before in pictures.into_iter().rev() {
            let now = picture(&list);
            tasks::undo(&list, &worker("W1"), UndoMode::DryRun).unwrap();
            prop_assert_eq!(picture(&list), now);
            tasks::undo(&list, &worker("W1"), UndoMode::Undo).unwrap();
            prop_assert_eq!(picture(&list), before);
        }
        let nothing = tasks::undo(&list, &worker("W1"), UndoMode::Undo);
        let nothing = matches!(nothing, Err(Error::NothingToUndo { .. }));
        prop_assert!(nothing);
    }
}

fn world() -> World {
    let fs = power();
    fs.run_free();
    let world = World::simulated(&fs);
    add(&world.list(), "Parse", &[]);
    add(&world.list(), "Print", &[1]);
    world
}

fn undo(list: &List<'_>, name: &str) -> Result<(), Error> {
    tasks::undo(list, &worker(name), UndoMode::Undo).map(drop)
}

#[test]
fn a_change_that_somebody_built_on_stays() {
    let world = world();
    let list = world.list();
    tasks::edit(&list, &worker("W1"), &id(1), &subject("Parse all")).unwrap();
    tasks::note(&list, &worker("W2"), &[id(1)], "Seen").unwrap();
    fails!(undo(&list, "W1"), Error::Refused(Refusal::BuiltOn { .. }));
    // Once that is taken back, nobody builds on it any more.
    undo(&list, "W2").unwrap();
    undo(&list, "W1").unwrap();
    assert_eq!(list.task(&id(1)).unwrap().task.subject, "Parse");
}

#[test]
fn what_others_did_elsewhere_is_nobodys_hindrance() {
    let world = world();
    let list = world.list();
    tasks::edit(&list, &worker("W1"), &id(1), &subject("Parse all")).unwrap();
    tasks::edit(&list, &worker("W2"), &id(2), &subject("Print all")).unwrap();
    undo(&list, "W1").unwrap();
    let subjects = [1, 2].map(|n| list.task(&id(n)).unwrap().task.subject);
    assert_eq!(subjects, ["Parse", "Print all"]);
}

#[test]
fn numbers_of_others_come_back_as_they_were_spelt() {
    let world = World::with_tasks(&["Parse"]);
    let text =
        r#"{"id": "2", "subject": "Theirs", "cost": 1e3, "metadata": {"rate": [2E5, 1.50]}}"#;
    world.put("2.json", text);
    let list = world.list();
    let spelt = || {
        let told = std::fs::read_to_string(world.path("2.json")).unwrap();
        let told: String = told.split_whitespace().collect();
        told.contains(r#""cost":1e3,"#) && told.contains(r#""rate":[2E5,1.50]"#)
    };
    tasks::edit(&list, &worker("W1"), &id(2), &subject("Mine")).unwrap();
    assert!(spelt());
    tasks::remove(&list, &worker("W1"), &id(2)).unwrap();
    undo(&list, "W1").unwrap();
    assert!(spelt());
    undo(&list, "W1").unwrap();
    assert!(spelt());
    assert_eq!(list.task(&id(2)).unwrap().task.subject, "Theirs");
}

#[test]
fn a_foreign_hand_that_changed_the_same_value_is_respected() {
    let world = world();
    let list = world.list();
    tasks::edit(&list, &worker("W1"), &id(1), &subject("Parse all")).unwrap();
    let path = world.path("1.json");
    let text = world.home.fs().read(&path, 0, 1 << 20).unwrap();
    let text = String::from_utf8(text).unwrap();
    by_hand(&world, "1.json", &text.replace("Parse all", "By hand"));
    let refused = undo(&list, "W1");
    assert!(is_built_on(&refused), "{refused:?}");
    assert_eq!(list.task(&id(1)).unwrap().task.subject, "By hand");
}

#[test]
fn a_removed_task_comes_back_whole_with_its_neighbours() {
    let world = world();
    let list = world.list();
    let before = picture(&list);
    tasks::remove(&list, &worker("W1"), &id(1)).unwrap();
    assert!(list.task(&id(2)).unwrap().task.blocked_by.is_empty());
    undo(&list, "W1").unwrap();
    assert_eq!(picture(&list), before);
    let next = add(&list, "Next", &[]);
    assert_eq!(next.id, id(3));
}

/// Writes a task's file as a foreign hand does.
fn by_hand(world: &World, name: &str, text: &str) {
    flagpost_disk::fsx::replace(world.home.fs(), &world.path(name), text.as_bytes()).unwrap();
}

fn is_built_on(answer: &Result<(), Error>) -> bool {
    matches!(answer, Err(Error::Refused(Refusal::BuiltOn { .. })))
}

#[test]
fn a_removed_task_does_not_come_back_over_another_hands_task() {
    let world = world();
    let list = world.list();
    tasks::remove(&list, &worker("W1"), &id(2)).unwrap();
    tasks::note(&list, &worker("W2"), &[id(1)], "Next").unwrap();
    by_hand(&world, "2.json", r#"{"id": "2", "subject": "Precious"}"#);
    let refused = undo(&list, "W1");
    assert!(is_built_on(&refused), "{refused:?}");
    assert_eq!(list.task(&id(2)).unwrap().task.subject, "Precious");
}

#[test]
fn an_undo_that_was_cut_short_is_made_again_and_reaches_no_further_back() {
    let edit =
        |list: &List<'_>, fields| tasks::edit_all(list, &worker("W1"), &ids(&[1, 2]), &fields);
    let setup = || {
        let fs = power();
        let world = World::simulated(&fs);
        let list = world.list();
        add(&list, "Parse", &[]);
        add(&list, "Print", &[]);
        edit(&list, subject("First")).unwrap();
        let second = Fields {
            description: Some("Second".to_owned()),
            ..Fields::default()
        };
        edit(&list, second).unwrap();
        fs.settle();
        fs
    };
    let operation = |fs: &PowerFs| {
        let home = simulated_home(fs);
        let list = List::open(&home, &"repo".parse()?)?;
        undo(&list, "W1")
    };
    every_crash(setup, operation, |fs, _| {
        let world = World::simulated(fs);
        let list = world.list();
        let is_undone = |n| list.task(&id(n)).unwrap().task.description.is_empty();
        if !(is_undone(1) && is_undone(2)) {
            undo(&list, "W1").unwrap();
        }
        assert!(is_undone(1) && is_undone(2));
        for n in [1, 2] {
            assert_eq!(list.task(&id(n)).unwrap().task.subject, "First");
        }
        undo(&list, "W1").unwrap();
        assert_eq!(list.task(&id(2)).unwrap().task.subject, "Print");
    });
}

#[test]
fn an_added_task_that_another_hand_wrote_into_stays() {
    let world = world();
    let list = world.list();
    let added = tasks::add(&list, &worker("W1"), &subject("Ship"), &[]).unwrap();
    let path = world.path("3.json");
    let text = world.home.fs().read(&path, 0, 1 << 20).unwrap();
    let text = String::from_utf8(text).unwrap();
    let foreign = text.replace(r#""description": """#, r#""description": "By hand""#);
    by_hand(&world, "3.json", &foreign);
    let refused = undo(&list, "W1");
    assert!(is_built_on(&refused), "{refused:?}");
    assert_eq!(list.task(&added.id).unwrap().task.description, "By hand");
    by_hand(&world, "3.json", &text);
    undo(&list, "W1").unwrap();
    assert!(list.task(&added.id).is_err());
}

#[test]
fn what_was_done_to_no_task_stands_in_nobodys_way() {
    let world = world();
    let list = world.list();
    tasks::edit(&list, &worker("W1"), &id(1), &subject("Parse all")).unwrap();
    let mut archived = Entry::new(Kind::SessionArchived);
    archived.list = list.id().name().cloned();
    let history = History::of(&world.home, &world.repository.id);
    let now = world.home.now();
    history.record(&worker("W1"), now, vec![archived]).unwrap();
    undo(&list, "W1").unwrap();
    assert_eq!(list.task(&id(1)).unwrap().task.subject, "Parse");
}
