//! What lies in a list's directory is anybody's: it is read, skipped or refused, never fatal.

use std::{fs, os::unix::ffi::OsStrExt, path::Path, process::Command};

use flagpost_core::{
    Error, Home, List, Loaded, claims, doctor,
    history::{History, Kind},
    plans::{self, ImportMode},
    tasks::{self, Fields, Move, UndoMode},
};
use flagpost_disk::{self as disk, dialects::markdown_plan, fsx::RealFs};
use flagpost_model::{
    intake::{Format, assemble},
    task::{Ending, State},
};
use flagpost_testkit::scratch::SmallDisk;
use jiff::SignedDuration;
use serde_json::json;

use crate::{
    account,
    world::{World, act, add, finish, id, subject, tasks_of, terms, worker},
};

fn reason<'l>(loaded: &'l Loaded, name: &str) -> &'l str {
    let found = loaded.skipped.iter().find(|it| it.name == name);
    &found
        .unwrap_or_else(|| panic!("{name} was not skipped"))
        .reason
}

fn quarantined(world: &World) -> Vec<String> {
    let names = fs::read_dir(world.path("quarantine")).unwrap();
    let names = names.map(|it| it.unwrap().file_name().to_string_lossy().into_owned());
    let mut copies: Vec<_> = names.filter(|it| !it.ends_with(".reason.txt")).collect();
    copies.sort();
    copies
}

/// What a writer and `doctor --fix` do, and whoever reads does not.
fn keep_aside(world: &World) {
    doctor::mend(&world.home, &worker("operator"), Vec::new());
}

fn reports(world: &World) -> usize {
    let lines = world.history().into_iter();
    let is_report = |kind: &Kind| *kind == Kind::TaskQuarantined;
    lines.filter(|it| is_report(&it.entry.kind)).count()
}

