//! The append-only record of every transition (`tree.md` §7).
//!
//! Owns `history.jsonl` and its numbers. A line about a task is durable *before* the change it tells
//! of appears, so no change of a list or a mail is ever unrecorded. A crash in between leaves a line
//! whose change never appeared; the next writer sees that and appends a `history.void` line that
//! names it. A repository's registration and a quarantine are recorded first too, and once more after such a
//! crash. A line about a session follows what it tells of, since none of these can take it back: a
//! crash in between leaves it untold, and the session's own files tell of it. Each line carries a
//! short hash of the line before it (`chain`). Nothing is ever rewritten. In a shared repository the
//! fleet's order comes before the line ([`crate::order`]): nothing is voided there.

mod backward;
mod chain;
pub(crate) mod detail;
mod kept_reports;
mod latest;
mod line;
mod numbered;
mod onward;
mod renumbering;
mod scan;
mod shared;
mod tail;
mod witness;

use std::path::PathBuf;

use flagpost_disk::{
    self as disk,
    fsx::{self, Durability, Lock, Rank, StagedBatch},
};
use flagpost_model::{RepoId, WorkerId, id::MAX_NUMBER};
use jiff::{SignedDuration, Timestamp};

pub use latest::{AboutList, HistoryFilter, Latest};
pub use line::{Entry, Kind, Line};
pub(crate) use numbered::Window;
pub(crate) use onward::ReadPosition;
pub(crate) use scan::HistoryScan;
pub(crate) use shared::{Follower, SharedEnd};
pub use tail::{NewLines, Tail};

use crate::{
    error::OrderRefusal,
    error::{Error, Result},
    home::Home,
    sequencer::{AfterWait, ChangeOrder, FinishChange, Transaction},
};

/// Who waited longer than this for the history takes its times anew.
const LATE: SignedDuration = SignedDuration::from_millis(500);

/// How much of the end is read at first to find the last change: more than the lines of sixteen claims.
const TAIL: u64 = 16 << 10;

/// How much of the end may be read to find it: 128 MiB. What a line tells of fits one file.
const LONGEST_TAIL: u64 = 8 * fsx::READ_LIMIT;

/// So much without a line at its end is damage where no line of ours can be: the rest of a crash, or a hand's.
const NO_LINE: u64 = 1 << 20;

/// Largest history that is read, 8 GiB: tens of millions of changes. A larger one was damaged.
const LIMIT: u64 = 8 << 30;

/// What is known of a change that may not have appeared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Whoever made it is in the middle of it, or was killed: what a word was given on is finished by
    /// the next writer.
    CutShort,
    /// Whoever made it was told that it failed, or nobody may hear of it yet: only what is there counts.
    Failed,
}

/// One repository's history.
#[derive(Debug)]
pub struct History<'h> {
    home: &'h Home,
    repo: RepoId,
    path: PathBuf,
}

impl<'h> History<'h> {
    /// The history of a registered repository.
    pub fn of(home: &'h Home, repo: &RepoId) -> Self {
        let path = home.repository_dir(repo).join("history.jsonl");
        Self {
            home,
            repo: repo.clone(),
            path,
        }
    }

    /// Every readable line after number `since`.
    pub fn since(&self, since: u64) -> Result<Vec<Line>> {
        let bytes = self.bytes()?;
        // A last line without its newline was not acknowledged, even where it happens to parse.
        let end = bytes.iter().rposition(|byte| *byte == b'\n');
        let ended = bytes.get(..end.unwrap_or_default()).unwrap_or_default();
        Ok(lines(ended).filter(|line| line.n > since).collect())
    }

    /// All of it; nothing where there is none.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>> {
        self.must_end()?;
        match self.home.fs().read(&self.path, 0, LIMIT) {
            Ok(bytes) => Ok(bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(disk::Error::io("read", &self.path)(error).into()),
        }
    }

