//! Times that are the subject of a test: an attempt's limit, and an account's rest.
//!
//! Owns how long they are. A run counts both from its own start or that of a client, and how long a client
//! then takes to come to what a test is about is the machine's affair: a time that was over before that says
//! nothing, and the test begins anew with twice as much.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use flagpost_testkit::{
    background::Background,
    clients::Client,
    model_server::{Request, Step},
    patience::under_a_limit,
};
use jiff::{Timestamp, Unit};

use super::stage::{Run, Stage};

/// What is tried first.
pub const SHORT: Duration = Duration::from_secs(10);

/// The turns in which the model is silent until the time of their attempt is up.
#[derive(Clone, Default)]
pub struct Silences(Arc<Mutex<BTreeSet<u32>>>);

impl Silences {
    /// That of this attempt.
    pub fn of_attempt(&self, attempt: u32) -> Step {
        let heard = Arc::clone(&self.0);
        Step::by(move |request| {
            if is_of_attempt(request, attempt) {
                heard.lock().unwrap().insert(attempt);
            }
            Step::hang()
        })
    }

    fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

/// Whether the newest prompt about task 1 was for this attempt: it names the place of its report.
fn is_of_attempt(request: &Request, attempt: u32) -> bool {
    let names = |attempt: u32| {
        let place = format!("/1-{attempt}/out/report.md");
        request.path_ending(&place).is_some()
    };
    names(attempt) && !names(attempt + 1)
}

/// A run with a limit for each attempt of its one task, in which the time was up in the silences and never
/// before. `None` where the client is not installed.
pub fn limited(
    client: Client,
    stage: impl Fn() -> Option<Stage>,
    play: impl Fn(&Arc<Stage>, &Silences),
) -> Option<(Arc<Stage>, Run)> {
    under_a_limit(SHORT, |limit| {
        let Some(stage) = stage() else {
            return Some(None);
        };
        let (stage, silences) = (Arc::new(stage), Silences::default());
        play(&stage, &silences);
        let limit = format!("{}s", limit.as_secs());
        let run = stage.run(&["--agent", client.as_str(), "--timeout", &limit]);
        let stopped = run.told("task.stopping").into_iter();
        let too_early =
            stopped.filter(|it| it["why"] == "its time is up").count() > silences.count();
        (!too_early).then_some(Some((stage, run)))
    })
}

/// The moment that is so far away, as `--park-until` takes it and a run tells it.
pub fn moment(away: Duration) -> String {
    let now = Timestamp::now().round(Unit::Second).unwrap();
    (now + away).to_string()
}

/// Whether the first account that rests does so until then, and no longer.
pub fn rests_until(run: &Background, moment: &str) -> bool {
    let told = run.stdout();
    let parked = told.lines().find(|line| line.contains("agent.parked"));
    parked.is_some_and(|line| line.contains(moment))
}
