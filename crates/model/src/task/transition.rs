//! The state machine of a task.
//!
//! Owns which event may move a task from which state, and by whom. Invariants: one live claim at a
//! time; a claim is ended only by its owner, by its expiry plus a new claim, or by an explicit
//! force; a stale token changes nothing.

use jiff::{SignedDuration, Timestamp};

use super::{
    Approval, Claim, Ending, Landed, Landing, LandingVerdict, Note, Refusal, State, Task,
    TaskResult,
};
use crate::id::{SessionId, TaskId, Token, WorkerId};

/// Who acts, when, and with which token.
#[derive(Debug, Clone)]
pub struct Act {
    /// Who acts.
    pub actor: WorkerId,
    /// The token the caller has, if any.
    pub token: Option<Token>,
    /// When.
    pub at: Timestamp,
}

/// What is asked of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskEvent {
    /// Take possession.
    Claim {
        /// The new claim's token.
        token: Token,
        /// How long without renewal.
        lease: SignedDuration,
        /// The session that hands it out.
        session: Option<SessionId>,
        /// Blockers that are not completed.
        open: Vec<TaskId>,
    },
    /// Begin the work.
    Start,
    /// Extend the lease to its full length from now.
    Renew,
    /// End the work.
    Finish {
        /// How.
        ending: Ending,
        /// The worker's words.
        text: String,
        /// Blockers that are not completed; matters only where nobody holds the task.
        open: Vec<TaskId>,
        /// Parts of it that are not done and keep it from being completed.
        parts: Vec<TaskId>,
    },
    /// Give it back.
    Release {
        /// Take it from whoever holds it.
        force: bool,
    },
    /// Make a finished or foreign-started task pending again.
    Reopen,
    /// Answer the question of who was stuck, which makes the task pending again.
    Answer {
        /// The words, Markdown.
        text: String,
        /// Add to the last answer where nothing is asked any more.
        again: bool,
    },
    /// It is not wanted any more.
    Cancel,
    /// Its work is on the target branch.
    Land(Landed),
    /// It passed and brought no commit.
    NoCommit,
    /// Its work did not land, and is to be done again.
    Refuse(LandingVerdict),
    /// A person approves this commit of its branch.
    Approve(String),
    /// A person returns its work.
    Return {
        /// What is to be different, Markdown.
        why: String,
        /// The target branch.
        onto: String,
    },
}

/// The task after `event`, or why not. Source of the rules: `tree.md` §2 "Claims".
pub fn transition(task: &Task, act: &Act, event: TaskEvent) -> Result<Task, Refusal> {
    if !matches!(event, TaskEvent::Claim { .. }) {
        not_stale(task, act)?;
    }
    let mut next = task.clone();
    match event {
        TaskEvent::Claim {
            token,
            lease,
            session,
            open,
        } => {
            may_claim(task, act, open)?;
            let expires_at = act.at.saturating_add(lease).unwrap_or(Timestamp::MAX);
            let claim = Claim {
                by: act.actor.clone(),
                token,
                at: act.at,
                expires_at,
                lease,
                session,
            };
            next.owner = Some(act.actor.to_string());
            next.attempts = next.attempts.saturating_add(1);
            next.state = State::Claimed(claim);
        }
        TaskEvent::Start => {
            let claim = held(task, act, "started")?;
            next.state = State::InProgress(Some(claim.renewed(act.at)));
        }
        TaskEvent::Renew => {
            let claim = held(task, act, "renewed")?.renewed(act.at);
            next.state = match task.state {
                State::InProgress(_) => State::InProgress(Some(claim)),
                _ => State::Claimed(claim),
            };
        }
        TaskEvent::Finish {
            ending,
            text,
            open,
            parts,
        } => {
            may_finish(task, act, ending, open)?;
            if ending == Ending::Completed && !parts.is_empty() {
                let task = task.id.clone();
                return Err(Refusal::OpenParts { task, open: parts });
            }
            next = next.timed(act.at);
            next.owner = Some(act.actor.to_string());
            next.state = match ending {
                Ending::Completed => State::Completed,
                Ending::Failed => State::Failed,
                Ending::Stuck => State::Stuck,
            };
            next.result = Some(TaskResult {
                ending,
                text,
                by: act.actor.clone(),
                at: act.at,
                token: task.state.claim().map(|claim| claim.token),
            });
        }
        TaskEvent::Release { force } => {
            if !force || task.state.claim().is_none() {
                held(task, act, "released")?;
            }
            next.owner = None;
            next.state = State::Pending;
        }
        TaskEvent::Reopen => {
            match task.state {
                State::Completed | State::Failed | State::Stuck | State::Cancelled => {}
                State::InProgress(None) => {}
                State::Pending | State::Claimed(_) | State::InProgress(Some(_)) => {
                    return Err(wrong_state(task, "reopened"));
                }
            }
            next.owner = None;
            next.state = State::Pending;
        }
        TaskEvent::Answer { text, again } => {
            let question = task.to_answer(again)?;
            if task.state == State::Stuck {
                next.owner = None;
                next.state = State::Pending;
                next = next.refusals_forgotten();
                // From here on the note tells what was asked.
                next.result = next.result.filter(|it| it.ending != Ending::Stuck);
            }
            next.notes.push(Note {
                by: Some(act.actor.to_string()),
                at: Some(act.at),
                text,
                question: Some(question),
            });
        }
        TaskEvent::Cancel => {
            if matches!(task.state, State::Completed | State::Cancelled) {
                return Err(wrong_state(task, "cancelled"));
            }
            not_held_by_another(task, act)?;
            next = next.timed(act.at);
            next.state = State::Cancelled;
        }
        TaskEvent::Land(landed) => {
            must_be_completed(task, "landed")?;
            next.landing = Some(Landing::Landed(landed));
        }
        TaskEvent::NoCommit => {
            must_be_completed(task, "said to have no commit")?;
            next.landing = Some(Landing::NoCommit(act.at));
        }
        TaskEvent::Refuse(verdict) => {
            must_be_completed(task, "sent back")?;
            next = next.refused(verdict, act.actor.clone(), act.at);
        }
        TaskEvent::Approve(commit) => {
            must_be_reviewable(task, "approved")?;
            next.landing = Some(Landing::Approved(Approval {
                commit,
                by: act.actor.clone(),
                at: act.at,
            }));
        }
        TaskEvent::Return { why, onto } => {
            must_be_reviewable(task, "returned")?;
            next = next.returned(why, onto, act);
        }
    }
    if next.state != State::Completed {
        // Whoever does it again may bring a commit, and that is looked at anew.
        next.landing = next
            .landing
            .filter(|it| matches!(it, Landing::Landed(_) | Landing::Refused(_)));
    }
    Ok(next)
}