fn good(id: impl std::fmt::Display) -> String {
    format!(r#"{{"id": "{id}", "subject": "Task {id}"}}"#)
}

#[test]
fn fifty_broken_files_among_a_thousand() {
    let world = World::real();
    for id in 1..=1000 {
        world.put(&format!("{id}.json"), good(id));
    }
    let whole = good(2000);
    for broken in 0..50 {
        // Torn anywhere, each unlike the others.
        let text = format!("{} {broken}", &whole[..broken % whole.len()]);
        world.put(&format!("{}.json", 2000 + broken), text);
    }
    // Right after the write its writer may be in the middle of it.
    assert_eq!(world.list().load().unwrap().skipped.len(), 50);
    assert!(!world.path("quarantine").exists());
    // To write so many takes a slow machine longer than the second that a file is too young.
    world.catch_up();
    world.pass(SignedDuration::from_secs(1));
    assert_eq!(world.list().load().unwrap().skipped.len(), 50);
    assert!(
        !world.path("quarantine").exists(),
        "whoever reads copies nothing"
    );
    for _ in 0..3 {
        keep_aside(&world);
        let loaded = world.list().load().unwrap();
        assert_eq!((loaded.outlines.len(), loaded.skipped.len()), (1000, 50));
        assert!(loaded.skipped.iter().all(|it| !it.reason.is_empty()));
        assert_eq!(quarantined(&world).len(), 50);
        assert_eq!(reports(&world), 50, "reported once");
    }
    // The originals stay, and work goes on.
    assert!(world.path("2049.json").exists());
    claims::claim_next(&world.list(), &terms("W1")).unwrap();
    let next = add(&world.list(), "Another", &[]).id;
    assert_eq!(next, id(2050), "a broken file keeps its number");
    account::agrees(&world);
    // A file that breaks in another way is another case; a mended one is a task again.
    world.put("2000.json", "another way");
    world.put("2001.json", good(2001));
    world.pass(SignedDuration::from_secs(1));
    claims::claim_next(&world.list(), &terms("W2")).unwrap();
    let loaded = world.list().load().unwrap();
    assert_eq!((loaded.outlines.len(), loaded.skipped.len()), (1002, 49));
    assert_eq!((quarantined(&world).len(), reports(&world)), (51, 51));
}

/// How much this thread has read of anything.
fn bytes_read() -> u64 {
    let io = fs::read_to_string("/proc/thread-self/io").unwrap();
    let read = io.lines().find_map(|line| line.strip_prefix("rchar: "));
    read.unwrap().parse().unwrap()
}

#[test]
fn a_hundred_megabytes_are_skipped_without_reading() {
    let world = World::with_tasks(&["Small"]);
    let file = fs::File::create(world.path("5.json")).unwrap();
    file.set_len(100 << 20).unwrap();
    world.pass(SignedDuration::from_secs(1));
    let before = bytes_read();
    let loaded = world.list().load().unwrap();
    let read = bytes_read() - before;
    assert!((1..1 << 20).contains(&read), "{read}");
    assert_eq!(loaded.outlines.len(), 1);
    assert!(reason(&loaded, "5.json").contains("104857600 bytes"));
    keep_aside(&world);
    let kept = world.path("quarantine").join(&quarantined(&world)[0]);
    assert!(
        kept.metadata().unwrap().len() < 1000,
        "only the reason is kept"
    );
    assert_eq!(reports(&world), 1);
}

fn make_sparse(path: impl AsRef<Path>, len: u64) {
    let file = fs::OpenOptions::new().create(true).append(true).open(path);
    file.unwrap().set_len(len).unwrap();
}

#[test]
fn a_cache_of_eight_terabytes_is_none() {
    let world = World::with_tasks(&["One"]);
    make_sparse(world.path(".cache"), 8 << 40);
    assert_eq!(world.list().load().unwrap().outlines.len(), 1);
    add(&world.list(), "Two", &[]);
    account::agrees(&world);
}

#[test]
fn a_history_of_eight_terabytes_is_an_error() {
    let world = World::with_tasks(&["One"]);
    let list = world.list();
    make_sparse(world.history_path(), 8 << 40);
    let history = History::of(&world.home, &world.repository.id);
    let read = format!("{:?}", history.since(0).unwrap_err());
    assert!(read.contains("8589934592"), "{read}");
    let added = tasks::add(&list, &worker("W1"), &subject("Two"), &[]);
    let added = added.unwrap_err().to_string();
    assert!(added.contains("none of the lines in its last"), "{added}");
    assert_eq!(list.load().unwrap().outlines.len(), 1);
}

#[test]
fn names_that_are_no_ids() {
    let world = World::with_tasks(&["Good"]);
    let list = world.list();
    let long = format!("{}.json", "x".repeat(250));
    let odd: [&[u8]; 6] = [
        b"\xff\xfe.json",
        b"a b.json",
        b"-rf.json",
        "\u{e4}.json".as_bytes(),
        b"new\nline.json",
        long.as_bytes(),
    ];
    for name in odd {
        let name = Path::new(std::ffi::OsStr::from_bytes(name));
        fs::write(list.dir().join(name), good(1)).unwrap();
    }
    world.put("2.json", "broken");
    // Not theirs to speak of: dotfiles and other endings.
    world.put(".json", "x");
    world.put(".hidden.json", "x");
    world.put("notes.txt", "x");
    world.put("21.tmp", "x");
    world.pass(SignedDuration::from_secs(1));
    for _ in 0..2 {
        keep_aside(&world);
        let loaded = list.load().unwrap();
        assert_eq!((loaded.outlines.len(), loaded.skipped.len()), (1, 7));
        assert_eq!(reason(&loaded, "a b.json"), "its name is no task id");
        assert_eq!(
            quarantined(&world).len(),
            7,
            "each is kept, whatever its name"
        );
        assert_eq!(reports(&world), 7);
    }
}

#[test]
fn a_number_that_leaves_none_above_it() {
    let world = World::real();
    let list = world.list();
    let operator = worker("operator");
    let plan = markdown_plan::parse("1. [ ] Planned {uid: planned}\n").unwrap();
    let plan = assemble(Format::Markdown, plan.into()).unwrap();
    let last = u64::MAX;
    world.put(&format!("{last}.json"), good(last));
    assert_eq!(add(&list, "One", &[]).id, id(1));
    let planned = plans::import(&list, &operator, &plan, ImportMode::DryRun).unwrap();
    assert_eq!(planned[0].id, id(2), "and a dry run says the same");
    tasks::remove(&list, &operator, &id(last)).unwrap();
    let counter = fs::read_to_string(world.path(".highwatermark")).unwrap();
    assert_eq!(counter, "1\n");
    assert_eq!(add(&list, "Two", &[]).id, id(2));
    account::agrees(&world);
}

#[test]
fn things_that_are_no_files() {
    let world = World::with_tasks(&["Good"]);
    let list = world.list();
    let outside = world.place().join("outside.json");
    fs::write(&outside, good(3)).unwrap();
    std::os::unix::fs::symlink(&outside, world.path("3.json")).unwrap();
    std::os::unix::fs::symlink("nowhere", world.path("4.json")).unwrap();
    let made = Command::new("mkfifo").arg(world.path("5.json")).status();
    assert!(made.unwrap().success());
    fs::create_dir(world.path("6.json")).unwrap();
    world.pass(SignedDuration::from_secs(1));
    let loaded = list.load().unwrap();
    assert_eq!(loaded.outlines.len(), 1);
    for name in ["3.json", "4.json", "5.json", "6.json"] {
        assert_eq!(reason(&loaded, name), "it is not a regular file");
    }
    for number in [3, 4, 5, 6] {
        let operator = worker("operator");
        assert!(claims::claim(&list, &terms("W1"), &id(number)).is_err());
        assert!(tasks::edit(&list, &operator, &id(number), &subject("mine")).is_err());
        assert!(tasks::remove(&list, &operator, &id(number)).is_err());
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), good(3));
    assert_eq!(add(&list, "Next", &[]).id, id(7));
}

