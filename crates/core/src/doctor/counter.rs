//! A list's counter: the highest id ever given out.

use flagpost_disk::{dialects::claude_tasks::COUNTER, fsx};
use flagpost_model::{finding::Code, id::MAX_NUMBER};

use super::{
    Finding, Fix, describe,
    world::{ListSnapshot, World},
};
use crate::{error::Result, list::List};

/// The counters of all lists.
pub(super) fn check(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for seen in &world.lists {
        let path = seen.list.dir().join(COUNTER);
        let put = |finding: Finding| finding.at(&path).list(seen.id());
        match fsx::peek(world.home.fs(), &path) {
            Err(error) => {
                let finding = put(Finding::new(Code::CounterUnreadable, describe(&error)));
                findings.push(match error {
                    flagpost_disk::Error::Malformed { .. } => {
                        finding.fix(Fix::Recount(seen.id().clone()))
                    }
                    _ => finding.by_hand("move what is there out of the way, and look again"),
                });
            }
            Ok(last) if last >= MAX_NUMBER => {
                let what = format!("the counter is at {last}, after which there are no ids");
                let finding = put(Finding::new(Code::CounterExhausted, what));
                findings.push(finding.fix(Fix::Recount(seen.id().clone())));
            }
            Ok(last) if seen.is_ours() && last < highest(seen) => {
                let what = format!(
                    "the counter is at {last}, and there is a task {}",
                    highest(seen)
                );
                let finding = put(Finding::new(Code::CounterBehind, what));
                findings.push(finding.fix(Fix::Recount(seen.id().clone())));
            }
            Ok(_) => {}
        }
    }
    Ok(())
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
