//! Waiting for what stands in the way of a run: a lock that somebody holds, a disk that is full.
//!
//! Owns which failure is worth waiting out, and what goes on meanwhile: agents work, their claims are
//! renewed, the operator is heard. Nothing is started. Before its first task is begun a run has
//! nothing to lose, and does not wait; nor does it once the operator wants to end at once.

use std::{
    path::PathBuf,
    sync::mpsc::RecvTimeoutError,
    time::{Duration, Instant},
};

use flagpost_core as core;
use flagpost_disk::{
    self as disk,
    fsx::{self, Fs},
};

use super::{Driver, Input};
use crate::events::{Awaited, RunEvent};

/// How often to look whether it is out of the way.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// What passes by itself, or by somebody else's doing.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TransientError {
    /// A lock that somebody holds.
    Lock(PathBuf),
    /// A disk, or a quota, that is full.
    Full,
}

impl TransientError {
    /// Which failures are worth waiting out.
    pub fn of(error: &core::Error) -> Option<Self> {
        match error {
            core::Error::Disk(disk::Error::Busy { path, .. }) => Some(Self::Lock(path.clone())),
            core::Error::Disk(error) if error.is_full() => Some(Self::Full),
            _ => None,
        }
    }

    fn awaited(&self) -> Awaited {
        match self {
            Self::Lock(_) => Awaited::Lock,
            Self::Full => Awaited::Room,
        }
    }

    /// Whether to try again. Room is found by trying only; a lock that is held is not asked for, since
    /// whoever asks waits deaf.
    fn may_be_gone(&self, fs: &dyn Fs) -> bool {
        match self {
            Self::Lock(path) => {
                let is_there = fsx::stat(fs, path).is_ok_and(|stat| stat.is_some());
                !is_there || !matches!(fsx::try_hold(fs, path), Ok(None))
            }
            Self::Full => true,
        }
    }
}

/// What the operator asked for so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum OperatorRequest {
    /// Nothing: to go on.
    GoOn,
    /// To end when the running agents have.
    Drain,
    /// To end at once.
    Stop,
}

impl Driver<'_> {
    /// Does it, and where something stands in the way that passes, waits and does it again.
    pub(super) fn patiently<T>(
        &mut self,
        mut attempt: impl FnMut(&mut Self) -> core::Result<T>,
    ) -> core::Result<T> {
        let mut is_waiting = false;
        loop {
            let done = attempt(self);
            let transient = done.as_ref().err().and_then(TransientError::of);
            match (transient, done) {
                (Some(transient), Err(error)) => {
                    if !self.is_patient() {
                        return Err(error);
                    }
                    if !std::mem::replace(&mut is_waiting, true) {
                        self.tell_at_once(RunEvent::Waits {
                            on: transient.awaited(),
                            why: core::describe(&error),
                        });
                    }
                    if !self.wait_for(&transient) {
                        return Err(error);
                    }
                }
                (_, done) => {
                    if is_waiting {
                        self.catch_up();
                        self.tell_at_once(RunEvent::GoesOn);
                    }
                    return done;
                }
            }
        }
    }

    fn is_patient(&self) -> bool {
        self.account.begun() > 0 && self.wish < OperatorRequest::Stop
    }

    /// Waits until it may be out of the way; says whether the operator wants that.
    fn wait_for(&mut self, transient: &TransientError) -> bool {
        loop {
            let look_at = Instant::now() + LOOK_AGAIN;
            loop {
                let left = look_at.saturating_duration_since(Instant::now());
                match self.inputs.recv_timeout(left) {
                    Ok(input) => {
                        self.take_in(&input);
                        self.put_off.push_back(input);
                    }
                    // The driver holds a sender itself: the channel cannot close.
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
                }
                if !self.is_patient() {
                    return false;
                }
            }
            self.kill_the_stubborn();
            // What cannot be asked now is asked again; what cannot be renewed, when the wait is over.
            let _: core::Result<()> = self.handle_requests();
            if !self.is_patient() {
                return false;
            }
            let _: crate::Result<_> = self.renew();
            if transient.may_be_gone(self.stage.home.fs()) {
                return true;
            }
        }
    }

    /// What an input means before its turn comes.
    pub(super) fn take_in(&mut self, input: &Input) {
        match (input, self.wish) {
            (Input::List, _) => self.list.change(),
            (
                Input::Exited(_)
                | Input::Mail
                | Input::Drop(_)
                | Input::HandOver(_)
                | Input::Landing(_),
                _,
            )
            | (Input::Interrupt, OperatorRequest::Stop) => {}
            (Input::Interrupt, OperatorRequest::GoOn) => {
                self.wish = OperatorRequest::Drain;
                self.residents.drain();
                self.tell_at_once(RunEvent::Draining);
            }
            // The agents are stopped, which is told of each.
            (Input::Interrupt, OperatorRequest::Drain) => {
                self.wish = OperatorRequest::Stop;
                if let Some(lander) = &self.lander {
                    lander.stop();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{io::ErrorKind, path::Path};

    use super::*;

    #[test]
    fn a_lock_and_a_full_disk_are_waited_out_and_nothing_else() {
        let path = Path::new("/x");
        let io = |kind: ErrorKind| disk::Error::io("write", path)(kind.into());
        let busy = disk::Error::Busy {
            path: path.to_owned(),
            holder: None,
            waited: LOOK_AGAIN,
        };
        let changed = disk::Error::Changed {
            path: path.to_owned(),
        };
        for (error, transient) in [
            (busy, Some(TransientError::Lock(path.to_owned()))),
            (io(ErrorKind::StorageFull), Some(TransientError::Full)),
            (io(ErrorKind::QuotaExceeded), Some(TransientError::Full)),
            (io(ErrorKind::ReadOnlyFilesystem), None),
            (io(ErrorKind::PermissionDenied), None),
            (changed, None),
        ] {
            let error = core::Error::from(error);
            assert_eq!(TransientError::of(&error), transient, "{error}");
        }
        let refused = core::Error::NoHome;
        assert_eq!(TransientError::of(&refused), None);
    }
}
