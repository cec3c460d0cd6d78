//! Lists in other directories than the home (`tasks.roots`).
//!
//! Owns where a list is looked for: in the home, then in each root in order; the first that has it
//! wins. Invariants: a list's directory lies in its root, symlinks included; a root that is not
//! there costs nothing, one that cannot be read costs no other; nothing is ever made in a root but
//! files of a list that is there.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use flagpost_disk::{self as disk, dialects::claude_tasks::is_task_name, fsx};
use flagpost_model::{ListId, ListRef};

use crate::{
    config::{
        Config,
        keys::{self, SettingSpec},
    },
    error::{Error, Result},
    home::Home,
};

/// A root, as it was found.
#[derive(Debug)]
pub struct Root {
    /// The directory: resolved where it is there, else as declared.
    pub dir: PathBuf,
    /// What is in it.
    pub standing: RootStatus,
}

/// Whether a root can be used.
#[derive(Debug)]
pub enum RootStatus {
    /// It has these lists, in order.
    Readable {
        /// Those that are in use.
        lists: Vec<ListId>,
        /// Those that are not, because a directory that comes first has one of that name.
        shadowed: Vec<Shadowed>,
    },
    /// It is not there.
    Missing,
    /// It cannot be read.
    Unreadable(disk::Error),
}

/// A list that cannot be reached.
#[derive(Debug, PartialEq, Eq)]
pub struct Shadowed {
    /// Its name.
    pub list: ListId,
    /// The directory whose list of that name is in use.
    pub by: PathBuf,
}

/// Every list that is in use, by name: those of the home and of every root that can be read.
pub fn lists(home: &Home) -> Result<Vec<ListId>> {
    let mut ids = home.lists()?;
    for root in scan(home)? {
        if let RootStatus::Readable { lists, .. } = root.standing {
            ids.extend(lists);
        }
    }
    ids.sort();
    Ok(ids)
}

/// The lists whose names no list of ours can have, by name: directories of the home and of every root
/// that can be read, with a task in them.
pub fn foreign(home: &Home) -> Result<Vec<ListRef>> {
    let (fs, mut found) = (home.fs(), BTreeSet::new());
    let mut roots: Vec<PathBuf> = fs.canonical(&home.tasks_root()).into_iter().collect();
    roots.extend(
        declared(home)?
            .into_iter()
            .filter_map(|(_, real)| real.ok()),
    );
    for root in roots {
        for name in fs.names(&root).unwrap_or_default() {
            let Some(list) = name.to_str().and_then(ListRef::foreign) else {
                continue;
            };
            if let Ok(Some(dir)) = list_dir(home, &root, list.as_str()) {
                let files = fs.names(&dir).unwrap_or_default();
                let mut files = files.iter();
                if files.any(|file| is_task_name(file.as_encoded_bytes())) {
                    found.insert(list);
                }
            }
        }
    }
    Ok(found.into_iter().collect())
}

/// Looks at every root.
pub fn scan(home: &Home) -> Result<Vec<Root>> {
    let declared = declared(home)?;
    if declared.is_empty() {
        return Ok(Vec::new());
    }
    let tasks = home.tasks_root();
    let of_home = home.lists()?.into_iter().map(|list| (list, tasks.clone()));
    let mut seen: BTreeMap<ListId, PathBuf> = of_home.collect();
    let mut roots = Vec::new();
    for (dir, real) in declared {
        let found = real.and_then(|real| {
            let lists = lists_in(home, &real)?;
            Ok((real, lists))
        });
        roots.push(match found {
            Ok((dir, found)) => {
                let (mut lists, mut shadowed) = (Vec::new(), Vec::new());
                for list in found {
                    match seen.get(&list).cloned() {
                        Some(by) => shadowed.push(Shadowed { list, by }),
                        None => {
                            seen.insert(list.clone(), dir.clone());
                            lists.push(list);
                        }
                    }
                }
                let standing = RootStatus::Readable { lists, shadowed };
                Root { dir, standing }
            }
            Err(error) if error.is_not_found() => Root {
                dir,
                standing: RootStatus::Missing,
            },
            Err(error) => Root {
                dir,
                standing: RootStatus::Unreadable(error),
            },
        });
    }
    Ok(roots)
}

