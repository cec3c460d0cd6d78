//! What an agent says that cannot write the home, as in a sandbox: a word beside its report, which its run
//! takes up.
//!
//! Owns when that is so, and what is answered. Only a task's endings, `release`, `note` and the
//! acknowledgement of a brief can be said so; every other change needs a home that can be written, and says so.

use flagpost_core::{
    Error, List,
    sessions::agent_requests::{self, AgentOperation, AgentRequest},
    tasks::{Move, Parts, TaskSelector},
};
use flagpost_model::{ListRef, TaskId, Token, WorkerId, task::Ending, view};

use crate::{context::Context, error, output::Answer};

view! {
    /// What a run takes up.
    ///
    /// After 'flagpost done', 'fail', 'stuck', 'task release', 'task note' and 'worker ack' of an agent that
    /// cannot write the home, as in a sandbox: it is kept beside the report, and the run that started the agent
    /// carries it out.
    pub struct SaidAnswer<'a> {
        operation: AgentOperation,
        list: &'a ListRef,
        tasks: &'a [TaskId],
        /// Who says so.
        worker: &'a WorkerId,
    }
}

/// What was asked for.
pub struct AgentRequestDraft<'s> {
    /// On which list.
    pub list: &'s List<'s>,
    /// Of which tasks.
    pub which: &'s TaskSelector,
    /// Which operation, where it can be said by a word.
    pub operation: Option<AgentOperation>,
    /// With which text.
    pub text: &'s str,
    /// As whom.
    pub worker: &'s WorkerId,
    /// By which claim.
    pub token: Option<Token>,
}

/// By which word a move is said, if there is one.
pub fn of_move(event: &Move) -> Option<AgentOperation> {
    match event {
        Move::Finish {
            ending,
            parts: Parts::MustBeDone,
            ..
        } => Some(match ending {
            Ending::Completed => AgentOperation::Done,
            Ending::Failed => AgentOperation::Fail,
            Ending::Stuck => AgentOperation::Stuck,
        }),
        Move::Release { force: false } => Some(AgentOperation::Release),
        _ => None,
    }
}

/// Says by words what failed with this error, where that is because the home cannot be written from here;
/// else the error stands.
pub fn instead(
    context: &Context,
    error: Error,
    said: &AgentRequestDraft<'_>,
) -> anyhow::Result<Answer> {
    let (Some(report), Some(operation), TaskSelector::These(ids)) =
        (&context.settings.report, said.operation, said.which)
    else {
        return Err(error.into());
    };
    if !error::is_unwritable(&error) {
        return Err(error.into());
    }
    let word = |id: &TaskId| AgentRequest {
        operation,
        list: said.list.id().to_string(),
        task: id.clone(),
        worker: said.worker.clone(),
        token: said.token,
        text: said.text.to_owned(),
    };
    let words: Vec<AgentRequest> = ids.iter().map(word).collect();
    agent_requests::say(said.list, report, &words)?;
    let answer = SaidAnswer::new(operation, said.list.id(), ids, said.worker);
    Ok(Answer::of(&answer)
        .text("said; the run takes it up")
        .ids(ids))
}
