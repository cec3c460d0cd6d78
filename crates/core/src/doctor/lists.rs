//! Lists as a whole: their names, the repository each is bound to, the session each points to.

use flagpost_disk::{
    dialects::claude_tasks::{POINTER, REPOSITORY},
    fsx,
};
use flagpost_model::{ListId, RepoId, finding::Code};

use super::{
    Finding, Fix, describe,
    world::{RepositoryState, World},
};
use crate::{
    error::{Error, Result},
    list::List,
    mirror::{self, Instead},
    repository::record_path,
    roots::{self, RootStatus, Shadowed},
    sessions::shown,
    shell::quoted,
};

/// Directories among the lists that nothing reads, and lists that are only read, since nothing of ours
/// could name them.
pub(super) fn names(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    // A setting that cannot be read is the settings' to tell.
    let foreign = roots::foreign(world.home).unwrap_or_default();
    for list in &foreign {
        let list = List::find(world.home, list)?;
        if let Err(error) = list.must_be_writable() {
            let dir = quoted(list.dir());
            let hint = format!(
                "to change it, rename {dir} where its program allows that, or take its tasks over \
                 with flagpost import {dir}"
            );
            let finding = Finding::new(Code::ListForeign, error.to_string());
            findings.push(finding.at(list.dir()).by_hand(hint));
        }
    }
    let root = world.home.tasks_root();
    let Ok(entries) = world
        .home
        .fs()
        .scan_dir(&root, &|name| !name.starts_with(b"."))
    else {
        // There are no lists, or it was told that they cannot be read.
        return Ok(());
    };
    for (name, stat) in entries {
        let is_read = |name: &str| {
            name.parse::<ListId>().is_ok() || foreign.iter().any(|list| list.as_str() == name)
        };
        let is_id = name.to_str().is_some_and(is_read);
        if stat.kind == fsx::FileKind::Dir && !is_id {
            let what = format!("{} is no list's name", name.to_string_lossy());
            let hint = "rename it to letters, digits, '.', '_' and '-', if it is a list";
            let finding = Finding::new(Code::ListMisnamed, what);
            findings.push(finding.at(root.join(name)).by_hand(hint));
        } else if stat.kind == fsx::FileKind::File
            && name.to_str().is_some_and(|it| has_list(world, it))
        {
            let path = root.join(&name);
            let what = format!(
                "a file stands in the place of list {}",
                name.to_string_lossy()
            );
            let hint = format!(
                "move it away, and run 'flagpost doctor' again: {}",
                quoted(&path)
            );
            let finding = Finding::new(Code::ListUnreadable, what);
            findings.push(finding.at(path).by_hand(hint));
        }
    }
    Ok(())
}

/// Whether a repository has a list of this name, or its history tells of one. Another file among the lists is
/// somebody's own.
fn has_list(world: &World<'_>, name: &str) -> bool {
    let mut told = world.repositories.values().flat_map(|it| &it.survey);
    told.any(|it| it.lists.contains(name)) || world.places.iter().any(|it| it.name.as_str() == name)
}

/// The directories that `tasks.roots` names. A setting that cannot be read is the settings' to tell.
pub(super) fn roots(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for root in roots::scan(world.home).unwrap_or_default() {
        let dir = quoted(&root.dir);
        match root.standing {
            RootStatus::Missing => {
                let what = format!("{dir} of tasks.roots is not there");
                findings.push(Finding::new(Code::RootMissing, what).at(&root.dir));
            }
            RootStatus::Unreadable(error) => {
                let finding = Finding::new(Code::RootUnreadable, error.to_string());
                let hint = format!("make {dir} readable for you, or take it out of tasks.roots");
                findings.push(finding.at(&root.dir).by_hand(hint));
            }
            RootStatus::Readable { shadowed, .. } => {
                for Shadowed { list, by } in shadowed {
                    let first = quoted(&by);
                    let what = format!("{list} in {dir} is hidden by the one in {first}");
                    let finding = Finding::new(Code::ListShadowed, what);
                    let finding = finding.at(root.dir.join(list.as_str())).list(&list);
                    findings.push(finding.by_hand("rename the directory of one of the two"));
                }
            }
        }
    }
    Ok(())
}