    /// Refuses one that ends in what is no line and cannot become one: every reader asks this first.
    pub(crate) fn must_end(&self) -> Result<()> {
        match self.damaged_from()? {
            None => Ok(()),
            Some(from) => Err(disk::Error::Damaged {
                path: self.path.clone(),
                from,
            }
            .into()),
        }
    }

    /// From which byte on it is damaged to its end.
    fn damaged_from(&self) -> Result<Option<u64>> {
        let part = |from, len| {
            let read = self.home.fs().read_part(&self.path, from, len);
            read.map_err(disk::Error::io("read", &self.path))
        };
        let len = fsx::stat(self.home.fs(), &self.path)?.map_or(0, |stat| stat.len);
        // What is larger than any history is refused whole, where all of it is asked for.
        if !(NO_LINE..=LIMIT).contains(&len) || part(len - 2, 2)? == b"}\n" {
            return Ok(None);
        }
        let (mut from, mut end, mut is_text) = (len, None, true);
        while from > 0 && end.is_none() {
            let begin = from.saturating_sub(NO_LINE);
            let bytes = part(begin, from - begin)?;
            end = bytes.iter().rposition(|byte| *byte == b'}');
            let rest = &bytes[end.map_or(0, |at| at + 1)..];
            // Our lines are JSON, which has an escape for each control character.
            is_text &= rest.iter().all(|byte| *byte >= b' ' || *byte == b'\n');
            from = begin + (bytes.len() - rest.len()) as u64;
        }
        if part(from, 1)? == b"\n" {
            from += 1;
        }
        let damaged = len - from;
        let is_damaged = damaged >= NO_LINE && !is_text || damaged >= LONGEST_TAIL;
        Ok(is_damaged.then_some(from))
    }

    /// The number of its last line; 0 where there is none.
    pub(crate) fn last(&self) -> Result<u64> {
        Ok(self.end(TAIL, last_line)?.number())
    }

    /// The home it is in.
    pub(crate) fn home(&self) -> &Home {
        self.home
    }

    /// Its file.
    pub(crate) fn path(&self) -> &PathBuf {
        &self.path
    }

    /// Records entries of changes that are in no list's files.
    pub fn record(&self, actor: &WorkerId, at: Timestamp, entries: Vec<Entry>) -> Result<()> {
        let record = || self.writer(at)?.record(actor, entries.clone());
        self.home.transact(record)
    }

    /// Records what other hands made of these files; the number of the first line.
    pub(crate) fn record_found(
        &self,
        actor: &WorkerId,
        at: Timestamp,
        (entries, paths): (Vec<Entry>, &[PathBuf]),
    ) -> Result<u64> {
        let mut writer = self.writer(at)?;
        let first = writer.next();
        writer.record_found(actor, entries, paths)?;
        Ok(first)
    }

    /// Takes back at once those lines of the last change that it did not bring about.
    pub(crate) fn void_unapplied(&self, actor: &WorkerId, at: Timestamp) -> Result<()> {
        self.record(actor, at, Vec::new())
    }

    /// The same, whatever an order has to say.
    pub(crate) fn void_alone(&self, actor: &WorkerId, at: Timestamp) -> Result<()> {
        self.writer_in(&|| Ok(None), at)?.record(actor, Vec::new())
    }

    /// The same for a change that failed before the eyes of whoever made it, and who says so.
    fn take_back(&self, actor: &WorkerId, at: Timestamp) -> Result<()> {
        let mut writer = self.writer(at)?;
        let lines = self.end(TAIL, last_change)?.lines;
        writer.voids = self.unsettled(lines, Fate::Failed)?;
        writer.record(actor, Vec::new())
    }

    /// Its lock.
    pub(crate) fn lock_path(&self) -> PathBuf {
        self.path.with_file_name(".history.lock")
    }