/// The directory of the list of this name: in the home, else in the first root that has it.
pub(crate) fn dir_of(home: &Home, list: &str) -> Result<Option<PathBuf>> {
    let root = home.tasks_root();
    // A file among the lists is none.
    match list_dir(home, &root, list)? {
        Some(_) => Ok(Some(root.join(list))),
        None => find(home, list),
    }
}

/// The directory of the list of this name in the first root that has it. Where none has it and one
/// could not be looked at, it may be there: that is an error.
fn find(home: &Home, list: &str) -> Result<Option<PathBuf>> {
    let mut unsure = None;
    for (_, real) in declared(home)? {
        match real.and_then(|root| list_dir(home, &root, list)) {
            Ok(Some(dir)) => return Ok(Some(dir)),
            Ok(None) => {}
            Err(error) if error.is_not_found() => {}
            Err(error) => unsure = unsure.or(Some(error)),
        }
    }
    unsure.map_or(Ok(None), |error| Err(error.into()))
}

/// The roots as declared, and resolved; each directory once, and the home's own not at all.
fn declared(home: &Home) -> Result<Vec<(PathBuf, disk::Result<PathBuf>)>> {
    let dirs = Config::read(home)?.get(&keys::TASKS_ROOTS)?;
    let mut seen: Vec<PathBuf> = home
        .fs()
        .canonical(&home.tasks_root())
        .into_iter()
        .collect();
    let mut roots = Vec::new();
    for dir in dirs.unwrap_or_default() {
        let dir = expand(home, &keys::TASKS_ROOTS.about, &dir)?;
        let real = home.fs().canonical(&dir);
        if let Ok(real) = &real {
            if seen.contains(real) {
                continue;
            }
            seen.push(real.clone());
        }
        let real = real.map_err(disk::Error::io("resolve", &dir));
        roots.push((dir, real));
    }
    Ok(roots)
}

/// A directory of a setting, whose `~` is the user's home.
pub(crate) fn expand(home: &Home, setting: &SettingSpec, dir: &str) -> Result<PathBuf> {
    let Some(rest) = dir.strip_prefix('~') else {
        return Ok(PathBuf::from(dir));
    };
    match &home.environment().user_home {
        Some(user) => Ok(user.join(rest.trim_start_matches('/'))),
        None => Err(Error::Invalid {
            what: setting.name.to_owned(),
            reason: format!("{dir} stands below ~, and $HOME is not set"),
        }),
    }
}

/// The lists of a root, in order. What has no list's name, or is no directory within the root, is
/// none.
fn lists_in(home: &Home, root: &Path) -> disk::Result<Vec<ListId>> {
    let names = home
        .fs()
        .names(root)
        .map_err(disk::Error::io("list", root))?;
    let ids = names.iter().filter_map(|name| name.to_str()?.parse().ok());
    let is_list = |id: &ListId| matches!(list_dir(home, root, id.as_str()), Ok(Some(_)));
    let mut lists: Vec<ListId> = ids.filter(is_list).collect();
    lists.sort();
    Ok(lists)
}

/// The resolved directory of this name in a resolved root, if there is one.
fn list_dir(home: &Home, root: &Path, name: &str) -> disk::Result<Option<PathBuf>> {
    let Some(dir) = fsx::within_if_there(home.fs(), root, &root.join(name))? else {
        return Ok(None);
    };
    let stat = fsx::stat(home.fs(), &dir)?;
    let is_dir = stat.is_some_and(|stat| stat.kind == fsx::FileKind::Dir);
    Ok(is_dir.then_some(dir))
}
