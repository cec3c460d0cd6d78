//! The power goes at any step of a session's life, or a step of it fails. The next start has every
//! task, every row and every word that was acknowledged, each once.

use std::{cell::Cell, collections::BTreeSet, path::Path};

use flagpost_core::{Home, List, Result, sessions};
use flagpost_disk::{
    dialects::session::context,
    fsx::{self, Fs},
};
use flagpost_model::{
    SessionId,
    session::{Outcome, SharedContext},
    task::StateName,
};
use flagpost_testkit::power::{PowerFs, every_crash, every_fault};

use super::{archive, bullet, notes, of, releases, row, start, state, try_begin};
use crate::{
    account,
    world::{self, World, add, id, power, worker},
};

/// A session was archived before, and knows one thing.
fn setup() -> PowerFs {
    let fs = power();
    let world = World::simulated(&fs);
    let list = world.list();
    (1..=3).for_each(|n| drop(add(&list, &format!("Task {n}"), &[])));
    let mut live = super::begin(&world, &list).live;
    live.merge(&[notes(9, "from before")]).unwrap();
    archive(live, &list).unwrap();
    fs.settle();
    fs
}

/// A session died at work: 1 was done and logged, 2 runs and left notes that nobody merged.
fn died() -> PowerFs {
    let fs = setup();
    let world = World::simulated(&fs);
    let list = world.list();
    let mut live = super::begin(&world, &list).live;
    start(&list, live.id(), 2);
    start(&list, live.id(), 3);
    live.log(&row(1)).unwrap();
    live.merge(&[notes(1, "merged")]).unwrap();
    write_notes(&fs, &live.notes_path(&id(2)), "unmerged").unwrap();
    drop(live);
    fs.settle();
    fs
}

fn write_notes(fs: &PowerFs, path: &Path, pattern: &str) -> Result<()> {
    let text = format!("## Project Patterns\n\n- {pattern}\n");
    Ok(fsx::replace(fs, path, text.as_bytes())?)
}

/// How far an operation got with its answers.
#[derive(Debug, Default)]
struct Acknowledged {
    rows: Cell<u64>,
    words: Cell<&'static [&'static str]>,
}

/// The life of a session.
fn live_and_end(fs: &PowerFs, home: &Home, said: &Acknowledged) -> Result<()> {
    let list = List::open(home, &"repo".parse().unwrap())?;
    let repository = flagpost_core::Repository::find(home, Path::new("/repo"))?.unwrap();
    let mut live = try_begin(home, &repository, &list)?.live;
    let terms = super::within(live.id(), "run-1");
    flagpost_core::claims::start(&list, &terms, None, &id(2))?;
    live.log(&row(1))?;
    said.rows.set(1);
    write_notes(fs, &live.notes_path(&id(2)), "learned")?;
    said.words.set(&["learned"]);
    let text = live.notes(&id(2))?.unwrap_or_default();
    live.merge(&[context::parse_notes(&text, &id(2), "Task 2", Outcome::Pass)])?;
    live.log(&row(3))?;
    said.rows.set(2);
    archive(live, &list).map(drop)
}

/// Every context among the sessions, with the notes beside it.
fn contexts(world: &World) -> Vec<(SharedContext, bool)> {
    let fs = world.home.fs();
    let all = of(world).all().unwrap();
    let read = |session: sessions::Session| {
        let text = fsx::read_lossy(fs, &session.dir.join("execution_context.md")).unwrap();
        let notes = fsx::stat(fs, &session.dir.join("context-task-2.md")).unwrap();
        Some((context::parse(&text?), notes.is_some()))
    };
    all.into_iter().filter_map(read).collect()
}

/// Rows that are in some session's log.
fn rows(world: &World) -> Vec<u64> {
    let all = of(world).all().unwrap();
    let ids = all.iter().flat_map(|session| &session.rows);
    ids.filter_map(|row| row.id.number()).collect()
}

