//! What sessions leave behind: logs, contexts, results, what agents printed.
//!
//! Owns their rows and texts. A file is one text; one that is too large to be read whole is reported.

use flagpost_disk::{dialects::session::layout, fsx};
use flagpost_model::{
    RepoId,
    search::{SearchField, SearchKind},
};
use rusqlite::params;

use super::{Projection, TextOwner, scan_dir};
use crate::{
    error::Result,
    index::{
        Owner,
        dir_cache::{FileTable, stamp},
    },
    repository::Repository,
    sessions::Sessions,
};

impl Projection<'_> {
    pub(super) fn sessions(&mut self, repo: &RepoId) -> Result<()> {
        // One that was never registered in full has none.
        let Some(repository) = Repository::registered(self.home, repo)? else {
            return Ok(());
        };
        let sessions = Sessions::of(self.home, &repository);
        for (session, dir) in sessions.dirs()? {
            let is_text = |name: &str| name.ends_with(".md") && !name.starts_with('.');
            self.files(repo, &session, "", &dir, &is_text)?;
            let printed = dir.join(layout::LOGS);
            self.files(repo, &session, "logs/", &printed, &|name| {
                !name.starts_with('.')
            })?;
        }
        Ok(())
    }

    fn files(
        &mut self,
        repo: &RepoId,
        session: &str,
        below: &str,
        dir: &std::path::Path,
        wanted: &(dyn Fn(&str) -> bool + Sync),
    ) -> Result<()> {
        let files = scan_dir(self.home, dir, wanted)?;
        let mut shelf = self.dir_cache(FileTable::Log, dir, repo.as_str())?;
        shelf.load()?;
        for (file, stat) in files {
            let name = file.to_string_lossy();
            let stamp = stamp(&[stat], self.looked_at);
            if stat.kind != fsx::FileKind::File || shelf.has(&name, &stamp)? {
                continue;
            }
            let text = match fsx::read_lossy(self.home.fs(), &dir.join(&file)) {
                Ok(Some(text)) => text,
                Ok(None) => {
                    shelf.forget(&name)?;
                    continue;
                }
                Err(error) => {
                    shelf.forget(&name)?;
                    let file = Some(format!("{session}/{below}{name}"));
                    self.fault(Owner::Repository(repo.clone()), file, error.to_string());
                    continue;
                }
            };
            let row = self
                .db
                .prepare_cached(
                    "INSERT INTO log(place, name, stamp, repo, session) VALUES (?, ?, ?, ?, ?) \
                     ON CONFLICT(place, name) DO UPDATE SET stamp = excluded.stamp RETURNING id",
                )?
                .query_row(
                    params![shelf.place(), name, stamp, repo.as_str(), session],
                    |row| row.get(0),
                )?;
            let source = TextOwner {
                kind: SearchKind::Session,
                thing: row,
                scope: repo.as_str(),
                name: &format!("{session}/{below}{name}"),
                at: stat.modified,
            };
            self.texts(&source, &[(SearchField::Text, 1, &text)])?;
        }
        shelf.forget_the_rest()
    }
}
