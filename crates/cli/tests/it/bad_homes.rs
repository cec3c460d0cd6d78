//! A home that is missing, a file, read-only or full.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use flagpost_testkit::{sealed::World, table};
use insta::assert_snapshot;

use crate::{is_root, world, world_with};

#[test]
fn no_home_at_all() {
    let world = world();
    let run = |args: &[&str]| {
        world.run(
            world
                .command()
                .args(args)
                .env_remove("HOME")
                .env_remove("FLAGPOST_HOME"),
        )
    };
    assert_snapshot!(run(&["list"]), @r#"
    exit 1
    2> flagpost: there is no home: neither $FLAGPOST_HOME nor $HOME is set
    2>   hint: set FLAGPOST_HOME to a directory of yours
    "#);
    assert_snapshot!(run(&["add", "x", "--json"]), @r#"
    exit 1
    {"schema":"flagpost.error/1","kind":"failed","exit_code":1,"message":"there is no home: neither $FLAGPOST_HOME nor $HOME is set","hint":"set FLAGPOST_HOME to a directory of yours","causes":[]}
    "#);
    assert_eq!(run(&["--help"]).code, 0);
}

#[test]
fn the_default_home_is_below_the_users() {
    let world = world();
    let ran = world.run(
        world
            .command()
            .args(["add", "x"])
            .env_remove("FLAGPOST_HOME"),
    );
    assert_eq!(ran.code, 0, "{ran}");
    assert!(world.list("web").join("1.json").exists());
}

/// Agents work in another directory, and look for the same home.
#[test]
fn a_users_home_that_is_relative_is_made_absolute() {
    let world = world();
    let mut command = world.command();
    command.args(["status", "--json"]);
    let ran = world.run(command.env_remove("FLAGPOST_HOME").env("HOME", "../home"));
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["home"], "[dir]/web/../home/.flagpost");
}

#[test]
fn a_home_that_is_a_file() {
    let mut world = world();
    let file = world.outside().join("file");
    fs::write(&file, "mine").unwrap();
    world.set("FLAGPOST_HOME", &file);
    transcript!(world, @r#"
    $ list
    exit 3
    2> flagpost: [dir]/web is in no repository that Flagpost knows
    2>   hint: run 'flagpost init' at the top of your project, or name a list with --list
    $ add x
    exit 1
    2> flagpost: cannot look at [dir]/file/repos: Not a directory (os error 20)
    2>   hint: on the way to [dir]/file/repos a file stands in the place of a directory
    $ add x --json
    exit 1
    {"schema":"flagpost.error/1","kind":"failed","exit_code":1,"message":"cannot look at [dir]/file/repos","hint":"on the way to [dir]/file/repos a file stands in the place of a directory","causes":["Not a directory (os error 20)"]}
    $ status
    exit 1
    2> flagpost: cannot list [dir]/file/tasks: Not a directory (os error 20)
    2>   hint: on the way to [dir]/file/tasks a file stands in the place of a directory
    "#);
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

/// A name that is not UTF-8 must not send the tasks to another home.
#[test]
fn a_home_whose_name_is_not_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let mut world = world();
    let home = world.outside().join(std::ffi::OsStr::from_bytes(b"h\xff"));
    world.set("FLAGPOST_HOME", &home);
    let ran = world.flagpost(["add", "x"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(home.join("tasks/web/1.json").exists());
    for args in [&["status"][..], &["init"]] {
        let (code, json) = world.json(args);
        assert_eq!(code, 0, "{json}");
        let shown = json["home"].as_str().unwrap();
        assert!(shown.ends_with("/h\u{fffd}"), "{shown}");
    }
}

/// What is written through a link lies elsewhere: in another worker's inbox, in another list.
#[test]
fn nothing_is_written_to_where_a_link_in_the_home_leads() {
    type Row = (
        &'static str,
        &'static str,
        &'static str,
        &'static [&'static str],
    );
    let assign = &["assign", "1", "W2", "--inline", "Do it"][..];
    let report = &["worker", "report", "--as", "W2", "half of it"][..];
    let rows: &[Row] = &[
        (
            "an inbox",
            "REPO/workers/W2/inbox",
            "REPO/workers/W1/inbox",
            assign,
        ),
        (
            "an outbox",
            "REPO/workers/W2/outbox",
            "REPO/workers/W1/outbox",
            report,
        ),
        ("a worker", "REPO/workers/W2", "REPO/theirs", assign),
        ("all workers", "REPO/workers", "REPO/theirs", assign),
        ("a repository", "REPO", "elsewhere", &["add", "x"]),
        (
            "reservations",
            "REPO/reservations",
            "elsewhere",
            &["reserve", "add", "src"],
        ),
        ("a list", "tasks/web", "tasks/other", &["add", "x"]),
        ("all lists", "tasks", "elsewhere", &["add", "x"]),
        (
            "the notes of the daemon",
            "run",
            "elsewhere",
            &["daemon", "up"],
        ),
    ];
    table::each(
        rows.iter().map(|row| (row.0, row)),
        |(_, link, to, args)| {
            let world = world_with(&["a"]);
            world.ok(["--list", "other", "add", "b"]);
            world.ok(["worker", "add", "W1"]);
            world.ok(["worker", "add", "W2"]);
            let binding = fs::read_to_string(world.list("web").join(".repo")).unwrap();
            let of = |place: &str| {
                let place = place.replace("REPO", &format!("repos/{}", binding.trim()));
                world.home().join(place)
            };
            let (link, to) = (of(link), of(to));
            match (to.exists(), link.exists()) {
                (false, true) => fs::rename(&link, &to).unwrap(),
                (false, false) => fs::create_dir(&to).unwrap(),
                (true, true) => fs::remove_dir_all(&link).unwrap(),
                (true, false) => {}
            }
            std::os::unix::fs::symlink(&to, &link).unwrap();
            let before = names_below(&to);
            let ran = world.flagpost(*args);
            assert_ne!(ran.code, 0, "{ran}");
            let words = "is a link: nothing is written to where it leads";
            assert!(ran.stderr.contains(words), "{ran}");
            assert!(ran.stderr.contains("make it a directory"), "{ran}");
            assert_eq!(names_below(&to), before);
        },
    );
}

/// Every file below a directory.
fn names_below(dir: &Path) -> Vec<PathBuf> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        names.push(entry.path());
        if entry.file_type().unwrap().is_dir() {
            names.extend(names_below(&entry.path()));
        }
    }
    names.sort();
    names
}

/// A file system mounted for one test.
pub struct Mounted(PathBuf);

impl Mounted {
    /// One at this directory, which is made.
    pub fn at(dir: PathBuf, options: &str) -> Option<Self> {
        fs::create_dir_all(&dir).unwrap();
        let mounted = mount(&["-t", "tmpfs", "-o", options, "tmpfs"], &dir);
        if !mounted {
            println!("skipped: this machine does not let root mount a tmpfs");
        }
        mounted.then_some(Self(dir))
    }

    pub fn remount(&self, options: &str) {
        assert!(mount(&["-o", &format!("remount,{options}")], &self.0));
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn mount(args: &[&str], at: &Path) -> bool {
    let status = Command::new("mount")
        .args(args)
        .arg(at)
        .stderr(std::process::Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

#[test]
fn a_read_only_home() {
    if !is_root("a read-only home") {
        return;
    }
    let world = world();
    let mounted = or_skip!(Mounted::at(world.home(), "size=1m,mode=0700"));
    world.ok(["add", "a"]);
    fs::write(world.list("web").join("9.json"), "[").unwrap();
    mounted.remount("ro");
    // What can be read is read, also what would otherwise be kept aside.
    transcript!(world, @r#"
    $ list
    ID  STATE    SUBJECT
    1   pending  a
    2> flagpost: skipped 9.json: EOF while parsing a list at line 1 column 1
    $ FLAGPOST_CLOCK=2100-01-01T00:00:00Z list --quiet
    1
    2> flagpost: skipped 9.json: EOF while parsing a list at line 1 column 1
    $ show 1 --quiet
    1
    $ status --quiet
    2> flagpost: skipped 9.json: EOF while parsing a list at line 1 column 1
    $ add b
    exit 1
    2> flagpost: cannot create [dir]/home/.flagpost/tasks/web/.highwatermark: Read-only file system (os error 30)
    2>   hint: nothing was changed; the file system can only be read
    $ add b --json
    exit 1
    {"schema":"flagpost.error/1","kind":"failed","exit_code":1,"message":"cannot create [dir]/home/.flagpost/tasks/web/.highwatermark","hint":"nothing was changed; the file system can only be read","causes":["Read-only file system (os error 30)"]}
    $ claim 1
    exit 1
    2> flagpost: cannot create [dir]/home/.flagpost/tasks/web/1.json: Read-only file system (os error 30)
    2>   hint: nothing was changed; the file system can only be read
    $ init --quiet
    [repo]
    "#);
    mounted.remount("rw");
    assert_eq!(world.ok(["add", "b", "--quiet"]), "10\n");
}

#[test]
fn a_full_disk() {
    if !is_root("a full disk") {
        return;
    }
    // The room ends at another step each time.
    for (size, len) in [("64k", 3_000), ("64k", 10), ("72k", 700), ("128k", 20_000)] {
        let world = world();
        let mounted = or_skip!(Mounted::at(world.home(), &format!("size={size},mode=0700")));
        fill(&world, &mounted, &"x".repeat(len));
    }
}

fn fill(world: &World, mounted: &Mounted, text: &str) {
    let mut added = Vec::new();
    let failed = loop {
        let ran = world.flagpost(["add", "task", "--description", text, "--quiet"]);
        if ran.code != 0 {
            break ran;
        }
        added.push(ran.stdout);
        assert!(added.len() < 100, "so small a disk holds no hundred tasks");
    };
    assert!(!added.is_empty());
    assert_eq!((failed.code, failed.stdout.as_str()), (1, ""), "{failed}");
    for told in [
        "No space left on device",
        "hint: nothing was changed; make room and try again",
    ] {
        assert!(failed.stderr.contains(told), "{failed}");
    }

    let (_, listed) = world.json(["list", "--limit", "0"]);
    assert_eq!(listed["skipped"].as_array().unwrap().len(), 0);
    let ids = world.ok(["list", "--quiet", "--limit", "0"]);
    assert_eq!(
        ids,
        added.concat(),
        "nothing is lost and nothing half there"
    );
    assert_eq!(
        world
            .flagpost(["done", "1", &text.repeat(4), "--json"])
            .code,
        1
    );
    assert_eq!(world.json(["show", "1"]).1["state"], "pending");

    mounted.remount("size=4m");
    assert_eq!(world.flagpost(["done", "1", text]).code, 0);
    let next = world.ok(["add", "after", "--quiet"]);
    assert!(!added.contains(&next), "{next}");
    assert_eq!(world.json(["show", next.trim()]).1["subject"], "after");
    for id in &added {
        let task = world.json(["show", id.trim()]).1;
        assert_eq!(task["description"], text, "{id}");
    }
    for entry in fs::read_dir(world.list("web")).unwrap() {
        let name = entry.unwrap().file_name();
        assert!(
            !name.to_string_lossy().contains(".tmp-"),
            "{name:?} is left"
        );
    }
}

#[test]
fn a_home_nobody_may_enter_says_so() {
    use std::os::unix::fs::PermissionsExt;
    let world = world_with(&["a"]);
    if rustix::process::geteuid().is_root() {
        println!("skipped: root may enter every directory");
        return;
    }
    fs::set_permissions(world.home(), PermissionsExt::from_mode(0o0)).unwrap();
    let ran = world.flagpost(["list"]);
    fs::set_permissions(world.home(), PermissionsExt::from_mode(0o700)).unwrap();
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("Permission denied"), "{ran}");
}
