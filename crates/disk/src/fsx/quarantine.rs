//! Keeping what cannot be read.
//!
//! Owns the `quarantine/` directory beside a file: a copy under a name that no reader takes for
//! live data, with the reason beside it. The original stays where it is, since its writer may
//! still be writing. The copy's name holds the content's hash, so the same broken content is
//! reported once and a second, different one is kept too.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::{Error, Fs, Result, make_dirs, publish, replace, stat, sync_parent};

/// A name in a directory has at most 255 bytes, and a temporary's is the longest.
const NAME_LIMIT: usize = 120;

/// Whether this content was known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// It is new: report it.
    Now,
    /// It was kept and reported before.
    Before,
}

/// Copies the content of the malformed file `path` aside with the reason.
pub fn quarantine(fs: &dyn Fs, path: &Path, content: &[u8], reason: &str) -> Result<Kept> {
    let dir = path.with_file_name("quarantine");
    make_dirs(fs, &dir)?;
    let name = short_name(path);
    let hash = Sha256::digest(content);
    let short: String = hash
        .iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let copy = dir.join(format!("{name}.{short}"));
    if stat(fs, &copy)?.is_some() {
        sync_parent(fs, &copy)?;
        return Ok(Kept::Before);
    }
    // The reason comes first: the copy's appearance says that the case is complete.
    let reason_path = dir.join(format!("{name}.{short}.reason.txt"));
    replace(fs, &reason_path, format!("{reason}\n").as_bytes())?;
    match publish(fs, &copy, content) {
        Ok(()) => Ok(Kept::Now),
        Err(Error::Conflict { .. }) => Ok(Kept::Before),
        Err(error) => Err(error),
    }
}

/// The file's name, with room for what is added to it.
fn short_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let ends = name.char_indices().map(|(at, c)| at + c.len_utf8());
    let end = ends.take_while(|end| *end <= NAME_LIMIT).last();
    name.get(..end.unwrap_or_default())
        .unwrap_or_default()
        .to_owned()
}
