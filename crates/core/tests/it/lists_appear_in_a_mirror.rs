//! `tasks.mirror`: the lists of the home appear where another program looks, and nothing of that
//! program's is touched.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use flagpost_core::{
    Environment, Home, List, config, doctor, kanban, mirror,
    tasks::{self, Fields, observe::TaskWatch},
};
use flagpost_model::finding::Code;

use crate::world::{World, add, id, subject, worker};

/// A world whose owner has a home around it, and where Claude Code keeps its lists.
fn world() -> (World, PathBuf) {
    let mut world = World::real();
    let environment = Environment {
        user_home: Some(world.place().to_owned()),
        ..Environment::default()
    };
    world.home = world.home.clone().with(environment);
    let theirs = world.place().join(".claude/tasks");
    (world, theirs)
}

fn set(home: &Home, dir: &str) {
    mirror::set(home, "tasks.mirror", &[dir.to_owned()]).unwrap();
}

/// The subjects as a program reads them that knows nothing of us: every file whose name is a number's.
fn read(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut subjects: Vec<String> = entries
        .filter(|path| path.extension().is_some_and(|it| it == "json"))
        .map(|path| {
            let task: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
            task["subject"].as_str().unwrap().to_owned()
        })
        .collect();
    subjects.sort();
    subjects
}

#[test]
fn it_is_off_until_it_is_set() {
    let (world, theirs) = world();
    add(&world.list(), "Mine", &[]);
    assert!(!theirs.exists());
    assert_eq!(mirror::missing(&world.home).unwrap(), []);
}

#[test]
fn what_either_side_writes_is_in_the_same_files() {
    let (world, theirs) = world();
    add(&world.list(), "Mine", &[]);
    set(&world.home, "~/.claude/tasks");
    assert_eq!(read(&theirs.join("repo")), ["Mine"]);
    // In place, under a new name, and over an old one: as other programs write.
    let file = |name: &str| theirs.join("repo").join(name);
    fs::write(
        file("2.json"),
        r#"{"id": "2", "subject": "Theirs", "status": "pending"}"#,
    )
    .unwrap();
    let list = world.list();
    tasks::edit(&list, &worker("W1"), &id(2), &subject("Ours now")).unwrap();
    assert_eq!(read(&theirs.join("repo")), ["Mine", "Ours now"]);
    fs::write(
        file("x.tmp"),
        r#"{"id": "1", "subject": "Renamed", "status": "pending"}"#,
    )
    .unwrap();
    fs::rename(file("x.tmp"), file("1.json")).unwrap();
    assert_eq!(list.task(&id(1)).unwrap().task.subject, "Renamed");
    // A list that comes later appears by itself.
    let later = "later".parse().unwrap();
    let later = List::open_or_create(&world.home, &later, &world.repository).unwrap();
    tasks::add(
        &later,
        &worker("W1"),
        &Fields {
            subject: Some("New".to_owned()),
            ..Fields::default()
        },
        &[],
    )
    .unwrap();
    assert_eq!(read(&theirs.join("later")), ["New"]);
    assert_eq!(mirror::missing(&world.home).unwrap(), []);
}

#[test]
fn what_is_there_stays_whoever_made_it() {
    let (world, theirs) = world();
    add(&world.list(), "Mine", &[]);
    fs::create_dir_all(theirs.join("repo")).unwrap();
    fs::create_dir_all(theirs.join("other")).unwrap();
    fs::write(
        theirs.join("repo/1.json"),
        r#"{"id": "1", "subject": "Theirs"}"#,
    )
    .unwrap();
    symlink("/nowhere", theirs.join("later")).unwrap();
    set(&world.home, theirs.to_str().unwrap());
    let later = "later".parse().unwrap();
    List::open_or_create(&world.home, &later, &world.repository).unwrap();
    assert_eq!(read(&theirs.join("repo")), ["Theirs"]);
    assert_eq!(
        fs::read_link(theirs.join("later")).unwrap(),
        Path::new("/nowhere")
    );
    assert_eq!(fs::read_dir(&theirs).unwrap().count(), 3);
    let missing = mirror::keep(&world.home).unwrap();
    assert!(
        missing
            .iter()
            .all(|absent| absent.there == mirror::Instead::Other)
            && missing.len() == 2
    );
    let told = doctor::examine(&world.home, world.place());
    let told = told.iter().filter(|it| it.code == Code::MirrorIncomplete);
    assert_eq!(told.count(), 2);
}

