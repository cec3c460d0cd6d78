//! With which agent a task may be started now.
//!
//! Owns how each agent's account stands: within its limits, parked until a time, or worked with more
//! slowly. An account is what a client logs in with; agents of one client and one environment share it.
//! Nothing here starts or stops anything.

use std::path::PathBuf;

use flagpost_core::accounts::{Account, Park};
use jiff::{SignedDuration, Timestamp};

use crate::{agent::Agent, client::Limit, terms::Terms};

/// How long after a window begins anew its account is asked again.
const AFTER_RESET: SignedDuration = SignedDuration::from_secs(60);

/// How long after a burst its account is asked again; twice as long after each further one.
const AFTER_BURST: SignedDuration = SignedDuration::from_secs(30);

/// The agents of a run.
pub(super) struct AgentCapacity {
    agents: Vec<AgentState>,
    terms: Terms,
}

/// One agent.
struct AgentState {
    agent: Agent,
    program: PathBuf,
    account: Account,
    /// How many may work side by side; none is as many as the run has places.
    most: Option<usize>,
    /// How many bursts came since it answered last.
    bursts: u32,
    parked: Option<Parked>,
}

/// Since when nothing is started with an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Parked {
    until: Timestamp,
    /// Whether the run waits for that.
    waits: bool,
}

/// What a limit means for the run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RateLimited {
    /// Until when.
    pub until: Timestamp,
    /// In words.
    pub why: String,
}

/// Which agent a task may be started with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AgentChoice {
    /// The one at this place.
    Agent(usize),
    /// None now; whether the run waits until there is.
    None { opens: bool },
}

impl AgentCapacity {
    /// The agents with their programs and their accounts.
    pub fn new(agents: Vec<(Agent, PathBuf, Account)>, terms: &Terms) -> Self {
        let place = |(agent, program, account)| AgentState {
            agent,
            program,
            account,
            most: None,
            bursts: 0,
            parked: None,
        };
        Self {
            agents: agents.into_iter().map(place).collect(),
            terms: terms.clone(),
        }
    }

    /// Whether there is any agent.
    pub fn any(&self) -> bool {
        !self.agents.is_empty()
    }

    /// The agent at a place.
    pub fn agent(&self, at: usize) -> &Agent {
        &self.agents[at].agent
    }

    /// Its program.
    pub fn program(&self, at: usize) -> &PathBuf {
        &self.agents[at].program
    }

    /// Its account.
    pub fn account(&self, at: usize) -> &Account {
        &self.agents[at].account
    }

    /// The place of the agent of this name.
    pub fn named(&self, name: &str) -> Option<usize> {
        self.agents.iter().position(|it| it.agent.name == name)
    }

    /// The agent that a task is started with: the wanted one, else the one that has room and least to do.
    /// `busy` says how many work with each.
    pub fn choose(&self, wanted: Option<usize>, busy: &[usize]) -> AgentChoice {
        let has_room = |at: &usize| {
            let place = &self.agents[*at];
            place.parked.is_none() && place.most.is_none_or(|most| busy[*at] < most)
        };
        let all = 0..self.agents.len();
        let candidates: Vec<usize> = match wanted {
            Some(at) => vec![at],
            None => all.collect(),
        };
        let free = candidates.iter().copied().filter(has_room);
        match free.min_by_key(|at| (busy[*at], *at)) {
            Some(at) => AgentChoice::Agent(at),
            None => AgentChoice::None {
                // Where it is only slower, there is room when another one ends.
                opens: candidates.iter().any(|at| {
                    let parked = self.agents[*at].parked.as_ref();
                    parked.is_none_or(|parked| parked.waits)
                }),
            },
        }
    }

