//! Whether a history and a list agree, whatever has happened to both.

use std::collections::{BTreeMap, BTreeSet};

use flagpost_core::history::{Kind, Line};
use flagpost_model::{TaskId, task::StateName};

use crate::world::{World, tasks_of};

/// The numbers of the lines that a later line takes back.
pub fn voided(lines: &[Line]) -> BTreeSet<u64> {
    let voids = lines.iter().filter(|line| line.entry.kind == Kind::Void);
    voids
        .map(|line| line.entry.detail["n"].as_u64().unwrap())
        .collect()
}

/// The lines that stand.
pub fn standing(lines: &[Line]) -> Vec<&Line> {
    let voided = voided(lines);
    let stands = |line: &&Line| line.entry.kind != Kind::Void && !voided.contains(&line.n);
    lines.iter().filter(stands).collect()
}

/// Every token that the lines tell of, voided ones too.
pub fn tokens(lines: &[Line]) -> Vec<u64> {
    let tokens = lines
        .iter()
        .filter_map(|line| line.entry.detail.get("token"));
    tokens.map(|token| token.as_u64().unwrap()).collect()
}

/// Checks that the numbers grow by one, that no token was given twice, and that the lines which
/// stand tell of exactly the tasks and states that are on disk. Call it right after an acknowledged
/// change: a change that never appeared is taken back by the next one.
pub fn agrees(world: &World) {
    let lines = world.history();
    let numbers: Vec<u64> = lines.iter().map(|line| line.n).collect();
    let expected: Vec<u64> = (1..).take(lines.len()).collect();
    assert_eq!(numbers, expected, "the numbers grow by one");
    let tokens = tokens(&lines);
    let unique: BTreeSet<_> = tokens.iter().collect();
    assert_eq!(unique.len(), tokens.len(), "a token was given twice");

    let mut told: BTreeMap<TaskId, StateName> = BTreeMap::new();
    let name = world.repository.name.clone();
    let ours = |line: &&Line| line.entry.list.as_ref() == Some(&name);
    for line in standing(&lines).into_iter().filter(ours) {
        let Some(task) = line.entry.task.clone() else {
            continue;
        };
        match (&line.entry.kind, line.entry.to) {
            (Kind::TaskRemoved | Kind::TaskVanished, _) => drop(told.remove(&task)),
            (_, Some(to)) => drop(told.insert(task, to)),
            _ => {}
        }
    }
    let tasks = tasks_of(&world.list());
    // What a foreign program wrote and nobody moved has no line.
    let ours = tasks.values().filter(|task| task.rev > 0);
    let moved = ours.map(|task| (task.id.clone(), task.state.name()));
    let on_disk: BTreeMap<TaskId, StateName> = moved
        .filter(|(id, state)| told.contains_key(id) || *state != StateName::Pending)
        .collect();
    assert_eq!(told, on_disk, "history and list differ");
}
