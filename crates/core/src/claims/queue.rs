//! Claimers who wait for a list, and what they are given by the one who has it.
//!
//! Owns `.queue` of a list: places, a file each, of which a claimer that finds the list's lock taken
//! holds one for as long as it waits. It says there what it asks for, and is told what it was given.
//! Invariants: nobody is served who is not there any more; what was given counts only where the task
//! says the same, and is answered only once it is durable; whoever goes while a promise may still come
//! true knows of it. A hint, worth nothing after a crash: where
//! it cannot be written, each waits for the lock and claims for itself.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
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

/// From one look at what others did to the next.
const PAUSE: Duration = Duration::from_millis(1);

/// After that whoever waits stands in line, where nobody passes it.
const PATIENCE: Duration = Duration::from_secs(1);

/// So many can wait with a place in the queue, and are served by one: with more files a change would
/// sync the whole file system. Any more stand in the lock's line.
const PLACES: u64 = 31;

/// The file of a place has always this size: files that come, go, grow and shrink make a disk work.
const BYTES: usize = 1 << 10;

/// Grows with every change of the form.
const VERSION: u32 = 2;

/// What comes of waiting.
pub(super) enum QueueOutcome<'l> {
    /// Somebody claimed for us.
    Served(Box<Claimed>),
    /// Somebody looked for us, and nothing is ready.
    NothingReady,
    /// The list is ours to change.
    Ours(Box<Change<'l>>),
}

/// What somebody said that it claims for us.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Promise {
    task: TaskId,
    token: Token,
}

impl Promise {
    /// The claim, where the task says the same.
    pub(super) fn kept(&self, list: &List<'_>, terms: &Terms) -> Result<Option<Claimed>> {
        let task = match list.task(&self.task) {
            Ok(file) => file.task,
            Err(error) if super::is_about_one_task(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let claim = task.state.claim().cloned();
        let ours = claim.filter(|it| it.token == self.token && it.by == terms.actor);
        Ok(ours.map(|claim| Claimed { task, claim }))
    }

    /// Whether another change has its line, where the history has this last one: it comes true no more.
    pub(super) fn is_overtaken(&self, last: u64) -> bool {
        self.token.0 <= last
    }
}

/// Waits until the list is ours, or somebody who had it claimed for us. What was promised and is not to be
/// seen is put to `promised`.
pub(super) fn wait<'l>(
    list: &'l List<'l>,
    terms: &Terms,
    promised: &mut Vec<Promise>,
) -> Result<QueueOutcome<'l>> {
    if let Some(change) = Change::begin_if_free(list, &terms.actor)? {
        return Ok(QueueOutcome::Ours(Box::new(change)));
    }
    let Some(place) = QueueSlot::take(list, terms) else {
        return Ok(QueueOutcome::Ours(Box::new(list.change(&terms.actor)?)));
    };
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        if let Some(turn) = place.served(terms)? {
            return Ok(turn);
        }
        if let Some(change) = Change::begin_if_free(list, &terms.actor)? {
            return place.turn(change, terms, promised);
        }
        thread::sleep(PAUSE);
    }
    match list.change(&terms.actor) {
        Ok(change) => place.turn(change, terms, promised),
        Err(error) => {
            promised.extend(place.leave());
            Err(error)
        }
    }
}

/// What a claimer's file says, a line each.
#[derive(Debug, PartialEq)]
struct Slip {
    wish: ClaimRequest,
    answer: Option<ClaimReply>,
    is_durable: bool,
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimRequest {
    version: u32,
    /// Whose history is to tell of it.
    home: PathBuf,
    actor: WorkerId,
    /// Who it really is, where that is somebody else.
    by: Option<WorkerId>,
    lease: SignedDuration,
    session: Option<SessionId>,
}

/// What comes of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum ClaimReply {
    /// The claim that is made for it.
    Claim(Promise),
    /// Nothing can be claimed.
    NothingReady,
}

/// The last line, once the answer counts.
const DURABLE: &str = "durable";

