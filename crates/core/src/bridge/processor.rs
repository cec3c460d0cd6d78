//! Processing: one inbox after the other, one command after the other.
//!
//! Owns the order: taken in → carried out → kept in the ledger → answered → gone. Whoever processes
//! holds a lock for as long as it does. What cannot be carried out for want of the machine, such as
//! room on the disk or a lock, is left for later with all that follows it.

use std::{collections::BTreeMap, io, ops::ControlFlow, path::Path, sync::Arc, time::Duration};

use flagpost_disk::{
    self as disk,
    dialects::bridge::{self as dialect, KnownAnswer, RUNNER},
    fsx::{self, Flock},
};
use flagpost_model::{
    ListId,
    bridge::{self as protocol, Addressee, Command, CommandOutcome, Refused, Reply},
    envelope::Hash,
};
use serde_json::Value;

use super::{
    Bridge,
    command_context::{self, CommandContext},
    inbox::read_stable,
    ledger::{IdLookup, ItemPosition, Ledger},
    serving::Running,
    traces::Traces,
};
use crate::{
    error::{Error, Result},
    history::Line,
    list::IdPool,
};

/// Longer than anybody holds the lock who only asks who holds it.
const A_LOOK: Duration = Duration::from_millis(200);

/// So many answers are shown at once.
const CHUNK: usize = super::outbox::KEPT;

/// Whoever processes.
#[derive(Debug)]
pub struct Processor<'b> {
    bridge: &'b Bridge<'b>,
    ledger: Ledger<'b>,
    /// The ids for what the commands of the inbox at hand will add, by the list that they name.
    stocks: BTreeMap<Option<ListId>, Arc<IdPool>>,
    pub(super) held: Box<dyn Flock>,
}

/// An item that was dealt with.
#[derive(Debug, Clone)]
pub struct Processed {
    /// Its id, where it has one.
    pub id: Option<String>,
    /// What it is, in a line.
    pub title: String,
    /// Why it was not carried out, where it was not.
    pub error: Option<String>,
    /// Its answer.
    pub reply: Value,
    /// Its id was answered before, and now in the same way: nothing was carried out.
    pub is_known: bool,
}

/// Whether an id may be asked under once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Used {
    /// What was answered holds for good.
    Up,
    /// The machine was in the way and nothing has happened: who asks again may fare better.
    Not,
}

/// Why a command came to nothing.
#[derive(Debug)]
enum Failed {
    /// It was not begun.
    Before(Error),
    /// It was, and some of it may have happened.
    Begun(Error),
}

impl Failed {
    fn error(self) -> Error {
        match self {
            Self::Before(error) | Self::Begun(error) => error,
        }
    }
}

/// Hears what was dealt with, and says whether to go on.
pub(super) type OnProcessed<'t> = &'t mut dyn FnMut(&Processed) -> ControlFlow<()>;

/// How far it went with an inbox: so many items were dealt with.
enum Batch {
    /// All there were.
    Whole(usize),
    /// Those that came before whoever hears of them said stop; the rest is left for later.
    Cut(usize),
}

impl<'b> Processor<'b> {
    /// Begins to process; none where somebody else does.
    pub fn start(bridge: &'b Bridge<'b>) -> Result<Option<Self>> {
        bridge.home.make_dirs(&bridge.dir)?;
        let path = bridge.path(RUNNER);
        let held = bridge.home.fs().flock(&path, A_LOOK);
        let Some(held) = held.map_err(disk::Error::io("lock", &path))? else {
            return Ok(None);
        };
        let ledger = Ledger::load(bridge)?;
        let mut started = Self {
            bridge,
            ledger,
            stocks: BTreeMap::new(),
            held,
        };
        started.sign(&Running::begun(bridge.home.now()));
        Ok(Some(started))
    }

    /// Deals with everything that is there: what a crash left first, then the inbox. How many items
    /// there were. What is left after a stop in the middle counts as left by a crash.
    pub fn pass(&mut self, hear: OnProcessed<'_>) -> Result<usize> {
        let left = self.bridge.processing()?;
        let mut last = self.ledger.last();
        let mut count = 0;
        for (n, path) in left {
            last = last.max(n);
            match self.batch(n, &path, Some(Traces::of(n)), hear)? {
                Batch::Whole(items) => count += items,
                Batch::Cut(items) => return Ok(count + items),
            }
        }
        let n = last + 1;
        let path = self.bridge.path(&dialect::processing(n));
        if self.bridge.take_in(&path)? {
            match self.batch(n, &path, None, hear)? {
                Batch::Whole(items) => count += items,
                Batch::Cut(items) => return Ok(count + items),
            }
        }
        if count > 0 {
            self.ledger.shorten()?;
        }
        Ok(count)
    }

