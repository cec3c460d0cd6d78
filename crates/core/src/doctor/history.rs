//! Histories: their lines, their numbers, and the tokens that come from them.

use flagpost_disk as disk;
use flagpost_model::{RepoId, WorkerId, finding::Code, id::MAX_NUMBER, task::Task};

use super::{Finding, Fix, describe, world::World};
use crate::{
    error::{Error, Result},
    history::History,
    home::Home,
    list::List,
    relay::Fleet,
    shell::quoted,
};

/// The histories of all repositories.
pub(super) fn check(world: &World<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    for (id, known) in &world.repositories {
        let history = History::of(world.home, id);
        let path = history.path();
        let survey = match &known.survey {
            Ok(survey) => survey,
            Err(error) => {
                let finding = Finding::new(Code::HistoryUnreadable, describe(error)).at(path);
                findings.push(match error {
                    Error::Disk(disk::Error::Damaged { .. }) => {
                        finding.fix(Fix::Resume(id.clone()))
                    }
                    _ => finding.by_hand(format!(
                        "make it a file that you can read: {}",
                        quoted(path)
                    )),
                });
                continue;
            }
        };
        if let Some(leap) = &survey.leap {
            let (line, from, to) = (leap.line, leap.from, leap.to);
            let what = format!(
                "the numbers of the history leap from {from} to {to} at line {line}, and none goes beyond {MAX_NUMBER}"
            );
            let finding = Finding::new(Code::HistoryJumped, what).at(path);
            findings.push(finding.fix(Fix::Renumber(id.clone())));
        }
        if let Some(what) = line_numbers(&survey.unchained, "without the hash of the line before") {
            let what = format!("the history was altered after it was written: {what}");
            let finding = Finding::new(Code::HistoryAltered, what).at(path);
            findings.push(finding.fix(Fix::Resume(id.clone())));
        }
        for seen in &survey.acknowledged {
            // A repair makes the lines no truer, and brings none back.
            let altered = line_numbers(&seen.lines, "without the hash of the line before");
            let altered = altered.map(|it| format!("was altered ({it})"));
            let lost = seen.lost.map(|(from, to)| match from == to {
                true => format!("lost number {from}"),
                false => format!("lost the numbers {from} to {to}"),
            });
            for what in altered.into_iter().chain(lost) {
                let by = seen.by.as_ref().map_or("somebody", WorkerId::as_str);
                let what = format!("the history {what}, which {by} acknowledged at {}", seen.at);
                findings.push(Finding::new(Code::HistoryAcknowledged, what).at(path));
            }
        }
        if survey.is_damaged() {
            let said = [
                line_numbers(&survey.unreadable, "cannot be read"),
                line_numbers(&survey.disordered, "out of order"),
            ];
            let what: Vec<String> = said.into_iter().flatten().collect();
            let what = format!("in the history: {}", what.join("; "));
            let finding = Finding::new(Code::HistoryDamaged, what).at(path);
            findings.push(finding.fix(Fix::Resume(id.clone())));
        } else {
            match history.untrue() {
                Ok(untrue) if untrue.is_empty() => {}
                Ok(untrue) => {
                    let numbers: Vec<String> = untrue.iter().map(u64::to_string).collect();
                    let what = format!(
                        "the history tells of changes that never appeared: number {}",
                        numbers.join(", ")
                    );
                    let finding = Finding::new(Code::HistoryUnsettled, what).at(path);
                    findings.push(finding.fix(Fix::Settle(id.clone())));
                }
                // The file that it tells of cannot be looked at, which is told elsewhere.
                Err(_) => {}
            }
        }
        let bound = world
            .lists
            .iter()
            .filter(|seen| seen.list.repository().ok().as_ref() == Some(id));
        let tasks = bound.flat_map(|seen| &seen.tasks).map(|file| &file.task);
        let most = survey.reach();
        let token = tasks.filter_map(|task| token(task, most)).max();
        let token = token.map(|token| (token, format!("a task carries token {token}")));
        // Mail that cannot be read is told of with the mail.
        let line = furthest(world.home, id, most).unwrap_or_default();
        let line = line.map(|(line, brief)| (line, format!("{brief} names line {line}")));
        if let Some((_, who)) = token.max(line).filter(|(n, _)| *n > survey.highest) {
            let what = format!(
                "{who}, and its history ends at number {}: part of it is lost",
                survey.highest
            );
            let finding = Finding::new(Code::HistoryBehind, what).at(path);
            findings.push(finding.fix(Fix::Resume(id.clone())));
        }
    }
    Ok(())
}

/// Which lines are so; `None` where none is.
fn line_numbers(lines: &[usize], what: &str) -> Option<String> {
    match lines {
        [] => None,
        [one] => Some(format!("line {one} {what}")),
        [first, ..] => Some(format!(
            "{} lines {what}, from line {first} on",
            lines.len()
        )),
    }
}

/// The greatest line up to `most` that a brief names, and which brief that is.
fn furthest(home: &Home, id: &RepoId, most: u64) -> Result<Option<(u64, String)>> {
    let mut furthest = None;
    for mail in Fleet::of(home, id).mails()? {
        let found = mail.furthest(most)?;
        let found = found.map(|(line, seq)| (line, format!("brief {seq} of {}", mail.worker())));
        furthest = furthest.max(found);
    }
    Ok(furthest)
}

/// The greatest number up to `most` that tasks of a repository's lists carry as a token, or its mail as
/// a line, as they are now.
pub(super) fn highest_named(home: &Home, id: &RepoId, most: u64) -> Result<u64> {
    let mut highest = furthest(home, id, most)?.map_or(0, |(line, _)| line);
    for list in home.lists()? {
        let Ok(list) = List::open(home, &list) else {
            continue;
        };
        if list.repository().ok().as_ref() == Some(id) {
            let (tasks, _) = list.examine()?;
            let tokens = tasks.iter().filter_map(|file| token(&file.task, most));
            highest = tokens.max().unwrap_or_default().max(highest);
        }
    }
    Ok(highest)
}

/// The greatest token up to `most` that a claim on a task got. What a late result was reported with
/// are a caller's words; a token that no history could have given is a foreign writer's whim.
fn token(task: &Task, most: u64) -> Option<u64> {
    let claim = task.state.claim().map(|claim| claim.token);
    let ended = task.result.as_ref().and_then(|result| result.token);
    let tokens = [claim, ended].into_iter().flatten().map(|token| token.0);
    tokens.filter(|token| *token <= most).max()
}
