//! Where the tests of `land` take place: a repository with completed tasks and their branches.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use flagpost_testkit::sealed::{Ran, World};
use serde_json::Value;

/// A world whose list is done, each task's work on a branch of its own. The file `shared` is on the target,
/// the work of task N is the file `file-N`.
pub struct Yard {
    pub world: World,
}

impl Yard {
    /// So many tasks, each with a branch from the target's commit.
    pub fn of(tasks: usize) -> Self {
        let yard = Self {
            world: crate::world(),
        };
        yard.write("shared", "base\n");
        yard.commit("first");
        let plan: String = (1..=tasks).map(|n| format!("- [x] Task {n}\n")).collect();
        let path = yard.outside("PLAN.md");
        fs::write(&path, plan).unwrap();
        if tasks > 0 {
            yard.world.ok(["task", "import", path.to_str().unwrap()]);
        }
        for n in 1..=tasks {
            yard.branch(n, "main", |yard| {
                yard.write(&format!("file-{n}"), &format!("{n}\n"));
            });
        }
        yard
    }

    /// Makes a task's branch anew, from here, with a commit of what is done there.
    pub fn branch(&self, task: usize, from: &str, work: impl FnOnce(&Self)) {
        self.git(&["checkout", "-qB", &branch(task), from]);
        work(self);
        self.commit(&format!("task {task}"));
        self.git(&["checkout", "-q", "main"]);
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.world.repository().join(name), text).unwrap();
    }

    pub fn commit(&self, subject: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "-qm", subject]);
    }

    pub fn outside(&self, name: &str) -> PathBuf {
        self.world.outside().join(name)
    }

    /// Lands without being asked.
    pub fn land(&self, args: &[&str]) -> Ran {
        self.world.flagpost([&["land", "--yes"], args].concat())
    }

    /// Lands, and fails the test unless everything did.
    pub fn lands(&self, args: &[&str]) -> Ran {
        let ran = self.land(args);
        assert_eq!(ran.code, 0, "{ran}");
        ran
    }

    /// What git answers in the repository.
    pub fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.world.repository(), args)
    }

    pub fn git_in(&self, dir: &Path, args: &[&str]) -> String {
        let ran = self.try_git(dir, args);
        assert_eq!(ran.code, 0, "git {args:?}: {ran}");
        ran.stdout.trim_end().to_owned()
    }

    pub fn try_git(&self, dir: &Path, args: &[&str]) -> Ran {
        let mut command = self.world.command_of("git");
        command
            .args(["-c", "protocol.file.allow=always"])
            .args(args);
        self.world.run(command.current_dir(dir))
    }

    /// A script that git runs at this point.
    pub fn hook(&self, git_dir: &Path, name: &str, body: &str) {
        let hooks = git_dir.join("hooks");
        fs::create_dir_all(&hooks).unwrap();
        executable(&hooks.join(name), body);
    }

    /// The tasks whose work the target holds, by their files.
    pub fn on_target(&self) -> Vec<usize> {
        let names = self.git(&["ls-tree", "--name-only", "main"]);
        let mut tasks: Vec<usize> = names
            .lines()
            .filter_map(|name| name.strip_prefix("file-")?.parse().ok())
            .collect();
        tasks.sort_unstable();
        tasks
    }

    /// How often the history says that a task's work landed.
    pub fn recorded(&self, task: usize) -> usize {
        let repositories = fs::read_dir(self.world.home().join("repos")).unwrap();
        let kept = repositories.last().unwrap().unwrap().path();
        let text = fs::read_to_string(kept.join("history.jsonl")).unwrap();
        let lines = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let task = task.to_string();
        let is_it = |line: &Value| line["kind"] == "land.landed" && line["task"] == *task;
        lines.filter(is_it).count()
    }

    /// The commits that the target ever stood on, by its own record or as first parents, the newest first.
    pub fn stood_on(&self) -> Vec<String> {
        let log = self.git(&["log", "-g", "--format=%H", "main"]);
        let line = self.git(&["rev-list", "--first-parent", "main"]);
        let mut seen: Vec<String> = log.lines().chain(line.lines()).map(str::to_owned).collect();
        seen.sort();
        seen.dedup();
        seen
    }

    /// Nothing that a landing makes for itself is left, and the working tree is as the target is.
    pub fn assert_tidy(&self) {
        assert_eq!(self.git(&["status", "--porcelain"]), "");
        let trees = self.git(&["worktree", "list"]);
        assert!(!trees.contains("landing"), "{trees}");
        assert_eq!(self.git(&["for-each-ref", "refs/flagpost/staged"]), "");
        let locks = Command::new("find")
            .arg(self.world.repository().join(".git"))
            .args(["-name", "*.lock", "-o", "-name", "rebase-*"])
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&locks.stdout), "");
    }

    /// These landed, each once, and are recorded so; nothing of the landing is left.
    pub fn assert_landed(&self, tasks: impl IntoIterator<Item = usize>) {
        let tasks: Vec<usize> = tasks.into_iter().collect();
        assert_eq!(self.on_target(), tasks);
        for task in tasks {
            assert_eq!(self.recorded(task), 1, "task {task}");
            let brought = self.git(&["log", "--format=%s", "--first-parent", "main"]);
            let subject = format!("Land task {task}: ");
            let count = brought.lines().filter(|it| it.starts_with(&subject));
            assert!(count.count() <= 1, "task {task}: {brought}");
        }
        self.assert_tidy();
    }
}

/// The branch of a task.
pub fn branch(task: usize) -> String {
    format!("flagpost/web-1/{task}")
}

/// A script that can be run.
pub fn executable(path: &Path, body: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
