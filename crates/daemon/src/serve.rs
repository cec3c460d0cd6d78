//! The daemon's life: take the home, listen, serve, drain.
//!
//! Owns the runtime and the order of start and end. Whoever finds the note finds a daemon that
//! answers; once the lock is free nothing of it is left but the log, the token and the note.

use std::{
    future::Future,
    net::{Ipv4Addr, TcpListener as StdTcpListener},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use flagpost_core::{
    relay::{liveness, observe as mail},
    tasks::observe as tasks,
};
use flagpost_disk::fsx;
use tokio::{
    net::{TcpListener, UnixListener},
    signal::unix::{SignalKind, signal},
    sync::watch,
    task::JoinHandle,
};
use tracing::{info, warn};

use crate::{
    bridge,
    config::DaemonConfig,
    connections::{self, Connections},
    duties::{self, Troubles, Watches},
    error::{Error, Result},
    events::{self, Hub},
    http::{self, Door, Guard, Shared},
    instance::InstanceLock,
    notify::{Sender, notify},
};

/// So many operations run at once; the rest waits its turn.
const OPERATIONS: usize = 16;
/// So long whoever is being answered may take once the end is near.
const DRAIN: Duration = Duration::from_millis(700);

/// Whose the socket is.
enum Origin {
    /// The daemon's.
    Ours,
    /// That of whoever starts the daemon when somebody asks.
    Given,
}

/// Is over when the process is told to end.
pub async fn signals() {
    let (Ok(mut term), Ok(mut interrupt)) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    ) else {
        // Then the process ends as the system ends it.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = term.recv() => {}
        _ = interrupt.recv() => {}
    }
}

/// Serves a home until `shutdown` is over.
pub fn run(config: DaemonConfig, shutdown: impl Future<Output = ()>) -> Result<()> {
    let held = InstanceLock::take(&config.home)?;
    connections::allow_many();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(OPERATIONS)
        .build()
        .map_err(Error::system("start the runtime"))?;
    let served = runtime.block_on(serve(config, &held, shutdown));
    runtime.shutdown_timeout(DRAIN);
    served
}

async fn serve(
    mut config: DaemonConfig,
    held: &InstanceLock,
    shutdown: impl Future<Output = ()>,
) -> Result<()> {
    let given = config.socket.take();
    let home = &config.home;
    let (socket, origin) = match given {
        Some(given) => (given, Origin::Given),
        None => (fsx::listen(home.fs(), &held.paths.socket)?, Origin::Ours),
    };
    let tcp = bind(config.port, held.last_port(home)?)?;
    let local = tcp.local_addr().map_err(Error::system("listen"))?;
    socket
        .set_nonblocking(true)
        .map_err(Error::system("listen"))?;
    tcp.set_nonblocking(true).map_err(Error::system("listen"))?;
    let socket = UnixListener::from_std(socket).map_err(Error::system("listen"))?;
    let tcp = TcpListener::from_std(tcp).map_err(Error::system("listen"))?;

    let (end, ended) = watch::channel(false);
    let token = held.token(home)?;
    let hub = Arc::new(Hub::new(home.clone(), config.watching));
    let watched = events::watch(home, &hub)?;
    // From here on everything is told.
    let mut tails = events::Tails::default();
    hub.look(&mut tails);
    // What the history does not tell of is found whenever these begin.
    // What goes wrong from here on is said.
    let troubles: Watches<Troubles> = Watches::begin(home);
    let mail: Watches<mail::MailWatch> = Watches::default();
    let liveness: Watches<liveness::LivenessWatch> = Watches::default();
    // Of tasks, what is there by now is known where nothing else is remembered.
    let tasks: Watches<tasks::TaskWatch> = Watches::begin(home);
    let actor = config.actor.clone();
    let base = format!("http://127.0.0.1:{}", local.port());
    let stop = Arc::new(AtomicBool::new(false));
    let sender = Sender::new(home, hub.lists.reader.clone(), base, &stop);
    let mut at_work = vec![
        tokio::spawn(Arc::clone(&hub).run(tails)),
        tokio::spawn(duties::observe(
            held.claim.clone(),
            Arc::clone(&hub),
            troubles,
        )),
        tokio::spawn(duties::observe(held.claim.clone(), Arc::clone(&hub), mail)),
        tokio::spawn(duties::observe(
            held.claim.clone(),
            Arc::clone(&hub),
            liveness,
        )),
        tokio::spawn(duties::observe(held.claim.clone(), Arc::clone(&hub), tasks)),
        tokio::spawn(duties::upkeep(home.clone(), actor)),
        tokio::spawn(notify(sender, Arc::clone(&hub))),
        tokio::spawn(events::tell_lists(home.clone(), Arc::clone(&hub))),
    ];
    let keeping = watched.map(|it| events::keep(home.clone(), Arc::clone(&hub), it));
    at_work.extend(keeping.map(tokio::spawn));
    let bridge = bridge::tend(home.clone());
    let shared = Arc::new(Shared::new(
        &config,
        held.paths.clone(),
        Guard::new(&token, local.port()),
        Arc::clone(&hub),
        ended.clone(),
    ));
    let app = http::router(&shared);
    let connections = Connections::new(ended);
    let by_socket = http::guarded(&app, &shared, Door::Socket);
    let by_loopback = http::guarded(&app, &shared, Door::Loopback);
    let accepting = [
        tokio::spawn(connections.clone().accept_local(socket, by_socket)),
        tokio::spawn(connections.clone().accept_tcp(tcp, by_loopback)),
    ];
    let instance = held.announce(home, local.port(), hub.watching())?;
    shared.announce(instance.clone());
    info!(pid = instance.pid, http = instance.http, "ready");

    let is_ours = tokio::select! {
        () = shutdown => true,
        () = duties::home_lost(held.claim.clone()) => false,
    };
    match is_ours {
        true => info!("ending"),
        false => warn!("ending: the home was removed or replaced"),
    }
    // Before the sockets close: whoever finds no socket finds no daemon. Whoever gave us one listens
    // on for the next daemon.
    match origin {
        Origin::Ours if is_ours => held.leave(home)?,
        // What lies there is another daemon's.
        Origin::Ours | Origin::Given => {}
    }
    let _ = end.send(true);
    stop.store(true, Ordering::Relaxed);
    at_work.iter().for_each(JoinHandle::abort);
    for accepting in accepting {
        accepting.abort();
        // Cut off is what it is meant to be.
        let _ = accepting.await;
    }
    let (_, bridge_ended) = tokio::join!(
        connections.drain(DRAIN),
        tokio::task::spawn_blocking(move || bridge.end(DRAIN)),
    );
    if !bridge_ended.unwrap_or_default() {
        warn!("the bridge was in the middle of a command, which counts as a crash");
    }
    info!("ended");
    Ok(())
}

/// A port on the loopback: the one that was asked for, else that of last time, else any.
fn bind(asked: Option<u16>, last: Option<u16>) -> Result<StdTcpListener> {
    let at = |port| {
        StdTcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .map_err(|source| Error::Port { port, source })
    };
    match (asked, last) {
        (Some(port), _) => at(port),
        (None, Some(port)) => at(port).or_else(|_| at(0)),
        (None, None) => at(0),
    }
}
