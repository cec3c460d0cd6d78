//! Others write there too: with the lock, without it, and nonsense.

use std::fs;

use flagpost_core::{
    Error, Result,
    coordination::{self, Directory},
    history::Kind,
};
use flagpost_disk as disk;
use flagpost_model::{coordination::CoordRefusal, task::StateName};
use jiff::SignedDuration;

use super::{add, begin, complete, hand, id, told};
use crate::world::{World, worker};

fn made(world: &World) -> Directory<'_> {
    begin(&world.home, &world.place().join("repo"))
}

#[test]
fn a_table_that_is_none_is_refused_and_stays() {
    let world = World::real();
    let directory = made(&world);
    add(&directory, "One").unwrap();
    for (name, content) in [
        ("tasks.json", "{\"tasks\": ["),
        ("tasks.json", "[]"),
        ("tasks.json", ""),
    ] {
        let path = directory.path(name);
        let before = fs::read(&path).unwrap();
        fs::write(&path, content).unwrap();
        let answers: [Result<()>; 4] = [
            add(&directory, "Two").map(drop),
            coordination::claim(&directory, &worker("W1"), None).map(drop),
            coordination::register(&directory, &worker("W1"), &[]).map(drop),
            directory.look().map(drop),
        ];
        for answer in answers {
            let refused = matches!(answer, Err(Error::Disk(disk::Error::Malformed { .. })));
            assert!(refused, "{name}: {answer:?}");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
        fs::write(&path, before).unwrap();
    }
    assert!(complete(&directory, "W1", "task-001").is_err());
}

#[test]
fn agents_that_are_none_are_not_written_over_and_hide_no_task() {
    let world = World::real();
    let directory = made(&world);
    let path = directory.path("agents.json");
    fs::write(&path, "{").unwrap();
    add(&directory, "One").unwrap();
    let look = directory.look().unwrap();
    assert_eq!((look.board.tasks.len(), look.skipped.len()), (1, 1));
    let answers: [Result<()>; 2] = [
        coordination::claim(&directory, &worker("W1"), None).map(drop),
        coordination::register(&directory, &worker("W1"), &[]).map(drop),
    ];
    for answer in answers {
        let refused = matches!(answer, Err(Error::Disk(disk::Error::Malformed { .. })));
        assert!(refused, "{answer:?}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "{");
}

/// As the original writes its agents: under their own lock, truncated and filled.
fn register_as_others_do(path: &std::path::Path, name: &str) {
    let lock = fs::File::options()
        .create(true)
        .append(true)
        .open(path.with_extension("json.lock"))
        .unwrap();
    lock.lock().unwrap();
    let text = fs::read_to_string(path).unwrap();
    let mut table: serde_json::Value = serde_json::from_str(&text).unwrap();
    let row =
        serde_json::json!({"id": name, "capabilities": [], "last_seen": "2026-05-13T14:25:00"});
    table["agents"].as_array_mut().unwrap().push(row);
    let text = table.to_string();
    let (begin, end) = text.split_at(text.len() / 2);
    let mut file = fs::File::create(path).unwrap();
    for part in [begin, end] {
        std::io::Write::write_all(&mut file, part.as_bytes()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

#[test]
fn no_agent_is_lost_beside_a_program_that_writes_agents_under_their_own_lock() {
    const EACH: usize = 40;
    let world = World::real();
    let directory = made(&world);
    let path = directory.path("agents.json");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..EACH {
                register_as_others_do(&path, &format!("other-{n}"));
            }
        });
        for n in 0..EACH {
            coordination::register(&directory, &worker(&format!("W{n}")), &[]).unwrap();
            assert!(directory.look().unwrap().skipped.is_empty());
        }
    });
    assert_eq!(directory.look().unwrap().board.agents.len(), 2 * EACH);
}

#[test]
fn what_is_changed_by_hand_counts() {
    let world = World::real();
    let directory = made(&world);
    add(&directory, "One").unwrap();
    let table = directory.path("tasks.json");
    let text = fs::read_to_string(&table).unwrap();
    fs::write(&table, text.replace("\"available\"", "\"in_progress\"")).unwrap();
    // Nobody knows who, or since when: nobody takes it for dead.
    world.pass(SignedDuration::from_hours(24));
    let idle = coordination::claim(&directory, &worker("W1"), None).unwrap_err();
    assert!(
        matches!(&idle, Error::Idle { idle, .. } if idle.held == 1),
        "{idle}"
    );
    coordination::retry(&directory, &worker("ann"), &[id("task-001")]).unwrap();
    coordination::claim(&directory, &worker("W1"), None).unwrap();
    assert_eq!(told(&directory.look().unwrap()), ["task-001 claimed W1"]);
}

#[test]
fn trap_22_no_task_is_taken_from_a_worker_that_gives_signs_of_life() {
    let world = World::real();
    let directory = made(&world);
    add(&directory, "One").unwrap();
    let (w1, w2) = (worker("W1"), worker("W2"));
    let first = coordination::claim(&directory, &w1, None).unwrap();
    for _ in 0..4 {
        world.pass(SignedDuration::from_mins(14));
        assert!(coordination::claim(&directory, &w2, None).is_err());
        coordination::heartbeat(&directory, &w1, None).unwrap();
    }
    world.pass(SignedDuration::from_mins(16));
    let second = coordination::claim(&directory, &w1, None).unwrap();
    assert!(second.token > first.token, "the same name, another claim");
    let stale = coordination::CoordActor {
        actor: &w1,
        token: first.token,
    };
    fails!(
        coordination::fail(&directory, &stale, &id("task-001"), "an old word"),
        Error::CoordinationLate {
            refusal: CoordRefusal::Stale { .. },
            ..
        }
    );
    let kept = fs::read_to_string(directory.path("results/late/task-001.md")).unwrap();
    assert!(kept.ends_with("W1\n\nan old word\n"), "{kept}");
    world.pass(SignedDuration::from_mins(16));
    coordination::claim(&directory, &w2, None).unwrap();
    let refused = coordination::start(&directory, &hand(&w1), &id("task-001"));
    fails!(refused, Error::Coordination(CoordRefusal::Held { .. }));
}

#[test]
fn each_change_of_a_task_is_a_line_of_the_repositorys_history() {
    let world = World::real();
    let directory = made(&world);
    let before = world.history().len();
    add(&directory, "One").unwrap();
    coordination::register(&directory, &worker("W1"), &[]).unwrap();
    coordination::claim(&directory, &worker("W1"), None).unwrap();
    coordination::heartbeat(&directory, &worker("W1"), None).unwrap();
    complete(&directory, "W1", "task-001").unwrap();
    let lines = world.history().split_off(before);
    let told: Vec<_> = lines
        .iter()
        .map(|it| (it.entry.kind.clone(), it.entry.to))
        .collect();
    assert_eq!(
        told,
        [
            (Kind::TaskCreated, Some(StateName::Pending)),
            (Kind::TaskClaimed, Some(StateName::Claimed)),
            (Kind::TaskCompleted, Some(StateName::Completed)),
        ]
    );
    assert!(
        lines
            .iter()
            .all(|it| it.entry.detail.contains_key("coordination"))
    );
}

#[test]
fn a_directory_in_no_repository_works_without_a_history() {
    let world = World::real();
    let elsewhere = world.place().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let before = world.history().len();
    let directory = begin(&world.home, &elsewhere);
    add(&directory, "One").unwrap();
    coordination::claim(&directory, &worker("W1"), None).unwrap();
    assert_eq!(world.history().len(), before);
}
