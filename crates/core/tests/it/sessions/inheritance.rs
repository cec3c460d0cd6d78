//! A session begins with what the newest one before it knew.

use std::fs;

use super::{archive, begin, bullet, notes, of, put_foreign, recover};
use crate::world::World;

#[test]
fn knowledge_is_inherited_and_history_is_not() {
    let world = World::real();
    let list = world.list();
    let mut first = begin(&world, &list).live;
    first.merge(&[notes(1, "use the pool")]).unwrap();
    archive(first, &list).unwrap();
    world.pass(jiff::SignedDuration::from_secs(1));
    let mut second = begin(&world, &list).live;
    assert_eq!(
        second.context().knowledge.patterns,
        [bullet("use the pool")]
    );
    assert!(second.context().history.is_empty());
    second.merge(&[notes(2, "close it too")]).unwrap();
    drop(second);
    let third = begin(&world, &list).live;
    assert_eq!(
        third.context().knowledge.patterns.len(),
        2,
        "of one that died"
    );
}

#[test]
fn what_a_dead_session_had_not_merged_is_inherited() {
    let world = World::with_tasks(&["Task"]);
    let list = world.list();
    let live = put_foreign(
        &world,
        "task_execution_id: a-1\ntimestamp: 2026-02-05T14:30:22Z\npid: orchestrator\n",
    );
    fs::write(
        live.join("execution_context.md"),
        "# Execution Context\n\n## Key Decisions\n- Zod\n",
    )
    .unwrap();
    fs::write(
        live.join("context-task-1.md"),
        "## File Map\n- src/auth.ts\n",
    )
    .unwrap();
    fs::write(
        live.join("context-task-2.md"),
        "### Key Decisions\n- Argon2\n",
    )
    .unwrap();
    let next = begin(&world, &list).live;
    let known = &next.context().knowledge;
    assert_eq!(known.decisions, [bullet("Zod"), bullet("Argon2")]);
    assert_eq!(known.files, [bullet("src/auth.ts")]);
}

/// A start that was cut off before it had a context knows nothing, and hides nothing.
#[test]
fn a_session_without_a_context_is_passed_over() {
    let world = World::real();
    let list = world.list();
    let mut first = begin(&world, &list).live;
    first.merge(&[notes(1, "use the pool")]).unwrap();
    archive(first, &list).unwrap();
    world.pass(jiff::SignedDuration::from_secs(1));
    let cut_off = begin(&world, &list).live;
    fs::remove_file(cut_off.dir().join("execution_context.md")).unwrap();
    drop(cut_off);
    recover(&world, &list).unwrap();
    let next = begin(&world, &list).live;
    assert_eq!(next.context().knowledge.patterns, [bullet("use the pool")]);
}

/// Directories of other programs need no lock: their names tell when they were.
#[test]
fn the_newest_is_told_by_name_where_there_is_no_lock() {
    let world = World::real();
    let list = world.list();
    for (name, pattern) in [
        ("interrupted-20260205-143022", "old"),
        ("auth-20260301-090000", "new"),
        ("zzz-20260101-000000", "older"),
    ] {
        let dir = of(&world).root().join(name);
        fs::create_dir_all(&dir).unwrap();
        let text = format!("# Execution Context\n\n## Project Patterns\n- {pattern}\n");
        fs::write(dir.join("execution_context.md"), text).unwrap();
    }
    let live = begin(&world, &list).live;
    assert_eq!(live.context().knowledge.patterns, [bullet("new")]);
}
