//! What processes on several machines asked for and were told, and whether it can all be true.
//!
//! Owns the rules by which a test of a fleet is judged when everything is healed. A step of which nobody
//! knows may have happened or not; one that was refused has not. Pure: the log and what each home holds
//! come in, faults come out.
//!
//! A line of the history is read as JSON and by its `kind`, never by the product's own code.

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    time::Duration,
};

use serde_json::Value;

/// A claim that somebody holds or held.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claim {
    /// The task's id.
    pub task: String,
    /// The claim's token.
    pub token: u64,
}

/// What somebody was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told<T> {
    /// It has happened.
    Ok(T),
    /// It has not happened.
    Refused,
    /// Nobody knows.
    Unknown,
}

/// What somebody asked for, and was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Any task.
    Claim(Told<Claim>),
    /// That a task is done.
    Complete(Claim, Told<()>),
    /// That somebody else may have a task.
    Release(Claim, Told<()>),
}

/// One act of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deed {
    /// Who asked.
    pub actor: String,
    /// When.
    pub began: Duration,
    /// When it was over.
    pub ended: Duration,
    /// What it was.
    pub act: Act,
}

/// What a home holds when everything is healed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeAfter {
    /// What it is called.
    pub name: String,
    /// Its history of the shared repository.
    pub history: String,
    /// The shared files, by their path in the home.
    pub files: BTreeMap<String, Vec<u8>>,
}

/// A line of a history, as far as the rules look at it.
#[derive(Debug)]
struct Line<'t> {
    n: u64,
    kind: String,
    actor: String,
    task: String,
    value: Value,
    text: &'t str,
}

/// A claim that was told of, and by which step.
struct Held<'s> {
    claim: &'s Claim,
    step: &'s Deed,
}

impl fmt::Display for Held<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Claim { task, token } = self.claim;
        let Deed {
            actor,
            began,
            ended,
            ..
        } = self.step;
        write!(
            f,
            "{actor}'s claim {token} of task {task} ({began:.3?} to {ended:.3?})"
        )
    }
}

/// Everything that cannot be true, or is not the same everywhere.
pub fn faults(log: &[Deed], homes: &[HomeAfter]) -> Vec<String> {
    let mut faults = claims_exclude_each_other(log);
    faults.extend(homes_are_alike(homes));
    if let Some(home) = homes.first() {
        let lines = lines(&home.history);
        faults.extend(numbers_have_no_gap(&home.history, &lines));
        faults.extend(what_was_told_is_there(log, &lines));
        faults.extend(what_is_there_was_asked_for(log, &lines));
        faults.extend(briefs_are_decided_first(&lines));
    }
    faults
}

/// The longest time in which nobody was told that something has happened, and when it began.
pub fn longest_silence(log: &[Deed]) -> (Duration, Duration) {
    let mut told: Vec<Duration> = log
        .iter()
        .filter(|step| step.act.has_happened())
        .map(|step| step.ended)
        .collect();
    told.sort();
    let pairs = told.windows(2).map(|pair| (pair[1] - pair[0], pair[0]));
    pairs.max().unwrap_or_default()
}

impl Act {
    /// Whether somebody was told that it has happened.
    pub fn has_happened(&self) -> bool {
        matches!(
            self,
            Self::Claim(Told::Ok(_))
                | Self::Complete(_, Told::Ok(()))
                | Self::Release(_, Told::Ok(()))
        )
    }

    /// Whether nobody knows.
    pub fn is_unknown(&self) -> bool {
        matches!(
            self,
            Self::Claim(Told::Unknown)
                | Self::Complete(_, Told::Unknown)
                | Self::Release(_, Told::Unknown)
        )
    }

    /// The kind of the line that tells of it.
    fn kind(&self) -> &'static str {
        match self {
            Self::Claim(_) => "task.claimed",
            Self::Complete(..) => "task.completed",
            Self::Release(..) => "task.released",
        }
    }
}

/// Each token is one claim's, later claims have higher ones, and who claims a task that another one had
/// does so after it was given back.
fn claims_exclude_each_other(log: &[Deed]) -> Vec<String> {
    let mut held: Vec<Held> = log
        .iter()
        .filter_map(|step| match &step.act {
            Act::Claim(Told::Ok(claim)) => Some(Held { claim, step }),
            _ => None,
        })
        .collect();
    held.sort_by_key(|it| it.claim.token);
    let mut faults = Vec::new();
    let mut of_task: BTreeMap<&str, &Held> = BTreeMap::new();
    let mut latest: Option<&Held> = None;
    for next in &held {
        if let Some(before) = latest.filter(|it| it.claim.token == next.claim.token) {
            faults.push(format!("{before} and {next} have one token"));
        }
        if let Some(before) = latest.filter(|it| next.step.ended < it.step.began) {
            faults.push(format!(
                "{next} was over before {before}, and has a higher token"
            ));
        }
        if latest.is_none_or(|it| it.step.began < next.step.began) {
            latest = Some(next);
        }
        let given_back = |before: &Held| {
            log.iter().any(|step| match &step.act {
                Act::Release(claim, told) => {
                    claim == before.claim && *told != Told::Refused && step.began < next.step.ended
                }
                Act::Claim(_) | Act::Complete(..) => false,
            })
        };
        let before = of_task.insert(&next.claim.task, next);
        if let Some(before) = before.filter(|it| !given_back(it)) {
            faults.push(format!("{before} was not over, and there is {next}"));
        }
    }
    faults
}

