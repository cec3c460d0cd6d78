//! The agent programs that Flagpost knows.
//!
//! Owns their names. How each is started, read and resumed belongs to the room that runs them.

use crate::names::names;

names!(
    /// An agent program.
    Client {
        /// Claude Code.
        Claude = "claude",
        /// Codex.
        Codex = "codex",
        /// Gemini CLI.
        Gemini = "gemini",
        /// opencode.
        Opencode = "opencode",
        /// Cursor's agent.
        Cursor = "cursor",
        /// aider.
        Aider = "aider",
        /// An agent that speaks the Agent Client Protocol.
        Acp = "acp",
    }
);