impl Slip {
    /// Of the file as it is at this moment: what is not wholly there says nothing.
    fn parse(text: &[u8]) -> Option<Self> {
        let mut lines = std::str::from_utf8(text).ok()?.lines();
        let wish: ClaimRequest = serde_json::from_str(lines.next()?).ok()?;
        let answer = lines.next().and_then(|it| serde_json::from_str(it).ok());
        let is_durable = lines.next() == Some(DURABLE);
        (wish.version == VERSION).then_some(Self {
            wish,
            answer,
            is_durable,
        })
    }

    fn promise(&self) -> Option<Promise> {
        match &self.answer {
            Some(ClaimReply::Claim(promise)) => Some(promise.clone()),
            Some(ClaimReply::NothingReady) | None => None,
        }
    }
}

impl ClaimRequest {
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
    Slip::parse(&fs.read(path, 0, BYTES as u64).ok()?)
}

/// What the file of a place says, as long as it always is.
fn text(wish: &ClaimRequest, answer: Option<&ClaimReply>, is_durable: bool) -> Option<String> {
    let mut text = serde_json::to_string(wish).ok()? + "\n";
    if let Some(answer) = answer {
        text += &serde_json::to_string(answer).ok()?;
        text += "\n";
    }
    if is_durable {
        text += DURABLE;
    }
    text.push('\n');
    (text.len() <= BYTES).then(|| format!("{text:\n<BYTES$}"))
}

/// What the file of a place says where nobody has it.
fn nothing() -> String {
    "\n".repeat(BYTES)
}

/// Whether there is a queue: a directory that leads elsewhere is none of ours.
fn is_there(list: &List<'_>) -> bool {
    let stat = list.home.fs().stat(&list.path(QUEUE));
    stat.is_ok_and(|stat| stat.kind == fsx::FileKind::Dir)
}

/// A claimer's own place in the queue. Dropping it gives it up.
struct QueueSlot<'l> {
    list: &'l List<'l>,
    path: PathBuf,
    /// Until it is left.
    held: Option<Box<dyn Flock>>,
}

impl<'l> QueueSlot<'l> {
    /// `None` where nobody could serve us.
    fn take(list: &'l List<'l>, terms: &Terms) -> Option<Self> {
        let said = text(&ClaimRequest::of(list, terms)?, None, false)?;
        let fs = list.home.fs();
        if !is_there(list) {
            // Another one may just have made it.
            let _: std::io::Result<()> = fs.make_dir(&list.path(QUEUE));
        }
        if !is_there(list) {
            return None;
        }
        let first = u64::from(std::process::id());
        (first..first + PLACES).find_map(|number| {
            let path = list.path(QUEUE).join((number % PLACES).to_string());
            // What one said who died there is for whoever has the list to clear.
            let free = || read(fs, &path).is_none();
            let mut held = free().then(|| fsx::try_hold(fs, &path).ok().flatten())??;
            (free() && held.sign(&said).is_ok()).then_some(Self {
                list,
                path,
                held: Some(held),
            })
        })
    }

    /// What came of it, once that counts.
    fn served(&self, terms: &Terms) -> Result<Option<QueueOutcome<'l>>> {
        match read(self.list.home.fs(), &self.path) {
            Some(slip) if slip.is_durable => self.answered(slip, terms),
            _ => Ok(None),
        }
    }

    /// The list is ours: unless whoever had it before answered us, and could not say so any more.
    fn turn(
        self,
        change: Change<'l>,
        terms: &Terms,
        promised: &mut Vec<Promise>,
    ) -> Result<QueueOutcome<'l>> {
        let slip = read(self.list.home.fs(), &self.path);
        let promise = slip.as_ref().and_then(Slip::promise);
        let answered = slip.map(|slip| self.answered(slip, terms)).transpose()?;
        Ok(answered.flatten().unwrap_or_else(|| {
            promised.extend(promise);
            QueueOutcome::Ours(Box::new(change))
        }))
    }

    fn answered(&self, slip: Slip, terms: &Terms) -> Result<Option<QueueOutcome<'l>>> {
        let promise = match slip.answer {
            None => return Ok(None),
            Some(ClaimReply::NothingReady) => return Ok(Some(QueueOutcome::NothingReady)),
            Some(ClaimReply::Claim(promise)) => promise,
        };
        let Some(claimed) = promise.kept(self.list, terms)? else {
            return Ok(None);
        };
        if !slip.is_durable {
            fsx::sync(self.list.home.fs(), &self.list.task_path(&promise.task))?;
        }
        Ok(Some(QueueOutcome::Served(Box::new(claimed))))
    }

    /// Goes without an answer; what was promised. Whoever promises looks afterwards whether we are still
    /// here, so it is read when we are not.
    fn leave(mut self) -> Option<Promise> {
        self.held = None;
        read(self.list.home.fs(), &self.path)?.promise()
    }
}

