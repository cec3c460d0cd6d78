//! The record of one attempt: which client worked, what it used, what it was refused, how it ended.
//!
//! Owns the shape that the history, a session's events and `session show` share (`agents.md` §4). A
//! number that the client did not tell is absent, never 0.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::TaskId;

/// One try of a task by one client.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AttemptRecord {
    /// Which attempt, from 1; a resumed session is the same attempt.
    #[schemars(range(min = 1))]
    pub attempt: u32,
    /// The agent as the operator named it.
    pub agent: String,
    /// The client's version, where it told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The model, where it told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The client's own name for the conversation, by which it is resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The tokens it used.
    #[serde(default, skip_serializing_if = "Usage::is_unknown")]
    pub usage: Usage,
    /// What it cost in US dollars, where the client told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub cost_usd: Option<f64>,
    /// How many turns it took, where the client told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// The actions that the client refused its agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<Denied>,
    /// How it ended, in a word; none while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
}

/// Tokens, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Read by the model, those from its cache included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Of these, from its cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
    /// Written by the model, its reasoning included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Of these, its reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
}

impl Usage {
    /// Whether the client told nothing.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    /// Input and output together; none where the client told neither.
    pub fn total(&self) -> Option<u64> {
        match (self.input, self.output) {
            (None, None) => None,
            (input, output) => Some(
                input
                    .unwrap_or_default()
                    .saturating_add(output.unwrap_or_default()),
            ),
        }
    }

    /// The sum with another; unknown only where neither knows.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let add = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or_default().saturating_add(b.unwrap_or_default())),
        };
        Self {
            input: add(self.input, other.input),
            cached: add(self.cached, other.cached),
            output: add(self.output, other.output),
            reasoning: add(self.reasoning, other.reasoning),
        }
    }
}

/// An action that the client refused its agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Denied {
    /// The tool, by the client's name for it.
    pub tool: String,
    /// What it was to act on, in a line: a command, a path.
    pub what: String,
}

/// Where a task's conversation with a client can be taken up again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resumable {
    /// The task.
    pub task: TaskId,
    /// The agent as the operator named it.
    pub agent: String,
    /// The client's own name for the conversation.
    pub session: String,
    /// The directory that it worked in.
    pub dir: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_number_is_absent_and_never_zero() {
        let record = AttemptRecord {
            attempt: 1,
            agent: "claude".into(),
            ..AttemptRecord::default()
        };
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(text, r#"{"attempt":1,"agent":"claude"}"#);
        assert_eq!(record.usage.total(), None);
        assert_eq!(
            serde_json::from_str::<AttemptRecord>(&text).unwrap(),
            record
        );
    }

    #[test]
    fn the_sum_of_two_usages_knows_what_either_knows() {
        let one = Usage {
            input: Some(10),
            ..Usage::default()
        };
        let other = Usage {
            output: Some(5),
            ..Usage::default()
        };
        let both = one.plus(other);
        assert_eq!(
            (both.input, both.output, both.cached),
            (Some(10), Some(5), None)
        );
        assert_eq!(both.total(), Some(15));
    }
}
