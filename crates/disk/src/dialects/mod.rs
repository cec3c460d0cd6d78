//! Formats of others, one module each. A dialect translates; it never decides.

pub mod markdown_plan;
