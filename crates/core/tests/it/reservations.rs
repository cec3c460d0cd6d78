//! Reservations: one holder however many ask, whole after every power cut, over when their time is,
//! and told by the words of their holders.

use std::collections::BTreeSet;

use flagpost_core::{
    Error, Home, Result,
    history::Kind,
    messages::Sent,
    relay::workers,
    reservations::{ReservationSelector, Reservations},
};
use flagpost_model::{
    message::Subject,
    reservation::{LEASE, Reservation, ReservationMode, ReservationRequest},
};
use flagpost_testkit::{
    power::{PowerFs, every_crash, every_fault},
    race::ChildRole,
};
use jiff::SignedDuration;

use crate::{
    child::CHILDREN,
    messages::{Side, done, words},
    relay::{one_worker, register},
    world::{World, power, simulated_home, worker},
};

fn wanted(holder: &str, path: &str) -> ReservationRequest {
    ReservationRequest {
        path: path.parse().unwrap(),
        holder: worker(holder),
        mode: ReservationMode::Exclusive,
        task: None,
        reason: None,
    }
}

fn of(world: &World) -> Reservations<'_> {
    Reservations::of(&world.home, &world.repository.id)
}

fn add(world: &World, holder: &str, paths: &[&str]) -> Result<Vec<Reservation>> {
    let all = paths.iter().map(|path| wanted(holder, path));
    of(world).add(all.collect(), LEASE)
}

/// Who holds what, as `W1 src/**`.
fn held(world: &World) -> Vec<String> {
    let survey = of(world).scan().unwrap();
    assert!(survey.skipped.is_empty(), "{:?}", survey.skipped);
    let live = survey.live.iter().map(|it| &it.wanted);
    live.map(|it| format!("{} {}", it.holder, it.path))
        .collect()
}

/// The reservations that the history tells of, without those it tells are over, by number.
fn told(world: &World) -> BTreeSet<u64> {
    let lines = world.history();
    let voided: BTreeSet<u64> = lines.iter().filter_map(|it| it.entry.voids()).collect();
    let mut there = BTreeSet::new();
    for line in lines.iter().filter(|it| !voided.contains(&it.n)) {
        let number = || line.entry.detail["reservation"].as_u64().unwrap();
        match line.entry.kind {
            Kind::ReservationAdded => assert!(there.insert(number())),
            Kind::ReservationReleased | Kind::ReservationExpired => {
                assert!(there.remove(&number()));
            }
            _ => {}
        }
    }
    there
}

fn files(world: &World) -> BTreeSet<u64> {
    let dir = world.history_path().with_file_name("reservations");
    let names = world.home.fs().names(&dir).unwrap_or_default();
    let names = names
        .iter()
        .filter_map(|it| it.to_str()?.strip_suffix(".json"));
    names.map(|it| it.parse().unwrap()).collect()
}

