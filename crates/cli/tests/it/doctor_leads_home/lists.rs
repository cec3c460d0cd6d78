//! Faults of lists as a whole, of where they are looked for and where they appear.

use super::*;

pub(super) const FAULTS: &[Fault] = &[
    ("quarantine is a file", 1, CheckFailed, |world| {
        put(&world.list("web").join("quarantine"), "x");
        by_hand(|world| fs::remove_file(world.list("web").join("quarantine")).unwrap())
    }),
    ("a list links elsewhere", 1, ListUnreadable, |world| {
        linked(world, "/etc")
    }),
    ("a list links to itself", 1, ListUnreadable, |world| {
        linked(world, "link")
    }),
    (
        "a link in the place of a list",
        1,
        ListUnreadable,
        |world| {
            let (list, away) = (world.list("other"), world.outside().join("other"));
            fs::rename(&list, &away).unwrap();
            symlink(&away, &list).unwrap();
            by_hand(move |_| {
                fs::remove_file(&list).unwrap();
                fs::rename(&away, &list).unwrap();
            })
        },
    ),
    (
        "a file in the place of a list",
        1,
        ListUnreadable,
        |world| {
            let (list, away) = (world.list("other"), world.outside().join("other"));
            fs::rename(&list, &away).unwrap();
            put(&list, "mine\n");
            by_hand(move |_| {
                fs::remove_file(&list).unwrap();
                fs::rename(&away, &list).unwrap();
            })
        },
    ),
    ("a directory has no list's name", 0, ListMisnamed, |world| {
        let dir = world.home().join("tasks/no list");
        fs::create_dir(&dir).unwrap();
        mode(&dir, 0o700);
        by_hand(move |_| fs::remove_dir(dir).unwrap())
    }),
    ("a list of another program", 0, ListForeign, |world| {
        let dir = world.list("\u{65e5}\u{672c}");
        fs::create_dir(&dir).unwrap();
        mode(&dir, 0o700);
        let task = r#"{"id": "1", "subject": "Theirs", "status": "pending"}"#;
        put(&dir.join("1.json"), task);
        by_hand(move |world| {
            world.ok(["task", "import", dir.to_str().unwrap()]);
            fs::rename(&dir, dir.with_file_name("nihon")).unwrap();
        })
    }),
    ("a mirror is occupied", 0, MirrorIncomplete, |world| {
        let mirror = world.outside().join("mirror");
        fs::create_dir_all(mirror.join("web")).unwrap();
        world.ok(["config", "set", "tasks.mirror", mirror.to_str().unwrap()]);
        by_hand(move |world| {
            fs::rename(mirror.join("web"), mirror.join("theirs")).unwrap();
            world.ok(["config", "set", "tasks.mirror", mirror.to_str().unwrap()]);
        })
    }),
    ("a root that there is not", 0, RootMissing, |world| {
        rooted(world, "nowhere")
    }),
    ("a root that is a file", 1, RootUnreadable, |world| {
        fs::write(world.outside().join("a-file"), "").unwrap();
        rooted(world, "a-file")
    }),
    ("a root has a list of that name", 0, ListShadowed, |world| {
        let theirs = world.outside().join("roots/web");
        fs::create_dir_all(&theirs).unwrap();
        drop(rooted(world, "roots"));
        by_hand(move |_| fs::rename(&theirs, theirs.with_file_name("their-web")).unwrap())
    }),
    (
        "another program took a task away",
        0,
        TaskVanished,
        |world| {
            world.ok(["add", "Theirs to remove"]);
            let (dir, highest) = (world.list("web"), world.list("web").join(".highwatermark"));
            let last = fs::read_to_string(highest).unwrap();
            // That a task waits for it is no fault of its own.
            world.ok(["add", "After it", "--after", last.trim()]);
            fs::remove_file(dir.join(format!("{}.json", last.trim()))).unwrap();
            fixed()
        },
    ),
    (
        "another program took a list away",
        0,
        TaskVanished,
        |world| {
            fs::remove_dir_all(world.list("other")).unwrap();
            by_hand(|world| {
                let shown = world.ok(["--list", "other", "show", "1"]);
                assert!(shown.contains("elsewhere"), "{shown}");
            })
        },
    ),
    ("a torn task", 1, TaskBroken, |world| {
        put(&task(world, "12"), "{");
        by_hand(|world| fs::remove_file(task(world, "12")).unwrap())
    }),
    ("another program emptied a task", 0, TaskVanished, |world| {
        put(&task(world, "8"), "");
        fixed()
    }),
    ("a torn task is whole again", 0, QuarantineMended, |world| {
        let whole = fs::read(task(world, "8")).unwrap();
        put(&task(world, "8"), "{");
        old(&task(world, "8"));
        world.flagpost(["doctor", "--fix", "--yes"]);
        put(&task(world, "8"), whole);
        by_hand(|world| fs::remove_dir_all(world.list("web").join("quarantine")).unwrap())
    }),
    ("a counter that is behind", 0, CounterBehind, |world| {
        put(&world.list("web").join(".highwatermark"), "1\n");
        fixed()
    }),
    ("a counter behind a removal", 0, CounterBehind, |world| {
        counted(world, Some("1\n"))
    }),
    ("no counter after a removal", 0, CounterBehind, |world| {
        counted(world, None)
    }),
    ("a counter is no number", 1, CounterUnreadable, |world| {
        counted(world, Some("garbage"))
    }),
    ("a counter is near the end", 1, CounterExhausted, |world| {
        counted(world, Some("9007199254740993\n"))
    }),
    ("a counter is at the end", 1, CounterExhausted, |world| {
        counted(world, Some("18446744073709551615\n"))
    }),
    ("no binding", 0, BindingMissing, |world| bound(world, None)),
    ("a binding that is no id", 1, BindingBroken, |world| {
        bound(world, Some("../evil"))
    }),
    ("a binding to no repository", 1, BindingBroken, |world| {
        bound(world, Some("00000000-0000-4000-8000-000000000000"))
    }),
    ("a pointer to no session", 0, PointerBroken, |world| {
        put(&world.list("web").join("execution_pointer.md"), "/etc\n");
        by_hand(|world| drop(world.ok(["run", "--agent", "true"])))
    }),
];

