//! What everybody should know.
//!
//! Owns that a discovery is added whole, after those that are there.

pub use flagpost_disk::dialects::coordination::Discovery;
use flagpost_disk::{
    dialects::coordination as layout,
    fsx::{self, Durability},
};
use flagpost_model::WorkerId;

use super::Directory;
use crate::error::{Error, Result};

/// Adds a discovery, durable on return.
pub fn discover(directory: &Directory<'_>, by: &WorkerId, text: &str) -> Result<Discovery> {
    if text.trim().is_empty() {
        return Err(Error::Invalid {
            what: "discovery".to_owned(),
            reason: "it says nothing".to_owned(),
        });
    }
    let home = directory.home;
    let _lock = directory.lock()?;
    let at = directory.naive(home.now());
    directory.make_dir(layout::CONTEXT)?;
    let block = layout::discovery(at, by.as_str(), text);
    let path = directory.path(layout::DISCOVERIES);
    fsx::append(home.fs(), &path, block.as_bytes(), Durability::Synced)?;
    Ok(Discovery {
        at: Some(at),
        by: Some(by.to_string()),
        text: text.trim_end().to_owned(),
    })
}

/// All discoveries, oldest first.
pub fn discoveries(directory: &Directory<'_>) -> Result<Vec<Discovery>> {
    let home = directory.home;
    let text = fsx::read_lossy(home.fs(), &directory.path(layout::DISCOVERIES))?;
    let text = text.unwrap_or_default();
    Ok(layout::read_discoveries(&text, &home.zone()))
}
