//! Many processes on one list, some of them killed: nothing is lost and nothing happens twice.

use std::collections::{BTreeMap, BTreeSet};

use flagpost_core::{claims, history::Kind};
use flagpost_disk::fsx;
use flagpost_model::task::{State, Task};
use flagpost_testkit::chance::Chance;

use crate::{
    account,
    child::{ADDS, CHILDREN},
    world::{World, add, tasks_of, terms},
};

/// A world with so many tasks, written as a foreign program does: quickly.
fn world_of(tasks: usize) -> World {
    let world = World::real();
    for id in 1..=tasks {
        let text = format!(r#"{{"id": "{id}", "subject": "Task {id}", "status": "pending"}}"#);
        world.put(&format!("{id}.json"), text);
    }
    world
}

/// The numbers of the reports that begin with this word.
fn told<'r>(reports: impl IntoIterator<Item = &'r String>, word: &str) -> Vec<Vec<u64>> {
    let after = reports.into_iter().filter_map(|it| it.strip_prefix(word));
    after
        .map(|rest| {
            rest.split_whitespace()
                .map(|it| it.parse().unwrap())
                .collect()
        })
        .collect()
}

fn each_once(numbers: impl IntoIterator<Item = u64>) -> BTreeSet<u64> {
    let mut seen = BTreeSet::new();
    for number in numbers {
        assert!(seen.insert(number), "{number} twice");
    }
    seen
}

#[test]
fn sixteen_claimers_each_task_once() {
    let world = world_of(400);
    let reports = CHILDREN.race(16, "claim all", world.place());
    for own in &reports {
        let tokens: Vec<u64> = told(own, "claimed").iter().map(|it| it[1]).collect();
        assert!(tokens.is_sorted(), "tokens grow");
    }
    let claimed = told(reports.iter().flatten(), "claimed");
    let all: BTreeSet<u64> = (1..=400).collect();
    assert_eq!(each_once(claimed.iter().map(|it| it[0])), all);
    each_once(claimed.iter().map(|it| it[1]));
    // The tasks were as good as each other, so they went in order, and so did the tokens.
    let by_token: BTreeMap<u64, u64> = claimed.iter().map(|it| (it[1], it[0])).collect();
    assert!(by_token.into_values().is_sorted());
    for task in tasks_of(&world.list()).values() {
        assert!(matches!(task.state, State::Claimed(_)) && task.attempts == 1);
    }
    account::agrees(&world);
}

#[test]
fn trap_19_lost_updates() {
    let world = World::real();
    let reports = CHILDREN.race(8, "add", world.place());
    let added = told(reports.iter().flatten(), "added");
    let expected: BTreeSet<u64> = (1..=8 * ADDS as u64).collect();
    assert_eq!(each_once(added.into_iter().map(|it| it[0])), expected);
    assert_eq!(tasks_of(&world.list()).len(), 40);
    account::agrees(&world);
}

#[test]
fn sixteen_that_add_edit_and_finish_lose_nothing() {
    let world = World::real();
    let reports = CHILDREN.race(16, "add, edit and finish", world.place());
    let tasks = tasks_of(&world.list());
    assert_eq!(tasks.len(), 16 * ADDS);
    let done = told(reports.iter().flatten(), "done");
    assert_eq!(
        each_once(done.into_iter().map(|it| it[0])).len(),
        tasks.len()
    );
    for (number, own) in reports.iter().enumerate() {
        for added in told(own, "added") {
            let task = &tasks[&added[0].into()];
            assert_eq!(task.subject, format!("W{number} edited {}", task.id));
        }
    }
    let is_whole = |task: &Task| task.state == State::Completed && task.rev == 4;
    assert!(
        tasks.values().all(is_whole),
        "created, edited, claimed, done"
    );
    account::agrees(&world);
}

#[test]
fn killed_workers_leave_every_task_pending_held_or_done() {
    let mut chance = Chance::of(7);
    let world = world_of(300);
    let mut claimed = Vec::new();
    let mut done = BTreeSet::new();
    for _ in 0..6 {
        let workers: Vec<_> = (0..4)
            .map(|_| CHILDREN.start("work", world.place()))
            .collect();
        for worker in workers {
            let heard = 1 + chance.below(12);
            let mut reports: Vec<String> = (0..heard).map_while(|_| worker.next_report()).collect();
            // It goes on meanwhile: it dies wherever it happens to be.
            reports.extend(worker.kill());
            claimed.extend(told(&reports, "claimed"));
            done.extend(told(&reports, "done").into_iter().map(|it| it[0]));
        }
    }
    add(&world.list(), "The next operation", &[]);
    account::agrees(&world);

    each_once(claimed.iter().map(|it| it[0]));
    let tasks = tasks_of(&world.list());
    assert_eq!(tasks.len(), 301);
    assert!(
        done.iter()
            .all(|id| tasks[&(*id).into()].state == State::Completed)
    );
    for it in &claimed {
        let task = &tasks[&it[0].into()];
        let held = task
            .state
            .claim()
            .is_some_and(|claim| claim.token.0 == it[1]);
        assert!(held || task.state == State::Completed);
    }
    let lines = world.history();
    let claims = account::standing(&lines).into_iter();
    let claims = claims.filter(|line| line.entry.kind == Kind::TaskClaimed);
    each_once(claims.map(|line| line.entry.task.as_ref().unwrap().number().unwrap()));

    // What the dead left behind is told from a task, and goes once it is old enough.
    let loaded = world.list().load().unwrap();
    assert_eq!(loaded.skipped, []);
    let later = world.home.now() + jiff::SignedDuration::from_hours(1);
    fsx::remove_orphans(world.home.fs(), world.list().dir(), later).unwrap();
    let names = world.home.fs().names(world.list().dir()).unwrap();
    let left = names
        .iter()
        .filter(|name| name.to_string_lossy().contains(".tmp-"));
    assert_eq!(left.count(), 0);
    // The dead hold their tasks no longer than their leases.
    world.pass(jiff::SignedDuration::from_hours(1));
    let open = tasks
        .values()
        .filter(|task| task.state != State::Completed)
        .count();
    for _ in 0..open {
        claims::claim_next(&world.list(), &terms("W1")).unwrap();
    }
    account::agrees(&world);
}