#[test]
fn a_list_that_leads_out_of_its_root_is_refused() {
    let world = World::real();
    let outside = world.place().join("outside");
    fs::create_dir(&outside).unwrap();
    let name = "evil".parse().unwrap();
    std::os::unix::fs::symlink(&outside, world.home.list_dir(&name)).unwrap();
    let answers = [
        List::open(&world.home, &name),
        List::open_or_create(&world.home, &name, &world.repository),
    ];
    for answer in answers {
        let refused = matches!(answer, Err(Error::Disk(disk::Error::Outside { .. })));
        assert!(refused, "{answer:?}");
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    for bad in ["..", "../evil", "a/b", "", "."] {
        assert!(bad.parse::<flagpost_model::ListId>().is_err());
    }
}

#[test]
fn a_file_that_calls_itself_by_another_id() {
    let world = World::real();
    let list = world.list();
    world.put("1.json", good(2));
    world.put("2.json", good(2));
    world.put("07.json", r#"{"id": "7", "subject": "Seven"}"#);
    let loaded = list.load().unwrap();
    assert_eq!(loaded.outlines.len(), 1);
    assert_eq!(
        reason(&loaded, "1.json"),
        "its id is \"2\", its name says 1"
    );
    let answer = claims::claim(&list, &terms("W1"), &id(1));
    let malformed = matches!(answer, Err(Error::Disk(disk::Error::Malformed { .. })));
    assert!(malformed, "{answer:?}");
}

#[test]
fn wrong_types_in_every_field() {
    let world = World::real();
    let list = world.list();
    let odd = [
        json!(null),
        json!(true),
        json!(-1.5),
        json!(18_446_744_073_709_551_615_u64),
        json!("text"),
        json!(["a", 1, null, ["x"]]),
        json!({"a": {"b": 1}}),
    ];
    let fields = "description activeForm status owner blocks blockedBy metadata";
    let inner = "priority complexity task_group project tags due_date parent task_uid flagpost";
    let ours = ["state", "rev", "attempts", "claim", "result", "late"];
    let mut number = 0;
    let mut put = |mut task: serde_json::Value, at: &str, value: &serde_json::Value| {
        number += 1;
        task["id"] = json!(number.to_string());
        *task.pointer_mut(at).unwrap() = value.clone();
        world.put(&format!("{number}.json"), task.to_string());
    };
    for value in &odd {
        for field in fields.split(' ') {
            put(
                json!({"subject": "s", field: null}),
                &format!("/{field}"),
                value,
            );
        }
        for field in inner.split(' ') {
            let task = json!({"subject": "s", "metadata": {field: null}});
            put(task, &format!("/metadata/{field}"), value);
        }
        for field in ours {
            let task = json!({"subject": "s", "metadata": {"flagpost": {field: null}}});
            put(task, &format!("/metadata/flagpost/{field}"), value);
        }
        for field in ["by", "token", "at", "expires_at", "session"] {
            let claim = json!({"by": "W9", "token": 3, "at": "2026-05-13T14:25:00Z",
                "expires_at": "2026-05-13T14:40:00Z", "session": null});
            let task = json!({"subject": "s", "status": "in_progress",
                "metadata": {"flagpost": {"state": "in_progress", "claim": claim}}});
            put(task, &format!("/metadata/flagpost/claim/{field}"), value);
        }
    }
    world.pass(SignedDuration::from_secs(1));
    let loaded = list.load().unwrap();
    assert_eq!(loaded.skipped, []);
    assert_eq!(loaded.outlines.len(), number);
    // Every verb answers, and what it changed can be read again.
    for outline in loaded.outlines {
        let id = &outline.id;
        let _ = claims::start(&list, &terms("W1"), None, id);
        let _ = tasks::act(&list, &act("W1", None), id, finish(Ending::Failed));
        let _ = tasks::act(&list, &act("W1", None), id, Move::Reopen);
        tasks::edit(&list, &worker("W1"), id, &subject("changed")).unwrap();
        assert_eq!(list.task(id).unwrap().task.subject, "changed");
    }
    let subjects = tasks_of(&list).into_values().map(|it| it.subject);
    assert!(subjects.into_iter().all(|it| it == "changed"));
}

#[test]
fn a_subject_of_another_type_is_no_task() {
    let world = World::real();
    for (number, subject) in ["null", "7", "[\"a\"]", "{}"].iter().enumerate() {
        let text = format!(r#"{{"id": "{number}", "subject": {subject}}}"#);
        world.put(&format!("{number}.json"), text);
    }
    let loaded = world.list().load().unwrap();
    assert_eq!((loaded.outlines.len(), loaded.skipped.len()), (0, 4));
}

#[test]
fn a_read_only_home_is_read_and_says_what_it_cannot() {
    let Some(disk) = SmallDisk::mount(1024) else {
        return;
    };
    let world = World::at_place(&disk.path());
    let list = world.list();
    add(&list, "Written before", &[]);
    fs::write(list.dir().join("2.json"), "broken").unwrap();
    world.pass(SignedDuration::from_secs(1));
    disk.make_read_only();
    let loaded = list.load().unwrap();
    assert_eq!((loaded.outlines.len(), loaded.skipped.len()), (1, 1));
    assert_eq!(list.task(&id(1)).unwrap().task.subject, "Written before");
    assert_eq!(world.history().len(), 2);
    let answers = [
        tasks::add(&list, &worker("W1"), &subject("New"), &[]).map(drop),
        claims::claim_next(&list, &terms("W1")).map(drop),
        tasks::remove(&list, &worker("W1"), &id(1)).map(drop),
    ];
    for answer in answers {
        let error = answer.unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, Error::Disk(_)), "{text}");
        assert!(text.starts_with("cannot "), "{text}");
    }
}

#[test]
fn a_full_disk_keeps_the_old_and_says_so() {
    let Some(disk) = SmallDisk::mount(256) else {
        return;
    };
    let world = World::at_place(&disk.path());
    let list = world.list();
    let fields = |n: usize| flagpost_core::tasks::Fields {
        description: Some("x".repeat(8000)),
        ..subject(&format!("Task {n}"))
    };
    let mut added = 0;
    let error = loop {
        match tasks::add(&list, &worker("W1"), &fields(added), &[]) {
            Ok(_) => added += 1,
            Err(error) => break error,
        }
        assert!(added < 1000, "the disk is small");
    };
    assert!(matches!(error, Error::Disk(_)), "{error}");
    assert_eq!(list.load().unwrap().outlines.len(), added);
    let names = world.home.fs().names(list.dir()).unwrap();
    assert!(
        !names
            .iter()
            .any(|it| it.to_string_lossy().contains(".tmp-"))
    );
    // Room again: what is removed makes it.
    fs::remove_file(list.dir().join("1.json")).unwrap();
    tasks::add(&list, &worker("W1"), &subject("Fits"), &[]).unwrap();
    let numbers: Vec<u64> = world.history().iter().map(|it| it.n).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b));
}

