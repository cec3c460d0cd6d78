//! The order of a home's shared repositories, as core asks for it.
//!
//! Owns the way from a change to its message and back: which message a change must follow, who vouches for
//! it, and from which one a machine reads on. Each process that changes something asks the server itself;
//! it connects with the first change. Invariant: a change is published after the message whose last line is
//! the line before it, or not at all.

use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    thread,
    time::{Duration, Instant},
};

use flagpost_core::{
    Error, Home, Result, operations,
    order::{self, ChangeOrigin, Message, NumberedChange, OrderRefusal, Sequencer},
};
use flagpost_model::{ListId, MachineId, RepoId};
use jiff::{SignedDuration, Timestamp};

use crate::{
    append::{AppendError, Change},
    error::FleetError,
    fleet_record::Fleet,
    link::{Link, LinkError, Place},
    locate_order::{OrderEnd, OrderLocation, PATIENCE},
    refusals::{begins, frozen, lost, overtaken, refusal, said, unreachable},
    stored::{ChangeHeaders, Lane, Numbers, Stored, WIRE, before_first},
    stream::RepoStream,
};

/// How long a verb waits for an order that is begun anew, and from one look to the next.
const BEGINS_WITHIN: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(50);

/// How long it is believed by how much clocks differ.
const CLOCK: Duration = Duration::from_secs(1);

/// The order in which the shared repositories of a home are changed.
pub struct FleetOrder {
    /// The same home in no order.
    home: Home,
    link: OnceLock<Link>,
    /// How far this machine's clock is ahead of the fleet's, and when that was looked up.
    ahead: Mutex<Option<(Instant, SignedDuration)>>,
    /// Hears of what is kept in quarantine.
    tell: fn(&str),
}

impl fmt::Debug for FleetOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FleetOrder")
    }
}

/// The same home, whose shared repositories are changed in the order of its fleet. Nobody is asked before
/// something is. `tell` hears of what a verb puts aside.
#[must_use]
pub fn ordered(home: Home, tell: fn(&str)) -> Home {
    let order = FleetOrder {
        home: home.clone(),
        link: OnceLock::new(),
        ahead: Mutex::default(),
        tell,
    };
    home.ordered(Arc::new(order), operations::tell)
}

impl Sequencer for FleetOrder {
    fn time(&self, own: Timestamp) -> Timestamp {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let known = ahead.filter(|(at, _)| at.elapsed() < CLOCK);
        let (_, ahead) = *ahead.insert(known.unwrap_or_else(|| {
            let time = order::time(&self.home, own);
            (Instant::now(), own.duration_since(time))
        }));
        own.saturating_sub(ahead).unwrap_or(own)
    }

    fn publish(&self, change: &NumberedChange) -> Result<(), OrderRefusal> {
        outside(|| self.make_next(change))
    }

    fn name_list(&self, repo: &RepoId, list: &ListId) -> Result<(), OrderRefusal> {
        outside(|| {
            let fleet = self.link(repo)?.hub.fleet();
            name_list(&fleet.map_err(|error| refusal(repo, &error))?, repo, list)
        })
    }

    fn catch_up(&self, repo: &RepoId) -> Result<()> {
        let aside = outside(|| self.link(repo)?.catch_up(&self.home, repo))?;
        if let Some(what) = put_aside(repo, &aside) {
            (self.tell)(&what);
        }
        Ok(())
    }
}

/// What is to be said of copies in quarantine; nothing where there are none.
pub(crate) fn put_aside(repo: &RepoId, beside: &[PathBuf]) -> Option<String> {
    let files: Vec<String> = beside.iter().map(|it| it.display().to_string()).collect();
    let files = Some(files.join(", ")).filter(|it| !it.is_empty())?;
    Some(format!(
        "repository {repo} began anew in the fleet, without all that was here; a copy lies in quarantine/ beside {files}"
    ))
}