/// What each child of the race does.
pub fn reserve_one(part: &ChildRole, home: &Home) {
    let repository = home.repositories_root();
    let mut names = home.fs().names(&repository).unwrap().into_iter();
    let id = names.next().unwrap().to_str().unwrap().parse().unwrap();
    // Each spells it differently, and all of them mean one file.
    let paths = ["src/a.rs", "src", "src/*.rs", "**/a.rs"];
    let wanted = wanted(&format!("W{}", part.number()), paths[part.number() % 4]);
    match Reservations::of(home, &id).add(vec![wanted], LEASE) {
        Ok(_) => part.report(format!("holds {}", part.number())),
        Err(Error::Reservation(refusal)) => {
            part.report(format!("sees {}", refusal.by.wanted.holder))
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn of_sixteen_that_reserve_one_file_one_holds_it() {
    let world = World::real();
    let reports: Vec<String> = CHILDREN
        .race(16, "reserve one file", world.place())
        .into_iter()
        .flatten()
        .collect();
    let winners: Vec<&str> = reports
        .iter()
        .filter_map(|it| it.strip_prefix("holds "))
        .collect();
    let [winner] = winners[..] else {
        panic!("{reports:?}");
    };
    let seen = reports
        .iter()
        .filter(|it| **it == format!("sees W{winner}"));
    assert_eq!(
        seen.count(),
        15,
        "each of the others is told who: {reports:?}"
    );
    assert_eq!(held(&world).len(), 1);
    assert_eq!(told(&world), files(&world));
}

#[test]
fn all_are_reserved_or_none() {
    let world = World::real();
    add(&world, "W1", &["src/**", "docs"]).unwrap();
    let refused = add(&world, "W2", &["lib", "docs/a.md"]).unwrap_err();
    assert!(
        refused
            .to_string()
            .starts_with("docs/a.md is reserved by W1"),
        "{refused}"
    );
    assert_eq!(held(&world), ["W1 src/**", "W1 docs"]);
    let paths = |all: &[&str]| {
        ReservationSelector::Paths(all.iter().map(|it| it.parse().unwrap()).collect())
    };
    let missing = of(&world)
        .release(&worker("W1"), &paths(&["docs", "lib"]))
        .unwrap_err();
    assert_eq!(missing.to_string(), "there is no reservation of lib by W1");
    of(&world)
        .release(&worker("W1"), &paths(&["docs"]))
        .unwrap();
    add(&world, "W2", &["lib", "docs/a.md"]).unwrap();
    of(&world)
        .release(&worker("W1"), &ReservationSelector::All)
        .unwrap();
    assert_eq!(held(&world), ["W2 lib", "W2 docs/a.md"]);
    assert_eq!(told(&world), files(&world));
}

#[test]
fn what_is_over_is_free_and_is_told_of_once() {
    let world = World::simple_clock();
    add(&world, "W1", &["src"]).unwrap();
    world.pass(LEASE);
    assert!(held(&world).is_empty(), "over");
    assert_eq!(files(&world).len(), 1, "by itself nothing changes");
    add(&world, "W2", &["src"]).unwrap();
    assert_eq!(held(&world), ["W2 src"]);
    assert_eq!(told(&world), files(&world));
}

#[test]
fn any_word_of_its_holder_renews_it() {
    let world = World::simple_clock();
    register(&world, &["W1", "W2"]);
    add(&world, "W1", &["src"]).unwrap();
    add(&world, "W2", &["lib"]).unwrap();
    let lines = world.history().len();
    for _ in 0..4 {
        world.pass(SignedDuration::from_mins(10));
        let mail = world.fleet().mail(&worker("W1")).unwrap();
        workers::heartbeat(&mail, workers::Traits::default()).unwrap();
    }
    assert_eq!(held(&world), ["W1 src"]);
    assert_eq!(
        world.history().len(),
        lines + 1,
        "of W2's end, and of no renewal"
    );
}

fn progress(world: &World, name: &str, files: &[&str]) -> Sent {
    let body = serde_json::json!({"bead_id": "7", "status": "at work", "files": files});
    Side::of(world, name).send(words(Subject::Progress, &body.to_string()))
}

#[test]
fn a_progress_takes_what_is_free_and_names_who_has_the_rest() {
    let world = World::simple_clock();
    register(&world, &["W1", "W2"]);
    add(&world, "W2", &["docs"]).unwrap();
    let inside = world.repository.top.join("src/b.rs");
    let said = progress(
        &world,
        "W1",
        &["src/a.rs", "docs/a.md", "../x", inside.to_str().unwrap()],
    );
    assert_eq!(held(&world), ["W2 docs", "W1 src/a.rs", "W1 src/b.rs"]);
    let refused: Vec<String> = said.files.refused.iter().map(ToString::to_string).collect();
    assert_eq!(refused.len(), 1);
    assert!(
        refused[0].starts_with("docs/a.md is reserved by W2"),
        "{refused:?}"
    );
    assert_eq!(
        said.files.faults,
        [r#""../x" cannot be reserved: it must lie below the top of the repository"#]
    );
    world.pass(SignedDuration::from_mins(10));
    assert_eq!(progress(&world, "W1", &["src/a.rs"]).files.held.len(), 1);
    world.pass(SignedDuration::from_mins(10));
    assert_eq!(held(&world), ["W1 src/a.rs", "W1 src/b.rs"], "renewed");
    Side::of(&world, "W1").send(words(Subject::Done, &done("7")));
    assert!(held(&world).is_empty(), "the task is done");
    assert_eq!(told(&world), files(&world));
}

#[test]
fn a_progress_is_said_even_where_nothing_can_be_reserved() {
    let world = one_worker(&[]);
    // In the place of the directory there is a file.
    std::fs::write(world.history_path().with_file_name("reservations"), "").unwrap();
    let said = progress(&world, "W1", &["a"]);
    assert_eq!(said.files.faults.len(), 1, "{:?}", said.files);
    let said = Side::of(&world, "W1").send(words(Subject::Done, &done("7")));
    assert_eq!(said.files.faults.len(), 1, "{:?}", said.files);
}

#[test]
fn what_cannot_be_understood_is_told_of_and_left_alone() {
    let world = World::real();
    add(&world, "W1", &["src"]).unwrap();
    let dir = world.history_path().with_file_name("reservations");
    std::fs::write(dir.join("900.json"), "{ torn").unwrap();
    std::fs::write(dir.join("mine.json"), "{}").unwrap();
    add(&world, "W2", &["lib"]).unwrap();
    of(&world)
        .release(&worker("W1"), &ReservationSelector::All)
        .unwrap();
    let survey = of(&world).scan().unwrap();
    let names: Vec<&str> = survey.skipped.iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["reservations/900.json", "reservations/mine.json"]);
    assert_eq!(
        std::fs::read_to_string(dir.join("900.json")).unwrap(),
        "{ torn"
    );
    assert_eq!(survey.live.len(), 1);
}

/// W1 holds `src` and `docs`; the time of `docs` is over.
fn setup() -> PowerFs {
    let fs = power();
    let world = World::simulated(&fs);
    of(&world).add(vec![wanted("W1", "src")], LEASE).unwrap();
    let over = of(&world).add(vec![wanted("W1", "docs")], SignedDuration::ZERO);
    over.unwrap();
    fs.settle();
    fs
}

type Operation<'o> = &'o dyn Fn(&Reservations<'_>) -> Result<()>;

/// What was acknowledged holds; files and history agree after the next change.
fn survives(operation: Operation<'_>, expected: &[&str]) {
    let run = |fs: &PowerFs| {
        let home = simulated_home(fs);
        let files = fs.files();
        let repository = files.keys().find_map(|path| {
            let rest = path.strip_prefix(home.repositories_root()).ok()?;
            rest.components().next()?.as_os_str().to_str()?.parse().ok()
        });
        operation(&Reservations::of(&home, &repository.unwrap()))
    };
    let look = |fs: &PowerFs, answer: &Result<()>| {
        let world = World::simulated(fs);
        if answer.is_ok() {
            let mut held = held(&world);
            held.retain(|it| !it.starts_with("W9"));
            assert_eq!(held, expected);
        }
        add(&world, "W9", &["elsewhere"]).unwrap();
        add(&world, "W9", &["elsewhere/again"]).unwrap();
        assert_eq!(told(&world), files(&world));
    };
    every_crash(setup, run, look);
    every_fault(setup, run, look);
}

#[test]
fn a_crash_leaves_whole_reservations() {
    survives(
        &|all| {
            all.add(vec![wanted("W2", "lib"), wanted("W2", "bin")], LEASE)
                .map(drop)
        },
        &["W1 src", "W2 lib", "W2 bin"],
    );
    survives(
        &|all| {
            all.release(&worker("W1"), &ReservationSelector::All)
                .map(drop)
        },
        &[],
    );
}

#[test]
fn a_directory_that_leads_elsewhere_is_not_written_through() {
    let world = one_worker(&[]);
    let dir = world.history_path().with_file_name("reservations");
    let elsewhere = world.place().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &dir).unwrap();
    let refused = add(&world, "W1", &["src"]).unwrap_err().to_string();
    assert!(refused.contains("reservations is a link"), "{refused}");
    assert!(of(&world).scan().is_err());
    let said = progress(&world, "W1", &["a"]);
    assert_eq!(
        said.files.faults.len(),
        1,
        "said all the same: {:?}",
        said.files
    );
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
    assert!(told(&world).is_empty());
}

#[test]
fn a_file_in_place_of_the_directory_stops_nobody_elses_work() {
    let world = World::real();
    add(&world, "W1", &["src"]).unwrap();
    let repository = world.home.root().join("repos");
    let dir = repository
        .join(world.repository.id.as_str())
        .join("reservations");
    std::fs::rename(&dir, dir.with_extension("aside")).unwrap();
    std::fs::write(&dir, "hi").unwrap();
    assert!(add(&world, "W1", &["lib"]).is_err());
    crate::world::add(&world.list(), "Write", &[]);
    assert_eq!(world.list().load().unwrap().outlines.len(), 1);
}
