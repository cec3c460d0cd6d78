//! Who waits for whom: both files say so, one is enough to be heard, and no circle is closed.

use std::collections::BTreeMap;

use flagpost_core::{
    Error, List, claims,
    plans::{self, ImportMode, ImportOutcome},
    tasks::{self, Fields, Move},
};
use flagpost_disk::dialects::markdown_plan;
use flagpost_model::{
    Refusal, TaskId,
    intake::{Format, Intake, assemble},
    plan::{Graph, StrandedBecause, ready, stranded},
    task::{Ending, State, StateName, Task},
};

use crate::{
    account,
    world::{
        World, act, add, edges_of, finish, id, ids, next_of, subject, task_of, tasks_of, terms,
        worker,
    },
};

fn file(id: u64, blocks: &[u64], blocked_by: &[u64]) -> String {
    let texts = |ids: &[u64]| ids.iter().map(u64::to_string).collect::<Vec<_>>();
    format!(
        r#"{{"id": "{id}", "subject": "Task {id}", "blocks": {:?}, "blockedBy": {:?}}}"#,
        texts(blocks),
        texts(blocked_by)
    )
}

fn is_mirrored(list: &List<'_>) -> bool {
    let tasks = tasks_of(list);
    let mut ends = tasks.values().flat_map(|task| {
        let up = task.blocked_by.iter().map(|on| (on, &task.id, true));
        let down = task.blocks.iter().map(|waits| (waits, &task.id, false));
        up.chain(down)
    });
    ends.all(|(other, this, is_up)| {
        tasks.get(other).is_some_and(|other| {
            let side = if is_up {
                &other.blocks
            } else {
                &other.blocked_by
            };
            side.contains(this)
        })
    })
}

fn plan(text: &str) -> Intake {
    assemble(Format::Markdown, markdown_plan::parse(text).unwrap().into()).unwrap()
}

fn import(list: &List<'_>, text: &str) -> Result<Vec<ImportOutcome>, Error> {
    let imported = plans::import(list, &worker("operator"), &plan(text), ImportMode::Import)?;
    Ok(imported.into_iter().map(|it| it.fate).collect())
}

fn cycle(answer: Result<impl std::fmt::Debug, Error>) -> Vec<String> {
    match answer {
        Err(Error::Refused(Refusal::Cycle { path })) => {
            path.iter().map(ToString::to_string).collect()
        }
        other => panic!("not a cycle: {other:?}"),
    }
}

#[test]
fn a_cycle_is_refused_and_changes_nothing() {
    let world = World::with_tasks(&["One"]);
    let list = world.list();
    add(&list, "Two", &[1]);
    add(&list, "Three", &[2]);
    let before = (tasks_of(&list), world.history());
    let operator = worker("operator");
    let answer = tasks::link(&list, &operator, &id(1), &[id(3)]);
    assert_eq!(cycle(answer), ["1", "3", "2", "1"]);
    assert_eq!(
        cycle(tasks::link(&list, &operator, &id(2), &[id(2)])),
        ["2", "2"]
    );
    assert_eq!((tasks_of(&list), world.history()), before);
    // One of several: none is linked.
    add(&list, "Four", &[]);
    let before = (tasks_of(&list), world.history());
    let several = tasks::link(&list, &operator, &id(1), &[id(4), id(3)]);
    assert_eq!(cycle(several), ["1", "3", "2", "1"]);
    assert_eq!((tasks_of(&list), world.history()), before);
}

