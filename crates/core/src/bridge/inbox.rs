//! The inbox: what agents write, taken in by exchanging it for an empty one.
//!
//! Owns that nothing written meanwhile is lost: the exchange comes first, what is still being written
//! is waited for, and what `send` adds never replaces what somebody else has just written. Invariant: an
//! inbox that is there once is there at every moment.

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use flagpost_disk::{
    self as disk,
    dialects::bridge::{self as dialect, INBOX, INBOX_LOCK},
    fsx::{self, Fs, Lock, Rank},
};
use flagpost_model::{
    ListId,
    bridge::{self as protocol, CommandSource},
};
use serde_json::{Map, Value, json};

use super::{
    Bridge, LOOKS, PAUSE,
    ledger::{self, IdLookup},
    processor::Processor,
};
use crate::error::{Error, Result};

/// How often `send` looks for its answer.
const LOOK: Duration = Duration::from_millis(20);

/// How often the inbox is written anew that somebody else writes as well.
const TRIES: usize = 50;

/// What a file's bytes are, or why they are none of that.
pub(super) type ItemParser<'r> = &'r dyn Fn(&[u8]) -> Result<Vec<Value>, String>;

/// What is in a file, once it has been found the same for a while where it is none of what was
/// expected: its writer may be in the middle of it. None where there is no file.
pub(super) fn read_stable(
    fs: &dyn Fs,
    path: &Path,
    read: ItemParser<'_>,
) -> Result<Option<Result<Vec<Value>, String>>> {
    let (mut last, mut looks) = (None, 0);
    loop {
        let bytes = match fsx::read(fs, path) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(None),
            Err(error) if error.is_no_such_file() => {
                let limit = fsx::READ_LIMIT;
                return Ok(Some(Err(format!("it is no file of up to {limit} bytes"))));
            }
            Err(error) => return Err(error.into()),
        };
        match read(&bytes) {
            Ok(items) => return Ok(Some(Ok(items))),
            Err(reason) if looks == LOOKS => return Ok(Some(Err(reason))),
            Err(_) => {}
        }
        looks = if last.as_ref() == Some(&bytes) {
            looks + 1
        } else {
            0
        };
        last = Some(bytes);
        thread::sleep(PAUSE);
    }
}

