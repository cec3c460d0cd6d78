//! What the history tells of briefs: as what each was proposed, and what was decided on it.
//!
//! Owns finding that without reading the history: mostly it lies near its end, which is read once for
//! all workers of a fleet and kept; what lies further back is found by the number of its line, which
//! the decision and the kept words name. A number is a hint and never believed: the line has to be
//! about this brief. Only whoever holds the lock, and is about to call something foreign, reads it
//! all. What was taken back counts for nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
};

use flagpost_disk::{self as disk, fsx};
use flagpost_model::{
    Seq, WorkerId,
    decision::{Decision, Verdict},
    envelope::Hash,
};
use serde::Deserialize;

use super::Mail;
use crate::{
    error::Result,
    history::{History, Kind, Line, Window},
};

/// So much of the end is read at first; each further look reads four times as much.
const FIRST: u64 = 16 << 10;

/// So much of the end is read where nobody has to be sure.
const NEAR: u64 = 1 << 20;

/// How sure somebody has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// As far as it costs little.
    Near,
    /// Through all of it, under the direction's lock.
    Sure,
}

/// As what a brief was proposed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Proposal {
    /// The number of the line that tells of it.
    pub(super) line: u64,
    /// Its body's hash.
    pub(super) sha256: Hash,
    /// The hash of all of it; none where it is older than that.
    pub(super) envelope: Option<Hash>,
    /// It was found there: nobody is on record for proposing it.
    pub(super) observed: bool,
}

/// What was decided on a brief.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Decided {
    line: u64,
    decision: Decision,
    sha256: Hash,
    envelope: Option<Hash>,
}

impl Decided {
    fn is(&self, verdict: &Verdict) -> bool {
        self.decision == verdict.decision
            && self.sha256 == verdict.sha256
            && self.envelope == verdict.envelope
    }
}

/// What is known of the briefs of a fleet, as far as the history was read.
#[derive(Debug, Default)]
pub(super) struct Record {
    known: Mutex<Known>,
    window: Window,
}

#[derive(Debug, Default)]
struct Known {
    /// What was read: from here
    from: u64,
    /// to here.
    to: u64,
    proposed: BTreeMap<(WorkerId, Seq), Proposal>,
    decided: BTreeMap<(WorkerId, Seq), Vec<Decided>>,
    void: BTreeSet<u64>,
}

/// As much of a line as is asked for here. A history is long.
#[derive(Deserialize)]
struct Head {
    n: u64,
    kind: Kind,
    worker: Option<WorkerId>,
    seq: Option<Seq>,
    #[serde(default)]
    detail: Detail,
}

#[derive(Deserialize, Default)]
struct Detail {
    sha256: Option<Hash>,
    envelope: Option<Hash>,
    decision: Option<Decision>,
    direction: Option<String>,
    n: Option<u64>,
    #[serde(default)]
    observed: bool,
}

impl Mail<'_> {
    /// As what a brief was proposed; none where nobody recorded it. `hint` is the number of a line that
    /// may tell of it.
    pub(super) fn proposal(
        &self,
        seq: Seq,
        hint: impl FnOnce() -> Result<Option<u64>>,
        look: Look,
    ) -> Result<Option<Proposal>> {
        let key = (self.worker.clone(), seq);
        self.seek(hint, look, &|known| known.proposed.get(&key).cloned())
    }

    /// The line that tells of a decision; none where it is nobody's that is on record.
    pub(super) fn decision_line(
        &self,
        seq: Seq,
        verdict: &Verdict,
        look: Look,
    ) -> Result<Option<u64>> {
        let key = (self.worker.clone(), seq);
        self.seek(|| Ok(verdict.line), look, &|known| {
            let all = known.decided.get(&key)?;
            Some(all.iter().find(|it| it.is(verdict))?.line)
        })
    }

    /// What `find` finds: in what is known, in what came since, near the end, at the hint, in all.
    fn seek<T>(
        &self,
        hint: impl FnOnce() -> Result<Option<u64>>,
        look: Look,
        find: &dyn Fn(&Known) -> Option<T>,
    ) -> Result<Option<T>> {
        // Whoever panicked meanwhile left at worst a part of it out.
        let mut known = self
            .record
            .known
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = find(&known) {
            return Ok(Some(found));
        }
        let history = self.history();
        known.read_on(&history)?;
        while find(&known).is_none() && known.from > 0 && known.to - known.from < NEAR {
            known.read_back(&history)?;
        }
        if find(&known).is_none()
            && known.from > 0
            && let Some(n) = hint()?
            && let Some(line) = history.line(n, &self.record.window)?
        {
            known.learn(&line);
        }
        while look == Look::Sure && find(&known).is_none() && known.from > 0 {
            known.read_back(&history)?;
        }
        Ok(find(&known))
    }
}

