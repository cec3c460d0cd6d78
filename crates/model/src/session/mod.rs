//! Placeholder until sessions land.
