//! Every byte on disk.

pub mod dialects;