    /// Deals with an inbox that was taken in; with `traces` where it may have been begun.
    fn batch(
        &mut self,
        n: u64,
        path: &Path,
        mut traces: Option<Traces>,
        hear: OnProcessed<'_>,
    ) -> Result<Batch> {
        let fs = self.bridge.home.fs();
        loop {
            let seen = fsx::stat(fs, path)?;
            let items = match read_stable(fs, path, &dialect::inbox)? {
                None => return Ok(Batch::Whole(0)),
                Some(Ok(items)) => items,
                Some(Err(_)) if is_empty(fs, path)? => Vec::new(),
                Some(Err(reason)) => return self.reject(n, path, &reason, hear),
            };
            self.expect(&items);
            let mut replies = Vec::new();
            for (at, item) in items.iter().enumerate() {
                let processed = self.item(n, at, item, &mut traces)?;
                let next = hear(&processed);
                replies.push(processed.reply);
                if next.is_break() {
                    self.show(&mut replies)?;
                    return Ok(Batch::Cut(at + 1));
                }
                if replies.len() == CHUNK {
                    self.show(&mut replies)?;
                }
            }
            self.show(&mut replies)?;
            // Somebody who had opened the inbox before it was renamed may have gone on writing.
            if fsx::stat(fs, path)? == seen {
                fsx::remove(fs, path)?;
                return Ok(Batch::Whole(items.len()));
            }
        }
    }

    /// Takes down how many tasks the commands will add, so that their ids are looked for once.
    fn expect(&mut self, items: &[Value]) {
        self.stocks.clear();
        for command in items.iter().filter_map(|item| protocol::read(item).ok()) {
            let adds = command.action.adds() as u64;
            if adds > 0 && !self.ledger.knows(&command.id) {
                self.stocks.entry(command.list).or_default().expect(adds);
            }
        }
    }

    fn show(&self, replies: &mut Vec<Value>) -> Result<()> {
        if !replies.is_empty() {
            self.ledger.sync()?;
            self.bridge.answer(replies)?;
            replies.clear();
        }
        Ok(())
    }

    fn reject(
        &mut self,
        n: u64,
        path: &Path,
        reason: &str,
        hear: OnProcessed<'_>,
    ) -> Result<Batch> {
        let place = ItemPosition {
            batch: n,
            item: None,
        };
        let reply = match self.ledger.of_nameless(place) {
            Some(KnownAnswer::Reply(reply)) => reply,
            _ => {
                let reason = format!("the inbox is no JSON, and is kept aside: {reason}");
                let reply = self.reply(Addressee::Inbox, CommandOutcome::Refused(reason));
                self.ledger.keep(place, None, &reply, false)?;
                reply
            }
        };
        self.show(&mut vec![reply.clone()])?;
        self.bridge.reject(path)?;
        match hear(&processed(None, "an inbox".to_owned(), reply)) {
            ControlFlow::Continue(()) => Ok(Batch::Whole(1)),
            ControlFlow::Break(()) => Ok(Batch::Cut(1)),
        }
    }

    /// Deals with one item, unless that was done before.
    fn item(
        &mut self,
        n: u64,
        at: usize,
        item: &Value,
        traces: &mut Option<Traces>,
    ) -> Result<Processed> {
        let print = protocol::fingerprint(item);
        let place = ItemPosition {
            batch: n,
            item: Some(at),
        };
        let command = match protocol::read(item) {
            Ok(command) => command,
            Err(refused) => return self.refuse(place, &print, refused),
        };
        let only_reads = command.action.only_reads();
        let found = self.ledger.of(&command.id, &print);
        match &found {
            IdLookup::Same(KnownAnswer::Reply(reply)) => {
                let reply = reply.clone();
                return Ok(again(Some(command.id.clone()), command.title(), reply));
            }
            IdLookup::Same(KnownAnswer::Shown) if only_reads => {}
            // A line from before prints were kept, of a command that only read.
            IdLookup::Same(KnownAnswer::Shown) | IdLookup::Other => {
                return Ok(self.taken(command.id.clone(), command.title()));
            }
            IdLookup::New => {}
        }
        let (outcome, used) = self.carry_out(n, &command, traces)?;
        let reply = self.reply(Addressee::Command(command.id.clone()), outcome);
        if found == IdLookup::New && used == Used::Up {
            self.ledger.keep(place, Some(&print), &reply, only_reads)?;
        }
        Ok(processed(Some(command.id.clone()), command.title(), reply))
    }

    /// Refuses another command under an id that was used. What was answered under it stays on record.
    fn taken(&self, id: String, title: String) -> Processed {
        let reason = protocol::taken(&id);
        let reply = self.reply(
            Addressee::Command(id.clone()),
            CommandOutcome::Refused(reason),
        );
        processed(Some(id), title, reply)
    }

