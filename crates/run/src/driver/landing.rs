//! Landing beside a run (`run --land`).
//!
//! Owns the thread that lands what passed as it passes, so that no check keeps a task waiting, and that
//! the run does not end before it. What it tells comes in by the run's one channel. A task whose work is
//! sent back is pending again, and the run takes it up like any other that was opened again.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, JoinHandle},
};

use flagpost_core::{
    self as core, Home, List, Repository, Settings,
    landing::{LandingRefusal, Target},
};
use flagpost_model::{ListRef, WorkerId};

use super::{Driver, Input};
use crate::{
    error::{Error, Result},
    events::RunEvent,
    landing::{Landing, LandingReport, LandingTerms},
    run_context::RunContext,
};

/// What the thread tells.
#[derive(Debug)]
pub enum LandingNews {
    /// Something happened.
    Told(Box<RunEvent>),
    /// A landing ended.
    Ended(Box<LandingReport>),
    /// A landing did not go on.
    Failed {
        /// Why.
        why: String,
        /// Whether that is to be told at the end, too, whatever lands later.
        lasts: bool,
    },
}

/// The thread.
#[derive(Debug)]
pub(super) struct LandingThread {
    /// Dropped when nothing more will pass.
    passed: Option<Sender<()>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    report: LandingReport,
    /// That somebody else moved the target, where that happened first.
    moved: Option<String>,
}

/// What the thread works with.
struct LandingRoom {
    home: Home,
    settings: Settings,
    repository: Repository,
    list: ListRef,
    actor: WorkerId,
    terms: LandingTerms,
    stop: Arc<AtomicBool>,
    told: Sender<Input>,
}

impl LandingThread {
    pub(super) fn start(
        stage: RunContext<'_>,
        actor: &WorkerId,
        terms: &LandingTerms,
        told: &Sender<Input>,
    ) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        // Before any agent has begun, who could have the repository stand elsewhere. What stands in the way of
        // landing at all is told by the first landing.
        let target = Target::of(stage.repository, terms.onto.as_deref()).ok();
        let onto = target.as_ref().map(|it| it.branch.clone());
        let known = target.map(|it| it.tip);
        let terms = LandingTerms {
            onto: onto.or_else(|| terms.onto.clone()),
            ..terms.clone()
        };
        let room = LandingRoom {
            home: stage.home.clone(),
            settings: stage.settings.clone(),
            repository: stage.repository.clone(),
            list: stage.list.id().clone(),
            actor: actor.clone(),
            terms,
            stop: Arc::clone(&stop),
            told: told.clone(),
        };
        let (passed, wakes) = mpsc::channel();
        Self {
            passed: Some(passed),
            stop,
            thread: Some(thread::spawn(move || room.serve(&wakes, known))),
            report: LandingReport::default(),
            moved: None,
        }
    }

    /// A task passed.
    pub(super) fn wake(&self) {
        if let Some(passed) = &self.passed {
            // It lives as long as this sender.
            let _: std::result::Result<_, _> = passed.send(());
        }
    }

    /// The operator wants to end: what is being checked is given up.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn is_at_work(&self) -> bool {
        self.thread.as_ref().is_some_and(|it| !it.is_finished())
    }

    /// Takes in how a landing ended.
    fn add(&mut self, report: LandingReport) {
        let mut landed = std::mem::take(&mut self.report.landed);
        let mut refused = std::mem::take(&mut self.report.refused);
        landed.extend(report.landed.iter().cloned());
        // What came back earlier may have been done again.
        refused.retain(|it| !report.landed.contains(it));
        refused.extend(report.refused.iter().cloned());
        self.report = LandingReport {
            landed,
            refused,
            ..report
        };
    }
}

impl Drop for LandingThread {
    fn drop(&mut self) {
        self.passed = None;
        self.stop();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so.
            let _: thread::Result<()> = thread.join();
        }
    }
}

