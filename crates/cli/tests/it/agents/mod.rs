//! Real clients at work through `flagpost run`: Claude Code, Codex, Gemini CLI and opencode, against a model
//! server that plays scripts.
//!
//! Owns the matrix: what each of them does, and what must come of it; and a smoke of it, one run for each
//! client, that is never left out. The matrix takes ten minutes and is run where something has changed that
//! it depends on, which `checks/clients-sum` says. A client that is not installed is said to be skipped.

mod person;
mod stage;
mod time;

mod acp;
mod attach;
mod deliveries;
mod endings;
mod fleet;
mod hooks;
mod installed;
mod joining;
mod killed;
mod limits;
mod lost;
mod numbers;
mod odd;
mod own;
mod permissions;
mod questions;
mod refusals;
mod reports;
mod sandboxes;
mod silence;
mod smoke;
mod tools;
mod turns;

/// The tests of a module for all clients, each a test of its own so that they run side by side. They are of
/// the matrix.
macro_rules! for_each_client {
    ($($case:ident),* $(,)?) => {
        crate::agents::for_clients! {
            claude Claude: $($case),*;
            codex Codex: $($case),*;
            gemini Gemini: $($case),*;
            opencode Opencode: $($case),*;
        }
    };
}

/// The same for those that are named.
macro_rules! for_clients {
    ($($module:ident $client:ident: $($case:ident),* $(,)?;)*) => {$(
        mod $module {
            $(
                #[test]
                #[ignore = "the whole client matrix: ./check --all"]
                fn $case() {
                    super::$case(flagpost_testkit::clients::Client::$client);
                }
            )*
        }
    )*};
}

use {for_clients, for_each_client};
