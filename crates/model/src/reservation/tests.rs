//! Who may reserve what, and who touched what without holding it.

use super::*;

fn at(minute: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_mins(minute)
}

fn wanted(holder: &str, path: &str, mode: ReservationMode) -> ReservationRequest {
    ReservationRequest {
        path: path.parse().unwrap(),
        holder: holder.parse().unwrap(),
        mode,
        task: None,
        reason: None,
    }
}

/// W1 holds `src/**` for itself and `docs` with others, both until minute 15.
fn held() -> Vec<Reservation> {
    [
        ("src/**", ReservationMode::Exclusive),
        ("docs", ReservationMode::Shared),
    ]
    .into_iter()
    .zip(1..)
    .map(|((path, mode), n)| Reservation::new(n, wanted("W1", path, mode), at(0), LEASE))
    .collect()
}

#[test]
fn what_meets_somebody_elses_is_refused() {
    use ReservationMode::{Exclusive, Shared};
    for (who, path, mode, minute, expected) in [
        ("W2", "src/a.rs", Exclusive, 0, "1"),
        ("W2", "src/a.rs", Shared, 0, "1"),
        ("W2", "**/*.rs", Exclusive, 0, "1"),
        ("W2", "lib", Exclusive, 0, "new"),
        ("W2", "docs/a.md", Exclusive, 0, "2"),
        ("W2", "docs/a.md", Shared, 0, "new"),
        ("W2", "src/a.rs", Exclusive, 14, "1"),
        ("W2", "src/a.rs", Exclusive, 15, "new"),
        ("W1", "src/a.rs", Exclusive, 0, "new"),
        ("W1", "./src/**", Exclusive, 0, "renews 1"),
        ("W1", "src/**", Shared, 0, "replaces 1"),
        ("W1", "src/**", Exclusive, 15, "new"),
    ] {
        let found = match may_reserve(&wanted(who, path, mode), &held(), at(minute)) {
            Ok(ReservationGrant::New) => "new".to_owned(),
            Ok(ReservationGrant::Renews(n)) => format!("renews {n}"),
            Ok(ReservationGrant::Replaces(n)) => format!("replaces {n}"),
            Err(refusal) => refusal.by.n.to_string(),
        };
        assert_eq!(found, expected, "{who} {path} {mode} {minute}");
    }
}

#[test]
fn a_refusal_names_the_holder() {
    let mut held = held();
    held[0].wanted.reason = Some("the new parser".to_owned());
    let said = |path| {
        let wanted = wanted("W2", path, ReservationMode::Exclusive);
        may_reserve(&wanted, &held, at(0)).unwrap_err().to_string()
    };
    assert_eq!(
        said("src/a.rs"),
        "src/a.rs is reserved by W1 until 1970-01-01T00:15:00Z, as part of src/**: the new parser"
    );
    assert_eq!(
        said("docs"),
        "docs is reserved by W1 until 1970-01-01T00:15:00Z"
    );
}

#[test]
fn a_word_renews_what_is_not_over_and_not_fresh() {
    let it = &held()[0];
    let until = |minute| it.renewed(at(minute)).map(|it| it.until);
    assert_eq!(until(3), None);
    assert_eq!(until(4), Some(at(19)));
    assert_eq!(until(14), Some(at(29)));
    assert_eq!(until(15), None);
}

#[test]
fn who_touched_what_is_judged_by_what_he_holds() {
    let (w1, w2) = ("W1".parse().unwrap(), "W2".parse().unwrap());
    for (path, who, minute, expected) in [
        ("src/a.rs", Some(&w1), 0, "held"),
        ("src/a.rs", Some(&w2), 0, "1"),
        ("src/a.rs", None, 0, "held"),
        ("docs/a", Some(&w2), 0, "2"),
        ("lib/a", Some(&w1), 0, "nobody"),
        ("lib/a", None, 0, "nobody"),
        ("src/a.rs", Some(&w1), 15, "nobody"),
    ] {
        let found = match holding(path, who, &held(), at(minute)) {
            Holding::Held => "held".to_owned(),
            Holding::Others(other) => other.n.to_string(),
            Holding::Nobody => "nobody".to_owned(),
        };
        assert_eq!(found, expected, "{path} {who:?} {minute}");
    }
}
