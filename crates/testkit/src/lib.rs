//! What tests of every crate share. A dev-dependency only: nothing of it is in the binary.
//!
//! Owns the ways in which tests look at the product from outside. It must hold no rule of the
//! product, or a fault in the rule would hide itself.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "tests arrange the machine by hand, and a fault here should stop them"
)]

pub mod agents;
pub mod background;
pub mod chance;
pub mod clients;
pub mod connection;
pub mod fleet_log;
pub mod header_proxy;
pub mod markdown;
pub mod model_server;
pub mod nats;
pub mod passage;
pub mod patience;
pub mod power;
pub mod race;
pub mod repository;
pub mod scratch;
pub mod sealed;
pub mod table;
