//! Other processes that hold or want the session. Each opens the home anew.

use std::{
    fs,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use flagpost_core::{Error, Home, List, Repository, claims, sessions::Sessions};
use flagpost_testkit::race::{self, ChildRole, Children};

use super::{start, try_begin, within};
use crate::world::{id, worker};

/// The children of these tests.
pub const CHILDREN: Children = Children::of("sessions::child::main");

/// How many threads each racer begins with.
pub const THREADS: usize = 4;

#[test]
fn main() {
    let Some(part) = race::part() else { return };
    let home = Home::at(part.place().join("home"));
    let top = part.place().join("repo");
    let repository = Repository::register(&home, &top, &worker("operator")).unwrap();
    let list = List::open(&home, &repository.name).unwrap();
    match part.role() {
        "begin" => part.report(answer(try_begin(&home, &repository, &list).map(drop))),
        "work" => {
            let live = try_begin(&home, &repository, &list).unwrap().live;
            (1..=3).for_each(|task| drop(start(&list, live.id(), task)));
            claims::claim(&list, &within(live.id(), "run-2"), &id(4)).unwrap();
            part.report(live.id());
            part.wait();
        }
        "look" => look(&part, &home, &repository, &list),
        "race" => race(&part, &home, &repository, &list),
        role => panic!("no such part: {role}"),
    }
}

/// In one word.
pub fn answer(answer: Result<(), Error>) -> &'static str {
    match answer {
        Ok(()) => "began",
        Err(Error::SessionLive { .. }) => "refused",
        Err(error) => panic!("{error:?}"),
    }
}

/// Begins after many a dead session while somebody else looks all the time.
fn look(part: &ChildRole, home: &Home, repository: &Repository, list: &List<'_>) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Relaxed) {
                Sessions::of(home, repository).all().unwrap();
            }
        });
        let mut begins = (0..50).map(|_| answer(try_begin(home, repository, list).map(drop)));
        let refused = begins.find(|answer| *answer != "began");
        is_over.store(true, Relaxed);
        part.report(refused.unwrap_or("began"));
    });
}

/// Begins in several threads. Whoever wins keeps the session until everybody has an answer.
fn race(part: &ChildRole, home: &Home, repository: &Repository, list: &List<'_>) {
    let answers = part.place().join("answers");
    let begin = || {
        let begun = try_begin(home, repository, list);
        fs::write(answers.join(uuid()), "").unwrap();
        let everybody = fs::read_to_string(part.place().join("racers")).unwrap();
        let everybody: usize = everybody.parse().unwrap();
        if begun.is_ok() {
            race::until("all have an answer", || {
                fs::read_dir(&answers).unwrap().count() == everybody
            });
        }
        answer(begun.map(drop))
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(begin)).collect();
        threads
            .into_iter()
            .for_each(|thread| part.report(thread.join().unwrap()));
    });
}

fn uuid() -> String {
    format!("{}-{:?}", std::process::id(), std::thread::current().id())
}
