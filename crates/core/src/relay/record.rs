//! What the history tells of briefs: as what each was proposed, what was decided on it, who has it.
//!
//! Owns finding that without reading the history: mostly it lies near its end, which is read once for
//! all workers of a fleet and kept; what lies further back is found by the number of its line, which
//! the decision and the kept words name. A number is a hint and never believed: the line has to be
//! about this brief. Of several decisions the last one counts; whoever acts on one reads back until
//! there can be no later one. What was taken back counts for nothing. A decision whose line is durable
//! was made: whoever was killed before its file appeared has its file put there by the next one.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use flagpost_disk::{self as disk, fsx};
use flagpost_model::{
    Seq, WorkerId,
    decision::{Decision, DecisionRecord, ProcessIdentity, Via},
    envelope::Hash,
};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

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
pub(super) enum Certainty {
    /// At what was read, and what came since.
    Known,
    /// As far as it costs little.
    Near,
    /// Through all of it that may matter, under the direction's lock.
    Sure,
}

/// As what a brief was proposed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RecordedProposal {
    /// The number of the line that tells of it.
    pub(super) line: u64,
    /// Its body's hash.
    pub(super) sha256: Hash,
    /// The hash of all of it; none where it is older than that.
    pub(super) envelope: Option<Hash>,
    /// It was found there: nobody is on record for proposing it.
    pub(super) observed: bool,
}

/// What is on record of one brief.
#[derive(Debug, Clone, Default)]
pub(super) struct BriefRecord {
    /// As what it was proposed.
    pub(super) proposed: Option<RecordedProposal>,
    /// The last decision.
    pub(super) decided: Option<DecisionRecord>,
    /// Its worker acknowledged it after that decision.
    pub(super) is_read: bool,
    /// Its worker had it elsewhere, before it was imported.
    pub(super) is_taken: bool,
    /// Whoever wrote it took it back.
    pub(super) is_withdrawn: bool,
    /// What unknown hands made of it, by the hash of all of it.
    pub(super) changes: Vec<Hash>,
    /// There is nothing more to know of it.
    pub(super) is_all: bool,
}

/// What is known of the briefs of a fleet, as far as the history was read.
#[derive(Debug, Default)]
pub(super) struct BriefHistory {
    known: Mutex<BriefFacts>,
    window: Window,
}

#[derive(Debug, Default)]
struct BriefFacts {
    /// What was read: from here
    from: u64,
    /// to here.
    to: u64,
    /// The lowest number of a line about mail in there.
    lowest: Option<u64>,
    briefs: BTreeMap<(WorkerId, Seq), Lines>,
    void: BTreeSet<u64>,
}

/// The lines about one brief.
#[derive(Debug, Default)]
struct Lines {
    proposed: Vec<RecordedProposal>,
    decided: Vec<(u64, DecisionRecord)>,
    read: Vec<u64>,
    taken: Vec<u64>,
    withdrawn: Vec<u64>,
    changed: Vec<(u64, Hash)>,
}

impl Lines {
    fn told(&self, lowest: Option<u64>) -> BriefRecord {
        // Whoever takes a brief away and puts another in its place proposes nothing.
        let proposed = self.proposed.iter().min_by_key(|it| it.line);
        let decided = self.decided.iter().max_by_key(|(line, _)| *line);
        let last = decided.map(|(line, _)| *line);
        let begins = last.or(proposed.map(|it| it.line));
        BriefRecord {
            proposed: proposed.cloned(),
            decided: decided.map(|(_, it)| it.clone()),
            is_read: last.is_some_and(|last| self.read.iter().any(|line| *line > last)),
            is_taken: !self.taken.is_empty(),
            is_withdrawn: !self.withdrawn.is_empty(),
            changes: self.changed.iter().map(|(_, it)| it.clone()).collect(),
            is_all: begins.is_some_and(|line| lowest.is_some_and(|lowest| lowest <= line)),
        }
    }

    /// Whether the brief was proposed under a number that was given out.
    fn is_ours(&self) -> bool {
        self.proposed.iter().any(|it| !it.observed)
    }

    fn forget(&mut self, line: u64) {
        self.proposed.retain(|it| it.line != line);
        self.decided.retain(|(it, _)| *it != line);
        self.changed.retain(|(it, _)| *it != line);
        for lines in [&mut self.read, &mut self.taken, &mut self.withdrawn] {
            lines.retain(|it| *it != line);
        }
    }
}

/// As much of a line as is asked for here. A history is long.
#[derive(Deserialize)]
struct BriefLine {
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
    direction: Option<String>,
    acked_at: Option<Value>,
    n: Option<u64>,
    since: Option<String>,
    #[serde(default)]
    observed: bool,
}

