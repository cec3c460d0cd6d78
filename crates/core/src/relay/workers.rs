//! The workers of a fleet: who they are, and whether they are live.
//!
//! Owns `worker.json`, and that a touched `alive` beside it is a sign of life; what opens a door for a worker is in [`tokens`]. A worker that is taken off keeps its
//! directory: its numbers go on where they were, should it come back.

pub mod tokens;

use std::collections::BTreeMap;

use flagpost_disk::{
    self as disk,
    dialects::relay::{self as layout, EnvelopePart, WorkerFile},
    fsx::{self, Batch},
    process,
};
use flagpost_model::{
    Seq, WorkerId,
    envelope::Direction,
    worker::{FRESH, Liveness, Worker, WorkerStatus},
};
use jiff::{SignedDuration, Timestamp};

use super::{
    Fleet, Locked, Mail, PAGE,
    briefs::{self, BriefStatus},
    skipped,
};
use crate::{
    error::{Error, Result},
    history::{Entry, Kind},
    skipped::Skipped,
};

/// A sign of life is not written more often than this.
const HEARTBEAT_INTERVAL: SignedDuration = SignedDuration::from_secs(20);

/// What a worker says about itself.
#[derive(Debug, Clone, Default)]
pub struct Traits {
    /// Which agent it is.
    pub agent: Option<String>,
    /// What it can do.
    pub capabilities: Vec<String>,
    /// Its process.
    pub pid: Option<u32>,
    /// Its pane.
    pub tmux: Option<String>,
    /// Where it works.
    pub worktree: Option<String>,
}

/// A worker of the fleet.
///
/// After 'flagpost worker add', show, rm and heartbeat.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
pub struct WorkerView {
    /// Who.
    #[serde(flatten)]
    pub worker: Worker,
    /// Why it counts as live, or that it does not.
    pub liveness: Liveness,
    /// Its briefs that wait for a decision.
    #[serde(rename = "to_decide")]
    pub pending: usize,
    /// Its briefs that somebody changed, or decided by an unknown hand.
    pub withheld: usize,
    /// Decided briefs that it has not read.
    #[serde(rename = "to_read")]
    pub unread: usize,
    /// Its reports that nobody has read.
    pub reports: usize,
    /// It has a token for the daemon's tools.
    pub has_token: bool,
    /// The decided brief that it reads next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<NextBrief>,
}

/// What a worker does next.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
pub struct NextBrief {
    /// Its number.
    pub seq: Seq,
    /// The ticket that it is about.
    pub target_ticket: Option<String>,
    /// Its words in a line.
    pub summary: String,
}

/// Adds a worker to the fleet; one that was taken off comes back.
pub fn register(
    fleet: &Fleet<'_>,
    actor: &WorkerId,
    id: &WorkerId,
    traits: Traits,
) -> Result<Worker> {
    fleet.home.environment().must_be_a_worker(id)?;
    join(fleet, actor, id, traits)
}

/// Puts a process of a run on the fleet, where it is not there yet.
pub fn enlist(fleet: &Fleet<'_>, actor: &WorkerId, id: &WorkerId, traits: Traits) -> Result<()> {
    let known = match fleet.mail(id) {
        Ok(mail) => Some((mail.file()?.content, mail)),
        Err(Error::NotFound { .. }) => None,
        Err(error) => return Err(error),
    };
    match known {
        Some((it, _)) if it.standing == WorkerStatus::Active && it.pid == traits.pid => Ok(()),
        // Its run was killed.
        Some((it, mail)) if it.standing == WorkerStatus::Active => beat(&mail, traits).map(drop),
        Some(_) | None => join(fleet, actor, id, traits).map(drop),
    }
}

