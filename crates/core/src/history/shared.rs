//! The end of a shared repository's history.
//!
//! Owns three files beside the history. `.shared` says that it is one. `.epoch` says which of its fleet's
//! orders this machine goes by; where there is none, the first. `.settled`, which a history of one machine has
//! too once a file was created, has the number of the last line whose change has appeared here. It is written when that is so, and not synced: after a power cut it may be behind, and the last
//! change is finished again, which changes nothing that is as it should be. Invariant: only the last change
//! can be unfinished, since nobody goes on before it is.

use flagpost_disk::{
    self as disk,
    fsx::{self, Durability, Lock, Rank},
};
use jiff::Timestamp;

use super::{History, LONGEST_TAIL, Line, TAIL, chain, last_line};
use crate::error::{OrderRefusal, Result};

/// The name of the number's file.
const SETTLED: &str = ".settled";

/// The flag that says that other machines follow.
const SHARED: &str = ".shared";

/// The name of the file that says by which order a machine goes.
const EPOCH: &str = ".epoch";

/// How a history goes on after a line.
#[derive(Debug)]
pub(crate) struct SharedEnd {
    /// The number of its last whole line.
    pub(crate) last: u64,
    /// The number of the last line whose change has appeared, as far as that is known.
    pub(crate) settled: u64,
    /// The hash of the line that was asked about; none where there is none.
    pub(crate) before: Option<String>,
    /// What follows that line. A crash may have cut it off, or left in it what nobody wrote.
    pub(crate) after: Vec<u8>,
    /// Where that begins in the file.
    pub(crate) at: u64,
}

/// A history, locked to go on as others say.
#[derive(Debug)]
pub(crate) struct Follower<'h> {
    history: &'h History<'h>,
    _lock: Lock,
}

impl History<'_> {
    /// Takes the history's lock, to carry out what others did.
    pub(crate) fn follower(&self, at: Timestamp) -> Result<Follower<'_>> {
        let fs = self.home.fs();
        self.home.make_dirs(&self.home.repository_dir(&self.repo))?;
        let lock = fsx::lock(fs, &self.lock_path(), Rank::History, fsx::DEFAULT_WAIT, at)?;
        Ok(Follower {
            history: self,
            _lock: lock,
        })
    }

    /// Refuses to mend here alone what every machine has: another one has it whole.
    pub(super) fn must_be_own(&self) -> Result<()> {
        match self.is_shared()? {
            false => Ok(()),
            true => Err(OrderRefusal::Frozen {
                repo: self.repo.clone(),
                reason: "its history here is damaged, and other machines have it whole".to_owned(),
            }
            .into()),
        }
    }

    /// Whether other machines follow it.
    pub(crate) fn is_shared(&self) -> Result<bool> {
        let flag = self.path.with_file_name(SHARED);
        Ok(fsx::stat(self.home.fs(), &flag)?.is_some())
    }

    /// By which order of its fleet this machine goes.
    pub(crate) fn epoch(&self) -> Result<u64> {
        let path = self.path.with_file_name(EPOCH);
        let Some(bytes) = fsx::read(self.home.fs(), &path)? else {
            return Ok(1);
        };
        let text = std::str::from_utf8(&bytes).ok();
        let epoch = text.and_then(|it| it.trim_end().parse().ok());
        epoch.ok_or_else(|| {
            let reason = "it has no number".to_owned();
            disk::Error::Malformed { path, reason }.into()
        })
    }

    /// The number of the first line of the last change; 1 where there is none.
    pub(crate) fn first_of_last(&self) -> Result<u64> {
        Ok(self
            .end(TAIL, last_line)?
            .lines
            .first()
            .map_or(1, Line::first))
    }

    /// The last line whose change has appeared on this machine: its number and its hash. 0 where that is
    /// not known.
    pub(crate) fn settled(&self) -> (u64, String) {
        let bytes = self.home.fs().read_part(&self.settled_path(), 0, 64);
        let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let said = text.as_deref().and_then(|text| {
            let (n, print) = text.strip_suffix('\n')?.split_once(' ')?;
            Some((n.parse().ok()?, print.to_owned()))
        });
        said.unwrap_or_default()
    }

    /// Whether it is on record that all up to line `n` has appeared. It is of a shared repository alone.
    pub(super) fn has_all_to(&self, n: u64) -> Result<bool> {
        Ok(self.settled().0 >= n && self.is_shared()?)
    }

    /// The same of its last line `n`, in any repository.
    pub(super) fn has_settled(&self, n: u64) -> Result<bool> {
        let (settled, print) = self.settled();
        if settled < n || self.is_shared()? {
            return Ok(settled >= n);
        }
        // Another history may have this number too.
        let end = self.end(TAIL, last_line)?;
        Ok(end.number() == settled && end.prev == Some(print))
    }

    /// Says that the change of line `n`, which has this hash, has appeared on this machine. Where that cannot
    /// be written, whoever comes next looks, and a change of all machines is finished once more.
    pub(super) fn settle(&self, n: u64, print: &str) {
        let text = format!("{n} {print}\n");
        let _: std::io::Result<()> = self
            .home
            .fs()
            .overwrite(&self.settled_path(), text.as_bytes());
    }

    fn settled_path(&self) -> std::path::PathBuf {
        self.path.with_file_name(SETTLED)
    }
}

