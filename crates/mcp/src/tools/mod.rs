//! The tools, as a table.
//!
//! Owns their names, words, parameters and hints. Every model of a fleet reads all of it in every
//! conversation: a sentence here costs each of them tokens, and a test holds the whole to 6,200 bytes.

mod files;
pub(crate) mod mail;
mod work;

use std::time::Duration;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value};

use crate::{
    arguments::{self, ToolInput as In, ToolParam, needed, optional},
    refusal::ToolRefusal,
    seat::AgentSeat,
};

/// A tool.
#[derive(Debug)]
pub(crate) struct AgentTool {
    pub(crate) name: &'static str,
    about: &'static str,
    params: &'static [ToolParam],
    effect: ToolEffect,
    run: ToolWork,
}

/// What it does with what was said.
type ToolWork = fn(&AgentSeat, Map<String, Value>) -> Result<Value, ToolRefusal>;

/// What it does to what there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ToolEffect {
    /// It changes nothing.
    Reads,
    /// The same for a worker, whose own things it reads.
    ReadsOwn,
    /// It changes something.
    Writes,
    /// The same, and nothing more when it is asked again.
    WritesOnce,
}

/// Every tool.
pub(crate) const TOOLS: &[AgentTool] = &[
    AgentTool {
        name: "inbox",
        about: "Briefs that were approved for you and that you have not acknowledged. Read path, or the resource flagpost://brief/SEQ, then ack.",
        params: &[
            optional("after", In::Number).about("only those after this seq"),
            optional("limit", In::Count(1, 50)),
            optional(WAIT, In::Count(0, LONGEST_WAIT)).about("wait until there is one"),
        ],
        effect: ToolEffect::ReadsOwn,
        run: mail::inbox,
    },
    AgentTool {
        name: "ack",
        about: "Say that you have read a brief; it is not offered again.",
        params: &[needed("seq", In::Number)],
        effect: ToolEffect::WritesOnce,
        run: mail::ack,
    },
    AgentTool {
        name: "report",
        about: "Tell whoever controls you how far the work is, or ask.",
        params: &[
            needed("text", In::Text),
            optional("re", In::Number).about("seq of the brief it answers"),
            optional("kind", In::Word(mail::REPORTS)),
        ],
        effect: ToolEffect::Writes,
        run: mail::report,
    },
    AgentTool {
        name: "send",
        about: "Write to the orchestrator, or to a worker, whom it reaches when a person approves it.",
        params: &[
            needed("to", In::Text),
            needed("text", In::Text),
            optional("thread", In::Text),
        ],
        effect: ToolEffect::Writes,
        run: mail::send,
    },
    AgentTool {
        name: "tasks",
        about: "Tasks that fit a query, as in `state=pending tag=docs sort=due`; without one, what can be claimed now, in order.",
        params: &[
            optional("query", In::Text),
            optional("limit", In::Count(1, 100)),
        ],
        effect: ToolEffect::Reads,
        run: work::tasks,
    },
    AgentTool {
        name: "task",
        about: "A task in full, with notes and answers.",
        params: &[needed("task", In::Id)],
        effect: ToolEffect::Reads,
        run: work::task,
    },
    AgentTool {
        name: "claim",
        about: "Take a task, the first ready one that fits a query, or the first ready one. Keep the token for end.",
        params: &[optional("task", In::Id), optional("query", In::Text)],
        effect: ToolEffect::Writes,
        run: work::claim,
    },
    AgentTool {
        name: "end",
        about: "End your claim. stuck asks a person the question in text.",
        params: &[
            needed("task", In::Id),
            optional("token", In::Number).about("from claim; none for the task you were given"),
            needed("outcome", In::Word(work::OUTCOMES)),
            needed("text", In::Text),
        ],
        effect: ToolEffect::WritesOnce,
        run: work::end,
    },
    AgentTool {
        name: "add",
        about: "Add a task. With a key of your own, a second call finds the first one's task.",
        params: &[
            needed("subject", In::Text),
            optional("description", In::Text),
            optional("after", In::Ids).about("tasks it waits for"),
            optional("parent", In::Id),
            optional("priority", In::Word(&["critical", "high", "medium", "low"])),
            optional("key", In::Text),
        ],
        effect: ToolEffect::WritesOnce,
        run: work::add,
    },
    AgentTool {
        name: "note",
        about: "Leave a remark on a task for whoever works on it next.",
        params: &[needed("task", In::Id), needed("text", In::Text)],
        effect: ToolEffect::Writes,
        run: work::note,
    },
    AgentTool {
        name: "reserve",
        about: "Announce paths or globs that you change: all, or none where another holds one. Paths are from the repository's top.",
        params: &[
            needed("paths", In::Texts),
            optional("shared", In::Flag),
            optional("minutes", In::Count(1, 480)),
            optional("reason", In::Text),
        ],
        effect: ToolEffect::WritesOnce,
        run: files::reserve,
    },
    AgentTool {
        name: "release",
        about: "Give reserved paths back; without paths, all of yours.",
        params: &[optional("paths", In::Texts)],
        effect: ToolEffect::WritesOnce,
        run: files::release,
    },
    AgentTool {
        name: "status",
        about: "Who you are, who else works on what, and how much waits for a person.",
        params: &[],
        effect: ToolEffect::Reads,
        run: files::status,
    },
];

