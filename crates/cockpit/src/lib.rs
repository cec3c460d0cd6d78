//! The cockpit: the fleet in one terminal.
//!
//! Owns a face and no rule: what it shows is read from `core`, and what it does is an operation of
//! `core::operations`. [`app`] is plain data, [`update::update`] and [`view::draw`] are pure; only
//! `term`, `source`, `tail` and `worker` touch the world, each in threads of its own. A decision is
//! on the brief as it was on the screen, or it is none.

pub mod act;
pub mod app;
pub mod event;
#[cfg(test)]
mod fixture;
mod input;
pub mod keys;
mod landing;
pub mod log;
mod notices;
mod palette;
mod prompt;
mod review;
mod rows;
mod run;
pub mod snapshot;
mod source;
pub mod tab;
mod tail;
mod term;
pub mod text;
pub mod theme;
mod thread;
pub mod update;
pub mod view;
mod worker;

pub use run::{Cockpit, CockpitError, run};
pub use worker::Person;
