//! Tasks: their files, their claims, what they wait for and what they are part of.

use std::collections::{BTreeMap, BTreeSet};

use flagpost_model::{
    ListId, TaskId,
    finding::Code,
    plan::{Graph, dangling, one_sided, parent_circles},
};
use jiff::SignedDuration;

use super::{
    Finding, Fix,
    world::{ListSnapshot, World},
};
use crate::{error::Result, list::List, shell::quoted, skipped::Skipped};

/// A claim that expired just now is nobody's business.
const LONG_AGO: SignedDuration = SignedDuration::from_hours(1);

/// Each task's own file.
pub(super) fn check(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    let now = world.home.now();
    for seen in &world.lists {
        for skipped in &seen.broken {
            if skipped.task().is_some_and(|it| seen.vanished.contains(&it)) {
                continue;
            }
            let path = seen.list.dir().join(&skipped.file);
            let what = format!("{} is no task: {}", skipped.name, skipped.reason);
            let hint = format!(
                "mend it with an editor, make it readable, or move it away: {}",
                quoted(&path)
            );
            let finding = Finding::new(Code::TaskBroken, what);
            findings.push(finding.at(path).list(seen.id()).by_hand(hint));
        }
        for file in &seen.tasks {
            let task = &file.task;
            let (id, list) = (&task.id, seen.id());
            let put = |finding: Finding| finding.at(seen.list.task_path(id)).list(list).task(id);
            if let Some(state) = file.overruled() {
                let what = format!(
                    "task {id} is said to be {state}, which its status overrules: it is {}",
                    task.state.name()
                );
                let hint = "nothing has to be done: the status counts, and the next change of \
                    the task writes both";
                findings.push(put(Finding::new(Code::StateOverruled, what).by_hand(hint)));
            }
            if let Some(claim) = task.state.claim()
                && now.duration_since(claim.expires_at) > LONG_AGO
            {
                let what = format!(
                    "{}'s claim on task {id} expired at {:.0}",
                    claim.by, claim.expires_at
                );
                let hint = format!(
                    "whoever claims next takes it; to free it now: flagpost release {id} --force --list {list}"
                );
                findings.push(put(Finding::new(Code::ClaimExpired, what).by_hand(hint)));
            }
        }
    }
    Ok(())
}

/// Who waits for whom.
pub(super) fn links(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for seen in &world.lists {
        let (list, graph) = (seen.id(), Graph::new(&seen.outlines));
        let put = |finding: Finding, task: &TaskId| {
            finding.at(seen.list.task_path(task)).list(list).task(task)
        };
        for path in graph.circles() {
            let around: Vec<&str> = path.iter().map(|id| id.as_str()).collect();
            let what = format!("tasks wait for each other: {}", around.join(" → "));
            if let [waiting, blocker, ..] = path.as_slice() {
                let hint = format!(
                    "cut it where it is least true, such as: flagpost task dep rm {waiting} {blocker} --list {list}"
                );
                findings.push(put(Finding::new(Code::Circle, what).by_hand(hint), waiting));
            }
        }
        for link in one_sided(&seen.outlines, &graph) {
            let (waiting, blocker) = (&link.waiting, &link.blocker);
            let what = format!(
                "{waiting} waits for {blocker}, and the file of {} does not say so",
                link.silent
            );
            let finding = Finding::new(Code::LinkOneSided, what);
            let finding = match link.in_circle {
                true => finding.by_hand("cut the circle that it is part of first"),
                false => finding.fix(Fix::Mirror(list.clone(), waiting.clone(), blocker.clone())),
            };
            findings.push(put(finding, &link.silent));
        }
        let broken = broken_ids(seen);
        let is_named =
            |missing: &TaskId| broken.contains(missing) || seen.vanished.contains(missing);
        for (waiting, missing) in graph.unknown() {
            if is_named(missing) {
                continue;
            }
            let what = format!("{waiting} waits for {missing}, which does not exist");
            let hint = format!(
                "write task {missing}, or wait no longer: flagpost task dep rm {waiting} {missing} --list {list}"
            );
            findings.push(put(
                Finding::new(Code::LinkUnknown, what).by_hand(hint),
                waiting,
            ));
        }
        for (blocking, missing) in dangling(&seen.outlines) {
            if is_named(&missing) {
                continue;
            }
            let what = format!("{blocking} blocks {missing}, which does not exist");
            let fix = Fix::Unblock(list.clone(), blocking.clone(), missing);
            findings.push(put(
                Finding::new(Code::LinkDangling, what).fix(fix),
                &blocking,
            ));
        }
    }
    Ok(())
}