    /// Takes the history's lock and looks whether the last recorded change has appeared.
    pub(crate) fn writer(&self, at: Timestamp) -> Result<Writer<'_>> {
        let after_wait = Transaction::after_wait();
        debug_assert!(after_wait.is_some(), "a change stands in Home::transact");
        let asked = self.home.now();
        let writer = self.writer_in(&|| self.home.order_of(&self.repo), at)?;
        // A lease that was counted from before the wait is shorter than was asked for, or over.
        let is_late = self.home.now().duration_since(asked) > LATE;
        match after_wait {
            Some(AfterWait::BeginAgain) if is_late => Err(self.overtaken()),
            _ => Ok(writer),
        }
    }

    fn writer_in<'w>(
        &'w self,
        order: &dyn Fn() -> Result<Option<Box<dyn ChangeOrder + 'w>>>,
        at: Timestamp,
    ) -> Result<Writer<'w>> {
        let fs = self.home.fs();
        let dir = self.home.repository_dir(&self.repo);
        self.home.must_not_be_linked(&dir)?;
        // Whoever wrote the first line had made the directory durable.
        if fsx::stat(fs, &self.path)?.is_none() {
            self.home.make_dirs(&dir)?;
        }
        let lock = fsx::lock(fs, &self.lock_path(), Rank::History, fsx::DEFAULT_WAIT, at)?;
        let order = order()?;
        // Whether all of a shared one has appeared is on record.
        let end = self.end(TAIL, order.as_ref().map_or(last_change, |_| last_line))?;
        let last = end.number();
        let End {
            lines,
            prev,
            is_cut,
        } = end;
        if last >= MAX_NUMBER {
            return Err(disk::Error::Malformed {
                path: self.path.clone(),
                reason: format!(
                    "there is no number after {last}; 'flagpost doctor' tells how to go on"
                ),
            }
            .into());
        }
        let voids = match &order {
            None => self.unsettled(lines, Fate::CutShort)?,
            // What the fleet has is finished, and that takes the locks of what it changes.
            Some(_) if is_cut || self.settled() != (last, prev.clone().unwrap_or_default()) => {
                return Err(self.overtaken());
            }
            Some(_) => Vec::new(),
        };
        Ok(Writer {
            history: self,
            order,
            _lock: lock,
            at,
            last,
            prev,
            voids,
        })
    }

    fn overtaken(&self) -> Error {
        let repo = self.repo.clone();
        OrderRefusal::Overtaken { repo }.into()
    }

    /// The entries that take back what the last change told of and did not bring about.
    fn unsettled(&self, last: Vec<Line>, fate: Fate) -> Result<Vec<Entry>> {
        if self.has_settled(last.last().map_or(0, |line| line.n))? {
            return Ok(Vec::new());
        }
        let mut voids = Vec::new();
        let voided: Vec<u64> = last.iter().filter_map(|line| line.entry.voids()).collect();
        let first = last.first().map_or(0, |line| line.n);
        for line in last {
            let open = line.entry.may_be_void() && !voided.contains(&line.n);
            if open && !self.has_appeared((line.n, &line.entry), fate)? {
                let mut void = Entry::new(Kind::Void)
                    .detail("n", line.n)
                    .detail("op", first);
                void.worker = line.entry.worker;
                void.seq = line.entry.seq;
                void.list = line.entry.list;
                void.task = line.entry.task;
                voids.push(void);
            }
        }
        Ok(voids)
    }

    /// Its end, with the lines that `last` finds there; none only where the history is empty. At first
    /// `size` bytes are read, and more of them until all that it looks for is there. A line that lacks only
    /// its newline is one of them: the next append ends it, so its number is taken.
    fn end(&self, size: u64, last: fn(&[u8]) -> Last) -> Result<End> {
        let fs = self.home.fs();
        self.must_end()?;
        let Some(stat) = fsx::stat(fs, &self.path)? else {
            return Ok(End::default());
        };
        let offset = stat.len.saturating_sub(size);
        let bytes = fs
            .read(&self.path, offset, u64::MAX)
            .map_err(disk::Error::io("read", &self.path))?;
        // Where the reading began in the middle of a line, that line is for a longer look.
        let begun = match offset {
            0 => 0,
            _ => bytes
                .iter()
                .position(|byte| *byte == b'\n')
                .unwrap_or(bytes.len()),
        };
        if ends_damaged(&bytes[begun..]) {
            return Err(disk::Error::Malformed {
                path: self.path.clone(),
                reason: "its last line cannot be read; 'flagpost doctor' tells how to go on"
                    .to_owned(),
            }
            .into());
        }
        let Last { lines, is_whole } = last(&bytes);
        let end = |lines| End {
            lines,
            prev: chain::last(&bytes).map(chain::print),
            is_cut: bytes.last().is_some_and(|byte| *byte != b'\n'),
        };
        match (lines.is_empty(), offset) {
            (true, 1..) if size >= LONGEST_TAIL => Err(disk::Error::Malformed {
                path: self.path.clone(),
                reason: format!("none of the lines in its last {size} bytes can be read"),
            }
            .into()),
            (false, 1..) if !is_whole => self.end(size.saturating_mul(8), last),
            (false, _) => Ok(end(lines)),
            (true, 0) if bytes.contains(&b'\n') => Err(disk::Error::Malformed {
                path: self.path.clone(),
                reason: "none of its lines can be read".to_owned(),
            }
            .into()),
            (true, 0) => Ok(end(lines)),
            (true, _) => self.end(size.saturating_mul(8), last),
        }
    }
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = Line> {
    bytes.split(|byte| *byte == b'\n').filter_map(Line::parse)
}

