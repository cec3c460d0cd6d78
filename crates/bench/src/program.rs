//! The `flagpost` to measure.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

/// The program of this path; else the one that was built beside this one.
pub fn find(named: Option<&Path>) -> Result<PathBuf> {
    let path = match named {
        Some(path) => std::path::absolute(path)?,
        None => std::env::current_exe()
            .context("cannot find myself")?
            .with_file_name("flagpost"),
    };
    if !path.is_file() {
        let release = if cfg!(debug_assertions) {
            ""
        } else {
            " --release"
        };
        bail!(
            "there is no program {}: 'cargo build{release} -p flagpost' builds it, and --flagpost names another",
            path.display()
        );
    }
    Ok(path)
}
