//! What the operator asks for from another terminal.
//!
//! Owns what a request means: the same as Ctrl-C where the run was started, once or twice, or that one task
//! is stopped and not tried again. It decides nothing else.

use flagpost_core as core;

use super::{Driver, Input, retry::OperatorRequest};

impl Driver<'_> {
    /// Takes up what was asked since the last look: it comes before whatever else waits.
    pub(super) fn handle_requests(&mut self) -> core::Result<()> {
        for request in self.live.requests()? {
            if let Some(task) = request.task {
                self.put_off.push_back(Input::Drop(task));
                continue;
            }
            // To be asked twice is not to be asked to hurry: that is said.
            let wish = if request.now {
                OperatorRequest::Stop
            } else {
                OperatorRequest::Drain
            };
            while self.wish < wish {
                self.take_in(&Input::Interrupt);
                self.put_off.push_back(Input::Interrupt);
            }
        }
        Ok(())
    }
}
