//! Keeping what cannot be read.
//!
//! Owns the `quarantine/` directory beside a file: a copy under a name that no reader takes for
//! live data, with the reason beside it. The original stays where it is, since its writer may
//! still be writing. The copy's name holds the content's hash, so the same broken content is
//! reported once and a second, different one is kept too.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{Error, Fs, Result, make_dirs, publish, replace, stat, sync_parent};

/// A name in a directory has at most 255 bytes, and a temporary's is the longest.
const NAME_LIMIT: usize = 120;

/// A malformed file whose content is not kept yet: report it, then [`keep`](Case::keep) it. The
/// copy's appearance says that the case was reported, so one that a crash cut short is reported
/// again, and none is passed over.
#[derive(Debug)]
pub struct Case<'c> {
    copy: PathBuf,
    content: &'c [u8],
}

/// Opens the case of the malformed file `path`, its reason durable; `None` where this content was
/// kept, and so reported, before.
pub fn quarantine<'c>(
    fs: &dyn Fs,
    path: &Path,
    content: &'c [u8],
    reason: &str,
) -> Result<Option<Case<'c>>> {
    let dir = path.with_file_name("quarantine");
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
        return Ok(None);
    }
    make_dirs(fs, &dir)?;
    // The reason comes first: the copy's appearance says that the case is complete.
    let reason_path = dir.join(format!("{name}.{short}.reason.txt"));
    replace(fs, &reason_path, format!("{reason}\n").as_bytes())?;
    Ok(Some(Case { copy, content }))
}

impl Case<'_> {
    /// Copies the content aside, durable on return. Somebody else may have done so meanwhile.
    pub fn keep(self, fs: &dyn Fs) -> Result<()> {
        match publish(fs, &self.copy, self.content) {
            Err(Error::Conflict { .. }) => sync_parent(fs, &self.copy),
            published => published,
        }
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
