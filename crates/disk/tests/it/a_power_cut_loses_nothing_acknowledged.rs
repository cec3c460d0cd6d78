//! Acknowledged means present and whole on every disk that a power cut can leave; what was not
//! acknowledged is the old or the new, never a part of it.

use std::path::Path;

use flagpost_disk::{
    Result,
    fsx::{
        Durability, Fs, Raised, append, flag, make_dirs, move_dir, publish, quarantine, read,
        remove, replace, rewrite, sync,
    },
};
use flagpost_testkit::power::{Fault, PowerFs, every_crash};

const OLD: &[u8] = b"{\"subject\": \"the old one\"}\n";
const NEW: &[u8] = b"{\"subject\": \"the new one, which is longer\"}\n";

fn empty() -> PowerFs {
    PowerFs::with_dir("/d")
}

/// A disk with `/d/file`.
fn one_file() -> PowerFs {
    let fs = empty();
    replace(&fs, Path::new("/d/file"), OLD).unwrap();
    fs.settle();
    fs
}

fn content(fs: &PowerFs, path: &str) -> Option<Vec<u8>> {
    read(fs, Path::new(path)).unwrap()
}

#[test]
fn replaced() {
    let write = |fs: &PowerFs| replace(fs, Path::new("/d/file"), NEW);
    every_crash(one_file, write, |fs, answer| {
        let content = content(fs, "/d/file").expect("it was there before");
        assert!(content == NEW || content == OLD && answer.is_err());
    });
    every_crash(empty, write, |fs, answer| match content(fs, "/d/file") {
        Some(content) => assert_eq!(content, NEW),
        None => assert!(answer.is_err()),
    });
}

#[test]
fn published() {
    let write = |fs: &PowerFs| publish(fs, Path::new("/d/file"), NEW);
    every_crash(empty, write, |fs, answer| match content(fs, "/d/file") {
        Some(content) => assert_eq!(content, NEW),
        None => assert!(answer.is_err()),
    });
    every_crash(one_file, write, |fs, answer| {
        assert!(answer.is_err(), "the name is taken");
        assert_eq!(content(fs, "/d/file").unwrap(), OLD);
    });
}

#[test]
fn rewritten() {
    let write = |fs: &PowerFs| rewrite(fs, Path::new("/d/file"), Some(OLD), NEW);
    every_crash(one_file, write, |fs, answer| {
        let content = content(fs, "/d/file").expect("it was there before");
        assert!(content == NEW || content == OLD && answer.is_err());
    });
    let write = |fs: &PowerFs| rewrite(fs, Path::new("/d/file"), None, NEW);
    every_crash(empty, write, |fs, answer| match content(fs, "/d/file") {
        Some(content) => assert_eq!(content, NEW),
        None => assert!(answer.is_err()),
    });
}

#[test]
fn flagged() {
    let raise = |fs: &PowerFs| flag(fs, Path::new("/d/7.ratified"));
    let check = |fs: &PowerFs, answer: &Result<Raised>| {
        let there = content(fs, "/d/7.ratified");
        assert!(there.is_none_or(|bytes| bytes.is_empty()));
        assert!(answer.is_err() || content(fs, "/d/7.ratified").is_some());
    };
    every_crash(empty, raise, check);
    // Its first raiser was killed before its sync: the second one answers for it.
    let raised_before = || {
        let fs = empty();
        fs.create(Path::new("/d/7.ratified")).unwrap();
        fs
    };
    every_crash(raised_before, raise, check);
}

#[test]
fn settled() {
    // Another program renamed it here without a sync.
    let written = || {
        let fs = empty();
        fs.create(Path::new("/d/config.lock"))
            .and_then(|mut file| file.write(NEW))
            .unwrap();
        fs.rename(Path::new("/d/config.lock"), Path::new("/d/config"))
            .unwrap();
        fs
    };
    let sync = |fs: &PowerFs| sync(fs, Path::new("/d/config"));
    every_crash(written, sync, |fs, answer| {
        assert!(answer.is_err() || content(fs, "/d/config").unwrap() == NEW);
    });
}

#[test]
fn removed() {
    let lower = |fs: &PowerFs| remove(fs, Path::new("/d/file"));
    let check = |fs: &PowerFs, answer: &Result<()>| {
        let left = content(fs, "/d/file");
        assert!(left.is_none_or(|left| left == OLD && answer.is_err()));
    };
    every_crash(one_file, lower, check);
    // Whoever removed it before was killed before the sync.
    let removed_before = || {
        let fs = one_file();
        fs.remove(Path::new("/d/file")).unwrap();
        fs
    };
    every_crash(removed_before, lower, check);
}

