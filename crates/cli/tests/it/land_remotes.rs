//! `land --push`: a remote that others push to, that is gone, or that refuses.

use std::path::PathBuf;

use crate::land_yard::Yard;

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
        let ran = yard.land(&[&format!("--push={remote}")]);
        assert_eq!(ran.code, 1, "{ran}");
        assert!(
            ran.stderr
                .contains(&format!("{remote} does not take main: ")),
            "{ran}"
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
        let ran = yard.land(&["--push", "up"]);
        assert_eq!(ran.code, 1, "{ran}");
        assert!(
            ran.stderr.contains("up does not take main") && ran.stderr.contains("protected"),
            "{ran}"
        );
        assert_eq!(yard.on_target(), [0; 0]);
        std::fs::remove_file(dir.join("hooks").join(hook)).unwrap();
        yard.lands(&["--push", "up"]);
        assert_both_stand_on(&yard, &up, "file-1\nfile-2\nshared");
    }
}