#[test]
fn a_clock_that_jumps_back_frees_nothing_and_loses_nothing() {
    let world = World::with_tasks(&["Held"]);
    let list = world.list();
    let claim = claims::claim(&list, &terms("W1"), &id(1)).unwrap().claim;
    world.pass(SignedDuration::from_hours(-24));
    assert!(claims::claim_next(&list, &terms("W2")).is_err());
    let w1 = act("W1", Some(claim.token));
    let renewed = tasks::act(&list, &w1, &id(1), Move::Renew).unwrap();
    assert_eq!(renewed.state.claim().unwrap().expires_at, claim.expires_at);
    claims::start(&list, &terms("W1"), Some(claim.token), &id(1)).unwrap();
    claims::start(&list, &terms("W1"), Some(claim.token), &id(1)).unwrap();
    let done = tasks::act(&list, &w1, &id(1), finish(Ending::Completed)).unwrap();
    assert_eq!(done.state, State::Completed);
    account::agrees(&world);
}

#[test]
fn a_home_that_is_not_there_is_empty() {
    let home = Home::new(
        "/nonexistent/home".into(),
        std::sync::Arc::new(RealFs),
        std::sync::Arc::new(flagpost_core::SystemClock),
    );
    assert_eq!(home.lists().unwrap(), []);
    let answer = List::open(&home, &"web".parse().unwrap());
    assert!(matches!(answer, Err(Error::NotFound { .. })), "{answer:?}");
}

