//! Repositories: who they are and where their history lies.
//!
//! Owns the repo-id (`tree.md` §1): a UUID in the repository's git configuration, shared by its
//! linked worktrees, or in `.flagpost/repo-id` where there is no git. It must never change a
//! repository beyond that one entry.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use flagpost_disk::{
    dialects::claude_tasks,
    fsx::{self, Batch},
};
use flagpost_model::{ListId, RepoId, WorkerId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    git::Git,
    history::{self, Entry, History},
    home::Home,
    roots,
};

/// The key in the repository's git configuration.
const KEY: &str = "flagpost.repoId";

/// Where the id is without git.
const PLAIN_DIR: &str = ".flagpost";

/// A registered repository, seen from a directory in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// Its id.
    pub id: RepoId,
    /// Its name, which is also the name of its default list.
    pub name: ListId,
    /// The top of the working tree we stand in.
    pub top: PathBuf,
}

/// `repo.json`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RepositoryRecord {
    id: RepoId,
    pub(crate) name: ListId,
    /// For people: what is not UTF-8 in it is shown as U+FFFD.
    pub(crate) path: String,
    created_at: Timestamp,
}

/// The top of a working tree, and what keeps its id.
enum RepositoryTop {
    Git(PathBuf),
    Plain(PathBuf),
}

impl Repository {
    /// The registered repository that `dir` lies in, if any.
    pub fn find(home: &Home, dir: &Path) -> Result<Option<Self>> {
        let Some(place) = place(home, dir)? else {
            return Ok(None);
        };
        let Some(id) = place.id(home)? else {
            return Ok(None);
        };
        Ok(record(home, &id)?.map(|record| Self {
            id,
            name: record.name,
            top: place.into_top(),
        }))
    }

    /// A registered repository, seen from the top that it was registered with; none where it was not.
    pub(crate) fn registered(home: &Home, id: &RepoId) -> Result<Option<Self>> {
        Ok(record(home, id)?.map(|record| Self {
            id: id.clone(),
            name: record.name,
            top: PathBuf::from(record.path),
        }))
    }

    /// The top of the working tree that `dir` lies in, registered or not; outside of one, `dir`.
    pub fn top(home: &Home, dir: &Path) -> Result<PathBuf> {
        Ok(place(home, dir)?.map_or_else(|| dir.to_owned(), RepositoryTop::into_top))
    }

    /// Whether `dir` lies in a git working tree, registered or not.
    pub fn is_git(home: &Home, dir: &Path) -> Result<bool> {
        Ok(matches!(place(home, dir)?, Some(RepositoryTop::Git(_))))
    }

    /// Makes `dir` a git working tree.
    pub fn create_git(dir: &Path) -> Result<()> {
        git(dir, &["init", "--quiet"]).map(drop)
    }

    /// Registers the repository that `dir` lies in; outside of git, `dir` itself. Doing it again
    /// changes nothing.
    pub fn register(home: &Home, dir: &Path, actor: &WorkerId) -> Result<Self> {
        // Whoever made a directory in the home had made the home durable.
        if fsx::stat(home.fs(), &home.repositories_root())?.is_none() {
            home.make_dirs(home.root())?;
        }
        home.transact(|| {
            let _lock = home.lock()?;
            let place = place(home, dir)?.unwrap_or_else(|| RepositoryTop::Plain(dir.to_owned()));
            let id = match place.id(home)? {
                Some(id) => id,
                None => place.assign(home)?,
            };
            if let Some(record) = record(home, &id)? {
                return Ok(Self {
                    id,
                    name: record.name,
                    top: place.into_top(),
                });
            }
            // Whoever assigned it may have been killed before its sync; git does none.
            place.sync(home)?;
            let top = place.into_top();
            let name = free_name(home, &top, &id)?;
            let at = home.now();
            let record = RepositoryRecord::of(&id, &name, &top, at);
            let mut batch = Batch::new();
            record.put(home, &mut batch)?;
            let entry = Entry::new(history::Kind::RepositoryRegistered).detail("path", record.path);
            let sealed = batch.stage(home.fs())?;
            // Killed between the two, the next registration says it again.
            History::of(home, &id).record(actor, at, vec![entry])?;
            sealed.publish()?;
            Ok(Self { id, name, top })
        })
    }