fn join(fleet: &Fleet<'_>, actor: &WorkerId, id: &WorkerId, traits: Traits) -> Result<Worker> {
    fleet.home.transact(|| {
        let mail = fleet.directory(id);
        for direction in Direction::ALL {
            mail.home.make_dirs(&mail.dir(*direction))?;
        }
        let locked = mail.lock(Direction::Inbox)?;
        let before = match mail.file() {
            Ok(file) => Some(file),
            Err(Error::NotFound { .. }) => None,
            Err(error) => return Err(error),
        };
        if before
            .as_ref()
            .is_some_and(|it| it.content.standing == WorkerStatus::Active)
        {
            return Err(Error::Registered { worker: id.clone() });
        }
        let worker = Worker {
            id: id.clone(),
            agent: traits.agent.clone(),
            capabilities: traits.capabilities.clone(),
            registered_at: locked.at,
            last_seen: None,
            pid: traits.pid,
            tmux: traits.tmux.clone(),
            worktree: traits.worktree.clone(),
            standing: WorkerStatus::Active,
            token: None,
        };
        let entry = mail
            .entry(Kind::WorkerRegistered, None)
            .detail("agent", worker.agent.clone())
            .detail("capabilities", worker.capabilities.clone());
        locked.store(actor, entry, before.as_ref(), &worker)?;
        Ok(worker)
    })
}

/// Takes a worker off the fleet. Its mail stays; with `force` also what nobody has dealt with.
pub fn retire(fleet: &Fleet<'_>, actor: &WorkerId, id: &WorkerId, force: bool) -> Result<Worker> {
    fleet.home.transact(|| {
        let mail = fleet.mail(id)?;
        let locked = mail.lock(Direction::Inbox)?;
        must_belong(&mail)?;
        let file = mail.file()?;
        let seen = look(&mail, file.content.clone())?;
        let open = seen.pending + seen.unread + seen.reports;
        if open > 0 && !force {
            return Err(Error::OpenMail {
                worker: id.clone(),
                open,
            });
        }
        let mut worker = file.content.clone();
        worker.standing = WorkerStatus::Retired;
        worker.token = None;
        let entry = mail.entry(Kind::WorkerRetired, None);
        locked.store(actor, entry, Some(&file), &worker)?;
        Ok(worker)
    })
}

/// A worker's file that another machine wrote, as it is to be here: its process, its pane, its worktree and
/// its signs of life are each machine's own.
pub(crate) fn from_elsewhere(id: &WorkerId, text: &str, here: Option<&[u8]>) -> Vec<u8> {
    let Ok(file) = layout::read_worker(id, text.as_bytes()) else {
        return text.as_bytes().to_owned();
    };
    let here = here.and_then(|bytes| layout::read_worker(id, bytes).ok());
    let here = here.map(|it| it.content);
    // One that registered anew is another one.
    let here = here.filter(|it| it.registered_at == file.content.registered_at);
    let mut worker = file.content.clone();
    (worker.pid, worker.tmux, worker.worktree) = (None, None, None);
    if let Some(here) = here {
        (worker.pid, worker.tmux, worker.worktree) = (here.pid, here.tmux, here.worktree);
        worker.last_seen = here.last_seen.max(worker.last_seen);
    }
    layout::write_worker(Some(&file), &worker)
}

/// A sign of life, and what has changed about the worker.
pub fn heartbeat(mail: &Mail<'_>, traits: Traits) -> Result<Worker> {
    mail.renew(None)?;
    beat(mail, traits)
}

fn beat(mail: &Mail<'_>, traits: Traits) -> Result<Worker> {
    rewrite(mail, |worker, now| Worker {
        last_seen: worker.last_seen.max(Some(now)),
        agent: traits.agent.or(worker.agent),
        pid: traits.pid.or(worker.pid),
        tmux: traits.tmux.or(worker.tmux),
        worktree: traits.worktree.or(worker.worktree),
        capabilities: match traits.capabilities.is_empty() {
            true => worker.capabilities,
            false => traits.capabilities,
        },
        ..worker
    })
}

/// Writes a worker's file anew, of which no line tells.
fn rewrite(mail: &Mail<'_>, change: impl FnOnce(Worker, Timestamp) -> Worker) -> Result<Worker> {
    let locked = mail.lock(Direction::Inbox)?;
    let file = mail.file()?;
    let worker = change(file.content.clone(), locked.at);
    mail.store(Some(&file), &worker)?;
    Ok(worker)
}

/// The worker's client says that it ends: its last sign of life counts no more. The next one counts again.
pub fn falls_silent(mail: &Mail<'_>) -> Result<()> {
    rewrite(mail, |worker, now| {
        let stale = now.saturating_sub(FRESH * 2);
        Worker {
            last_seen: worker.last_seen.map(|at| at.min(stale.unwrap_or(now))),
            pid: None,
            ..worker
        }
    })?;
    Ok(())
}

