//! Where something may change that somebody is told of.
//!
//! Owns the directories: those of lists and of repositories, and of each worker its own, its inbox and
//! its outbox. Archives only grow by what was told before, and may be large: nobody watches them.

use std::path::{Path, PathBuf};

use flagpost_core::{Home, relay::Fleet, roots};
use flagpost_disk::fsx;
use flagpost_model::RepoId;

/// All of them, as far as they are there.
pub(super) fn places(home: &Home) -> Vec<PathBuf> {
    let mut places = vec![home.tasks_root(), home.repositories_root()];
    places.extend(below(home, &home.tasks_root()));
    // A root that cannot be read has lists that cannot be read either.
    for root in roots::scan(home).unwrap_or_default() {
        if let roots::RootStatus::Readable { .. } = root.standing {
            places.extend(below(home, &root.dir));
            places.push(root.dir);
        }
    }
    // One that is being registered has a directory before it has a record.
    for dir in below(home, &home.repositories_root()) {
        let name = dir.file_name().and_then(|name| name.to_str());
        let Some(id) = name.and_then(|name| name.parse::<RepoId>().ok()) else {
            continue;
        };
        let workers = Fleet::of(home, &id).dir();
        places.push(dir);
        for worker in below(home, &workers) {
            places.extend([worker.join("inbox"), worker.join("outbox"), worker]);
        }
        places.push(workers);
    }
    places.retain(|place| is_dir(home, place));
    places
}

fn below(home: &Home, dir: &Path) -> Vec<PathBuf> {
    let names = home.fs().names(dir).unwrap_or_default();
    let all = names.into_iter().map(|name| dir.join(name));
    all.filter(|path| is_dir(home, path)).collect()
}

fn is_dir(home: &Home, path: &Path) -> bool {
    let stat = fsx::stat(home.fs(), path).ok().flatten();
    stat.is_some_and(|stat| stat.kind == fsx::FileKind::Dir)
}
