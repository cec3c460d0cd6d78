//! The table as a list: where its rules differ from a list's the stricter holds, and what it cannot do
//! is refused.

use std::fs;

use flagpost_core::{
    Error, List,
    claims::{self, Revision, Terms},
    coordination::{self, Directory},
    tasks::{self, Fields, Move, UndoMode},
};
use flagpost_disk as disk;
use flagpost_model::{
    TaskId,
    coordination::{
        CoordRefusal::{self, Held, Incapable, Rests, WrongStatus},
        CoordStatus, LEASE, NewCoordTask,
    },
    task::{Act, Ending, State},
};
use jiff::SignedDuration;

use super::{begin, draft};
use crate::world::{World, act, finish, next_of, subject, terms, worker};

fn begun(world: &World) -> List<'_> {
    let directory = begin(&world.home, &world.place().join("repo"));
    List::of_table(&world.home, directory).unwrap()
}

fn directory<'w>(world: &'w World) -> Directory<'w> {
    Directory::open(&world.home, &world.place().join("repo/.coordination")).unwrap()
}

fn put(world: &World, draft: NewCoordTask) -> TaskId {
    let added = coordination::add(&directory(world), &worker("ann"), &[draft]).unwrap();
    added[0].id.clone()
}

fn table(world: &World) -> String {
    fs::read_to_string(world.place().join("repo/.coordination/tasks.json")).unwrap()
}