/// The line of a decision.
#[derive(Deserialize)]
struct DecisionLine {
    at: Timestamp,
    actor: WorkerId,
    detail: DecisionDetail,
}

#[derive(Deserialize)]
struct DecisionDetail {
    decision: Decision,
    by: Option<WorkerId>,
    via: Option<Via>,
    sha256: Hash,
    envelope: Option<Hash>,
    reason: Option<String>,
    rule: Option<String>,
    policy: Option<Hash>,
    hand: Option<ProcessIdentity>,
}

impl DecisionLine {
    fn verdict(self, line: u64) -> DecisionRecord {
        let it = self.detail;
        DecisionRecord {
            decision: it.decision,
            by: it.by.unwrap_or(self.actor),
            at: self.at,
            sha256: it.sha256,
            envelope: it.envelope,
            via: it.via.unwrap_or(Via::External),
            reason: it.reason,
            rule: it.rule,
            policy: it.policy,
            hand: it.hand,
            line: Some(line),
        }
    }
}

impl Mail<'_> {
    /// What is on record of a brief. `hint` is the number of a line that may tell of it.
    pub(super) fn told(
        &self,
        seq: Seq,
        hint: impl FnOnce() -> Result<Option<u64>>,
        look: Certainty,
    ) -> Result<BriefRecord> {
        let key = (self.worker.clone(), seq);
        let history = self.history();
        let mut known = self.known(&history)?;
        while known.may_read_back(look) && !known.told(&key).is_all {
            known.read_back(&history)?;
        }
        if look == Certainty::Near
            && !known.told(&key).is_all
            && let Some(n) = hint()?
            && let Some(line) = history.line(n, &self.record.window)?
        {
            known.learn(&line);
        }
        Ok(known.told(&key))
    }

    /// The highest number of this worker's inbox that the history tells of: near its end as far back as
    /// the last one that was given out.
    pub(super) fn highest_on_record(&self, look: Certainty) -> Result<u64> {
        let history = self.history();
        let mut known = self.known(&history)?;
        while known.may_read_back(look)
            && !(look == Certainty::Near && known.of(&self.worker).any(|(_, it)| it.is_ours()))
        {
            known.read_back(&history)?;
        }
        let last = known.of(&self.worker).last();
        Ok(last.map_or(0, |(seq, _)| seq.get()))
    }

    /// The same for a worker by its name, near the history's end.
    pub(crate) fn highest_brief(fleet: &super::Fleet<'_>, worker: &WorkerId) -> Result<u64> {
        fleet.directory(worker).highest_on_record(Certainty::Near)
    }

    /// The highest number that was given out to a brief, as far as the history was read: what a hand put
    /// there took none.
    pub(super) fn highest_given_out(&self) -> Result<u64> {
        let known = self.known(&self.history())?;
        let ours = known.of(&self.worker).filter(|(_, it)| it.is_ours());
        Ok(ours.last().map_or(0, |(seq, _)| seq.get()))
    }

    /// As what a brief was proposed, where its end of the history or the line of this number tells.
    pub(super) fn proposal(&self, seq: Seq, hint: Option<u64>) -> Result<Option<RecordedProposal>> {
        let key = (self.worker.clone(), seq);
        let history = self.history();
        let mut known = self.known(&history)?;
        if known.told(&key).proposed.is_none()
            && let Some(n) = hint
            && let Some(line) = history.line(n, &self.record.window)?
        {
            known.learn(&line);
        }
        Ok(known.told(&key).proposed)
    }

    /// What is known by now, and what came since.
    fn known(&self, history: &History<'_>) -> Result<MutexGuard<'_, BriefFacts>> {
        self.record.known(history)
    }
}

impl BriefHistory {
    /// The briefs, of one worker or of all, that were proposed, each with the line that tells of it, and
    /// that nobody is known to have read or taken back.
    pub(super) fn open(
        &self,
        history: &History<'_>,
        of: Option<&WorkerId>,
        look: Certainty,
    ) -> Result<Vec<(WorkerId, u64, Seq)>> {
        let mut known = self.known(history)?;
        while look == Certainty::Sure && known.from > 0 {
            known.read_back(history)?;
        }
        let mut open = Vec::new();
        for ((worker, seq), lines) in &known.briefs {
            let is_over = [&lines.read, &lines.taken, &lines.withdrawn]
                .iter()
                .any(|it| !it.is_empty());
            if let Some(proposal) = lines.proposed.first()
                && of.is_none_or(|of| of == worker)
                && !is_over
            {
                open.push((worker.clone(), proposal.line, *seq));
            }
        }
        Ok(open)
    }

