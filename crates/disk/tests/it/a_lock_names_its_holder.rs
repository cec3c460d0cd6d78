//! A lock has one holder, is waited for no longer than asked, and goes with its holder.

use std::{
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use flagpost_disk::{
    Error,
    fsx::{Rank, RealFs, lock, try_hold},
};
use flagpost_testkit::{patience::patience, race::Child, scratch::scratch};
use jiff::Timestamp;
use tempfile::TempDir;

use crate::child::CHILDREN;

/// A place where another process holds the lock.
fn held_elsewhere(role: &str, report: &str) -> (TempDir, Child) {
    let place = scratch();
    let child = CHILDREN.start(role, place.path());
    assert_eq!(child.next_report().as_deref(), Some(report));
    (place, child)
}

#[test]
fn and_fails_after_the_bound() {
    let (place, child) = held_elsewhere("lock", "locked");
    let path = place.path().join(".lock");
    let wait = Duration::from_millis(300);
    let began = Instant::now();
    let busy = lock(&RealFs, &path, Rank::List, wait, Timestamp::UNIX_EPOCH).unwrap_err();
    let took = began.elapsed();
    assert!(took >= wait, "{took:?}");
    let text = busy.to_string();
    let Error::Busy { holder, waited, .. } = busy else {
        panic!("{text}");
    };
    let holder = holder.expect("it signed");
    assert_eq!(holder.pid, child.id());
    assert_eq!(waited, wait);
    assert!(text.contains(&format!("by pid {}", child.id())), "{text}");
    assert!(text.contains("waited 0.3 s"), "{text}");
}

#[test]
fn and_is_free_when_its_holder_dies() {
    for (role, report) in [("lock", "locked"), ("hold", "true")] {
        let (place, child) = held_elsewhere(role, report);
        let path = place.path().join(".lock");
        assert!(try_hold(&RealFs, &path).unwrap().is_none());
        child.kill();
        let now = Timestamp::UNIX_EPOCH;
        lock(&RealFs, &path, Rank::List, Duration::ZERO, now).expect("nobody holds it");
    }
}

#[test]
fn and_is_handed_to_who_waits() {
    let (place, mut child) = held_elsewhere("lock", "locked");
    let path = place.path().join(".lock");
    let (send, begun) = mpsc::channel();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            send.send(()).unwrap();
            let now = Timestamp::UNIX_EPOCH;
            lock(&RealFs, &path, Rank::List, patience(), now).is_ok()
        });
        begun.recv().unwrap();
        child.release();
        assert!(waiting.join().unwrap());
    });
    child.finish();
}

#[test]
fn and_who_gave_up_waiting_does_not_keep_it() {
    let (place, mut child) = held_elsewhere("lock", "locked");
    let path = place.path().join(".lock");
    let now = Timestamp::UNIX_EPOCH;
    for _ in 0..5 {
        let brief = Duration::from_millis(1);
        lock(&RealFs, &path, Rank::List, brief, now).unwrap_err();
    }
    child.release();
    child.finish();
    for _ in 0..5 {
        lock(&RealFs, &path, Rank::List, patience(), now).expect("it comes to us in the end");
    }
}

#[test]
fn and_a_new_holder_signs_over_the_old_one() {
    let place = scratch();
    let path = place.path().join(".lock");
    let take = || {
        lock(
            &RealFs,
            &path,
            Rank::List,
            Duration::ZERO,
            Timestamp::UNIX_EPOCH,
        )
    };
    let long = format!(
        "pid: 1\ncommand: {}\nsince: 2020-01-01T00:00:00Z\n",
        "x".repeat(500)
    );
    try_hold(&RealFs, &path)
        .unwrap()
        .unwrap()
        .sign(&long)
        .unwrap();
    let _held = take().unwrap();
    let Error::Busy {
        holder: Some(holder),
        ..
    } = thread::scope(|scope| {
        // The rank is a thread's: another one may ask.
        scope.spawn(take).join().unwrap().unwrap_err()
    })
    else {
        panic!("not busy, or unsigned");
    };
    assert_eq!(holder.pid, std::process::id());
    assert_eq!(holder.since, Timestamp::UNIX_EPOCH);
}

#[test]
fn and_may_be_taken_within_a_lower_one() {
    let place = scratch();
    let take = |name: &str, rank| {
        let path = place.path().join(name);
        lock(&RealFs, &path, rank, patience(), Timestamp::UNIX_EPOCH).unwrap()
    };
    let _list = take("list", Rank::List);
    drop(take("session", Rank::Session));
    let _direction = take("direction", Rank::Direction);
    let _history = take("history", Rank::History);
}

#[cfg(debug_assertions)]
#[test]
#[should_panic(expected = "lock order")]
fn and_may_not_be_taken_within_a_higher_one() {
    let place = scratch();
    let take = |name: &str, rank| {
        let path = place.path().join(name);
        lock(&RealFs, &path, rank, patience(), Timestamp::UNIX_EPOCH).unwrap()
    };
    let _session = take("session", Rank::Session);
    let _list = take("list", Rank::List);
}