fn rule<T: std::fmt::Debug>(answer: Result<T, Error>) -> CoordRefusal {
    match answer {
        Err(Error::Coordination(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

fn status(world: &World, id: &TaskId) -> CoordStatus {
    directory(world)
        .look()
        .unwrap()
        .board
        .task(id)
        .unwrap()
        .status
}

#[test]
fn a_worker_gets_only_what_it_can_do() {
    let world = World::real();
    let list = begun(&world);
    let needs = put(
        &world,
        NewCoordTask {
            required_capabilities: vec!["rust".to_owned()],
            ..draft("Port it")
        },
    );
    assert!(matches!(
        rule(claims::claim(&list, &terms("W1"), &needs)),
        Incapable { .. }
    ));
    assert!(matches!(
        claims::claim_next(&list, &terms("W1")),
        Err(Error::NothingReady { .. })
    ));
    let done = tasks::act(&list, &act("W1", None), &needs, finish(Ending::Completed));
    assert!(matches!(rule(done), Incapable { .. }));
    coordination::register(&directory(&world), &worker("W1"), &["rust".to_owned()]).unwrap();
    assert_eq!(next_of(&list, "W1"), needs);
}

#[test]
fn a_failed_task_rests_while_it_has_retries_left() {
    let world = World::real();
    let list = begun(&world);
    let id = put(
        &world,
        NewCoordTask {
            max_retries: 1,
            ..draft("Try it")
        },
    );
    let claimed = claims::claim(&list, &terms("W1"), &id).unwrap();
    let failed = tasks::act(
        &list,
        &act("W1", Some(claimed.claim.token)),
        &id,
        finish(Ending::Failed),
    );
    let failed = failed.unwrap();
    assert_eq!(failed.state, State::Pending);
    assert!(failed.not_before.is_some());
    assert!(matches!(
        rule(claims::claim(&list, &terms("W1"), &id)),
        Rests { .. }
    ));
    assert!(matches!(
        claims::claim_next(&list, &terms("W1")),
        Err(Error::NothingReady { .. })
    ));
    world.pass(SignedDuration::from_secs(31));
    let claimed = claims::claim_next(&list, &terms("W1")).unwrap();
    let act = act("W1", Some(claimed.claim.token));
    tasks::act(&list, &act, &id, finish(Ending::Failed)).unwrap();
    assert_eq!(status(&world, &id), CoordStatus::Failed);
}

#[test]
fn what_is_done_stays_done_and_what_is_held_stays_held() {
    let world = World::real();
    let list = begun(&world);
    let (one, two) = (put(&world, draft("One")), put(&world, draft("Two")));
    let ann = act("ann", None);
    tasks::act(&list, &ann, &one, finish(Ending::Completed)).unwrap();
    assert!(
        world
            .place()
            .join("repo/.coordination/results/task-001.md")
            .exists()
    );
    assert!(matches!(
        rule(tasks::act(&list, &ann, &one, Move::Reopen)),
        WrongStatus { .. }
    ));
    assert!(matches!(
        rule(tasks::undo(&list, &worker("ann"), UndoMode::Undo)),
        WrongStatus { .. }
    ));
    claims::claim(&list, &terms("W1"), &two).unwrap();
    let force = tasks::act(&list, &ann, &two, Move::Release { force: true });
    assert!(matches!(rule(force), Held { .. }));
    assert_eq!(status(&world, &two), CoordStatus::Claimed);
    world.pass(SignedDuration::from_mins(16));
    tasks::act(&list, &ann, &two, Move::Release { force: true }).unwrap();
    assert_eq!(status(&world, &two), CoordStatus::Available);
}

#[test]
fn a_dry_run_asks_the_table_too() {
    let world = World::real();
    let list = begun(&world);
    let needs = put(
        &world,
        NewCoordTask {
            required_capabilities: vec!["rust".to_owned()],
            ..draft("Port it")
        },
    );
    let (held, first) = (put(&world, draft("Held")), put(&world, draft("First")));
    let then = put(
        &world,
        NewCoordTask {
            dependencies: vec![first.clone()],
            ..draft("Then")
        },
    );
    claims::claim(&list, &terms("W1"), &held).unwrap();
    let ann = Act {
        at: world.home.now(),
        ..act("ann", None)
    };
    let before = table(&world);
    let refusals = |ids: &[&TaskId], event: Move| -> Vec<_> {
        let ids: Vec<TaskId> = ids.iter().copied().cloned().collect();
        let previews = tasks::preview_moves(&list, &ann, &ids, &event).unwrap();
        previews.into_iter().map(|it| it.refusal).collect()
    };
    let done = finish(Ending::Completed);
    let told = refusals(&[&needs, &first, &then], done.clone());
    assert!(
        matches!(
            &told[..],
            [Some(Error::Coordination(Incapable { .. })), None, None]
        ),
        "{told:?}"
    );
    let told = refusals(&[&held], Move::Release { force: true });
    assert!(
        matches!(&told[..], [Some(Error::Coordination(Held { .. }))]),
        "{told:?}"
    );
    assert_eq!(table(&world), before);

    let both = [first.clone(), then.clone()];
    tasks::act_all(&list, &ann, &both[..], done).unwrap();
    let undo = tasks::undo(&list, &worker("ann"), UndoMode::DryRun);
    assert!(matches!(rule(undo), WrongStatus { .. }));
    let told = refusals(&[&first], Move::Reopen);
    assert!(
        matches!(&told[..], [Some(Error::Coordination(WrongStatus { .. }))]),
        "{told:?}"
    );
}

#[test]
fn a_claim_lasts_as_long_as_the_directory_s_however_long_was_asked_for() {
    let world = World::real();
    let list = begun(&world);
    let one = put(&world, draft("One"));
    let hours = SignedDuration::from_hours(2);
    let asked = Terms {
        lease: hours,
        ..terms("W1")
    };
    let claim = claims::claim(&list, &asked, &one).unwrap().claim;
    let lasts = claim.expires_at.duration_since(claim.at);
    assert_eq!((lasts, lasts), (list.lease(hours), LEASE));
    assert_eq!(world.list().lease(hours), hours);
}

#[test]
fn whoever_was_away_for_too_long_claims_its_task_anew() {
    let world = World::real();
    let list = begun(&world);
    let one = put(&world, draft("One"));
    let first = claims::claim(&list, &terms("W1"), &one).unwrap();
    world.pass(SignedDuration::from_mins(16));
    let again = claims::claim_next(&list, &terms("W1")).unwrap();
    assert_eq!(again.task.id, one);
    assert!(again.claim.token > first.claim.token);
}

#[test]
fn a_holder_that_nobody_knows_is_not_taken_for_dead() {
    let world = World::real();
    let list = begun(&world);
    let one = put(&world, draft("One"));
    let path = world.place().join("repo/.coordination/tasks.json");
    let text = fs::read_to_string(&path).unwrap();
    let held = "\"status\": \"in_progress\", \"claimed_by\": \"terminal 2\"";
    fs::write(&path, text.replace("\"status\": \"available\"", held)).unwrap();
    let task = list.task(&one).unwrap().task;
    assert_eq!(
        (task.state, task.owner.as_deref()),
        (State::InProgress(None), Some("terminal 2"))
    );
    world.pass(SignedDuration::from_hours(24));
    assert!(claims::claim(&list, &terms("W1"), &one).is_err());
    let done = tasks::act(&list, &act("W1", None), &one, finish(Ending::Completed));
    assert!(matches!(done, Err(Error::CoordinationLate { .. })));
    let late = world
        .place()
        .join("repo/.coordination/results/late/task-001.md");
    assert!(
        fs::read_to_string(late)
            .unwrap()
            .contains("what came of it")
    );
}

#[test]
fn what_a_table_cannot_do_is_refused() {
    let world = World::real();
    let list = begun(&world);
    let one = tasks::add(&list, &worker("ann"), &subject("One"), &[])
        .unwrap()
        .id;
    let ids = [one.clone()];
    let ann = worker("ann");
    let home = world.list();
    let refused = [
        tasks::remove(&list, &ann, &one).map(drop),
        tasks::preview_removal(&list, &ann, &ids).map(drop),
        tasks::relocate(&list, &home, &ann, &ids, tasks::Ties::Cut).map(drop),
        tasks::relocate(&home, &list, &ann, &ids, tasks::Ties::Cut).map(drop),
        tasks::undo(&list, &ann, UndoMode::Undo).map(drop),
    ];
    for refused in refused {
        fails!(refused, Error::NotInTable { .. });
    }
    coordination::claim(&directory(&world), &worker("W1"), None).unwrap();
    let undone = tasks::undo(&list, &worker("W1"), UndoMode::Undo);
    fails!(undone, Error::NotInTable { .. });
}

#[test]
fn both_sorts_of_verbs_see_one_claim() {
    let world = World::real();
    let list = begun(&world);
    let (one, two) = (put(&world, draft("One")), put(&world, draft("Two")));
    let w1 = worker("W1");
    let hand = |token| coordination::CoordActor { actor: &w1, token };
    let claimed = claims::claim(&list, &terms("W1"), &one).unwrap();
    let started = coordination::start(&directory(&world), &hand(Some(claimed.claim.token)), &one);
    assert_eq!(started.unwrap().status, CoordStatus::InProgress);
    let claimed = coordination::claim(&directory(&world), &w1, Some(&two)).unwrap();
    let done = tasks::act(
        &list,
        &act("W1", claimed.token),
        &two,
        finish(Ending::Completed),
    );
    assert_eq!(done.unwrap().state, State::Completed);
    let look = directory(&world).look().unwrap();
    assert_eq!(look.board.agents.len(), 1);
    let row = look.board.task(&two).unwrap();
    assert_eq!(row.result.output.as_deref(), Some("what came of it"));
    assert!(row.completed_at.is_some());
}

#[test]
fn the_table_s_own_order_holds_and_nothing_starves() {
    let world = World::real();
    let list = begun(&world);
    let old = put(&world, draft("Waits for long"));
    world.pass(SignedDuration::from_hours(2));
    let urgent = Fields {
        priority: Some(Some(flagpost_model::task::Priority::Critical)),
        ..subject("Now")
    };
    tasks::add(&list, &worker("ann"), &urgent, &[]).unwrap();
    assert_eq!(next_of(&list, "W1"), old);
}

#[test]
fn a_row_that_nobody_changed_keeps_every_byte() {
    let world = World::real();
    let list = begun(&world);
    let (one, two) = (put(&world, draft("One")), put(&world, draft("Two")));
    let raw = |id: &TaskId| list.task(id).unwrap().raw().clone();
    let before = (raw(&one), raw(&two));
    claims::claim(&list, &terms("W1"), &one).unwrap();
    assert_eq!(raw(&two), before.1);
    let keys: Vec<String> = raw(&one).keys().cloned().collect();
    assert_eq!(
        &keys[..before.0.len()],
        before.0.keys().cloned().collect::<Vec<_>>()
    );
}

#[test]
fn without_a_repository_it_works_and_is_told_nowhere() {
    let world = World::real();
    let dir = world.place().join("elsewhere/.coordination");
    fs::create_dir_all(&dir).unwrap();
    let directory = coordination::init(&world.home, &dir, "Build it", None).unwrap();
    let list = List::of_table(&world.home, directory).unwrap();
    let before = world.history().len();
    let one = tasks::add(&list, &worker("ann"), &subject("One"), &[])
        .unwrap()
        .id;
    tasks::act(&list, &act("ann", None), &one, finish(Ending::Completed)).unwrap();
    assert_eq!(world.history().len(), before);
    assert!(matches!(
        tasks::undo(&list, &worker("ann"), UndoMode::Undo),
        Err(Error::NoRepository { .. })
    ));
    let again = List::find(&world.home, list.id()).unwrap();
    assert_eq!(again.load().unwrap().outlines.len(), 1);
}

#[test]
fn a_table_that_was_changed_without_the_lock_is_not_written_over() {
    let world = World::real();
    let list = begun(&world);
    let one = put(&world, draft("One"));
    let path = world.place().join("repo/.coordination/tasks.json");
    let meddle = |_: &flagpost_model::task::Task| {
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("\"One\"", "\"By hand\"")).unwrap();
        Revision {
            fields: subject("Ours"),
            moves: Vec::new(),
        }
    };
    let refused = claims::revise(&list, &terms("ann"), &one, &meddle);
    fails!(refused, Error::Disk(disk::Error::Changed { .. }));
    assert_eq!(list.task(&one).unwrap().task.subject, "By hand");
}

#[test]
fn a_table_that_is_none_is_refused_and_stays() {
    let world = World::real();
    let list = begun(&world);
    let path = world.place().join("repo/.coordination/tasks.json");
    for content in ["", "[]", "{\"tasks\": ["] {
        fs::write(&path, content).unwrap();
        let refused = [
            list.load().map(drop),
            tasks::add(&list, &worker("ann"), &subject("One"), &[]).map(drop),
            claims::claim_next(&list, &terms("W1")).map(drop),
        ];
        for refused in refused {
            fails!(refused, Error::Disk(disk::Error::Malformed { .. }));
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
}
