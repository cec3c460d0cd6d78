//! "ok" was printed, the task never reached the disk.

use std::collections::BTreeSet;

use flagpost_testkit::{chance::Chance, race::until};
use serde_json::{Value, json};

use super::{answers, child::CHILDREN, command, inbox, pass, processing, put};
use crate::{
    account,
    world::{World, tasks_of},
};

/// The processor is killed wherever it happens to be, again and again.
#[test]
fn a_killed_processor_leaves_every_acknowledged_task_and_none_twice() {
    const ROUNDS: usize = 12;
    const EACH: usize = 15;
    let mut chance = Chance::of(13);
    let world = World::real();
    let mut acknowledged = BTreeSet::new();
    for round in 0..ROUNDS {
        // The one that was killed may not have taken in what was there.
        let text = std::fs::read(inbox(&world.home)).unwrap_or_else(|_| b"[]".to_vec());
        let mut items: Vec<Value> = serde_json::from_slice(&text).unwrap();
        items.extend((0..EACH).map(|n| {
            let id = format!("{round}-{n}");
            command(&id, "create", json!({"title": id}))
        }));
        put(&world.home, Value::from(items).to_string());
        let server = CHILDREN.start("serve", world.place());
        let heard = 1 + chance.below(EACH);
        let mut reports: Vec<String> = (0..heard).map_while(|_| server.next_report()).collect();
        reports.extend(server.kill());
        acknowledged.extend(
            reports
                .iter()
                .filter_map(|it| it.strip_prefix("did ").map(str::to_owned)),
        );
        let there: BTreeSet<String> = subjects(&world).into_iter().collect();
        assert!(acknowledged.is_subset(&there), "acknowledged means durable");
    }
    until("the lock of the dead is free", || {
        let bridge = super::bridge(&world.home);
        bridge.running().unwrap().is_none()
    });
    pass(&world.home);
    let subjects = subjects(&world);
    assert_eq!(subjects.len(), ROUNDS * EACH);
    assert_eq!(
        subjects.iter().collect::<BTreeSet<_>>().len(),
        subjects.len(),
        "each once"
    );
    assert!(processing(&world.home).is_empty());
    assert!(
        answers(&world.home)
            .iter()
            .all(|answer| answer["status"] == "ok")
    );
    account::agrees(&world);
}

fn subjects(world: &World) -> Vec<String> {
    tasks_of(&world.list())
        .into_values()
        .map(|task| task.subject)
        .collect()
}
