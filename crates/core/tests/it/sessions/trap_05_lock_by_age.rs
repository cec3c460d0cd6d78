//! Whether a session lives is asked of the system; age counts only where there is nobody to ask.

use std::fs;

use flagpost_core::Error;
use jiff::{SignedDuration, tz::TimeZone};

use super::{
    begin,
    child::{CHILDREN, THREADS},
    dies, dirs, put_foreign, start, try_begin,
};
use crate::world::World;

/// So many processes begin at once, each in several threads.
const PROCESSES: usize = 50;

fn race(world: &World) {
    let place = world.place();
    fs::create_dir(place.join("answers")).unwrap();
    let everybody = PROCESSES * THREADS;
    fs::write(place.join("racers"), everybody.to_string()).unwrap();
    let answers = CHILDREN.race(PROCESSES, "race", place).concat();
    let won = answers.iter().filter(|answer| *answer == "began").count();
    assert_eq!((answers.len(), won), (everybody, 1));
}

#[test]
fn two_hundred_starts_have_one_winner() {
    let world = World::with_tasks(&["Task"]);
    race(&world);
    assert!(dirs(&world, "interrupted-").is_empty());
}

#[test]
fn and_one_takes_over_from_the_dead() {
    let world = World::with_tasks(&["Task"]);
    let list = world.list();
    let live = begin(&world, &list).live;
    start(&list, live.id(), 1);
    dies(&world, live);
    race(&world);
    assert_eq!(dirs(&world, "interrupted-").len(), 1);
    let lines = world.history();
    assert_eq!(super::releases(&lines, &crate::world::id(1)), 1);
}

#[test]
fn a_live_holder_is_refused_however_old_and_a_dead_one_taken_over_at_once() {
    let world = World::real();
    let list = world.list();
    let live = begin(&world, &list).live;
    world.pass(SignedDuration::from_hours(500));
    let answer = try_begin(&world.home, &world.repository, &list);
    let error = answer.unwrap_err().to_string();
    let holder = format!("(pid {} holds its lock)", std::process::id());
    assert!(error.contains(&holder), "{error}");
    world.pass(SignedDuration::from_hours(-500));
    dies(&world, live);
    assert!(begin(&world, &list).recovered.is_some());
}

/// What a lock says, how long ago its file was last changed, and whether it stands.
#[test]
fn locks_of_the_wild() {
    let now = World::real().home.now();
    let ago = |hours| now - SignedDuration::from_hours(hours);
    let z = |hours| format!("{:.0}", ago(hours));
    let west = |hours| {
        let zone = jiff::tz::offset(-8);
        ago(hours)
            .to_zoned(TimeZone::fixed(zone))
            .strftime("%Y-%m-%dT%H:%M:%S-08:00")
            .to_string()
    };
    let bare = |hours| {
        let west = TimeZone::fixed(jiff::tz::offset(-8));
        ago(hours)
            .to_zoned(west)
            .strftime("%Y-%m-%dT%H:%M:%S")
            .to_string()
    };
    let seed = |at: String| format!("task_execution_id: a-1\ntimestamp: {at}\npid: orchestrator\n");
    let other = |at: String| format!("session: a-1\nstarted: {at}\npid: active\n");
    let by =
        |pid: u32, at: String| format!("task_execution_id: a-1\ntimestamp: {at}\npid: {pid}\n");
    let mut gone = std::process::Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    let me = std::process::id();
    let ours = |at: String| format!("{}list: repo\nholder: flock\n", by(me, at));
    let cases = [
        (seed(z(3)), 0, true),
        (seed(z(5)), 0, false),
        (seed(west(3)), 0, true),
        (seed(west(5)), 0, false),
        (other(z(3)), 0, true),
        (other(z(5)), 0, false),
        // Nobody knows whose hours these are: the file's own time counts, unless it is that of a copy.
        (seed(bare(29)), 0, false),
        (
            "pid: orchestrator\ntask_execution_id: a-20250101-120000\n".to_owned(),
            0,
            false,
        ),
        (other(bare(3)), 3, true),
        (other(bare(5)), 3, true),
        (other(bare(1)), 5, false),
        (seed(z(-48)), 3, true),
        (seed(z(-48)), 5, false),
        ("garbage".to_owned(), 3, true),
        (String::new(), 5, false),
        (by(me, z(5)), 5, true),
        (by(gone.id(), z(0)), 0, false),
        (ours(z(0)), 0, false),
    ];
    for (text, changed, stands) in cases {
        let world = World::real();
        let list = world.list();
        let live = put_foreign(&world, &text);
        let file = fs::File::options().write(true).open(live.join(".lock"));
        let seconds = u64::try_from(ago(changed).as_second()).unwrap();
        let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        file.unwrap().set_modified(at).unwrap();
        match try_begin(&world.home, &world.repository, &list) {
            Ok(begun) => assert!(!stands && begun.recovered.is_some(), "{text}"),
            Err(Error::SessionLive { .. }) => assert!(stands, "{text}"),
            Err(error) => panic!("{text}: {error:?}"),
        }
    }
}