/// Histories are the same bytes, and so are files.
fn homes_are_alike(homes: &[HomeAfter]) -> Vec<String> {
    let mut faults = Vec::new();
    for pair in homes.windows(2) {
        let (one, other) = (&pair[0], &pair[1]);
        let names = format!("{} and {}", one.name, other.name);
        if one.history != other.history {
            let same = one.history.lines().zip(other.history.lines());
            let at = same.take_while(|(a, b)| a == b).count();
            let line =
                |home: &HomeAfter| home.history.lines().nth(at).unwrap_or("nothing").to_owned();
            let (a, b) = (line(one), line(other));
            faults.push(format!("the histories of {names} differ: {a}\n{b}"));
        }
        let paths: BTreeSet<&String> = one.files.keys().chain(other.files.keys()).collect();
        for path in paths
            .into_iter()
            .filter(|it| one.files.get(*it) != other.files.get(*it))
        {
            let text = |home: &HomeAfter| match home.files.get(path) {
                Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                None => "nothing".to_owned(),
            };
            let (a, b) = (text(one), text(other));
            faults.push(format!("{path} of {names} differs: {a}\n{b}"));
        }
    }
    faults
}

fn numbers_have_no_gap(history: &str, lines: &[Line]) -> Vec<String> {
    let mut faults = Vec::new();
    if lines.len() != history.lines().count() || !history.ends_with('\n') {
        faults.push("a line of the history cannot be read".to_owned());
    }
    let wrong = lines.iter().zip(1..).find(|(line, n)| line.n != *n);
    faults.extend(wrong.map(|(line, n)| format!("line {n} of the history is {}", line.text)));
    faults
}

/// What somebody was told of stands in the history.
fn what_was_told_is_there(log: &[Deed], lines: &[Line]) -> Vec<String> {
    let mut faults = Vec::new();
    for step in log.iter().filter(|step| step.act.has_happened()) {
        let is_there = match &step.act {
            Act::Claim(Told::Ok(claim)) => lines
                .iter()
                .any(|it| it.n == claim.token && it.tells_of(step, claim)),
            Act::Complete(claim, _) | Act::Release(claim, _) => {
                ended(lines, claim).is_some_and(|it| it.tells_of(step, claim))
            }
            Act::Claim(_) => true,
        };
        if !is_there {
            faults.push(format!("{step:?} is not in the history"));
        }
    }
    faults
}

/// What stands in the history somebody was told of, or nobody knows of.
fn what_is_there_was_asked_for(log: &[Deed], lines: &[Line]) -> Vec<String> {
    let mut faults = Vec::new();
    let unknown = |actor: &str| {
        let own = log.iter().filter(|step| step.actor == actor);
        own.filter(|step| step.act == Act::Claim(Told::Unknown))
            .count()
    };
    let mut untold: BTreeMap<&str, usize> = BTreeMap::new();
    for line in lines {
        let claim = Claim {
            task: line.task.clone(),
            token: line.n,
        };
        match line.kind.as_str() {
            "task.claimed" => {
                let was_told = log
                    .iter()
                    .any(|step| step.act == Act::Claim(Told::Ok(claim.clone())));
                if !was_told {
                    *untold.entry(&line.actor).or_default() += 1;
                }
            }
            "task.completed" | "task.released" => {
                let asked = log.iter().any(|step| match &step.act {
                    Act::Complete(claim, told) | Act::Release(claim, told) => {
                        *told != Told::Refused
                            && line.tells_of(step, claim)
                            && ended(lines, claim).is_some_and(|it| it.n == line.n)
                    }
                    Act::Claim(_) => false,
                });
                if !asked {
                    faults.push(format!(
                        "nobody asked for this, or it was refused: {}",
                        line.text
                    ));
                }
            }
            _ => {}
        }
    }
    for (actor, untold) in untold {
        let unknown = unknown(actor);
        if untold > unknown {
            faults.push(format!(
                "{actor} has {untold} claims of which it was not told, and of {unknown} it does not know"
            ));
        }
    }
    faults
}

/// What is delivered was let through before.
fn briefs_are_decided_first(lines: &[Line]) -> Vec<String> {
    let mut decided: BTreeSet<(String, u64)> = BTreeSet::new();
    let mut faults = Vec::new();
    for line in lines {
        let worker = line.value["worker"].as_str().unwrap_or_default().to_owned();
        let brief = (worker, line.value["seq"].as_u64().unwrap_or_default());
        match line.kind.as_str() {
            "relay.decided" => drop(decided.insert(brief)),
            "relay.delivered" if !decided.contains(&brief) => {
                faults.push(format!("nobody approved this: {}", line.text));
            }
            _ => {}
        }
    }
    faults
}

/// How a claim ended: the next line that takes its task from whoever has it.
fn ended<'l, 't>(lines: &'l [Line<'t>], claim: &Claim) -> Option<&'l Line<'t>> {
    let later = lines
        .iter()
        .filter(|it| it.n > claim.token && it.task == claim.task);
    let mut ends = later.filter(|it| {
        matches!(
            it.kind.as_str(),
            "task.claimed" | "task.completed" | "task.released"
        )
    });
    ends.next()
}

impl Line<'_> {
    fn tells_of(&self, step: &Deed, claim: &Claim) -> bool {
        self.kind == step.act.kind() && self.actor == step.actor && self.task == claim.task
    }
}

fn lines(history: &str) -> Vec<Line<'_>> {
    let parsed = history.lines().filter_map(|text| {
        let value: Value = serde_json::from_str(text).ok()?;
        let word = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
        Some(Line {
            n: value["n"].as_u64()?,
            kind: word("kind"),
            actor: word("actor"),
            task: word("task"),
            text,
            value,
        })
    });
    parsed.collect()
}
