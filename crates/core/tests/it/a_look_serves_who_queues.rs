//! Claimers who queue for a list are served by one look at it; each gets what it would have found
//! itself, whatever stands in the file in which they tell each other.

use std::{path::PathBuf, sync::Arc};

use flagpost_core::{Clock, Error, Home, List, Result, SystemClock, claims, tasks, tasks::Move};
use flagpost_disk::fsx::{Fs, RealFs};
use flagpost_model::TaskId;
use flagpost_testkit::power::{PowerFs, every_crash, every_fault};
use jiff::Timestamp;

use crate::{
    account,
    world::{World, act, add, finish, id, power, start, terms},
};

/// Other claimers: the time is asked for after a claimer has asked and before it has the lock, and
/// just then somebody else writes what they found.
#[derive(Debug)]
struct Others {
    fs: Arc<dyn Fs>,
    path: PathBuf,
    told: String,
    time: fn() -> Timestamp,
}

impl Clock for Others {
    fn now(&self) -> Timestamp {
        // Where it fails they told nothing.
        let _: std::io::Result<()> = self.fs.overwrite(&self.path, self.told.as_bytes());
        (self.time)()
    }
}

/// The file as claimers write it.
fn shortlist(look: u64, ready: &str) -> String {
    format!("{:<1024}", format!("{look:020}\n{ready}"))
}

/// A list of six: 5 is urgent, 6 waits for 1.
fn six() -> World {
    let world = World::real();
    for id in 1..=6 {
        let priority = if id == 5 { "critical" } else { "high" };
        let waits = if id == 6 { "\"1\"" } else { "" };
        world.put(
            &format!("{id}.json"),
            format!(
                r#"{{"id": "{id}", "subject": "Task {id}", "status": "pending",
                "blockedBy": [{waits}], "metadata": {{"priority": "{priority}"}}}}"#
            ),
        );
    }
    world
}

/// Claims the next while others tell what they found.
fn claim_while_told(world: &World, told: String) -> Result<TaskId> {
    let others = Others {
        fs: Arc::new(RealFs),
        path: world.path(".shortlist"),
        told,
        time: || SystemClock.now(),
    };
    claim_among(world.place().join("home"), others)
}

fn claim_among(home: PathBuf, others: Others) -> Result<TaskId> {
    let home = Home::new(home, others.fs.clone(), Arc::new(others));
    let list = List::open(&home, &"repo".parse().unwrap())?;
    Ok(claims::claim_next(&list, &terms("W2"))?.task.id)
}

fn claim(world: &World) -> Result<TaskId> {
    Ok(claims::claim_next(&world.list(), &terms("W1"))?.task.id)
}

#[test]
fn who_asked_before_it_began_takes_what_it_found() {
    let world = six();
    assert_eq!(claim(&world).unwrap(), id(5));
    // One who asked before that look takes its next; 3 stands there to show that it was used.
    let told = shortlist(2, "5 3 4 ");
    assert_eq!(claim_while_told(&world, told).unwrap(), id(3));
}

#[test]
fn who_asked_after_it_began_looks_anew() {
    let world = six();
    claim(&world).unwrap();
    // That look, number 1, had begun.
    let told = shortlist(1, "5 3 4 ");
    assert_eq!(claim_while_told(&world, told).unwrap(), id(1));
}

#[test]
fn nothing_is_given_out_because_it_was_found() {
    let world = six();
    let list = world.list();
    assert_eq!(claim(&world).unwrap(), id(5));
    claims::claim(&list, &terms("W1"), &id(2)).unwrap();
    tasks::act(&list, &act("W1", None), &id(2), finish_completed()).unwrap();
    world.put("3.json", "{");
    // Held, completed, broken, waiting, unknown: and nothing else, though 1 is ready.
    let told = shortlist(9, "5 2 3 6 77 ");
    assert_eq!(claim_while_told(&world, told).unwrap(), id(1));
}

fn finish_completed() -> Move {
    finish(flagpost_model::task::Ending::Completed)
}

#[test]
fn nothing_is_ready_only_where_a_look_of_ones_own_says_so() {
    let world = six();
    for _ in 0..4 {
        claim(&world).unwrap();
    }
    let told = || shortlist(99, "5 1 ");
    assert_eq!(claim_while_told(&world, told()).unwrap(), id(4));
    let nothing = claim_while_told(&world, told()).unwrap_err();
    assert!(matches!(nothing, Error::NothingReady { .. }), "{nothing}");
}

