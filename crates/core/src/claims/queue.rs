//! Claimers who wait for a list, and what they are given by the one who has it.
//!
//! Owns `.queue` of a list: a file of each claimer that found the list's lock taken, which it holds
//! for as long as it waits. It says what is asked for, and then what was given. Invariants: nobody
//! is served who is not there any more; what was given counts only where the task says the same, and
//! is answered only once it is durable. A hint, worth nothing after a crash: where it cannot be
//! written, each waits for the lock and claims for itself.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Duration,
};

use flagpost_disk::{
    dialects::claude_tasks::QUEUE,
    fsx::{self, Flock, Fs},
};
use flagpost_model::{SessionId, TaskId, Token, WorkerId};
use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use super::{Claimed, Terms};
use crate::{change::Change, error::Result, list::List};

/// How many are served by one: with more files a change would sync the whole file system.
const MOST: usize = 14;

/// How long a look at what others did takes no time worth mentioning.
const PAUSE: Duration = Duration::from_millis(1);

/// After so many of them whoever waits stands in line, where nobody passes it.
const PATIENCE: u32 = 2000;

/// More than a claimer's file ever has.
const LIMIT: u64 = 16 << 10;

/// Grows with every change of the form.
const VERSION: u32 = 1;

/// What comes of waiting.
pub(super) enum Turn<'l> {
    /// Somebody claimed for us.
    Served(Box<Claimed>),
    /// The list is ours to change.
    Ours(Change<'l>),
}

/// Waits until the list is ours, or somebody who had it claimed for us.
pub(super) fn wait<'l>(list: &'l List<'l>, terms: &Terms) -> Result<Turn<'l>> {
    if let Some(change) = Change::begin_if_free(list, &terms.actor)? {
        return Ok(Turn::Ours(change));
    }
    let Some(place) = Place::take(list, terms) else {
        return Ok(Turn::Ours(list.change(&terms.actor)?));
    };
    for _ in 0..PATIENCE {
        if let Some(claimed) = place.served(terms)? {
            return Ok(Turn::Served(Box::new(claimed)));
        }
        if let Some(change) = Change::begin_if_free(list, &terms.actor)? {
            return place.turn(change, terms);
        }
        thread::sleep(PAUSE);
    }
    place.turn(list.change(&terms.actor)?, terms)
}

/// What a claimer's file says, a line each.
#[derive(Debug, PartialEq)]
struct Slip {
    wish: Wish,
    gift: Option<Gift>,
    is_durable: bool,
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wish {
    version: u32,
    /// Whose history is to tell of it.
    home: PathBuf,
    actor: WorkerId,
    /// Who it really is, where that is somebody else.
    by: Option<WorkerId>,
    lease: SignedDuration,
    session: Option<SessionId>,
}

/// The claim that is made for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Gift {
    task: TaskId,
    token: Token,
}

/// The last line, once the claim is durable.
const DURABLE: &str = "durable";

impl Slip {
    /// Of the file as it is at this moment: a line that is not ended yet is none.
    fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let (ended, _) = text.rsplit_once('\n')?;
        let mut lines = ended.split('\n');
        let wish: Wish = serde_json::from_str(lines.next()?).ok()?;
        let gift = lines.next().and_then(|it| serde_json::from_str(it).ok());
        let is_durable = lines.next() == Some(DURABLE);
        (wish.version == VERSION).then_some(Self {
            wish,
            gift,
            is_durable,
        })
    }
}

impl Wish {
    /// `None` where what is asked for can be carried out by nobody else.
    fn of(list: &List<'_>, terms: &Terms) -> Option<Self> {
        list.account().is_none().then(|| Self {
            version: VERSION,
            home: list.home.root().to_owned(),
            actor: terms.actor.clone(),
            by: list.home.hand_behind(&terms.actor).cloned(),
            lease: terms.lease,
            session: terms.session.clone(),
        })
    }

    /// Whether it can be carried out on this list, as it is opened here.
    fn is_of(&self, list: &List<'_>) -> bool {
        list.account().is_none() && self.home == *list.home.root()
    }
}

fn read(fs: &dyn Fs, path: &Path) -> Option<Slip> {
    Slip::parse(&fs.read(path, 0, LIMIT).ok()?)
}

fn text(wish: &Wish, gift: Option<&Gift>, is_durable: bool) -> Option<String> {
    let mut text = serde_json::to_string(wish).ok()? + "\n";
    if let Some(gift) = gift {
        text += &serde_json::to_string(gift).ok()?;
        text += "\n";
    }
    if is_durable {
        text += DURABLE;
        text += "\n";
    }
    Some(text)
}

/// Whether there is a queue: a directory that leads elsewhere is none of ours.
fn is_there(list: &List<'_>) -> bool {
    let stat = list.home.fs().stat(&list.path(QUEUE));
    stat.is_ok_and(|stat| stat.kind == fsx::Kind::Dir)
}

/// A claimer's own place in the queue. Dropping it gives it up.
struct Place<'l> {
    list: &'l List<'l>,
    path: PathBuf,
    _held: Box<dyn Flock>,
}

