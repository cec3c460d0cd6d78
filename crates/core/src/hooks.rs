//! What an agent is told between its steps, without its asking (`agents.md` §9).
//!
//! Owns the facts that a hook tells, when it holds the end of a turn, and when it refuses an edit. A hook
//! tells facts and gives no orders; it allows what the client would ask about only where the operator did. How a client is told is
//! spelled in `model`; whoever calls sees to it that a fault of ours says nothing.

mod agent_inbox_log;
mod edit;
mod install;
mod joined;
mod log;
mod original;
mod permission;

use std::path::Path;

use flagpost_model::{
    TaskId, Token, WorkerId,
    client::Client,
    hook::{HookAnswer, HookEvent, HookInput, Turnover},
    reservation::{Holding, Reservation, ReservationMode, holding},
    task::{Act, Claim},
};
use jiff::Timestamp;

pub use agent_inbox_log::tell_by_turn;
use agent_inbox_log::{fact, short, tell};
pub use edit::HookEntry;
pub use install::{HookChange, HookScope, HookSettings};
pub use joined::JoinedSessions;
pub use log::{HookLine, HookLog, last_fired};

use crate::{
    error::{Error, Result, describe},
    files,
    home::Home,
    list::List,
    relay::{
        Fleet, Mail,
        deliver::{self, Offer},
        workers,
    },
    repository::Repository,
    tasks::{self, Move},
};

/// So often in a row the end of a turn is held: a client that is held for ever never ends.
const HOLDS: usize = 2;

/// Whose client asks, and where.
#[derive(Debug)]
pub struct HookCaller<'h> {
    /// The home.
    pub home: &'h Home,
    /// The repository that the agent works in, from the top of its own working tree.
    pub repository: Repository,
    /// Which worker it is.
    pub worker: WorkerId,
    /// The task that it was given by its environment, and the claim's token.
    pub task: Option<(List<'h>, TaskId, Option<Token>)>,
    /// Which client asks.
    pub client: Client,
    /// Whether nobody sits at the client: a run has started it.
    pub is_unattended: bool,
    /// The number of the history's line that tells what the run allows its agents.
    pub rules: Option<u64>,
}

