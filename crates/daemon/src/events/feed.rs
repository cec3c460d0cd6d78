//! A stream of events, for one who listens.
//!
//! Owns the pace: the next is fetched when the one before has gone out, so that a slow listener holds
//! up nobody and costs no memory. It ends with the listener, or with the daemon.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::body::{Body, Bytes};
use hyper::body::Frame;
use tokio::{
    sync::{mpsc, watch},
    time::timeout,
};
use tracing::warn;

use super::Text;

/// How often an idle stream says that it is there.
const ALIVE: Duration = Duration::from_secs(15);

/// Whoever is told of events.
pub(crate) trait Listener: Send + 'static {
    /// How often it looks without being woken.
    const RECHECK: Option<Duration>;

    /// What to do next; waits for nothing.
    fn step(&mut self) -> FeedStep;

    /// What there is to say, read from files.
    fn look(&mut self) -> flagpost_core::Result<Arc<Text>>;
}

/// What to do next.
#[derive(Debug)]
pub(crate) enum FeedStep {
    /// To say this.
    Say(String),
    /// To read files.
    Look,
    /// To wait.
    Wait,
}

/// What the listener is told, until it goes or the daemon ends.
pub(crate) fn feed<L: Listener>(
    listener: L,
    looks: watch::Receiver<u64>,
    mut ended: watch::Receiver<bool>,
) -> Body {
    let (send, receive) = mpsc::channel(1);
    tokio::spawn(async move {
        tokio::select! {
            () = tell(listener, looks, send) => {}
            _ = ended.wait_for(|it| *it) => {}
        }
    });
    Body::new(Feed(receive))
}

async fn tell<L: Listener>(
    mut listener: L,
    mut looks: watch::Receiver<u64>,
    send: mpsc::Sender<Bytes>,
) {
    let mut silent = Duration::ZERO;
    loop {
        looks.mark_unchanged();
        let text = match listener.step() {
            FeedStep::Say(text) => Arc::new(text.into()),
            FeedStep::Look => {
                let looked = tokio::task::spawn_blocking(move || {
                    let text = listener.look();
                    (listener, text)
                });
                let Ok((back, text)) = looked.await else {
                    return;
                };
                listener = back;
                match text {
                    Ok(text) => text,
                    Err(error) => {
                        // It comes again, and goes on where it was.
                        warn!(%error, "a stream has ended");
                        return;
                    }
                }
            }
            FeedStep::Wait => {
                let pause = L::RECHECK.unwrap_or(ALIVE);
                let sign = tokio::select! {
                    woken = timeout(pause, looks.changed()) => match woken {
                        Ok(Ok(())) => "",
                        Ok(Err(_)) => return,
                        Err(_) => {
                            silent += pause;
                            if silent < ALIVE { "" } else { ":\n\n" }
                        }
                    },
                    () = send.closed() => return,
                };
                Arc::new(sign.to_owned().into())
            }
        };
        for piece in text.pieces() {
            silent = Duration::ZERO;
            if send.send(piece.clone()).await.is_err() {
                return;
            }
        }
    }
}

/// A body of what is told by and by, until whoever tells has gone.
pub(crate) fn pour(receive: mpsc::Receiver<Bytes>) -> Body {
    Body::new(Feed(receive))
}

/// A body that ends early, once this changes.
pub(crate) fn ended_by(body: Body, mut over: watch::Receiver<()>) -> Body {
    let over = Box::pin(async move {
        // Nobody who could say so is left: it is over, too.
        let _: Result<_, _> = over.changed().await;
    });
    Body::new(EndedBy { body, over })
}

struct EndedBy {
    body: Body,
    over: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl hyper::body::Body for EndedBy {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.over.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        self.body.size_hint()
    }
}

/// The receiving end as a body.
struct Feed(mpsc::Receiver<Bytes>);

impl hyper::body::Body for Feed {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = ready!(self.0.poll_recv(context));
        Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}
