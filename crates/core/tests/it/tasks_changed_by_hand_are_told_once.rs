//! What others do to the files of tasks is recorded once, whether anybody watched or not, and what our
//! own commands do is not.

use std::fs;

use flagpost_core::{
    claims,
    history::{Entry, Kind, Line},
    registry,
    tasks::{self, observe::TaskWatch},
};
use flagpost_disk::fsx;
use flagpost_model::TaskId;
use flagpost_testkit::power::{PowerFs, every_crash, every_fault};

use crate::world::{World, add, id, power, simulated_home, subject, terms, worker};

fn begin(world: &World) -> TaskWatch {
    TaskWatch::begin(&world.home, &world.repository.id).unwrap()
}

/// A daemon that starts, looks and is killed.
fn visit(world: &World) -> Vec<String> {
    look(&mut begin(world), world)
}

/// What one look records: the kind, the task, and the states where they differ.
fn look(watch: &mut TaskWatch, world: &World) -> Vec<String> {
    let before = world.history().len();
    let count = watch.look(&world.home, &world.repository.id).unwrap();
    let news = world.history().split_off(before);
    // What others remove at once counts as never made.
    let news = news.iter().filter(|it| it.entry.kind != Kind::Void);
    let told: Vec<String> = news.map(spelled).collect();
    assert_eq!(told.len(), count);
    told
}

fn spelled(line: &Line) -> String {
    let entry = &line.entry;
    assert_eq!(
        entry.detail.get("observed"),
        Some(&true.into()),
        "{entry:?}"
    );
    let states = match (entry.from, entry.to) {
        (None, None) => String::new(),
        (from, to) => format!(
            " {}→{}",
            from.map_or("", |it| it.as_str()),
            to.map_or("", |it| it.as_str())
        ),
    };
    let task = entry.task.as_ref().map(TaskId::as_str).unwrap();
    format!("{} {task}{states}", entry.kind.as_str())
}

/// Says something else in a task's file, as an editor does.
fn edit(world: &World, task: &str, from: &str, to: &str) {
    let name = format!("{task}.json");
    let text = fs::read_to_string(world.path(&name)).unwrap();
    assert!(text.contains(from), "{text}");
    world.put(&name, text.replace(from, to));
}

