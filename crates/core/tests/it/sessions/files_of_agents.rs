//! Agents write what they like: torn, huge, binary, or no file at all. It ends no run, is kept,
//! and is told of.

use std::{fs, os::unix::fs::symlink};

use flagpost_core::sessions::Live;
use flagpost_disk::{dialects::session::context, fsx::READ_LIMIT};
use flagpost_model::session::{KnowledgeNote, Outcome};

use super::{begin, bullet, context_in, dies, notes, of, row, try_begin};
use crate::world::{World, id};

const HUGE: usize = READ_LIMIT as usize + 1;

/// What a runner does with the notes of a task.
fn merge(live: &mut Live<'_>, task: u64) {
    let text = live.notes(&id(task)).unwrap().unwrap_or_default();
    let notes = context::parse_notes(&text, &id(task), &format!("Task {task}"), Outcome::Pass);
    live.merge(&[notes]).unwrap();
}

/// Whether some entry of the history says so.
fn is_told(live: &Live<'_>, what: &str) -> bool {
    let all = context_in(live.dir()).history;
    let mut texts = all
        .iter()
        .flat_map(|entry| entry.notes.iter().map(KnowledgeNote::text));
    texts.any(|text| text.contains(what))
}

#[test]
fn rows_after_a_torn_one_are_read() {
    for torn in [
        &b"| 1 | Torn by a cra"[..],
        b"| 1 | \xff\xfe",
        b"\0\0\0\0",
        b"| 1 |",
    ] {
        let world = World::real();
        let list = world.list();
        let live = begin(&world, &list).live;
        let path = live.dir().join("task_log.md");
        let mut bytes = fs::read(&path).unwrap();
        bytes.extend(torn);
        fs::write(&path, bytes).unwrap();
        live.log(&row(2)).unwrap();
        live.log(&row(3)).unwrap();
        assert_eq!(of(&world).find("live").unwrap().rows, [row(2), row(3)]);
    }
}

#[test]
fn notes_too_large_to_read_stay_and_are_told_of() {
    let world = World::real();
    let list = world.list();
    let mut live = begin(&world, &list).live;
    fs::write(live.notes_path(&id(1)), vec![b'x'; HUGE]).unwrap();
    fs::write(live.notes_path(&id(2)), "## Project Patterns\n- small\n").unwrap();
    merge(&mut live, 1);
    merge(&mut live, 2);
    assert!(is_told(
        &live,
        "`context-task-1.md` cannot be read and is kept"
    ));
    assert_eq!(context_in(live.dir()).knowledge.patterns, [bullet("small")]);
    assert_eq!(
        fs::metadata(live.notes_path(&id(1))).unwrap().len(),
        HUGE as u64
    );
    assert!(!live.notes_path(&id(2)).exists());
}

#[test]
fn notes_that_would_make_the_context_unreadable_stay_too() {
    let world = World::real();
    let list = world.list();
    let mut live = begin(&world, &list).live;
    // Agents added so much to the shared file that hardly anything fits.
    let full = format!(
        "## Known Issues\n- {}\n",
        "x".repeat((16 << 20) - (32 << 10))
    );
    fs::write(live.dir().join("execution_context.md"), full).unwrap();
    for (task, long) in [(1, 1), (2, 50 << 10)] {
        let text = format!("## Known Issues\n- {task}{}\n", "x".repeat(long));
        fs::write(live.notes_path(&id(task)), text).unwrap();
        merge(&mut live, task);
    }
    assert!(is_told(
        &live,
        "`context-task-2.md` is too large to be shared"
    ));
    assert!(!live.notes_path(&id(1)).exists() && live.notes_path(&id(2)).exists());
    assert_eq!(context_in(live.dir()).knowledge.issues.len(), 2);
    dies(&world, live);
    // The next one takes the first; what it could not take is in the history.
    let next = begin(&world, &list).live;
    assert_eq!(next.context().knowledge.issues.len(), 2);
    let line = world.history().pop().unwrap();
    let left = line.entry.detail["not_inherited"].to_string();
    assert!(left.contains("context-task-2.md"), "{left}");
}

#[test]
fn notes_that_are_no_file_are_not_followed() {
    let world = World::real();
    let list = world.list();
    let mut live = begin(&world, &list).live;
    let secret = world.repository.top.with_file_name("secret");
    fs::write(&secret, "- the key is 12345").unwrap();
    symlink(&secret, live.notes_path(&id(1))).unwrap();
    fs::create_dir(live.notes_path(&id(2))).unwrap();
    merge(&mut live, 1);
    merge(&mut live, 2);
    assert!(!is_told(&live, "12345"));
    assert!(is_told(&live, "`context-task-2.md` cannot be read"));
    dies(&world, live);
    assert!(try_begin(&world.home, &world.repository, &list).is_ok());
    assert_eq!(fs::read_to_string(secret).unwrap(), "- the key is 12345");
}

#[test]
fn bytes_that_are_no_text_are_shown_as_such() {
    let world = World::real();
    let list = world.list();
    let mut live = begin(&world, &list).live;
    fs::write(
        live.notes_path(&id(1)),
        b"## Key Decisions\n- caf\xe9 \0 \x1b[2J\n",
    )
    .unwrap();
    merge(&mut live, 1);
    let decisions = context_in(live.dir()).knowledge.decisions;
    assert!(decisions[0].text().starts_with("caf\u{fffd}"));
    assert!(!live.notes_path(&id(1)).exists());
}

