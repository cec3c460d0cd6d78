//! Searching for the step at which an operation must not fail.
//!
//! Owns which states are checked: each that differs from all before it, once. A state is what the disk holds,
//! what other machines were given, and what the operation answered.

use std::{
    collections::HashSet,
    fmt::Debug,
    fs::OpenOptions,
    hash::{DefaultHasher, Hash, Hasher},
    io::Write,
    panic::{self, AssertUnwindSafe},
    thread,
};

use super::{
    fs::{Fault, PowerFs},
    step::DiskStep,
};

/// Names a file to which each search adds a line: how often it cut the power or failed a step, the states
/// that it met, and how many of them differ and were checked.
const STATES: &str = "FLAGPOST_TEST_STATES";

/// Cuts the power after each step of an operation and checks each outcome.
///
/// The operation gets a copy of the disk each time, and the power goes after 0, 1, 2 … of its steps, at last
/// after all of them. `check` sees the restarted disk and what the operation had answered by then: what it
/// acknowledged must be there.
///
/// Then the search shows that it can fail: of the syncs that the operation asks for it leaves out each, and at
/// last all, until `check` finds that something is lost.
///
/// # Panics
/// Where `check` does, the message before it names the cut and the outcome; and where the operation syncs, and
/// nothing is found lost without.
pub fn every_crash<R: Debug>(
    setup: impl FnOnce() -> PowerFs,
    operation: impl Fn(&PowerFs) -> R,
    check: impl Fn(&PowerFs, &R),
) {
    let search = Search {
        before: setup(),
        operation,
        check,
    };
    let mut seen = States::default();
    let free = search.uncut();
    let steps = free.steps();
    search.cut(&mut seen, 0..=steps.len(), &[]);
    seen.tell();
    let before = &search.before;
    let is_elsewhere = free.kept_elsewhere() != before.kept_elsewhere();
    if is_elsewhere || free.files() == before.files() {
        // What other machines have, and what was refused, is lost by no sync that is missing here.
        return;
    }
    let syncs = (1..).zip(&steps).filter(|(_, step)| step.is_sync());
    let syncs: Vec<usize> = syncs.map(|(number, _)| number).collect();
    // What has two places is lost only without both syncs.
    let mut omissions = syncs.chunks(1).chain([syncs.as_slice()]);
    let is_missed = |omitted: &[usize]| {
        let cuts = omitted.first().copied().unwrap_or_default()..=steps.len();
        let searched = AssertUnwindSafe(|| search.cut(&mut seen, cuts, omitted));
        panic::catch_unwind(searched).is_err()
    };
    assert!(
        syncs.is_empty() || omissions.any(is_missed),
        "nothing is found lost where none of these syncs is done: {steps:#?}"
    );
}

/// An operation on one disk, and what must hold of whatever is left of it.
struct Search<O, C> {
    before: PowerFs,
    operation: O,
    check: C,
}

impl<R: Debug, O: Fn(&PowerFs) -> R, C: Fn(&PowerFs, &R)> Search<O, C> {
    /// The disk after all steps of the operation.
    fn uncut(&self) -> PowerFs {
        let free = self.before.copy();
        free.run_free();
        (self.operation)(&free);
        free
    }

    /// Cuts the power after so many steps, of which these syncs are left out, and checks what is new.
    fn cut(&self, seen: &mut States, cuts: impl IntoIterator<Item = usize>, omitted: &[usize]) {
        for cut in cuts {
            let fs = self.before.copy();
            fs.cut_after(cut);
            fs.omit(omitted);
            let answer = (self.operation)(&fs);
            seen.searched += 1;
            for choice in fs.choices(cut as u64) {
                let left = fs.recovered(&choice);
                if !seen.is_new(&left, &answer) {
                    continue;
                }
                let _witness = Witness(|| {
                    let steps = fs.steps();
                    eprintln!("the power went after {cut} steps {steps:#?}\nand left {choice:#?}");
                });
                (self.check)(&left, &answer);
            }
        }
    }
}

/// The states that were checked.
#[derive(Default)]
struct States {
    searched: usize,
    met: usize,
    checked: HashSet<u64>,
}

