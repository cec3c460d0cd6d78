//! Following the list: tasks that are added, edited, answered or ended by others while the run goes on.
//!
//! Owns when the list is looked at and what is told of the changes. The system's notices only wake the
//! run; what is there is read from the files. What a change means, the scheduler decides.

use std::{
    collections::BTreeSet,
    sync::mpsc::Sender,
    time::{Duration, Instant},
};

use flagpost_disk::notices::Watcher;
use flagpost_model::{
    TaskId,
    task::{Outline, State},
};

use super::{Driver, Input, retry::TransientError};
use crate::{
    error::Result,
    events::RunEvent,
    run_context::RunContext,
    scheduler::Event,
    scope::{RunScope, scope},
};

/// No two looks follow each other faster than that: a run changes its list all the time itself.
const PAUSE: Duration = Duration::from_millis(250);

/// How many times as long as a look the pause after it is, up to [`POLL`] times ten: a long list is not
/// read all the time.
const SHARE: u32 = 20;

/// How often to look where nothing tells of changes.
const POLL: Duration = Duration::from_secs(1);

/// How often to look all the same: no event is the only copy of anything.
const RECHECK: Duration = Duration::from_secs(10);

/// The list as it was last seen.
pub(super) struct Following {
    /// The tasks that the run was begun with.
    first: BTreeSet<TaskId>,
    seen: Vec<Outline>,
    looked: Instant,
    /// How long a change that was heard of may wait.
    pause: Duration,
    every: Duration,
    changed: bool,
    /// Dropped with the run: nobody is told any more.
    _watcher: Option<Watcher>,
}

impl Following {
    pub fn new(outlines: &[Outline], stage: RunContext<'_>, told: &Sender<Input>) -> Self {
        let told = told.clone();
        let watcher = Watcher::new(move |_| {
            // Nobody listens any more once the run is over.
            let _: Result<(), _> = told.send(Input::List);
        });
        let watcher = watcher
            .ok()
            .and_then(|mut watcher| watcher.add(stage.list.dir()).is_ok().then_some(watcher));
        Self {
            first: outlines.iter().map(|it| it.id.clone()).collect(),
            seen: outlines.to_vec(),
            looked: Instant::now(),
            pause: PAUSE,
            every: if watcher.is_some() { RECHECK } else { POLL },
            changed: false,
            _watcher: watcher,
        }
    }

    /// The list changed.
    pub fn change(&mut self) {
        self.changed = true;
    }

    /// After how long to look.
    pub fn look_again(&self) -> Duration {
        let after = if self.changed { self.pause } else { self.every };
        after.saturating_sub(self.looked.elapsed())
    }
}

impl Driver<'_> {
    /// Looks at the list where that is due; what is there, where it is not as it was.
    pub(super) fn look_at_list(&mut self) -> Result<Option<Event>> {
        if !self.list.look_again().is_zero() {
            return Ok(None);
        }
        // A change that comes while it is read has to be looked at again.
        let (began, changed) = (Instant::now(), std::mem::take(&mut self.list.changed));
        let loaded = self.stage.list.load();
        self.list.pause = (began.elapsed() * SHARE).clamp(PAUSE, POLL * 10);
        self.list.looked = Instant::now();
        let loaded = match loaded {
            Ok(loaded) => loaded,
            // Somebody writes, perhaps: the next look is early enough.
            Err(error) if TransientError::of(&error).is_some() => {
                self.list.changed = changed;
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        for outline in &loaded.outlines {
            if outline.state == State::Pending && self.agents.0.contains_key(&outline.id) {
                self.give_answer(&outline.id)?;
            }
        }
        let wanted = RunScope {
            group: self.options.group.as_deref(),
            // What fails in this run stays failed.
            skip_failed: true,
            now: self.stage.home.now(),
        };
        let mut outlines = scope(&loaded.outlines, wanted);
        if self.options.terms.fixed {
            outlines.retain(|it| self.list.first.contains(&it.id));
        }
        if outlines == self.list.seen {
            return Ok(None);
        }
        self.list.seen.clone_from(&outlines);
        Ok(Some(Event::Listed(outlines)))
    }

    /// A task came into the run.
    pub(super) fn added(&mut self, id: &TaskId) -> Result<()> {
        if let Some(outline) = self.list.seen.iter().find(|it| it.id == *id) {
            self.account.add(outline);
        }
        let subject = self.account.subject(id);
        self.tell(RunEvent::TaskAdded {
            task: id.clone(),
            subject,
        })
    }

    /// A question was answered.
    pub(super) fn answered(&mut self, id: &TaskId) -> Result<()> {
        self.questions.remove(id);
        let note = self.read(id)?.and_then(|task| task.notes.last().cloned());
        let (by, words) = note.map_or((None, String::new()), |note| (note.by, note.text));
        self.tell(RunEvent::TaskAnswered {
            task: id.clone(),
            by: by.unwrap_or_default(),
            words,
        })
    }
}
