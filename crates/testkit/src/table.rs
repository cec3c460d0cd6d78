//! Tables in tests: rows that differ by data alone.
//!
//! Owns how a table is gone through: to its end, so that one row that fails hides no other.

use std::{
    any::Any,
    fmt::Display,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Checks each row of a table and fails after the last with the name of every row that failed.
#[track_caller]
pub fn each<N: Display, R>(rows: impl IntoIterator<Item = (N, R)>, mut check: impl FnMut(R)) {
    let mut failed = Vec::new();
    let mut count = 0;
    for (name, row) in rows {
        count += 1;
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(row))) {
            failed.push(format!("{name}: {}", words(&*panic)));
        }
    }
    assert_ne!(count, 0, "a table without rows proves nothing");
    assert!(
        failed.is_empty(),
        "{} of {count} rows failed\n{}",
        failed.len(),
        failed.join("\n")
    );
}

/// The words that a panic was raised with.
fn words(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    let literal = || panic.downcast_ref::<&str>().copied();
    owned.or_else(literal).unwrap_or("a panic without words")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(rows: &[(&str, i32)]) -> Option<String> {
        let check = |row: &i32| assert!(row % 2 == 0, "{row} is odd");
        let rows = rows.iter().map(|(name, row)| (name, row));
        let went = catch_unwind(AssertUnwindSafe(|| each(rows, check)));
        went.err().map(|panic| words(&*panic).to_owned())
    }

    #[test]
    fn every_row_that_fails_is_named_and_no_other() {
        let rows = [("one", 1), ("two", 2), ("three", 3), ("four", 4)];
        let told = refusal(&rows).unwrap();
        assert_eq!(told, "2 of 4 rows failed\none: 1 is odd\nthree: 3 is odd");
        assert_eq!(refusal(&[("two", 2)]), None);
    }

    #[test]
    fn a_table_without_rows_fails() {
        assert!(refusal(&[]).unwrap().contains("proves nothing"));
    }
}
