//! Naive local times.
//!
//! Owns their one spelling. It is the only place of Flagpost that writes a time without its zone.

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use serde_json::Value;

/// As other programs read it: microseconds, no zone.
pub fn to_text(at: DateTime) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S%.6f").to_string()
}

/// What cannot be understood is no time. One with a zone, which agents like to write, is meant as
/// the moment that it is.
pub(super) fn read(value: Option<&Value>, zone: &TimeZone) -> Option<DateTime> {
    let text = value?.as_str()?.trim();
    match text.parse::<Timestamp>() {
        Ok(at) => Some(at.to_zoned(zone.clone()).datetime()),
        Err(_) => text.parse().ok(),
    }
}
