//! Keeping up with the fleet: what others do is carried out here as they do it.
//!
//! Owns the threads of a daemon that follow: one for each shared repository, and one that looks for more of
//! them, gives signs of life and writes down how the fleet stands. What stops a repository stops no other
//! one; what was cut short is tried again. It must never change anything of its own accord, but tells what
//! agents said while the fleet was away.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use flagpost_core::{
    Home, describe, operations,
    order::{self, OrderRefusal},
};
use flagpost_model::RepoId;

use crate::{
    error::FleetError,
    fleet_record::MachineRecord,
    keeper::wait_until,
    link::{Link, LinkError},
    live::LiveMachine,
    locate_order::{OrderEnd, OrderLocation},
    membership::Membership,
    order::{follow, put_aside, seq_of},
    refusals::{begins, lost, refusal},
    standing::Noted,
    worker_signs::WorkerSigns,
};

/// From one look for shared repositories to the next.
const LOOK: Duration = Duration::from_secs(1);

/// From one sign of life to the next.
const SIGN: Duration = Duration::from_secs(10);

/// After a failure, until the next try.
const AGAIN: Duration = Duration::from_secs(1);

/// How long a reader waits before it looks whether it is to end.
const PATIENCE: Duration = Duration::from_millis(200);

/// What each repository's thread says: why it changes nothing any more.
type Frozen = Mutex<BTreeMap<RepoId, String>>;

/// Follows until `stop` says so; `tell` hears what stands in the way, once each time it changes. Where the
/// fleet has no record of this machine, it writes this one.
pub fn keep_up(
    home: &Home,
    record: &MachineRecord,
    stop: &AtomicBool,
    tell: &(dyn Fn(String) + Sync),
) {
    let said = Mutex::new(BTreeMap::new());
    let tell = &|about: String, what: Option<String>| {
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        let before = said.insert(about.clone(), what.clone());
        if let Some(what) = what.filter(|it| before.flatten().as_ref() != Some(it)) {
            tell(format!("{about}: {what}"));
        }
    };
    let frozen = Frozen::default();
    let mut noted: Option<Noted<'_>> = None;
    while !stop.load(Ordering::Relaxed) {
        let member = Membership::read(home).map_err(LinkError::from);
        let member = member.and_then(|it| it.ok_or(LinkError::NoMember));
        let failed = match member.map(|it| (Link::of(&it), it)) {
            Ok((link, member)) => {
                let noted = noted.get_or_insert_with(|| Noted::of(home, member));
                match link {
                    Ok(link) => {
                        tell("fleet".to_owned(), None);
                        with_link((home, &link, record), noted, &frozen, stop, tell);
                        continue;
                    }
                    Err(error) => {
                        noted.alone(&error, &locked(&frozen));
                        error.to_string()
                    }
                }
            }
            Err(error) => error.to_string(),
        };
        tell("fleet".to_owned(), Some(failed));
        rest(stop, AGAIN);
    }
}

type Tell<'t> = &'t (dyn Fn(String, Option<String>) + Sync);

fn with_link(
    (home, link, record): (&Home, &Link, &MachineRecord),
    noted: &mut Noted<'_>,
    frozen: &Frozen,
    stop: &AtomicBool,
    tell: Tell<'_>,
) {
    thread::scope(|scope| {
        let mut followed: Vec<RepoId> = Vec::new();
        let (since, mut signed) = (home.now(), None);
        let mut refused = None;
        let mut workers = WorkerSigns::default();
        while !stop.load(Ordering::Relaxed) {
            for repo in order::shared(home).unwrap_or_default() {
                if !followed.contains(&repo) {
                    followed.push(repo.clone());
                    scope.spawn(move || keep_up_with((home, link), &repo, frozen, stop, tell));
                }
            }
            let applied: BTreeMap<RepoId, u64> = followed
                .iter()
                .filter_map(|repo| Some((repo.clone(), order::last(home, repo).ok()?)))
                .collect();
            let is_due = signed.as_ref().is_none_or(|(at, before): &(Instant, _)| {
                at.elapsed() > SIGN || *before != applied
            });
            let mut done = link.hub.must_be_connected();
            match done {
                Ok(()) => refused = None,
                Err(error) => done = Err(why_away(error, noted.member(), &mut refused)),
            }
            if is_due && done.is_ok() {
                let sign = LiveMachine {
                    applied: applied.clone(),
                    workers: workers.own(home, &followed),
                    since,
                };
                done = give_sign(link, &sign, record);
                signed = done.is_ok().then(|| (Instant::now(), applied));
            }
            let done = done.and_then(|()| noted.connected(link, &locked(frozen)));
            match &done {
                Ok(signs) => workers.hear(home, &link.machine, &followed, signs),
                Err(error) => {
                    signed = None;
                    noted.alone(error, &locked(frozen));
                }
            }
            tell(
                "signs of life".to_owned(),
                done.err().map(|it| it.to_string()),
            );
            rest(stop, LOOK);
        }
    });
}

