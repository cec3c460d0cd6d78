//! Every byte on disk.
//!
//! Owns the formats in which tasks and sessions are kept. It never decides what a task may do:
//! the rules are the model's.

pub mod dialects;
