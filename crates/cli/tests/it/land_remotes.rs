//! `land --push`: a remote that others push to, that is gone, or that refuses.

use std::path::PathBuf;

use flagpost_testkit::{background::Background, race::until};
use rustix::process::Signal;

use crate::{land_yard::Yard, says};

/// A yard with a bare remote `up` and another clone of it.
fn yard() -> (Yard, PathBuf, PathBuf) {
    let yard = Yard::of(2);
    let (up, other) = (yard.outside("up.git"), yard.outside("other"));
    yard.git(&["init", "-q", "--bare", "-b", "main", up.to_str().unwrap()]);
    yard.git(&["remote", "add", "up", up.to_str().unwrap()]);
    yard.git(&["push", "-q", "up", "main"]);
    yard.git(&["clone", "-q", up.to_str().unwrap(), other.to_str().unwrap()]);
    (yard, up, other)
}

fn push_from(yard: &Yard, other: &std::path::Path) {
    std::fs::write(other.join("theirs"), "").unwrap();
    yard.git_in(other, &["add", "theirs"]);
    yard.git_in(other, &["commit", "-qm", "theirs"]);
    yard.git_in(other, &["push", "-q"]);
}

fn assert_both_stand_on(yard: &Yard, up: &std::path::Path, files: &str) {
    assert_eq!(
        yard.git(&["rev-parse", "main"]),
        yard.git_in(up, &["rev-parse", "main"])
    );
    assert_eq!(yard.git(&["ls-tree", "--name-only", "main"]), files);
    yard.assert_landed([1, 2]);
}

#[test]
fn what_others_pushed_before_or_meanwhile_is_below_what_lands() {
    let (yard, up, other) = yard();
    push_from(&yard, &other);
    let done = yard.outside("done");
    let check = format!(
        "[ -e '{done}' ] || {{ touch '{done}'; cd '{other}'; : > later; git add later; \
         git commit -qm later; git push -q; }}",
        done = done.display(),
        other = other.display()
    );
    let ran = yard.lands(&["--push", "up", "--check", &check]);
    assert!(ran.stderr.contains("moved by others meanwhile"), "{ran}");
    assert!(ran.stderr.contains("pushed main to up"), "{ran}");
    assert_both_stand_on(&yard, &up, "file-1\nfile-2\nlater\nshared\ntheirs");
    let subjects = yard.git(&["log", "--first-parent", "--format=%s", "main"]);
    assert!(subjects.ends_with("later\ntheirs\nfirst"), "{subjects}");
}

#[test]
fn branches_that_went_apart_are_a_persons_to_merge() {
    let (yard, _, other) = yard();
    push_from(&yard, &other);
    yard.git(&["commit", "-q", "--allow-empty", "-m", "mine"]);
    let ran = yard.land(&["--push", "up"]);
    assert_eq!(ran.code, 4, "{ran}");
    assert!(ran.stderr.contains("have gone apart"), "{ran}");
    assert!(ran.stderr.contains("merge up/main into main"), "{ran}");
    yard.assert_landed([]);
}

#[test]
fn a_remote_that_is_gone_or_none_is_named() {
    let (yard, up, _) = yard();
    std::fs::rename(&up, yard.outside("gone")).unwrap();
    for remote in ["up", "nowhere", "--force"] {
        says(
            yard.land(&[&format!("--push={remote}")]),
            1,
            &[&format!("{remote} does not take main: ")],
        );
        yard.assert_landed([]);
    }
}

/// What passed waits, and is pushed when the remote takes it.
#[test]
fn hooks_that_refuse_a_push_leave_the_target_and_the_next_landing_goes_on() {
    for hook in ["pre-receive", "pre-push"] {
        let (yard, up, _) = yard();
        let dir = match hook {
            "pre-push" => yard.world.repository().join(".git"),
            _ => up.clone(),
        };
        yard.hook(&dir, hook, "echo protected >&2; exit 1");
        says(
            yard.land(&["--push", "up"]),
            1,
            &["up does not take main", "protected"],
        );
        assert_eq!(yard.on_target(), [0; 0]);
        std::fs::remove_file(dir.join("hooks").join(hook)).unwrap();
        yard.lands(&["--push", "up"]);
        assert_both_stand_on(&yard, &up, "file-1\nfile-2\nshared");
    }
}

/// A server may say what it likes: whether others pushed first its branch tells.
#[test]
fn a_refusal_in_the_words_of_a_late_push_is_a_refusal() {
    let (yard, up, _) = yard();
    yard.hook(
        &up,
        "pre-receive",
        "echo 'non-fast-forward pushes are off [rejected]' >&2; exit 1",
    );
    let ran = yard.land(&["--push", "up", "--check", "true"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("pushes are off"), "{ran}");
    assert_eq!(ran.stderr.matches("passed (").count(), 1, "{ran}");
}

#[test]
fn whoever_goes_to_another_branch_during_the_push_does_not_take_the_target_along() {
    let (yard, up, _) = yard();
    let (dir, web) = (
        yard.world.repository().join(".git"),
        yard.world.repository(),
    );
    let hook = format!(
        "unset GIT_DIR; git -C '{}' checkout -qb other",
        web.display()
    );
    yard.hook(&dir, "pre-push", &hook);
    let ran = yard.lands(&["--push", "up"]);
    assert!(ran.stdout.contains("landed 2 tasks on main"), "{ran}");
    assert_eq!(yard.git(&["log", "--format=%s", "other"]), "first");
    assert_both_stand_on(&yard, &up, "file-1\nfile-2\nshared");
}

/// A remote or a hook that hangs ends with the landing, and so does whoever asks at the terminal.
#[test]
fn a_landing_that_git_holds_up_can_be_ended() {
    let (yard, ..) = yard();
    let dir = yard.world.repository().join(".git");
    let (began, mark) = (yard.outside("began"), yard.world.home());
    yard.hook(
        &dir,
        "pre-push",
        &format!("touch '{}'; sleep 600", began.display()),
    );
    let mut command = yard.world.command();
    command.args(["land", "--yes", "--push", "up"]);
    let mut landing = Background::start(&mut command);
    until("it pushes", || began.exists());
    landing.signal(Signal::TERM);
    says(landing.end(), 1, &["was interrupted"]);
    let marked = format!("FLAGPOST_HOME={}", mark.display());
    flagpost_testkit::background::none_is_left_with(&marked);
    std::fs::remove_file(dir.join("hooks/pre-push")).unwrap();
    yard.lands(&["--push", "up"]);
    yard.assert_landed([1, 2]);
}
