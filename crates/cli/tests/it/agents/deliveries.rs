//! A brief that is delivered to an agent at work, while its model thinks.

use std::sync::{Mutex, mpsc};

use flagpost_testkit::{clients::Client, model_server::Step, patience::patience};

use super::stage::{Stage, runs};

/// The brief.
pub const TOLD: &str = "Rebase on main first";

/// The end of what is told of it.
pub const ACKNOWLEDGE: &str = "It is acknowledged with: flagpost worker ack";

/// A step that is held up until the operator has done something, which the test says.
pub struct Pause {
    reached: mpsc::Receiver<()>,
    go_on: mpsc::Sender<()>,
}

impl Pause {
    pub fn before(step: Step) -> (Step, Self) {
        let (reach, reached) = mpsc::channel();
        let (go_on, told) = mpsc::channel();
        let (reach, told) = (Mutex::new(reach), Mutex::new(told));
        let paused = Step::by(move |_| {
            reach.lock().unwrap().send(()).unwrap();
            told.lock().unwrap().recv_timeout(patience()).unwrap();
            step.clone()
        });
        (paused, Self { reached, go_on })
    }

    /// The model has heard the turn, and thinks.
    pub fn is_reached(&self) {
        self.reached.recv_timeout(patience()).unwrap();
    }

    /// It answers.
    pub fn goes_on(&self) {
        self.go_on.send(()).unwrap();
    }
}

/// The model says these, then acknowledges the brief and does the task.
pub fn script(stage: &Stage, client: Client, first: impl IntoIterator<Item = Step>) {
    let rest = [
        runs(client, "flagpost worker ack 2"),
        runs(client, "flagpost done 1 Parsed"),
        Step::text("Said."),
    ];
    stage.script(1, first.into_iter().chain(rest));
}

/// The worker that has the task.
pub fn worker(stage: &Stage) -> String {
    let (_, shown) = stage.world.json(["show", "1"]);
    shown["claim"]["by"].as_str().unwrap().to_owned()
}

/// Sends a brief to the worker of the task while its model thinks, and lets it through.
pub fn deliver(stage: &Stage, pause: &Pause) {
    pause.is_reached();
    send(stage);
}

/// Sends a brief to the worker of the task, and lets it through.
pub fn send(stage: &Stage) {
    let worker = worker(stage);
    stage.world.ok(["assign", "9", &worker, "--inline", TOLD]);
    stage.world.ok(["ratify", &worker]);
}
