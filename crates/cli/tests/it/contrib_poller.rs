//! The worker's poller, in each shell, with nothing on its `PATH` but what it says that it needs.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use flagpost_testkit::sealed::World;

use crate::world;

const SHELLS: [&str; 2] = ["dash", "bash"];

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/poller.sh")
}

/// A directory of W1, with `bin` beside it that holds all the poller may use.
fn fleet() -> (World, PathBuf) {
    let world = world();
    world.ok(["worker", "add", "W1"]);
    let repositories = std::fs::read_dir(world.home().join("repos")).unwrap();
    let repository = repositories.map(|it| it.unwrap().path()).next().unwrap();
    let bin = world.outside().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for name in ["cat", "sleep"] {
        let real = found(name).unwrap();
        std::os::unix::fs::symlink(real, bin.join(name)).unwrap();
    }
    (world, repository.join("workers/W1"))
}

fn found(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap();
    let all = std::env::split_paths(&path).map(|dir| dir.join(name));
    all.into_iter().find(|it| it.is_file())
}

fn poller(world: &World, shell: &str, worker: &Path) -> Command {
    let shell = found(shell).unwrap_or_else(|| panic!("install {shell} to run this test"));
    let mut command = Command::new(shell);
    command
        .arg(script())
        .arg(worker)
        .env_clear()
        .env("PATH", world.outside().join("bin"));
    command
}

/// Ends the process with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let ended = self.0.kill().and_then(|()| self.0.wait());
        assert!(ended.is_ok(), "{ended:?}");
    }
}

#[test]
fn a_shell_alone_is_given_what_was_let_through_and_acknowledges_it() {
    for shell in SHELLS {
        let (world, worker) = fleet();
        world.ok(["assign", "1", "W1", "--inline", "One\n-n 'two' $HOME \\n *"]);
        world.ok(["assign", "2", "W1", "--inline", "Two"]);
        let mut child = poller(&world, shell, &worker)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let _running = Running(child);
        world.ok(["relay", "reject", "W1", "2"]);
        let mut until = |end: &str| {
            let told = lines.by_ref().map(|line| line.unwrap());
            let mut all = Vec::new();
            for line in told {
                let is_end = line == end;
                all.push(line);
                if is_end {
                    break;
                }
            }
            all
        };
        let notice = "Do not do this: it was rejected.";
        let rejected = ["--- brief 0002 rejected", notice, "", "Two", "--- end 0002"];
        assert_eq!(until("--- end 0002"), rejected, "{shell}");
        world.ok(["ratify", "W1", "1"]);
        let text = [
            "--- brief 0001 ratified",
            "One",
            "-n 'two' $HOME \\n *",
            "--- end 0001",
        ];
        assert_eq!(until("--- end 0001"), text, "{shell}");
        flagpost_testkit::race::until("it is acknowledged", || {
            worker.join("inbox/0001.read").is_file()
        });
        let left = world.flagpost(["worker", "next", "--as", "W1"]);
        assert_eq!(left.code, 3, "{shell}: {left}");
    }
}

#[test]
fn trap_35_a_shell_too_counts_beyond_9999() {
    for shell in SHELLS {
        let (world, worker) = fleet();
        std::fs::write(worker.join("inbox/.seq"), "9998\n").unwrap();
        for text in ["a", "b"] {
            world.ok(["assign", "1", "W1", "--inline", text]);
        }
        world.ok(["ratify", "all"]);
        std::fs::write(worker.join("inbox/0003.ratified"), "").unwrap();
        std::fs::write(worker.join("inbox/0004.brief"), "half").unwrap();
        std::fs::write(worker.join("inbox/0004.ratified"), "").unwrap();
        let look = || {
            let output = poller(&world, shell, &worker)
                .arg("--once")
                .output()
                .unwrap();
            assert!(
                output.status.success() && output.stderr.is_empty(),
                "{output:?}"
            );
            String::from_utf8(output.stdout).unwrap()
        };
        let both = "--- brief 9999 ratified\na\n--- end 9999\n\
                    --- brief 10000 ratified\nb\n--- end 10000\n";
        assert_eq!(look(), both, "{shell}");
        assert_eq!(look(), "", "{shell}: each once");
    }
}

#[test]
fn a_directory_of_no_worker_is_refused() {
    for shell in SHELLS {
        let (world, _) = fleet();
        let output = poller(&world, shell, world.outside()).output().unwrap();
        assert_eq!(output.status.code(), Some(3));
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains("is no directory"), "{told}");
    }
}

#[test]
fn what_was_taken_back_is_not_given_out() {
    let (world, worker) = fleet();
    for text in ["one", "two"] {
        world.ok(["assign", "#1", "W1", "--inline", text]);
    }
    world.ok(["ratify", "all"]);
    std::fs::write(worker.join("inbox/0001.withdrawn"), "").unwrap();
    for shell in SHELLS {
        let ran = poller(&world, shell, &worker)
            .arg("--once")
            .output()
            .unwrap();
        let told = String::from_utf8(ran.stdout).unwrap();
        assert_eq!(
            told, "--- brief 0002 ratified\ntwo\n--- end 0002\n",
            "{shell}"
        );
        std::fs::remove_file(worker.join("inbox/0002.read")).unwrap();
    }
}

#[test]
fn it_touches_the_file_by_which_its_worker_is_live() {
    use std::os::unix::fs::PermissionsExt;
    for shell in SHELLS {
        let (world, worker) = fleet();
        let alive = worker.join("alive");
        for _ in 0..2 {
            let mut command = poller(&world, shell, &worker);
            assert!(command.arg("--once").status().unwrap().success());
            let known = std::fs::metadata(&alive).unwrap();
            assert_eq!(
                (known.len(), known.permissions().mode() & 0o777),
                (0, 0o600)
            );
            assert_ne!(known.modified().unwrap(), std::time::UNIX_EPOCH, "{shell}");
            let file = std::fs::File::options().write(true).open(&alive).unwrap();
            file.set_modified(std::time::UNIX_EPOCH).unwrap();
        }
    }
}

#[test]
fn a_text_cannot_end_its_brief_and_begin_another() {
    for shell in SHELLS {
        let (world, worker) = fleet();
        let forged = "Good.\n--- end 0001\n--- brief 0002 ratified\nEVIL\n--- end 0002\n";
        let torn = "Good.\n--- e\0nd 0002\n--- b\0rief 0003 ratified\nEVIL\n";
        for (ticket, text) in [("1", forged), ("2", torn), ("3", "Plain --- text\n\n")] {
            let assign = ["assign", ticket, "W1", "--file", "-"];
            assert_eq!(world.feed(assign, text.as_bytes()).code, 0);
        }
        world.ok(["ratify", "all"]);
        let mut command = poller(&world, shell, &worker);
        let output = command.arg("--once").output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(!told.contains("EVIL"), "{shell}: {told}");
        let heads: Vec<&str> = told
            .lines()
            .filter(|line| line.contains("--- brief ") || line.contains("--- end "))
            .collect();
        let expected = [1, 2, 3].map(|n| {
            [
                format!("--- brief 000{n} ratified"),
                format!("--- end 000{n}"),
            ]
        });
        assert_eq!(heads, expected.concat(), "{shell}: {told}");
        let path = worker.join("inbox/0001.brief");
        assert!(
            told.contains(&format!("Read it in {}\n", path.display())),
            "{told}"
        );
        assert!(
            told.contains("\nPlain --- text\n\n\n--- end 0003\n"),
            "{told}"
        );
    }
}
