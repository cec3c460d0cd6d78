//! A pointer, and a repository's own directories, may be links or lead anywhere.

use std::{fs, os::unix::fs::symlink, path::Path};

use flagpost_core::{Environment, Error, sessions};

use super::{archive_complete, begin, dies, of, recover, try_begin};
use crate::world::World;

fn pointed(world: &World) -> Result<Option<std::path::PathBuf>, Error> {
    sessions::pointed(&world.home, &world.list(), &of(world))
}

/// A pointer that was begun with a session, and then rewritten.
fn rewritten(text: impl AsRef<[u8]>) -> (World, Result<Option<std::path::PathBuf>, Error>) {
    let world = World::real();
    dies(&world, begin(&world, &world.list()).live);
    world.put("execution_pointer.md", text);
    let answer = pointed(&world);
    (world, answer)
}

#[test]
fn a_pointer_that_leads_out_is_refused() {
    for text in [
        "/etc/\n",
        "/",
        "../..",
        ".",
        "..",
        "sessions",
        "/proc/self/cwd/",
    ] {
        let (_, answer) = rewritten(text);
        assert!(answer.is_err(), "{text}: {answer:?}");
    }
    let world = World::real();
    dies(&world, begin(&world, &world.list()).live);
    let out = format!("{}/../../..\n", of(&world).live_dir().display());
    world.put("execution_pointer.md", out);
    assert!(pointed(&world).is_err());
}

#[test]
fn a_pointer_to_nothing_names_nothing() {
    for text in ["/no/such/place\n", "/\u{fffd}"] {
        let (_, answer) = rewritten(text);
        assert!(matches!(answer, Ok(None)), "{text}: {answer:?}");
    }
    for text in ["", "\n", "\0", "/a\0b", &"/x".repeat(9_000)] {
        let (_, answer) = rewritten(text);
        assert!(!matches!(answer, Ok(Some(_))), "{text}: {answer:?}");
    }
    let world = World::real();
    assert!(pointed(&world).unwrap().is_none(), "no pointer");
    dies(&world, begin(&world, &world.list()).live);
    let live = of(&world).live_dir();
    let root = of(&world).root().to_owned();
    for inside in [
        root,
        live.join("tasks"),
        live.join(".lock"),
        live.with_file_name("gone"),
    ] {
        world.put("execution_pointer.md", format!("{}\n", inside.display()));
        assert!(pointed(&world).unwrap().is_none(), "{}", inside.display());
    }
    fs::remove_dir_all(live).unwrap();
    assert!(pointed(&world).unwrap().is_none());
}

#[test]
fn a_pointer_that_is_a_link_is_not_followed() {
    let world = World::real();
    dies(&world, begin(&world, &world.list()).live);
    let elsewhere = world.repository.top.with_file_name("pointer");
    let pointer = world.path("execution_pointer.md");
    fs::rename(&pointer, &elsewhere).unwrap();
    symlink(&elsewhere, &pointer).unwrap();
    assert!(pointed(&world).is_err());
    // The next session puts a file in its place and leaves what it led to.
    let before = fs::read(&elsewhere).unwrap();
    dies(&world, begin(&world, &world.list()).live);
    assert!(fs::symlink_metadata(&pointer).unwrap().is_file());
    assert_eq!(fs::read(&elsewhere).unwrap(), before);
    assert!(pointed(&world).unwrap().is_some());
}

#[test]
fn a_session_that_is_a_link_out_is_refused() {
    let world = World::real();
    dies(&world, begin(&world, &world.list()).live);
    let link = of(&world).root().join("evil-20260205-143022");
    symlink("/etc", &link).unwrap();
    world.put("execution_pointer.md", format!("{}/\n", link.display()));
    assert!(pointed(&world).is_err());
    assert_eq!(of(&world).all().unwrap().len(), 1, "and is no session");
}

#[test]
fn a_repository_of_any_name_is_pointed_to() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    for name in [&b"caf\xe9"[..], b"two\nlines", b" blanks ", b"x\r"] {
        let world = World::real();
        let mut repository = world.repository.clone();
        repository.top = world.repository.top.join(OsStr::from_bytes(name));
        fs::create_dir(&repository.top).unwrap();
        let list = world.list();
        let live = try_begin(&world.home, &repository, &list).unwrap().live;
        let sessions = sessions::Sessions::of(&world.home, &repository);
        let named = sessions::pointed(&world.home, &list, &sessions).unwrap();
        assert_eq!(named.unwrap(), live.dir().canonicalize().unwrap());
    }
}