/// What does not appear where `tasks.mirror` has it appear. A setting that cannot be read is the
/// settings' to tell.
pub(super) fn mirror(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for absent in mirror::missing(world.home).unwrap_or_default() {
        let (list, dir) = (&absent.list, absent.path.parent().unwrap_or(&absent.path));
        let (why, hint) = match absent.there {
            Instead::Other => (
                "something else has its name",
                format!("rename one of the two, if {} may go", quoted(&absent.path)),
            ),
            Instead::Nothing => (
                "nothing is there",
                format!(
                    "'flagpost config set tasks.mirror {}' makes it",
                    quoted(dir)
                ),
            ),
            Instead::OldCopy => (
                "its copy is not up to date",
                format!(
                    "'flagpost config set tasks.mirror {}' renews it",
                    quoted(dir)
                ),
            ),
        };
        let what = format!("list {list} does not appear in {}: {why}", quoted(dir));
        let finding = Finding::new(Code::MirrorIncomplete, what);
        findings.push(finding.at(&absent.path).list(list).by_hand(hint));
    }
    Ok(())
}

/// What a list's binding says.
enum Binding {
    Bound,
    Missing,
    Broken(String),
}

fn binding(list: &List<'_>) -> Result<Binding> {
    let home = list.home;
    Ok(match list.repository() {
        Ok(id) if fsx::stat(home.fs(), &record_path(home, &id))?.is_some() => Binding::Bound,
        Ok(id) => Binding::Broken(format!(
            "list {} names repository {id}, which is not registered",
            list.id()
        )),
        Err(Error::NoRepository { .. }) => Binding::Missing,
        Err(error @ Error::LostRepository { .. }) => Binding::Broken(error.to_string()),
        Err(error) => return Err(error),
    })
}

/// Whether a list has to be bound anew, as it is now.
pub(super) fn is_unbound(list: &List<'_>) -> Result<bool> {
    Ok(!matches!(binding(list)?, Binding::Bound))
}

/// The bindings of all lists. One that somebody made by hand needs none yet.
pub(super) fn bindings(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for seen in &world.lists {
        let path = seen.list.dir().join(REPOSITORY);
        let (code, what) = match binding(&seen.list) {
            Ok(Binding::Bound) => continue,
            Ok(Binding::Missing) if !seen.is_ours() => continue,
            Ok(Binding::Missing) => {
                let what = format!("list {} names no repository", seen.id());
                (Code::BindingMissing, what)
            }
            Ok(Binding::Broken(what)) => (Code::BindingBroken, what),
            Err(error) => (Code::BindingBroken, describe(&error)),
        };
        let finding = Finding::new(code, what).at(&path).list(seen.id());
        findings.push(match owner(world, seen.id()) {
            Some(id) => finding.fix(Fix::Bind(seen.id().clone(), id)),
            None => finding.by_hand(format!(
                "write the id of its repository, as 'git config flagpost.repoId' tells it there, into {}",
                quoted(&path)
            )),
        });
    }
    Ok(())
}

/// The repository that a list must have belonged to: the only one whose history tells of it, else
/// the only one that is called so.
fn owner(world: &World<'_>, list: &ListId) -> Option<RepoId> {
    let known = || {
        world
            .repositories
            .iter()
            .filter(|(_, it)| it.is_registered())
    };
    let tells = |it: &RepositoryState| it.survey.iter().any(|it| it.lists.contains(list.as_str()));
    let telling = known().filter(|(_, it)| tells(it));
    let telling: Vec<&RepoId> = telling.map(|(id, _)| id).collect();
    let called: Vec<&RepoId> = known()
        .filter(|(_, it)| matches!(&it.record, Ok(Some(record)) if record.name == *list))
        .map(|(id, _)| id)
        .collect();
    match (telling.as_slice(), called.as_slice()) {
        ([one], _) | ([], [one]) => Some((*one).clone()),
        _ => None,
    }
}

/// Where the execution pointers of all lists lead.
pub(super) fn pointers(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for seen in &world.lists {
        let path = seen.list.dir().join(POINTER);
        let leads_somewhere = || matches!(shown(world.home, &seen.list), Ok(Some(_)));
        if fsx::stat(world.home.fs(), &path)?.is_none() || leads_somewhere() {
            continue;
        }
        let what = format!(
            "the execution pointer of list {} leads to no session",
            seen.id()
        );
        let hint = "the next 'flagpost run' of the list writes it anew; until then its readers \
            find no session";
        let finding = Finding::new(Code::PointerBroken, what);
        findings.push(finding.at(path).list(seen.id()).by_hand(hint));
    }
    Ok(())
}