impl Bridge<'_> {
    /// Puts an empty inbox there for agents that read before they write, where none is. What came
    /// meanwhile is never replaced.
    fn lay_out(&self) -> Result<()> {
        let empty = dialect::inbox_bytes(Vec::new());
        match fsx::publish(self.home.fs(), &self.path(INBOX), &empty) {
            Ok(()) | Err(disk::Error::Conflict { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes the inbox away, where something is in it; whether it was. An empty one is in its place.
    pub(super) fn take_in(&self, to: &Path) -> Result<bool> {
        let (fs, inbox) = (self.home.fs(), self.path(INBOX));
        match fsx::stat(fs, &inbox)? {
            None => return self.lay_out().map(|()| false),
            Some(stat) if stat.kind != fsx::FileKind::File => {
                return Err(self.invalid(INBOX, "it must be a file"));
            }
            Some(_) => {}
        }
        match fsx::read(fs, &inbox) {
            Ok(Some(bytes)) if !dialect::is_idle(&bytes) => {}
            Ok(_) => return Ok(false),
            // Too large to be read is no reason to leave it.
            Err(error) if error.is_no_such_file() => {}
            Err(error) => return Err(error.into()),
        }
        let _lock = self.lock_inbox()?;
        match fsx::take_leaving(fs, &inbox, to, &dialect::inbox_bytes(Vec::new())) {
            Ok(()) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Keeps an inbox that is no JSON under a name that tells of it; the name.
    pub(super) fn reject(&self, processing: &Path) -> Result<()> {
        let now = self.home.now();
        for again in 0.. {
            let to = self.path(&dialect::rejected(now, again));
            match fsx::move_files(self.home.fs(), &[(processing.to_owned(), to)]) {
                Err(disk::Error::Conflict { .. }) => {}
                moved => return Ok(moved?),
            }
        }
        Ok(())
    }

    fn lock_inbox(&self) -> Result<Lock> {
        let (home, path) = (self.home, self.path(INBOX_LOCK));
        let (rank, wait) = (Rank::Direction, fsx::DEFAULT_WAIT);
        Ok(fsx::lock(home.fs(), &path, rank, wait, home.now())?)
    }

    /// Adds a command to the inbox, durable on return. What is there and no JSON yet is left alone:
    /// false.
    fn append(&self, command: &Value) -> Result<bool> {
        self.home.make_dirs(&self.dir)?;
        let (fs, inbox) = (self.home.fs(), self.path(INBOX));
        let _lock = self.lock_inbox()?;
        for _ in 0..TRIES {
            let was = fsx::read(fs, &inbox)?;
            let mut items = match was.as_deref() {
                None => Vec::new(),
                Some(bytes) if dialect::is_idle(bytes) => Vec::new(),
                Some(bytes) => match dialect::inbox(bytes) {
                    Ok(items) => items,
                    Err(_) => return Ok(false),
                },
            };
            items.push(command.clone());
            let bytes = dialect::inbox_bytes(items);
            let written = match &was {
                None => fsx::publish(fs, &inbox, &bytes),
                Some(was) => fsx::rewrite(fs, &inbox, Some(was), &bytes),
            };
            match written {
                Err(disk::Error::Conflict { .. } | disk::Error::Changed { .. }) => {}
                written => return Ok(written.map(|()| true)?),
            }
        }
        Err(disk::Error::Changed { path: inbox }.into())
    }
}

/// A command that somebody wants to send.
#[derive(Debug, Clone)]
pub struct NewCommand {
    /// The command, which may lack its id, its time, its source and its list.
    pub command: Map<String, Value>,
    /// Who sends it.
    pub source: CommandSource,
    /// The list where its sender stands.
    pub list: Option<ListId>,
}

/// Sends a command and waits for its answer: from whoever processes, and where nobody does, by
/// processing the inbox.
pub fn send(bridge: &Bridge<'_>, given: NewCommand, wait: Duration) -> Result<Value> {
    let id = match given.command.get("id") {
        None => bridge.home.fs().dated_id().to_string(),
        Some(Value::String(id)) if !id.is_empty() => id.clone(),
        Some(_) => return Err(bridge.invalid("id", "it must be a text that is not empty")),
    };
    let list = given.list.map_or(Value::Null, |list| json!(list));
    let lacks = [
        ("id", json!(id)),
        ("timestamp", json!(bridge.home.now())),
        ("source", json!(given.source)),
        ("list", list),
    ];
    let is_named = given.command.contains_key("id");
    let command = dialect::command(given.command, lacks);
    // A new name cannot have been used before.
    if is_named {
        match ledger::look_up(bridge, &id, &protocol::fingerprint(&command))? {
            IdLookup::Same(_) => {}
            IdLookup::Other => return Err(bridge.invalid("id", protocol::taken(&id))),
            // What is answered to it in the outbox is not for good: it is asked anew.
            IdLookup::New => bridge.withdraw(&id)?,
        }
    }
    let deadline = Instant::now() + wait;
    let mut is_sent = false;
    loop {
        is_sent = is_sent || bridge.append(&command)?;
        if is_sent && let Some(answer) = bridge.answer_to(&id)? {
            return Ok(answer);
        }
        match Processor::start(bridge)? {
            Some(mut processor) => {
                let mut own = None;
                processor.pass(&mut |done| {
                    if done.id.as_deref() == Some(id.as_str()) {
                        own = Some(done.reply.clone());
                    }
                    ControlFlow::Continue(())
                })?;
                if let Some(answer) = own {
                    return Ok(answer);
                }
            }
            None if Instant::now() >= deadline => {
                return Err(Error::NoAnswer { id, waited: wait });
            }
            None => thread::sleep(LOOK),
        }
    }
}

impl Bridge<'_> {
    /// What was answered to this command, in the outbox or, once it is pruned there, in the ledger.
    fn answer_to(&self, id: &str) -> Result<Option<Value>> {
        let is_it = |answer: &Value| answer.get("commandId").and_then(Value::as_str) == Some(id);
        let shown = self.answers().ok().into_iter().flatten().rev().find(is_it);
        match shown {
            Some(answer) => Ok(Some(answer)),
            None => ledger::answer(self, id),
        }
    }

    /// The processing files there are, the first taken in first.
    pub(super) fn processing(&self) -> Result<Vec<(u64, PathBuf)>> {
        let names = fsx::names(self.home.fs(), &self.dir)?;
        let numbers = names
            .iter()
            .filter_map(|name| dialect::processing_number(name.to_str()?));
        let mut numbers: Vec<u64> = numbers.collect();
        numbers.sort_unstable();
        let paths = numbers.into_iter();
        Ok(paths
            .map(|n| (n, self.path(&dialect::processing(n))))
            .collect())
    }
}