impl Drop for QueueSlot<'_> {
    fn drop(&mut self) {
        // What stays is cleared by the next who has the list.
        let _: Option<std::io::Result<()>> = self.held.as_mut().map(|it| it.sign(&nothing()));
    }
}

/// Somebody who waits.
#[derive(Debug)]
pub(super) struct Waiting<'l> {
    list: &'l List<'l>,
    path: PathBuf,
    wish: ClaimRequest,
    answer: Option<ClaimReply>,
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
    pub(super) fn on_behalf_of(&self) -> Option<&WorkerId> {
        self.wish.by.as_ref()
    }

    /// Tells the claimer what it will have been given; whether it could be told, and is still there.
    pub(super) fn grant(&mut self, task: &TaskId, token: Token) -> bool {
        let task = task.clone();
        self.answer = Some(ClaimReply::Claim(Promise { task, token }));
        let is_there =
            || fsx::try_hold(self.list.home.fs(), &self.path).is_ok_and(|it| it.is_none());
        self.tell(false) && is_there()
    }

    /// Tells the claimer that nothing is ready.
    pub(super) fn reply_empty(mut self) {
        self.answer = Some(ClaimReply::NothingReady);
        // Who cannot be told looks itself.
        self.tell(true);
    }

    /// Tells it that it has been, durably.
    pub(super) fn confirm(&self) {
        // Who cannot be told finds out with the lock in hand.
        self.tell(true);
    }

    fn tell(&self, is_durable: bool) -> bool {
        let text = text(&self.wish, self.answer.as_ref(), is_durable);
        let fs = self.list.home.fs();
        text.is_some_and(|it| fs.overwrite(&self.path, it.as_bytes()).is_ok())
    }
}

/// What is said at each place at this moment by one who is there. Under the list's lock.
fn slips(list: &List<'_>) -> impl Iterator<Item = (PathBuf, Slip)> {
    let fs = list.home.fs();
    let names = is_there(list).then(|| fs.names(&list.path(QUEUE)).ok());
    let names = names.flatten().unwrap_or_default().into_iter();
    let is_place = |name: &OsString| {
        let number = name.to_str().and_then(|it| it.parse::<u64>().ok());
        number.is_some_and(|it| it < PLACES)
    };
    names.filter(is_place).filter_map(|name| {
        let path = list.path(QUEUE).join(name);
        let slip = read(fs, &path)?;
        if fsx::try_hold(fs, &path).ok()?.is_none() {
            return Some((path, slip));
        }
        // Who said it died there.
        let _: std::io::Result<()> = fs.overwrite(&path, nothing().as_bytes());
        None
    })
}

/// Where some were served just now and did not notice yet, lets a moment pass for them to come again: one
/// look does for all. Under the list's lock.
pub(super) fn gather(list: &List<'_>) {
    if slips(list).any(|(_, slip)| slip.is_durable) {
        thread::sleep(PAUSE);
    }
}

/// Those who wait for the list and were answered nothing yet. Under the list's lock.
pub(super) fn waiting<'l>(list: &'l List<'l>) -> Vec<Waiting<'l>> {
    let waiting = slips(list).filter_map(|(path, Slip { wish, answer, .. })| {
        // What one was promised who is still there, only it can look into.
        (wish.is_of(list) && answer.is_none()).then_some(Waiting {
            list,
            path,
            wish,
            answer,
        })
    });
    waiting.collect()
}
