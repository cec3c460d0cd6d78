//! Which repositories are registered, for whoever stands in none of them.
//!
//! Owns finding one by what a person calls it. A record that cannot be read is passed over: the
//! doctor tells of it.

use flagpost_model::RepoId;

use crate::{
    error::{Error, Result},
    home::Home,
    repository::{self, Repository},
};

/// Every registered repository, by name.
pub fn repositories(home: &Home) -> Result<Vec<Repository>> {
    let mut all = Vec::new();
    for id in home.ids_in::<RepoId>(&home.repositories_root())? {
        let record = match repository::record(home, &id) {
            Ok(Some(record)) => record,
            Ok(None) => continue,
            Err(Error::Disk(error)) if error.is_no_such_file() => continue,
            Err(error) => return Err(error),
        };
        all.push(Repository {
            id,
            name: record.name,
            top: record.path.into(),
        });
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

/// The repository that a person means: by its name or id, else by the unique beginning of one.
pub fn repository(home: &Home, given: &str) -> Result<Repository> {
    let all = repositories(home)?;
    let exact = |it: &&Repository| it.name.as_str() == given || it.id.as_str() == given;
    if let Some(exact) = all.iter().find(exact) {
        return Ok(exact.clone());
    }
    let begins = |it: &&Repository| {
        !given.is_empty()
            && (it.name.as_str().starts_with(given) || it.id.as_str().starts_with(given))
    };
    let fitting: Vec<&Repository> = all.iter().filter(begins).collect();
    match fitting[..] {
        [one] => Ok(one.clone()),
        [] => Err(Error::NotFound {
            what: "repository",
            id: given.to_owned(),
            list: None,
        }),
        _ => Err(Error::Ambiguous {
            given: given.to_owned(),
            candidates: fitting.iter().map(|it| it.name.to_string()).collect(),
        }),
    }
}

/// The repository that is meant where nobody says which: the only one.
pub fn only_repository(home: &Home) -> Result<Repository> {
    let mut all = repositories(home)?;
    match (all.pop(), all.is_empty()) {
        (Some(one), true) => Ok(one),
        (None, _) => Err(Error::NoRepository {
            dir: home.root().clone(),
            list: None,
        }),
        (Some(last), false) => Err(Error::Ambiguous {
            given: "the repository".to_owned(),
            candidates: all
                .iter()
                .chain([&last])
                .map(|it| it.name.to_string())
                .collect(),
        }),
    }
}