impl Known {
    /// Reads what came since.
    fn read_on(&mut self, history: &History<'_>) -> Result<()> {
        let (fs, path) = (history.home().fs(), history.path());
        let end = fsx::stat(fs, path)?.map_or(0, |stat| stat.len);
        if end < self.to {
            // This is another history.
            *self = Self::default();
        }
        if self.to == 0 {
            let from = end.saturating_sub(FIRST);
            let (skipped, read) = self.read(history, from, end - from)?;
            (self.from, self.to) = (from + skipped, from + skipped + read);
        } else if end > self.to {
            let (from, len) = (self.to, end - self.to);
            self.to += self.read(history, from, len)?.1;
        }
        Ok(())
    }

    /// Reads what lies before.
    fn read_back(&mut self, history: &History<'_>) -> Result<()> {
        let size = (self.to - self.from).saturating_mul(3).max(FIRST);
        let mut begin = self.from.saturating_sub(size);
        // A look that begins in the middle of a line, and sees no other, has to begin earlier.
        loop {
            let (skipped, _) = self.read(history, begin, self.from - begin)?;
            let from = begin + skipped;
            if from < self.from || begin == 0 {
                self.from = if begin == 0 { 0 } else { from };
                return Ok(());
            }
            begin = begin.saturating_sub(size);
        }
    }

    /// Reads the whole lines of a part; how much of it was skipped as the end of another line, and how
    /// much was read.
    fn read(&mut self, history: &History<'_>, begin: u64, len: u64) -> Result<(u64, u64)> {
        let path = history.path();
        let read = history.home().fs().read_part(path, begin, len);
        let bytes = match read {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((0, 0)),
            read => read.map_err(disk::Error::io("read", path))?,
        };
        let newline = |byte: &u8| *byte == b'\n';
        let end = bytes.iter().rposition(newline).map_or(0, |at| at + 1);
        let skipped = match begin {
            0 => 0,
            // Where the byte before ends a line, nothing is skipped but what it took to know that.
            _ if begin == self.to => 0,
            _ => bytes.iter().position(newline).map_or(end, |at| at + 1),
        };
        let whole = bytes.get(skipped..end).unwrap_or_default();
        // Newest first: what takes a line back comes after it.
        for line in whole.rsplit(newline).filter(|line| is_about_mail(line)) {
            if let Ok(head) = serde_json::from_slice::<Head>(line) {
                self.note(head);
            }
        }
        Ok((skipped as u64, whole.len() as u64))
    }

    fn learn(&mut self, line: &Line) {
        if let Ok(head) = serde_json::from_value::<Head>(line.to_json()) {
            self.note(head);
        }
    }

    fn note(&mut self, head: Head) {
        let Detail {
            sha256,
            envelope,
            decision,
            direction,
            n,
            observed,
        } = head.detail;
        if head.kind == Kind::Void {
            self.take_back(n.unwrap_or_default());
            return;
        }
        let (Some(worker), Some(seq), Some(sha256)) = (head.worker, head.seq, sha256) else {
            return;
        };
        let line = head.n;
        if self.void.contains(&line) {
            return;
        }
        match (head.kind, decision) {
            (Kind::BriefProposed | Kind::MessageImported, _)
                if direction.as_deref().is_none_or(|it| it == "inbox") =>
            {
                let proposal = Proposal {
                    line,
                    sha256,
                    envelope,
                    observed,
                };
                let known = self.proposed.entry((worker, seq));
                let known = known.or_insert_with(|| proposal.clone());
                if known.line < line {
                    *known = proposal;
                }
            }
            (Kind::BriefDecided, Some(decision)) => {
                let decided = Decided {
                    line,
                    decision,
                    sha256,
                    envelope,
                };
                let known = self.decided.entry((worker, seq)).or_default();
                if !known.contains(&decided) {
                    known.push(decided);
                }
            }
            _ => {}
        }
    }

    fn take_back(&mut self, line: u64) {
        self.void.insert(line);
        self.proposed.retain(|_, it| it.line != line);
        for all in self.decided.values_mut() {
            all.retain(|it| it.line != line);
        }
    }
}

/// Whether a line may be one that is asked for; so much can be seen at its beginning.
fn is_about_mail(line: &[u8]) -> bool {
    const KINDS: [&[u8]; 4] = [
        b"\"kind\":\"relay.brief_proposed\"",
        b"\"kind\":\"relay.decided\"",
        b"\"kind\":\"message.imported\"",
        b"\"kind\":\"history.void\"",
    ];
    let key = b"\"kind\":";
    let mut at = line.windows(key.len());
    let Some(at) = at.position(|it| it == key) else {
        return false;
    };
    KINDS
        .iter()
        .any(|kind| line.get(at..).is_some_and(|it| it.starts_with(kind)))
}
