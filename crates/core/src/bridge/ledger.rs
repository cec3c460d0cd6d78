//! What was executed, and what was answered.
//!
//! Owns the ledger's file. A line is written after each command, so that it survives the process,
//! and made durable before the answers are shown; what a power cut takes is found again in the
//! history. Invariant: it is never shortened while an inbox is being processed.

use std::{collections::HashMap, path::PathBuf};

use flagpost_disk::{
    dialects::bridge::{self as dialect, KnownAnswer, LEDGER, LedgerEntry},
    fsx::{self, Durability},
};
use flagpost_model::envelope::Hash;
use serde_json::Value;

use super::Bridge;
use crate::{error::Result, home::Home};

/// From so many lines or bytes on it is shortened to half.
const LINES: usize = 20_000;
const BYTES: usize = 16 << 20;

/// Largest ledger that is read, 1 GiB: a larger one is no ledger of ours.
const LIMIT: u64 = 1 << 30;

/// The answers of reading commands are kept up to this size: anybody can ask again.
const SHOWN: usize = 64 << 10;

/// What is known of an id.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum IdLookup {
    /// Nothing.
    New,
    /// It was used for the same command, which was answered so.
    Same(KnownAnswer),
    /// It was used for another command.
    Other,
}

/// Where an item was: its inbox, and its place there.
#[derive(Debug, Clone, Copy)]
pub(super) struct ItemPosition {
    pub batch: u64,
    pub item: Option<usize>,
}

/// What was executed.
#[derive(Debug)]
pub(super) struct Ledger<'h> {
    home: &'h Home,
    path: PathBuf,
    lines: Vec<Vec<u8>>,
    bytes: usize,
    by_id: HashMap<String, usize>,
    nameless: HashMap<(u64, Option<usize>), usize>,
    last: u64,
}

impl<'h> Ledger<'h> {
    pub fn load(bridge: &Bridge<'h>) -> Result<Self> {
        let home = bridge.home;
        let path = bridge.path(LEDGER);
        let bytes = fsx::read_up_to(home.fs(), &path, LIMIT)?.unwrap_or_default();
        let mut ledger = Self {
            home,
            path,
            lines: Vec::new(),
            bytes: 0,
            by_id: HashMap::new(),
            nameless: HashMap::new(),
            last: 0,
        };
        for entry in dialect::ledger(&bytes) {
            ledger.remember(&entry);
        }
        Ok(ledger)
    }

    fn remember(&mut self, entry: &LedgerEntry) {
        let (at, line) = (self.lines.len(), dialect::entry(entry));
        self.bytes += line.len();
        self.lines.push(line);
        self.last = self.last.max(entry.batch);
        match &entry.id {
            Some(id) => self.by_id.insert(id.clone(), at),
            None => self.nameless.insert((entry.batch, entry.item), at),
        };
    }

    /// The number of the last inbox that was dealt with.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// What is known of a command with this id.
    pub fn of(&self, id: &str, print: &Hash) -> IdLookup {
        let entry = self.by_id.get(id).and_then(|at| self.entry(*at));
        entry.map_or(IdLookup::New, |entry| found(entry, print))
    }

    /// Whether anything is known of it.
    pub fn knows(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    /// What was answered to an item that named no id, or to a whole inbox.
    pub fn of_nameless(&self, place: ItemPosition) -> Option<KnownAnswer> {
        let at = self.nameless.get(&(place.batch, place.item))?;
        Some(self.entry(*at)?.answer)
    }

    fn entry(&self, at: usize) -> Option<LedgerEntry> {
        dialect::ledger(self.lines.get(at)?).next()
    }

    /// Keeps an answer, for as long as the machine runs.
    pub fn keep(
        &mut self,
        place: ItemPosition,
        print: Option<&Hash>,
        reply: &Value,
        reads: bool,
    ) -> Result<()> {
        let id = reply.get("commandId").and_then(Value::as_str);
        let whole = KnownAnswer::Reply(reply.clone());
        let mut entry = LedgerEntry {
            batch: place.batch,
            item: place.item,
            id: id.map(str::to_owned),
            print: print.map(|it| it.as_str().to_owned()),
            answer: whole,
        };
        let mut line = dialect::entry(&entry);
        if reads && line.len() > SHOWN {
            entry.answer = KnownAnswer::Shown;
            line = dialect::entry(&entry);
        }
        fsx::append(self.home.fs(), &self.path, &line, Durability::Lazy)?;
        self.remember(&entry);
        Ok(())
    }

    /// Makes durable what was kept.
    pub fn sync(&self) -> Result<()> {
        Ok(fsx::append(
            self.home.fs(),
            &self.path,
            b"",
            Durability::Synced,
        )?)
    }

    /// Forgets the oldest where there are many.
    pub fn shorten(&mut self) -> Result<()> {
        if self.lines.len() <= LINES && self.bytes <= BYTES {
            return Ok(());
        }
        let mut bytes = 0;
        let kept = self.lines.iter().rev().take(LINES / 2).take_while(|line| {
            bytes += line.len();
            bytes <= BYTES / 2
        });
        let kept = kept.count().max(1);
        let text = self.lines[self.lines.len() - kept..].concat();
        fsx::replace(self.home.fs(), &self.path, &text)?;
        let (lines, by_id, nameless) = (Vec::new(), HashMap::new(), HashMap::new());
        (self.lines, self.by_id, self.nameless, self.bytes) = (lines, by_id, nameless, 0);
        for entry in dialect::ledger(&text) {
            self.remember(&entry);
        }
        Ok(())
    }
}

/// What was answered to the command of this id, as far as it is known.
pub(super) fn answer(bridge: &Bridge<'_>, id: &str) -> Result<Option<Value>> {
    Ok(last(bridge, id)?.and_then(|entry| match entry.answer {
        KnownAnswer::Reply(reply) => Some(reply),
        KnownAnswer::Shown => None,
    }))
}

/// What is known of a command with this id, for who does not process.
pub(super) fn look_up(bridge: &Bridge<'_>, id: &str, print: &Hash) -> Result<IdLookup> {
    Ok(last(bridge, id)?.map_or(IdLookup::New, |entry| found(entry, print)))
}

fn last(bridge: &Bridge<'_>, id: &str) -> Result<Option<LedgerEntry>> {
    let path = bridge.path(LEDGER);
    let bytes = fsx::read_up_to(bridge.home.fs(), &path, LIMIT)?.unwrap_or_default();
    Ok(dialect::ledger(&bytes)
        .filter(|entry| entry.id.as_deref() == Some(id))
        .last())
}

/// A line from before prints were kept counts as the same.
fn found(entry: LedgerEntry, print: &Hash) -> IdLookup {
    match entry.print {
        Some(was) if was != print.as_str() => IdLookup::Other,
        _ => IdLookup::Same(entry.answer),
    }
}
