//! The tools on stdin and stdout.
//!
//! Owns the server's life, from the first line to the end of stdin.

use std::{collections::HashSet, io, sync::Arc, time::Duration};

use rmcp::{
    RoleServer, ServiceExt,
    model::{ClientNotification, JsonRpcMessage, RequestId},
    service::{RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage},
    transport::{Transport, async_rw::AsyncRwTransport},
};
use tokio::{
    io::{AsyncReadExt, Chain, Stdin, Stdout},
    runtime::Builder,
    select,
    signal::unix::{SignalKind, signal},
    sync::watch,
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

/// The client's lines. They end once all that was asked in them is answered, and whoever waits is told as soon
/// as there are no more: the service drops what is under way where its lines end.
struct AnsweredLines {
    lines: AsyncRwTransport<RoleServer, Chain<Stdin, &'static [u8]>, Stdout>,
    seat: Arc<AgentSeat>,
    is_over: bool,
    open: watch::Sender<HashSet<RequestId>>,
}

impl Transport<RoleServer> for AnsweredLines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(answer) => Some(answer.id.clone()),
            JsonRpcMessage::Error(answer) => answer.id.clone(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        let (sent, open) = (self.lines.send(message), self.open.clone());
        async move {
            let sent = sent.await;
            if let Some(id) = answered {
                open.send_if_modified(|open| open.remove(&id));
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        if !self.is_over {
            let message = self.lines.receive().await;
            self.open.send_if_modified(|open| match &message {
                Some(JsonRpcMessage::Request(asked)) => open.insert(asked.id.clone()),
                // What is cancelled need not be answered.
                Some(JsonRpcMessage::Notification(told)) => match &told.notification {
                    ClientNotification::CancelledNotification(told) => {
                        let id = told.params.request_id.as_ref();
                        id.is_some_and(|id| open.remove(id))
                    }
                    _ => false,
                },
                Some(JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)) | None => false,
            });
            if message.is_some() {
                return message;
            }
            self.is_over = true;
            self.seat.leave();
        }
        let mut open = self.open.subscribe();
        // The sender lives as long as this does.
        let _ = open.wait_for(HashSet::is_empty).await;
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        self.lines.close().await
    }
}

async fn until_closed(server: ToolServer, seat: &Arc<AgentSeat>) -> Result<(), ServeFault> {
    // The last line may lack its end.
    let stdin = tokio::io::stdin().chain(&b"\n"[..]);
    let lines = AsyncRwTransport::new(stdin, tokio::io::stdout());
    let lines = AnsweredLines {
        lines: lines.with_max_line_length(LONGEST),
        seat: Arc::clone(seat),
        is_over: false,
        open: watch::Sender::default(),
    };
    match server.serve(lines).await {
        // However it ends, nobody listens any more.
        Ok(running) => drop(running.waiting().await),
        Err(ServerInitializeError::ConnectionClosed(_)) => {}
        Err(error) => return Err(ServeFault::Client(Box::new(error))),
    }
    Ok(())
}
