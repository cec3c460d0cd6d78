//! What the operator asks for from another terminal.
//!
//! Owns what a request means: the same as Ctrl-C where the run was started, once or twice, that one task
//! is stopped and not tried again, or that its agent leaves the conversation to a person. It decides nothing else.

use flagpost_core::{self as core, sessions::StopRequest};
use flagpost_model::TaskId;

use super::{Driver, Input, conversation::Conversation, retry::OperatorRequest};
use crate::{error::Result, outcome::Exit};

impl Driver<'_> {
    /// Takes up what was asked since the last look: it comes before whatever else waits.
    pub(super) fn handle_requests(&mut self) -> core::Result<()> {
        for request in self.live.requests()? {
            // To be asked twice is not to be asked to hurry: that is said.
            let wish = match request {
                StopRequest::Task(task) => {
                    self.put_off.push_back(Input::Drop(task));
                    continue;
                }
                StopRequest::HandOver(task) => {
                    self.put_off.push_back(Input::HandOver(task));
                    continue;
                }
                StopRequest::Run { now: true } => OperatorRequest::Stop,
                StopRequest::Run { now: false } => OperatorRequest::Drain,
            };
            while self.wish < wish {
                self.take_in(&Input::Interrupt);
                self.put_off.push_back(Input::Interrupt);
            }
        }
        Ok(())
    }

    /// Ends an agent whose conversation a person goes on with; nothing where its client never began one, or where it
    /// is ended for another reason.
    pub(super) fn hand_over(&mut self, task: &TaskId) -> Result<()> {
        let work = self.agents.0.get(task);
        let is_ended = work.is_none_or(|it| it.stopping.is_some());
        let talk = self
            .agents
            .process_mut(task)
            .and_then(|it| it.talk.as_ref());
        match talk.and_then(Conversation::session) {
            Some(_) if !is_ended => self.stop(
                task,
                Exit::HandedOver,
                "a person goes on with its conversation",
            ),
            Some(_) | None => Ok(()),
        }
    }
}