#[test]
fn what_changed_before_one_asked_is_heard() {
    let world = six();
    let list = world.list();
    assert_eq!(claim(&world).unwrap(), id(5));
    // A foreign program writes in place: 4 becomes urgent, and 2 blocks 1 as only 2 says.
    world.put(
        "4.json",
        r#"{"id": "4", "subject": "x", "metadata": {"priority": "critical"}}"#,
    );
    world.put(
        "2.json",
        r#"{"id": "2", "subject": "x", "blocks": ["1"], "metadata": {"priority": "high"}}"#,
    );
    assert_eq!(claim(&world).unwrap(), id(4));
    assert_eq!(claim(&world).unwrap(), id(2), "1 waits for it");
    let force = Move::Release { force: true };
    tasks::act(&list, &act("W1", None), &id(5), force).unwrap();
    assert_eq!(claim(&world).unwrap(), id(5), "given back");
    assert_eq!(claim(&world).unwrap(), id(3));
}

#[test]
fn whatever_is_in_the_file() {
    let good = shortlist(1, "2 3 ");
    let garbage: Vec<Vec<u8>> = vec![
        Vec::new(),
        vec![0; 1024],
        vec![0xff; 1024],
        b"7\n1 2".to_vec(),
        good.as_bytes()[..1000].to_vec(),
        shortlist(u64::MAX, "3 ").into_bytes(),
        shortlist(1, "../../etc/passwd ").into_bytes(),
        format!("{:<1024}", "-1\n3").into_bytes(),
        format!("{:<1024}", "99999999999999999999999\n3").into_bytes(),
        vec![b'9'; 5000],
    ];
    for content in garbage {
        let world = six();
        world.put(".shortlist", &content);
        assert_eq!(claim(&world).unwrap(), id(5));
        assert_eq!(claim(&world).unwrap(), id(1));
        let told = String::from_utf8_lossy(&content).into_owned();
        let next = claim_while_told(&world, told).unwrap();
        assert!([id(2), id(3)].contains(&next), "one that is ready");
    }
}

#[test]
fn where_it_is_a_directory_or_a_link() {
    let world = six();
    let path = world.path(".shortlist");
    std::fs::create_dir(&path).unwrap();
    assert_eq!(claim(&world).unwrap(), id(5));
    std::fs::remove_dir(&path).unwrap();
    let target = world.place().join("precious");
    std::fs::write(&target, "precious").unwrap();
    std::os::unix::fs::symlink(&target, &path).unwrap();
    assert_eq!(claim(&world).unwrap(), id(1));
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "precious");
}

#[test]
fn ids_that_have_no_room_are_found_again() {
    let world = World::real();
    let name = |n: u64| format!("{}{n:03}", "long-".repeat(11));
    for n in 1..=40 {
        let text = r#"{"subject": "One with a long id", "status": "pending"}"#;
        world.put(&format!("{}.json", name(n)), text);
    }
    for n in 1..=40 {
        assert_eq!(claim(&world).unwrap().as_str(), name(n));
    }
    assert!(claim(&world).is_err());
}

/// After whatever a crash left of it the next claimer takes the first that is ready.
#[test]
fn after_a_crash_or_a_fault() {
    let setup = || {
        let fs = power();
        let world = World::simulated(&fs);
        for text in ["One", "Two", "Three", "Four"] {
            add(&world.list(), text, &[]);
        }
        claims::claim_next(&world.list(), &terms("W0")).unwrap();
        fs.settle();
        fs
    };
    let claim = |fs: &PowerFs| {
        let others = Others {
            fs: Arc::new(fs.clone()),
            path: "/home/tasks/repo/.shortlist".into(),
            told: shortlist(2, "1 2 4 "),
            time: start,
        };
        claim_among("/home".into(), others)
    };
    let check = |fs: &PowerFs, answer: &Result<TaskId>| {
        let world = World::simulated(fs);
        let held = |number| {
            let task = world.list().task(&id(number)).unwrap().task;
            task.state.claim().is_some()
        };
        assert!(held(1));
        assert!(answer.is_err() || held(2), "acknowledged");
        assert!(!held(4), "they found 2 before it");
        let next = (1..).find(|it| !held(*it)).unwrap();
        let got = claims::claim_next(&world.list(), &terms("W3")).unwrap();
        assert_eq!(got.task.id, id(next));
        account::agrees(&world);
    };
    every_crash(setup, claim, check);
    every_fault(setup, claim, check);
}