fn foreign(subject: &str) -> String {
    format!(r#"{{"id":"9","subject":"{subject}"}}"#)
}

#[test]
fn what_was_there_before_anybody_watched_is_nobodys_news() {
    let world = World::with_tasks(&["Ours"]);
    world.put("9.json", foreign("Theirs"));
    assert!(visit(&world).is_empty());
    assert!(visit(&world).is_empty());
}

#[test]
fn what_others_did_while_nobody_watched_is_told_once() {
    let world = World::with_tasks(&["One", "Two", "Three"]);
    assert!(visit(&world).is_empty());
    edit(&world, "1", "\"One\"", "\"Eins\"");
    edit(&world, "2", "\"pending\"", "\"completed\"");
    fs::remove_file(world.path("3.json")).unwrap();
    world.put("9.json", foreign("Theirs"));
    let told = [
        "task.edited 1",
        "task.edited 2 pending→completed",
        "task.vanished 3 pending→",
        "task.created 9 →pending",
    ];
    assert_eq!(visit(&world), told);
    assert!(visit(&world).is_empty());
}

#[test]
fn what_our_commands_do_while_nobody_watches_is_told_by_them_alone() {
    let world = World::with_tasks(&["One", "Two", "Three"]);
    let list = world.list();
    world.put("9.json", foreign("Theirs"));
    visit(&world);
    claims::claim(&list, &terms("W1"), &id(1)).unwrap();
    claims::claim(&list, &terms("W1"), &id(9)).unwrap();
    tasks::link(&list, &worker("ann"), &id(2), &[id(9)]).unwrap();
    tasks::edit(&list, &worker("ann"), &id(3), &subject("Drei")).unwrap();
    tasks::undo(&list, &worker("ann"), tasks::UndoMode::Undo).unwrap();
    tasks::remove(&list, &worker("ann"), &id(3)).unwrap();
    add(&list, "Ten", &[1]);
    let last = add(&list, "Eleven", &[]).id;
    tasks::remove(&list, &worker("ann"), &last).unwrap();
    assert!(visit(&world).is_empty());
}

#[test]
fn both_are_told_where_others_and_our_commands_changed_one_task() {
    let world = World::with_tasks(&["One", "Two", "Three", "Four"]);
    let list = world.list();
    visit(&world);
    // Ours first, theirs first, theirs under ours, and theirs beside ours.
    claims::claim(&list, &terms("W1"), &id(1)).unwrap();
    edit(
        &world,
        "1",
        "\"status\": \"pending\"",
        "\"status\": \"completed\"",
    );
    edit(&world, "2", "\"Two\"", "\"Zwei\"");
    claims::claim(&list, &terms("W1"), &id(2)).unwrap();
    edit(&world, "3", "\"Three\"", "\"Drei\"");
    tasks::edit(&list, &worker("ann"), &id(3), &subject("Trois")).unwrap();
    let five = add(&list, "Five", &[]).id;
    edit(&world, five.as_str(), "\"Five\"", "\"Cinq\"");
    world.put("9.json", foreign("Theirs"));
    claims::claim(&list, &terms("W1"), &id(9)).unwrap();
    add(&list, "Ten", &[]);
    add(&list, "Eleven", &[]);
    fs::remove_file(world.path("10.json")).unwrap();
    let mut told = visit(&world);
    told.sort();
    let expected = [
        "task.created 9 →claimed",
        "task.edited 1 claimed→completed",
        "task.edited 2",
        "task.edited 3",
        "task.edited 5",
        "task.vanished 10 pending→",
    ];
    assert_eq!(told, expected);
    assert!(visit(&world).is_empty());
}

#[test]
fn a_daemon_that_was_killed_before_it_remembered_tells_nothing_twice() {
    let world = World::with_tasks(&["One"]);
    visit(&world);
    let memory = world.history_path().with_file_name("tasks.seen.json");
    let before = fs::read(&memory).unwrap();
    edit(&world, "1", "\"One\"", "\"Eins\"");
    world.put("9.json", foreign("Theirs"));
    assert_eq!(visit(&world).len(), 2);
    fs::remove_file(world.path("9.json")).unwrap();
    assert_eq!(visit(&world), ["task.vanished 9 pending→"]);
    fs::write(&memory, before).unwrap();
    assert!(visit(&world).is_empty());
    world.put("9.json", foreign("Theirs again"));
    assert_eq!(visit(&world), ["task.created 9 →pending"]);
}

/// A file of ours that somebody copied or restored says what we wrote into it.
#[test]
fn a_file_of_ours_that_others_put_there_is_told_once() {
    let world = World::with_tasks(&["One", "Two", "Three"]);
    let list = world.list();
    claims::claim(&list, &terms("W1"), &id(2)).unwrap();
    let text = |task: &str| fs::read_to_string(world.path(&format!("{task}.json"))).unwrap();
    let copy = |new: &str| {
        world.put(
            &format!("{new}.json"),
            text("2").replace("\"2\"", &format!("\"{new}\"")),
        )
    };
    let mut watch = begin(&world);
    // While somebody watches, and while nobody does.
    copy("8");
    assert_eq!(look(&mut watch, &world), ["task.created 8 →claimed"]);
    drop(watch);
    copy("9");
    assert_eq!(visit(&world), ["task.created 9 →claimed"]);
    // What we removed comes back from a backup.
    let backup = text("3");
    tasks::remove(&list, &worker("ann"), &id(3)).unwrap();
    assert!(visit(&world).is_empty());
    world.put("3.json", &backup);
    assert_eq!(visit(&world), ["task.created 3 →pending"]);
    // Theirs first, then ours.
    copy("20");
    tasks::edit(&list, &worker("ann"), &id(20), &subject("Zwanzig")).unwrap();
    assert_eq!(visit(&world), ["task.created 20 →claimed"]);
    assert!(visit(&world).is_empty());
    for task in ["8", "9", "20"] {
        fs::remove_file(world.path(&format!("{task}.json"))).unwrap();
    }
    let mut told = visit(&world);
    told.sort();
    let gone = ["20", "8", "9"].map(|it| format!("task.vanished {it} claimed→"));
    assert_eq!(told, gone);
    assert!(visit(&world).is_empty());
}

#[test]
fn what_our_commands_put_there_is_told_by_them_alone() {
    let world = World::real();
    let list = world.list();
    let other = "other".parse().unwrap();
    let other =
        flagpost_core::List::open_or_create(&world.home, &other, &world.repository).unwrap();
    for text in ["One", "Two", "Three"] {
        add(&list, text, &[]);
    }
    visit(&world);
    let ann = worker("ann");
    tasks::remove(&list, &ann, &id(1)).unwrap();
    assert!(visit(&world).is_empty());
    tasks::undo(&list, &ann, tasks::UndoMode::Undo).unwrap();
    assert!(visit(&world).is_empty());
    tasks::remove(&list, &ann, &id(1)).unwrap();
    tasks::undo(&list, &ann, tasks::UndoMode::Undo).unwrap();
    tasks::edit(&list, &ann, &id(1), &subject("Eins")).unwrap();
    assert!(visit(&world).is_empty());
    tasks::add(&list, &ann, &subject("Next"), &[]).unwrap();
    tasks::undo(&list, &ann, tasks::UndoMode::Undo).unwrap();
    assert!(visit(&world).is_empty());
    tasks::relocate(&list, &other, &ann, &[id(2)], tasks::Ties::Hold).unwrap();
    assert!(visit(&world).is_empty());
}

/// Nobody could read it when the last watch looked, or its whole list was away.
#[test]
fn a_file_of_ours_that_is_whole_again_did_not_come_anew() {
    let world = World::with_tasks(&["One"]);
    let list = world.list();
    tasks::edit(&list, &worker("ann"), &id(1), &subject("Eins")).unwrap();
    let whole = fs::read_to_string(world.path("1.json")).unwrap();
    world.put("1.json", "{");
    let mut watch = begin(&world);
    assert!(look(&mut watch, &world).is_empty());
    world.put("1.json", &whole);
    assert!(look(&mut watch, &world).is_empty());
    let (dir, away) = (world.path(""), world.place().join("away"));
    fs::rename(&dir, &away).unwrap();
    assert!(look(&mut watch, &world).is_empty());
    fs::rename(&away, &dir).unwrap();
    assert!(look(&mut watch, &world).is_empty());
    fs::remove_file(world.path("1.json")).unwrap();
    assert_eq!(look(&mut watch, &world), ["task.vanished 1 pending→"]);
}

#[test]
fn without_a_memory_that_fits_nothing_is_told() {
    let world = World::with_tasks(&["One"]);
    let memory = world.history_path().with_file_name("tasks.seen.json");
    for broken in [None, Some("{"), Some(r#"{"version":99}"#)] {
        visit(&world);
        edit(&world, "1", "\"subject\"", "\"x\": 1, \"subject\"");
        match broken {
            Some(text) => fs::write(&memory, text).unwrap(),
            None => fs::remove_file(&memory).unwrap(),
        }
        assert!(visit(&world).is_empty(), "{broken:?}");
        edit(&world, "1", "\"x\": 1, \"subject\"", "\"subject\"");
        assert_eq!(visit(&world), ["task.edited 1"]);
    }
    // Nor beside another history.
    let history = fs::read_to_string(world.history_path()).unwrap();
    fs::write(world.history_path(), history.replace("observed", "seen")).unwrap();
    edit(&world, "1", "\"One\"", "\"Eins\"");
    assert!(visit(&world).is_empty());
}

#[test]
fn a_change_that_has_not_appeared_yet_waits_for_the_next_look() {
    let world = World::with_tasks(&["One", "Two"]);
    let list = world.list();
    let mut watch = begin(&world);
    edit(&world, "1", "\"One\"", "\"Eins\"");
    // Somebody's line is durable, and his file is not there yet.
    let last = world.history().pop().unwrap();
    let mut line = last.clone();
    line.n = last.n + 1;
    line.entry = Entry::new(Kind::TaskEdited).detail("rev", 2);
    (line.entry.list, line.entry.task) = (last.entry.list, Some(id(1)));
    let mut all = fs::read(world.history_path()).unwrap();
    all.extend(format!("{}\n", line.to_json()).into_bytes());
    fs::write(world.history_path(), all).unwrap();
    assert!(look(&mut watch, &world).is_empty());
    // It never came: the next writer says so.
    tasks::edit(&list, &worker("ann"), &id(2), &subject("Deux")).unwrap();
    assert_eq!(look(&mut watch, &world), ["task.edited 1"]);
    assert!(look(&mut watch, &world).is_empty());
}

/// One of ours and one of theirs, both changed by hand since somebody watched.
fn changed_by_hand() -> PowerFs {
    let fs = power();
    let world = World::simulated(&fs);
    add(&world.list(), "Ours", &[]);
    add(&world.list(), "Gone", &[]);
    visit(&world);
    let path = world.path("1.json");
    let text = String::from_utf8(fsx::read(&fs, &path).unwrap().unwrap()).unwrap();
    fsx::replace(&fs, &path, text.replace("Ours", "Theirs").as_bytes()).unwrap();
    fsx::remove(&fs, &world.path("2.json")).unwrap();
    fsx::replace(&fs, &world.path("9.json"), foreign("Theirs").as_bytes()).unwrap();
    fs.settle();
    fs
}

#[test]
fn the_power_may_go_while_it_is_recorded() {
    let look = |fs: &PowerFs| {
        let home = simulated_home(fs);
        let repo = registry::repositories(&home)?.remove(0).id;
        TaskWatch::begin(&home, &repo)?.look(&home, &repo)
    };
    let check = |fs: &PowerFs, _: &flagpost_core::Result<usize>| {
        look(fs).unwrap();
        // A line whose end was lost is whole as soon as another one follows.
        let world = World::simulated(fs);
        add(&world.list(), "Next", &[]);
        look(fs).unwrap();
        assert_eq!(look(fs).unwrap(), 0);
        let lines = world.history();
        let observed = lines
            .iter()
            .filter(|it| it.entry.detail.contains_key("observed"));
        assert_eq!(observed.count(), 3, "{lines:#?}");
    };
    every_crash(changed_by_hand, look, check);
    every_fault(changed_by_hand, look, check);
}
