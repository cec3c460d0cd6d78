//! The manual pages: roff that a pager takes, one for each verb.

use std::fs;

use crate::world;

#[test]
fn one_page() {
    let world = world();
    let page = world.ok(["man"]);
    assert!(page.contains(".TH flagpost 1"), "{page}");
    assert!(page.contains("flagpost\\-task(1)"), "{page}");
    let page = world.ok(["man", "task", "add"]);
    assert!(page.contains(".TH flagpost-task-add 1"), "{page}");
    assert!(page.contains("Example: flagpost add"), "{page}");
    let (code, json) = world.json(["man", "task", "add"]);
    assert_eq!(code, 0);
    tells!(json, {"schema": "flagpost.man/1", "name": "flagpost-task-add", "page": page});
    assert_eq!(
        world.ok(["man", "task", "add", "--quiet"]),
        "flagpost-task-add\n"
    );
}

#[test]
fn a_page_that_is_not_there() {
    let world = world();
    let ran = world.flagpost(["man", "zzz"]);
    assert_eq!((ran.code, &*ran.stdout), (3, ""));
    assert!(
        ran.stderr
            .starts_with("flagpost: there is no verb \"zzz\"\n  hint: there are init, "),
        "{ran}"
    );
    let (code, json) = world.json(["man", "task", "nope"]);
    assert_eq!((code, &json["kind"]), (3, &"not_found".into()));
}

#[test]
fn all_pages() {
    let world = world();
    let told = world.transcript("man --out share/man/man1\nman --out share/man/man1 --quiet");
    assert!(
        told.contains("pages into [dir]/web/share/man/man1\n"),
        "{told}"
    );
    let dir = world.repository().join("share/man/man1");
    let mut pages: Vec<_> = fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    for page in [
        "flagpost.1",
        "flagpost-task.1",
        "flagpost-task-dep-add.1",
        "flagpost-man.1",
    ] {
        assert!(pages.iter().any(|name| name == page), "{page}: {pages:?}");
    }
    let mut ids: Vec<_> = told.lines().skip(3).map(|id| format!("{id}.1")).collect();
    ids.sort();
    assert_eq!(ids, pages);
    // What a page refers to is a page.
    for name in &pages {
        let text = fs::read_to_string(dir.join(name)).unwrap();
        for (at, _) in text.match_indices("(1)") {
            let word = text[..at].rsplit([' ', '\n']).next().unwrap();
            let file = format!("{}.1", word.replace('\\', ""));
            assert!(pages.contains(&file), "{name} refers to {word}");
        }
    }
    fs::write(world.repository().join("file"), "").unwrap();
    transcript!(world, @r#"
    $ man --out file/man1
    exit 1
    2> flagpost: cannot look at [dir]/web/file/man1: Not a directory (os error 20)
    2>   hint: on the way to [dir]/web/file/man1 a file stands in the place of a directory
    $ man task --out share
    exit 2
    2> flagpost: the argument '[VERB]...' cannot be used with '--out <DIR>'
    2>   hint: 'flagpost man --help' shows how
    $ man add more
    exit 3
    2> flagpost: there is no verb "more"
    "#);
    assert!(!world.home().exists(), "a page leaves no trace");
}
