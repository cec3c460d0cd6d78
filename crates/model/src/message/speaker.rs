//! Who speaks, and who may say what.
//!
//! Owns that nobody speaks in another's name but the operator, and visibly: a message that a person
//! sends as a worker carries who it was. An agent, which its environment names, speaks for itself.

use super::{Message, MessageAddress, Subject};
use crate::id::WorkerId;

/// Who speaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Speaker {
    /// In whose name.
    pub name: WorkerId,
    /// Who it really is, where that is somebody else.
    pub by: Option<WorkerId>,
}

/// On which side of the mail somebody is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A worker of the fleet.
    Worker,
    /// Anybody else: the orchestrator, another controller, the operator.
    Controller,
}

/// A message that is not to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MessageRefusal {
    /// An agent asked to be somebody else.
    #[error("{agent} does not act for {asked}: only the operator acts in another's name")]
    NotYou {
        /// In whose name it wanted to speak.
        asked: WorkerId,
        /// Who it is.
        agent: WorkerId,
    },
    /// It is no question.
    #[error("{place} asks nothing: it is a {word}")]
    AsksNothing {
        /// Which message.
        place: MessageAddress,
        /// What it is.
        word: String,
    },
    /// Who said it has ended with its run.
    #[error("{place} was said by a process, which hears no answer{}", task.as_ref().map(|it| format!(": answer its task {it}")).unwrap_or_default())]
    OfProcess {
        /// Which message.
        place: MessageAddress,
        /// The task that it is about.
        task: Option<String>,
    },
    /// Somebody has answered it.
    #[error("{place} was answered by {by} in {reply}")]
    Answered {
        /// Which message.
        place: MessageAddress,
        /// Who answered.
        by: String,
        /// Where the answer is.
        reply: MessageAddress,
    },
    /// The other side says this.
    #[error("{who} does not send a {subject}: {}", speaker_of(*subject))]
    NotYours {
        /// Who wanted to send it.
        who: WorkerId,
        /// What.
        subject: Subject,
    },
    /// The orchestrator is between any two workers.
    #[error("{from} does not write to {to}: workers speak to the orchestrator, not to each other")]
    BetweenWorkers {
        /// Who wanted to write.
        from: WorkerId,
        /// To whom.
        to: WorkerId,
    },
    /// Somebody else's message.
    #[error("message {place} is for {to}: {who} cannot acknowledge it")]
    NotForYou {
        /// Which one.
        place: MessageAddress,
        /// For whom it is.
        to: String,
        /// Who wanted to.
        who: WorkerId,
    },
}

fn speaker_of(subject: Subject) -> &'static str {
    match subject {
        Subject::Task => "it goes from the orchestrator to a worker",
        Subject::Done | Subject::Stuck | Subject::Progress => "only the worker that does the work",
        Subject::Query | Subject::Reply => "it goes between the orchestrator and a worker",
    }
}

/// Who acts, with words or otherwise: `asked` is the name that was asked for, `agent` what the environment of an agent
/// says that it is, `user` who is logged in.
pub fn speaker(
    asked: Option<WorkerId>,
    agent: Option<WorkerId>,
    user: WorkerId,
) -> Result<Speaker, MessageRefusal> {
    let alone = |name| Speaker { name, by: None };
    match (asked, agent) {
        (None, None) => Ok(alone(user)),
        (None, Some(agent)) => Ok(alone(agent)),
        (Some(asked), Some(agent)) if asked == agent => Ok(alone(asked)),
        (Some(asked), Some(agent)) => Err(MessageRefusal::NotYou { asked, agent }),
        (Some(asked), None) if asked == user => Ok(alone(asked)),
        (Some(name), None) => Ok(Speaker {
            name,
            by: Some(user),
        }),
    }
}

/// Whether somebody on this side may send it.
pub fn may_send(subject: Subject, who: &WorkerId, role: Role) -> Result<(), MessageRefusal> {
    let may = match subject {
        Subject::Task => role == Role::Controller,
        Subject::Done | Subject::Stuck | Subject::Progress => role == Role::Worker,
        Subject::Query | Subject::Reply => true,
    };
    let who = who.clone();
    may.then_some(())
        .ok_or(MessageRefusal::NotYours { who, subject })
}

/// Whether somebody may acknowledge a message: its recipient, and nobody else.
pub fn may_ack(message: &Message, who: &WorkerId) -> Result<(), MessageRefusal> {
    if message.to == who.as_str() {
        return Ok(());
    }
    Err(MessageRefusal::NotForYou {
        place: message.place.clone(),
        to: message.to.clone(),
        who: who.clone(),
    })
}