/// A list that is a link to this.
fn linked(world: &World, target: &str) -> ByHand {
    let link = world.home().join("tasks/link");
    symlink(target, &link).unwrap();
    by_hand(move |_| fs::remove_file(link).unwrap())
}

/// Lists are looked for there as well.
fn rooted(world: &World, root: &str) -> ByHand {
    let root = world.outside().join(root);
    world.ok(["config", "set", "tasks.roots", root.to_str().unwrap()]);
    by_hand(|world| drop(world.ok(["config", "unset", "tasks.roots"])))
}

/// This in the place of the counter: it is kept, and no number is given twice.
fn counted(world: &World, content: Option<&'static str>) -> ByHand {
    world.ok(["task", "rm", "8", "--yes"]);
    let counter = world.list("web").join(".highwatermark");
    replace(&counter, content);
    by_hand(move |world| {
        assert_eq!(fs::read_to_string(counter).unwrap(), "8\n");
        assert!(content.is_none_or(|content| quarantined(world).contains(content)));
        assert_eq!(world.ok(["add", "d", "--quiet"]), "9\n");
    })
}

/// This in the place of the binding: it is kept, and the list belongs to the same repository again.
fn bound(world: &World, content: Option<&'static str>) -> ByHand {
    let binding = world.list("web").join(".repo");
    let before = fs::read(&binding).unwrap();
    replace(&binding, content);
    by_hand(move |world| {
        assert_eq!(fs::read(binding).unwrap(), before);
        assert!(content.is_none_or(|content| quarantined(world).contains(content)));
    })
}

fn replace(path: &Path, content: Option<&str>) {
    match content {
        Some(content) => put(path, content),
        None => fs::remove_file(path).unwrap(),
    }
}

#[test]
fn from_each_fault_of_lists_to_a_home_that_works() {
    lead_home(FAULTS);
}
