//! Lists that are looked at again and again.
//!
//! Owns what was read of each last, for all of a process who look. Invariant: a look reads only the files
//! that changed since the one before, and says the same as a load of the whole list. What nobody looks at
//! is not kept for long.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use flagpost_model::task::Outline;

use super::{
    List, Loaded,
    cache::{CachedList, Leave},
};
use crate::error::Result;

/// So long after the last look at a list what is known of it is kept.
const KEPT: Duration = Duration::from_secs(120);

/// What is known of the lists that somebody looks at. Copies of it know the same.
#[derive(Debug, Clone, Default)]
pub struct ListReader(Arc<Mutex<BTreeMap<PathBuf, Known>>>);

/// What is known of a list.
#[derive(Debug)]
struct Known {
    list: CachedList<Arc<Outline>>,
    at: Instant,
}

impl ListReader {
    /// The list as it is now. Those who look at the same time wait for each other.
    pub fn look(&self, list: &List<'_>) -> Result<Loaded<Arc<Outline>>> {
        if let Some(table) = list.table() {
            let Loaded { outlines, skipped } = table.view()?.loaded();
            let outlines = outlines.into_iter().map(Arc::new).collect();
            return Ok(Loaded { outlines, skipped });
        }
        let (home, dir) = (list.home, list.dir());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = match all.remove(dir) {
            Some(known) => known.list.renewed(home, dir)?,
            None if !list.is_writable() => CachedList::begin(home, dir, Leave::Untouched)?,
            None => CachedList::begin(home, dir, Leave::Fresh)?,
        };
        let mut loaded = Loaded {
            outlines: seen.tasks.clone(),
            skipped: seen.skipped.clone(),
        };
        let done = list.done_and_away(loaded.outlines.iter().map(AsRef::as_ref));
        let waits = |it: &&mut Arc<Outline>| it.blocked_by.iter().any(|on| done.contains(on));
        for outline in loaded.outlines.iter_mut().filter(waits) {
            Arc::make_mut(outline)
                .blocked_by
                .retain(|it| !done.contains(it));
        }
        all.retain(|_, known| known.at.elapsed() < KEPT);
        let at = Instant::now();
        all.insert(dir.to_owned(), Known { list: seen, at });
        Ok(loaded)
    }
}
