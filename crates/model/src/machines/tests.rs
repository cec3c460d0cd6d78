//! Who is alone, behind or silent, and since when.

use jiff::{SignedDuration, Timestamp};

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(second)
}

fn repo() -> RepoId {
    "r-1".parse().unwrap()
}

/// A machine that follows, and has so many lines.
fn machine(id: &str, n: u64) -> FleetMachine {
    FleetMachine {
        machine: id.parse().unwrap(),
        host: "box".to_owned(),
        flagpost: "0.1.0".to_owned(),
        since: Some(at(0)),
        lag: None,
        behind_since: None,
        behind: false,
        applied: BTreeMap::from([(repo(), n)]),
    }
}

/// What is seen in that second, of a repository with so many lines and machines with so many of them. The
/// first is the one that looks.
fn seen(second: i64, there: u64, have: &[u64]) -> FleetStanding {
    let names = ["aaaaaaaa", "bbbbbbbb", "cccccccc"];
    let machines = names.iter().zip(have);
    let mut seen = FleetStanding {
        at: at(second),
        since: at(second),
        server: FleetServer {
            address: "nats://127.0.0.1:4222".to_owned(),
            version: Some("2.15.1".to_owned()),
            fault: None,
            syncs: Some(true),
            replicas: Some(1),
            offset_ms: Some(3),
            copies: Vec::new(),
        },
        machine: "aaaaaaaa".parse().unwrap(),
        founder: true,
        may_decide: Some(true),
        repositories: vec![FleetRepository {
            name: "app".to_owned(),
            id: repo(),
            here: have.first().copied(),
            there: Some(there),
            frozen: None,
            kept: 0,
        }],
        machines: machines.map(|(id, n)| machine(id, *n)).collect(),
    };
    seen.count_lags();
    seen
}

#[test]
fn what_was_seen_long_ago_is_not_known_any_more() {
    for (second, known) in [(0, true), (30, true), (31, false), (-31, false)] {
        let sight = FleetSight::of(Some(seen(0, 8, &[8])), at(second));
        assert_eq!(sight.standing().is_some(), known, "{second}");
        let link = match known {
            true => FleetLink::Connected,
            false => FleetLink::Unknown,
        };
        assert_eq!(sight.link(), link, "{second}");
        assert_eq!(sight.since(), Some(at(0)));
    }
    let never = FleetSight::of(None, at(0));
    assert_eq!((never.link(), never.since()), (FleetLink::Unknown, None));
}

#[test]
fn alone_and_connected_are_since_the_first_look_that_said_so() {
    let first = seen(0, 8, &[8, 5]).after(None);
    let lost = first.alone(at(10), "there is no connection".to_owned());
    let still = lost.alone(at(20), "it does not answer".to_owned());
    let back = seen(25, 8, &[8, 5]).after(Some(&still));
    let later = seen(35, 8, &[8, 5]).after(Some(&back));
    let anew = seen(70, 8, &[8, 5]).after(Some(&later));
    for (standing, link, since) in [
        (&first, FleetLink::Connected, 0),
        (&lost, FleetLink::Alone, 10),
        (&still, FleetLink::Alone, 10),
        (&back, FleetLink::Connected, 25),
        (&later, FleetLink::Connected, 25),
        // Nobody looked in between.
        (&anew, FleetLink::Connected, 70),
    ] {
        assert_eq!((standing.link(), standing.since), (link, at(since)));
    }
}

#[test]
fn alone_a_machine_knows_the_others_by_name_only() {
    let alone = seen(0, 8, &[8, 5]).alone(at(1), "gone".to_owned());
    assert_eq!(alone.machines.len(), 2);
    assert_eq!(alone.following(), 0);
    assert_eq!(alone.behind().count(), 0);
    assert_eq!(
        (alone.server.version, alone.repositories[0].there),
        (None, None)
    );
    assert_eq!(alone.repositories[0].here, Some(8));
}

