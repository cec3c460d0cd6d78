//! Reservations.

use flagpost_model::reservation::Reservation;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Skipped;

/// Reservations.
///
/// After 'flagpost reserve list' those that hold; after 'flagpost reserve add' those it made or renewed;
/// after 'flagpost reserve release' those it gave back.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReservationsAnswer<'a> {
    /// By number.
    pub reservations: &'a [Reservation],
    /// Files that cannot be understood: they hold nothing.
    pub skipped: &'a [Skipped],
}
