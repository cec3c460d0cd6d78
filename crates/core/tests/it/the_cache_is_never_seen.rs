//! A load with a cache, whatever is in it and whatever happened to the files since, answers as a
//! load without one; so does a look of a process that has looked before.

use std::{
    fs::{File, FileTimes},
    path::Path,
    sync::LazyLock,
    time::{Duration, SystemTime},
};

use flagpost_core::{ListReader, Loaded, claims};
use flagpost_model::task::{Outline, TaskSummary};
use flagpost_testkit::chance::Chance;
use jiff::SignedDuration;

use crate::world::{World, add, id, terms};

const TASKS: usize = 200;

fn text(id: usize, subject: &str) -> String {
    format!(r#"{{"id": "{id}", "subject": "{subject}", "status": "pending"}}"#)
}

/// A list whose files are so old that a load caches them.
fn cached_world() -> World {
    let world = World::real();
    for id in 1..=TASKS {
        world.put(&format!("{id}.json"), text(id, "as it was"));
    }
    // Longer than what may still be in the same tick of the file system's clock.
    world.pass(SignedDuration::from_secs(1));
    world.list().load().unwrap();
    assert!(world.path(".cache").is_file(), "it was cached");
    world
}

/// What a load answers when nothing is known from before.
fn without_cache(world: &World) -> Loaded {
    let cache = world.path(".cache");
    let aside = world.path(".aside");
    let was = std::fs::rename(&cache, &aside).is_ok();
    let loaded = world.list().load().unwrap();
    if was {
        let _ = std::fs::remove_file(&cache);
        std::fs::rename(&aside, &cache).unwrap();
    }
    loaded
}

/// What a process that goes on looking knows of all lists.
static READER: LazyLock<ListReader> = LazyLock::new(ListReader::default);

#[track_caller]
fn is_never_seen(world: &World) -> Loaded {
    let seen = world.list().load().unwrap();
    let plain = without_cache(world);
    assert_eq!(seen.outlines, plain.outlines);
    assert_eq!(seen.skipped, plain.skipped);
    let known = READER.look(&world.list()).unwrap();
    let known_outlines: Vec<Outline> = known.outlines.iter().map(|it| (**it).clone()).collect();
    assert_eq!(known_outlines, plain.outlines);
    assert_eq!(known.skipped, plain.skipped);
    let standings: Vec<_> = plain.outlines.iter().map(TaskSummary::from).collect();
    assert_eq!(world.list().summaries().unwrap(), standings);
    seen
}

fn subject(loaded: &Loaded, number: u64) -> String {
    let found = loaded.outlines.iter().find(|it| it.id == id(number));
    found.unwrap().subject.clone()
}

fn touch(path: &Path, time: SystemTime) {
    let file = File::options().write(true).open(path).unwrap();
    file.set_times(FileTimes::new().set_modified(time)).unwrap();
}

fn modified(path: &Path) -> SystemTime {
    path.metadata().unwrap().modified().unwrap()
}

#[test]
fn after_an_edit_in_place_of_the_same_size() {
    let world = cached_world();
    let path = world.path("7.json");
    let before = modified(&path);
    world.put("7.json", text(7, "as it is!"));
    assert_eq!(subject(&is_never_seen(&world), 7), "as it is!");
    // Not even where the writer sets the old time again.
    touch(&path, before);
    assert_eq!(subject(&is_never_seen(&world), 7), "as it is!");
}

/// Two writes within one tick of the file system's clock, and a load between them.
#[test]
fn after_an_edit_within_the_tick_of_a_load() {
    let world = World::real();
    for round in 0..50 {
        for id in 1..=80 {
            world.put(&format!("{id}.json"), text(id, "as it was"));
        }
        world.catch_up();
        world.list().load().unwrap();
        world.put("7.json", text(7, "as it is!"));
        let loaded = is_never_seen(&world);
        assert_eq!(subject(&loaded, 7), "as it is!", "round {round}");
    }
}

#[test]
fn after_files_were_replaced_removed_touched_and_broken() {
    let world = cached_world();
    std::fs::write(world.path(".new"), text(8, "replaced!")).unwrap();
    std::fs::rename(world.path(".new"), world.path("8.json")).unwrap();
    std::fs::remove_file(world.path("9.json")).unwrap();
    touch(&world.path("10.json"), SystemTime::UNIX_EPOCH);
    let future = SystemTime::now() + Duration::from_secs(86_400);
    touch(&world.path("11.json"), future);
    std::fs::write(world.path("12.json"), "{").unwrap();
    std::fs::rename(world.path("13.json"), world.path("13.bak")).unwrap();
    std::fs::rename(world.path("14.json"), world.path("1400.json")).unwrap();
    world.put("999.json", text(999, "new"));
    let loaded = is_never_seen(&world);
    assert_eq!(subject(&loaded, 8), "replaced!");
    let skipped: Vec<_> = loaded.skipped.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(skipped, ["12.json", "1400.json"]);
    assert_eq!(loaded.outlines.len(), TASKS + 1 - 4);
    // The next loads too, once it has been written anew.
    world.pass(SignedDuration::from_secs(1));
    is_never_seen(&world);
}

#[test]
fn whatever_is_in_it() {
    let world = cached_world();
    let good = std::fs::read(world.path(".cache")).unwrap();
    let mut chance = Chance::of(11);
    let mut others: Vec<Vec<u8>> = (0..20)
        .map(|_| good[..chance.below(good.len())].to_vec())
        .collect();
    others.extend((0..10).map(|n| vec![u8::try_from(n).unwrap(); 1000]));
    others.push(b"\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01".to_vec());
    others.push([&good[..], b"more"].concat());
    others.push(b"{\"id\": \"1\"}".to_vec());
    let expected = without_cache(&world).outlines;
    for content in others {
        std::fs::write(world.path(".cache"), &content).unwrap();
        assert_eq!(world.list().load().unwrap().outlines, expected);
    }
}

/// What flips within a cached outline cannot be told from the outline; what flips in the frame
/// must not break the load.
#[test]
fn even_with_single_bits_flipped_it_is_no_failure() {
    let world = cached_world();
    let good = std::fs::read(world.path(".cache")).unwrap();
    let mut chance = Chance::of(13);
    for _ in 0..100 {
        let mut bytes = good.clone();
        let at = chance.below(bytes.len());
        bytes[at] ^= 1 << chance.below(8);
        std::fs::write(world.path(".cache"), &bytes).unwrap();
        let loaded = world.list().load().unwrap();
        assert_eq!(loaded.outlines.len(), TASKS);
    }
}

#[test]
fn where_it_is_a_directory_or_a_link() {
    let world = cached_world();
    let expected = without_cache(&world).outlines;
    std::fs::remove_file(world.path(".cache")).unwrap();
    std::fs::create_dir(world.path(".cache")).unwrap();
    assert_eq!(world.list().load().unwrap().outlines, expected);
    std::fs::remove_dir(world.path(".cache")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", world.path(".cache")).unwrap();
    assert_eq!(world.list().load().unwrap().outlines, expected);
    let names = world.home.fs().names(world.list().dir()).unwrap();
    let left = names
        .iter()
        .filter(|name| name.to_string_lossy().contains(".tmp-"));
    assert_eq!(left.count(), 0);
    assert!(
        std::fs::read_to_string("/etc/passwd")
            .unwrap()
            .contains("root")
    );
}

#[test]
fn after_our_own_changes() {
    let world = cached_world();
    let list = world.list();
    for round in 0..20 {
        claims::claim_next(&list, &terms("W1")).unwrap();
        add(&list, &format!("Round {round}"), &[1]);
        is_never_seen(&world);
    }
}

#[test]
fn when_the_clock_jumps() {
    let world = cached_world();
    for hours in [-48, 100, -100, 24 * 400] {
        world.pass(SignedDuration::from_hours(hours));
        world.put("7.json", text(7, &format!("{hours:>9}")));
        let subject = subject(&is_never_seen(&world), 7);
        assert_eq!(subject, format!("{hours:>9}"));
    }
}
