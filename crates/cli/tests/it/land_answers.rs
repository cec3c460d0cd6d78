//! What stands in the way of a landing: a clear answer each, and nothing is lost.

use flagpost_testkit::{race::until, scratch::SmallDisk, sealed::Ran};

use crate::land_yard::{Yard, branch, executable};

fn assert_says(ran: &Ran, code: i32, words: &[&str]) {
    assert_eq!(ran.code, code, "{ran}");
    for word in words {
        assert!(
            ran.stdout.contains(word) || ran.stderr.contains(word),
            "{word}: {ran}"
        );
    }
}

#[test]
fn a_target_that_cannot_be_one_is_named_with_what_to_do() {
    let yard = Yard::of(1);
    for (onto, code, words) in [
        ("nowhere", 3, "there is no branch nowhere"),
        ("a..b", 3, "there is no branch a..b"),
        ("main~0", 3, "there is no branch main~0"),
        ("main@{0}", 3, "there is no branch main@{0}"),
        (&*branch(1), 2, "is the branch of a task"),
    ] {
        assert_says(&yard.land(&["--onto", onto]), code, &[words, "hint:"]);
    }
    yard.git(&["checkout", "-q", "--detach"]);
    assert_says(&yard.land(&[]), 2, &["stands on no branch", "--onto main"]);
    yard.lands(&["--onto", "main"]);
    yard.assert_landed([1]);
}

#[test]
fn a_bare_repository_lands_without_a_working_tree() {
    let yard = Yard::of(2);
    let bare = yard.outside("bare.git");
    yard.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let there = |args: &[&str]| {
        let ran = yard
            .world
            .run(yard.world.command().args(args).current_dir(&bare));
        assert_eq!(ran.code, 0, "{args:?}: {ran}");
        ran
    };
    there(&["init"]);
    there(&["task", "import", yard.outside("PLAN.md").to_str().unwrap()]);
    there(&["land", "--yes", "--check", "test -e file-1"]);
    let names = yard.git_in(&bare, &["ls-tree", "--name-only", "main"]);
    assert_eq!(names, "file-1\nfile-2\nshared");
}

/// What git refuses for the repository's reasons is nobody's fault: the task stays done, its branch stays.
#[test]
fn hooks_keys_and_names_refuse_in_gits_words_and_the_branch_stays() {
    let yard = Yard::of(1);
    let git_dir = yard.world.repository().join(".git");
    let stays = |words: &str| {
        let ran = yard.land(&[]);
        assert_says(&ran, 1, &["not landed 1: git did not bring it in", words]);
        yard.assert_landed([]);
        assert!(yard.git(&["branch"]).contains(&branch(1)));
    };
    for hook in ["pre-merge-commit", "commit-msg"] {
        yard.hook(&git_dir, hook, "echo no from the hook >&2; exit 1");
        stays("no from the hook");
        std::fs::remove_file(git_dir.join("hooks").join(hook)).unwrap();
    }
    yard.git(&["config", "commit.gpgsign", "true"]);
    yard.git(&["config", "gpg.program", "false"]);
    stays("failed to sign");
    yard.git(&["config", "--unset", "commit.gpgsign"]);
    let nobody = "GIT_COMMITTER_NAME= GIT_COMMITTER_EMAIL=";
    let ran = yard.world.run(
        yard.world
            .command_of("env")
            .args(nobody.split(' '))
            .arg(env!("CARGO_BIN_EXE_flagpost"))
            .args(["land", "--yes"]),
    );
    assert_says(&ran, 1, &["not landed 1: git did not bring it in"]);
    yard.hook(
        &git_dir,
        "reference-transaction",
        "echo protected >&2; [ $1 != prepared ]",
    );
    assert_says(&yard.land(&[]), 1, &["protected"]);
    std::fs::remove_file(git_dir.join("hooks/reference-transaction")).unwrap();
    yard.lands(&[]);
    yard.assert_landed([1]);
}