    /// Makes the repository that `dir` lies in one of the fleet's, under its id and name. No history
    /// begins here: the fleet has one. Doing it again changes nothing.
    pub fn adopt(home: &Home, dir: &Path, id: &RepoId, name: &ListId) -> Result<Self> {
        home.make_dirs(home.root())?;
        let _lock = home.lock()?;
        let place = place(home, dir)?.unwrap_or_else(|| RepositoryTop::Plain(dir.to_owned()));
        match place.id(home)? {
            Some(own) if own == *id => {}
            Some(own) if record(home, &own)?.is_some() => {
                return Err(Error::Invalid {
                    what: place.into_top().display().to_string(),
                    reason: format!(
                        "it is registered here as repository {own}, with a history of its own, and the fleet knows it as {id}; join in another clone, or under another FLAGPOST_HOME"
                    ),
                });
            }
            Some(_) | None => place.set(home, id)?,
        }
        place.sync(home)?;
        let top = place.into_top();
        if record(home, id)?.is_none() {
            let mut batch = Batch::new();
            RepositoryRecord::of(id, name, &top, home.now()).put(home, &mut batch)?;
            batch.stage(home.fs())?.publish()?;
        }
        Ok(Self {
            id: id.clone(),
            name: name.clone(),
            top,
        })
    }
}

impl RepositoryRecord {
    fn of(id: &RepoId, name: &ListId, top: &Path, at: Timestamp) -> Self {
        Self {
            id: id.clone(),
            name: name.clone(),
            path: top.display().to_string(),
            created_at: at,
        }
    }

    fn put(&self, home: &Home, batch: &mut Batch) -> Result<()> {
        let text = serde_json::to_value(self).map(|value| format!("{value:#}\n"));
        let text = text.map_err(|error| Error::Invalid {
            what: self.path.clone(),
            reason: error.to_string(),
        })?;
        home.make_dirs(&home.repository_dir(&self.id))?;
        batch.put(record_path(home, &self.id), text.into_bytes());
        Ok(())
    }
}

impl RepositoryTop {
    fn into_top(self) -> PathBuf {
        match self {
            Self::Git(top) | Self::Plain(top) => top,
        }
    }

    fn id(&self, home: &Home) -> Result<Option<RepoId>> {
        let text = match self {
            Self::Git(top) => match plainly_configured(home, top) {
                Some(id) => Some(id),
                None => git(top, &["config", "--local", "--get", KEY])?,
            },
            Self::Plain(top) => fsx::read(home.fs(), &plain_id(top))?
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        };
        text.map(|text| Ok(text.trim().parse()?)).transpose()
    }

    fn assign(&self, home: &Home) -> Result<RepoId> {
        let id = home.fs().random_id().to_string().parse()?;
        self.set(home, &id)?;
        Ok(id)
    }

    fn set(&self, home: &Home, id: &RepoId) -> Result<()> {
        match self {
            Self::Git(top) => {
                git(top, &["config", "--local", KEY, id.as_str()])?;
            }
            Self::Plain(top) => {
                let dir = top.join(PLAIN_DIR);
                fsx::must_not_be_linked(home.fs(), top, &dir)?;
                home.make_dirs(&dir)?;
                fsx::replace(home.fs(), &plain_id(top), format!("{id}\n").as_bytes())?;
            }
        }
        Ok(())
    }

    /// Makes the id durable.
    fn sync(&self, home: &Home) -> Result<()> {
        if let Self::Plain(top) = self {
            home.make_dirs(&top.join(PLAIN_DIR))?;
        }
        Ok(fsx::sync(home.fs(), &self.keeper()?)?)
    }

