//! The server: from a client's request to a tool, and back.
//!
//! Owns what of the protocol it answers, whichever way a request comes. What may wait for locks and disks
//! is done aside. Invariant: only what the client did wrong by the protocol is a fault of the protocol.

use std::{sync::Arc, time::Instant};

use flagpost_core::{Error, describe};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, Implementation,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities,
        ServerConfig,
    },
    service::RequestContext,
};
use serde_json::{Map, Value, json};
use tokio::{select, task::spawn_blocking};

use crate::{
    refusal::ToolRefusal,
    resources,
    seat::AgentSeat,
    tools::{AgentTool, TOOLS, mail},
    watched::Watched,
};

/// What a model is told of all this.
const INSTRUCTIONS: &str = "Flagpost: tasks and mail of this fleet. Start: inbox, then your task. \
    Reserve paths before changing files others may touch. End every claim with `end`.";
/// The same where it may only read.
const READ_ONLY: &str = "Flagpost: tasks and mail of this fleet. This server was started for no \
    worker (FLAGPOST_WORKER), so you can read, and change nothing.";

/// The tools of one seat.
#[derive(Debug, Clone)]
pub(crate) struct ToolServer {
    seat: Arc<AgentSeat>,
    version: &'static str,
    watched: Option<Watched>,
}

impl ToolServer {
    /// One in a process of its own, in which a thread may wait for the inbox.
    pub(crate) fn new(seat: &Arc<AgentSeat>, version: &'static str) -> Self {
        Self {
            seat: Arc::clone(seat),
            version,
            watched: None,
        }
    }

    /// One among others, for which this tells of changes: whoever waits takes no thread.
    pub(crate) fn beside_others(self, watched: Watched) -> Self {
        Self {
            watched: Some(watched),
            ..self
        }
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

    /// Calls a tool; where it waits for something, again whenever something has changed, until there is
    /// something or the time is over.
    async fn awaited(
        &self,
        tool: &'static AgentTool,
        mut said: Map<String, Value>,
        mut watched: Watched,
    ) -> Result<Result<Value, ToolRefusal>, ErrorData> {
        let ends = Instant::now() + tool.patience(&mut said);
        let said = Arc::new(said);
        loop {
            watched.begin();
            let arguments = Arc::clone(&said);
            let worked = self.aside(move |seat| tool.call(seat, &arguments)).await?;
            let left = ends.saturating_duration_since(Instant::now());
            let is_nothing = worked.as_ref().is_ok_and(mail::is_empty);
            if left.is_zero() || !is_nothing || watched.is_over() {
                return Ok(worked);
            }
            watched.change(left).await;
        }
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
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let unknown =
            || ErrorData::invalid_params(format!("there is no tool {}", request.name), None);
        let tool = AgentTool::named(&request.name).ok_or_else(unknown)?;
        let said = request.arguments.unwrap_or_default();
        let worked = match &self.watched {
            None => self.aside(move |seat| tool.call(seat, &said)).await?,
            Some(watched) => select! {
                worked = self.awaited(tool, said, watched.clone()) => worked?,
                () = context.ct.cancelled() => {
                    return Err(ErrorData::internal_error("nobody listens any more", None));
                }
            },
        };
        let result = match worked {
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
        let asked = uri.clone();
        let read = self.aside(move |seat| resources::read(seat, &uri)).await?;
        let fault = |error: Error| match error {
            Error::Disk(_) => ErrorData::internal_error(describe(&error), None),
            _ => ErrorData::resource_not_found(describe(&error), Some(json!({"uri": asked}))),
        };
        Ok(ReadResourceResult::new(vec![read.map_err(fault)?]).into())
    }
}