#[test]
fn a_machine_is_behind_when_it_lacks_a_line_for_long() {
    // What there is, and what the other machine has, every ten seconds.
    for (looks, since, behind) in [
        (&[(8, 8), (8, 8), (8, 8), (8, 8)][..], None, false),
        (&[(8, 5), (8, 5), (8, 5)], Some(0), false),
        (&[(8, 5), (8, 5), (8, 5), (8, 5)], Some(0), true),
        (&[(8, 5), (9, 5), (10, 6), (11, 7)], Some(0), true),
        // It has each time what was there at the look before.
        (&[(8, 7), (9, 8), (10, 9), (11, 10)], Some(30), false),
        (&[(8, 5), (8, 5), (8, 8), (9, 8)], Some(30), false),
        (&[(8, 5), (8, 5), (8, 5), (8, 8)], None, false),
    ] {
        let mut last: Option<FleetStanding> = None;
        for (n, (there, has)) in (0..).zip(looks) {
            last = Some(seen(10 * n, *there, &[*there, *has]).after(last.as_ref()));
        }
        let last = last.unwrap();
        let other = &last.machines[1];
        assert_eq!(other.behind_since, since.map(at), "{looks:?}");
        let named: Vec<&FleetMachine> = last.behind().collect();
        assert_eq!(named == [other], behind, "{looks:?}");
    }
}

#[test]
fn one_that_does_not_follow_is_silent_and_not_behind() {
    let mut seen = seen(0, 8, &[8, 5]);
    seen.machines[1].since = None;
    seen.count_lags();
    let seen = seen.after(None);
    assert_eq!((seen.machines[1].lag, seen.following()), (None, 1));
    assert_eq!(seen.machines[1].behind_since, None);
}

#[test]
fn what_is_here_by_now_was_there_before() {
    let mut seen = seen(0, 8, &[6]).after(None);
    assert_eq!(seen.machines[0].lag, Some(2));
    let why = "a line says something else than in the fleet".to_owned();
    let frozen = BTreeMap::from([(repo(), why.clone())]);
    seen.note_here(&BTreeMap::from([(repo(), 7)]), &frozen);
    assert_eq!(
        (seen.machines[0].lag, seen.machines[0].behind_since),
        (Some(1), Some(at(0)))
    );
    assert_eq!(seen.frozen().map(|(_, why)| why).collect::<Vec<_>>(), [why]);
    seen.note_here(&BTreeMap::from([(repo(), 9)]), &BTreeMap::new());
    assert_eq!(
        (seen.machines[0].lag, seen.machines[0].behind_since),
        (Some(0), None)
    );
    assert_eq!(
        (seen.repositories[0].there, seen.frozen().count()),
        (Some(9), 0)
    );
}

#[test]
fn time_alone_changes_nothing_that_is_said() {
    let first = seen(0, 8, &[8, 5]).after(None);
    let mut second = seen(10, 8, &[8, 5]).after(Some(&first));
    second.server.offset_ms = Some(-4);
    assert!(second.says_the_same(&first));
    assert!(
        !seen(10, 9, &[8, 5])
            .after(Some(&first))
            .says_the_same(&first)
    );
}

#[test]
fn the_servers_clock_counts_where_it_was_looked_at_lately() {
    let said = |offset: Option<i64>, own: i64| {
        let mut seen = seen(100, 8, &[8]);
        seen.server.offset_ms = offset;
        seen.time_if_known(at(own)).map(|it| it.as_second())
    };
    for (offset, own, time) in [
        (None, 105, Some(105)),
        (Some(0), 105, Some(105)),
        // Nobody measures it more exactly.
        (Some(-1_900), 105, Some(105)),
        (Some(40_000), 145, Some(105)),
        (Some(-40_000), 65, Some(105)),
        // The daemon ended, or somebody set the clock.
        (Some(40_000), 180, None),
        (Some(40_000), 105, None),
        (Some(0), 140, None),
    ] {
        assert_eq!(
            said(offset, own),
            time.map(|it| at(it).as_second()),
            "{offset:?} {own}"
        );
    }
}

#[test]
fn a_file_of_a_newer_flagpost_is_read_as_far_as_it_is_known() {
    let seen = seen(0, 8, &[8]);
    let mut file = serde_json::to_value(&seen).unwrap();
    file["load"] = 3.into();
    assert_eq!(serde_json::from_value::<FleetStanding>(file).unwrap(), seen);
}

#[test]
fn servers_are_old_or_new_by_number() {
    for (version, good) in [
        ("2.12.0", true),
        ("2.15.1", true),
        ("2.12.0-RC.1", true),
        ("3.0.0", true),
        ("2.11.9", false),
        ("2.9.10", false),
        ("1.20.0", false),
        ("dev", false),
        ("", false),
    ] {
        assert_eq!(is_new_enough(version), good, "{version}");
    }
}