/// Sequential runners' agents write into the shared file itself.
#[test]
fn what_an_agent_adds_to_the_shared_file_survives_the_merge() {
    let world = World::real();
    let list = world.list();
    let mut live = begin(&world, &list).live;
    live.merge(&[notes(1, "use the pool")]).unwrap();
    let path = live.dir().join("execution_context.md");
    let text = fs::read_to_string(&path).unwrap();
    let text = text.replace("## Known Issues\n", "## Known Issues\n- needs Node 18\n");
    fs::write(&path, text + "\n## Scratch\n- mine\n").unwrap();
    live.merge(&[notes(2, "close it too")]).unwrap();
    let context = context_in(live.dir());
    assert_eq!(context.knowledge.issues, [bullet("needs Node 18")]);
    assert_eq!(context.knowledge.patterns.len(), 2);
    assert_eq!((context.history.len(), context.others.len()), (2, 1));
    assert_eq!(*live.context(), context);
}

#[test]
fn an_unreadable_shared_file_is_not_written_over() {
    let world = World::real();
    let list = world.list();
    let mut live = begin(&world, &list).live;
    live.merge(&[notes(1, "use the pool")]).unwrap();
    let path = live.dir().join("execution_context.md");
    fs::write(&path, vec![b'x'; HUGE]).unwrap();
    fs::write(live.notes_path(&id(2)), "## Key Decisions\n- kept\n").unwrap();
    merge(&mut live, 2);
    assert_eq!(fs::metadata(&path).unwrap().len(), HUGE as u64);
    assert!(live.notes_path(&id(2)).exists());
    assert_eq!(
        live.context().knowledge.decisions,
        [bullet("kept")],
        "still passed on"
    );
    dies(&world, live);
    let next = begin(&world, &list).live;
    assert_eq!(next.context().knowledge.decisions, [bullet("kept")]);
}

#[test]
fn a_long_report_is_read_from_its_beginning() {
    let world = World::real();
    let list = world.list();
    let live = begin(&world, &list).live;
    let mut text = "status: FAIL\n\n## Issues\nno way\n\n## Summary\n".to_owned();
    text += &"more of it\n".repeat(HUGE / 11);
    fs::write(live.result_path(&id(1)), &text).unwrap();
    let report = live.report(&id(1)).unwrap().unwrap();
    assert_eq!(report.outcome, Some(Outcome::Fail));
    assert_eq!(report.issues, "no way");
    assert_eq!(report.left_out, (text.len() - (1 << 20)) as u64);
}

#[test]
fn a_report_that_is_no_file_says_what_it_is() {
    let world = World::real();
    let list = world.list();
    let live = begin(&world, &list).live;
    let path = live.result_path(&id(1));
    let why = || {
        let report = live.report(&id(1)).unwrap().unwrap();
        assert_eq!(report.outcome, None);
        report.unclear.unwrap()
    };
    fs::create_dir(&path).unwrap();
    let name = format!("`{}/result-task-1.md`", live.id());
    let no_file = format!("{name} cannot be read and is kept as it is: not a regular file");
    assert_eq!(why(), no_file);
    fs::remove_dir(&path).unwrap();
    symlink("/etc/passwd", &path).unwrap();
    assert!(
        why().ends_with(": a symbolic link, which is not followed"),
        "{}",
        why()
    );
}

#[test]
fn a_report_that_cannot_be_read_is_no_verdict() {
    let world = World::real();
    let list = world.list();
    let live = begin(&world, &list).live;
    let path = live.result_path(&id(1));
    fs::write(&path, vec![b'x'; HUGE]).unwrap();
    let report = live.report(&id(1)).unwrap().unwrap();
    assert_eq!(report.outcome, None);
    assert!(report.unclear.is_some(), "{report:?}");
    live.quarantine_result(&id(1), 1).unwrap();
    assert!(!path.exists());
    assert_eq!(live.report(&id(1)).unwrap(), None);
    let kept = live.dir().join("logs/result-task-1-attempt-1.md");
    assert_eq!(fs::metadata(kept).unwrap().len(), HUGE as u64);
}

/// One session's broken files hide no other session.
#[test]
fn an_ended_session_with_broken_files_hides_no_neighbour() {
    let world = World::with_tasks(&["Task"]);
    let list = world.list();
    let live = begin(&world, &list).live;
    super::archive(live, &list).unwrap();
    let broken = of(&world).root().join("broken-20260205-143022");
    fs::create_dir_all(broken.join(".lock")).unwrap();
    fs::write(broken.join("task_log.md"), vec![b'x'; HUGE]).unwrap();
    fs::write(broken.join("progress.md"), b"\xff\xfe\0").unwrap();
    let all = of(&world).all().unwrap();
    assert_eq!(all.len(), 2);
    assert_eq!(
        all[0].name, "broken-20260205-143022",
        "by the time in its name"
    );
    assert_eq!(all[0].unread, [".lock", "task_log.md"]);
    begin(&world, &list);
}
