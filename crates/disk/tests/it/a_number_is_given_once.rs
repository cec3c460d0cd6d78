//! No number is handed out twice, whatever happens between two of them.

use std::path::Path;

use flagpost_disk::fsx::{allocate, peek, publish, replace};
use flagpost_testkit::power::{PowerFs, every_crash, every_fault};

const COUNTER: &str = "/d/.seq";

fn setup() -> PowerFs {
    let fs = PowerFs::with_dir("/d");
    replace(&fs, Path::new(COUNTER), b"5\n").unwrap();
    fs.settle();
    fs
}

/// Asks for numbers four times, three at once the second time; returns what was handed out.
fn draw(fs: &PowerFs) -> Vec<u64> {
    [1, 3, 1, 1]
        .into_iter()
        .filter_map(|count| Some((allocate(fs, Path::new(COUNTER), 0, count).ok()?, count)))
        .flat_map(|(first, count)| first..first + count)
        .collect()
}

fn no_number_comes_again(fs: &PowerFs, handed_out: &[u64]) {
    let again = draw(fs);
    let mut all = [handed_out, &again].concat();
    assert!(all.is_sorted(), "{all:?}");
    all.dedup();
    assert_eq!(all.len(), handed_out.len() + again.len(), "{all:?}");
}

#[test]
fn also_after_a_power_cut() {
    every_crash(setup, draw, |fs, all| no_number_comes_again(fs, all));
    every_crash(
        || PowerFs::with_dir("/d"),
        draw,
        |fs, all| no_number_comes_again(fs, all),
    );
}

#[test]
fn also_after_a_fault() {
    every_fault(setup, draw, |fs, handed_out| {
        if fs.failed().is_none() {
            no_number_comes_again(fs, handed_out);
        }
    });
}

#[test]
fn trap_32_reused_numbers() {
    let fs = setup();
    // The counter was lost and the highest live file was archived; the archive still counts.
    assert_eq!(allocate(&fs, Path::new(COUNTER), 41, 1).unwrap(), 42);
    assert_eq!(allocate(&fs, Path::new(COUNTER), 0, 1).unwrap(), 43);
    assert_eq!(peek(&fs, Path::new(COUNTER)).unwrap(), 43);
}

#[test]
fn an_unreadable_counter_is_not_zero() {
    let fs = PowerFs::with_dir("/d");
    for content in ["", "many\n", "-1\n", "1e3\n"] {
        replace(&fs, Path::new(COUNTER), content.as_bytes()).unwrap();
        allocate(&fs, Path::new(COUNTER), 9, 1).unwrap_err();
        assert_eq!(fs.files()[Path::new(COUNTER)], content.as_bytes());
    }
}

#[test]
fn the_last_number_is_not_passed() {
    let fs = PowerFs::with_dir("/d");
    publish(
        &fs,
        Path::new(COUNTER),
        format!("{}\n", u64::MAX).as_bytes(),
    )
    .unwrap();
    allocate(&fs, Path::new(COUNTER), 0, 1).unwrap_err();
}
