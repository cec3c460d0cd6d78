//! What clients of the Kanban bus listen to: the files of one list and of its session, or of all.
//!
//! Owns no cursor: as they expect it, what came while they were away is not told. The lists need no
//! repository. A session's files lie where nobody watches, so they are looked at now and then.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use flagpost_core::{
    Home,
    kanban::{
        changes::{FileSnapshot, changes, files},
        every,
    },
};
use flagpost_model::ListRef;

use super::{
    Text, event,
    feed::{FeedStep, Listener},
};

/// One such client.
#[derive(Debug)]
pub(crate) struct KanbanReader {
    home: Home,
    list: Option<ListRef>,
    known: BTreeMap<ListRef, FileSnapshot>,
    next: Next,
}

/// What it does next.
#[derive(Debug, Clone, Copy)]
enum Next {
    Greet,
    Look,
    Wait,
}

impl KanbanReader {
    /// Tells what changes from now on, in one list or in all of them.
    pub(crate) fn new(home: Home, list: Option<ListRef>) -> flagpost_core::Result<Self> {
        Ok(Self {
            known: all(&home, list.as_ref())?,
            home,
            list,
            next: Next::Greet,
        })
    }
}

fn all(
    home: &Home,
    list: Option<&ListRef>,
) -> flagpost_core::Result<BTreeMap<ListRef, FileSnapshot>> {
    let lists = match list {
        Some(list) => vec![list.clone()],
        None => every(home)?,
    };
    let each = lists.into_iter().map(|list| {
        let files = files(home, &list)?;
        Ok((list, files))
    });
    each.collect()
}

impl Listener for KanbanReader {
    const RECHECK: Option<Duration> = Some(Duration::from_millis(300));

    fn step(&mut self) -> FeedStep {
        let (step, next) = match self.next {
            Next::Greet => {
                let greeting = event(None, "connected", "{}");
                (FeedStep::Say(greeting), Next::Look)
            }
            Next::Look => (FeedStep::Look, Next::Wait),
            Next::Wait => (FeedStep::Wait, Next::Look),
        };
        self.next = next;
        step
    }

    fn look(&mut self) -> flagpost_core::Result<Arc<Text>> {
        let mut now = all(&self.home, self.list.as_ref())?;
        let mut told = Vec::new();
        for (list, before) in &self.known {
            if !now.contains_key(list) {
                told.extend(changes(
                    &self.home,
                    list,
                    before,
                    &mut FileSnapshot::default(),
                )?);
            }
        }
        let none = FileSnapshot::default();
        for (list, after) in &mut now {
            let before = self.known.get(list).unwrap_or(&none);
            told.extend(changes(&self.home, list, before, after)?);
        }
        let each = told
            .iter()
            .map(|(name, body)| event(None, name, &body.to_string()));
        let text: String = each.collect();
        self.known = now;
        Ok(Arc::new(text.into()))
    }
}
