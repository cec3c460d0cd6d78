//! `fleet/standing.json` of a home: how the fleet of machines stands, for everybody who reads files.
//!
//! Owns the file and where a machine keeps what it knows of its fleet. The daemon that follows writes it; it
//! is a hint, so that one that is missing, old or unreadable is not known, and never an error.

use std::path::PathBuf;

use flagpost_disk::fsx;
use flagpost_model::machines::{FleetSight, FleetStanding};
use jiff::Timestamp;

use crate::{error::Result, home::Home};

/// The directory in the home.
const DIR: &str = "fleet";

/// Says to which fleet this machine belongs, with its key.
const MEMBERSHIP: &str = "machine.json";

/// How it stands.
const STANDING: &str = "standing.json";

/// Where a machine keeps what it knows of its fleet.
pub fn fleet_dir(home: &Home) -> PathBuf {
    home.root().join(DIR)
}

/// The file that says to which fleet this machine belongs.
pub fn membership_file(home: &Home) -> PathBuf {
    fleet_dir(home).join(MEMBERSHIP)
}

/// What is known of the fleet that this home is in; none where it is in none.
pub fn sight(home: &Home) -> Option<FleetSight> {
    fsx::stat(home.fs(), &membership_file(home))
        .ok()
        .flatten()?;
    Some(FleetSight::of(seen(home), home.now()))
}

/// What was seen last, however long ago.
pub fn seen(home: &Home) -> Option<FleetStanding> {
    let bytes = fsx::read(home.fs(), &fleet_dir(home).join(STANDING)).ok()??;
    serde_json::from_slice(&bytes).ok()
}

/// What time it is by the clock of the fleet's server, where this machine's own says this and somebody has
/// compared them lately.
pub fn time(home: &Home, own: Timestamp) -> Timestamp {
    let is_in_fleet = fsx::stat(home.fs(), &membership_file(home)).is_ok_and(|it| it.is_some());
    let seen = is_in_fleet.then(|| seen(home)).flatten();
    seen.and_then(|it| it.time_if_known(own)).unwrap_or(own)
}

/// Writes down how it stands.
pub fn note(home: &Home, standing: &FleetStanding) -> Result<()> {
    // Texts, numbers and times are always JSON.
    let text = serde_json::to_vec_pretty(standing).unwrap_or_default();
    Ok(fsx::replace(
        home.fs(),
        &fleet_dir(home).join(STANDING),
        &text,
    )?)
}