/// Linking to several is one change: it is made as a whole or not at all.
#[test]
fn one_link_that_cannot_be_made_keeps_the_others_from_being_made() {
    let world = World::with_tasks(&["One", "Two"]);
    let list = world.list();
    add(&list, "Three", &[2]);
    let before = (tasks_of(&list), world.history());
    let link = |blockers: &[u64]| tasks::link(&list, &worker("operator"), &id(2), &ids(blockers));
    assert_eq!(cycle(link(&[1, 3])), ["2", "3", "2"]);
    assert!(matches!(
        link(&[1, 9]),
        Err(Error::Refused(Refusal::UnknownBlocker { .. }))
    ));
    assert_eq!((tasks_of(&list), world.history()), before);

    add(&list, "Four", &[]);
    let lines = world.history().len();
    let linked = link(&[1, 4, 1]).unwrap();
    assert_eq!((linked.blocked_by, linked.rev), (ids(&[1, 4]), 3));
    assert!(is_mirrored(&list));
    let told: Vec<_> = world.history()[lines..]
        .iter()
        .map(|line| line.entry.detail["blocked_by"].clone())
        .collect();
    assert_eq!(told, ["1", "4"]);
    account::agrees(&world);
}

#[test]
fn an_unknown_id_is_refused_and_changes_nothing() {
    let world = World::with_tasks(&["One"]);
    let list = world.list();
    let before = (tasks_of(&list), world.history());
    let unknown = |answer: Result<_, Error>| matches!(answer, Err(Error::Refused(Refusal::UnknownBlocker { missing, .. })) if missing == id(9));
    let operator = worker("operator");
    assert!(unknown(
        tasks::link(&list, &operator, &id(1), &[id(9)]).map(drop)
    ));
    assert!(unknown(
        tasks::add(&list, &operator, &subject("Two"), &ids(&[1, 9])).map(drop)
    ));
    let answer = tasks::link(&list, &operator, &id(9), &[id(1)]);
    assert!(matches!(answer, Err(Error::NotFound { .. })), "{answer:?}");
    assert_eq!((tasks_of(&list), world.history()), before);
}

/// A foreign file may name an id that is yet to be given out.
#[test]
fn a_new_task_closes_no_cycle_with_those_that_named_it_before() {
    let world = World::real();
    let list = world.list();
    world.put("1.json", file(1, &[], &[2]));
    let answer = tasks::add(&list, &worker("operator"), &subject("Two"), &ids(&[1]));
    assert_eq!(cycle(answer), ["2", "1", "2"]);
    let other = add(&list, "Three", &[1]).id;
    assert_eq!(other, id(3), "the refused id is not used again");
}

#[test]
fn a_cycle_and_an_unknown_id_are_reported_and_not_fatal_at_read() {
    let world = World::real();
    let list = world.list();
    world.put("1.json", file(1, &[], &[2]));
    world.put("2.json", file(2, &[], &[1]));
    world.put("3.json", file(3, &[], &[9]));
    world.put("4.json", file(4, &[], &[]));
    let loaded = list.load().unwrap();
    assert!(loaded.skipped.is_empty());
    let graph = Graph::new(&loaded.outlines);
    let lost: Vec<_> = stranded(&graph).into_iter().map(|it| it.id).collect();
    assert_eq!(lost, ids(&[1, 2, 3]));
    assert_eq!(next_of(&list, "W1"), id(4));
    for blocked in [1, 2, 3] {
        let answer = claims::claim(&list, &terms("W1"), &id(blocked));
        fails!(answer, Error::Refused(Refusal::Blocked { .. }));
    }
    // What is tied can be untied.
    tasks::unlink(&list, &worker("W1"), &id(1), &id(2)).unwrap();
    tasks::unlink(&list, &worker("W1"), &id(3), &id(9)).unwrap();
    assert!(stranded(&Graph::new(&list.load().unwrap().outlines)).is_empty());
}

#[test]
fn a_link_that_one_file_knows_is_mirrored_by_linking_again() {
    for (one, two) in [
        (file(1, &[], &[]), file(2, &[], &[1])),
        (file(1, &[2], &[]), file(2, &[], &[])),
    ] {
        let world = World::real();
        let list = world.list();
        world.put("1.json", one);
        world.put("2.json", two);
        tasks::link(&list, &worker("W1"), &id(2), &[id(1)]).unwrap();
        assert!(is_mirrored(&list));
        let lines = world.history().len();
        tasks::link(&list, &worker("W1"), &id(2), &[id(1)]).unwrap();
        assert_eq!(world.history().len(), lines);
    }
}

