//! What the other processes of these tests do, each with a home of its own that it opens anew.

use std::sync::Arc;

use flagpost_core::{Error, Home, List, SystemClock, claims, tasks};
use flagpost_disk::fsx::RealFs;
use flagpost_model::{
    TaskId,
    task::{Act, Ending},
};
use flagpost_testkit::race::{self, Children, Part};

use crate::world::{act, finish, subject, terms, worker};

/// The children of this binary.
pub const CHILDREN: Children = Children::of("child::main");

/// How many tasks each adds.
pub const ADDS: usize = 5;

#[test]
fn main() {
    let Some(part) = race::part() else { return };
    let home = Home::new(
        part.place().join("home"),
        Arc::new(RealFs),
        Arc::new(SystemClock),
    );
    if part.role() == "claim of the table" {
        return crate::coordination::races::claim_all(&part, &home);
    }
    let list = List::open(&home, &"repo".parse().unwrap()).unwrap();
    let name = format!("W{}", part.number());
    match part.role() {
        "claim all" => while claim(&part, &list, &name).is_some() {},
        "add" => (0..ADDS).for_each(|_| drop(add(&part, &list, &name))),
        "add, edit and finish" => (0..ADDS).for_each(|_| {
            let added = add(&part, &list, &name);
            let edit = subject(&format!("{name} edited {added}"));
            tasks::edit(&list, &worker(&name), &added, &edit).unwrap();
            let act = claim(&part, &list, &name).unwrap();
            done(&part, &list, act);
        }),
        "work" => {
            // Each process is a worker of its own, though its part has the same number.
            let name = format!("P{}", std::process::id());
            while let Some((act, id)) = claim(&part, &list, &name) {
                claims::start(&list, &terms(&name), act.token, &id).unwrap();
                done(&part, &list, (act, id));
            }
        }
        role => panic!("no such part: {role}"),
    }
}

fn add(part: &Part, list: &List<'_>, name: &str) -> TaskId {
    let added = tasks::add(list, &worker(name), &subject(name), &[]).unwrap();
    part.report(format!("added {}", added.id));
    added.id
}

fn claim(part: &Part, list: &List<'_>, name: &str) -> Option<(Act, TaskId)> {
    match claims::claim_next(list, &terms(name)) {
        Ok(claimed) => {
            let (id, token) = (claimed.task.id, claimed.claim.token);
            part.report(format!("claimed {id} {token}"));
            Some((act(name, Some(token)), id))
        }
        Err(Error::NothingReady { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

fn done(part: &Part, list: &List<'_>, (act, id): (Act, TaskId)) {
    tasks::act(list, &act, &id, finish(Ending::Completed)).unwrap();
    part.report(format!("done {id}"));
}