impl HookCaller<'_> {
    /// What is answered.
    pub fn answer(&self, event: HookEvent, input: &HookInput) -> Result<HookAnswer> {
        if self.fleet().has_retired(&self.worker)? {
            return Ok(HookAnswer::Nothing);
        }
        let log = HookLog::of(self.home, &self.worker);
        // It keeps no brief from its worker.
        if let Err(error) = self.settle_requests(event, input) {
            log.failed(self.client, event, describe(&error))?;
        }
        let (answer, brief) = match event {
            HookEvent::SessionStart => self.introduce()?,
            HookEvent::Prompt | HookEvent::Batch => return self.deliver(&log, event),
            HookEvent::PreTool => (self.guard(input)?, None),
            HookEvent::Stop => self.hold(&log, input)?,
            // It is asked and answered apart, since a person takes time.
            HookEvent::Permission => return Ok(HookAnswer::Nothing),
            // Another conversation follows at once.
            HookEvent::SessionEnd if input.turnover == Turnover::Clear => {
                (HookAnswer::Nothing, None)
            }
            HookEvent::StopFailure | HookEvent::SessionEnd => (self.part()?, None),
        };
        log.add(self.client, event, &answer, brief)?;
        Ok(answer)
    }

    /// Who it is, what it works on, and what waits for it.
    fn introduce(&self) -> Result<(HookAnswer, Option<u64>)> {
        self.show_life()?;
        let mut told = vec![format!(
            "You are worker {} of the Flagpost fleet of {}.",
            self.worker, self.repository.name
        )];
        if let Some((list, id, _)) = &self.task
            && let Ok(file) = list.task(id)
        {
            told.push(format!("Your task is #{id} '{}'.", file.task.subject));
        }
        let fleet = self.fleet();
        let others = fleet.reservations().scan()?.live;
        let others = others.iter().filter(|it| it.wanted.holder != self.worker);
        match others.count() {
            0 => {}
            1 => told.push("1 path is reserved by another: `flagpost reserve list`.".to_owned()),
            n => told.push(format!(
                "{n} paths are reserved by others: `flagpost reserve list`."
            )),
        }
        let offer = self.offer()?;
        told.extend(offer.as_ref().map(|offer| fact(&self.worker, offer)));
        let brief = offer.map(|offer| offer.brief.seq.get());
        Ok((HookAnswer::Context(short(&told.join(" "))), brief))
    }

    /// The brief that waits, where it was not told of lately; the claim is renewed meanwhile.
    fn deliver(&self, log: &HookLog<'_>, event: HookEvent) -> Result<HookAnswer> {
        self.renew()?;
        let mut answer = HookAnswer::Nothing;
        let by = (self.client, event.as_str(), Timestamp::MIN);
        let told = match self.mail()? {
            Some(mail) => tell(self.home, &mail, by, |words| {
                answer = HookAnswer::Context(words.to_owned());
                true
            })?,
            None => false,
        };
        if !told {
            log.add(self.client, event, &answer, None)?;
        }
        Ok(answer)
    }

    /// Refuses to change what another holds.
    fn guard(&self, input: &HookInput) -> Result<HookAnswer> {
        if input.paths.is_empty() {
            return Ok(HookAnswer::Nothing);
        }
        let (survey, now) = (self.fleet().reservations().scan()?, self.home.now());
        for path in &input.paths {
            let Some(path) = self.within(path, input.dir.as_deref()) else {
                continue;
            };
            if let Holding::Others(held) = holding(&path, Some(&self.worker), &survey.live, now)
                && held.wanted.mode == ReservationMode::Exclusive
            {
                return Ok(HookAnswer::Deny(refusal(&path, held)));
            }
        }
        Ok(HookAnswer::Nothing)
    }

    /// Holds the end of a turn while a brief waits that was delivered, but not for ever.
    fn hold(&self, log: &HookLog<'_>, input: &HookInput) -> Result<(HookAnswer, Option<u64>)> {
        let nothing = (HookAnswer::Nothing, None);
        if input.was_held && log.holds()? >= HOLDS {
            return Ok(nothing);
        }
        let Some(offer) = self.offer()? else {
            return Ok(nothing);
        };
        let seq = offer.brief.seq.get();
        Ok(match log.is_on_its_way(seq)? {
            // Another turn follows, which tells of it.
            true => nothing,
            false => (
                HookAnswer::Hold(short(&fact(&self.worker, &offer))),
                Some(seq),
            ),
        })
    }

    /// The client ends: who is asked to wait for its worker is told at once that it is silent.
    fn part(&self) -> Result<HookAnswer> {
        if let Ok(mail) = self.fleet().mail(&self.worker) {
            workers::falls_silent(&mail)?;
        }
        Ok(HookAnswer::Nothing)
    }

    /// The oldest brief that waits; none for somebody without mail.
    fn offer(&self) -> Result<Option<Offer>> {
        match self.mail()? {
            Some(mail) => deliver::next(&mail, &self.worker),
            None => Ok(None),
        }
    }

    fn mail(&self) -> Result<Option<Mail<'_>>> {
        match self.fleet().mail(&self.worker) {
            Ok(mail) => Ok(Some(mail)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Shows that the worker is alive.
    fn show_life(&self) -> Result<()> {
        match self.fleet().mail(&self.worker) {
            Ok(mail) => workers::seen_at_work(&mail),
            Err(_) => Ok(()),
        }
    }

    /// Extends the claim of the task it was given, once half of its lease is over; and shows that the worker
    /// is alive.
    fn renew(&self) -> Result<()> {
        self.show_life()?;
        let Some((list, id, Some(token))) = &self.task else {
            return Ok(());
        };
        let task = list.task(id)?.task;
        let now = self.home.now();
        let is_due = |claim: &Claim| claim.expires_at.duration_since(now) < claim.lease / 2;
        let is_mine = |claim: &&Claim| claim.by == self.worker && claim.token == *token;
        if task.state.claim().filter(is_mine).is_some_and(is_due) {
            let act = Act {
                actor: self.worker.clone(),
                token: Some(*token),
                at: now,
            };
            tasks::act(list, &act, id, Move::Renew)?;
        }
        Ok(())
    }

    fn fleet(&self) -> Fleet<'_> {
        Fleet::of(self.home, &self.repository.id)
    }

    /// A file of the repository as reservations name it, links followed; none where it lies elsewhere.
    fn within(&self, path: &Path, dir: Option<&Path>) -> Option<String> {
        let top = std::fs::canonicalize(&self.repository.top).ok()?;
        let path = files::real(&dir.unwrap_or(&self.repository.top).join(path));
        let inside = path.strip_prefix(&top).ok()?;
        Some(inside.to_string_lossy().into_owned())
    }
}

fn refusal(path: &str, held: &Reservation) -> String {
    let wanted = &held.wanted;
    let why = wanted.reason.as_ref().map(|it| format!(" ({it})"));
    short(&format!(
        "{path} is reserved by {} until {:.0}{}. `flagpost reserve list`",
        wanted.holder,
        held.until,
        why.unwrap_or_default()
    ))
}
