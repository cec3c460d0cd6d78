//! Searching for the step at which an operation must not fail.

use std::thread;

use super::{
    fs::{Fault, PowerFs},
    step::DiskStep,
};

/// Cuts the power after each step of an operation and checks each outcome.
///
/// The operation gets a fresh disk from `setup` each time, and the power goes after 0, 1, 2 … of
/// its steps, at last after all of them. `check` sees the restarted disk and what the operation
/// had answered by then: what it acknowledged must be there.
///
/// # Panics
/// Where `check` does; the message before it names the cut and the outcome.
pub fn every_crash<R>(
    setup: impl Fn() -> PowerFs,
    operation: impl Fn(&PowerFs) -> R,
    check: impl Fn(&PowerFs, &R),
) {
    let free = setup();
    free.run_free();
    operation(&free);
    let total = free.steps().len();
    for cut in 0..=total {
        let fs = setup();
        fs.cut_after(cut);
        let answer = operation(&fs);
        for choice in fs.choices(cut as u64) {
            let _witness = Witness(|| {
                let steps = fs.steps();
                eprintln!(
                    "the power went after {cut} of {total} steps {steps:#?}\nand left {choice:#?}"
                );
            });
            check(&fs.recovered(&choice), &answer);
        }
    }
}

/// Kills an operation after each of its steps and checks the disk, which has all that it did.
///
/// The operation gets a fresh disk from `setup` each time, and nothing happens after 0, 1, 2 … of its
/// steps, as when its process is killed and the machine lives.
///
/// # Panics
/// Where `check` does; the message before it names the step.
pub fn every_kill<R>(
    setup: impl Fn() -> PowerFs,
    operation: impl Fn(&PowerFs) -> R,
    check: impl Fn(&PowerFs),
) {
    let free = setup();
    free.run_free();
    operation(&free);
    let total = free.steps().len();
    for last in 0..=total {
        let fs = setup();
        fs.cut_after(last);
        operation(&fs);
        fs.settle();
        let _witness = Witness(|| {
            let steps = fs.steps();
            eprintln!("it was killed after {last} of {total} steps {steps:#?}");
        });
        // Nothing is left that a power cut could take away.
        for choice in fs.choices(last as u64) {
            check(&fs.recovered(&choice));
        }
    }
}

/// Fails one step of an operation, each in turn, until the operation meets no fault.
///
/// Each step fails once with `ENOSPC` and once with `EIO`. `check` sees the disk as it is then and
/// what the operation answered, and once more each outcome of a power cut at that moment: an
/// operation that survives a fault has to keep its promise like any other. No temporary may be
/// left, except where its removal is what failed.
///
/// # Panics
/// Where `check` does, or a temporary is left; the message before it names the fault.
pub fn every_fault<R>(
    setup: impl Fn() -> PowerFs,
    operation: impl Fn(&PowerFs) -> R,
    check: impl Fn(&PowerFs, &R),
) {
    for fault in [Fault::NoSpace, Fault::Broken] {
        for step in 1.. {
            let fs = setup();
            fs.fail_step(step, fault);
            let answer = operation(&fs);
            let Some(failed) = fs.failed() else {
                break;
            };
            let _witness = Witness(|| eprintln!("{fault:?} at step {step}, {failed:?}"));
            check(&fs, &answer);
            if !matches!(failed, DiskStep::Remove(_)) {
                let left = fs.temporaries();
                assert!(left.is_empty(), "{left:?} left behind");
            }
            for choice in fs.choices(step as u64) {
                let _witness = Witness(|| eprintln!("and then a power cut that left {choice:#?}"));
                check(&fs.recovered(&choice), &answer);
            }
        }
    }
}

/// Says where a check failed.
struct Witness<F: Fn()>(F);

impl<F: Fn()> Drop for Witness<F> {
    fn drop(&mut self) {
        if thread::panicking() {
            (self.0)();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{io, panic, path::Path};

    use flagpost_disk::fsx::Fs;

    use super::*;

    const OLD: &[u8] = b"the old content";
    const NEW: &[u8] = b"something quite new";

    fn one_file() -> PowerFs {
        let fs = PowerFs::with_dir("/d");
        fs.create(Path::new("/d/file"))
            .and_then(|mut file| file.write(OLD))
            .unwrap();
        fs.settle();
        fs
    }

    /// Whether the search finds a state that is neither old nor, once acknowledged, new.
    fn is_caught(write: fn(&PowerFs) -> io::Result<()>) -> bool {
        let check = |fs: &PowerFs, answer: &io::Result<()>| {
            let content = fs.read(Path::new("/d/file"), 0, 1 << 20).unwrap();
            assert!(content == NEW || content == OLD && answer.is_err());
        };
        panic::catch_unwind(|| every_crash(one_file, write, check)).is_err()
    }

    fn stage(fs: &PowerFs, sync: bool) -> io::Result<()> {
        let mut file = fs.create(Path::new("/d/new"))?;
        file.write(NEW)?;
        if sync { file.sync() } else { Ok(()) }
    }

    fn reveal(fs: &PowerFs) -> io::Result<()> {
        fs.rename(Path::new("/d/new"), Path::new("/d/file"))
    }

    #[test]
    fn the_right_order_passes() {
        assert!(!is_caught(|fs| {
            stage(fs, true)?;
            reveal(fs)?;
            fs.sync_dir(Path::new("/d"))
        }));
    }

    #[test]
    fn content_that_was_not_synced_is_caught() {
        assert!(is_caught(|fs| {
            stage(fs, false)?;
            reveal(fs)?;
            fs.sync_dir(Path::new("/d"))
        }));
    }

    #[test]
    fn a_name_that_was_not_synced_is_caught() {
        assert!(is_caught(|fs| {
            stage(fs, true)?;
            reveal(fs)
        }));
    }

    #[test]
    fn removing_before_the_replacement_is_durable_is_caught() {
        assert!(is_caught(|fs| {
            stage(fs, true)?;
            fs.remove(Path::new("/d/file"))?;
            reveal(fs)?;
            fs.sync_dir(Path::new("/d"))
        }));
    }

    #[test]
    fn a_temporary_left_after_a_fault_is_caught() {
        let write = |fs: &PowerFs| {
            let mut file = fs.create(Path::new("/d/.file.tmp-1"))?;
            file.write(NEW)
        };
        assert!(panic::catch_unwind(|| every_fault(one_file, write, |_, _| {})).is_err());
    }

    #[test]
    fn lost_changes_are_any_that_depend_on_no_kept_one() {
        let fs = PowerFs::with_dir("/d");
        for name in ["/d/a", "/d/b"] {
            fs.create(Path::new(name)).unwrap();
        }
        fs.rename(Path::new("/d/b"), Path::new("/d/c")).unwrap();
        let mut outcomes: Vec<String> = fs
            .choices(0)
            .iter()
            .map(|choice| {
                let after = fs.recovered(choice).files();
                let names = after.keys().filter_map(|path| path.file_name()?.to_str());
                names.collect()
            })
            .collect();
        outcomes.sort();
        assert_eq!(outcomes, ["", "a", "ab", "ac", "b", "c"]);
    }
}