#[test]
fn a_blocker_that_only_its_own_file_knows_keeps_others_waiting() {
    let world = World::real();
    let list = world.list();
    world.put("1.json", file(1, &[2], &[]));
    world.put("2.json", file(2, &[], &[]));
    let w1 = worker("W1");
    let blocked = |answer: Result<(), Error>| matches!(answer, Err(Error::Refused(Refusal::Blocked { open, .. })) if open == ids(&[1]));
    assert!(blocked(
        claims::claim(&list, &terms("W1"), &id(2)).map(drop)
    ));
    assert!(blocked(
        claims::start(&list, &terms("W1"), None, &id(2)).map(drop)
    ));
    let done = finish(Ending::Completed);
    assert!(blocked(
        tasks::act(&list, &act("W1", None), &id(2), done).map(drop)
    ));
    assert_eq!(next_of(&list, "W1"), id(1));
    tasks::unlink(&list, &w1, &id(2), &id(1)).unwrap();
    claims::claim(&list, &terms("W1"), &id(2)).unwrap();
}

#[test]
fn removing_takes_the_name_from_all_that_know_it() {
    let world = World::real();
    let list = world.list();
    world.put("1.json", file(1, &[2], &[]));
    world.put("2.json", file(2, &[], &[]));
    world.put("3.json", file(3, &[], &[2]));
    add(&list, "Four", &[2]);
    tasks::remove(&list, &worker("W1"), &id(2)).unwrap();
    assert_eq!(edges_of(&list), []);
    assert!(is_mirrored(&list));
    let outlines = list.load().unwrap().outlines;
    assert_eq!(ready(&Graph::new(&outlines), world.home.now()).len(), 3);
    account::agrees(&world);
}

#[test]
fn trap_11_failed_looks_running() {
    let world = World::with_tasks(&["Fails"]);
    let list = world.list();
    add(&list, "Waits", &[1]);
    add(&list, "Waits for that", &[2]);
    claims::start(&list, &terms("W1"), None, &id(1)).unwrap();
    tasks::act(&list, &act("W1", None), &id(1), finish(Ending::Failed)).unwrap();
    let text = std::fs::read_to_string(world.path("1.json")).unwrap();
    assert!(text.contains("\"status\": \"pending\""), "{text}");
    let outlines = list.load().unwrap().outlines;
    let stranded = stranded(&Graph::new(&outlines));
    let because = StrandedBecause::GivenUp {
        task: id(1),
        state: StateName::Failed,
    };
    let causes: Vec<_> = stranded.into_iter().map(|it| (it.id, it.why)).collect();
    assert_eq!(causes, [(id(2), because.clone()), (id(3), because)]);
    let none = claims::claim_next(&list, &terms("W2"));
    assert!(matches!(none, Err(Error::NothingReady { .. })));
    tasks::act(&list, &act("W2", None), &id(1), Move::Reopen).unwrap();
    assert_eq!(next_of(&list, "W2"), id(1));
}

const PLAN: &str = "
- [ ] Lay the ground {uid: ground, priority: high}
- [ ] Build (after: lay the ground) {uid: build}
- [x] Buy the land {uid: land}
";

#[test]
fn a_plan_imported_twice_changes_nothing() {
    use ImportOutcome::{Added, Unchanged, Updated};
    let world = World::real();
    let list = world.list();
    assert_eq!(import(&list, PLAN).unwrap(), [Added, Added, Added]);
    let before = (tasks_of(&list), world.history());
    assert_eq!(
        import(&list, PLAN).unwrap(),
        [Unchanged, Unchanged, Unchanged]
    );
    assert_eq!((tasks_of(&list), world.history()), before);
    assert!(is_mirrored(&list));

    let changed = PLAN.replace("high", "low");
    assert_eq!(
        import(&list, &changed).unwrap(),
        [Updated, Unchanged, Unchanged]
    );
    assert_eq!(tasks_of(&list).len(), 3);
    account::agrees(&world);
}