/// Tasks whose files another program took away or emptied.
pub(super) fn vanished(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for seen in &world.lists {
        let known = seen.list.last_known(&seen.vanished).unwrap_or_default();
        for task in &seen.vanished {
            let owner = seen.list.repository().ok();
            let finding = match owner.filter(|_| known.contains_key(task)) {
                Some(owner) => Finding::new(
                    Code::TaskVanished,
                    format!("another program took the file of task {task} away or emptied it"),
                )
                .fix(Fix::BringBack(seen.id().clone(), owner)),
                None => Finding::new(
                    Code::TaskVanished,
                    format!(
                        "another program took the file of task {task} away or emptied it, and the history is too old to have all of it"
                    ),
                )
                .by_hand(format!(
                    "'flagpost history --task {task} --list {}' tells what is known of it",
                    seen.id()
                )),
            };
            findings.push(
                finding
                    .at(seen.list.task_path(task))
                    .list(seen.id())
                    .task(task),
            );
        }
    }
    for (repository, known) in &world.repositories {
        let lists = known.survey.iter().flat_map(|it| &it.lists);
        for id in lists.filter_map(|it| it.parse::<ListId>().ok()) {
            // One that cannot be looked at is told of where lists are.
            let Ok(Some(list)) = List::absent(world.home, &id) else {
                continue;
            };
            let tasks = list.away(repository, u64::MAX, &BTreeSet::new());
            let tasks = tasks.unwrap_or_default().len();
            if tasks == 0 {
                continue;
            }
            let files = match tasks {
                1 => "the file of a task".to_owned(),
                _ => format!("the files of {tasks} tasks"),
            };
            let what = format!("another program took list {id} away, with {files}");
            let finding = Finding::new(Code::TaskVanished, what)
                .at(list.dir())
                .list(&id);
            findings.push(finding.fix(Fix::BringBack(id, repository.clone())));
        }
    }
    Ok(())
}

/// Who is part of what.
pub(super) fn parents(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for seen in &world.lists {
        let put = |finding: Finding, task: &TaskId| {
            let path = seen.list.task_path(task);
            let hint = format!(
                "name another \"parent\" under \"metadata\" in {}",
                quoted(&path)
            );
            finding.at(path).list(seen.id()).task(task).by_hand(hint)
        };
        let parents: BTreeMap<TaskId, TaskId> = seen
            .tasks
            .iter()
            .filter_map(|file| Some((file.task.id.clone(), file.task.parent.clone()?)))
            .collect();
        if parents.is_empty() {
            continue;
        }
        let known: BTreeSet<&TaskId> = seen.outlines.iter().map(|it| &it.id).collect();
        let broken = broken_ids(seen);
        for (task, parent) in &parents {
            if !known.contains(parent) && !broken.contains(parent) {
                let what = format!("{task} is part of {parent}, which does not exist");
                findings.push(put(Finding::new(Code::ParentUnknown, what), task));
            }
        }
        for circle in parent_circles(&parents) {
            let around: Vec<&str> = circle.iter().map(|id| id.as_str()).collect();
            let what = format!("tasks are part of each other: {}", around.join(" → "));
            findings.extend(
                circle
                    .first()
                    .map(|task| put(Finding::new(Code::ParentCircle, what), task)),
            );
        }
    }
    Ok(())
}

/// The ids of files that are there and are no tasks: whoever names one does not name nobody.
fn broken_ids(seen: &ListSnapshot<'_>) -> BTreeSet<TaskId> {
    seen.broken.iter().filter_map(Skipped::task).collect()
}
