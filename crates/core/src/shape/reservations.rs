//! Reservations as JSON.

use flagpost_model::reservation::{Reservation, ReservationConflict};
use serde_json::{Value, json};

use crate::reservations::{Announced, ReservationScan};

/// A reservation.
pub fn reservation(reservation: &Reservation) -> Value {
    let wanted = &reservation.wanted;
    json!({
        "n": reservation.n,
        "path": wanted.path.as_str(),
        "worker": wanted.holder,
        "mode": wanted.mode,
        "task": wanted.task,
        "reason": wanted.reason,
        "at": reservation.at,
        "until": reservation.until,
    })
}

/// Reservations, and the files that are none.
pub fn reservations(these: &[Reservation], survey: &ReservationScan) -> Value {
    json!({
        "reservations": these.iter().map(reservation).collect::<Vec<_>>(),
        "skipped": super::skipped(&survey.skipped),
    })
}

/// What became of the files that a message names.
pub fn announced(announced: &Announced) -> Value {
    let refused =
        |it: &ReservationConflict| json!({"path": it.path.as_str(), "held": reservation(&it.by)});
    json!({
        "held": announced.held.iter().map(reservation).collect::<Vec<_>>(),
        "refused": announced.refused.iter().map(refused).collect::<Vec<_>>(),
        "faults": announced.faults,
    })
}
