//! Many processes at one table, half of them of another make.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use flagpost_core::{
    Error, Home, List, claims,
    coordination::{self, Directory},
};
use flagpost_disk as disk;
use flagpost_testkit::race::ChildRole;

use super::{add, begin, draft, told};
use crate::{
    child::CHILDREN,
    world::{World, terms, worker},
};

const TASKS: usize = 300;

/// The directory's own verbs, and those of a list.
const VERBS: &str = "claim of the table";
const LIST: &str = "claim of the table as a list";

/// Another program: claims the first task that is free, under the same lock, until there is none.
const PYTHON: &str = r#"
import fcntl, json, os, sys
from datetime import datetime

folder, me = sys.argv[1:]
table = os.path.join(folder, "tasks.json")
while True:
    with open(table + ".lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with open(table) as file:
            data = json.load(file)
        free = [task for task in data["tasks"] if task["status"] == "available"]
        if not free:
            break
        now = datetime.now().isoformat()
        free[0].update(status="claimed", claimed_by=me, claimed_at=now)
        data["last_updated"] = now
        with open(table + ".new", "w") as file:
            json.dump(data, file, indent=2)
        os.replace(table + ".new", table)
    print(free[0]["id"], flush=True)
"#;

/// The part of one process: claims until nothing is left.
pub fn claim_all(part: &ChildRole, home: &Home) {
    let dir = part.place().join("repo/.coordination");
    let directory = Directory::open(home, &dir).unwrap();
    let name = worker(&format!("W{}", part.number()));
    loop {
        match coordination::claim(&directory, &name, None) {
            Ok(claimed) => part.report(claimed.task.id),
            Err(Error::Idle { .. }) => return,
            Err(error) => assert!(is_patience(&error), "{error}"),
        }
    }
}

/// Whether a claimer only waited for longer than it would: a slow machine is nobody's fault.
fn is_patience(error: &Error) -> bool {
    matches!(error, Error::Disk(disk::Error::Busy { .. }))
}

/// The same by the verbs of a list.
pub fn claim_all_as_a_list(part: &ChildRole, home: &Home) {
    let dir = part.place().join("repo/.coordination");
    let list = List::of_table(home, Directory::open(home, &dir).unwrap()).unwrap();
    let terms = terms(&format!("W{}", part.number()));
    loop {
        match claims::claim_next(&list, &terms) {
            Ok(claimed) => part.report(claimed.task.id),
            Err(Error::NothingReady { .. }) => return,
            Err(error) => assert!(is_patience(&error), "{error}"),
        }
    }
}

/// What each of `ours` processes and of `theirs` claimed, by name.
fn race(ours: usize, theirs: usize, role: &str) -> (World, Vec<(String, Vec<String>)>) {
    let world = World::real();
    let top = world.place().join("repo");
    let directory = begin(&world.home, &top);
    let drafts: Vec<_> = (0..TASKS).map(|n| draft(&format!("Do {n}"))).collect();
    coordination::add(&directory, &worker("ann"), &drafts).unwrap();
    let claimed = std::thread::scope(|scope| {
        let foreign: Vec<_> = (0..theirs)
            .map(|n| {
                let dir = directory.dir();
                scope.spawn(move || (format!("P{n}"), python(dir, &format!("P{n}"))))
            })
            .collect();
        let own = CHILDREN.race(ours, role, world.place());
        let own = own.into_iter().enumerate();
        let mut all: Vec<_> = own.map(|(n, ids)| (format!("W{n}"), ids)).collect();
        all.extend(foreign.into_iter().map(|it| it.join().unwrap()));
        all
    });
    (world, claimed)
}

fn python(dir: &Path, name: &str) -> Vec<String> {
    let mut python = Command::new("python3");
    python.args(["-c", PYTHON]).arg(dir).arg(name);
    let output = python.stderr(Stdio::inherit()).output();
    let output = output.expect("install python3 to run this test");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn each_once(world: &World, claimed: &[(String, Vec<String>)]) {
    let all: Vec<_> = claimed.iter().flat_map(|(_, ids)| ids).collect();
    let distinct: BTreeSet<_> = all.iter().collect();
    assert_eq!((all.len(), distinct.len()), (TASKS, TASKS));
    let home = &world.home;
    let directory = Directory::open(home, &world.place().join("repo/.coordination")).unwrap();
    let rows: BTreeSet<String> = told(&directory.look().unwrap()).into_iter().collect();
    let reported = claimed
        .iter()
        .flat_map(|(by, ids)| ids.iter().map(move |id| format!("{id} claimed {by}")));
    assert_eq!(rows, reported.collect::<BTreeSet<_>>());
}

#[test]
fn trap_20_four_processes_claim_300_tasks_and_none_twice() {
    let (world, claimed) = race(4, 0, VERBS);
    each_once(&world, &claimed);
}

#[test]
fn trap_20_sixteen_processes_claim_300_tasks_and_none_twice() {
    let (world, claimed) = race(16, 0, VERBS);
    each_once(&world, &claimed);
}

#[test]
fn trap_20_half_of_them_in_python_and_none_twice() {
    let (world, claimed) = race(4, 4, VERBS);
    each_once(&world, &claimed);
    let some = |make: char| {
        let its = claimed.iter().filter(|(by, _)| by.starts_with(make));
        its.map(|(_, ids)| ids.len()).sum::<usize>() > 0
    };
    assert!(some('W') || some('P'));
}

#[test]
fn sixteen_processes_claim_300_tasks_of_the_list_and_none_twice() {
    let (world, claimed) = race(16, 0, LIST);
    each_once(&world, &claimed);
}

#[test]
fn half_of_them_in_python_claim_of_the_list_and_none_twice() {
    let (world, claimed) = race(4, 4, LIST);
    each_once(&world, &claimed);
}

#[test]
fn trap_19_forty_threads_add_forty_tasks() {
    let world = World::real();
    let directory = begin(&world.home, &world.place().join("repo"));
    let ids: BTreeSet<_> = std::thread::scope(|scope| {
        let add = |n| {
            let directory = &directory;
            scope.spawn(move || add(directory, &format!("Do {n}")).unwrap())
        };
        let all: Vec<_> = (0..40).map(add).collect();
        all.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert_eq!(ids.len(), 40);
    assert_eq!(told(&directory.look().unwrap()).len(), 40);
    let text = fs::read_to_string(directory.path("logs/leader.log")).unwrap();
    assert_eq!(text.lines().count(), 40);
}