#[test]
fn a_second_landing_is_told_of_the_first() {
    let yard = Yard::of(1);
    let go = yard.outside("go");
    let check = format!("until [ -e '{}' ]; do sleep 0.05; done", go.display());
    let first = flagpost_testkit::background::Background::start(
        yard.world
            .command()
            .args(["land", "--yes", "--check", &check]),
    );
    until("it checks", || first.stderr().contains("check 1"));
    assert_says(
        &yard.land(&[]),
        4,
        &["a landing is under way: pid", "--status"],
    );
    let status = yard.world.flagpost(["land", "--status"]);
    assert_says(&status, 0, &["checking 1 since"]);
    std::fs::write(go, "").unwrap();
    let ended = first.end();
    assert_eq!(ended.code, 0, "{ended}");
    yard.assert_landed([1]);
}

#[test]
fn whatever_a_subject_holds_is_one_line_of_the_message() {
    let yard = Yard::of(0);
    for (n, subject) in ["-m 'q' \"$(x)\" #", "# no comment", "tab\tand  spaces"]
        .iter()
        .enumerate()
    {
        yard.world.ok(["add", "--", subject]);
        yard.world.ok(["done", &(n + 1).to_string()]);
        yard.branch(n + 1, "main", |yard| {
            yard.write(&format!("file-{}", n + 1), "")
        });
    }
    yard.lands(&[]);
    let subjects = yard.git(&["log", "--first-parent", "--format=%s", "-3", "main"]);
    let expected =
        "Land task 3: tab and spaces\nLand task 2: # no comment\nLand task 1: -m 'q' \"$(x)\" #";
    assert_eq!(subjects, expected);
}

#[test]
fn ids_that_git_would_not_take_land_too() {
    let yard = Yard::of(0);
    yard.world.ok(["add", "The list is known"]);
    let session: flagpost_model::SessionId = "web-1".parse().unwrap();
    for id in ["a..b", "v1.2", "x.lock"] {
        let task = format!(
            r#"{{"id":"{id}","subject":"Odd","description":"","status":"completed","blocks":[],"blockedBy":[]}}"#
        );
        std::fs::create_dir_all(yard.world.list("web")).unwrap();
        std::fs::write(yard.world.list("web").join(format!("{id}.json")), task).unwrap();
        let name = flagpost_core::git::Branch::new(&session, &id.parse().unwrap());
        yard.git(&["checkout", "-qb", name.as_str(), "main"]);
        yard.write(&format!("made-{id}"), "");
        yard.commit(id);
        yard.git(&["checkout", "-q", "main"]);
    }
    yard.lands(&[]);
    let names = yard.git(&["ls-tree", "--name-only", "main"]);
    assert_eq!(names, "made-a..b\nmade-v1.2\nmade-x.lock\nshared");
}

#[test]
fn a_full_disk_is_named_and_the_next_landing_goes_on() {
    let disk = or_skip!(SmallDisk::mount(4_000));
    let yard = Yard::of(2);
    let worktrees = yard.world.home().join("worktrees");
    std::os::unix::fs::symlink(disk.path(), &worktrees).unwrap();
    let filler = disk.path().join("filler");
    let fill = format!("cat /dev/zero > '{}'; true", filler.display());
    let _ = std::process::Command::new("sh")
        .args(["-c", &fill])
        .output();
    let ran = yard.land(&[]);
    assert_says(&ran, 1, &["No space left on device"]);
    std::fs::remove_file(filler).unwrap();
    yard.lands(&[]);
    yard.assert_landed([1, 2]);
}

#[test]
fn a_home_that_cannot_be_written_is_named() {
    let disk = or_skip!(SmallDisk::mount(8_000));
    let mut yard = Yard::of(1);
    let home = disk.path().join("home");
    let copied = yard
        .world
        .command_of("cp")
        .arg("-a")
        .arg(yard.world.home())
        .arg(&home)
        .status();
    assert!(copied.unwrap().success());
    yard.world.set("FLAGPOST_HOME", &home);
    disk.make_read_only();
    assert_says(&yard.land(&[]), 1, &["Read-only file system"]);
    assert_eq!(yard.on_target(), [0; 0]);
}

