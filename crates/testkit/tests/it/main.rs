//! Holds the house to its rules: who imports whom, how long a file and how large a crate may be, what it opens with,
//! what things are called, that what Markdown names exists, and that no test can fail because a machine is slow.
//!
//! Each rule is a function of text with a test of its own that shows it can fail; one more test
//! runs it over the repository.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "tests arrange the machine by hand"
)]

mod budgets;
mod circles;
mod features;
mod file_sizes;
mod headers;
mod imports;
mod markdown;
mod model_server;
mod names;
mod product;
mod real_clients;
mod source;
mod type_names;
mod waits;

/// Fails with every fault on a line of its own.
fn assert_none(rule: &str, faults: &[String]) {
    assert!(faults.is_empty(), "{rule}:\n  {}", faults.join("\n  "));
}
