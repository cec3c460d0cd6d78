//! `mcp`: tools for agents over the Model Context Protocol.

use flagpost_mcp::{AgentSeat, serve};
use flagpost_model::{ListId, ListRef};

use crate::{context::Context, error::usage, output::Answer};

/// Serve an agent's tools on stdin and stdout
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost mcp\n\n\
    An agent's client starts it and speaks the Model Context Protocol to it, until stdin closes.\n\
    FLAGPOST_WORKER says which worker the agent is; without it the tools only read.\n\
    Tell a client of it:\n\
    \x20 claude mcp add flagpost --env FLAGPOST_WORKER=W3 -- flagpost mcp\n\
    \x20 codex mcp add flagpost --env FLAGPOST_WORKER=W3 -- flagpost mcp\n\
    \x20 gemini mcp add -e FLAGPOST_WORKER=W3 flagpost flagpost mcp\n\
    For opencode, in opencode.json:\n\
    \x20 {\"mcp\": {\"flagpost\": {\"type\": \"local\", \"command\": [\"flagpost\", \"mcp\"],\n\
    \x20  \"environment\": {\"FLAGPOST_WORKER\": \"W3\"}}}}\n\
    The daemon has the same tools at /mcp, over HTTP, for whoever shows the token that\n\
    'flagpost worker token' makes. docs/mcp.md describes both.")]
pub struct McpArgs {}

/// Serves until stdin closes.
pub fn run(context: &Context, _: &McpArgs) -> anyhow::Result<Answer> {
    if context.names_actor() {
        return Err(usage(
            "an agent's name is that of its process: set FLAGPOST_WORKER, not --as",
        ));
    }
    let list = match context.named_list()? {
        None => None,
        Some(ListRef::Named(list)) => Some(list),
        Some(ListRef::Foreign(_) | ListRef::Coordination(_)) => {
            return Err(usage("the tools work on a list of the home"));
        }
    };
    let of_list = context.settings.list.as_deref();
    let is_given = of_list.is_none() || of_list == list.as_ref().map(ListId::as_str);
    let worker = context.settings.agent()?;
    let (home, dir) = (context.home.clone(), context.dir.clone());
    let seat = AgentSeat::new(home, worker, context.actor()?, list, dir);
    let seat = match context.given() {
        Some((task, Some(token))) if is_given => seat.with_task(task, token),
        _ => seat,
    };
    serve(seat, env!("CARGO_PKG_VERSION"))?;
    Ok(Answer::silent())
}
