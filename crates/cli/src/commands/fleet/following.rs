//! What a daemon does for a fleet: it keeps the server that was founded here, and follows what others do.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use flagpost_core::Home;
use flagpost_fleet::{
    KeptServer, Membership, ServerError, find_program, keep_same_access, keep_up,
};

use super::verbs::record;
use crate::context::Context;

/// The threads of it; they end with the value.
pub struct Following {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Following {
    /// Begins, where the home belongs to a fleet.
    pub fn begin(context: &Context) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let mut threads = Vec::new();
        match KeptServer::of_home(&context.home) {
            Ok(Some(server)) => {
                threads.push(kept(context, server, Arc::clone(&stop)));
                threads.push(same_access(context.home.clone(), Arc::clone(&stop)));
            }
            Ok(None) => {}
            Err(error) => tracing::warn!("the fleet's server is not kept: {error}"),
        }
        match Membership::read(&context.home) {
            Ok(Some(_)) => threads.push(follower(context, Arc::clone(&stop))),
            Ok(None) => {}
            Err(error) => tracing::warn!("no fleet is followed: {error}"),
        }
        Self { stop, threads }
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // One that panicked has said so.
            let _: thread::Result<()> = thread.join();
        }
    }
}

/// Ends the server of this home that a killed daemon left: its process.
pub fn end_left_server(home: &Home) -> anyhow::Result<Option<u32>> {
    // A server whose directory cannot be read was not started.
    let Ok(Some(server)) = KeptServer::of_home(home) else {
        return Ok(None);
    };
    match server.end_left(home.now()) {
        Err(ServerError::Kept { .. }) => Ok(None),
        ended => Ok(ended?),
    }
}

fn kept(context: &Context, server: KeptServer, stop: Arc<AtomicBool>) -> JoinHandle<()> {
    let (search, now) = (context.settings.path.clone(), context.home.now());
    thread::spawn(move || {
        let program = match find_program(None, search.as_deref()) {
            Ok(program) => program,
            Err(error) => {
                server.note_fault(&error.to_string());
                return tracing::warn!("the fleet's server is not kept: {error}");
            }
        };
        let mut tell = |event| tracing::info!("fleet: {event:?}");
        if let Err(error) = server.keep(&program.path, &stop, now, &mut tell) {
            tracing::warn!("the fleet's server is not kept: {error}");
        }
    })
}

fn same_access(home: Home, stop: Arc<AtomicBool>) -> JoinHandle<()> {
    let tell = |what| tracing::info!("fleet: whom the server lets in: {what}");
    thread::spawn(move || keep_same_access(&home, &stop, &tell))
}

fn follower(context: &Context, stop: Arc<AtomicBool>) -> JoinHandle<()> {
    let (home, record) = (context.home.clone(), record(context));
    thread::spawn(move || {
        keep_up(&home, &record, &stop, &|what| {
            tracing::info!("fleet: {what}")
        })
    })
}