    fn known(&self, history: &History<'_>) -> Result<MutexGuard<'_, BriefFacts>> {
        // Whoever panicked meanwhile left at worst a part of it out.
        let known = self.known.lock();
        let mut known = known.unwrap_or_else(PoisonError::into_inner);
        known.read_on(history)?;
        Ok(known)
    }
}

impl BriefFacts {
    fn may_read_back(&self, look: Certainty) -> bool {
        match look {
            Certainty::Known => false,
            Certainty::Near => self.from > 0 && self.to - self.from < NEAR,
            Certainty::Sure => self.from > 0,
        }
    }

    /// What is known of the briefs of a worker, by number.
    fn of(&self, worker: &WorkerId) -> impl Iterator<Item = (Seq, &Lines)> {
        let from = self.briefs.range((worker.clone(), Seq::FIRST)..);
        let own = from.take_while(move |((of, _), _)| of == worker);
        own.map(|((_, seq), lines)| (*seq, lines))
    }

    fn told(&self, key: &(WorkerId, Seq)) -> BriefRecord {
        let lowest = match self.from {
            0 => Some(0),
            _ => self.lowest,
        };
        let lines = self.briefs.get(key).map(|lines| lines.told(lowest));
        BriefRecord {
            is_all: self.from == 0 || lines.as_ref().is_some_and(|it| it.is_all),
            ..lines.unwrap_or_default()
        }
    }

    /// Reads what came since.
    fn read_on(&mut self, history: &History<'_>) -> Result<()> {
        history.must_end()?;
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
        let mut size = (self.to - self.from).saturating_mul(3).max(FIRST);
        let mut begin = self.from.saturating_sub(size);
        // A look that begins in the middle of a line, and sees no other, has to begin earlier.
        loop {
            let (skipped, _) = self.read(history, begin, self.from - begin)?;
            let from = begin + skipped;
            if from < self.from || begin == 0 {
                self.from = if begin == 0 { 0 } else { from };
                return Ok(());
            }
            size = size.saturating_mul(2);
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
            if let Ok(head) = serde_json::from_slice::<BriefLine>(line) {
                self.lowest = Some(self.lowest.map_or(head.n, |it| it.min(head.n)));
                self.note(head, || serde_json::from_slice(line).ok());
            }
        }
        Ok((skipped as u64, whole.len() as u64))
    }

    fn learn(&mut self, line: &Line) {
        let json = line.to_json();
        if let Ok(head) = BriefLine::deserialize(&json) {
            self.note(head, || DecisionLine::deserialize(&json).ok());
        }
    }

    fn note(&mut self, head: BriefLine, decision: impl FnOnce() -> Option<DecisionLine>) {
        let (line, detail) = (head.n, head.detail);
        if head.kind == Kind::Void {
            self.take_back(detail.n.unwrap_or_default());
            return;
        }
        let (Some(worker), Some(seq)) = (head.worker, head.seq) else {
            return;
        };
        if self.void.contains(&line) || detail.direction.is_some_and(|it| it != "inbox") {
            return;
        }
        let lines = self.briefs.entry((worker, seq)).or_default();
        // A line may be met again; what it says is the same.
        lines.forget(line);
        lines.taken.extend(detail.acked_at.map(|_| line));
        match (head.kind, detail.sha256) {
            (Kind::BriefProposed | Kind::MessageImported, Some(sha256)) => {
                let envelope = detail.envelope;
                lines.proposed.push(RecordedProposal {
                    line,
                    sha256,
                    envelope,
                    observed: detail.observed,
                });
            }
            (Kind::BriefDecided, _) => {
                let verdict = decision().map(|it| (line, it.verdict(line)));
                lines.decided.extend(verdict);
            }
            (Kind::BriefRead, _) => lines.read.push(line),
            (Kind::MessageWithdrawn, _) => lines.withdrawn.push(line),
            // Other such lines tell of marks.
            (Kind::ChangedOutside, Some(_)) if detail.since.is_some() => {
                lines.changed.extend(detail.envelope.map(|it| (line, it)));
            }
            _ => {}
        }
    }

    fn take_back(&mut self, line: u64) {
        self.void.insert(line);
        for lines in self.briefs.values_mut() {
            lines.forget(line);
        }
    }
}

/// Whether a line may be one that is asked for; so much can be seen at its beginning.
fn is_about_mail(line: &[u8]) -> bool {
    const KINDS: [&[u8]; 7] = [
        b"\"kind\":\"relay.brief_proposed\"",
        b"\"kind\":\"relay.decided\"",
        b"\"kind\":\"relay.changed_outside\"",
        b"\"kind\":\"worker.read\"",
        b"\"kind\":\"message.withdrawn\"",
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
