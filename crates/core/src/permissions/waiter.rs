//! Waiting for the decision on a request.
//!
//! Owns what the process that asked does until there is one: it believes a decision by its line alone, and puts back
//! what an unknown hand made of its file. It must never decide for a person.

use flagpost_disk::fsx::Batch;
use flagpost_model::permission::{PermissionDecision, Verdict};
use jiff::SignedDuration;

use super::{
    Permissions, StoredRequest,
    lines::{decision_of, entry},
};
use crate::{
    error::Result,
    history::{Kind, detail::REQUEST},
    waiting,
};

impl Permissions<'_> {
    /// Waits for the decision on a request of this process; none where its time is over before there is one.
    /// `meanwhile` is called now and then.
    pub fn wait(
        &self,
        asked: &StoredRequest,
        meanwhile: impl Fn(),
    ) -> Result<Option<PermissionDecision>> {
        let dirs = [self.dir.clone()];
        loop {
            let left = asked.request().until.duration_since(self.home.now());
            let left = Some(left.max(SignedDuration::ZERO));
            let looked = waiting::until(&dirs, left, || match self.guard(asked)? {
                Guarded::Untouched => {
                    meanwhile();
                    Ok(None)
                }
                other => Ok(Some(other)),
            })?;
            match looked {
                Some(Guarded::Decided(decision)) => return Ok(Some(decision)),
                // The directory may be another one now: it is watched anew.
                Some(Guarded::PutBack) => {}
                Some(Guarded::Untouched) | None => return Ok(None),
            }
        }
    }

    /// Ends a request on which nobody decided, if that is still so: the decision that holds.
    pub fn end(&self, asked: &StoredRequest, verdict: Verdict) -> Result<PermissionDecision> {
        self.home.transact(|| {
            let change = self.change()?;
            let decided = match self.look(asked)? {
                FileLook::Untouched => None,
                FileLook::Decided(decision) => Some(decision),
                FileLook::Touched => self.recorded(asked.n)?,
            };
            if let Some(decision) = decided {
                return Ok(decision);
            }
            let worker = asked.request().worker.clone();
            let decision = PermissionDecision {
                verdict,
                by: worker.clone(),
                at: change.at,
                via: None,
                reason: None,
                rule: None,
                policy: None,
                hand: None,
                line: 0,
            };
            let ended = self.put(&worker, vec![asked.clone()], &decision)?;
            let ended = ended.into_iter().next();
            Ok(ended
                .and_then(|it| it.file.content.decision)
                .unwrap_or(decision))
        })
    }

    /// The decision on a request of this process, where there is one. What an unknown hand made of its file is
    /// undone.
    fn guard(&self, asked: &StoredRequest) -> Result<Guarded> {
        if let Some(guarded) = self.look(asked)?.untampered() {
            return Ok(guarded);
        }
        self.home.transact(|| {
            let change = self.change()?;
            // Whoever decided has let go of the lock since.
            if let Some(guarded) = self.look(asked)?.untampered() {
                return Ok(guarded);
            }
            // A decision that was made before its file was touched holds.
            let decision = self.recorded(asked.n)?;
            let mut file = asked.file.clone();
            file.content.decision.clone_from(&decision);
            let history = self.history();
            let writer = history.writer(change.at)?;
            let mut batch = Batch::new();
            batch.put(self.path(asked.n), file.write());
            let sealed = batch.stage(self.home.fs())?;
            let entry = entry(Kind::PermissionChanged, asked.n, asked.request());
            writer.carry_out(&asked.request().worker, vec![entry], sealed)?;
            Ok(decision.map_or(Guarded::PutBack, Guarded::Decided))
        })
    }

    /// What the file of a request says beside what was asked. A decision in it names its line, which is believed.
    fn look(&self, asked: &StoredRequest) -> Result<FileLook> {
        let Some(Ok(file)) = self.file(asked.n)? else {
            return Ok(FileLook::Touched);
        };
        if file.content == asked.file.content {
            return Ok(FileLook::Untouched);
        }
        let line = match file.content.decision {
            Some(decision) => self.history().line(decision.line, &self.window)?,
            None => None,
        };
        let decision = line.filter(|it| it.entry.number(REQUEST) == Some(asked.n));
        Ok(match decision.as_ref().and_then(decision_of) {
            Some(decision) => FileLook::Decided(decision),
            None => FileLook::Touched,
        })
    }
}

/// What a request's file says.
enum FileLook {
    /// What was asked, and no more.
    Untouched,
    /// Something that nobody is on record for.
    Touched,
    /// That there is a decision, which is on record.
    Decided(PermissionDecision),
}

impl FileLook {
    /// What whoever waits does about it; none where its file is to be put back.
    fn untampered(self) -> Option<Guarded> {
        match self {
            Self::Untouched => Some(Guarded::Untouched),
            Self::Decided(decision) => Some(Guarded::Decided(decision)),
            Self::Touched => None,
        }
    }
}

/// What whoever waits goes on with.
enum Guarded {
    /// It is as it was asked.
    Untouched,
    /// It was put back as it was asked.
    PutBack,
    /// There is a decision.
    Decided(PermissionDecision),
}
