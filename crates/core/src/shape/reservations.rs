//! Reservations as JSON.

use flagpost_model::reservation::{Refusal, Reservation};
use serde_json::{Value, json};

use crate::reservations::{Announced, Survey};

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
pub fn reservations(these: &[Reservation], survey: &Survey) -> Value {
    json!({
        "reservations": these.iter().map(reservation).collect::<Vec<_>>(),
        "skipped": super::skipped(&survey.skipped),
    })
}

/// What became of the files that a message names.
pub fn announced(announced: &Announced) -> Value {
    let refused = |it: &Refusal| json!({"path": it.path.as_str(), "held": reservation(&it.by)});
    json!({
        "held": announced.held.iter().map(reservation).collect::<Vec<_>>(),
        "refused": announced.refused.iter().map(refused).collect::<Vec<_>>(),
        "faults": announced.faults,
    })
}