/// What must hold whatever happened, once somebody begins again.
fn go_on(fs: &PowerFs, words: &[&str], rows_said: &[u64]) {
    let world = World::simulated(fs);
    let list = world.list();
    for (context, _) in contexts(&world) {
        let entries = context.history.iter();
        let titles = entries.map(|it| it.title.to_string()).collect::<Vec<_>>();
        let unique: BTreeSet<_> = titles.iter().collect();
        assert_eq!(unique.len(), titles.len(), "merged twice: {titles:?}");
    }
    let names: BTreeSet<SessionId> = ids(&world);
    let begun = super::begin(&world, &list);
    assert!(!names.contains(begun.live.id()), "an id of its own");
    let known = &begun.live.context().knowledge.patterns;
    for word in ["from before"].iter().chain(words) {
        assert!(known.contains(&bullet(word)), "{word:?} is lost: {known:?}");
    }
    let rows = rows(&world);
    for row in rows_said {
        let count = rows.iter().filter(|it| *it == row).count();
        assert_eq!(count, 1, "row {row} of {rows:?}");
    }
    for task in [1, 2, 3] {
        assert_eq!(state(&list, task), StateName::Pending, "task {task}");
        assert!(
            releases(&world.history(), &id(task)) <= 1,
            "given back twice"
        );
    }
    account::agrees(&world);
    let left = fs
        .files()
        .into_keys()
        .filter(|path| path.ends_with(".recovering"));
    assert_eq!(left.count(), 0);
    archive(begun.live, &list).unwrap();
    let named = sessions::pointed(&world.home, &list, &of(&world)).unwrap();
    assert!(named.is_some());
}

fn ids(world: &World) -> BTreeSet<SessionId> {
    let all = of(world).all().unwrap();
    all.into_iter().filter_map(|it| it.lock.session).collect()
}

/// Runs the life of a session; answers with what was acknowledged, and whether all of it was.
fn whole(fs: &PowerFs) -> (Acknowledged, bool) {
    let said = Acknowledged::default();
    let home = world::simulated_home(fs);
    let answer = live_and_end(fs, &home, &said);
    (said, answer.is_ok())
}

fn whole_went_well(fs: &PowerFs, (said, is_archived): &(Acknowledged, bool)) {
    let world = World::simulated(fs);
    if *is_archived {
        let named = sessions::pointed(&world.home, &world.list(), &of(&world));
        assert!(named.unwrap().is_some());
        assert!(of(&world).all().unwrap().len() >= 2);
    }
    let all: &[u64] = &[1, 3];
    let rows = &all[..usize::try_from(said.rows.get()).unwrap()];
    go_on(fs, said.words.get(), rows);
}

#[test]
fn of_a_whole_session() {
    every_crash(setup, whole, whole_went_well);
}

#[test]
fn of_a_whole_session_on_a_broken_disk() {
    every_fault(setup, whole, whole_went_well);
}

#[test]
fn of_a_recovery() {
    let operation = |fs: &PowerFs| {
        let home = world::simulated_home(fs);
        let list = List::open(&home, &"repo".parse().unwrap())?;
        let repository = flagpost_core::Repository::find(&home, Path::new("/repo"))?.unwrap();
        let sessions = sessions::Sessions::of(&home, &repository);
        sessions::recover(&sessions, &list, &worker("operator")).map(drop)
    };
    let check = |fs: &PowerFs, answer: &Result<()>| {
        let world = World::simulated(fs);
        if answer.is_ok() {
            assert_eq!(state(&world.list(), 2), StateName::Pending);
        }
        go_on(fs, &["merged", "unmerged"], &[1]);
        let lines = World::simulated(fs).history();
        for task in [2, 3] {
            assert_eq!(releases(&lines, &id(task)), 1);
        }
        let names = fs.names(Path::new("/repo/.claude/sessions")).unwrap();
        let interrupted = names.iter().filter(|name| {
            let name = name.to_str().unwrap_or_default();
            name.starts_with("interrupted-")
        });
        assert_eq!(interrupted.count(), 1);
    };
    every_crash(died, operation, check);
    every_fault(died, operation, check);
}

/// The power goes again while the next one begins.
#[test]
fn of_a_start_after_a_crash() {
    let operation = |fs: &PowerFs| {
        let home = world::simulated_home(fs);
        let list = List::open(&home, &"repo".parse().unwrap())?;
        let repository = flagpost_core::Repository::find(&home, Path::new("/repo"))?.unwrap();
        try_begin(&home, &repository, &list).map(drop)
    };
    let check = |fs: &PowerFs, _: &Result<()>| {
        go_on(fs, &["merged", "unmerged"], &[1]);
        let lines = World::simulated(fs).history();
        for task in [2, 3] {
            assert_eq!(releases(&lines, &id(task)), 1);
        }
    };
    every_crash(died, operation, check);
}