/// Does what waits for answers on a thread that drives no runtime, as those of a daemon may.
fn outside<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if tokio::runtime::Handle::try_current().is_err() {
        return work();
    }
    match thread::scope(|scope| scope.spawn(work).join()) {
        Ok(done) => done,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

impl FleetOrder {
    fn make_next(&self, change: &NumberedChange) -> Result<(), OrderRefusal> {
        let repo = &change.repo;
        let link = self.link(repo)?;
        let stream = link.stream(repo).map_err(|error| said(repo, &error))?;
        let before = change.first - 1;
        let place = link.places().get(repo).copied();
        let after = match place.filter(|it| it.n == before) {
            Some(place) => place.seq,
            None => {
                let known = order::epoch(&self.home, repo);
                let known = known.map_err(|error| frozen(repo, error.to_string()))?;
                let last = stream.last_with((known, before));
                let last = last.map_err(|error| said(repo, &error))?;
                let comes_before =
                    |it: &Stored| it.headers.epoch == known && it.headers.numbers.last() == before;
                let last = last.filter(comes_before);
                last.ok_or_else(|| overtaken(repo))?.seq
            }
        };
        let seq = append(&stream, &link.machine, after, change)?;
        let n = change.last;
        link.places().insert(repo.clone(), Place { seq, n });
        Ok(())
    }

    /// The connection, made where there is none yet.
    fn link(&self, repo: &RepoId) -> Result<&Link, OrderRefusal> {
        if let Some(link) = self.link.get() {
            return Ok(link);
        }
        let link = Link::open(&self.home).map_err(|error| match error {
            LinkError::Member(error) => unreachable(repo, error.to_string()),
            LinkError::NoMember => {
                unreachable(repo, "this machine belongs to no fleet any more".to_owned())
            }
            LinkError::Fleet(error) => refusal(repo, &error),
        })?;
        Ok(self.link.get_or_init(|| link))
    }
}

impl Link {
    /// Carries out in this home, which is in no order, what the order of a repository has by now. One that
    /// begins anew is waited for. Answers beside what a copy was kept in quarantine.
    pub(crate) fn catch_up(&self, home: &Home, repo: &RepoId) -> Result<Vec<PathBuf>> {
        let deadline = Instant::now() + BEGINS_WITHIN;
        let mut aside = Vec::new();
        loop {
            match self.stand(home, repo)? {
                OrderLocation::Here(mut end) => {
                    aside.append(&mut end.aside);
                    self.read_up_to(home, repo, &end)?;
                    if !end.is_sealed {
                        return Ok(aside);
                    }
                }
                OrderLocation::Begins => {}
                OrderLocation::Lost(reason) => return Err(lost(repo, &reason).into()),
            }
            if Instant::now() >= deadline {
                return Err(begins(repo).into());
            }
            thread::sleep(LOOK);
        }
    }

    /// Carries out what an order has up to this end.
    pub(crate) fn read_up_to(&self, home: &Home, repo: &RepoId, end: &OrderEnd) -> Result<()> {
        let said = |error: FleetError| Error::from(said(repo, &error));
        let OrderEnd { stream, last, .. } = end;
        let from = seq_of(stream, order::first_wanted(home, repo)?, last).map_err(said)?;
        if from <= last.seq {
            let mut reader = stream.read_from(from).map_err(said)?;
            while reader.next_seq() <= last.seq {
                match reader.next(PATIENCE).map_err(said)? {
                    Some(stored) => follow(home, repo, &stored)?,
                    None => {
                        let reason = "its server does not answer".to_owned();
                        return Err(unreachable(repo, reason).into());
                    }
                }
            }
        }
        let place = Place {
            seq: last.seq,
            n: last.headers.numbers.last(),
        };
        order::caught_up(home, repo, place.n)?;
        self.places().insert(repo.clone(), place);
        Ok(())
    }
}

fn append(
    stream: &RepoStream,
    machine: &MachineId,
    after: u64,
    change: &NumberedChange,
) -> Result<u64, OrderRefusal> {
    let repo = &change.repo;
    let Some(numbers) = Numbers::new(change.first, change.last) else {
        return Err(frozen(repo, "a change has no line".to_owned()));
    };
    let lane = match change.needs {
        ChangeOrigin::Gate => Lane::Gate,
        ChangeOrigin::Plain => Lane::Own,
    };
    let change = Change {
        machine,
        lane,
        headers: ChangeHeaders::new(numbers, after),
        body: &change.bytes,
    };
    let appended = stream.append(after, &change);
    appended.map_err(|error| refused(repo, lane, error))
}

/// What it means to whoever changes a repository that a message is not the next.
pub(crate) fn refused(repo: &RepoId, lane: Lane, error: AppendError) -> OrderRefusal {
    match error {
        AppendError::Overtaken => overtaken(repo),
        AppendError::NotAllowed { .. } => OrderRefusal::NotAllowed {
            repo: repo.clone(),
            reason: match lane {
                Lane::Gate => "it was not invited to decide on briefs".to_owned(),
                Lane::Own => "its key does not let it change anything".to_owned(),
            },
        },
        AppendError::Unknown => OrderRefusal::Unsettled { repo: repo.clone() },
        AppendError::Unreachable { reason } => unreachable(repo, reason.to_owned()),
        AppendError::TooLarge { bytes } => OrderRefusal::TooLarge {
            repo: repo.clone(),
            bytes,
        },
        AppendError::Refused(error) => said(repo, &error),
    }
}

/// Makes a list's name a repository's in its fleet.
pub(crate) fn name_list(fleet: &Fleet, repo: &RepoId, list: &ListId) -> Result<(), OrderRefusal> {
    let by = fleet.name_list(list, repo);
    match by.map_err(|error| refusal(repo, &error))? == *repo {
        true => Ok(()),
        false => Err(OrderRefusal::ListThere {
            repo: repo.clone(),
            list: list.clone(),
        }),
    }
}

/// Carries out a message on this machine, where it is no part of what the order began with.
pub(crate) fn follow(home: &Home, repo: &RepoId, stored: &Stored) -> Result<()> {
    if stored.headers.wire > WIRE {
        let reason = "a newer Flagpost changes it; update this machine's";
        return Err(frozen(repo, reason.to_owned()).into());
    }
    let Message::Change(change) = Message::parse(repo, &stored.body)? else {
        return Ok(());
    };
    let origin = match stored.lane {
        Lane::Gate => ChangeOrigin::Gate,
        Lane::Own => ChangeOrigin::Plain,
    };
    // Another process of this machine has carried it out, and more: nobody waits for locks again.
    if change.last() >= order::last(home, repo)? {
        change.follow(home, origin)?;
    }
    Ok(())
}

/// The place of the message that has line `n`, or would come next.
pub(crate) fn seq_of(stream: &RepoStream, n: u64, last: &Stored) -> Result<u64, FleetError> {
    // Mostly it is the last, or one that comes after it.
    if n >= last.headers.numbers.first() {
        return Ok(last.seq + u64::from(n > last.headers.numbers.last()));
    }
    let (mut low, mut high) = (before_first(last.headers.epoch) + 1, last.seq);
    while low < high {
        let middle = low + (high - low) / 2;
        let found = stream.get_there(middle)?;
        match found.headers.numbers.last() < n {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    Ok(low)
}
