//! Formats of somebody else's that Flagpost reads and writes exactly.
//!
//! Each dialect translates between its bytes and `model` and decides nothing. Dialects never
//! import each other.

pub mod backlog;
pub mod beads;
pub mod bridge;
pub mod claude_tasks;
pub mod coordination;
pub mod exchange;
pub mod markdown_plan;
pub mod relay;
pub mod requests;
pub mod reservations;
pub mod session;
pub mod taskmaster;
