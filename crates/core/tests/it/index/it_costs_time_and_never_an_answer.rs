//! A busy, broken, foreign, old or unwritable index, and one that is deleted.

use std::{os::unix::fs::PermissionsExt, path::Path, thread};

use flagpost_core::index;
use flagpost_testkit::patience::patience;
use rusqlite::Connection;

use super::{MESSAGES, sql};
use crate::{
    relay::{mail, propose, register},
    world::World,
};

fn fleet() -> World {
    let world = World::simple_clock();
    register(&world, &["W1"]);
    propose(&mail(&world, "W1"), "Mend it");
    world
}

fn path(world: &World) -> std::path::PathBuf {
    index::path(&world.home)
}

fn asked(world: &World) -> Vec<String> {
    sql(&world.home, MESSAGES)
}

#[test]
fn deleted_at_any_time() {
    let world = fleet();
    let before = asked(&world);
    let db = Connection::open(path(&world)).unwrap();
    let read = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
    let subject = db.query_row("SELECT subject FROM messages", [], read);
    assert_eq!(subject.unwrap(), "DISPATCH_BRIEF");
    // Only the file, while somebody has it open: what SQLite keeps beside it is left.
    std::fs::remove_file(path(&world)).unwrap();
    assert_eq!(asked(&world), before);
    drop(db);
    assert_eq!(asked(&world), before);
}

#[test]
fn broken_it_is_kept_aside_and_made_anew() {
    let world = fleet();
    let before = asked(&world);
    let whole = std::fs::read(path(&world)).unwrap();
    let mut holed = whole.clone();
    holed[4096..].fill(0xa5);
    for bytes in [
        &b"no database at all, and long enough to be one"[..],
        &whole[..5000],
        &holed,
    ] {
        std::fs::write(path(&world), bytes).unwrap();
        assert_eq!(asked(&world), before);
        let aside = world.home.root().join("index.db.broken");
        assert_eq!(std::fs::read(aside).unwrap(), bytes);
    }
}

#[test]
fn of_another_version_or_another_program_it_is_made_anew() {
    let world = fleet();
    let before = asked(&world);
    let db = Connection::open(path(&world)).unwrap();
    db.execute_batch("PRAGMA user_version = 99; DELETE FROM messages;")
        .unwrap();
    drop(db);
    assert_eq!(asked(&world), before);
    std::fs::remove_file(path(&world)).unwrap();
    let theirs = Connection::open(path(&world)).unwrap();
    theirs
        .execute_batch("CREATE TABLE messages(mine TEXT)")
        .unwrap();
    drop(theirs);
    assert_eq!(asked(&world), before);
    let kept = Connection::open(world.home.root().join("index.db.broken")).unwrap();
    kept.query_row("SELECT count(mine) FROM messages", [], |_| Ok(()))
        .unwrap();
}

#[test]
fn a_missing_table_is_a_break_too() {
    let world = fleet();
    let before = asked(&world);
    let db = Connection::open(path(&world)).unwrap();
    db.execute_batch("DROP TABLE envelope").unwrap();
    drop(db);
    assert_eq!(asked(&world), before);
}

#[test]
fn trap_26_a_busy_database() {
    let world = fleet();
    let before = asked(&world);
    let db = Connection::open(path(&world)).unwrap();
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    propose(&mail(&world, "W1"), "Mend that too");
    let now = asked(&world);
    assert_eq!((now.len(), &now[..1]), (2, &before[..]));
    let status = index::ask(&world.home, |index| index.status(&world.home)).unwrap();
    assert!(status.in_memory);
    db.execute_batch("ROLLBACK").unwrap();
    assert_eq!(asked(&world), now);
}

#[test]
fn trap_26_forty_at_once_write_and_ask() {
    let world = fleet();
    thread::scope(|scope| {
        for number in 0..40 {
            let world = &world;
            scope.spawn(move || {
                propose(&mail(world, "W1"), &format!("Mend {number}"));
                assert!(asked(world).len() > 1);
            });
        }
    });
    assert_eq!(asked(&world).len(), 41);
}

#[test]
fn where_nothing_can_be_written_it_is_built_in_memory() {
    let world = fleet();
    // Root may write anywhere: a directory in the place of the file stops it too.
    std::fs::create_dir(path(&world)).unwrap();
    let found = asked(&world);
    assert_eq!(found.len(), 1);
    let status = index::ask(&world.home, |index| index.status(&world.home)).unwrap();
    assert!(status.in_memory && path(&world).is_dir());
}

#[test]
fn nobody_else_may_read_it() {
    let world = fleet();
    asked(&world);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path(&world)), 0o600);
    for name in ["index.db-wal", "index.db-shm", ".index.lock"] {
        let beside = world.home.root().join(name);
        if beside.exists() {
            assert_eq!(mode(&beside), 0o600, "{name}");
        }
    }
}

#[test]
fn what_is_asked_in_sql_changes_nothing() {
    let world = fleet();
    let before = asked(&world);
    for question in [
        "DELETE FROM messages",
        "WITH gone AS (SELECT 1) DELETE FROM messages",
        "ATTACH 'x.db' AS x",
        "PRAGMA user_version = 7",
        "VACUUM INTO 'copy.db'",
        "SELECT 1; DELETE FROM messages",
        "SELECT ?",
        "SELEKT",
        "SELECT nothing FROM nowhere",
        "",
    ] {
        let refused = index::ask(&world.home, |index| index.sql(question, 0, patience()));
        assert!(
            matches!(refused, Err(flagpost_core::Error::Invalid { .. })),
            "{question}: {refused:?}"
        );
    }
    let cut = index::ask(&world.home, |index| {
        index.sql("VALUES (1), (2), (3)", 2, patience())
    })
    .unwrap();
    assert_eq!((cut.rows.len(), cut.total), (2, 3));
    assert_eq!(asked(&world), before);
}

#[test]
fn a_killed_rebuild_is_done_again() {
    let world = fleet();
    let before = asked(&world);
    let db = Connection::open(path(&world)).unwrap();
    db.busy_timeout(patience()).unwrap();
    // Cut short: a transaction that never ends is as if it had not begun.
    db.execute_batch("BEGIN IMMEDIATE; DELETE FROM envelope; DELETE FROM messages;")
        .unwrap();
    drop(db);
    assert_eq!(asked(&world), before);
}
