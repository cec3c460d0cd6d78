//! Counters: the highest id of a list ever given out, the highest number of a direction of mail.
//!
//! Each machine has its own. In a repository that several machines share, what the others gave out is not
//! counted here, and a counter below it is no fault.

use std::path::PathBuf;

use flagpost_disk::{dialects::claude_tasks::COUNTER, fsx};
use flagpost_model::{finding::Code, id::MAX_NUMBER};

use super::{
    Finding, Fix, describe,
    world::{ListSnapshot, World},
};
use crate::{error::Result, home::Home, list::List, order};

/// The counters of all lists. Those of mail are looked at with it.
pub(super) fn check(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for seen in &world.lists {
        let path = seen.list.dir().join(COUNTER);
        // A list of no repository is nobody else's.
        let is_shared = match seen.list.repository() {
            Ok(repo) => order::is_shared(world.home, &repo)?,
            Err(_) => false,
        };
        let highest = match seen.is_ours() && !is_shared {
            true => highest(seen),
            false => 0,
        };
        let fix = Fix::Recount(seen.id().clone());
        let finding = finding(world.home, path, (highest, "there is a task"), fix);
        findings.extend(finding.map(|it| it.list(seen.id())));
    }
    Ok(())
}

/// What is wrong with a counter; `highest` is known to have been given out, by what is said of it.
pub(super) fn finding(
    home: &Home,
    path: PathBuf,
    (highest, said): (u64, &str),
    fix: Fix,
) -> Option<Finding> {
    let finding = match fsx::peek(home.fs(), &path) {
        Err(error) => {
            // Where nothing can be looked at, whose directory it is says so.
            let kind = fsx::stat(home.fs(), &path).ok().flatten()?.kind;
            let finding = Finding::new(Code::CounterUnreadable, describe(&error));
            match error {
                flagpost_disk::Error::Malformed { .. } if kind == fsx::FileKind::File => {
                    finding.fix(fix)
                }
                _ => finding.by_hand("move what is there out of the way, and look again"),
            }
        }
        Ok(last) if last >= MAX_NUMBER => {
            let what = format!("the counter is at {last}, after which there is nothing");
            Finding::new(Code::CounterExhausted, what).fix(fix)
        }
        Ok(last) if last < highest => {
            let what = format!("the counter is at {last}, and {said} {highest}");
            Finding::new(Code::CounterBehind, what).fix(fix)
        }
        Ok(_) => return None,
    };
    Some(finding.at(path))
}

/// Whether a counter has to be found anew, as it is now.
pub(super) fn is_wrong(list: &List<'_>) -> Result<bool> {
    match fsx::peek(list.home.fs(), &list.dir().join(COUNTER)) {
        Ok(last) => {
            let ids = list.ids()?;
            let highest = ids.iter().filter_map(|id| id.counted()).max();
            Ok(last >= MAX_NUMBER || highest.is_some_and(|highest| last < highest))
        }
        Err(flagpost_disk::Error::Malformed { .. }) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

fn highest(seen: &ListSnapshot<'_>) -> u64 {
    let ids = seen.outlines.iter().map(|outline| &outline.id);
    ids.filter_map(|id| id.counted()).max().unwrap_or_default()
}
