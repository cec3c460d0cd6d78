//! Calls of git that may wait for somebody: for a signature, for credentials, for a hook.
//!
//! Owns how long a landing lets such a call take, and that it says so while one takes long. Nobody answers
//! git here: it has no terminal. The words are said once for each call.

use std::{
    sync::{Arc, atomic::AtomicBool, mpsc},
    thread,
    time::Duration,
};

use flagpost_core::git::{Git, GitOutput};
use jiff::SignedDuration;

use super::LandingTerms;
use crate::{error::Result, events::RunEvent};

/// A call that takes so long is told of.
const SAY_AFTER: Duration = Duration::from_secs(10);

/// The calls of one landing.
pub(super) struct GitCalls<'c> {
    /// Set where the operator wants an end.
    stop: &'c Arc<AtomicBool>,
    /// How long a call may take.
    limit: SignedDuration,
    /// Who is told.
    tell: &'c mut dyn FnMut(RunEvent) -> Result<()>,
}

impl<'c> GitCalls<'c> {
    /// Those of a landing on these terms.
    pub(super) fn of(
        stop: &'c Arc<AtomicBool>,
        terms: &LandingTerms,
        tell: &'c mut dyn FnMut(RunEvent) -> Result<()>,
    ) -> Self {
        let limit = terms.git_timeout;
        Self { stop, limit, tell }
    }

    /// What git answers, whatever its exit code. Locks that other gits hold are waited for.
    pub(super) fn ask(&mut self, git: &mut Git) -> Result<GitOutput> {
        git.end_with(self.stop);
        git.end_after(self.limit.unsigned_abs());
        let call = git.call().to_owned();
        let (over, is_over) = mpsc::channel::<()>();
        let answer = thread::scope(|scope| {
            let asked = scope.spawn(move || {
                let _over = over;
                git.ask_patiently()
            });
            if is_over.recv_timeout(SAY_AFTER) == Err(mpsc::RecvTimeoutError::Timeout) {
                let words = format!(
                    "'git {call}' has taken {} s: it may wait for a signature, for credentials or for a \
                     hook, and nobody can answer it here; it is ended after {:#} (land.git_timeout)",
                    SAY_AFTER.as_secs(),
                    self.limit
                );
                (self.tell)(RunEvent::Notice { words })?;
            }
            match asked.join() {
                Ok(answer) => Ok::<_, crate::Error>(answer?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })?;
        Ok(answer)
    }
}
