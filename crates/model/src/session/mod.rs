//! One run of a list.
//!
//! Owns the words of a session that rules need. What its files look like belongs to the dialect.

mod outcome;

pub use outcome::Outcome;
