//! The rows: which there are, and how they are told.

use crate::{answer, left, world};

#[test]
fn every_row_is_measured_and_no_task_is_claimed_twice() {
    let world = world();
    let rows = "replace,add-1000,claim-1000,import,claims-lived,brief,ratify-25,told";
    let (code, told) = answer(&world, &["--quick", "--rows", rows]);
    let names: Vec<&str> = told["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    let expected = [
        "replace",
        "add-1000",
        "claim-1000",
        "import-1000",
        "claims-lived",
        "brief",
        "ratify-25",
        "told",
    ];
    assert_eq!((code, names.as_slice()), (0, expected.as_slice()), "{told}");
    assert_eq!(told["rows"][4]["double_claims"], 0, "{told}");
    assert_eq!(left(&world), 0, "it cleans up");
}

#[test]
fn a_person_reads_a_table_without_the_columns_that_no_row_uses() {
    let ran = world().flagpost(["--quick", "--rows", "number"]);
    let header = ran.stdout.lines().next().unwrap();
    let columns: Vec<&str> = header.split_whitespace().collect();
    let expected = ["ROW", "FLOOR", "OURS", "RATIO", "BEST", "WHAT"];
    assert_eq!(
        (ran.code, columns.as_slice()),
        (0, expected.as_slice()),
        "{ran}"
    );
    assert!(ran.stdout.contains("\nnumber  "), "{ran}");
    assert!(ran.stderr.contains("is in memory"), "{ran}");
}

#[test]
fn a_row_that_there_is_not_is_refused() {
    let world = world();
    let ran = world.flagpost(["--rows", "nothing"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran}");
    assert!(ran.stderr.contains("no row begins with nothing"), "{ran}");
    assert_eq!(left(&world), 0, "it cleans up");
}
