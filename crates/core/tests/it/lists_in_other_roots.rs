//! `tasks.roots`: where a list is found, and what a root can never do to the others.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::Arc,
};

use flagpost_core::{
    Environment, Error, Home, List,
    roots::{RootStatus, scan},
};
use flagpost_disk::{self as disk, fsx::RealFs};
use flagpost_model::ListId;

use crate::world::{World, add};

const TASK: &str = r#"{"id":"1","subject":"a","status":"pending"}"#;

/// The same home with these roots.
fn with_roots(world: &World, roots: &[&Path]) -> Home {
    let roots: Vec<_> = roots.iter().map(|root| root.to_str().unwrap()).collect();
    world.home.clone().with(Environment {
        user_home: Some(world.place().to_owned()),
        settings: [("FLAGPOST_TASKS_ROOTS".to_owned(), roots.join(":"))].into(),
        ..Environment::default()
    })
}

/// A root with these lists, each with a task.
fn root(world: &World, name: &str, lists: &[&str]) -> PathBuf {
    let root = world.place().join(name);
    fs::create_dir(&root).unwrap();
    for list in lists {
        fs::create_dir(root.join(list)).unwrap();
        fs::write(root.join(list).join("1.json"), TASK).unwrap();
    }
    root.canonicalize().unwrap()
}

fn list_id(name: &str) -> ListId {
    name.parse().unwrap()
}

/// What each root has, in words.
fn told(home: &Home) -> Vec<String> {
    let told = scan(home).unwrap().into_iter().map(|root| {
        let name = root.dir.file_name().unwrap().to_string_lossy().into_owned();
        match root.standing {
            RootStatus::Readable { lists, shadowed } => {
                let lists: Vec<_> = lists.iter().map(ListId::as_str).collect();
                let shadowed = shadowed.iter().map(|one| {
                    let by = one.by.file_name().unwrap().to_string_lossy();
                    format!(" ({} by {by})", one.list)
                });
                format!(
                    "{name}: {}{}",
                    lists.join(" "),
                    shadowed.collect::<String>()
                )
            }
            RootStatus::Missing => format!("{name} is missing"),
            RootStatus::Unreadable(_) => format!("{name} is unreadable"),
        }
    });
    told.collect()
}

#[test]
fn the_home_comes_first_and_then_each_root_in_order() {
    let world = World::real();
    let a = root(&world, "a", &["repo", "x", "y"]);
    let b = root(&world, "b", &["y", "z"]);
    let home = with_roots(&world, &[&a, &b]);
    let dir = |name: &str| List::open(&home, &list_id(name)).unwrap().dir().clone();
    assert_eq!(dir("repo"), home.list_dir(&list_id("repo")));
    assert_eq!(dir("x"), a.join("x"));
    assert_eq!(dir("y"), a.join("y"));
    assert_eq!(dir("z"), b.join("z"));
    assert_eq!(told(&home), ["a: x y (repo by tasks)", "b: z (y by a)"]);
    assert_eq!(List::open(&home, &list_id("z")).unwrap().root(), Some(&*b));
    assert_eq!(List::open(&home, &list_id("repo")).unwrap().root(), None);
}

#[test]
fn a_root_twice_or_the_home_itself_shadows_nothing() {
    let world = World::real();
    let a = root(&world, "a", &["x"]);
    let link = world.place().join("link");
    symlink(&a, &link).unwrap();
    let home = with_roots(&world, &[&world.home.tasks_root(), &link, &a]);
    assert_eq!(told(&home), ["a: x"]);
}

#[test]
fn what_is_no_list_is_passed_over() {
    let world = World::real();
    let a = root(&world, "a", &["x", "bad name", ".hidden"]);
    fs::write(a.join("file"), "").unwrap();
    symlink("x", a.join("inside")).unwrap();
    symlink("nowhere", a.join("dangling")).unwrap();
    symlink(world.place(), a.join("outside")).unwrap();
    let home = with_roots(&world, &[&a]);
    assert_eq!(told(&home), ["a: inside x"]);
    for name in ["file", "dangling", "none"] {
        fails!(List::open(&home, &list_id(name)), Error::NotFound { .. });
    }
    let answer = List::open(&home, &list_id("outside"));
    let refused = matches!(answer, Err(Error::Disk(disk::Error::Outside { .. })));
    assert!(refused, "{answer:?}");
}

#[test]
fn a_root_that_is_not_there_or_not_readable_costs_no_other() {
    let world = World::real();
    let missing = world.place().join("missing");
    let unreadable = world.place().join("unreadable");
    symlink("unreadable", &unreadable).unwrap();
    let a = root(&world, "a", &["x"]);
    let home = with_roots(&world, &[&missing, &unreadable, &a]);
    assert_eq!(
        told(&home),
        ["missing is missing", "unreadable is unreadable", "a: x"]
    );
    assert!(List::open(&home, &list_id("x")).is_ok());
    assert!(List::open(&home, &list_id("repo")).is_ok());
    // It may be where we cannot look: that is not the same as not being there.
    fails!(List::open(&home, &list_id("y")), Error::Disk(_));
    let home = with_roots(&world, &[&missing, &a]);
    fails!(List::open(&home, &list_id("y")), Error::NotFound { .. });
}

#[test]
fn a_new_list_is_made_in_the_home_and_one_of_a_root_is_used_where_it_is() {
    let world = World::real();
    let a = root(&world, "a", &["x"]);
    let home = with_roots(&world, &[&a]);
    let new = List::open_or_create(&home, &list_id("new"), &world.repository).unwrap();
    assert_eq!(new.dir(), &home.list_dir(&list_id("new")));
    assert_eq!(fs::read_dir(&a).unwrap().count(), 1);
    let x = List::open_or_create(&home, &list_id("x"), &world.repository).unwrap();
    assert_eq!(x.dir(), &a.join("x"));
    assert_eq!(x.repository().unwrap(), world.repository.id);
    assert_eq!(add(&x, "Next", &[]).id.as_str(), "2");
    assert!(a.join("x/2.json").exists());
    assert!(
        world
            .history()
            .iter()
            .any(|line| line.entry.list == Some(list_id("x")))
    );
}

#[test]
fn a_tilde_is_the_users_home() {
    let world = World::real();
    root(&world, "a", &["x"]);
    let home = with_roots(&world, &[Path::new("~/a")]);
    assert!(List::open(&home, &list_id("x")).is_ok());
    let homeless = Home::new(
        world.home.root().clone(),
        Arc::new(RealFs),
        Arc::new(world.home.now()),
    )
    .with(Environment {
        user_home: None,
        settings: [("FLAGPOST_TASKS_ROOTS".to_owned(), "~/a".to_owned())].into(),
        ..Environment::default()
    });
    fails!(List::open(&homeless, &list_id("x")), Error::Invalid { .. });
}
