//! A finished run stays on the screens that follow it.

use std::fs;

use flagpost_core::{Repository, sessions};

use super::{archive, begin, dies, dirs, notes, of, recover, row, start, try_begin};
use crate::world::{World, worker};

fn pointed(world: &World) -> std::path::PathBuf {
    let named = sessions::pointed(&world.home, &world.list(), &of(world)).unwrap();
    named.unwrap()
}

#[test]
fn the_pointer_follows_an_archived_session() {
    let world = World::with_tasks(&["Task 1"]);
    let list = world.list();
    let mut live = begin(&world, &list).live;
    assert_eq!(pointed(&world), live.dir().canonicalize().unwrap());
    let (id, live_dir) = (live.id().clone(), live.dir().to_owned());
    live.log(&row(1)).unwrap();
    live.merge(&[notes(1, "use the pool")]).unwrap();
    let before = fs::metadata(&live_dir).unwrap();
    let archived = archive(live, &list).unwrap();

    use std::os::unix::fs::MetadataExt;
    let after = fs::metadata(&archived).unwrap();
    assert_eq!(before.ino(), after.ino(), "one rename");
    assert_eq!(pointed(&world), archived.canonicalize().unwrap());
    let text = fs::read_to_string(world.path("execution_pointer.md")).unwrap();
    assert_eq!(text, format!("{}/\n", archived.display()));
    assert_eq!(fs::read_dir(&live_dir).unwrap().count(), 0);

    let all = of(&world).all().unwrap();
    assert_eq!(all.len(), 1);
    let found = of(&world).find(id.as_str()).unwrap();
    assert_eq!((found.dir, found.rows), (archived.clone(), vec![row(1)]));
    assert_eq!(of(&world).find("auth").unwrap().name, id.as_str());
    for file in [
        "session_summary.md",
        "execution_plan.md",
        "execution_context.md",
        ".lock",
    ] {
        assert!(archived.join(file).is_file(), "{file}");
    }
}

#[test]
fn the_pointer_follows_an_interrupted_session() {
    let world = World::real();
    let list = world.list();
    dies(&world, begin(&world, &list).live);
    let dir = recover(&world, &list).unwrap().unwrap().dir;
    assert_eq!(pointed(&world), dir.canonicalize().unwrap());
}

#[test]
fn sessions_within_one_second_have_names_of_their_own() {
    let world = World::real();
    let list = world.list();
    let ids: Vec<_> = (0..3)
        .map(|_| {
            let live = begin(&world, &list).live;
            let id = live.id().clone();
            archive(live, &list).unwrap();
            id
        })
        .collect();
    assert_eq!(dirs(&world, "auth-").len(), 3);
    for id in &ids {
        assert_eq!(of(&world).find(id.as_str()).unwrap().name, id.as_str());
    }
}

/// The power went between the rename and the pointer.
#[test]
fn a_pointer_left_behind_is_mended() {
    let world = World::real();
    let list = world.list();
    let live = begin(&world, &list).live;
    let pointer = world.path("execution_pointer.md");
    let before = fs::read(&pointer).unwrap();
    let archived = archive(live, &list).unwrap();
    fs::write(&pointer, before).unwrap();
    assert!(recover(&world, &list).unwrap().is_none());
    assert_eq!(pointed(&world), archived.canonicalize().unwrap());
}

/// Two repositories run one list; it has one pointer, and who began last keeps it.
#[test]
fn the_end_of_one_session_takes_no_pointer_from_another() {
    let world = World::with_tasks(&["Task 1"]);
    let list = world.list();
    let top = world.repository.top.with_file_name("other");
    fs::create_dir(&top).unwrap();
    let other = Repository::register(&world.home, &top, &worker("operator")).unwrap();
    let pointer = || fs::read_to_string(world.path("execution_pointer.md")).unwrap();

    let mine = begin(&world, &list).live;
    let theirs = try_begin(&world.home, &other, &list).unwrap().live;
    let named = pointer();
    assert!(named.starts_with(theirs.dir().to_str().unwrap()));
    archive(mine, &list).unwrap();
    assert_eq!(pointer(), named);

    let mine = begin(&world, &list).live;
    start(&list, mine.id(), 1);
    dies(&world, mine);
    sessions::recover(&of(&world), &list, &worker("operator")).unwrap();
    assert!(pointer().contains("interrupted-"), "mine began last");

    dies(&world, begin(&world, &list).live);
    let theirs_archived = archive(theirs, &list).unwrap();
    assert!(!pointer().starts_with(theirs_archived.to_str().unwrap()));
}