/// JSON is read only so deep, and the history holds a file some levels below its own top: a line
/// that could not be read again would cost its number, and the next one would get it.
#[test]
fn what_is_nested_too_deep_is_no_task_and_costs_the_history_no_line() {
    let world = World::real();
    let list = world.list();
    let nested = |levels| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let file = |levels| format!(r#"{{"subject": "Deep", "x": {}}}"#, nested(levels));
    world.put("1.json", file(99));
    world.put("2.json", file(100));
    let w1 = worker("W1");
    assert!(reason(&list.load().unwrap(), "2.json").contains("nested"));
    let deep = |levels: usize| Fields {
        metadata: vec![(
            "y".to_owned(),
            Some(serde_json::from_str(&nested(levels)).unwrap()),
        )],
        ..Fields::default()
    };
    tasks::edit(&list, &w1, &id(1), &deep(98)).unwrap();
    let refused = tasks::edit(&list, &w1, &id(1), &deep(99));
    assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
    tasks::remove(&list, &w1, &id(1)).unwrap();
    tasks::undo(&list, &w1, UndoMode::Undo).unwrap();
    tasks::undo(&list, &w1, UndoMode::Undo).unwrap();
    let numbers: Vec<u64> = world.history().iter().map(|line| line.n).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let text = fs::read_to_string(world.history_path()).unwrap();
    assert_eq!(text.lines().count(), numbers.len());
}
