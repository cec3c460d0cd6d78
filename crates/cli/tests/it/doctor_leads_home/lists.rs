//! Faults of lists as a whole, of where they are looked for and where they appear.

use std::fs;

use super::*;

/// How the fault is brought about, where it is one of these.
pub(super) fn of_lists(code: Code) -> Option<Make> {
    Some(match code {
        Code::CheckFailed => |world| {
            put(&world.list("web").join("quarantine"), "x");
            by_hand(|world| fs::remove_file(world.list("web").join("quarantine")).unwrap())
        },
        Code::ListUnreadable => |world| {
            symlink("/etc", world.home().join("tasks/etc")).unwrap();
            by_hand(|world| fs::remove_file(world.home().join("tasks/etc")).unwrap())
        },
        Code::ListMisnamed => |world| {
            let dir = world.home().join("tasks/no list");
            fs::create_dir(&dir).unwrap();
            mode(&dir, 0o700);
            by_hand(move |_| fs::remove_dir(dir).unwrap())
        },
        Code::ListForeign => |world| {
            let dir = world.list("\u{65e5}\u{672c}");
            fs::create_dir(&dir).unwrap();
            mode(&dir, 0o700);
            let task = r#"{"id": "1", "subject": "Theirs", "status": "pending"}"#;
            put(&dir.join("1.json"), task);
            by_hand(move |world| {
                world.ok(["task", "import", dir.to_str().unwrap()]);
                fs::rename(&dir, dir.with_file_name("nihon")).unwrap();
            })
        },
        Code::MirrorIncomplete => |world| {
            let mirror = world.outside().join("mirror");
            fs::create_dir_all(mirror.join("web")).unwrap();
            world.ok(["config", "set", "tasks.mirror", mirror.to_str().unwrap()]);
            by_hand(move |world| {
                fs::rename(mirror.join("web"), mirror.join("theirs")).unwrap();
                world.ok(["config", "set", "tasks.mirror", mirror.to_str().unwrap()]);
            })
        },
        Code::RootMissing => |world| {
            let root = world.outside().join("nowhere");
            world.ok(["config", "set", "tasks.roots", root.to_str().unwrap()]);
            by_hand(|world| drop(world.ok(["config", "unset", "tasks.roots"])))
        },
        Code::RootUnreadable => |world| {
            let root = world.outside().join("a-file");
            fs::write(&root, "").unwrap();
            world.ok(["config", "set", "tasks.roots", root.to_str().unwrap()]);
            by_hand(|world| drop(world.ok(["config", "unset", "tasks.roots"])))
        },
        Code::ListShadowed => |world| {
            let root = world.outside().join("roots");
            fs::create_dir_all(root.join("web")).unwrap();
            world.ok(["config", "set", "tasks.roots", root.to_str().unwrap()]);
            by_hand(move |_| fs::rename(root.join("web"), root.join("their-web")).unwrap())
        },
        Code::TaskBroken => |world| {
            put(&task(world, "12"), "{");
            by_hand(|world| fs::remove_file(task(world, "12")).unwrap())
        },
        Code::QuarantineMended => |world| {
            let whole = fs::read(task(world, "8")).unwrap();
            put(&task(world, "8"), "{");
            old(&task(world, "8"));
            world.flagpost(["doctor", "--fix", "--yes"]);
            put(&task(world, "8"), whole);
            by_hand(|world| fs::remove_dir_all(world.list("web").join("quarantine")).unwrap())
        },
        Code::CounterBehind => |world| {
            put(&world.list("web").join(".highwatermark"), "1\n");
            fixed()
        },
        Code::CounterUnreadable => |world| {
            put(&world.list("web").join(".highwatermark"), "garbage");
            fixed()
        },
        Code::CounterExhausted => |world| {
            put(
                &world.list("web").join(".highwatermark"),
                "9007199254740993\n",
            );
            fixed()
        },
        Code::BindingMissing => |world| {
            fs::remove_file(world.list("web").join(".repo")).unwrap();
            fixed()
        },
        Code::BindingBroken => |world| {
            put(&world.list("web").join(".repo"), "../evil");
            fixed()
        },
        Code::PointerBroken => |world| {
            put(&world.list("web").join("execution_pointer.md"), "/etc\n");
            by_hand(|world| drop(world.ok(["run", "--agent", "true"])))
        },
        _ => return None,
    })
}