    /// The file that keeps the id.
    fn keeper(&self) -> Result<PathBuf> {
        match self {
            Self::Plain(top) => Ok(plain_id(top)),
            Self::Git(top) => {
                let dir = ask_git(top, &["rev-parse", "--git-common-dir"])?.unwrap_or_default();
                let dir = dir.strip_suffix(b"\n").unwrap_or(&dir);
                Ok(top.join(OsStr::from_bytes(dir)).join("config"))
            }
        }
    }
}

fn plain_id(top: &Path) -> PathBuf {
    top.join(PLAIN_DIR).join("repo-id")
}

fn place(home: &Home, dir: &Path) -> Result<Option<RepositoryTop>> {
    for top in dir.ancestors() {
        if fsx::stat(home.fs(), &top.join(".git"))?.is_some() {
            return Ok(Some(RepositoryTop::Git(top.to_owned())));
        }
        if fsx::stat(home.fs(), &plain_id(top))?.is_some() {
            return Ok(Some(RepositoryTop::Plain(top.to_owned())));
        }
    }
    Ok(None)
}

/// The id that the repository around `dir` carries, registered or not, and its top.
pub(crate) fn carried(
    home: &Home,
    dir: &Path,
) -> Result<Option<(PathBuf, Result<Option<RepoId>>)>> {
    let Some(place) = place(home, dir)? else {
        return Ok(None);
    };
    let id = place.id(home);
    Ok(Some((place.into_top(), id)))
}

/// What git says of its version; `None` where it cannot be run.
pub(crate) fn git_version() -> Option<String> {
    git(Path::new("/"), &["--version"]).ok().flatten()
}

pub(crate) fn record_path(home: &Home, id: &RepoId) -> PathBuf {
    home.repository_dir(id).join("repo.json")
}

/// The record of a repository; none where it is not registered.
pub(crate) fn record(home: &Home, id: &RepoId) -> Result<Option<RepositoryRecord>> {
    let path = record_path(home, id);
    let Some(bytes) = fsx::read(home.fs(), &path)? else {
        return Ok(None);
    };
    let record =
        serde_json::from_slice(&bytes).map_err(|error| flagpost_disk::Error::Malformed {
            path,
            reason: error.to_string(),
        })?;
    Ok(Some(record))
}

/// The directory's name, unless another repository's list has it.
fn free_name(home: &Home, top: &Path, id: &RepoId) -> Result<ListId> {
    let plain: String = top
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "._-".contains(c) {
                c
            } else {
                '-'
            }
        })
        .skip_while(|c| !c.is_ascii_alphanumeric())
        .take(flagpost_model::id::MAX_LEN - 9)
        .collect();
    let plain: ListId = plain.parse().or_else(|_| "repository".parse())?;
    let dir = roots::dir_of(home, plain.as_str())?;
    let dir = dir.unwrap_or_else(|| home.list_dir(&plain));
    let binding = dir.join(claude_tasks::REPOSITORY);
    let bound_elsewhere =
        fsx::read_lossy(home.fs(), &binding)?.is_some_and(|text| text.trim() != id.as_str());
    let mut taken = false;
    for other in home.ids_in::<RepoId>(&home.repositories_root())? {
        taken |= match record(home, &other) {
            Ok(record) => record.is_some_and(|record| record.name == plain),
            // Another repository's damage is its own affair; its list is bound to it.
            Err(Error::Disk(flagpost_disk::Error::Malformed { .. })) => false,
            Err(error) => return Err(error),
        };
    }
    if !taken && !bound_elsewhere {
        return Ok(plain);
    }
    let short: String = id.as_str().chars().take(8).collect();
    Ok(format!("{plain}-{short}").parse()?)
}

/// The id as git itself writes it into a configuration of one file, which every verb would otherwise
/// start a process for. Whatever is spelled or spread in another way is git's to read.
fn plainly_configured(home: &Home, top: &Path) -> Option<String> {
    let path = top.join(".git").join("config");
    let bytes = home.fs().read(&path, 0, fsx::READ_LIMIT).ok()?;
    plain_value(std::str::from_utf8(&bytes).ok()?).map(str::to_owned)
}

