//! A file that somebody else's library writes, such as a database.
//!
//! Owns its temporary name, and that the file is durable before it takes its own. Invariant: under
//! the target's name stands what was there before, or all of the new content; of a draft that is
//! given up nothing is left.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{Error, Fs, Result, sync_parent, temporary};

/// A new content of a file, not yet under its name.
#[derive(Debug)]
pub struct StagedFile<'f> {
    fs: &'f dyn Fs,
    temporary: PathBuf,
    target: PathBuf,
    is_revealed: bool,
}

impl<'f> StagedFile<'f> {
    /// Begins one with an empty file, which nobody else may read.
    pub fn of(fs: &'f dyn Fs, target: &Path) -> Result<Self> {
        let temporary = temporary::temporary_path(fs, target);
        fs.create(&temporary).map_err(Error::io("create", target))?;
        Ok(Self {
            fs,
            temporary,
            target: target.to_owned(),
            is_revealed: false,
        })
    }

    /// Where it is written.
    pub fn path(&self) -> &Path {
        &self.temporary
    }

    /// Replaces the target, or creates it; durable on return. Whoever wrote the draft has closed it.
    pub fn publish(mut self) -> Result<()> {
        let synced = self.fs.open_append(&self.temporary);
        let synced = synced.and_then(|mut file| file.sync());
        synced.map_err(Error::io("sync", &self.target))?;
        self.fs
            .rename(&self.temporary, &self.target)
            .map_err(Error::io("replace", &self.target))?;
        self.is_revealed = true;
        sync_parent(self.fs, &self.target)
    }
}

impl Drop for StagedFile<'_> {
    fn drop(&mut self) {
        if !self.is_revealed {
            // Best effort: what stays behind is a dead writer's temporary, which a sweep removes.
            let _: io::Result<()> = self.fs.remove(&self.temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsx::RealFs;

    fn names(dir: &Path) -> Vec<String> {
        let names = RealFs.names(dir).unwrap().into_iter();
        names.map(|it| it.into_string().unwrap()).collect()
    }

    #[test]
    fn it_takes_its_name_whole_or_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("index.db");
        std::fs::write(&target, "before").unwrap();
        let given_up = StagedFile::of(&RealFs, &target).unwrap();
        std::fs::write(given_up.path(), "half").unwrap();
        drop(given_up);
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "before");
        assert_eq!(names(dir.path()), ["index.db"]);

        let draft = StagedFile::of(&RealFs, &target).unwrap();
        std::fs::write(draft.path(), "whole").unwrap();
        draft.publish().unwrap();
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "whole");
        assert_eq!(names(dir.path()), ["index.db"]);
    }
}
