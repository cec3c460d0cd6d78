//! The interface: HTTP for programs and browsers.
//!
//! Owns what all routes stand on: the home, who acts, who may come in. A route says where an operation
//! is asked for; from the table of operations come the dispatch, the check of what was asked, and the
//! description.

mod answer;
mod asked;
mod auth;
mod browsers;
pub mod openapi;
mod pages;
mod route;
mod router;
mod routes;
mod tools;

use std::sync::{Arc, OnceLock};

use flagpost_core::Home;
use flagpost_model::WorkerId;
use tokio::sync::watch;

pub(crate) use auth::{Door, Guard};
pub(crate) use router::{guarded, router};

use crate::{
    config::DaemonConfig,
    events::Hub,
    instance::{Instance, Paths},
};

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Shared {
    home: Home,
    actor: WorkerId,
    paths: Paths,
    guard: auth::Guard,
    instance: OnceLock<Instance>,
    hub: Arc<Hub>,
    ended: watch::Receiver<bool>,
}

impl Shared {
    pub(crate) fn new(
        config: &DaemonConfig,
        paths: Paths,
        guard: auth::Guard,
        hub: Arc<Hub>,
        ended: watch::Receiver<bool>,
    ) -> Self {
        Self {
            home: config.home.clone(),
            actor: config.actor.clone(),
            paths,
            guard,
            instance: OnceLock::new(),
            hub,
            ended,
        }
    }

    /// How this daemon is reached, once that is known.
    pub(crate) fn announce(&self, instance: Instance) {
        // Told once, before the first request is answered.
        let _: Result<(), Instance> = self.instance.set(instance);
    }
}
