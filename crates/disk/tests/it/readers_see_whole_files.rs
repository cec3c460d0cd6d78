//! Whoever reads while others write, or after they were killed, sees whole files.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use flagpost_disk::fsx::{RealFs, read, replace};
use flagpost_testkit::{chance::Chance, scratch::scratch};
use tempfile::TempDir;

use crate::child::{CHILDREN, body, number_of};

/// How often a writer is killed, unless the machine is too slow for it.
const KILLS: usize = 40;
/// Fewer prove nothing.
const LEAST: usize = 4;
/// How long more than those are tried.
const KILLING_TIME: Duration = Duration::from_secs(10);

#[test]
fn trap_06_torn_writes() {
    let place = scratch();
    let file = place.path().join("7.json");
    replace(&RealFs, &file, &body(0)).unwrap();
    let done = AtomicBool::new(false);
    let reads = thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads = 0;
            let mut last = 0;
            while !done.load(Ordering::Relaxed) {
                let bytes = read(&RealFs, &file).unwrap().expect("it is always there");
                let n = number_of(&bytes).expect("it is always whole");
                assert!(n >= last, "{n} was seen after {last}");
                last = n;
                reads += 1;
            }
            reads
        });
        for n in 1..=10_000 {
            if reader.is_finished() {
                break;
            }
            replace(&RealFs, &file, &body(n)).unwrap();
        }
        done.store(true, Ordering::Relaxed);
        reader.join().unwrap()
    });
    assert!(reads > 100, "the reader only looked {reads} times");
    assert_eq!(number_of(&fs::read(&file).unwrap()), Some(10_000));
}

/// Kills writers in this role at random moments; `check` sees what is left and the number of the
/// last write that the writer reported.
fn killed(role: &str, seed: u64, check: impl Fn(&Path, usize)) {
    let mut chance = Chance::of(seed);
    let began = Instant::now();
    let mut kills = 0;
    while kills < LEAST || kills < KILLS && began.elapsed() < KILLING_TIME {
        let place: TempDir = scratch();
        let child = CHILDREN.start(role, place.path());
        let mut last = None;
        for _ in 0..=chance.below(60) {
            last = child.next_report();
            assert!(last.is_some(), "the writer failed by itself");
        }
        // Some way into the next write.
        let (told, way) = (
            Instant::now(),
            Duration::from_micros(chance.below(300) as u64),
        );
        while told.elapsed() < way {
            std::hint::spin_loop();
        }
        let last = child.kill().pop().or(last).unwrap();
        check(place.path(), last.parse().unwrap());
        kills += 1;
    }
}

/// The names that readers take for live.
fn live_names(place: &Path) -> Vec<String> {
    let names = fs::read_dir(place).unwrap();
    names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with('.'))
        .collect()
}

#[test]
fn after_a_replacing_writer_was_killed() {
    killed("replace for ever", 1, |place, last| {
        assert_eq!(live_names(place), ["file.json"]);
        let n = number_of(&fs::read(place.join("file.json")).unwrap()).expect("it is whole");
        assert!(n == last || n == last + 1, "{n} after {last} was reported");
    });
}

#[test]
fn after_a_publishing_writer_was_killed() {
    killed("publish for ever", 2, |place, last| {
        let names = live_names(place);
        assert!(names.len() == last + 1 || names.len() == last + 2);
        for n in 0..names.len() {
            let bytes = fs::read(place.join(format!("{n}.json"))).unwrap();
            assert_eq!(number_of(&bytes), Some(n));
        }
    });
}

#[test]
fn after_an_appending_writer_was_killed() {
    killed("append for ever", 3, |place, last| {
        let bytes = fs::read(place.join("log")).unwrap();
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        for (n, line) in lines.iter().enumerate() {
            let is_whole = line.ends_with(b"\n") && number_of(line) == Some(n);
            assert!(
                is_whole || n == last + 1,
                "line {n} after {last} was reported"
            );
        }
        assert!(lines.len() == last + 1 || lines.len() == last + 2);
    });
}
