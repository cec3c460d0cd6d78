//! What an agent's client calls over the Model Context Protocol, on stdin and stdout or over HTTP.
//!
//! Owns the tools as data: their names, words, parameters and hints, and which operations of
//! `core::operations` each asks for. Invariants: who acts is the worker of the process or of the token, never a
//! parameter; a refusal of the domain is an answer, and never a fault of the protocol. It holds no rule,
//! and no tool decides on a brief, deletes, takes, runs, configures or answers: those are a person's.

mod arguments;
mod http;
mod refusal;
mod resources;
mod seat;
mod server;
mod stdio;
mod tools;
mod watched;

pub use http::answer;
pub use seat::AgentSeat;
pub use stdio::{ServeFault, serve};
pub use watched::Watched;
