//! The answers, where agents read them.
//!
//! Owns the outbox: the newest answers, each id once. What somebody else made of it that is no list
//! of answers is kept aside.

use flagpost_disk::{
    dialects::bridge::{self as dialect, OUTBOX, OUTBOX_LOCK},
    fsx::{self, Lock, Rank},
};
use serde_json::Value;

use super::{Bridge, inbox::read_stable};
use crate::error::Result;

/// So many answers are kept.
pub(super) const KEPT: usize = 100;

/// As long as it may be to be read again.
pub(super) const LONGEST: usize = (fsx::READ_LIMIT as usize) / 4 * 3;

impl Bridge<'_> {
    /// The answers there are, oldest first.
    pub fn answers(&self) -> Result<Vec<Value>> {
        let path = self.path(OUTBOX);
        let read = read_stable(self.home.fs(), &path, &dialect::outbox)?;
        match read {
            None => Ok(Vec::new()),
            Some(Ok(answers)) => Ok(answers),
            Some(Err(reason)) => Err(flagpost_disk::Error::Malformed { path, reason }.into()),
        }
    }

    /// Empties the outbox; how many answers were in it.
    pub fn clear(&self) -> Result<usize> {
        let fs = self.home.fs();
        if fsx::stat(fs, &self.path(OUTBOX))?.is_none() {
            return Ok(0);
        }
        let _lock = self.lock_outbox()?;
        let answers = self.answers_or_quarantine()?;
        fsx::replace(fs, &self.path(OUTBOX), &dialect::outbox_bytes(Vec::new()))?;
        Ok(answers.len())
    }

    /// Shows answers, durable on return. One that is there already is not shown twice.
    pub(super) fn answer(&self, new: &[Value]) -> Result<()> {
        if new.is_empty() {
            return Ok(());
        }
        let _lock = self.lock_outbox()?;
        let mut answers = self.answers_or_quarantine()?;
        for answer in new {
            answers.retain(|old| match (id_of(old), id_of(answer)) {
                (None, None) => old != answer,
                (old, id) => old != id,
            });
            answers.push(answer.clone());
        }
        let mut first = answers.len().saturating_sub(KEPT);
        let mut bytes = dialect::outbox_bytes(answers[first..].to_vec());
        while bytes.len() > LONGEST && first + 1 < answers.len() {
            first += 1;
            bytes = dialect::outbox_bytes(answers[first..].to_vec());
        }
        Ok(fsx::replace(self.home.fs(), &self.path(OUTBOX), &bytes)?)
    }

    /// Takes an answer away whose command is asked anew.
    pub(super) fn withdraw(&self, id: &str) -> Result<()> {
        let is_it = |answer: &Value| id_of(answer) == Some(id);
        if !self
            .answers()
            .is_ok_and(|answers| answers.iter().any(is_it))
        {
            return Ok(());
        }
        let _lock = self.lock_outbox()?;
        let mut answers = self.answers_or_quarantine()?;
        answers.retain(|answer| !is_it(answer));
        let bytes = dialect::outbox_bytes(answers);
        Ok(fsx::replace(self.home.fs(), &self.path(OUTBOX), &bytes)?)
    }

    fn lock_outbox(&self) -> Result<Lock> {
        let (home, path) = (self.home, self.path(OUTBOX_LOCK));
        let (rank, wait) = (Rank::Direction, fsx::DEFAULT_WAIT);
        Ok(fsx::lock(home.fs(), &path, rank, wait, home.now())?)
    }

    /// What is no list of answers is copied, and then counts as none.
    fn answers_or_quarantine(&self) -> Result<Vec<Value>> {
        let (fs, path) = (self.home.fs(), self.path(OUTBOX));
        match read_stable(fs, &path, &dialect::outbox)? {
            None => Ok(Vec::new()),
            Some(Ok(answers)) => Ok(answers),
            Some(Err(reason)) => {
                let content = fsx::read(fs, &path)?.unwrap_or_default();
                fsx::store(fs, &path, &content, &reason)?;
                Ok(Vec::new())
            }
        }
    }
}

fn id_of(answer: &Value) -> Option<&str> {
    answer.get("commandId")?.as_str()
}
