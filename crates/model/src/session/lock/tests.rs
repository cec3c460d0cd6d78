//! Whose lock stands: the table of evidence.

use super::*;

const NOW: &str = "2026-02-05T14:30:00Z";

fn ts(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn foreign(pid: Pid, started: Option<&str>) -> Lock {
    Lock {
        session: "user-auth-20260205-093000".parse().ok(),
        started: started.map(|s| LockTime::Zoned(ts(s))),
        pid,
        ..Lock::default()
    }
}

fn standing(lock: &Lock, flock_held: bool, pid_alive: bool, modified: &str) -> LockStatus {
    lock.status(Sighting {
        now: ts(NOW),
        modified: ts(modified),
        flock_held,
        pid_alive,
    })
}

#[test]
fn trap_05_age_never_overrules_what_can_be_asked() {
    let five_hours_ago = "2026-02-05T09:30:00Z";
    let one_minute_ago = "2026-02-05T14:29:00Z";
    let word = || Pid::Word("orchestrator".into());
    let ours = |at| {
        Lock::of_ours(
            "user-auth-20260205-093000".parse().unwrap(),
            "web".parse().unwrap(),
            77,
            ts(at),
        )
    };
    let live = LockStatus::Live;
    let dead = LockStatus::Dead;
    let hours = |h| Evidence::Age(SignedDuration::from_hours(h));
    let minute = Evidence::Age(SignedDuration::from_mins(1));
    for (what, lock, held, alive, modified, expected) in [
        (
            "ours, held for five hours",
            ours(five_hours_ago),
            true,
            true,
            five_hours_ago,
            live(Evidence::Flock),
        ),
        (
            "ours, dead for a minute",
            ours(one_minute_ago),
            false,
            false,
            one_minute_ago,
            dead(Evidence::Flock),
        ),
        (
            "ours, dead, its pid reused",
            ours(one_minute_ago),
            false,
            true,
            one_minute_ago,
            dead(Evidence::Flock),
        ),
        (
            "foreign, but flocked by somebody",
            foreign(word(), Some(five_hours_ago)),
            true,
            false,
            five_hours_ago,
            live(Evidence::Flock),
        ),
        (
            "foreign, old, process lives",
            foreign(Pid::Number(9), Some(five_hours_ago)),
            false,
            true,
            five_hours_ago,
            live(Evidence::Process(9)),
        ),
        (
            "foreign, young, process gone",
            foreign(Pid::Number(9), Some(one_minute_ago)),
            false,
            false,
            one_minute_ago,
            dead(Evidence::Process(9)),
        ),
        (
            "a word for a pid, young",
            foreign(word(), Some(one_minute_ago)),
            false,
            false,
            five_hours_ago,
            live(minute),
        ),
        (
            "a word for a pid, old",
            foreign(word(), Some(five_hours_ago)),
            false,
            true,
            one_minute_ago,
            dead(hours(5)),
        ),
        (
            "a word, exactly four hours",
            foreign(word(), Some("2026-02-05T10:30:00Z")),
            false,
            false,
            NOW,
            dead(hours(4)),
        ),
        (
            "nothing readable, young file",
            foreign(Pid::Missing, None),
            false,
            false,
            one_minute_ago,
            live(minute),
        ),
        (
            "nothing readable, old file",
            foreign(Pid::Missing, None),
            false,
            false,
            five_hours_ago,
            dead(hours(5)),
        ),
        (
            "a stamp from the future",
            foreign(word(), Some("2026-02-05T15:30:00Z")),
            false,
            false,
            one_minute_ago,
            live(minute),
        ),
        (
            "no stamp, a file as young as its clone, and a name that is old in every zone",
            Lock {
                session: "user-auth-20260201-093000".parse().ok(),
                ..foreign(word(), None)
            },
            false,
            false,
            one_minute_ago,
            dead(hours(89)),
        ),
        (
            "a stamp from the future, old file",
            foreign(word(), Some("2026-02-05T15:30:00Z")),
            false,
            false,
            five_hours_ago,
            dead(hours(5)),
        ),
    ] {
        assert_eq!(standing(&lock, held, alive, modified), expected, "{what}");
    }
}

#[test]
fn trap_05_a_stamp_without_a_zone_does_not_age_a_young_lock() {
    // Written a minute ago by a clock eight hours behind UTC.
    let mut lock = foreign(Pid::Word("active".into()), None);
    lock.started = Some(LockTime::Zoneless("2026-02-05T06:29:00".parse().unwrap()));
    assert!(matches!(
        standing(&lock, false, false, "2026-02-05T14:29:00Z"),
        LockStatus::Live(Evidence::Age(_))
    ));
    assert!(matches!(
        standing(&lock, false, false, "2026-02-05T09:29:00Z"),
        LockStatus::Dead(Evidence::Age(_))
    ));
}

#[test]
fn trap_05_a_lock_that_came_with_a_clone_is_as_old_as_its_stamp_at_the_latest() {
    let mut lock = foreign(Pid::Word("orchestrator".into()), None);
    let a_minute_ago = "2026-02-05T14:29:00Z";
    for (stamp, stands) in [
        ("2026-02-04T14:30:00", false),
        // Four hours ago on the clocks farthest west, and a minute later.
        ("2026-02-04T22:30:00", false),
        ("2026-02-04T22:31:00", true),
    ] {
        lock.started = Some(LockTime::Zoneless(stamp.parse().unwrap()));
        let standing = standing(&lock, false, false, a_minute_ago);
        assert_eq!(matches!(standing, LockStatus::Live(_)), stands, "{stamp}");
    }
}