#[test]
fn tasks_that_are_named_land_alone_or_say_what_they_build_on() {
    let yard = Yard::of(3);
    yard.world.ok(["task", "dep", "add", "3", "2"]);
    yard.branch(3, &branch(2), |yard| yard.write("file-3", "3\n"));
    assert_says(&yard.land(&["3"]), 4, &["builds on 2: name that, too"]);
    assert_says(&yard.land(&["1", "--dry-run"]), 0, &["1 Task 1 (1 commit)"]);
    assert!(!yard.land(&["1", "--dry-run"]).stdout.contains("Task 2"));
    assert_says(&yard.land(&["1"]), 0, &["landing 1 branch on main"]);
    yard.assert_landed([1]);
    yard.lands(&["2", "3"]);
    yard.assert_landed([1, 2, 3]);
}

/// What landed last is what the task says, and the work of before is not told again.
#[test]
fn work_that_was_done_again_has_landed_once_more_and_no_oftener() {
    let yard = Yard::of(1);
    yard.lands(&[]);
    yard.world.ok(["task", "reopen", "1"]);
    yard.world.ok(["claim", "1"]);
    yard.world.ok(["done", "1", "again"]);
    yard.branch(1, "main", |yard| yard.write("more", ""));
    yard.git(&["branch", "-m", &branch(1), "flagpost/web-2/1"]);
    yard.lands(&[]);
    let told = || {
        let (_, task) = yard.world.json(["show", "1"]);
        (task["landing"].clone(), yard.recorded(1))
    };
    let (landing, times) = told();
    assert_eq!(
        (times, &landing["landed"]["commit"]),
        (2, &yard.git(&["rev-parse", "main"]).into())
    );
    for _ in 0..2 {
        let ran = yard.lands(&[]);
        assert!(ran.stdout.contains("nothing landed"), "{ran}");
        assert_eq!(told(), (landing.clone(), 2));
    }
}

/// As where `core.hooksPath` names a directory of the repository's own.
#[test]
fn the_hooks_of_the_operators_tree_run_and_those_that_a_branch_brings_do_not() {
    for is_operators in [true, false] {
        let yard = Yard::of(1);
        let ran = yard.outside("ran");
        let hooks = yard.world.repository().join(".githooks");
        let write = || {
            std::fs::create_dir_all(&hooks).unwrap();
            for name in [
                "pre-merge-commit",
                "post-checkout",
                "commit-msg",
                "post-merge",
            ] {
                executable(&hooks.join(name), &format!("touch '{}'", ran.display()));
            }
        };
        if is_operators {
            write();
            yard.commit("hooks");
        }
        yard.branch(1, "main", |yard| {
            yard.write("file-1", "1\n");
            write();
        });
        yard.git(&["config", "core.hooksPath", ".githooks"]);
        let hook_ran = format!("test -e '{}'", ran.display());
        let check = if is_operators {
            hook_ran
        } else {
            format!("! {hook_ran}")
        };
        yard.lands(&["--check", &check]);
        yard.assert_landed([1]);
        assert_eq!(ran.exists(), is_operators);
    }
}

/// As of git-lfs or a hooks manager that is not installed.
#[test]
fn a_hook_that_fails_once_all_is_checked_out_stops_no_landing() {
    for how in ["merge", "rebase", "squash"] {
        let yard = Yard::of(2);
        let git_dir = yard.world.repository().join(".git");
        yard.hook(&git_dir, "post-checkout", "echo not installed >&2; exit 1");
        yard.lands(&["--how", how, "--check", "true", "--batch", "1"]);
        yard.assert_landed([1, 2]);
    }
}
