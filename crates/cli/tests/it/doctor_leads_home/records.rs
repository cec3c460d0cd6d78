//! Faults of what the home keeps of a repository: its record, its workers and their briefs, what they
//! reserved, the coordination directory.

use std::os::unix::fs::DirBuilderExt as _;

use super::*;

pub(super) const FAULTS: &[Fault] = &[
    ("a record that is torn", 1, RecordUnreadable, |world| {
        let record = repository(world).join("repo.json");
        torn(record, "{")
    }),
    ("a stray directory", 0, RepositoryUnregistered, |world| {
        let dir = world
            .home()
            .join("repos/00000000-0000-4000-8000-000000000000");
        fs::create_dir(&dir).unwrap();
        mode(&dir, 0o700);
        by_hand(move |_| fs::remove_dir(dir).unwrap())
    }),
    ("a repository that was moved", 0, RepositoryGone, |world| {
        let there = another(world);
        let moved = there.with_file_name("moved");
        fs::rename(&there, &moved).unwrap();
        by_hand(move |_| fs::rename(moved, there).unwrap())
    }),
    ("a plain directory instead", 0, RepositoryGone, |world| {
        let there = another(world);
        let moved = there.with_file_name("moved");
        fs::rename(&there, &moved).unwrap();
        fs::create_dir(&there).unwrap();
        by_hand(move |_| {
            fs::remove_dir(&there).unwrap();
            fs::rename(moved, there).unwrap();
        })
    }),
    (
        "git's config names no id",
        1,
        RepositoryIdInvalid,
        |world| {
            let id = repository(world);
            let set = |world: &World, id: &str| {
                let mut git = world.command_of("git");
                world.run(git.args(["config", "flagpost.repoId", id]));
            };
            set(world, "../evil");
            by_hand(move |world| set(world, id.file_name().unwrap().to_str().unwrap()))
        },
    ),
    ("a worker's record that is torn", 1, WorkerBroken, |world| {
        let record = repository(world).join("workers/W2/worker.json");
        torn(record, "{")
    }),
    ("a worker without its record", 1, WorkerMissing, |world| {
        world.ok(["worker", "add", "W5"]);
        world.ok(["assign", "9", "W5", "--inline", "Wait"]);
        // The last change of a history may be one that never appeared.
        world.ok(["--list", "other", "add", "after it"]);
        fs::remove_file(repository(world).join("workers/W5/worker.json")).unwrap();
        by_hand(|world| drop(world.ok(["worker", "add", "W5"])))
    }),
    ("a brief changed undecided", 0, BriefWithheld, |world| {
        let name = world.ok(["assign", "7", "W1", "--inline", "words", "--quiet"]);
        let number: u64 = name.trim().strip_prefix("W1/").unwrap().parse().unwrap();
        let body = format!("workers/W1/inbox/{number:04}.brief");
        torn(repository(world).join(body), "other words")
    }),
    ("a brief changed, then read", 1, BriefMisread, |world| {
        world.ok(["worker", "add", "W4"]);
        world.ok(["assign", "8", "W4", "--inline", "words"]);
        world.ok(["ratify", "W4", "1"]);
        let inbox = repository(world).join("workers/W4/inbox");
        put(&inbox.join("0001.brief"), "other words");
        put(&inbox.join("0001.read"), "");
        by_hand(|world| drop(world.ok(["relay", "reject", "W4", "1"])))
    }),
    ("a brief has two decisions", 0, FlagsContradict, |world| {
        world.ok(["worker", "add", "W3"]);
        world.ok(["assign", "8", "W3", "--inline", "words"]);
        world.ok(["ratify", "W3", "1"]);
        let inbox = repository(world).join("workers/W3/inbox");
        put(&inbox.join("0001.rejected"), "");
        by_hand(|world| drop(world.ok(["ratify", "W3", "1"])))
    }),
    ("a brief whose sidecar is none", 1, MailBroken, |world| {
        let sidecar = "workers/W2/inbox/0001.brief.meta.json";
        torn(repository(world).join(sidecar), "[]")
    }),
    ("a request that nobody made", 1, RequestBroken, |world| {
        let dir = repository(world).join("requests");
        fs::DirBuilder::new().mode(0o700).create(&dir).unwrap();
        let file = dir.join("1.json");
        put(&file, "{}");
        by_hand(|_| fs::remove_file(file).unwrap())
    }),
    ("a reservation is torn", 1, ReservationBroken, |world| {
        world.ok(["reserve", "add", "src/**", "--as", "W1"]);
        let dir = repository(world).join("reservations");
        let mut files = fs::read_dir(dir).unwrap().map(|it| it.unwrap().path());
        let file = files
            .find(|it| it.extension().is_some_and(|it| it == "json"))
            .unwrap();
        put(&file, "{");
        by_hand(move |world| {
            fs::remove_file(file).unwrap();
            mends(world);
        })
    }),
    ("a table of tasks is torn", 1, CoordinationBroken, |world| {
        world.ok(["coord", "leader", "init", "Build it"]);
        let table = world.repository().join(".coordination/tasks.json");
        let whole = fs::read(&table).unwrap();
        fs::write(&table, "{\"tasks\": [").unwrap();
        by_hand(move |_| fs::write(table, whole).unwrap())
    }),
];

/// Another repository that is registered.
fn another(world: &World) -> PathBuf {
    let dir = world.outside().join("other");
    fs::create_dir(&dir).unwrap();
    let mut git = world.command_of("git");
    world.run(git.args(["init", "--quiet"]).current_dir(&dir));
    let ran = world.run(world.command().arg("init").current_dir(&dir));
    assert_eq!(ran.code, 0, "{ran}");
    dir
}

/// This in the place of a file's content, until somebody puts that back.
fn torn(file: PathBuf, content: &str) -> ByHand {
    let whole = fs::read(&file).unwrap();
    put(&file, content);
    by_hand(move |_| put(&file, whole))
}

#[test]
fn from_each_fault_of_records_to_a_home_that_works() {
    lead_home(FAULTS);
}
