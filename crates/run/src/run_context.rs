//! Where a run, or a landing, works.
//!
//! Owns nothing: it holds together what each step needs.

use flagpost_core::{Home, List, Repository, Settings};

/// Where to run it.
#[derive(Debug, Clone, Copy)]
pub struct RunContext<'a> {
    /// The home.
    pub home: &'a Home,
    /// What the environment says.
    pub settings: &'a Settings,
    /// The repository.
    pub repository: &'a Repository,
    /// The list.
    pub list: &'a List<'a>,
}