/// Whether the last whole line is one that cannot be read, so that nobody knows which number it took.
/// One that a crash cut off was never acknowledged, and its number is free.
fn ends_damaged(bytes: &[u8]) -> bool {
    let whole = |line: &&[u8]| Line::parse(line).is_some() || line.ends_with(b"}");
    // What follows the last line break was cut off.
    let last = bytes.rsplit(|byte| *byte == b'\n').skip(1).find(whole);
    last.is_some_and(|line| Line::parse(line).is_none())
}

/// Where a history goes on.
#[derive(Debug, Default)]
struct End {
    /// Its last lines, as many as were asked for.
    lines: Vec<Line>,
    /// The hash of its last line, readable or not; `None` where there is none.
    prev: Option<String>,
    /// Its last line lacks its end.
    is_cut: bool,
}

impl End {
    /// The number of its last line; 0 where there is none.
    fn number(&self) -> u64 {
        self.lines.last().map_or(0, |line| line.n)
    }
}

/// The end of a history, as far as it was read.
struct Last {
    /// The lines that were looked for, as far as they are there.
    lines: Vec<Line>,
    /// Whether they are all there.
    is_whole: bool,
}

/// The last line alone. The change that it belongs to may have very many.
fn last_line(bytes: &[u8]) -> Last {
    let mut backwards = bytes.rsplit(|byte| *byte == b'\n');
    let line = backwards.find_map(Line::parse);
    Last {
        is_whole: line.is_some(),
        lines: line.into_iter().collect(),
    }
}

/// All lines of the change that the last line belongs to, or takes back.
fn last_change(bytes: &[u8]) -> Last {
    let mut lines: Vec<Line> = Vec::new();
    let mut is_whole = false;
    let backwards = bytes.rsplit(|byte| *byte == b'\n');
    for line in backwards.filter_map(Line::parse) {
        let first = lines.first().unwrap_or(&line).first();
        is_whole = line.n <= first;
        if line.n >= first {
            lines.push(line);
        }
        if is_whole {
            break;
        }
    }
    lines.reverse();
    Last { lines, is_whole }
}

/// The history, locked for one change.
#[derive(Debug)]
pub(crate) struct Writer<'h> {
    history: &'h History<'h>,
    /// Who says whether the change comes next, where others follow.
    order: Option<Box<dyn ChangeOrder + 'h>>,
    _lock: Lock,
    at: Timestamp,
    last: u64,
    prev: Option<String>,
    voids: Vec<Entry>,
}

