//! The daemon, asked from outside.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "tests arrange the machine by hand"
)]

mod answers;
mod bridge;
mod decisions;
mod doors;
mod duties;
mod events;
mod events_of_files;
mod hostile;
mod lifecycle;
mod listening;
mod lists;
mod messages;
mod operators;
mod served;
mod tools;
