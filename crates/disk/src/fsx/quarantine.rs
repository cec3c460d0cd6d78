//! Keeping what cannot be read.
//!
//! Owns the `quarantine/` directory beside a file: a copy under a name that no reader takes for
//! live data, with the reason beside it. The original stays where it is, since its writer may
//! still be writing. The copy's name holds the content's hash, so the same broken content is
//! reported once and a second, different one is kept too.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{
    Error, Fs, Result, make_dirs, must_not_be_linked, publish, read_lossy, replace, stat,
    sync_parent,
};
use crate::error::found;

/// The directory's name.
pub const QUARANTINE: &str = "quarantine";

/// What a reason's name has after its copy's.
const REASON: &str = ".reason.txt";

/// So many digits of the content's hash are in a copy's name.
const HASH_LEN: usize = 12;

/// A name in a directory has at most 255 bytes, and a temporary's is the longest.
const NAME_LIMIT: usize = 120;

/// A malformed file whose content is not kept yet: report it, then [`keep`](Case::store) it. The
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
    let dir = path.with_file_name(QUARANTINE);
    let name = short_name(path);
    let hash = Sha256::digest(content);
    let short: String = hash
        .iter()
        .take(HASH_LEN / 2)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let copy = dir.join(format!("{name}.{short}"));
    if stat(fs, &copy)?.is_some() {
        sync_parent(fs, &copy)?;
        return Ok(None);
    }
    must_not_be_linked(fs, path.parent().unwrap_or(&dir), &dir)?;
    make_dirs(fs, &dir)?;
    // The reason comes first: the copy's appearance says that the case is complete.
    let reason_path = dir.join(format!("{name}.{short}{REASON}"));
    replace(fs, &reason_path, format!("{reason}\n").as_bytes())?;
    Ok(Some(Case { copy, content }))
}

impl Case<'_> {
    /// Copies the content aside, durable on return. Somebody else may have done so meanwhile.
    pub fn store(self, fs: &dyn Fs) -> Result<()> {
        match publish(fs, &self.copy, self.content) {
            Err(Error::Conflict { .. }) => sync_parent(fs, &self.copy),
            published => published,
        }
    }
}

/// Keeps content that is about to be replaced, durable on return.
pub fn store(fs: &dyn Fs, path: &Path, content: &[u8], reason: &str) -> Result<()> {
    match quarantine(fs, path, content, reason)? {
        Some(case) => case.store(fs),
        None => Ok(()),
    }
}

/// A copy in quarantine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Where it lies.
    pub copy: PathBuf,
    /// The name of the file it was made of, cut short where that was long.
    pub name: String,
    /// Why it was no such file.
    pub reason: String,
}

/// What the quarantine beside the files of `dir` holds, by name.
pub fn kept(fs: &dyn Fs, dir: &Path) -> Result<Vec<Kept>> {
    let dir = dir.join(QUARANTINE);
    let Some(names) = found(fs.names(&dir)).map_err(Error::io("list", &dir))? else {
        return Ok(Vec::new());
    };
    let mut kept = Vec::new();
    for name in names.iter().filter_map(|name| name.to_str()) {
        let Some((original, hash)) = name.rsplit_once('.') else {
            continue;
        };
        if hash.len() == HASH_LEN && hash.bytes().all(|b| b.is_ascii_hexdigit()) {
            let reason = dir.join(format!("{name}{REASON}"));
            let reason = read_lossy(fs, &reason).ok().flatten().unwrap_or_default();
            kept.push(Kept {
                copy: dir.join(name),
                name: original.to_owned(),
                reason: reason.trim_end().to_owned(),
            });
        }
    }
    kept.sort_by(|a, b| a.copy.cmp(&b.copy));
    Ok(kept)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsx::RealFs;

    #[test]
    fn what_was_kept_is_found_again_with_its_reason() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path();
        assert_eq!(kept(&RealFs, dir).unwrap(), []);
        for (name, content) in [("7.json", "{"), (".repo", "../evil"), ("7.json", "[")] {
            store(&RealFs, &dir.join(name), content.as_bytes(), "why").unwrap();
            store(&RealFs, &dir.join(name), content.as_bytes(), "again").unwrap();
        }
        std::fs::write(dir.join("quarantine/note.txt"), "mine").unwrap();
        let found = kept(&RealFs, dir).unwrap();
        let names: Vec<_> = found.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, [".repo", "7.json", "7.json"]);
        assert!(found.iter().all(|it| it.reason == "why"));
        assert_eq!(std::fs::read(&found[0].copy).unwrap(), b"../evil");
    }
}
