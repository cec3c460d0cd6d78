//! What is to land, as the page of it is kept up to date.
//!
//! Owns the thread that asks git for the answer: it looks once when the page is opened and then only when it is
//! told of a change, never twice in [`REST`].

use std::{
    sync::{
        Arc,
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::Duration,
};

use flagpost_core::operations::Operation;
use flagpost_model::TaskId;
use serde_json::{Value, json};

use crate::{
    act::Request,
    event::{Input, Outcome},
    snapshot::Place,
    worker::{Person, answer},
};

/// A look asks git several times: the next one waits so long.
const REST: Duration = Duration::from_secs(2);

/// The page.
#[derive(Debug, Default)]
pub struct LandingPage {
    /// What was answered, once something was.
    pub answer: Option<Outcome>,
    /// The selected branch.
    pub at: usize,
    /// How far it is scrolled.
    pub top: usize,
}

impl LandingPage {
    /// Takes what was answered; the selection stays on its branch for as long as that is there.
    pub fn take(&mut self, answer: Outcome) {
        let before = self.selected();
        self.answer = Some(answer);
        let place = |task: &TaskId| {
            let mut branches = self.branches()?.iter();
            branches.position(|it| it["task"] == task.as_str())
        };
        let at = before.as_ref().and_then(place).unwrap_or(self.at);
        self.at = at.min(self.count().saturating_sub(1));
    }

    /// How many branches are to land.
    pub fn count(&self) -> usize {
        self.branches().map_or(0, Vec::len)
    }

    /// The task of the selected branch.
    pub fn selected(&self) -> Option<TaskId> {
        let branch = self.branches()?.get(self.at)?;
        branch["task"].as_str()?.parse().ok()
    }

    fn branches(&self) -> Option<&Vec<Value>> {
        match self.answer.as_ref()? {
            Outcome::Answer(answer) => answer["branches"].as_array(),
            Outcome::Refused { .. } => None,
        }
    }
}

/// Looks from a thread of its own, for as long as somebody tells of changes; who opens the page again begins
/// anew.
pub fn start(place: Arc<Place>, person: Person, send: Sender<Input>) -> Sender<()> {
    let (change, changes) = mpsc::channel();
    let command = "flagpost land --status";
    let request = Request::new(Operation::LandingShow, json!({"list": place.list}), command);
    thread::spawn(move || {
        let look = || send.send(Input::Landing(answer(&place, &person, &request)));
        follow(&changes, REST, || look().is_ok());
    });
    change
}

/// Looks, and again once for all changes that came meanwhile; until nobody tells of any, or listens.
fn follow(changes: &Receiver<()>, rest: Duration, mut look: impl FnMut() -> bool) {
    while look() {
        thread::sleep(rest);
        if changes.recv().is_err() {
            return;
        }
        changes.try_iter().for_each(drop);
    }
}

#[cfg(test)]
mod tests;