/// The sign of life that any verb of the worker is; written only where the last one has aged.
pub fn seen_at_work(mail: &Mail<'_>) -> Result<()> {
    let worker = mail.file()?.content;
    if has_aged(worker.last_seen, mail.home.now()) {
        beat(mail, Traits::default())?;
    }
    Ok(())
}

/// The sign of life that a worker gave on another machine; written only where the one here has aged.
pub fn seen_elsewhere(mail: &Mail<'_>, at: Timestamp) -> Result<()> {
    let known = mail.file()?.content;
    if known.standing == WorkerStatus::Active && has_aged(known.last_seen, at) {
        rewrite(mail, |worker, now| Worker {
            // A machine whose clock is ahead makes nobody live for longer.
            last_seen: worker.last_seen.max(Some(at.min(now))),
            ..worker
        })?;
    }
    Ok(())
}

/// Whether a sign of life at this time says more than the last one.
fn has_aged(last_seen: Option<Timestamp>, at: Timestamp) -> bool {
    last_seen.is_none_or(|last| at.duration_since(last) > HEARTBEAT_INTERVAL)
}

/// One worker.
pub fn show(mail: &Mail<'_>) -> Result<WorkerView> {
    look(mail, mail.file()?.content)
}

/// All workers of the fleet, in order, and those whose file cannot be understood.
pub fn list(fleet: &Fleet<'_>) -> Result<(Vec<WorkerView>, Vec<Skipped>)> {
    let (mut all, mut unread) = (Vec::new(), Vec::new());
    for mail in fleet.mails()? {
        match mail.file() {
            Ok(file) => all.push(look(&mail, file.content)?),
            Err(Error::Disk(error)) if error.is_unreadable_file() => {
                let name = format!("{}/{}", mail.worker, layout::WORKER);
                unread.push(skipped(name, error.reason()));
            }
            Err(error) => return Err(error),
        }
    }
    Ok((all, unread))
}

/// How each worker is that belongs to the fleet. One whose file cannot be understood is passed over.
pub fn at_work(fleet: &Fleet<'_>) -> Result<Vec<(WorkerId, Liveness)>> {
    let active = active(fleet)?.into_iter();
    let each = active.map(|(mail, worker)| (worker.id.clone(), liveness(&mail, &worker)));
    Ok(each.collect())
}

/// When each worker that is live was seen last. One that lives by its process is seen now. A time that is
/// still to come says nothing.
pub fn signs(fleet: &Fleet<'_>) -> Result<BTreeMap<WorkerId, Timestamp>> {
    let (active, now) = (active(fleet)?.into_iter(), fleet.home.now());
    let each = active.filter_map(|(mail, worker)| match liveness(&mail, &worker) {
        Liveness::Heartbeat => {
            let at = worker.last_seen.filter(|at| *at <= now)?;
            Some((worker.id, at))
        }
        Liveness::Process => Some((worker.id, now)),
        Liveness::Silent => None,
    });
    Ok(each.collect())
}