/// How long a call is to wait.
const WAIT: &str = "wait_s";
/// As long as a call may wait, in seconds: clients give up after 60.
pub(crate) const LONGEST_WAIT: u64 = 50;

impl AgentTool {
    /// The tool of this name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|it| it.name == name)
    }

    /// Whether this seat may call it.
    pub(crate) fn is_for(&self, seat: &AgentSeat) -> bool {
        self.effect == ToolEffect::Reads || seat.worker.is_some()
    }

    /// As it is listed.
    pub(crate) fn described(&self) -> Tool {
        let hints = ToolAnnotations::new().open_world(false);
        let hints = match self.effect {
            ToolEffect::Reads | ToolEffect::ReadsOwn => hints.read_only(true),
            ToolEffect::Writes => hints.destructive(false),
            ToolEffect::WritesOnce => hints.destructive(false).idempotent(true),
        };
        Tool::new(self.name, self.about, arguments::schema(self.params)).with_annotations(hints)
    }

    /// How long the call is to wait where there is nothing: from now on it does not wait itself. What is
    /// no such time is left for it to refuse.
    pub(crate) fn patience(&self, said: &mut Map<String, Value>) -> Duration {
        let param = self.params.iter().find(|it| it.name == WAIT);
        let seconds = param.and_then(|it| it.input.taken(said.get(WAIT)?)?.as_u64());
        if seconds.is_some() {
            said.remove(WAIT);
        }
        Duration::from_secs(seconds.unwrap_or_default())
    }

    /// Does it.
    pub(crate) fn call(
        &self,
        seat: &AgentSeat,
        said: &Map<String, Value>,
    ) -> Result<Value, ToolRefusal> {
        if !self.is_for(seat) {
            return Err(ToolRefusal::NoWorker);
        }
        // Whoever waits may have begun long ago.
        seat.must_be_held()?;
        (self.run)(seat, arguments::read(self.params, said)?)
    }
}

/// The object with these keys of an answer.
fn only(answer: &Value, keys: &[&str]) -> Value {
    let picked = keys
        .iter()
        .map(|key| ((*key).to_owned(), answer[*key].clone()));
    Value::Object(picked.collect())
}

/// The elements under a key of an answer.
fn each(answer: &Value, key: &str) -> impl Iterator<Item = Value> {
    answer[key]
        .as_array()
        .cloned()
        .unwrap_or_default()
        .into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_list_stays_small() {
        let all: Vec<Tool> = TOOLS.iter().map(AgentTool::described).collect();
        let bytes = serde_json::to_string(&serde_json::json!({"tools": all})).unwrap();
        println!("{} tools, {} bytes", all.len(), bytes.len());
        assert!(all.len() <= 15);
        assert!(bytes.len() <= 6_200, "{} bytes", bytes.len());
        for word in ["$schema", "uint64"] {
            assert!(!bytes.contains(word), "{word}");
        }
    }
}
