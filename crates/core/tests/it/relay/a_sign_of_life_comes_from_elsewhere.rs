//! A worker that is live on one machine is live on the others, as far as their clocks allow.

use flagpost_core::relay::workers::{self, Traits, tokens};
use flagpost_model::worker::{Liveness, Worker};
use jiff::SignedDuration;

use super::{mail, one_worker, register};
use crate::{
    machines::{Fleet3, Node},
    world::{World, worker},
};

/// W1, which nobody has seen for ten minutes.
fn silent() -> World {
    let world = one_worker(&[]);
    workers::heartbeat(&mail(&world, "W1"), Traits::default()).unwrap();
    world.pass(SignedDuration::from_mins(10));
    assert_eq!(shown(&world), Liveness::Silent);
    world
}

fn shown(world: &World) -> Liveness {
    workers::show(&mail(world, "W1")).unwrap().liveness
}

#[test]
fn a_worker_that_works_elsewhere_is_live_here() {
    let world = silent();
    let before = world.history().len();
    workers::seen_elsewhere(&mail(&world, "W1"), world.home.now()).unwrap();
    assert_eq!(shown(&world), Liveness::Heartbeat);
    assert_eq!(world.history().len(), before, "no line tells of it");
    world.pass(SignedDuration::from_mins(3));
    assert_eq!(shown(&world), Liveness::Silent);
}

#[test]
fn a_sign_that_is_older_or_hardly_newer_changes_nothing() {
    let world = silent();
    let w1 = mail(&world, "W1");
    let file = world.fleet().dir().join("W1/worker.json");
    let before = std::fs::read(&file).unwrap();
    let last = workers::show(&w1).unwrap().worker.last_seen.unwrap();
    for seconds in [-3600, 0, 20] {
        let at = last + SignedDuration::from_secs(seconds);
        workers::seen_elsewhere(&w1, at).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), before, "{seconds} s");
    }
    workers::seen_elsewhere(&w1, last + SignedDuration::from_secs(21)).unwrap();
    assert_ne!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn a_machine_whose_clock_is_ahead_makes_nobody_live_for_longer() {
    let world = silent();
    let ahead = world.home.now() + SignedDuration::from_hours(1);
    workers::seen_elsewhere(&mail(&world, "W1"), ahead).unwrap();
    assert_eq!(shown(&world), Liveness::Heartbeat);
    world.pass(SignedDuration::from_mins(3));
    assert_eq!(shown(&world), Liveness::Silent);
}

#[test]
fn one_that_was_taken_off_stays_off() {
    let world = silent();
    workers::retire(&world.fleet(), &worker("ann"), &worker("W1"), false).unwrap();
    workers::seen_elsewhere(&mail(&world, "W1"), world.home.now()).unwrap();
    assert_eq!(shown(&world), Liveness::Silent);
}

#[test]
fn signs_are_of_those_who_are_live() {
    let world = silent();
    register(&world, &["W2", "W3"]);
    workers::retire(&world.fleet(), &worker("ann"), &worker("W3"), false).unwrap();
    let here = Traits {
        pid: Some(std::process::id()),
        ..Traits::default()
    };
    workers::register(&world.fleet(), &worker("ann"), &worker("W4"), here).unwrap();
    let signs = || workers::signs(&world.fleet()).unwrap();
    // W4 lives by its process; W2 has said nothing yet.
    assert_eq!(signs(), [(worker("W4"), world.home.now())].into());
    world.pass(SignedDuration::from_mins(1));
    workers::heartbeat(&mail(&world, "W2"), Traits::default()).unwrap();
    let both = ["W2", "W4"].map(|it| (worker(it), world.home.now()));
    assert_eq!(signs(), both.into());
    world.pass(SignedDuration::from_mins(10));
    assert_eq!(signs(), [(worker("W4"), world.home.now())].into());
}

/// The file of W1 on this machine.
fn stored(node: &Node) -> Worker {
    workers::show(&node.mail("W1")).unwrap().worker
}

#[test]
fn a_process_is_its_own_machines() {
    let machines = Fleet3::new();
    let [a, b, _] = machines.nodes();
    let ann = worker("ann");
    // By this number something runs on every machine.
    let pid = Some(std::process::id());
    let here = Traits {
        pid,
        worktree: Some("/work/w1".to_owned()),
        ..Traits::default()
    };
    workers::register(&a.fleet(), &ann, &worker("W1"), here).unwrap();
    machines.all_follow();
    assert_eq!((stored(a).pid, stored(b).pid), (pid, None));
    assert_eq!(stored(b).worktree, None);
    // What is changed there leaves it here as it is.
    let seen = workers::heartbeat(&a.mail("W1"), Traits::default()).unwrap();
    tokens::issue(&b.mail("W1"), &ann).unwrap();
    machines.all_follow();
    assert_eq!(stored(a).pid, pid);
    assert_eq!(stored(a).worktree.as_deref(), Some("/work/w1"));
    assert_eq!(stored(a).last_seen, seen.last_seen);
    assert!(stored(a).token.is_some(), "the rest is everybody's");
    // One that registers anew has told nothing here yet.
    workers::retire(&b.fleet(), &ann, &worker("W1"), true).unwrap();
    workers::register(&b.fleet(), &ann, &worker("W1"), Traits::default()).unwrap();
    machines.all_follow();
    assert_eq!(stored(a).pid, None);
    machines.all_alike();
}

#[test]
fn a_time_that_is_still_to_come_is_no_sign() {
    let world = silent();
    let w1 = mail(&world, "W1");
    world.pass(SignedDuration::from_hours(1));
    workers::heartbeat(&w1, Traits::default()).unwrap();
    world.pass(SignedDuration::from_hours(-1));
    assert_eq!(workers::signs(&world.fleet()).unwrap(), [].into());
}