fn refuses_all(world: &World, outside: &Path) {
    let before = super::files(outside);
    let list = world.list();
    let refused = [
        try_begin(&world.home, &world.repository, &list).map(drop),
        recover(world, &list).map(drop),
        archive_complete(world).map(drop),
        of(world).all().map(drop),
        pointed(world).map(drop),
    ];
    for answer in refused {
        let error = answer.unwrap_err().to_string();
        assert!(error.contains(".claude"), "{error}");
    }
    assert_eq!(super::files(outside), before);
}

#[test]
fn sessions_that_are_a_link_out_of_the_repository_are_refused() {
    for link in [
        ".claude",
        ".claude/sessions",
        ".claude/sessions/__live_session__",
    ] {
        let world = World::real();
        let outside = world.repository.top.with_file_name("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("precious"), "data").unwrap();
        let link = world.repository.top.join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&outside, &link).unwrap();
        world.put("execution_pointer.md", format!("{}\n", link.display()));
        refuses_all(&world, &outside);
        assert!(link.is_symlink());
    }
}

/// Some keep `.claude` elsewhere in the same repository.
#[test]
fn sessions_that_are_a_link_within_the_repository_are_theirs() {
    let world = World::real();
    let list = world.list();
    let top = &world.repository.top;
    fs::create_dir_all(top.join("tools/claude")).unwrap();
    symlink("tools/claude", top.join(".claude")).unwrap();
    let live = begin(&world, &list).live;
    assert!(
        pointed(&world)
            .unwrap()
            .unwrap()
            .starts_with(top.canonicalize().unwrap())
    );
    let archived = super::archive(live, &list).unwrap();
    assert_eq!(
        pointed(&world).unwrap().unwrap(),
        archived.canonicalize().unwrap()
    );
    assert_eq!(of(&world).all().unwrap().len(), 1);
}

#[test]
fn a_live_directory_that_links_to_nothing_is_refused() {
    let world = World::real();
    let list = world.list();
    fs::create_dir_all(of(&world).root()).unwrap();
    symlink("nowhere", of(&world).live_dir()).unwrap();
    let error = try_begin(&world.home, &world.repository, &list).unwrap_err();
    assert!(error.to_string().contains("__live_session__"), "{error}");
}

/// What the lists' readers are shown of a session that this names.
fn shown(world: &World, named: &Path) -> Option<std::path::PathBuf> {
    world.put("execution_pointer.md", format!("{}/\n", named.display()));
    let home = world.home.clone().with(Environment {
        user_home: Some(world.place().to_owned()),
        ..Environment::default()
    });
    let list = world.list();
    let list = flagpost_core::List::find(&home, list.id()).unwrap();
    sessions::shown(&home, &list).unwrap()
}

#[test]
fn a_session_of_nobodys_repository_is_shown_where_it_lies_below_the_users_home() {
    let world = World::real();
    dies(&world, begin(&world, &world.list()).live);
    let there = world
        .place()
        .join("theirs/.claude/sessions/__live_session__");
    fs::create_dir_all(&there).unwrap();
    let wanted = there.canonicalize().unwrap();
    assert_eq!(shown(&world, &there).as_ref(), Some(&wanted));
    let relative = there.strip_prefix(world.place()).unwrap();
    assert_eq!(shown(&world, relative).as_ref(), Some(&wanted));
    assert_eq!(
        shown(&world, &of(&world).live_dir()),
        Some(of(&world).live_dir().canonicalize().unwrap())
    );
    // A link is followed as far as it stays there.
    let link = world.place().join("link");
    symlink(&wanted, &link).unwrap();
    assert_eq!(shown(&world, &link), Some(wanted));
    fs::write(world.place().join("file"), "").unwrap();
    fs::create_dir_all(world.home.root().join("run")).unwrap();
    let out = world.place().join("out");
    symlink("/etc", &out).unwrap();
    let evil = of(&world).root().join("evil-20260205-143022");
    symlink(&there, &evil).unwrap();
    for no in [
        Path::new("/etc"),
        Path::new("../etc"),
        &out,
        &there.join("../../../../.."),
        world.place(),
        &world.place().join("file"),
        &world.place().join("gone"),
        // What is kept in our own home is no session.
        &world.home.root().join("run"),
        // A repository that is registered keeps its sessions in itself.
        &evil,
    ] {
        assert_eq!(shown(&world, no), None, "{}", no.display());
    }
}
