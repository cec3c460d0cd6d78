//! How a session ends, and what each verb answers in each stage.

use std::{
    fs,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use flagpost_core::{Error, config, history::Kind, sessions::SessionStatus};
use flagpost_disk::dialects::session::progress;
use flagpost_model::session::{LogRow, Outcome};
use flagpost_testkit::scratch::SmallDisk;

use super::{
    archive, archive_complete, begin, complete, dies, end, end_with, kinds, of, put_foreign,
    recover, start, try_begin,
};
use crate::world::{World, id, ids};

#[test]
fn with_nothing_there_is_nothing_to_do() {
    let world = World::real();
    let list = world.list();
    assert!(of(&world).all().unwrap().is_empty());
    assert!(recover(&world, &list).unwrap().is_none());
    fails!(archive_complete(&world), Error::NoSession { .. });
    fails!(of(&world).find("live"), Error::NotFound { .. });
    assert!(!world.repository.top.join(".claude").exists());
}

#[test]
fn a_dead_one_is_recovered_and_not_archived() {
    let world = World::with_tasks(&["Task"]);
    let list = world.list();
    let live = begin(&world, &list).live;
    start(&list, live.id(), 1);
    dies(&world, live);
    assert_eq!(of(&world).find("live").unwrap().stage, SessionStatus::Dead);
    fails!(archive_complete(&world), Error::SessionIncomplete { .. });
    assert_eq!(recover(&world, &list).unwrap().unwrap().tasks, ids(&[1]));
    assert!(recover(&world, &list).unwrap().is_none());
    let all = of(&world).all().unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].stage, SessionStatus::Interrupted);
}

/// The runner died between its last word and the rename.
#[test]
fn a_complete_one_is_archived_under_its_name() {
    let world = World::with_tasks(&["Task"]);
    let list = world.list();
    let live = begin(&world, &list).live;
    let (id, dir) = (live.id().clone(), live.dir().to_owned());
    live.show_progress(&complete(&live)).unwrap();
    fails!(archive_complete(&world), Error::SessionLive { .. });
    dies(&world, live);
    let archived = archive_complete(&world).unwrap();
    assert_eq!(archived, dir.with_file_name(id.as_str()));
    assert_eq!(
        of(&world).find(id.as_str()).unwrap().stage,
        SessionStatus::Archived
    );
    assert_eq!(fs::read_dir(dir).unwrap().count(), 0);
    let told = kinds(&world, Kind::SessionArchived);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].entry.detail["session"], *id.as_str());
}

#[test]
fn another_programs_complete_one_is_archived() {
    let world = World::real();
    let lock = "task_execution_id: auth-20260205-143022\ntimestamp: 2026-02-05T14:30:22Z\npid: orchestrator\n";
    let live = put_foreign(&world, lock);
    let running = fs::read_to_string(live.join("progress.md")).unwrap();
    let over = running.replace("Executing", "Complete");
    fs::write(live.join("progress.md"), over).unwrap();
    let archived = archive_complete(&world).unwrap();
    assert!(archived.ends_with("auth-20260205-143022"));
    assert_eq!(progress::parse(&running).wave, Some((1, 2)));
}

/// It moves from one place to another, and whoever looks in both misses it in neither.
#[test]
fn a_session_is_found_while_it_is_archived() {
    let world = World::with_tasks(&["Task"]);
    let list = world.list();
    for _ in 0..20 {
        let live = begin(&world, &list).live;
        let id = live.id().clone();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    of(&world).find(id.as_str()).unwrap();
                }
            });
            let archived = archive(live, &list);
            is_over.store(true, Ordering::Relaxed);
            archived.unwrap();
        });
    }
}

/// Its id is taken by a directory that came to be meanwhile: nothing is overwritten.
#[test]
fn an_archive_that_is_in_the_way_stays() {
    let world = World::real();
    let list = world.list();
    let live = begin(&world, &list).live;
    let taken = live.dir().with_file_name(live.id().as_str());
    fs::create_dir(&taken).unwrap();
    fs::write(taken.join("somebody's"), "file").unwrap();
    archive(live, &list).unwrap_err();
    assert!(taken.join("somebody's").exists());
    let archived = archive_complete(&world).unwrap();
    assert_ne!(archived, taken);
    assert!(archived.join("session_summary.md").exists());
}

