//! The power goes after any step of a pass, or a step fails. Whoever processes next leaves every
//! command executed once and answered once, and agents find an inbox at every moment.

use std::{collections::BTreeSet, ops::ControlFlow::Continue};

use flagpost_core::{Result, bridge::Processor};
use flagpost_model::task::{State, Task};
use flagpost_testkit::power::{CrashOutcome, Fault, PowerFs, every_crash};
use serde_json::{Value, json};

use super::{answers, bridge, command, inbox, pass, processing, put};
use crate::{
    account,
    world::{World, add, power, simulated_home, tasks_of},
};

/// 1 is there to be done, 2 there for a remark, 3 to be deleted, 4 waits for 3.
fn setup(items: &Value) -> PowerFs {
    let fs = power();
    let world = World::simulated(&fs);
    let list = world.list();
    add(&list, "Done", &[]);
    add(&list, "Noted", &[]);
    add(&list, "Deleted", &[]);
    add(&list, "Waits", &[3]);
    put(&world.home, items.to_string());
    fs.settle();
    fs
}

fn run(fs: &PowerFs) -> Result<usize> {
    let home = simulated_home(fs);
    let bridge = bridge(&home);
    let mut processor = Processor::start(&bridge)?.expect("nobody else processes");
    processor.pass(&mut |_| Continue(()))
}

/// What must hold after a pass that was interrupted anywhere and one that was not.
fn survives(items: &Value, check_tasks: &dyn Fn(&[Task])) {
    let count = items.as_array().unwrap().len();
    let check = |fs: &PowerFs, answer: &Result<usize>| {
        let world = World::simulated(fs);
        assert!(
            world.home.fs().stat(&inbox(&world.home)).is_ok(),
            "no moment is without an inbox"
        );
        let before = answers(&world.home);
        assert!(
            answer.is_err() || before.len() == count,
            "acknowledged and not answered"
        );
        pass(&world.home);
        assert!(processing(&world.home).is_empty());
        let told = answers(&world.home);
        let who: BTreeSet<String> = told
            .iter()
            .map(|it| format!("{} {}", it["commandId"], it["index"]))
            .collect();
        assert_eq!((told.len(), who.len()), (count, count), "{told:#?}");
        for answer in &told {
            let is_bad = answer["commandId"].is_null();
            let expected = if is_bad { "error" } else { "ok" };
            assert_eq!(answer["status"], expected, "{answer}");
        }
        let tasks: Vec<Task> = tasks_of(&world.list()).into_values().collect();
        check_tasks(&tasks);
        account::agrees(&world);
    };
    let base = setup(items);
    let fresh = || base.recovered(&base.choices(0).pop().unwrap());
    let free = fresh();
    free.run_free();
    run(&free).unwrap();
    for cut in 0..=free.steps().len() {
        let fs = fresh();
        fs.cut_after(cut);
        let answer = run(&fs);
        for choice in some(fs.choices(cut as u64)) {
            let _witness =
                Witness(|| format!("a cut after {cut} of {:#?}\n{choice:#?}", free.steps()));
            check(&fs.recovered(&choice), &answer);
        }
    }
    for fault in [Fault::NoSpace, Fault::Broken] {
        for step in 1.. {
            let fs = fresh();
            fs.fail_step(step, fault);
            let answer = run(&fs);
            let Some(failed) = fs.failed() else { break };
            let _witness = Witness(|| format!("{fault:?} at step {step}, {failed:?}"));
            check(&fs, &answer);
            for choice in some(fs.choices(step as u64)) {
                check(&fs.recovered(&choice), &answer);
            }
        }
    }
}

/// Nothing that was not synced is there, everything is, and something in between.
fn some(mut choices: Vec<CrashOutcome>) -> Vec<CrashOutcome> {
    let last = choices.pop();
    let middle = choices
        .len()
        .checked_sub(1)
        .map(|end| choices.swap_remove(end / 2 + end % 2));
    let first = (!choices.is_empty()).then(|| choices.swap_remove(0));
    [first, middle, last].into_iter().flatten().collect()
}

/// Says where a check failed.
struct Witness<F: Fn() -> String>(F);

impl<F: Fn() -> String> Drop for Witness<F> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", (self.0)());
        }
    }
}

