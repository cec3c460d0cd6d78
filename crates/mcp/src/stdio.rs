//! The tools on stdin and stdout.
//!
//! Owns the server's life, from the first line to the end of stdin.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use rmcp::{ServiceExt, service::ServerInitializeError, transport::async_rw::AsyncRwTransport};
use tokio::{
    io::{AsyncRead, ReadBuf, Stdin},
    runtime::Builder,
    select,
    signal::unix::{SignalKind, signal},
};

use crate::{seat::AgentSeat, server::ToolServer};

/// The longest line that is read: 2 MiB, as over HTTP.
const LONGEST: usize = 2 << 20;
/// So long what is under way may take once nobody listens any more.
const PATIENCE: Duration = Duration::from_millis(500);

/// Why the server could not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeFault {
    /// The system did not let it.
    #[error("the server cannot be started")]
    System(#[from] io::Error),
    /// The client did not speak the protocol.
    #[error("the client does not speak the protocol")]
    Client(#[source] Box<ServerInitializeError>),
}

/// Serves this seat on stdin and stdout, until stdin closes or somebody ends the process.
pub fn serve(seat: AgentSeat, version: &'static str) -> Result<(), ServeFault> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let seat = Arc::new(seat);
    let server = ToolServer::new(&seat, version);
    let served = runtime.block_on(async {
        let mut ended = signal(SignalKind::terminate())?;
        select! {
            served = until_closed(server, &seat) => served,
            _ = ended.recv() => {
                seat.leave();
                Ok(())
            }
        }
    });
    runtime.shutdown_timeout(PATIENCE);
    served
}

/// What the client says; where it ends, whoever waits is told.
struct HeardInput {
    stdin: Stdin,
    seat: Arc<AgentSeat>,
}

impl AsyncRead for HeardInput {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stdin).poll_read(context, buffer);
        if read.is_ready() && buffer.filled().len() == before {
            self.seat.leave();
        }
        read
    }
}

async fn until_closed(server: ToolServer, seat: &Arc<AgentSeat>) -> Result<(), ServeFault> {
    let stdin = HeardInput {
        stdin: tokio::io::stdin(),
        seat: Arc::clone(seat),
    };
    let lines = AsyncRwTransport::new(stdin, tokio::io::stdout()).with_max_line_length(LONGEST);
    match server.serve(lines).await {
        // However it ends, nobody listens any more.
        Ok(running) => drop(running.waiting().await),
        Err(ServerInitializeError::ConnectionClosed(_)) => {}
        Err(error) => return Err(ServeFault::Client(Box::new(error))),
    }
    Ok(())
}
