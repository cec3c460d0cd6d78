//! The names of lists in a fleet.
//!
//! Owns that a list of a shared repository is nobody else's here. A list is a directory of its name, and a
//! home has one of each; so has a fleet ([`Order::name_list`](super::Order::name_list)). What lies under a
//! name that another one has is never mixed with it.

use flagpost_disk::{dialects::claude_tasks, fsx};
use flagpost_model::{ListId, RepoId};

use super::OrderRefusal;
use crate::{
    error::{Error, Result},
    home::Home,
    list::List,
    repository::Repository,
    roots,
};

/// The lists of a repository.
pub fn lists(home: &Home, repo: &RepoId) -> Result<Vec<ListId>> {
    let mut lists = Vec::new();
    for id in roots::lists(home)? {
        let of = List::open(home, &id)?.repository();
        if of.is_ok_and(|it| it == *repo) {
            lists.push(id);
        }
    }
    Ok(lists)
}

/// Refuses a list whose name another one has here.
pub fn must_be_free(home: &Home, repo: &RepoId, id: &ListId) -> Result<()> {
    own(home, repo, id).map(drop)
}

/// The list of a shared repository, made where there is none.
pub(super) fn own_or_new<'h>(home: &'h Home, repo: &RepoId, id: &ListId) -> Result<List<'h>> {
    if let Some(list) = own(home, repo, id)? {
        return Ok(list);
    }
    let repository = Repository::registered(home, repo)?;
    let repository = repository.ok_or_else(|| OrderRefusal::Frozen {
        repo: repo.clone(),
        reason: "it is not registered here".to_owned(),
    })?;
    List::open_or_create(home, id, &repository)
}

/// The repository's list of this name, where it is there.
fn own<'h>(home: &'h Home, repo: &RepoId, id: &ListId) -> Result<Option<List<'h>>> {
    let list = match List::open(home, id) {
        Err(Error::NotFound { .. }) => return Ok(None),
        opened => opened?,
    };
    let is_task = |name: &std::ffi::OsString| claude_tasks::is_task_name(name.as_encoded_bytes());
    match list.repository() {
        Ok(of) if of == *repo => Ok(Some(list)),
        // A crash may have left it so.
        Err(Error::NoRepository { .. })
            if !fsx::names(home.fs(), list.dir())?.iter().any(is_task) =>
        {
            Ok(None)
        }
        Ok(_) | Err(Error::NoRepository { .. }) => Err(OrderRefusal::ListHere {
            repo: repo.clone(),
            list: id.clone(),
            dir: list.dir().clone(),
        }
        .into()),
        Err(error) => Err(error),
    }
}
