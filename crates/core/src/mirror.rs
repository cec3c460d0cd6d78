//! The lists of this home where another program looks for its own (`tasks.mirror`).
//!
//! Owns one link for each list, to its directory, so that whatever either side writes is in the same
//! files. Invariants: it makes links and nothing else; what is there under a list's name is left as it
//! is, whoever made it, and nothing is ever removed; a mirror within our own home is refused.

use std::path::PathBuf;

use flagpost_disk::fsx;
use flagpost_model::ListId;

use crate::{
    config::{Config, keys},
    error::{Error, Result},
    home::Home,
    roots::expand,
};

/// A list that does not appear in the mirror.
#[derive(Debug, PartialEq, Eq)]
pub struct Absent {
    /// The list.
    pub list: ListId,
    /// Where it would appear.
    pub path: PathBuf,
    /// Whether something else has its name there.
    pub is_taken: bool,
}

/// Has every list appear in the mirror, where one is set, whose name is free there; those that do not.
pub fn keep(home: &Home) -> Result<Vec<Absent>> {
    let mut taken = Vec::new();
    for absent in missing(home)? {
        if absent.is_taken {
            taken.push(absent);
            continue;
        }
        if let Some(dir) = absent.path.parent() {
            home.make_dirs(dir)?;
        }
        let list = home.fs().canonical(&home.list_dir(&absent.list));
        let list = list.map_err(flagpost_disk::Error::io("resolve", &absent.path))?;
        fsx::link(&list, &absent.path)?;
    }
    Ok(taken)
}

/// The lists that do not appear in the mirror. Changes nothing.
pub fn missing(home: &Home) -> Result<Vec<Absent>> {
    let Some(dir) = Config::read(home)?.get(&keys::TASKS_MIRROR)? else {
        return Ok(Vec::new());
    };
    let dir = place(home, &dir)?;
    let fs = home.fs();
    let mut missing = Vec::new();
    for list in home.lists()? {
        // One that leads elsewhere is not ours to show.
        let here = fsx::within_if_there(fs, &home.tasks_root(), &home.list_dir(&list));
        let Ok(Some(here)) = here else { continue };
        let path = dir.join(list.as_str());
        let is_there = fsx::stat(fs, &path)?.is_some();
        if !is_there || fs.canonical(&path).ok() != Some(here) {
            missing.push(Absent {
                list,
                path,
                is_taken: is_there,
            });
        }
    }
    Ok(missing)
}

/// Where a mirror is that is set so.
pub(crate) fn place(home: &Home, dir: &str) -> Result<PathBuf> {
    let dir = expand(home, &keys::TASKS_MIRROR.about, dir)?;
    let real = fsx::within_if_there(home.fs(), home.root(), &dir);
    if dir.starts_with(home.root()) || matches!(real, Ok(Some(_))) {
        return Err(Error::Invalid {
            what: keys::TASKS_MIRROR.about.name.to_owned(),
            reason: format!("{} lies in Flagpost's own home", dir.display()),
        });
    }
    Ok(dir)
}
