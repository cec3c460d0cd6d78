//! Connections: taken in, served, let go.
//!
//! Owns how many there may be, how long one may take to say what it wants, and the end, at which
//! those that are being answered get a moment. Only processes of our own user come in by the socket,
//! whatever its mode says; whoever comes over the loopback is a stranger until it has shown that it may,
//! and gives way to whoever comes after it.

use std::{
    future::{self, Future},
    sync::Arc,
    time::Duration,
};

use axum::Router;
use hyper::{
    Request,
    body::Incoming,
    server::conn::http1,
    service::{Service as _, service_fn},
};
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

use crate::strangers::{Strangers, Visitor};

/// So many connections at once; whoever comes then waits until one ends.
const MOST: usize = 4096;
/// Files that are kept for the daemon's own work; half of what it may open, where that is little.
const RESERVED: u64 = 128;
/// One place of so many is for strangers,
const OF_STRANGERS: usize = 4;
/// and so many at most.
const MOST_STRANGERS: usize = 256;
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
    strangers: Strangers,
    open: Arc<GracefulShutdown>,
    ended: watch::Receiver<bool>,
}

impl Connections {
    pub(crate) fn new(ended: watch::Receiver<bool>) -> Self {
        let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let own = RESERVED.min(files / 2);
        let room = usize::try_from(files - own).unwrap_or(MOST).clamp(1, MOST);
        Self {
            room: Arc::new(Semaphore::new(room)),
            strangers: Strangers::new((room / OF_STRANGERS).clamp(1, MOST_STRANGERS)),
            open: Arc::new(GracefulShutdown::new()),
            ended,
        }
    }

    /// Serves who comes by the socket.
    pub(crate) async fn accept_local(self, listener: UnixListener, app: Router) {
        loop {
            match listener.accept().await {
                Ok((stream, _)) if is_ours(&stream) => {
                    self.serve(stream, &app, None, future::pending()).await;
                }
                Ok(_) => warn!("somebody else's process was turned away"),
                Err(error) => self.pause(&error).await,
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
                    let (visitor, stay) = self.strangers.arrive().await;
                    self.serve(stream, &app, Some(visitor), stay.over()).await;
                }
                Err(error) => self.pause(&error).await,
            }
        }
    }

    /// Serves a connection beside the others, once there is room for it, until it ends or has to go.
    async fn serve<I>(
        &self,
        io: I,
        app: &Router,
        visitor: Option<Visitor>,
        over: impl Future<Output = ()> + Send + 'static,
    ) where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        if self.room.available_permits() == 0 {
            self.strangers.cut_first();
        }
        // It is never closed.
        let Ok(room) = Arc::clone(&self.room).acquire_owned().await else {
            return;
        };
        let app = TowerToHyperService::new(app.clone());
        let known_as = visitor.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            known_as
                .clone()
                .map(|it| request.extensions_mut().insert(it));
            app.call(request)
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .serve_connection(TokioIo::new(io), service);
        let connection = self.open.watcher().watch(connection);
        let ended = self.ended.clone();
        tokio::spawn(async move {
            tokio::select! {
                served = connection => if let Err(error) = served && !*ended.borrow() {
                    debug!(%error, "a connection broke");
                },
                () = over => debug!("a connection that showed no token had to give way"),
            }
            if let Some(visitor) = visitor {
                visitor.welcome();
            }
            drop(room);
        });
    }

    /// The system has no room for another one: not at once again.
    async fn pause(&self, error: &std::io::Error) {
        warn!(%error, "a connection could not be accepted");
        self.strangers.cut_first();
        sleep(REFUSED).await;
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
