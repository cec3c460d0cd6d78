//! Files that a command writes for a person: an export, manual pages, a draft, a demonstration.
//!
//! Owns that none of them is seen half written, and that nothing of a person's is replaced unasked.

use std::path::{Component, Path, PathBuf};

use flagpost_disk::{
    self as disk,
    fsx::{self, RealFs},
};

use crate::{error::Result, home::Home};

/// Writes a file of the user's own: its mode stays, and a link stays a link to it. One that is there is
/// a conflict, unless it is to be replaced.
pub fn write(path: &Path, bytes: &[u8], replace: bool) -> Result<()> {
    let real = path.canonicalize().ok().filter(|_| replace);
    let absolute = || std::path::absolute(path).map_err(disk::Error::io("resolve", path));
    let real = real.map_or_else(absolute, Ok)?;
    let was = match replace {
        true => fsx::read(&RealFs, &real)?,
        false => None,
    };
    Ok(fsx::rewrite(&RealFs, &real, was.as_deref(), bytes)?)
}

/// Where a file is, or would be: links above it are followed.
pub fn real(path: &Path) -> PathBuf {
    if let Ok(real) = std::fs::canonicalize(path) {
        return real;
    }
    match (path.parent(), path.file_name()) {
        (Some(dir), Some(name)) => real(dir).join(name),
        // It ends with "..".
        (Some(dir), None) => real(dir).parent().map(Path::to_owned).unwrap_or_default(),
        (None, _) => path.to_owned(),
    }
}

/// A path without "..", whatever links are on the way.
pub fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

/// Makes a directory with these files, and those above it; `false` where something is there already.
pub fn create_dir(dir: &Path, files: &[(&str, &str)]) -> Result<bool> {
    if fsx::stat(&RealFs, dir)?.is_some() {
        return Ok(false);
    }
    fsx::make_dirs(&RealFs, dir)?;
    for (name, text) in files {
        fsx::replace(&RealFs, &dir.join(name), text.as_bytes())?;
    }
    Ok(true)
}

/// Writes the files of a directory anew, and makes the directory where it is not there.
pub fn refresh(home: &Home, dir: &Path, files: &[(String, String)]) -> Result<()> {
    let fs = home.fs();
    let mut above: Vec<_> = dir.ancestors().collect();
    above.reverse();
    for dir in above {
        if fsx::stat(fs, dir)?.is_none() {
            fsx::make_shared_dir(fs, dir)?;
        }
    }
    for (name, text) in files {
        let file = dir.join(name);
        let was = fsx::read(fs, &file)?;
        match fsx::rewrite(fs, &file, was.as_deref(), text.as_bytes()) {
            // Somebody writes the same files at the same time.
            Ok(()) | Err(disk::Error::Changed { .. } | disk::Error::Conflict { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// A text in the home that a person edits.
#[derive(Debug)]
pub struct Draft<'h> {
    home: &'h Home,
    /// Where it is.
    pub path: PathBuf,
}

impl<'h> Draft<'h> {
    /// Writes it.
    pub fn new(home: &'h Home, text: &str) -> Result<Self> {
        let name = format!("draft-{}.md", std::process::id());
        let path = home.root().join(name);
        fsx::replace(home.fs(), &path, text.as_bytes())?;
        Ok(Self { home, path })
    }

    /// Removes it.
    pub fn discard(&self) -> Result<()> {
        Ok(fsx::remove(self.home.fs(), &self.path)?)
    }
}