impl<'l> Place<'l> {
    /// `None` where nobody could serve us.
    fn take(list: &'l List<'l>, terms: &Terms) -> Option<Self> {
        static TAKEN: AtomicU64 = AtomicU64::new(0);

        let wish = Wish::of(list, terms)?;
        let fs = list.home.fs();
        if !is_there(list) {
            // Another one may just have made it.
            let _: std::io::Result<()> = fs.make_dir(&list.path(QUEUE));
        }
        let number = TAKEN.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{number}", std::process::id());
        let path = is_there(list).then(|| list.path(QUEUE).join(name))?;
        let mut held = fsx::try_hold(fs, &path).ok()??;
        held.sign(&text(&wish, None, false)?).ok()?;
        Some(Self {
            list,
            path,
            _held: held,
        })
    }

    /// What was claimed for us and is durable.
    fn served(&self, terms: &Terms) -> Result<Option<Claimed>> {
        match read(self.list.home.fs(), &self.path) {
            Some(slip) if slip.is_durable => self.given(slip.gift, terms),
            _ => Ok(None),
        }
    }

    /// The list is ours: unless whoever had it before claimed for us, and could not say so any more.
    fn turn(self, change: Change<'l>, terms: &Terms) -> Result<Turn<'l>> {
        let fs = self.list.home.fs();
        let Some(slip) = read(fs, &self.path) else {
            return Ok(Turn::Ours(change));
        };
        let Some(claimed) = self.given(slip.gift, terms)? else {
            return Ok(Turn::Ours(change));
        };
        if !slip.is_durable {
            fsx::settle(fs, &self.list.task_path(&claimed.task.id))?;
        }
        Ok(Turn::Served(Box::new(claimed)))
    }

    fn given(&self, gift: Option<Gift>, terms: &Terms) -> Result<Option<Claimed>> {
        let Some(gift) = gift else {
            return Ok(None);
        };
        let task = match self.list.task(&gift.task) {
            Ok(file) => file.task,
            Err(error) if super::is_about_one_task(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let claim = task.state.claim().cloned();
        let ours = claim.filter(|it| it.token == gift.token && it.by == terms.actor);
        Ok(ours.map(|claim| Claimed { task, claim }))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        // What stays is held by nobody, and cleared away by the next who looks.
        let _: std::io::Result<()> = self.list.home.fs().remove(&self.path);
    }
}

/// Somebody who waits.
#[derive(Debug)]
pub(super) struct Waiting<'l> {
    list: &'l List<'l>,
    path: PathBuf,
    wish: Wish,
    gift: Option<Gift>,
}

impl Waiting<'_> {
    /// What is asked for.
    pub(super) fn terms(&self) -> Terms {
        Terms {
            actor: self.wish.actor.clone(),
            lease: self.wish.lease,
            session: self.wish.session.clone(),
        }
    }

    /// Who it really is, where that is somebody else.
    pub(super) fn by(&self) -> Option<&WorkerId> {
        self.wish.by.as_ref()
    }

    /// Tells the claimer what it will have been given; whether it could be told.
    pub(super) fn promise(&mut self, task: &TaskId, token: Token) -> bool {
        let task = task.clone();
        self.gift = Some(Gift { task, token });
        self.tell(false)
    }

    /// Tells it that it has been, durably.
    pub(super) fn keep(&self) {
        // Who cannot be told finds out with the lock in hand.
        self.tell(true);
    }

    fn tell(&self, is_durable: bool) -> bool {
        let text = text(&self.wish, self.gift.as_ref(), is_durable);
        let fs = self.list.home.fs();
        text.is_some_and(|it| fs.overwrite(&self.path, it.as_bytes()).is_ok())
    }
}

/// Whether a claimer gives its file such a name.
fn is_place(name: &OsString) -> bool {
    let parts = name.to_str().and_then(|it| it.split_once('-'));
    let is_number = |it: &str| it.parse::<u64>().is_ok();
    parts.is_some_and(|(pid, number)| is_number(pid) && is_number(number))
}

/// Those who wait for the list and were promised nothing yet. Under the list's lock.
pub(super) fn waiting<'l>(list: &'l List<'l>) -> Vec<Waiting<'l>> {
    let fs = list.home.fs();
    let dir = list.path(QUEUE);
    let names = is_there(list).then(|| fs.names(&dir).ok()).flatten();
    let places = names.unwrap_or_default().into_iter().filter(is_place);
    let waiting = places.filter_map(|name| {
        let path = dir.join(name);
        if fsx::try_hold(fs, &path).ok()?.is_some() {
            // Nobody is there.
            let _: std::io::Result<()> = fs.remove(&path);
            return None;
        }
        let Slip { wish, gift, .. } = read(fs, &path)?;
        // What one was promised who is still there, only it can look into.
        (wish.is_of(list) && gift.is_none()).then_some(Waiting {
            list,
            path,
            wish,
            gift,
        })
    });
    waiting.take(MOST).collect()
}
