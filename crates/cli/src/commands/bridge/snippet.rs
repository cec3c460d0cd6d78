//! `bridge snippet`: what an agent should know of the bridge.

use flagpost_core::Home;
use flagpost_model::view;

use super::bridge;
use crate::{context::Context, instructions, output::Answer};

/// Print what to tell agents in CLAUDE.md or AGENTS.md
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost bridge snippet >> CLAUDE.md")]
pub struct SnippetArgs {}

view! {
    /// What an agent should know of the bridge.
    ///
    /// After 'flagpost agent snippet'.
    pub struct AgentSnippet<'a> {
        /// Markdown.
        text: &'a str,
    }
}

/// Where the text says that the files are.
const USUAL: &str = "~/.flagpost/";

/// Prints it, with the files where they are on this machine.
pub fn run(context: &Context, _: &SnippetArgs) -> anyhow::Result<Answer> {
    let dir = place(&context.home, bridge(context)?.dir());
    let text = instructions::BRIDGE.replace(USUAL, &format!("{dir}/"));
    Ok(Answer::of(&AgentSnippet::new(&text)).exact(text))
}

/// A directory as an agent may write it.
fn place(home: &Home, dir: &std::path::Path) -> String {
    let user = home.environment().user_home.as_ref();
    match user.and_then(|user| dir.strip_prefix(user).ok()) {
        Some(rest) => format!("~/{}", rest.display()),
        None => dir.display().to_string(),
    }
}
