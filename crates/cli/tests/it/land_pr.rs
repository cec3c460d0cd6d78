//! `land --pr`: the real `gh`, against a server that stands for GitHub.

mod github;

use std::{os::unix::fs::symlink, path::PathBuf, process::Command};

use serde_json::Value;

use crate::{
    exits,
    land_pr::github::{GitHub, url},
    land_yard::{Yard, branch},
};

/// A yard whose remote is fetched from GitHub, as `gh` is told, and pushed to a bare repository.
struct Place {
    yard: Yard,
    github: GitHub,
    up: PathBuf,
}

impl Place {
    /// With so many tasks; none and a line that says so where `gh` is not installed.
    fn of(tasks: usize) -> Option<Self> {
        let gh = Command::new("gh").arg("--version").output();
        if !gh.is_ok_and(|it| it.status.success()) {
            eprintln!(
                "skipped: gh is not installed (./check installs it; Debian: apt-get install gh)"
            );
            return None;
        }
        let (mut yard, github) = (Yard::of(tasks), GitHub::start());
        let up = yard.outside("up.git");
        let path = up.to_str().unwrap();
        yard.git(&["init", "-q", "--bare", "-b", "main", path]);
        let fetched = "http://github.localhost/o/r.git";
        yard.git(&["remote", "add", "origin", fetched]);
        yard.git(&["config", &format!("url.{path}.pushInsteadOf"), fetched]);
        yard.git(&["push", "-q", "origin", "main"]);
        for (name, value) in [
            ("GH_HOST", "github.localhost"),
            ("GH_TOKEN", "x"),
            ("HTTP_PROXY", &github.proxy()),
        ] {
            yard.world.set(name, value);
        }
        Some(Self { yard, github, up })
    }

    /// The branches at the remote, with their commits.
    fn pushed(&self) -> String {
        let format = "--format=%(refname:short) %(objectname)";
        self.yard
            .git_in(&self.up, &["for-each-ref", format, "refs/heads/flagpost"])
    }

    fn tip(&self, task: usize) -> String {
        self.yard.git(&["rev-parse", &branch(task)])
    }

    /// Nothing has landed, and every task is as it was.
    fn assert_nothing_landed(&self, tasks: usize) {
        self.yard.assert_landed([]);
        assert_eq!(self.yard.git(&["log", "--format=%s", "main"]), "first");
        let (_, status) = self.yard.world.json(["land", "--status"]);
        assert_eq!(status["branches"].as_array().unwrap().len(), tasks);
    }
}

fn lines(text: &str) -> Vec<Value> {
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().unwrap()
}

#[test]
fn each_branch_gets_one_request_which_the_next_call_only_updates() {
    let Some(place) = Place::of(2) else { return };
    let world = &place.yard.world;
    world.ok(["edit", "2", "--description", "All of\nthe guide"]);
    let ran = place.yard.lands(&["--pr"]);
    for n in [1, 2] {
        let told = format!("opened a pull request for {n} Task {n}: {}", url(n));
        assert!(ran.stderr.contains(&told), "{ran}");
        assert!(ran.stdout.contains(&format!("  {n} {}", url(n))), "{ran}");
    }
    let opened = place.github.opened();
    let shown = opened.iter().map(|it| (&*it.head, &*it.base, &*it.title));
    let expected = [
        ("flagpost/web-1/1", "main", "Task 1"),
        ("flagpost/web-1/2", "main", "Task 2"),
    ];
    assert_eq!(shown.collect::<Vec<_>>(), expected);
    let body = "Task 2 of web\n\nAll of\nthe guide\n\n## Result\n\nmarked done in the plan\n\nBranch: `flagpost/web-1/2`\n\n\
                Opened by `flagpost land --pr`.";
    assert_eq!(opened[1].body, body);
    let tips = |place: &Place| {
        let tips = [1, 2].map(|n| format!("{} {}", branch(n), place.tip(n)));
        tips.join("\n")
    };
    assert_eq!(place.pushed(), tips(&place));
    place.assert_nothing_landed(2);

    place
        .yard
        .branch(1, &branch(1), |yard| yard.write("more", ""));
    let ran = place.yard.lands(&["--pr", "--json"]);
    assert_eq!(place.github.opened().len(), 2);
    assert_eq!(place.pushed(), tips(&place));
    let told = lines(&ran.stdout);
    let requested: Vec<&Value> = told
        .iter()
        .filter(|line| line["event"] == "land.requested")
        .collect();
    for (n, line) in (1..).zip(&requested) {
        assert_eq!(line["url"], url(n), "{line}");
        assert_eq!(line["existed"], true, "{line}");
    }
    let answer = told.last().unwrap();
    let expected = serde_json::json!([{"task": "1", "url": url(1)}, {"task": "2", "url": url(2)}]);
    assert_eq!((requested.len(), &answer["requests"]), (2, &expected));
    place.assert_nothing_landed(2);
}

#[test]
fn a_task_that_is_named_is_requested_alone_at_the_remote_that_is_named() {
    let Some(place) = Place::of(3) else { return };
    place.yard.git(&["remote", "rename", "origin", "up"]);
    place.yard.lands(&["--pr", "2", "--push", "up"]);
    let heads: Vec<String> = place
        .github
        .opened()
        .into_iter()
        .map(|it| it.head)
        .collect();
    assert_eq!(heads, [branch(2)]);
    assert_eq!(place.pushed(), format!("{} {}", branch(2), place.tip(2)));
    place.assert_nothing_landed(3);
}