fn may_claim(task: &Task, act: &Act, open: Vec<TaskId>) -> Result<(), Refusal> {
    match &task.state {
        State::Pending => {}
        State::Claimed(claim) | State::InProgress(Some(claim)) if claim.is_live(act.at) => {
            return Err(if claim.by == act.actor {
                let Claim {
                    by,
                    token,
                    expires_at,
                    ..
                } = claim.clone();
                let task = task.id.clone();
                Refusal::AlreadyYours {
                    task,
                    holder: by,
                    until: expires_at,
                    token,
                }
            } else {
                held_by(task, claim)
            });
        }
        State::Claimed(_) | State::InProgress(Some(_)) => {}
        State::InProgress(None)
        | State::Completed
        | State::Failed
        | State::Stuck
        | State::Cancelled => return Err(wrong_state(task, "claimed")),
    }
    unblocked(task, open)
}

/// Only the holder ends a held task; one that nobody holds may be completed by whoever did it.
fn may_finish(task: &Task, act: &Act, ending: Ending, open: Vec<TaskId>) -> Result<(), Refusal> {
    match (&task.state, ending) {
        (State::Claimed(_) | State::InProgress(Some(_)), _) => {
            held(task, act, ending.as_str()).map(drop)
        }
        (State::InProgress(None), _) => Ok(()),
        (State::Pending, Ending::Completed) => unblocked(task, open),
        (State::Pending, Ending::Failed | Ending::Stuck) => Err(Refusal::NotClaimed {
            task: task.id.clone(),
        }),
        (State::Completed | State::Failed | State::Stuck | State::Cancelled, _) => {
            Err(wrong_state(task, ending.as_str()))
        }
    }
}

/// The caller's own claim. An expired one still counts until somebody else claims the task.
fn held<'t>(task: &'t Task, act: &Act, wanted: &'static str) -> Result<&'t Claim, Refusal> {
    let Some(claim) = task.state.claim() else {
        return Err(match task.state {
            State::Pending => Refusal::NotClaimed {
                task: task.id.clone(),
            },
            _ => wrong_state(task, wanted),
        });
    };
    if claim.by == act.actor {
        Ok(claim)
    } else {
        Err(held_by(task, claim))
    }
}

/// A caller who has a token believes in a claim; where that is not the task's, the token is stale.
fn not_stale(task: &Task, act: &Act) -> Result<(), Refusal> {
    let current = task.state.claim().map(|claim| claim.token);
    match act.token {
        Some(given) if current != act.token => Err(Refusal::StaleToken {
            task: task.id.clone(),
            given,
            current,
        }),
        _ => Ok(()),
    }
}

/// Only the work of a completed task lands.
fn must_be_completed(task: &Task, wanted: &'static str) -> Result<(), Refusal> {
    match task.state {
        State::Completed => Ok(()),
        _ => Err(wrong_state(task, wanted)),
    }
}

/// Only work that is done and not on the target is reviewed.
fn must_be_reviewable(task: &Task, wanted: &'static str) -> Result<(), Refusal> {
    must_be_completed(task, wanted)?;
    match task.landing.as_ref().and_then(Landing::landed) {
        None => Ok(()),
        Some(landed) => Err(Refusal::HasLanded {
            task: task.id.clone(),
            commit: landed.commit.clone(),
            onto: landed.onto.clone(),
            wanted,
        }),
    }
}

fn not_held_by_another(task: &Task, act: &Act) -> Result<(), Refusal> {
    match task.state.live_claim(act.at) {
        Some(claim) if claim.by != act.actor => Err(held_by(task, claim)),
        _ => Ok(()),
    }
}

fn unblocked(task: &Task, open: Vec<TaskId>) -> Result<(), Refusal> {
    if open.is_empty() {
        Ok(())
    } else {
        Err(Refusal::Blocked {
            task: task.id.clone(),
            open,
        })
    }
}

fn held_by(task: &Task, claim: &Claim) -> Refusal {
    Refusal::Held {
        task: task.id.clone(),
        holder: claim.by.clone(),
        until: claim.expires_at,
        token: claim.token,
    }
}

fn wrong_state(task: &Task, wanted: &'static str) -> Refusal {
    Refusal::WrongState {
        task: task.id.clone(),
        state: task.state.name(),
        wanted,
    }
}
