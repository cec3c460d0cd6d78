//! What lies in a repository keeps its mode, and nobody's change is written over.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink},
    path::Path,
};

use flagpost_disk::{
    Error,
    fsx::{Fs, RealFs, make_shared_dir, replace, rewrite},
};
use flagpost_testkit::{
    power::{PowerFs, every_fault},
    scratch::scratch,
};
use rustix::{fs::Mode, process::umask};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn the_mode_stays() {
    let dir = scratch();
    let file = dir.path().join("AGENTS.md");
    for wanted in [0o600, 0o644, 0o664, 0o755, 0o444] {
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, PermissionsExt::from_mode(wanted)).unwrap();
        rewrite(&RealFs, &file, Some(b"old"), b"new").unwrap();
        assert_eq!(mode(&file), wanted);
        replace(&RealFs, &file, b"newer").unwrap();
        assert_eq!(mode(&file), wanted);
        fs::remove_file(&file).unwrap();
    }
}

#[test]
fn the_group_stays_where_we_may_give_it_and_else_may_do_no_more_than_everybody() {
    let dir = scratch();
    let file = dir.path().join("1.json");
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, PermissionsExt::from_mode(0o664)).unwrap();
    let given = chown(&file, None, Some(4711));
    replace(&RealFs, &file, b"new").unwrap();
    if given.is_ok() {
        assert_eq!(fs::metadata(&file).unwrap().gid(), 4711);
    }
    assert_eq!(mode(&file), 0o664);
    let new = dir.path().join("2.json");
    replace(&RealFs, &new, b"new").unwrap();
    assert_eq!(mode(&new), 0o600);
    // What a link leads to says nothing of what replaces the link.
    let link = dir.path().join("3.json");
    symlink(&file, &link).unwrap();
    replace(&RealFs, &link, b"new").unwrap();
    assert_eq!(mode(&link), 0o600);
}

/// The umask is the whole process's; this is the only test that depends on it.
#[test]
fn a_new_file_is_for_all_to_read_as_far_as_the_umask_lets_it() {
    let dir = scratch();
    let file = dir.path().join("AGENTS.md");
    for (mask, of_file, of_dir) in [(0o022, 0o644, 0o755), (0o077, 0o600, 0o700)] {
        let before = umask(Mode::from_raw_mode(mask));
        rewrite(&RealFs, &file, None, b"new").unwrap();
        make_shared_dir(&RealFs, &dir.path().join(".github")).unwrap();
        umask(before);
        assert_eq!(mode(&file), of_file);
        assert_eq!(mode(&dir.path().join(".github")), of_dir);
        make_shared_dir(&RealFs, &dir.path().join(".github")).unwrap();
        fs::remove_file(&file).unwrap();
        fs::remove_dir(dir.path().join(".github")).unwrap();
    }
}

#[test]
fn a_change_made_meanwhile_stays() {
    let dir = scratch();
    let file = dir.path().join("AGENTS.md");
    fs::write(&file, "theirs").unwrap();
    let lost = rewrite(&RealFs, &file, Some(b"old"), b"new");
    assert!(matches!(lost, Err(Error::Changed { .. })), "{lost:?}");
    let lost = rewrite(&RealFs, &file, None, b"new");
    assert!(matches!(lost, Err(Error::Conflict { .. })), "{lost:?}");
    assert_eq!(fs::read(&file).unwrap(), b"theirs");
    fs::remove_file(&file).unwrap();
    let lost = rewrite(&RealFs, &file, Some(b"old"), b"new");
    assert!(matches!(lost, Err(Error::Changed { .. })), "{lost:?}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_fault_keeps_the_old() {
    let setup = || {
        let fs = PowerFs::with_dir("/d");
        fs.create(Path::new("/d/file"))
            .and_then(|mut file| file.write(b"old"))
            .unwrap();
        fs.settle();
        fs
    };
    let write = |fs: &PowerFs| rewrite(fs, Path::new("/d/file"), Some(b"old"), b"new");
    every_fault(setup, write, |fs, answer| {
        let content = fs.read(Path::new("/d/file"), 0, 99).unwrap();
        assert!(content == b"new" || content == b"old" && answer.is_err());
    });
}
