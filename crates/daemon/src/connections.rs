//! Connections: taken in, served, let go.
//!
//! Owns how many there may be, how long one may take to say what it wants, and the end, at which
//! those that are being answered get a moment. Only processes of our own user come in by the socket,
//! whatever its mode says.

use std::{sync::Arc, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, UnixListener, UnixStream},
    sync::{Semaphore, watch},
    time::{sleep, timeout},
};
use tracing::{debug, warn};

/// So many connections at once; whoever comes then waits until one ends.
const MOST: usize = 4096;
/// Files that are kept for the daemon's own work.
const RESERVED: u64 = 128;
/// So long a client may take for the head of a request, or sit idle before it.
const HEAD: Duration = Duration::from_secs(30);
/// The pause after the system refused a connection.
const REFUSED: Duration = Duration::from_millis(100);

/// Lets this process have as many open files as it may have.
pub(crate) fn allow_many() {
    let limit = getrlimit(Resource::Nofile);
    let most = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    if let Err(error) = setrlimit(Resource::Nofile, most) {
        warn!(%error, "the limit of open files stays as it is");
    }
}

/// All connections of the daemon.
#[derive(Clone)]
pub(crate) struct Connections {
    room: Arc<Semaphore>,
    open: Arc<GracefulShutdown>,
    ended: watch::Receiver<bool>,
}

impl Connections {
    pub(crate) fn new(ended: watch::Receiver<bool>) -> Self {
        let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let room = usize::try_from(files.saturating_sub(RESERVED)).unwrap_or(MOST);
        Self {
            room: Arc::new(Semaphore::new(room.clamp(1, MOST))),
            open: Arc::new(GracefulShutdown::new()),
            ended,
        }
    }

    /// Serves who comes by the socket.
    pub(crate) async fn accept_local(self, listener: UnixListener, app: Router) {
        loop {
            match listener.accept().await {
                Ok((stream, _)) if is_ours(&stream) => self.serve(stream, &app).await,
                Ok(_) => warn!("somebody else's process was turned away"),
                Err(error) => pause(&error).await,
            }
        }
    }

    /// Serves who comes over the loopback.
    pub(crate) async fn accept_tcp(self, listener: TcpListener, app: Router) {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    // An event is a small packet that must not wait for the next one.
                    let _: std::io::Result<()> = stream.set_nodelay(true);
                    self.serve(stream, &app).await;
                }
                Err(error) => pause(&error).await,
            }
        }
    }

    /// Serves a connection beside the others, once there is room for it.
    async fn serve<I>(&self, io: I, app: &Router)
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        // It is never closed.
        let Ok(room) = Arc::clone(&self.room).acquire_owned().await else {
            return;
        };
        let service = TowerToHyperService::new(app.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .serve_connection(TokioIo::new(io), service);
        let connection = self.open.watcher().watch(connection);
        let ended = self.ended.clone();
        tokio::spawn(async move {
            if let Err(error) = connection.await
                && !*ended.borrow()
            {
                debug!(%error, "a connection broke");
            }
            drop(room);
        });
    }

    /// Gives those that are being answered so long.
    pub(crate) async fn drain(self, moment: Duration) {
        // The tasks that accepted are gone, and with them every other owner.
        if let Some(open) = Arc::into_inner(self.open)
            && timeout(moment, open.shutdown()).await.is_err()
        {
            debug!("some connections were cut");
        }
    }
}

fn is_ours(stream: &UnixStream) -> bool {
    let us = rustix::process::geteuid().as_raw();
    stream.peer_cred().is_ok_and(|peer| peer.uid() == us)
}

/// The system has no room for another one: not at once again.
async fn pause(error: &std::io::Error) {
    warn!(%error, "a connection could not be accepted");
    sleep(REFUSED).await;
}