#[test]
fn reports_of_what_passed_go_only_where_that_is_settled() {
    for keeps in [None, Some("true"), Some("false")] {
        let world = World::real();
        if let Some(keeps) = keeps {
            config::set(&world.home, "session.keep_results", &[keeps.to_owned()]).unwrap();
        }
        let list = world.list();
        let mut live = begin(&world, &list).live;
        let outcomes = [
            (1, Outcome::Pass),
            (2, Outcome::Fail),
            (3, Outcome::Partial),
        ];
        let row = |(task, outcome)| LogRow {
            id: id(task),
            subject: "Task".to_owned(),
            outcome,
            attempt: 1,
            of: 3,
            duration: None,
            tokens: None,
        };
        for (task, _) in outcomes {
            fs::write(live.result_path(&id(task)), "status: PASS\n").unwrap();
        }
        let rows = outcomes.into_iter().map(row).collect();
        let archived = end_with(&mut live, &list, rows).unwrap();
        let passed = archived.join("result-task-1.md").exists();
        assert_eq!(passed, keeps != Some("false"), "{keeps:?}");
        let session = of(&world).find(live.id().as_str()).unwrap();
        assert_eq!(session.results, if passed { 3 } else { 2 });
        assert_eq!(session.rows.len(), 3);
    }
}

/// What cannot be recorded at the end is recorded when the end is asked for again.
#[test]
fn an_end_that_was_held_up_goes_on_from_there() {
    let world = World::real();
    let list = world.list();
    let mut live = begin(&world, &list).live;
    let history = world.home.repository_dir(&world.repository.id);
    let history = history.join("history.jsonl");
    let aside = history.with_extension("aside");
    fs::rename(&history, &aside).unwrap();
    fs::create_dir(&history).unwrap();
    end(&mut live, &list).unwrap_err();
    assert!(live.is_archived());
    fs::remove_dir(&history).unwrap();
    fs::rename(&aside, &history).unwrap();
    let archived = end(&mut live, &list).unwrap();
    assert!(archived.join("session_summary.md").exists());
    assert_eq!(kinds(&world, Kind::SessionArchived).len(), 1);
}

/// Somebody began anew in between: the list's pointer stays theirs.
#[test]
fn an_end_that_was_held_up_leaves_alone_who_began_since() {
    let world = World::with_tasks(&["Task"]);
    let list = world.list();
    let mut live = begin(&world, &list).live;
    end(&mut live, &list).unwrap();
    let next = begin(&world, &list).live;
    end(&mut live, &list).unwrap();
    let pointed = flagpost_core::sessions::pointed(&world.home, &list, &of(&world)).unwrap();
    assert_eq!(pointed, Some(next.dir().to_owned()));
}

#[test]
fn a_read_only_repository_is_an_error_and_leaves_nothing() {
    let Some(disk) = SmallDisk::mount(256) else {
        return;
    };
    let world = World::real();
    let list = world.list();
    let mut repository = world.repository.clone();
    repository.top = disk.path();
    disk.make_read_only();
    let error = try_begin(&world.home, &repository, &list).unwrap_err();
    assert!(error.to_string().contains(".claude"), "{error}");
    assert_eq!(fs::read_dir(disk.path()).unwrap().count(), 0);
    assert!(!world.path("execution_pointer.md").exists());
}

/// A full disk may stop a start anywhere; the next one works as soon as there is room.
#[test]
fn a_full_disk_leaves_nothing_in_the_way() {
    let world = World::with_tasks(&["Task"]);
    let list = world.list();
    let Some(disk) = SmallDisk::mount(64) else {
        return;
    };
    let mut repository = world.repository.clone();
    repository.top = disk.path();
    let ballast = disk.path().join("ballast");
    for (refused, kib) in (0..=64).rev().step_by(4).enumerate() {
        let _full = fs::write(&ballast, vec![1; kib << 10]);
        let begun = try_begin(&world.home, &repository, &list);
        fs::remove_file(&ballast).unwrap();
        if let Ok(begun) = begun {
            assert!(
                refused > 4 && begun.recovered.is_none(),
                "{refused} refused"
            );
            return;
        }
    }
    panic!("there is room");
}

#[test]
fn a_claude_that_is_no_directory_is_an_error() {
    for file in [
        ".claude",
        ".claude/sessions",
        ".claude/sessions/__live_session__",
    ] {
        let world = World::real();
        let list = world.list();
        let path = world.repository.top.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "a file").unwrap();
        let error = try_begin(&world.home, &world.repository, &list).unwrap_err();
        assert!(error.to_string().contains(".claude"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "a file");
    }
}
