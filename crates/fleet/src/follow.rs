//! Keeping up with the fleet: what others do is carried out here as they do it.
//!
//! Owns the threads of a daemon that follow: one for each shared repository, and one that looks for more of
//! them and gives signs of life. What stops a repository stops no other one; what was cut short is tried
//! again. It must never change anything of its own accord, but tells what agents said while the fleet was away.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use flagpost_core::{Home, order};
use flagpost_model::RepoId;

use crate::{
    error::FleetError,
    keeper::wait_until,
    live::LiveMachine,
    order::{Link, follow, refusal, seq_of},
};

/// From one look for shared repositories to the next.
const LOOK: Duration = Duration::from_secs(1);

/// From one sign of life to the next.
const SIGN: Duration = Duration::from_secs(10);

/// After a failure, until the next try.
const AGAIN: Duration = Duration::from_secs(1);

/// How long a reader waits before it looks whether it is to end.
const PATIENCE: Duration = Duration::from_millis(200);

/// Follows until `stop` says so; `tell` hears what stands in the way, once each time it changes.
pub fn keep_up(home: &Home, stop: &AtomicBool, tell: &(dyn Fn(String) + Sync)) {
    let said = Mutex::new(BTreeMap::new());
    let tell = &|about: String, what: Option<String>| {
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        let before = said.insert(about.clone(), what.clone());
        if let Some(what) = what.filter(|it| before.flatten().as_ref() != Some(it)) {
            tell(format!("{about}: {what}"));
        }
    };
    while !stop.load(Ordering::Relaxed) {
        match Link::open(home) {
            Ok(link) => {
                tell("fleet".to_owned(), None);
                with_link(home, &link, stop, tell);
            }
            Err(error) => {
                tell("fleet".to_owned(), Some(error.to_string()));
                rest(stop, AGAIN);
            }
        }
    }
}

type Tell<'t> = &'t (dyn Fn(String, Option<String>) + Sync);

fn with_link(home: &Home, link: &Link, stop: &AtomicBool, tell: Tell<'_>) {
    thread::scope(|scope| {
        let mut followed: Vec<RepoId> = Vec::new();
        let (since, mut signed) = (home.now(), None);
        while !stop.load(Ordering::Relaxed) {
            for repo in order::shared(home).unwrap_or_default() {
                if !followed.contains(&repo) {
                    followed.push(repo.clone());
                    scope.spawn(move || keep_up_with(home, link, &repo, stop, tell));
                }
            }
            let applied: BTreeMap<RepoId, u64> = followed
                .iter()
                .filter_map(|repo| Some((repo.clone(), order::last(home, repo).ok()?)))
                .collect();
            let is_due = signed.as_ref().is_none_or(|(at, before): &(Instant, _)| {
                at.elapsed() > SIGN || *before != applied
            });
            if is_due {
                let sign = LiveMachine {
                    applied: applied.clone(),
                    since,
                };
                let fleet = link.hub.fleet();
                let put = fleet.and_then(|fleet| fleet.live().put_machine(&link.machine, &sign));
                signed = put.is_ok().then(|| (Instant::now(), applied));
                let failed = put.err().map(|it| it.to_string());
                tell("signs of life".to_owned(), failed);
            }
            rest(stop, LOOK);
        }
    });
}

fn keep_up_with(home: &Home, link: &Link, repo: &RepoId, stop: &AtomicBool, tell: Tell<'_>) {
    while !stop.load(Ordering::Relaxed) {
        let failed = read_on(home, link, repo, stop, tell).err();
        tell(
            format!("repository {repo}"),
            failed.map(|it| it.to_string()),
        );
        rest(stop, AGAIN);
    }
}

/// Reads on until there is reason to begin again.
fn read_on(
    home: &Home,
    link: &Link,
    repo: &RepoId,
    stop: &AtomicBool,
    tell: Tell<'_>,
) -> flagpost_core::Result<()> {
    let said = |error: FleetError| flagpost_core::Error::from(refusal(repo, &error));
    let stream = link.stream(repo)?;
    let Some(last) = stream.last().map_err(said)? else {
        return Ok(());
    };
    let from = seq_of(&stream, order::first_wanted(home, repo)?, &last).map_err(said)?;
    if from > last.seq {
        order::caught_up(home, repo, last.headers.numbers.last())?;
    }
    let mut reader = stream.read_from(from).map_err(said)?;
    let mut looked = None;
    while !stop.load(Ordering::Relaxed) {
        if let Some(stored) = reader.next(PATIENCE).map_err(said)? {
            follow(home, repo, &stored)?;
        } else if looked.is_none_or(|at: Instant| at.elapsed() > LOOK) {
            tell_kept(home, repo, tell);
            looked = Some(Instant::now());
        }
    }
    Ok(())
}

/// Tells the fleet what it has not heard yet. What stands in the way holds up nothing that it says.
fn tell_kept(home: &Home, repo: &RepoId, tell: Tell<'_>) {
    let about = format!("what repository {repo} keeps for the fleet");
    match order::tell(home, repo) {
        Ok(aside) => {
            tell(about, None);
            for it in aside {
                tell("put aside, as it was refused".to_owned(), Some(it));
            }
        }
        Err(error) => tell(about, Some(error.to_string())),
    }
}

pub(crate) fn rest(stop: &AtomicBool, time: Duration) {
    let is_over = || stop.load(Ordering::Relaxed);
    wait_until(Instant::now() + time, Duration::from_millis(50), is_over);
}
