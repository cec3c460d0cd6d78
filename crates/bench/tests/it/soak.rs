//! A soak of seconds: the same as that of ten minutes, on a disk in memory.

use crate::{answer, left, world};

#[test]
fn a_fleet_whose_workers_and_daemon_are_killed_loses_nothing() {
    let world = world();
    let (code, told) = answer(&world, &["soak", "--workers", "6", "--for", "4s"]);
    println!("{told}");
    assert_eq!(
        (code, &told["faults"]),
        (0, &serde_json::json!([])),
        "{told}"
    );
    let number = |key: &str| told[key].as_u64().unwrap();
    assert!(number("kills") > 0 && number("proposed") > 0, "{told}");
    assert_eq!(number("ratified"), number("proposed"));
    assert_eq!(number("read") + number("deliverable"), number("ratified"));
    assert!(told["daemon"]["kills"].as_u64() > Some(0), "{told}");
    // Each brief is proposed, decided on, read and reported on.
    let heard = told["daemon"]["heard"].as_u64().unwrap();
    assert!(heard >= 4 * number("read"), "{told}");
    assert_eq!(left(&world), 0, "it cleans up");
}

#[test]
fn a_time_or_a_fleet_that_makes_no_sense_is_refused() {
    let world = world();
    for args in [["soak", "--for", "never"], ["soak", "--workers", "1"]] {
        assert_eq!(world.flagpost(args).code, 2, "{args:?}");
    }
}
