//! All tasks and agents of a coordination directory, and what follows from them together.
//!
//! Owns what can be claimed and in which order, what is blocked and why, and what a new task may
//! name. Everything is derived and kept nowhere.

use std::{
    collections::{HashMap, HashSet},
    fmt,
};

use jiff::civil::DateTime;

use super::{CoordAct, CoordAgent, CoordEvent, CoordRefusal, CoordStatus, CoordTask, LEASE};
use crate::{
    id::{TaskId, Token, WorkerId},
    plan::{Graph, StrandedBecause, stranded},
    task::{self, Outline, StateName},
};

/// The whole table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Board {
    /// The tasks, in the table's order.
    pub tasks: Vec<CoordTask>,
    /// The agents.
    pub agents: Vec<CoordAgent>,
}

/// How a task stands, the others considered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CoordReadiness {
    /// It can be claimed.
    Ready,
    /// It can be claimed: its holder gave no sign of life for too long.
    Expired,
    /// It waits for tasks that are not done yet.
    Waiting(Vec<TaskId>),
    /// It failed, and is tried again then.
    Resting(DateTime),
    /// It cannot begin unless somebody does something.
    Blocked(Option<StrandedBecause>),
    /// Somebody has it.
    Held,
    /// It is over.
    Over,
}

impl CoordReadiness {
    /// In a word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Expired => "expired",
            Self::Waiting(_) => "waiting",
            Self::Resting(_) => "resting",
            Self::Blocked(_) => "blocked",
            Self::Held => "held",
            Self::Over => "over",
        }
    }
}

/// Why it stands so, where that is to be said.
impl fmt::Display for CoordReadiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready | Self::Held | Self::Over => Ok(()),
            Self::Expired => f.write_str("its holder is gone"),
            Self::Waiting(on) => {
                let on: Vec<_> = on.iter().map(TaskId::as_str).collect();
                write!(f, "waits for {}", on.join(", "))
            }
            Self::Resting(until) => write!(f, "tried again at {until:.0}"),
            Self::Blocked(Some(StrandedBecause::GivenUp { task, state })) => {
                // What is stuck elsewhere is blocked here.
                let state = match state {
                    StateName::Stuck => CoordStatus::Blocked.as_str(),
                    other => other.as_str(),
                };
                write!(f, "waits for {task}, which is {state}")
            }
            Self::Blocked(Some(StrandedBecause::Unknown { waiting, missing })) => {
                write!(f, "{waiting} waits for {missing}, which does not exist")
            }
            Self::Blocked(Some(why @ StrandedBecause::Cycle { .. })) => why.fmt(f),
            Self::Blocked(None) => f.write_str("somebody wrote so"),
        }
    }
}

/// Why a worker got no task: how many there are of each sort.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Idle {
    /// Others have them.
    pub held: usize,
    /// They wait for others.
    pub waiting: usize,
    /// They failed a moment ago.
    pub resting: usize,
    /// They cannot begin.
    pub blocked: usize,
    /// The worker cannot do them.
    pub beyond: usize,
}

impl fmt::Display for Idle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.held, "held"),
            (self.waiting, "waiting"),
            (self.resting, "resting"),
            (self.blocked, "blocked"),
            (self.beyond, "for others' capabilities"),
        ];
        let told = parts.iter().filter(|(count, _)| *count > 0);
        let told: Vec<_> = told
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        match told.is_empty() {
            true => f.write_str("all are over"),
            false => f.write_str(&told.join(", ")),
        }
    }
}

impl Board {
    /// A task.
    pub fn task(&self, id: &TaskId) -> Option<&CoordTask> {
        self.tasks.iter().find(|it| it.id == *id)
    }

    /// An agent.
    pub fn agent(&self, id: &str) -> Option<&CoordAgent> {
        self.agents.iter().find(|it| it.id.as_str() == id)
    }

    /// What an agent can do; one that never registered can do what needs nothing special.
    pub fn capabilities(&self, id: &WorkerId) -> &[String] {
        let agent = self.agent(id.as_str());
        agent.map_or(&[], |it| &it.capabilities)
    }

    /// Until when the holder of a task has it: its last sign of life and a lease. `None` where it
    /// never gave one that we know of, so that nobody can say that it is gone.
    pub fn held_until(&self, task: &CoordTask) -> Option<DateTime> {
        let claim = task.holder()?;
        let seen = self.agent(&claim.by).and_then(|it| it.last_seen);
        let last = seen.max(claim.at)?;
        Some(last.saturating_add(LEASE))
    }

    /// Who acts on a task, and what the rules want to know about it.
    pub fn act(
        &self,
        task: &CoordTask,
        actor: &WorkerId,
        token: Option<Token>,
        at: DateTime,
    ) -> CoordAct {
        CoordAct {
            actor: actor.clone(),
            token,
            at,
            held_until: self.held_until(task),
        }
    }

    /// The claim of a task by a worker, with all that speaks against it.
    pub fn claim(&self, task: &CoordTask, worker: &WorkerId) -> CoordEvent {
        let is_open = |id: &&TaskId| {
            self.task(id)
                .is_none_or(|it| it.status != CoordStatus::Done)
        };
        CoordEvent::Claim {
            open: task.dependencies.iter().filter(is_open).cloned().collect(),
            missing: task.lacks(self.capabilities(worker)),
        }
    }