impl Follower<'_> {
    /// How the history goes on after the line before number `first`.
    pub(crate) fn end(&self, first: u64) -> Result<SharedEnd> {
        let history = self.history;
        let last = history.last()?;
        let len = fsx::stat(history.home.fs(), &history.path)?.map_or(0, |stat| stat.len);
        let mut size = TAIL;
        loop {
            let offset = len.saturating_sub(size);
            let bytes = match len {
                0 => Vec::new(),
                _ => history
                    .home
                    .fs()
                    .read(&history.path, offset, u64::MAX)
                    .map_err(disk::Error::io("read", &history.path))?,
            };
            let begin = before(&bytes, first);
            if begin.is_some() || offset == 0 || size >= LONGEST_TAIL {
                let (before, at) = begin.unwrap_or_default();
                return Ok(SharedEnd {
                    last,
                    settled: history.settled().0,
                    before,
                    after: bytes[at..].to_owned(),
                    at: offset + at as u64,
                });
            }
            size = size.saturating_mul(8);
        }
    }

    /// Makes these lines follow there, as far as they do not yet; durable on return.
    pub(crate) fn complete(&self, end: &SharedEnd, lines: &str) -> Result<()> {
        let (fs, path) = (self.history.home.fs(), &self.history.path);
        if end.after.is_empty() {
            return Ok(fsx::append(fs, path, lines.as_bytes(), Durability::Synced)?);
        }
        let there = end.shared_with(lines);
        let rest = lines.as_bytes().get(there..).unwrap_or_default();
        // What lies behind them is no line, and nobody's.
        Ok(fsx::complete(fs, path, end.at + there as u64, rest)?)
    }

    /// Begins the history with this text, whatever is there.
    pub(crate) fn begin_with(&self, text: &str) -> Result<()> {
        Ok(fsx::replace(
            self.history.home.fs(),
            &self.history.path,
            text.as_bytes(),
        )?)
    }

    /// Ends the history as this text does, of which it has the beginning; durable on return.
    pub(crate) fn go_on_to(&self, text: &str, has: usize) -> Result<()> {
        let rest = text.as_bytes().get(has..).unwrap_or_default();
        let (fs, path) = (self.history.home.fs(), &self.history.path);
        Ok(fsx::complete(fs, path, has as u64, rest)?)
    }

    /// Ends a last line that a crash cut off.
    pub(crate) fn end_line(&self) -> Result<()> {
        let (fs, path) = (self.history.home.fs(), &self.history.path);
        match self.history.end(TAIL, last_line)?.is_cut {
            true => Ok(fsx::append(fs, path, &[], Durability::Synced)?),
            false => Ok(()),
        }
    }

    /// Goes by this order of the fleet from now on.
    pub(crate) fn enter(&self, epoch: u64) -> Result<()> {
        if self.history.epoch()? == epoch {
            return Ok(());
        }
        let path = self.history.path.with_file_name(EPOCH);
        let text = format!("{epoch}\n");
        Ok(fsx::replace(
            self.history.home.fs(),
            &path,
            text.as_bytes(),
        )?)
    }

    /// Says that other machines follow from here on.
    pub(crate) fn raise_shared(&self) -> Result<()> {
        let flag = self.history.path.with_file_name(SHARED);
        fsx::flag(self.history.home.fs(), &flag)?;
        Ok(())
    }

    /// Says that all that is here has appeared, where it ends with line `n` or before.
    pub(crate) fn caught_up(&self, n: u64) -> Result<()> {
        let end = self.history.end(TAIL, last_line)?;
        let last = end.number();
        if last <= n && self.history.settled().0 < last {
            self.history.settle(last, &end.prev.unwrap_or_default());
        }
        Ok(())
    }

    /// Says that the change of these lines, of which line `n` is the last, has appeared.
    pub(crate) fn settle(&self, n: u64, lines: &str) {
        let last = chain::last(lines.as_bytes()).map(chain::print);
        self.history.settle(n, &last.unwrap_or_default());
    }
}

