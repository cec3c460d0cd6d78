//! What a run that began now would do.
//!
//! Owns the answer to a dry run: the scheduler itself is asked, with agents that all pass; a task that
//! somebody holds is refused by the rule that its claim would be refused by. Reads, and writes nothing.

use std::collections::{BTreeSet, VecDeque};

use flagpost_core::{
    Error, List,
    sessions::{self, Sessions},
};
use flagpost_model::{
    TaskId, Token, WorkerId,
    session::Outcome,
    task::{self, Act, Outline, State, transition},
};
use jiff::{SignedDuration, Timestamp};

use crate::{
    agent::{Agent, asked_for, lacking},
    error::Result,
    refusal::refusal,
    scheduler::{Effect, Event, NoLaunch, RunConfig, Scheduler, TaskOutcome},
    scope::{RunScope, plan, scope},
    unstarted,
};

/// What would begin, and what would not.
#[derive(Debug)]
pub struct Rehearsal {
    /// The tasks that would be begun, wave by wave.
    pub waves: Vec<Vec<TaskId>>,
    /// Those that would be skipped, and why.
    pub skipped: Vec<(TaskId, String)>,
}

/// Rehearses a run of the list, of which these are the outlines. `sessions` are the repository's, where
/// it has any: what a dead one holds is given back first. Where it is known which agents the run would
/// have, a task that asks for another is left alone.
pub fn rehearse(
    list: &List<'_>,
    outlines: &[Outline],
    sessions: Option<&Sessions<'_>>,
    (config, agents): (&RunConfig, Option<&[Agent]>),
    wanted: RunScope<'_>,
) -> Result<Rehearsal> {
    let mut outlines = outlines.to_vec();
    if let Some(sessions) = sessions {
        let orphans: BTreeSet<TaskId> = sessions::to_give_back(sessions, &outlines)?
            .into_iter()
            .collect();
        let given_back = outlines.iter_mut().filter(|it| orphans.contains(&it.id));
        given_back.for_each(|outline| outline.state = State::Pending);
    }
    let in_run = scope(&outlines, wanted);
    let held = held(&in_run);
    let mut scheduler = Scheduler::new(config.clone(), &in_run);
    let mut effects = VecDeque::from(scheduler.handle(Event::Begin, wanted.now));
    let mut skipped = Vec::new();
    while let Some(effect) = effects.pop_front() {
        let event = match effect {
            Effect::Launch { task, .. } => {
                let refused = match lacked(list, &task, agents) {
                    None if held.contains(&task) => refused(list, &task, wanted.now)?,
                    lacked => lacked,
                };
                match refused {
                    Some(because) => Event::CouldNotLaunch { task, because },
                    None => Event::Ended {
                        task,
                        outcome: Outcome::Pass,
                        retryable: false,
                    },
                }
            }
            Effect::Settled {
                task,
                fate: TaskOutcome::Skipped { why },
            } => {
                let words = unstarted::words(&task, &why, list);
                skipped.push((task, words));
                continue;
            }
            _ => continue,
        };
        effects.extend(scheduler.handle(event, wanted.now));
    }
    let left: BTreeSet<&TaskId> = skipped.iter().map(|(id, _)| id).collect();
    let mut waves = plan(&outlines, wanted);
    waves
        .iter_mut()
        .for_each(|wave| wave.retain(|id| !left.contains(id)));
    waves.retain(|wave| !wave.is_empty());
    Ok(Rehearsal { waves, skipped })
}

/// Those that somebody has, or had: only their files say who may claim them.
fn held(outlines: &[Outline]) -> BTreeSet<TaskId> {
    let held = outlines
        .iter()
        .filter(|it| matches!(it.state, State::Claimed(_) | State::InProgress(_)));
    held.map(|outline| outline.id.clone()).collect()
}

/// Why no agent of the run would be given the task, if none would.
fn lacked(list: &List<'_>, id: &TaskId, agents: Option<&[Agent]>) -> Option<NoLaunch> {
    let agents = agents?;
    // One that cannot be read says nothing, and is skipped for that.
    let file = list.task(id).ok()?;
    let name = asked_for(&file.task)?;
    let has = agents.iter().any(|it| it.name == name);
    (!has).then(|| NoLaunch::Refused {
        reason: lacking(name),
    })
}

/// Why a process of the run could not have the task, if it could not.
fn refused(list: &List<'_>, id: &TaskId, now: Timestamp) -> Result<Option<NoLaunch>> {
    let event = task::TaskEvent::Claim {
        token: Token(u64::MAX),
        lease: SignedDuration::ZERO,
        session: None,
        open: Vec::new(),
    };
    let act = Act {
        // None that a run could have: it holds nothing.
        actor: WorkerId::of_process(0),
        token: None,
        at: now,
    };
    let claimed = list
        .task(id)
        .and_then(|file| transition(&file.task, &act, event).map_err(Error::Refused));
    match claimed {
        Ok(_) => Ok(None),
        Err(error) => Ok(Some(NoLaunch::Refused {
            reason: refusal(error)?,
        })),
    }
}