fn plain_value(config: &str) -> Option<&str> {
    let lower = config.to_ascii_lowercase();
    if lower.contains("[include") || lower.matches("repoid").count() != 1 {
        return None;
    }
    let (before, after) = config.split_once("\n\trepoId = ")?;
    let (_, section) = before.rsplit_once('[')?;
    let is_ours = section.strip_prefix("flagpost]\n").is_some_and(|rest| {
        rest.lines().all(|line| line.starts_with('\t')) && !rest.ends_with('\\')
    }) || section == "flagpost]";
    let (value, _) = after.split_once('\n')?;
    (is_ours && value.parse::<RepoId>().is_ok()).then_some(value)
}

/// Asks git; `None` when it answers with exit code 1, which for `config --get` means "not set".
fn git(dir: &Path, args: &[&str]) -> Result<Option<String>> {
    let answer = ask_git(dir, args)?;
    Ok(answer.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// As [`git`], in bytes, for paths.
fn ask_git(dir: &Path, args: &[&str]) -> Result<Option<Vec<u8>>> {
    let mut git = Git::at(dir).args(args);
    let answer = git.ask()?;
    match answer.code() {
        Some(0) => Ok(Some(answer.out)),
        Some(1) => Ok(None),
        _ => Err(git.refused(&answer).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linked_worktrees_keep_the_id_in_the_file_that_is_synced() {
        let scratch = flagpost_testkit::scratch::scratch();
        let top = scratch.path().join("top");
        let linked = scratch.path().join("linked");
        fsx::make_dirs(&fsx::RealFs, &top).unwrap();
        Repository::create_git(&top).unwrap();
        let author = ["-c", "user.name=a", "-c", "user.email=a@b"];
        let commit = ["commit", "--quiet", "--allow-empty", "-m", "x"];
        git(&top, &[&author[..], &commit].concat()).unwrap();
        let path = linked.to_str().unwrap();
        git(&top, &["worktree", "add", "--quiet", path]).unwrap();
        git(&linked, &["config", "--local", KEY, "the-id"]).unwrap();
        let [a, b] = [top, linked].map(|top| {
            let keeper = RepositoryTop::Git(top).keeper().unwrap();
            fsx::sync(&fsx::RealFs, &keeper).unwrap();
            keeper.canonicalize().unwrap()
        });
        assert_eq!(a, b);
        let text = fsx::read_lossy(&fsx::RealFs, &a).unwrap().unwrap();
        assert!(text.contains("the-id"), "{text}");
    }

    #[test]
    fn the_id_is_read_without_git_only_where_git_wrote_it_in_its_plain_way() {
        let id = "6e7ee871-a3a3-4410-a3f9-1c49236124c7";
        let plain = format!("[core]\n\tbare = false\n[flagpost]\n\trepoId = {id}\n");
        assert_eq!(plain_value(&plain), Some(id));
        let among_others = format!("[flagpost]\n\tx = 1\n\trepoId = {id}\n[user]\n\tname = a\n");
        assert_eq!(plain_value(&among_others), Some(id));
        for config in [
            String::new(),
            "[flagpost]\n\trepoId = no id at all!\n".to_owned(),
            format!("[other]\n\trepoId = {id}\n"),
            format!("[flagpost \"x\"]\n\trepoId = {id}\n"),
            format!("[Flagpost]\n\trepoId = {id}\n"),
            format!("[flagpost]\n\trepoId = \"{id}\"\n"),
            format!("[flagpost]\n\trepoId = {id} # mine\n"),
            format!("[flagpost]\n\trepoId = {id}"),
            format!("[flagpost]\n#\trepoId = {id}\n"),
            format!("[flagpost]\n\tx = a\\\n\trepoId = {id}\n"),
            format!("{plain}[include]\n\tpath = other\n"),
            format!("{plain}[flagpost]\n\trepoid = {id}\n"),
        ] {
            assert_eq!(plain_value(&config), None, "{config}");
        }
    }
}