impl States {
    fn is_new(&mut self, fs: &PowerFs, answer: &impl Debug) -> bool {
        let mut hasher = DefaultHasher::new();
        fs.hash(&mut hasher);
        format!("{answer:?}").hash(&mut hasher);
        self.met += 1;
        self.checked.insert(hasher.finish())
    }

    /// Adds the line of this search to the file, where one is named.
    fn tell(&self) {
        let Some(path) = std::env::var_os(STATES) else {
            return;
        };
        let thread = thread::current();
        let test = thread.name().unwrap_or_default();
        let (met, checked) = (self.met, self.checked.len());
        let line = format!("{test} {} {met} {checked}\n", self.searched);
        let file = OpenOptions::new().create(true).append(true).open(path);
        file.and_then(|mut file| file.write_all(line.as_bytes()))
            .expect("the states can be counted");
    }
}

/// Kills an operation after each of its steps and checks the disk, which has all that it did.
///
/// The operation gets a copy of the disk each time, and nothing happens after 0, 1, 2 … of its
/// steps, as when its process is killed and the machine lives.
///
/// # Panics
/// Where `check` does; the message before it names the step.
pub fn every_kill<R>(
    setup: impl FnOnce() -> PowerFs,
    operation: impl Fn(&PowerFs) -> R,
    check: impl Fn(&PowerFs),
) {
    let before = setup();
    let free = before.copy();
    free.run_free();
    operation(&free);
    let total = free.steps().len();
    let mut seen = States::default();
    for last in 0..=total {
        let fs = before.copy();
        fs.cut_after(last);
        operation(&fs);
        fs.settle();
        seen.searched += 1;
        let _witness = Witness(|| {
            let steps = fs.steps();
            eprintln!("it was killed after {last} of {total} steps {steps:#?}");
        });
        // Nothing is left that a power cut could take away.
        for choice in fs.choices(last as u64) {
            let left = fs.recovered(&choice);
            if seen.is_new(&left, &()) {
                check(&left);
            }
        }
    }
    seen.tell();
}

/// Fails one step of an operation, each in turn, until the operation meets no fault.
///
/// Each step fails once with `ENOSPC` and once with `EIO`. `check` sees the disk as it is then and
/// what the operation answered, and each outcome of a power cut at that moment: an operation that
/// survives a fault has to keep its promise like any other. No temporary may be left, except where
/// its removal is what failed.
///
/// # Panics
/// Where `check` does, or a temporary is left; the message before it names the fault.
pub fn every_fault<R: Debug>(
    setup: impl FnOnce() -> PowerFs,
    operation: impl Fn(&PowerFs) -> R,
    check: impl Fn(&PowerFs, &R),
) {
    let before = setup();
    let mut seen = States::default();
    for step in 1.. {
        let mut other: Option<(PowerFs, bool)> = None;
        for fault in [Fault::NoSpace, Fault::Broken] {
            let fs = before.copy();
            fs.fail_step(step, fault);
            let answer = operation(&fs);
            let Some(failed) = fs.failed() else {
                return seen.tell();
            };
            seen.searched += 1;
            let _witness = Witness(|| eprintln!("{fault:?} at step {step}, {failed:?}"));
            if !matches!(failed, DiskStep::Remove(_)) {
                let left = fs.temporaries();
                assert!(left.is_empty(), "{left:?} left behind");
            }
            let is_refused = format!("{answer:?}").starts_with("Err(");
            // Both refused, and left the same: only the words differ.
            let is_known = other.is_some_and(|it| it.0.is_like(&fs) && it.1 && is_refused);
            let choices = (!is_known).then(|| fs.choices(step as u64));
            for choice in choices.into_iter().flatten() {
                let left = fs.recovered(&choice);
                if !seen.is_new(&left, &answer) {
                    continue;
                }
                let _witness = Witness(|| eprintln!("and then a power cut that left {choice:#?}"));
                check(&left, &answer);
            }
            other = Some((fs.copy(), is_refused));
            // Last, since it goes on with the disk itself.
            check(&fs, &answer);
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