/// Appends three lines and says which were acknowledged.
fn append_three(fs: &PowerFs) -> Vec<&'static str> {
    let line = |line: &&str| {
        let whole = format!("{line}\n");
        append(
            fs,
            Path::new("/d/log"),
            whole.as_bytes(),
            Durability::Synced,
        )
        .is_ok()
    };
    ["first line", "second line", "third line"]
        .into_iter()
        .filter(line)
        .collect()
}

fn lines_are_whole(fs: &PowerFs, acknowledged: &[&str]) {
    let text = content(fs, "/d/log").unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    for line in acknowledged {
        assert!(lines.contains(line), "{line:?} is not in {lines:?}");
    }
}

#[test]
fn appended() {
    every_crash(empty, append_three, |fs, all| lines_are_whole(fs, all));
}

#[test]
fn appended_to_a_file_that_another_process_had_just_created() {
    let begun = || {
        let fs = empty();
        let lazy = Durability::Lazy;
        append(&fs, Path::new("/d/log"), b"an unimportant line\n", lazy).unwrap();
        fs
    };
    every_crash(begun, append_three, |fs, all| lines_are_whole(fs, all));
}

#[test]
fn appended_after_a_torn_line() {
    every_crash(empty, append_three, |fs, acknowledged| {
        let mut all = acknowledged.clone();
        append(
            fs,
            Path::new("/d/log"),
            b"after the crash\n",
            Durability::Synced,
        )
        .unwrap();
        all.push("after the crash");
        lines_are_whole(fs, &all);
    });
}

#[test]
fn quarantined() {
    let broken: &[u8] = b"{\"subject\": ";
    let setup = || {
        let fs = empty();
        replace(&fs, Path::new("/d/7.json"), broken).unwrap();
        fs.settle();
        fs
    };
    // Says whether the case was new.
    let keep = |fs: &PowerFs| -> Result<bool> {
        let reason = "it ends too early";
        match quarantine(fs, Path::new("/d/7.json"), broken, reason)? {
            Some(case) => case.store(fs).map(|()| true),
            None => Ok(false),
        }
    };
    let kept = |fs: &PowerFs| {
        let files = fs.files();
        let find = |is_reason: bool| {
            files.iter().find(|(path, _)| {
                path.starts_with("/d/quarantine")
                    && !path.file_name().unwrap().to_string_lossy().starts_with('.')
                    && (path.extension() == Some("txt".as_ref())) == is_reason
            })
        };
        let copy = find(false).map(|(_, content)| content.clone());
        let reason = find(true).map(|(_, content)| content.clone());
        (copy, reason)
    };
    every_crash(setup, keep, |fs, answer| {
        assert_eq!(
            content(fs, "/d/7.json").unwrap(),
            broken,
            "the original stays"
        );
        let (copy, reason) = kept(fs);
        if let Some(copy) = &copy {
            assert_eq!(copy, broken);
            assert!(reason.is_some(), "kept without a reason");
        }
        assert!(copy.is_some() || answer.is_err());
        let again = keep(fs).unwrap();
        assert_eq!(again, copy.is_none(), "reported until it is kept");
        let (copy, reason) = kept(fs);
        assert_eq!(copy.unwrap(), broken);
        assert_eq!(reason.unwrap(), b"it ends too early\n");
    });
}

#[test]
fn moved() {
    let setup = || {
        let fs = PowerFs::with_dir("/d/live");
        make_dirs(&fs, Path::new("/d/archive")).unwrap();
        replace(&fs, Path::new("/d/live/file"), OLD).unwrap();
        fs.settle();
        fs
    };
    let archive = |fs: &PowerFs| move_dir(fs, Path::new("/d/live"), Path::new("/d/archive/1"));
    every_crash(setup, archive, |fs, answer| {
        let (from, to) = (
            content(fs, "/d/live/file"),
            content(fs, "/d/archive/1/file"),
        );
        assert!(
            from.is_some() != to.is_some(),
            "in one place: {from:?} {to:?}"
        );
        assert!(to.is_some() || answer.is_err());
        assert_eq!(from.or(to).unwrap(), OLD);
    });
}

#[test]
fn made_directories() {
    let write = |fs: &PowerFs| {
        make_dirs(fs, Path::new("/d/workers/W1/inbox"))?;
        publish(fs, Path::new("/d/workers/W1/inbox/1.md"), NEW)
    };
    let check = |fs: &PowerFs, answer: &Result<()>| match content(fs, "/d/workers/W1/inbox/1.md") {
        Some(content) => assert_eq!(content, NEW),
        None => assert!(answer.is_err()),
    };
    every_crash(empty, write, check);
    // Another process was killed while it made the same directories.
    for step in 1.. {
        let begun = || {
            let fs = empty();
            fs.fail_step(step, Fault::Broken);
            let made = make_dirs(&fs, Path::new("/d/workers/W1/inbox"));
            assert_eq!(made.is_err(), fs.failed().is_some());
            fs
        };
        if begun().failed().is_none() {
            break;
        }
        every_crash(begun, write, check);
    }
}