impl Writer<'_> {
    /// The number that the first entry of the coming change will get.
    pub(crate) fn next(&self) -> u64 {
        self.last + self.voids.len() as u64 + 1
    }

    /// Makes the entries of one change durable, and then lets the change appear.
    pub(crate) fn carry_out(
        mut self,
        actor: &WorkerId,
        entries: Vec<Entry>,
        mut staged: StagedBatch<'_>,
    ) -> Result<()> {
        let creates = entries.iter().any(Entry::creates);
        let text = self.lines(actor, entries);
        let shared = self.publish(&text, Some(&staged), &[])?;
        staged.publish_first()?;
        self.append(&text)?;
        match (staged.publish(), shared) {
            // A new file that is not there says nothing of whether it was.
            (Ok(()), None) if creates => {
                self.settle();
                Ok(())
            }
            (Ok(()), None) => Ok(()),
            (Ok(()), Some(_)) => {
                self.settle();
                Ok(())
            }
            // It has happened, whatever stands in its way here.
            (Err(_), Some(finish)) => {
                finish()?;
                self.settle();
                Ok(())
            }
            (Err(error), None) => {
                let (history, at) = (self.history, self.at);
                drop(self);
                // What failed may have appeared all the same. Should looking fail too, the next writer
                // does it.
                let _: Result<()> = history.take_back(actor, at);
                Err(error.into())
            }
        }
    }

    /// Makes the entries of one change durable; those that name nobody are `actor`'s. The lock is held
    /// until the writer is dropped.
    pub(crate) fn record(&mut self, actor: &WorkerId, entries: Vec<Entry>) -> Result<()> {
        self.record_found(actor, entries, &[])
    }

    /// The same for entries that tell what other hands made of these files.
    fn record_found(
        &mut self,
        actor: &WorkerId,
        entries: Vec<Entry>,
        paths: &[PathBuf],
    ) -> Result<()> {
        let text = self.lines(actor, entries);
        if text.is_empty() {
            return Ok(());
        }
        let shared = self.publish(&text, None, paths)?;
        self.append(&text)?;
        if shared.is_some() {
            self.settle();
        }
        Ok(())
    }

    /// Puts the change after the last one of all machines, where others follow. From then on it has
    /// happened.
    fn publish(
        &self,
        lines: &[u8],
        batch: Option<&StagedBatch<'_>>,
        found: &[PathBuf],
    ) -> Result<Option<FinishChange>> {
        let order = self.order.as_ref().filter(|_| !lines.is_empty());
        order.map(|it| it.publish(lines, batch, found)).transpose()
    }

    /// Says that the change has appeared.
    fn settle(&self) {
        let print = self.prev.as_deref().unwrap_or_default();
        self.history.settle(self.last, print);
    }

    fn append(&self, lines: &[u8]) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let history = self.history;
        let fs = history.home.fs();
        Ok(fsx::append(fs, &history.path, lines, Durability::Synced)?)
    }

    /// The lines that take back what the last change did not bring about, and those of the next one.
    fn lines(&mut self, actor: &WorkerId, entries: Vec<Entry>) -> Vec<u8> {
        let first = self.next();
        let several = entries.len() > 1;
        let mut text = Vec::new();
        let voids = std::mem::take(&mut self.voids)
            .into_iter()
            .map(|entry| (false, entry));
        let entries = entries.into_iter().map(|entry| (several, entry));
        for (n, (several, mut entry)) in (self.last + 1..).zip(voids.chain(entries)) {
            if entry.actor.is_none() {
                entry = entry.on_behalf_of(actor, self.history.home.hand_behind(actor));
            }
            if several {
                entry = entry.detail("op", first);
            }
            if let Some(report) = self.history.home.tells() {
                entry = report.sign(entry);
            }
            let line = Line {
                n,
                at: self.at,
                repo: self.history.repo.clone(),
                entry,
            };
            let line = line.chained(self.prev.as_deref());
            self.prev = Some(chain::print(line.as_bytes()));
            text.extend(line.into_bytes());
            text.push(b'\n');
            self.last = n;
        }
        text
    }
}