    /// How each task stands, in the table's order.
    pub fn readiness(&self, now: DateTime) -> Vec<CoordReadiness> {
        let outlines: Vec<Outline> = self.tasks.iter().map(outline).collect();
        let graph = Graph::new(&outlines);
        let mut stranded: HashMap<TaskId, StrandedBecause> = stranded(&graph)
            .into_iter()
            .map(|it| (it.id, it.why))
            .collect();
        let mut standing = |task: &CoordTask| match task.status {
            CoordStatus::Done | CoordStatus::Failed | CoordStatus::Cancelled => {
                CoordReadiness::Over
            }
            CoordStatus::Blocked => CoordReadiness::Blocked(stranded.remove(&task.id)),
            CoordStatus::Claimed | CoordStatus::InProgress => match self.held_until(task) {
                Some(until) if until <= now => CoordReadiness::Expired,
                _ => CoordReadiness::Held,
            },
            CoordStatus::Available => {
                let open = graph.open_blockers(&task.id);
                match (stranded.remove(&task.id), task.next_retry_at) {
                    (Some(why), _) => CoordReadiness::Blocked(Some(why)),
                    (None, _) if !open.is_empty() => CoordReadiness::Waiting(open),
                    (None, Some(until)) if now < until => CoordReadiness::Resting(until),
                    (None, _) => CoordReadiness::Ready,
                }
            }
        };
        self.tasks.iter().map(&mut standing).collect()
    }

    /// The task that a worker is given next, or why there is none.
    pub fn next_for(&self, worker: &WorkerId, now: DateTime) -> Result<TaskId, Idle> {
        let (queue, idle) = self.queue(worker, now);
        queue.into_iter().next().ok_or(idle)
    }

    /// What a worker may be given, in order, and what it may not.
    pub fn queue(&self, worker: &WorkerId, now: DateTime) -> (Vec<TaskId>, Idle) {
        let capabilities = self.capabilities(worker);
        let mut idle = Idle::default();
        let mut queue: Vec<&CoordTask> = Vec::new();
        let done = self
            .tasks
            .iter()
            .filter(|it| it.status == CoordStatus::Done);
        let done: HashSet<&TaskId> = done.map(|it| &it.id).collect();
        for (task, standing) in self.tasks.iter().zip(self.readiness(now)) {
            match standing {
                CoordReadiness::Ready | CoordReadiness::Expired
                    if !task.lacks(capabilities).is_empty() =>
                {
                    idle.beyond += 1;
                }
                // A task that lost its holder may have got another dependency since.
                CoordReadiness::Expired
                    if !task.dependencies.iter().all(|it| done.contains(it)) =>
                {
                    idle.waiting += 1;
                }
                CoordReadiness::Ready | CoordReadiness::Expired => queue.push(task),
                CoordReadiness::Waiting(_) => idle.waiting += 1,
                CoordReadiness::Resting(_) => idle.resting += 1,
                CoordReadiness::Blocked(_) => idle.blocked += 1,
                CoordReadiness::Held => idle.held += 1,
                CoordReadiness::Over => {}
            }
        }
        queue.sort_by(|a, b| {
            let rank = |it: &CoordTask| (it.due(), it.priority);
            rank(a).cmp(&rank(b)).then_with(|| a.id.cmp(&b.id))
        });
        (queue.into_iter().map(|it| it.id.clone()).collect(), idle)
    }
}

/// Refuses new tasks that name what there is not, or that would wait for each other.
pub fn check_new(board: &Board, new: &[CoordTask]) -> Result<(), CoordRefusal> {
    let all: Vec<&CoordTask> = board.tasks.iter().chain(new).collect();
    let known: HashMap<&TaskId, usize> = all.iter().fold(HashMap::new(), |mut known, it| {
        *known.entry(&it.id).or_default() += 1;
        known
    });
    for task in new {
        if known.get(&task.id).is_some_and(|times| *times > 1) {
            let task = task.id.clone();
            return Err(CoordRefusal::Taken { task });
        }
        let mut named = task.dependencies.iter().chain(&task.parent);
        if let Some(missing) = named.find(|it| !known.contains_key(it)) {
            return Err(CoordRefusal::Unknown {
                task: task.id.clone(),
                missing: missing.clone(),
            });
        }
    }
    let before: Vec<Outline> = board.tasks.iter().map(outline).collect();
    let after: Vec<Outline> = all.into_iter().map(outline).collect();
    match Graph::new(&after).new_cycle(&Graph::new(&before)) {
        Some(path) => Err(CoordRefusal::Cycle { path }),
        None => Ok(()),
    }
}

/// The task as planning sees it. Who holds it is not in it: a lease depends on its agent.
fn outline(task: &CoordTask) -> Outline {
    let mut plain = task::Task::new(task.id.clone(), "");
    plain.blocked_by.clone_from(&task.dependencies);
    plain.state = match task.status {
        CoordStatus::Available => task::State::Pending,
        CoordStatus::Claimed | CoordStatus::InProgress => task::State::InProgress(None),
        CoordStatus::Done => task::State::Completed,
        CoordStatus::Failed => task::State::Failed,
        CoordStatus::Cancelled => task::State::Cancelled,
        CoordStatus::Blocked => task::State::Stuck,
    };
    Outline::from(&plain)
}