/// Why there is no connection. One that is being restored does not say: another one is tried now and then.
fn why_away(
    error: FleetError,
    member: &Membership,
    refused: &mut Option<(Instant, Option<FleetError>)>,
) -> FleetError {
    if refused.as_ref().is_none_or(|(at, _)| at.elapsed() > SIGN) {
        *refused = Some((Instant::now(), Link::of(member).err()));
    }
    let said = refused.as_ref().and_then(|(_, said)| said.clone());
    said.unwrap_or(error)
}

/// Tells the fleet that this machine is there, and who it is where a server lost that.
fn give_sign(link: &Link, sign: &LiveMachine, record: &MachineRecord) -> Result<(), FleetError> {
    let fleet = link.hub.fleet()?;
    match fleet.create(&link.machine, record) {
        Ok(()) | Err(FleetError::Exists { .. }) => {}
        Err(error) => return Err(error),
    }
    fleet.live().put_machine(&link.machine, sign)
}

fn keep_up_with(
    (home, link): (&Home, &Link),
    repo: &RepoId,
    frozen: &Frozen,
    stop: &AtomicBool,
    tell: Tell<'_>,
) {
    let goes_on = || {
        locked(frozen).remove(repo);
    };
    while !stop.load(Ordering::Relaxed) {
        let failed = read_on((home, link), repo, (stop, tell), &goes_on).err();
        if let Some(why) = failed.as_ref().and_then(stands_still) {
            locked(frozen).insert(repo.clone(), why);
        }
        tell(
            format!("repository {repo}"),
            failed.map(|it| it.to_string()),
        );
        rest(stop, AGAIN);
    }
}

/// Why a repository is not changed here any more; none where that will pass by itself.
fn stands_still(error: &flagpost_core::Error) -> Option<String> {
    match error {
        flagpost_core::Error::Order(OrderRefusal::Frozen { reason, .. }) => Some(reason.clone()),
        flagpost_core::Error::Order(
            OrderRefusal::Unreachable { .. }
            | OrderRefusal::Overtaken { .. }
            | OrderRefusal::Unsettled { .. },
        ) => None,
        other => Some(describe(other)),
    }
}

fn locked(frozen: &Frozen) -> MutexGuard<'_, BTreeMap<RepoId, String>> {
    frozen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads on until there is reason to begin again.
fn read_on(
    (home, link): (&Home, &Link),
    repo: &RepoId,
    (stop, tell): (&AtomicBool, Tell<'_>),
    goes_on: &dyn Fn(),
) -> flagpost_core::Result<()> {
    let said = |error: FleetError| flagpost_core::Error::from(refusal(repo, &error));
    let OrderEnd {
        stream,
        last,
        aside,
        ..
    } = match link.stand(home, repo)? {
        OrderLocation::Here(end) => *end,
        OrderLocation::Begins => return Err(begins(repo).into()),
        OrderLocation::Lost(reason) => return Err(lost(repo, &reason).into()),
    };
    if let Some(what) = put_aside(repo, &aside) {
        tell("quarantine".to_owned(), Some(what));
    }
    let from = seq_of(&stream, order::first_wanted(home, repo)?, &last).map_err(said)?;
    if from > last.seq {
        order::caught_up(home, repo, last.headers.numbers.last())?;
    }
    let mut reader = stream.read_from(from).map_err(said)?;
    let mut looked = None;
    while !stop.load(Ordering::Relaxed) {
        match reader.next(PATIENCE) {
            Ok(Some(stored)) => {
                follow(home, repo, &stored)?;
                // What comes before that may have been carried out when it was stopped.
                if stored.seq >= last.seq {
                    goes_on();
                }
            }
            Ok(None) => {
                goes_on();
                if looked.is_none_or(|at: Instant| at.elapsed() > LOOK) {
                    tell_kept(home, repo, tell);
                    looked = Some(Instant::now());
                }
            }
            // What became of it is seen by the next look.
            Err(
                FleetError::Gone { .. } | FleetError::Replaced { .. } | FleetError::Shorter { .. },
            ) => return Ok(()),
            Err(error) => return Err(said(error)),
        }
    }
    Ok(())
}

/// Tells the fleet what it has not heard yet. What stands in the way holds up nothing that it says.
fn tell_kept(home: &Home, repo: &RepoId, tell: Tell<'_>) {
    let about = format!("what repository {repo} keeps for the fleet");
    match operations::tell(home, repo) {
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