#[test]
fn a_dry_run_writes_nothing_and_says_the_ids() {
    let world = World::with_tasks(&["One"]);
    let list = world.list();
    let before = (tasks_of(&list), world.history());
    let imported = plans::import(&list, &worker("W1"), &plan(PLAN), ImportMode::DryRun).unwrap();
    let given: Vec<_> = imported.into_iter().map(|it| it.id).collect();
    assert_eq!(given, ids(&[2, 3, 4]));
    assert_eq!((tasks_of(&list), world.history()), before);
    import(&list, PLAN).unwrap();
    assert_eq!(
        tasks_of(&list).into_keys().collect::<Vec<_>>(),
        ids(&[1, 2, 3, 4])
    );
}

#[test]
fn an_import_takes_back_nothing_that_was_done_meanwhile() {
    let world = World::real();
    let list = world.list();
    import(&list, PLAN).unwrap();
    tasks::act(&list, &act("W1", None), &id(1), finish(Ending::Completed)).unwrap();
    claims::claim(&list, &terms("W2"), &id(2)).unwrap();
    let before = tasks_of(&list);
    import(&list, PLAN).unwrap();
    assert_eq!(tasks_of(&list), before);
    // Even where the plan says that a claimed task is done: its holder decides.
    let all_done = PLAN.replace("[ ]", "[x]");
    import(&list, &all_done).unwrap();
    let said = |tasks: BTreeMap<TaskId, Task>| {
        let plain = |it: Task| Task {
            said: Default::default(),
            rev: 0,
            ..it
        };
        tasks.into_values().map(plain).collect::<Vec<_>>()
    };
    assert_eq!(said(tasks_of(&list)), said(before));
    tasks::act(
        &list,
        &act("W2", None),
        &id(2),
        Move::Release { force: false },
    )
    .unwrap();
    import(&list, &all_done).unwrap();
    assert_eq!(task_of(&list, 2).state, State::Completed);
    account::agrees(&world);
}

#[test]
fn an_import_that_closes_a_cycle_with_the_list_is_refused_and_nothing_written() {
    let world = World::real();
    let list = world.list();
    import(&list, PLAN).unwrap();
    tasks::link(&list, &worker("W1"), &id(3), &[id(2)]).unwrap();
    let closing = PLAN.replace("Lay the ground {", "Lay the ground (after: buy the land) {");
    let before = (tasks_of(&list), world.history());
    assert_eq!(cycle(import(&list, &closing)), ["1", "3", "2", "1"]);
    assert_eq!((tasks_of(&list), world.history()), before);
}

/// An old circle elsewhere must not hide the one that the plan closes.
#[test]
fn nor_does_a_circle_that_was_there_before_hide_it() {
    let world = World::real();
    let list = world.list();
    world.put("1.json", file(1, &[], &[2]));
    world.put("2.json", file(2, &[], &[1]));
    import(&list, PLAN).unwrap();
    tasks::link(&list, &worker("W1"), &id(5), &[id(4)]).unwrap();
    let closing = PLAN.replace("Lay the ground {", "Lay the ground (after: buy the land) {");
    let before = tasks_of(&list);
    assert_eq!(cycle(import(&list, &closing)), ["3", "5", "4", "3"]);
    assert_eq!(tasks_of(&list), before);
    // And what has nothing to do with it can still be imported.
    let more = format!("{PLAN}- [ ] Move in (after: build) {{uid: move}}\n");
    import(&list, &more).unwrap();
    let fields = Fields {
        uid: Some("one".to_owned()),
        ..Fields::default()
    };
    tasks::edit(&list, &worker("W1"), &id(1), &fields).unwrap();
    import(&list, "- [ ] Task 1, renamed {uid: one}\n").unwrap();
}