    fn refuse(&mut self, place: ItemPosition, print: &Hash, refused: Refused) -> Result<Processed> {
        let Refused { id, reason } = refused;
        let found = match &id {
            Some(id) => self.ledger.of(id, print),
            None => match self.ledger.of_nameless(place) {
                Some(known) => IdLookup::Same(known),
                None => IdLookup::New,
            },
        };
        let title = "no command".to_owned();
        match (found, &id) {
            (IdLookup::Same(KnownAnswer::Reply(reply)), _) => return Ok(again(id, title, reply)),
            (IdLookup::Same(KnownAnswer::Shown) | IdLookup::Other, Some(id)) => {
                return Ok(self.taken(id.clone(), title));
            }
            (IdLookup::Same(KnownAnswer::Shown) | IdLookup::Other | IdLookup::New, _) => {}
        }
        let to = match (&id, place.item) {
            (Some(id), _) => Addressee::Command(id.clone()),
            (None, Some(at)) => Addressee::Item(at),
            (None, None) => Addressee::Inbox,
        };
        let reply = self.reply(to, CommandOutcome::Refused(reason));
        let print = id.is_some().then_some(print);
        self.ledger.keep(place, print, &reply, false)?;
        Ok(processed(id, title, reply))
    }

    /// What comes of a command, and whether its id is used up by that. Where the disk failed in the
    /// middle of it, the history tells how far it went, and the rest is tried once more.
    fn carry_out(
        &self,
        n: u64,
        command: &Command,
        traces: &mut Option<Traces>,
    ) -> Result<(CommandOutcome, Used)> {
        let is_new = traces.is_none();
        let failed = match self.attempt(n, command, traces.as_mut()) {
            Ok(outcome) => return Ok((outcome, Used::Up)),
            Err(failed) => failed,
        };
        let (failed, is_untouched) = match failed {
            Failed::Begun(Error::Disk(error))
                if !is_transient(&error) && !error.is_no_such_file() =>
            {
                match self.attempt(n, command, Some(&mut Traces::of(n))) {
                    Ok(outcome) => return Ok((outcome, Used::Up)),
                    Err(failed) => {
                        let left = self.left(n, command, &mut Traces::of(n));
                        (failed.error(), left.is_ok_and(|left| left.is_empty()))
                    }
                }
            }
            Failed::Begun(error) => (error, false),
            Failed::Before(error) => (error, is_new),
        };
        match failed {
            Error::Disk(error) if is_transient(&error) => Err(error.into()),
            error => {
                let used = match error {
                    Error::Disk(_) if is_untouched => Used::Not,
                    _ => Used::Up,
                };
                Ok((
                    CommandOutcome::Refused(command_context::error_text(&error)),
                    used,
                ))
            }
        }
    }

    fn attempt(
        &self,
        n: u64,
        command: &Command,
        traces: Option<&mut Traces>,
    ) -> Result<CommandOutcome, Failed> {
        let stock = self.stocks.get(&command.list).cloned();
        let desk = CommandContext::of(self.bridge, command, n, stock).map_err(Failed::Before)?;
        let left = match traces {
            Some(traces) => self.left(n, command, traces).map_err(Failed::Before)?,
            None => Vec::new(),
        };
        desk.carry_out(&left).map_err(Failed::Begun)
    }

    /// The lines of a command's changes that appeared.
    fn left(&self, n: u64, command: &Command, traces: &mut Traces) -> Result<Vec<Line>> {
        if command.action.only_reads() {
            return Ok(Vec::new());
        }
        let repository = CommandContext::of(self.bridge, command, n, None)?
            .list
            .repository()?;
        let actor = command.source.actor();
        traces.left_by(self.bridge, &repository, &actor, &command.id)
    }

    fn reply(&self, to: Addressee, outcome: CommandOutcome) -> Value {
        let at = self.bridge.home.now();
        dialect::reply(&Reply { to, outcome, at })
    }
}

fn processed(id: Option<String>, title: String, reply: Value) -> Processed {
    let error = reply.get("error").and_then(Value::as_str);
    Processed {
        id,
        title,
        error: error.map(str::to_owned),
        reply,
        is_known: false,
    }
}

fn again(id: Option<String>, title: String, reply: Value) -> Processed {
    Processed {
        is_known: true,
        ..processed(id, title, reply)
    }
}

/// Nothing came after all.
fn is_empty(fs: &dyn fsx::Fs, path: &Path) -> Result<bool> {
    let bytes = fsx::read(fs, path);
    Ok(matches!(bytes, Ok(Some(bytes)) if dialect::is_idle(&bytes)))
}

/// Whether the same will do later, without anybody's mending what was asked.
fn is_transient(error: &disk::Error) -> bool {
    match error {
        disk::Error::Busy { .. } => true,
        disk::Error::Io { source, .. } => {
            error.is_full() || source.kind() == io::ErrorKind::ReadOnlyFilesystem
        }
        _ => false,
    }
}