#[test]
fn a_root_that_is_the_mirror_too_shows_each_list_once() {
    let (world, theirs) = world();
    add(&world.list(), "Mine", &[]);
    fs::create_dir_all(theirs.join("other")).unwrap();
    fs::write(
        theirs.join("other/1.json"),
        r#"{"id": "1", "subject": "Theirs"}"#,
    )
    .unwrap();
    config::set(&world.home, "tasks.roots", &["~/.claude/tasks".to_owned()]).unwrap();
    set(&world.home, "~/.claude/tasks");
    let lists: Vec<String> = kanban::every(&world.home)
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(lists, ["other", "repo"]);
    assert!(world.list().root().is_none());
}

#[test]
fn a_mirror_in_our_own_home_is_refused() {
    let (world, _) = world();
    add(&world.list(), "Mine", &[]);
    let link = world.place().join("link");
    symlink(world.home.tasks_root(), &link).unwrap();
    for dir in [world.home.tasks_root(), world.home.root().join("x/y"), link] {
        let refused = mirror::set(&world.home, "tasks.mirror", &[dir.display().to_string()]);
        assert!(refused.is_err(), "{}", dir.display());
    }
    assert_eq!(mirror::missing(&world.home).unwrap(), []);
}

/// The names in a directory.
fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let names = entries.map(|it| it.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn a_copy_follows_every_change_and_is_never_read() {
    let (world, theirs) = world();
    add(&world.list(), "One", &[]);
    mirror::set(&world.home, "tasks.mirror_as", &["copy".to_owned()]).unwrap();
    set(&world.home, "~/.claude/tasks");
    let copy = theirs.join("repo");
    assert!(!copy.is_symlink() && copy.is_dir());
    assert_eq!(names(&copy), [".flagpost-copy", "1.json"]);
    let list = world.list();
    add(&list, "Two", &[1]);
    tasks::edit(&list, &worker("W1"), &id(1), &subject("One, anew")).unwrap();
    assert_eq!(read(&copy), ["One, anew", "Two"]);
    let one = fs::read(world.path("1.json")).unwrap();
    assert_eq!(fs::read(copy.join("1.json")).unwrap(), one);
    // What is written into it is nobody's task, and is there until that task changes.
    fs::write(copy.join("2.json"), "{}").unwrap();
    assert_eq!(list.task(&id(2)).unwrap().task.subject, "Two");
    let behind = mirror::missing(&world.home).unwrap();
    assert_eq!(behind[0].there, mirror::Instead::OldCopy);
    tasks::remove(&list, &worker("W1"), &id(2)).unwrap();
    assert_eq!(read(&copy), ["One, anew"]);
    assert_eq!(mirror::missing(&world.home).unwrap(), []);
    // What another program writes into the list itself comes along as soon as it is put on record.
    let mut watch = TaskWatch::begin(&world.home, &world.repository.id).unwrap();
    let theirs_now = fs::read_to_string(world.path("1.json"))
        .unwrap()
        .replace("anew", "by hand");
    fs::write(world.path("1.json"), theirs_now).unwrap();
    assert_eq!(watch.look(&world.home, &world.repository.id).unwrap(), 1);
    assert_eq!(read(&copy), ["One, by hand"]);
    // A directory of the same name that is no copy of ours is left as it is.
    fs::remove_file(copy.join(".flagpost-copy")).unwrap();
    add(&list, "Three", &[]);
    assert_eq!(read(&copy), ["One, by hand"]);
    assert_eq!(
        mirror::keep(&world.home).unwrap()[0].there,
        mirror::Instead::Other
    );
}

#[test]
fn what_is_no_copy_of_ours_is_left_alone_and_told_of() {
    let plant: &[fn(&Path)] = &[
        |at| fs::write(at, "a file").unwrap(),
        |at| fs::create_dir_all(at).unwrap(),
        |at| symlink("/nowhere", at).unwrap(),
        |at| {
            fs::create_dir_all(at).unwrap();
            symlink("/nowhere", at.join(".flagpost-copy")).unwrap();
        },
    ];
    for plant in plant {
        let (world, theirs) = world();
        fs::create_dir_all(&theirs).unwrap();
        plant(&theirs.join("repo"));
        let before = theirs
            .join("repo")
            .symlink_metadata()
            .unwrap()
            .modified()
            .unwrap();
        mirror::set(&world.home, "tasks.mirror_as", &["copy".to_owned()]).unwrap();
        add(&world.list(), "Mine", &[]);
        set(&world.home, "~/.claude/tasks");
        add(&world.list(), "Mine, too", &[]);
        let missing = mirror::missing(&world.home).unwrap();
        assert_eq!(missing[0].there, mirror::Instead::Other);
        let after = theirs
            .join("repo")
            .symlink_metadata()
            .unwrap()
            .modified()
            .unwrap();
        assert_eq!(before, after);
    }
}
