//! The server: from a client's line to a tool, and back.
//!
//! Owns its life, from the first line to the end of stdin, and what of the protocol it answers. What may
//! wait for locks and disks is done aside. Invariant: only what the client did wrong by the protocol is a
//! fault of the protocol.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use flagpost_core::{Error, describe};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, Implementation,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities,
        ServerConfig,
    },
    service::{RequestContext, ServerInitializeError},
    transport::async_rw::AsyncRwTransport,
};
use tokio::{
    io::{AsyncRead, ReadBuf, Stdin},
    runtime::Builder,
    select,
    signal::unix::{SignalKind, signal},
    task::spawn_blocking,
};

use crate::{
    resources,
    seat::AgentSeat,
    tools::{AgentTool, TOOLS},
};

/// The longest line that is read: 2 MiB, as over HTTP.
const LONGEST: usize = 2 << 20;
/// So long what is under way may take once nobody listens any more.
const PATIENCE: Duration = Duration::from_millis(500);
/// What a model is told of all this.
const INSTRUCTIONS: &str = "Flagpost: tasks and mail of this fleet. Start: inbox, then your task. \
    Reserve paths before changing files others may touch. End every claim with `end`.";
/// The same where it may only read.
const READ_ONLY: &str = "Flagpost: tasks and mail of this fleet. This server was started for no \
    worker (FLAGPOST_WORKER), so you can read, and change nothing.";

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
    let server = ToolServer {
        seat: Arc::clone(&seat),
        version,
    };
    let served = runtime.block_on(async {
        let mut ended = signal(SignalKind::terminate())?;
        select! {
            served = server.until_closed() => served,
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

#[derive(Debug, Clone)]
struct ToolServer {
    seat: Arc<AgentSeat>,
    version: &'static str,
}

impl ToolServer {
    async fn until_closed(self) -> Result<(), ServeFault> {
        let stdin = HeardInput {
            stdin: tokio::io::stdin(),
            seat: Arc::clone(&self.seat),
        };
        let lines = AsyncRwTransport::new(stdin, tokio::io::stdout()).with_max_line_length(LONGEST);
        match self.serve(lines).await {
            // However it ends, nobody listens any more.
            Ok(running) => drop(running.waiting().await),
            Err(ServerInitializeError::ConnectionClosed(_)) => {}
            Err(error) => return Err(ServeFault::Client(Box::new(error))),
        }
        Ok(())
    }

    /// Works where one may wait for locks and disks.
    async fn aside<T: Send + 'static>(
        &self,
        work: impl FnOnce(&AgentSeat) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let seat = Arc::clone(&self.seat);
        let worked = spawn_blocking(move || work(&seat)).await;
        worked.map_err(|_| ErrorData::internal_error("this call panicked", None))
    }
}

impl ServerHandler for ToolServer {
    fn get_info(&self) -> ServerConfig {
        let can = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .build();
        let instructions = match self.seat.worker {
            Some(_) => INSTRUCTIONS,
            None => READ_ONLY,
        };
        ServerConfig::new(can)
            .with_server_info(Implementation::new("flagpost", self.version))
            .with_instructions(instructions)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = TOOLS.iter().filter(|it| it.is_for(&self.seat));
        let tools = tools.map(AgentTool::described).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let unknown =
            || ErrorData::invalid_params(format!("there is no tool {}", request.name), None);
        let tool = AgentTool::named(&request.name).ok_or_else(unknown)?;
        let said = request.arguments.unwrap_or_default();
        let result = match self.aside(move |seat| tool.call(seat, &said)).await? {
            Ok(answer) => CallToolResult::structured(answer),
            Err(refusal) => CallToolResult::structured_error(refusal.shown()),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let all = resources::list(&self.seat);
        Ok(ListResourcesResult::with_all_items(all))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let all = resources::templates(&self.seat);
        Ok(ListResourceTemplatesResult::with_all_items(all))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let read = self.aside(move |seat| resources::read(seat, &uri)).await?;
        let fault = |error: Error| match error {
            Error::Disk(_) => ErrorData::internal_error(describe(&error), None),
            _ => ErrorData::resource_not_found(describe(&error), None),
        };
        Ok(ReadResourceResult::new(vec![read.map_err(fault)?]).into())
    }
}