#[test]
fn a_stranger_is_told_to_sign_in_before_anything_is_pushed() {
    let Some(place) = Place::of(2) else { return };
    place.github.lock_out(true);
    let ran = exits(place.yard.land(&["--pr"]), 1);
    for words in ["gh pr list: HTTP 401: Bad credentials", "gh auth login"] {
        assert!(ran.stderr.contains(words), "{words}: {ran}");
    }
    assert_eq!(place.pushed(), "");
    place.assert_nothing_landed(2);
    place.github.lock_out(false);
    place.yard.lands(&["--pr"]);
    assert_eq!(place.github.opened().len(), 2);
}

/// The other branches get their requests; nothing is forced.
#[test]
fn a_branch_that_the_remote_does_not_take_is_left_with_gits_words() {
    let Some(place) = Place::of(2) else { return };
    place.yard.lands(&["--pr"]);
    let before = place.tip(1);
    place
        .yard
        .branch(1, "main", |yard| yard.write("file-1", "anew\n"));
    let ran = exits(place.yard.land(&["--pr"]), 1);
    assert!(ran.stdout.contains("not landed 1: "), "{ran}");
    assert!(ran.stdout.contains("[rejected]"), "{ran}");
    assert!(ran.stdout.contains(&format!("  2 {}", url(2))), "{ran}");
    assert!(place.pushed().contains(&before));
    place.assert_nothing_landed(2);
}

#[test]
fn a_request_that_github_does_not_open_is_told_with_its_words_and_opened_later() {
    let Some(place) = Place::of(2) else { return };
    place.github.refuse(&branch(1));
    let ran = exits(place.yard.land(&["--pr"]), 1);
    assert!(ran.stdout.contains("not landed 1: gh pr create: "), "{ran}");
    assert!(ran.stdout.contains("not of this branch"), "{ran}");
    assert!(ran.stdout.contains(&format!("  2 {}", url(1))), "{ran}");
    place.assert_nothing_landed(2);
    place.github.refuse("another");
    let ran = place.yard.lands(&["--pr"]);
    assert!(ran.stdout.contains(&format!("  1 {}", url(2))), "{ran}");
}

/// A squash has none of the branch's commits.
#[test]
fn a_request_that_was_squashed_there_has_landed_once_the_target_has_its_commit() {
    let Some(place) = Place::of(2) else { return };
    place.yard.lands(&["--pr"]);
    let (yard, tip) = (&place.yard, place.tip(1));
    yard.git(&["checkout", "-q", "--detach"]);
    yard.git(&["merge", "-q", "--squash", &branch(1)]);
    yard.git(&["commit", "-qm", "Task 1 (#1)"]);
    let squashed = yard.git(&["rev-parse", "HEAD"]);
    yard.git(&["checkout", "-q", "main"]);
    place.github.merge(&branch(1), &tip, &squashed);
    let ran = exits(yard.land(&["--pr"]), 1);
    let told = format!(
        "{} is merged, and main lacks its commit: pull main from origin",
        url(1)
    );
    assert!(ran.stdout.contains(&told), "{ran}");
    yard.assert_landed([]);

    yard.git(&["merge", "-q", "--ff-only", &squashed]);
    let ran = yard.lands(&["--pr"]);
    assert!(ran.stdout.contains("landed 1 task on main"), "{ran}");
    assert_eq!(place.github.opened().len(), 2);
    yard.assert_landed([1]);
    yard.lands(&[]);
    yard.assert_landed([1, 2]);
}

#[test]
fn without_gh_or_github_it_is_said_what_to_do() {
    let mut yard = Yard::of(1);
    let says = |yard: &Yard, code: i32, words: &[&str]| {
        let ran = exits(yard.land(&["--pr"]), code);
        for word in words {
            assert!(ran.stderr.contains(word), "{word}: {ran}");
        }
        yard.assert_landed([]);
    };
    says(&yard, 1, &["No such remote 'origin'", "--push"]);
    for (at, words) in [
        ("/srv/r.git", "no repository of GitHub"),
        ("git@gitlab.com:o/r.git", "gitlab.com is GitLab"),
    ] {
        yard.git(&["config", "remote.origin.url", at]);
        says(&yard, 1, &[words, "git remote -v"]);
    }
    yard.git(&["config", "remote.origin.url", "git@github.com:o/r.git"]);
    let bin = yard.outside("bin");
    std::fs::create_dir(&bin).unwrap();
    for program in ["git", "sh"] {
        let paths = std::env::var_os("PATH").unwrap();
        let mut all = std::env::split_paths(&paths).map(|dir| dir.join(program));
        symlink(all.find(|it| it.exists()).unwrap(), bin.join(program)).unwrap();
    }
    yard.world.set("PATH", bin);
    says(&yard, 3, &["gh, which is not on the PATH", "gh auth login"]);
}

#[test]
fn what_belongs_to_a_check_cannot_be_asked_of_a_request() {
    let yard = Yard::of(1);
    for option in [
        "--check=true",
        "--how=squash",
        "--batch=2",
        "--keep",
        "--dry-run",
    ] {
        exits(yard.land(&["--pr", option]), 2);
    }
}