impl LandingRoom {
    /// Lands whenever something passed, and once more at the end.
    fn serve(&self, wakes: &Receiver<()>, mut known: Option<String>) {
        loop {
            let is_last = wakes.recv().is_err();
            // One landing is for all that passed by now.
            while wakes.try_recv().is_ok() {}
            let news = match self.land(&mut known) {
                Ok(report) => LandingNews::Ended(Box::new(report)),
                Err(error) => LandingNews::Failed {
                    why: flagpost_core::describe(&error),
                    lasts: matches!(
                        &error,
                        Error::Core(core::Error::Landing(LandingRefusal::Moved { .. }))
                    ),
                },
            };
            // On what others brought a person lands, who has seen it.
            let lasts = matches!(news, LandingNews::Failed { lasts: true, .. });
            self.tell(news);
            if is_last || lasts {
                return;
            }
        }
    }

    fn land(&self, known: &mut Option<String>) -> Result<LandingReport> {
        let list = List::find(&self.home, &self.list)?;
        let stage = RunContext {
            home: &self.home,
            settings: &self.settings,
            repository: &self.repository,
            list: &list,
        };
        let mut tell = |event| {
            self.tell(LandingNews::Told(Box::new(event)));
            Ok(())
        };
        let told = (known, &mut tell as _);
        Landing::begin(stage, &self.actor, &self.terms, &self.stop, told)?.land()
    }

    fn tell(&self, news: LandingNews) {
        // Nobody listens where the run has failed.
        let _: std::result::Result<_, _> = self.told.send(Input::Landing(news));
    }
}

impl Driver<'_> {
    /// Takes in what the landing tells; whether it ended.
    pub(super) fn landing(&mut self, news: LandingNews) -> Result<bool> {
        match news {
            // Landings that find nothing are many.
            LandingNews::Told(event) => match *event {
                RunEvent::LandStarted { ref tasks, .. } if tasks.is_empty() => {}
                RunEvent::LandFinished {
                    ref landed,
                    ref refused,
                    ..
                } if landed.is_empty() && refused.is_empty() => {}
                // It waits from one landing to the next.
                RunEvent::LandStaged { ref commit, .. } if !self.noticed.insert(commit.clone()) => {
                }
                event => self.tell(event)?,
            },
            LandingNews::Ended(report) => {
                self.list.change();
                if let Some(thread) = &mut self.lander {
                    thread.add(*report);
                }
                return Ok(true);
            }
            LandingNews::Failed { why, lasts } => {
                let words = format!("nothing more lands for now: {why}");
                if self.noticed.insert(words.clone()) {
                    self.tell(RunEvent::Notice { words })?;
                }
                if let Some(thread) = &mut self.lander {
                    match lasts {
                        true => drop(thread.moved.get_or_insert(why)),
                        false => thread.report.failed = Some(why),
                    }
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Waits until all that passed has landed or was refused; what came of it.
    pub(super) fn end_landing(&mut self, interrupted: bool) -> Result<Option<LandingReport>> {
        let Some(thread) = &mut self.lander else {
            return Ok(None);
        };
        thread.passed = None;
        if interrupted {
            thread.stop();
        }
        while self.lander.as_ref().is_some_and(|it| it.is_at_work()) {
            match self.inputs.recv_timeout(super::LISTEN) {
                Ok(Input::Landing(news)) => {
                    self.landing(news)?;
                }
                Ok(Input::Interrupt) => {
                    if let Some(thread) = &self.lander {
                        thread.stop();
                    }
                }
                Ok(_) | Err(_) => {}
            }
        }
        // What it told last.
        while let Ok(input) = self.inputs.try_recv() {
            if let Input::Landing(news) = input {
                self.landing(news)?;
            }
        }
        Ok(self.lander.take().map(|mut it| {
            let report = std::mem::take(&mut it.report);
            let failed = it.moved.take().or(report.failed);
            LandingReport { failed, ..report }
        }))
    }
}
