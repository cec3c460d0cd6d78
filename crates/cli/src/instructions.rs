//! What agents are told about Flagpost.
//!
//! Owns the texts: the block that goes into a repository's `AGENTS.md` and its like, and the topics
//! of `flagpost instructions`. A test holds every command they name to the binary. A block that is
//! changed here gets a new version, by which old ones are known and replaced.

use flagpost_core::instructions::ExpectedBlock;
use flagpost_model::marked_block::MarkedBlock;

/// A text by its name.
pub struct Topic {
    /// What to type.
    pub name: &'static str,
    /// What it is about, in a line.
    pub about: &'static str,
    /// The text, in Markdown.
    pub text: &'static str,
}

/// What is told to one who names no topic.
pub const OVERVIEW: &str = include_str!("instructions/overview.md");

/// The topics, in the order in which one needs them.
pub const TOPICS: &[Topic] = &[
    Topic {
        name: "tasks",
        about: "find, read, add and change tasks",
        text: include_str!("instructions/tasks.md"),
    },
    Topic {
        name: "claims",
        about: "take a task, keep it, give it back",
        text: include_str!("instructions/claims.md"),
    },
    Topic {
        name: "reports",
        about: "say how a task ended",
        text: include_str!("instructions/reports.md"),
    },
    Topic {
        name: "relay",
        about: "get briefs as a worker, and report back",
        text: include_str!("instructions/relay.md"),
    },
    Topic {
        name: "sessions",
        about: "work under 'flagpost run'",
        text: include_str!("instructions/sessions.md"),
    },
    Topic {
        name: "messages",
        about: "take tasks from an orchestrator, and answer",
        text: include_str!("instructions/messages.md"),
    },
    Topic {
        name: "files",
        about: "take part without this program",
        text: include_str!("instructions/files.md"),
    },
];

/// What is told to an agent that uses the bridge.
pub const BRIDGE: &str = include_str!("instructions/bridge.md");

const BLOCK: MarkedBlock<'_> = MarkedBlock {
    version: 1,
    body: include_str!("instructions/agents.md"),
};

/// The block for agents of which some can only read and write files.
const BRIDGED: MarkedBlock<'_> = MarkedBlock {
    version: 1,
    body: concat!(
        include_str!("instructions/agents.md"),
        "\n",
        include_str!("instructions/bridge.md")
    ),
};

/// What only a block that tells of the bridge has in it.
pub const OF_THE_BRIDGE: &str = "agent-inbox.json";

/// Lines that make a file read `AGENTS.md`.
const IMPORTS: &[&str] = &["@AGENTS.md", "@./AGENTS.md"];

/// The file that most agents read.
pub const AGENTS: ExpectedBlock<'_> = ExpectedBlock {
    file: "AGENTS.md",
    block: BLOCK,
    instead: &[],
};

/// The same file, where it tells of the bridge too.
pub const AGENTS_BRIDGED: ExpectedBlock<'_> = ExpectedBlock {
    block: BRIDGED,
    ..AGENTS
};

/// Claude Code's, which imports it.
pub const CLAUDE: ExpectedBlock<'_> = ExpectedBlock {
    file: "CLAUDE.md",
    block: MarkedBlock {
        version: 1,
        body: "@AGENTS.md\n",
    },
    instead: IMPORTS,
};

/// Gemini CLI's, which imports it too.
pub const GEMINI: ExpectedBlock<'_> = ExpectedBlock {
    file: "GEMINI.md",
    block: MarkedBlock {
        version: 1,
        body: "@./AGENTS.md\n",
    },
    instead: IMPORTS,
};

/// Copilot's, which knows no imports.
pub const COPILOT: ExpectedBlock<'_> = ExpectedBlock {
    file: ".github/copilot-instructions.md",
    block: BLOCK,
    instead: &[],
};

/// The same file, where it tells of the bridge too.
pub const COPILOT_BRIDGED: ExpectedBlock<'_> = ExpectedBlock {
    block: BRIDGED,
    ..COPILOT
};
