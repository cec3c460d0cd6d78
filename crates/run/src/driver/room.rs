//! Room: with which agent a task may be started now.
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

/// How long after a burst its account is asked again.
const AFTER_BURST: SignedDuration = SignedDuration::from_secs(30);

/// The agents of a run.
pub(super) struct Room {
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
pub(super) struct Parking {
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

impl Room {
    /// The agents with their programs and their accounts.
    pub fn new(agents: Vec<(Agent, PathBuf, Account)>, terms: &Terms) -> Self {
        let place = |(agent, program, account)| AgentState {
            agent,
            program,
            account,
            most: None,
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
    ) -> Option<Parking> {
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
                let until = now.saturating_add(AFTER_BURST).unwrap_or(Timestamp::MAX);
                (
                    Some(until),
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
        Some(Parking { until, why })
    }

    /// Takes in that an earlier run parked the account of this agent; what it means. Whoever wants no
    /// waiting wants the account asked again.
    pub fn still_parked(&mut self, at: usize, park: &Park, now: Timestamp) -> Option<Parking> {
        let until = self.park_until(now).unwrap_or(park.until);
        if self.terms.no_park || until <= now {
            return None;
        }
        let waits = self.waits();
        self.agents[at].parked = Some(Parked { until, waits });
        let why = park.why.clone();
        Some(Parking { until, why })
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
mod tests {
    use super::*;

    fn room(names: &[&str], terms: Terms) -> Room {
        let agent = |name: &&str| {
            let agent = name.parse::<Agent>().unwrap();
            (agent, PathBuf::from("/bin/true"), Account::of(name))
        };
        Room::new(names.iter().map(agent).collect(), &terms)
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn reached(second: i64) -> Limit {
        Limit::Reached {
            until: Some(at(second)),
            window: "five_hour".into(),
        }
    }

    #[test]
    fn a_task_goes_to_the_agent_with_room_and_least_to_do() {
        let mut room = room(&["claude", "codex"], Terms::default());
        assert_eq!(room.choose(None, &[0, 0]), AgentChoice::Agent(0));
        assert_eq!(room.choose(None, &[2, 1]), AgentChoice::Agent(1));
        assert_eq!(room.choose(Some(0), &[2, 1]), AgentChoice::Agent(0));
        room.limit(0, &reached(1000), 1, at(10));
        assert_eq!(room.choose(None, &[0, 3]), AgentChoice::Agent(1));
        assert_eq!(
            room.choose(Some(0), &[0, 3]),
            AgentChoice::None { opens: false }
        );
    }

    #[test]
    fn an_account_is_asked_again_a_minute_after_its_reset_and_only_where_the_run_may_wait() {
        for (resume_after_limit, no_park, waits) in [
            (false, false, false),
            (true, false, true),
            (true, true, false),
        ] {
            let terms = Terms {
                resume_after_limit,
                no_park,
                ..Terms::default()
            };
            let mut room = room(&["claude"], terms);
            let parking = room.limit(0, &reached(1000), 1, at(10)).unwrap();
            assert_eq!(parking.until, at(1060));
            assert_eq!(room.choose(None, &[0]), AgentChoice::None { opens: waits });
            assert_eq!(room.next_opening(), waits.then(|| at(1060)));
            assert_eq!(
                room.limit(0, &reached(1000), 1, at(11)),
                None,
                "it is known"
            );
        }
    }

    #[test]
    fn the_reserve_is_left_alone() {
        let terms = Terms {
            reserve: 0.2,
            ..Terms::default()
        };
        let mut room = room(&["codex"], terms);
        let used = |used| Limit::Open {
            used,
            until: Some(at(1000)),
            window: "primary".into(),
        };
        assert_eq!(room.limit(0, &used(0.8), 1, at(10)), None);
        let parking = room.limit(0, &used(0.81), 1, at(10)).unwrap();
        assert_eq!(parking.why, "81 % of its limit is used (primary)");
    }

    #[test]
    fn a_burst_makes_a_run_slower_and_is_always_waited_out() {
        let mut room = room(&["claude"], Terms::default());
        let parking = room.limit(0, &Limit::Burst, 3, at(10)).unwrap();
        assert_eq!(parking.until, at(40));
        assert_eq!(room.choose(None, &[0]), AgentChoice::None { opens: true });
        room.agents[0].parked = None;
        assert_eq!(room.choose(None, &[2]), AgentChoice::Agent(0));
        assert_eq!(room.choose(None, &[3]), AgentChoice::None { opens: true });
    }

    #[test]
    fn agents_of_one_account_share_its_limits() {
        let agent = |name: &str, account: &str| {
            let agent = name.parse::<Agent>().unwrap();
            (agent, PathBuf::from("/bin/true"), Account::of(account))
        };
        let agents = vec![
            agent("claude", "a"),
            agent("codex", "b"),
            agent("opus", "a"),
        ];
        let mut room = Room::new(agents, &Terms::default());
        room.limit(0, &reached(1000), 1, at(10));
        let parked = [0, 1, 2].map(|at| room.is_parked(at));
        assert_eq!(parked, [true, false, true]);
        assert_eq!(room.open(at(1060)), [0, 2]);
    }

    #[test]
    fn an_account_that_an_earlier_run_parked_rests_unless_the_operator_wants_it_asked() {
        let park = Park {
            agent: "claude".into(),
            until: at(1000),
            why: "it is at its limit (five_hour)".into(),
        };
        for (no_park, park_until, until) in [
            (false, None, Some(1000)),
            (true, None, None),
            (false, Some(500), Some(500)),
            (false, Some(5), Some(1000)),
        ] {
            let terms = Terms {
                no_park,
                park_until: park_until.map(at),
                ..Terms::default()
            };
            let mut room = room(&["claude"], terms);
            let parking = room.still_parked(0, &park, at(10));
            assert_eq!(parking.map(|it| it.until), until.map(at));
            assert_eq!(room.is_parked(0), until.is_some());
        }
    }
}