fn count(tasks: &[Task], subject: &str) -> usize {
    tasks.iter().filter(|task| task.subject == subject).count()
}

#[test]
fn of_adding() {
    let items = json!([
        command("a", "create", json!({"title": "One"})),
        null,
        command(
            "b",
            "create-subtask",
            json!({"parentId": "2", "title": "Part"})
        ),
    ]);
    survives(&items, &|tasks| {
        assert_eq!(
            (count(tasks, "One"), count(tasks, "Part"), tasks.len()),
            (1, 1, 6)
        );
    });
}

#[test]
fn of_adding_many() {
    let drafts: Value = (0..4)
        .map(|n| json!({"title": format!("Many {n}")}))
        .collect();
    survives(
        &json!([command("a", "bulk-create", json!({"tasks": drafts}))]),
        &|tasks| {
            let each: Vec<usize> = (0..4).map(|n| count(tasks, &format!("Many {n}"))).collect();
            assert_eq!((each, tasks.len()), (vec![1; 4], 8));
        },
    );
}

#[test]
fn of_completing() {
    survives(
        &json!([command("a", "complete", json!({"taskId": "1"}))]),
        &|tasks| {
            let done = tasks.iter().find(|task| task.subject == "Done").unwrap();
            assert_eq!((&done.state, tasks.len()), (&State::Completed, 4));
        },
    );
}

#[test]
fn of_changing_and_removing() {
    let items = json!([
        command("a", "add-note", json!({"taskId": "2", "content": "Once"})),
        command("b", "delete", json!({"taskId": "3"})),
        command(
            "c",
            "update",
            json!({"taskId": "4", "status": "in_progress", "title": "Begun"})
        ),
        command("d", "start-timer", json!({"taskId": "2"})),
    ]);
    survives(&items, &|tasks| {
        let noted = tasks.iter().find(|task| task.subject == "Noted").unwrap();
        assert_eq!((noted.notes.len(), noted.timer.is_some()), (1, true));
        assert_eq!((count(tasks, "Deleted"), tasks.len()), (0, 3));
        let begun = tasks.iter().find(|task| task.subject == "Begun").unwrap();
        assert_eq!(
            (begun.state.name().as_str(), begun.attempts),
            ("in_progress", 1)
        );
    });
}

/// An agent asks again, since it never saw the answer.
#[test]
fn of_an_agent_that_asks_again() {
    let items = json!([command("a", "create", json!({"title": "One"})), null]);
    let check = |fs: &PowerFs, _: &Result<usize>| {
        let world = World::simulated(fs);
        put(&world.home, items.to_string());
        pass(&world.home);
        assert_eq!(
            count(
                &tasks_of(&world.list()).into_values().collect::<Vec<_>>(),
                "One"
            ),
            1
        );
    };
    every_crash(|| setup(&items), run, check);
}

/// The power goes again while the first crash is mended.
#[test]
fn and_of_another_crash_after_it() {
    let items = json!([command(
        "b",
        "add-note",
        json!({"taskId": "2", "content": "Once"})
    )]);
    let base = setup(&items);
    let fresh = || base.recovered(&base.choices(0).pop().unwrap());
    let free = fresh();
    free.run_free();
    run(&free).unwrap();
    for cut in (0..free.steps().len()).step_by(3) {
        let fs = fresh();
        fs.cut_after(cut);
        let _: Result<usize> = run(&fs);
        let left = fs.recovered(&fs.choices(0).pop().unwrap());
        for again in (0..free.steps().len()).step_by(2) {
            let fs = left.recovered(&left.choices(0).pop().unwrap());
            fs.cut_after(again);
            let _: Result<usize> = run(&fs);
            for choice in some(fs.choices(again as u64)) {
                let fs = fs.recovered(&choice);
                let world = World::simulated(&fs);
                pass(&world.home);
                let tasks: Vec<Task> = tasks_of(&world.list()).into_values().collect();
                let noted = tasks.iter().find(|task| task.subject == "Noted").unwrap();
                assert_eq!(
                    (noted.notes.len(), answers(&world.home).len()),
                    (1, 1),
                    "{cut} {again}"
                );
            }
        }
    }
}