    /// Takes a limit in that a client of this agent told of; what it means, where it is new.
    pub fn limit(
        &mut self,
        at: usize,
        limit: &Limit,
        busy: usize,
        now: Timestamp,
    ) -> Option<RateLimited> {
        let spare = 1.0 - self.terms.reserve;
        let (until, waits, why) = match limit {
            Limit::Open { used, .. } if *used <= spare => return None,
            Limit::Open {
                used,
                until,
                window,
            } => {
                let used = format!("{:.0} % of its limit is used ({window})", used * 100.0);
                (*until, self.waits(), used)
            }
            Limit::Warning { until, window } => (
                *until,
                self.waits(),
                format!("it nears its limit ({window})"),
            ),
            Limit::Reached { until, window } => (
                *until,
                self.waits(),
                format!("it is at its limit ({window})"),
            ),
            Limit::Burst => {
                let place = &mut self.agents[at];
                place.most = Some(place.most.unwrap_or(busy + 1).saturating_sub(1).max(1));
                // What others met at the same time is the same burst.
                if place.parked.is_some() {
                    return None;
                }
                let rest = AFTER_BURST.saturating_mul(2_i32.saturating_pow(place.bursts));
                place.bursts += 1;
                let until = now.saturating_add(rest.min(self.terms.park.max(AFTER_BURST)));
                (
                    Some(until.unwrap_or(Timestamp::MAX)),
                    true,
                    "its server asks for fewer requests at once".to_owned(),
                )
            }
        };
        let until = match (limit, self.park_until(now), until) {
            (Limit::Burst, _, Some(until)) => until,
            (_, Some(until), _) => until,
            (_, None, Some(until)) => until.saturating_add(AFTER_RESET).unwrap_or(Timestamp::MAX),
            (_, None, None) => now
                .saturating_add(self.terms.park)
                .unwrap_or(Timestamp::MAX),
        };
        if until <= now {
            return None;
        }
        let is_known = |parked: &Parked| parked.until >= until;
        if self.agents[at].parked.as_ref().is_some_and(is_known) {
            return None;
        }
        for shared in self.sharing(at) {
            self.agents[shared].parked = Some(Parked { until, waits });
        }
        Some(RateLimited { until, why })
    }

    /// Takes in that its server answered.
    pub fn answered(&mut self, at: usize) {
        self.agents[at].bursts = 0;
    }

    /// Takes in that an earlier run parked the account of this agent; what it means. Whoever wants no
    /// waiting wants the account asked again.
    pub fn still_parked(&mut self, at: usize, park: &Park, now: Timestamp) -> Option<RateLimited> {
        let until = self.park_until(now).unwrap_or(park.until);
        if self.terms.no_park || until <= now {
            return None;
        }
        let waits = self.waits();
        self.agents[at].parked = Some(Parked { until, waits });
        let why = park.why.clone();
        Some(RateLimited { until, why })
    }

    /// Until when the operator wants an account left alone. A time that is over says nothing of a limit
    /// that is met later.
    fn park_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.terms.park_until.filter(|until| *until > now)
    }

    /// Whether the run waits for an account.
    fn waits(&self) -> bool {
        !self.terms.no_park && (self.terms.resume_after_limit || self.terms.park_until.is_some())
    }

    /// The places whose agents share an account with this one.
    fn sharing(&self, at: usize) -> Vec<usize> {
        let account = &self.agents[at].account;
        let all = self.agents.iter().enumerate();
        all.filter_map(|(at, it)| (it.account == *account).then_some(at))
            .collect()
    }

    /// Whether the agent at this place is parked.
    pub fn is_parked(&self, at: usize) -> bool {
        self.agents[at].parked.is_some()
    }

    /// Whether what is held for this agent is waited for.
    pub fn opens(&self, at: usize) -> bool {
        let parked = self.agents[at].parked.as_ref();
        parked.is_none_or(|parked| parked.waits)
    }

    /// When the next account is asked again that the run waits for.
    pub fn next_opening(&self) -> Option<Timestamp> {
        let parked = self.agents.iter().filter_map(|it| it.parked.as_ref());
        parked.filter(|it| it.waits).map(|it| it.until).min()
    }

    /// The places of the agents whose time has come: they may work again.
    pub fn open(&mut self, now: Timestamp) -> Vec<usize> {
        let mut opened = Vec::new();
        for (at, place) in self.agents.iter_mut().enumerate() {
            if place
                .parked
                .as_ref()
                .is_some_and(|parked| parked.until <= now)
            {
                place.parked = None;
                opened.push(at);
            }
        }
        opened
    }
}

#[cfg(test)]
mod tests;