impl SharedEnd {
    /// How many bytes of these lines are there.
    fn shared_with(&self, lines: &str) -> usize {
        let pairs = self.after.iter().zip(lines.as_bytes());
        pairs.take_while(|(a, b)| a == b).count()
    }

    /// Whether these lines can stand there: what is there is a part of them, or no line at all.
    pub(crate) fn admits(&self, lines: &str) -> bool {
        let there = self.shared_with(lines);
        if there == self.after.len() {
            return true;
        }
        let same = self.after.get(..there).unwrap_or_default();
        // Another line may begin as one of these does.
        let begun = same.iter().rposition(|byte| *byte == b'\n');
        let rest = self.after.get(begun.map_or(0, |at| at + 1)..);
        let mut rest = rest.unwrap_or_default().split(|byte| *byte == b'\n');
        !rest.any(|it| Line::parse(it).is_some())
    }

    /// Whether these lines are there, and nothing else.
    pub(crate) fn is(&self, lines: &str) -> bool {
        self.after == lines.as_bytes()
    }
}

/// The hash of the last whole line with a number below `first`, and where the next one begins.
fn before(bytes: &[u8], first: u64) -> Option<(Option<String>, usize)> {
    let mut end = bytes.iter().rposition(|byte| *byte == b'\n')?;
    loop {
        let begin = bytes[..end].iter().rposition(|byte| *byte == b'\n');
        let line = &bytes[begin.map_or(0, |at| at + 1)..end];
        if Line::parse(line).is_some_and(|line| line.n < first) {
            return Some((Some(chain::print(line)), end + 1));
        }
        end = begin?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_a_line_is_all_behind_it_whole_or_cut_off() {
        let line = |n: u64| {
            format!("{{\"n\":{n},\"at\":\"2026-05-13T14:25:00Z\",\"repo\":\"r\",\"kind\":\"x\"}}")
        };
        let text = format!("{}\n{}\n{}", line(1), line(2), &line(3)[..9]);
        let after = |first| {
            let (print, at) = before(text.as_bytes(), first)?;
            Some((print?, &text[at..]))
        };
        let print = |n| chain::print(line(n).as_bytes());
        assert_eq!(after(1), None);
        assert_eq!(
            after(2),
            Some((print(1), &*format!("{}\n{}", line(2), &line(3)[..9])))
        );
        assert_eq!(after(3), Some((print(2), &line(3)[..9])));
        assert_eq!(after(9), Some((print(2), &line(3)[..9])));
        assert_eq!(before(b"", 1), None);
    }
}
