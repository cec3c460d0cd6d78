//! What only the daemon answers, and the schemas of all that it answers with.

use flagpost_core::answers::{DaemonAnswer, Schema};
use flagpost_model::view;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::events::{FleetChange, ListChange, Resync, Transition};

flagpost_core::answers! {
    "browsers" => BrowsersAnswer,
    "daemon" => Daemon,
    "fleet_change" => FleetChange<'_>,
    "link" => LinkAnswer,
    "list_change" => ListChange<'_>,
    "resync" => Resync<'_>,
    "signed_out" => SignedOut,
    "transition" => Transition<'_>,
}

/// The schemas of all that the daemon answers with, and of what has none of its own.
pub fn schemas() -> impl Iterator<Item = &'static Schema> {
    flagpost_core::operations::schemas().chain(ANSWERS)
}

/// The daemon of a home.
///
/// From GET /v1/daemon.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Daemon {
    pub(crate) daemon: DaemonAnswer,
}

/// A link that lets a browser in once.
///
/// From POST /v1/links.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LinkAnswer {
    pub(crate) url: String,
}

/// The browsers that were signed out.
///
/// From POST /v1/sign-out, and after 'flagpost board --sign-out'.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SignedOut {
    /// How many were in.
    pub(crate) browsers: usize,
}

view! {
    /// The browsers that are signed in.
    ///
    /// From GET /v1/browsers.
    pub(crate) struct BrowsersAnswer {
        browsers: Vec<Browser>,
    }

    /// A browser that is signed in.
    pub(crate) struct Browser {
        /// What it calls itself.
        name: String,
        /// When it signed in.
        since: Timestamp,
        /// When it asked for something last.
        used: Timestamp,
    }
}
