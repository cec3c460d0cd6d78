//! Faults of tasks: their links, their parents, their states.

use super::*;

pub(super) const FAULTS: &[Fault] = &[
    ("one does not say it blocks", 0, LinkOneSided, |world| {
        world.ok(["task", "dep", "add", "2", "1"]);
        edit(&task(world, "1"), |task| task["blocks"] = json!([]));
        fixed()
    }),
    ("one does not say it waits", 0, LinkOneSided, |world| {
        world.ok(["task", "dep", "add", "2", "1"]);
        edit(&task(world, "2"), |task| task["blockedBy"] = json!([]));
        by_hand(|world| {
            assert_eq!(world.json(["show", "2"]).1["blocked_by"], json!(["1"]));
        })
    }),
    ("one waits for what there is not", 0, LinkUnknown, |world| {
        edit(&task(world, "1"), |task| task["blockedBy"] = json!(["9"]));
        by_hand(|world| drop(world.ok(["task", "dep", "rm", "1", "9"])))
    }),
    ("one blocks what there is not", 0, LinkDangling, |world| {
        edit(&task(world, "3"), |task| task["blocks"] = json!(["9"]));
        fixed()
    }),
    ("one blocks what cannot be read", 1, TaskBroken, |world| {
        edit(&task(world, "3"), |task| task["blocks"] = json!(["9"]));
        put(&task(world, "9"), "{");
        by_hand(|world| {
            fs::remove_file(task(world, "9")).unwrap();
            mends(world);
        })
    }),
    ("a circle", 1, Circle, |world| {
        world.ok(["task", "dep", "add", "2", "1"]);
        edit(&task(world, "1"), |task| task["blockedBy"] = json!(["2"]));
        edit(&task(world, "2"), |task| task["blocks"] = json!(["1"]));
        by_hand(|world| {
            let (_, answer) = world.json(["doctor"]);
            let repair = answer["findings"][0]["repair"]["text"].as_str().unwrap();
            let command = repair.split_once("flagpost ").unwrap().1;
            world.ok(command.split(' '));
        })
    }),
    ("a parent that there is not", 0, ParentUnknown, |world| {
        parent(world, "4", "19");
        by_hand(|world| drop(world.ok(["task", "edit", "4", "--parent", "none"])))
    }),
    ("parents in a circle", 0, ParentCircle, |world| {
        parent(world, "1", "2");
        parent(world, "2", "1");
        by_hand(|world| drop(world.ok(["task", "edit", "1", "--parent", "none"])))
    }),
    ("a task in two lists", 0, TaskTwice, |world| {
        let whole = fs::read(task(world, "1")).unwrap();
        world.ok(["task", "move", "1", "--to", "other"]);
        put(&task(world, "1"), whole);
        by_hand(|world| drop(world.ok(["task", "cancel", "1"])))
    }),
    ("a claim that was over long ago", 0, ClaimExpired, |world| {
        world.ok(["claim", "5", "--as", "W1"]);
        world.set("FLAGPOST_CLOCK", "2026-05-13T16:00:00Z");
        by_hand(|world| drop(world.ok(["task", "release", "5", "--force"])))
    }),
    ("a state set from outside", 0, StateOverruled, |world| {
        edit(&task(world, "6"), |task| {
            task["status"] = json!("completed")
        });
        by_hand(|world| drop(world.ok(["task", "edit", "6", "--priority", "high"])))
    }),
];

fn parent(world: &World, of: &str, parent: &str) {
    edit(&task(world, of), |task| {
        task["metadata"]["parent"] = json!(parent)
    });
}

#[test]
fn from_each_fault_of_tasks_to_a_home_that_works() {
    lead_home(FAULTS);
}