fn active<'h>(fleet: &Fleet<'h>) -> Result<Vec<(Mail<'h>, Worker)>> {
    let mut all = Vec::new();
    for mail in fleet.mails()? {
        match mail.file() {
            Ok(file) if file.content.standing == WorkerStatus::Active => {
                all.push((mail, file.content));
            }
            Ok(_) | Err(Error::NotFound { .. }) => {}
            Err(Error::Disk(error)) if error.is_unreadable_file() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(all)
}

/// Refuses a worker that was taken off the fleet.
pub(crate) fn must_belong(mail: &Mail<'_>) -> Result<()> {
    match mail.file()?.content.standing {
        WorkerStatus::Active => Ok(()),
        WorkerStatus::Retired => Err(Error::NotFound {
            what: "worker",
            id: format!("{} any more", mail.worker),
            list: None,
        }),
    }
}

/// Refuses a worker that nobody answers for.
pub fn must_be_live(mail: &Mail<'_>) -> Result<()> {
    must_belong(mail)?;
    let worker = mail.file()?.content;
    match liveness(mail, &worker) {
        Liveness::Heartbeat | Liveness::Process => Ok(()),
        Liveness::Silent => Err(Error::NotLive {
            worker: worker.id,
            last_seen: worker.last_seen,
        }),
    }
}

/// Whether the process that a worker named runs.
pub(super) fn runs(mail: &Mail<'_>) -> Result<bool> {
    let pid = mail.file()?.content.pid;
    Ok(pid.is_some_and(process::is_alive))
}

fn liveness(mail: &Mail<'_>, worker: &Worker) -> Liveness {
    let runs = worker.pid.is_some_and(process::is_alive);
    worker.liveness(mail.home.now(), runs)
}

fn look(mail: &Mail<'_>, worker: Worker) -> Result<WorkerView> {
    let inbox = mail.slots(Direction::Inbox)?;
    let outbox = mail.slots(Direction::Outbox)?;
    let unread = |part| {
        outbox
            .values()
            .filter(|it| it.has(part) && !it.has(EnvelopePart::Read))
            .count()
    };
    let mut seen = WorkerView {
        liveness: liveness(mail, &worker),
        pending: 0,
        withheld: 0,
        unread: 0,
        reports: unread(EnvelopePart::Report),
        has_token: worker.token.is_some(),
        next: None,
        worker,
    };
    let open = inbox
        .iter()
        .filter(|(_, it)| it.is_brief() && !it.is_over());
    let open: Vec<_> = open.collect();
    let older = open.len().saturating_sub(PAGE);
    for (at, (seq, slot)) in open.into_iter().enumerate() {
        if at < older && slot.is_undecided() {
            seen.pending += 1;
            continue;
        }
        let Ok(letter) = briefs::brief_view(mail, *seq, slot)? else {
            continue;
        };
        let counted = match letter.stage {
            _ if letter.held.is_some() => &mut seen.withheld,
            BriefStatus::Pending => &mut seen.pending,
            // It waits for nobody any more.
            BriefStatus::Expired | BriefStatus::Read(_) | BriefStatus::Withdrawn => continue,
            BriefStatus::Decided(_) | BriefStatus::Offered(_) => {
                seen.next.get_or_insert_with(|| NextBrief {
                    seq: *seq,
                    target_ticket: letter.brief.target_ticket.clone(),
                    summary: letter.brief.summary.clone(),
                });
                &mut seen.unread
            }
        };
        *counted += 1;
    }
    Ok(seen)
}

impl Locked<'_> {
    /// A change of the worker that the history tells of.
    fn store(
        &self,
        actor: &WorkerId,
        entry: Entry,
        before: Option<&WorkerFile>,
        worker: &Worker,
    ) -> Result<()> {
        let mut batch = Batch::new();
        let path = self.mail.dir.join(layout::WORKER);
        batch.put(path, layout::write_worker(before, worker));
        self.commit(actor, vec![entry], batch)
    }
}

impl Mail<'_> {
    fn file(&self) -> Result<WorkerFile> {
        let path = self.dir.join(layout::WORKER);
        let Some(bytes) = fsx::read(self.home.fs(), &path)? else {
            return Err(Error::NotFound {
                what: "worker",
                id: self.worker.to_string(),
                list: None,
            });
        };
        let read = layout::read_worker(&self.worker, &bytes);
        let mut file = read.map_err(|reason| disk::Error::Malformed { path, reason })?;
        file.content.last_seen = file.content.last_seen.max(self.touched()?);
        Ok(file)
    }

    /// When the worker's `alive` was touched last. A time that is still to come says nothing.
    fn touched(&self) -> Result<Option<Timestamp>> {
        let stat = fsx::stat(self.home.fs(), &self.dir.join(layout::ALIVE))?;
        let at = stat.and_then(|it| Timestamp::from_nanosecond(it.modified.into()).ok());
        Ok(at.filter(|at| *at <= self.home.now()))
    }

    fn store(&self, before: Option<&WorkerFile>, worker: &Worker) -> Result<()> {
        let path = self.dir.join(layout::WORKER);
        let bytes = layout::write_worker(before, worker);
        Ok(fsx::replace(self.home.fs(), &path, &bytes)?)
    }
}
