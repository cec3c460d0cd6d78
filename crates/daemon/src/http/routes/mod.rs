//! The routes, a file for each subject.
//!
//! Owns which there are.

mod browser;
mod controller;
mod events;
mod history;
mod kanban;
mod messages;
mod relay;
mod reservations;
mod sessions;
mod task_changes;
mod tasks;
mod this_daemon;
mod workers;

use super::route::Route;

/// Every route there is.
pub(crate) fn all() -> impl Iterator<Item = &'static Route> {
    [
        this_daemon::ROUTES,
        browser::ROUTES,
        tasks::ROUTES,
        task_changes::ROUTES,
        workers::ROUTES,
        relay::ROUTES,
        messages::ROUTES,
        reservations::ROUTES,
        controller::ROUTES,
        sessions::ROUTES,
        history::ROUTES,
        events::ROUTES,
        kanban::ROUTES,
    ]
    .into_iter()
    .flatten()
}
