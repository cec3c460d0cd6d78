//! Frames of JSON-RPC, one in a line, as agents speak it over their pipes.
//!
//! Owns what kind of frame a line is, and how a request and a refusal of ours are spelled. An agent may send any JSON:
//! keys that nobody knows are passed over. Pure.

use serde::Deserialize;
use serde_json::{Value, json};

/// JSON-RPC's code for a method that we do not have.
pub(in crate::client) const NO_SUCH_METHOD: i64 = -32601;

/// The same for parameters that cannot be understood.
pub(in crate::client) const BAD_PARAMETERS: i64 = -32602;

/// The protocol's code for an agent that nobody has logged in to.
const LOGIN_NEEDED: i64 = -32000;

/// What an agent sent.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::client) enum Frame {
    /// It answers a request of ours.
    Answer {
        /// Which.
        id: u64,
        /// What came of it.
        result: Result<Value, AgentError>,
    },
    /// It asks for something, and waits for the answer.
    Request {
        /// By which it knows the answer.
        id: Value,
        /// What it asks for.
        method: String,
        /// With what.
        params: Value,
    },
    /// It tells something.
    Notice {
        /// What.
        method: String,
        /// The rest of it.
        params: Value,
    },
}

/// Why an agent did not do what it was asked.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(in crate::client) struct AgentError {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
    #[serde(default)]
    data: Value,
}

/// A frame, whichever it is.
#[derive(Deserialize)]
struct AnyFrame {
    id: Option<Value>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
    #[serde(default)]
    result: Value,
    error: Option<AgentError>,
}

impl Frame {
    /// The frame in a line; none where it is none.
    pub fn read(line: &[u8]) -> Option<Self> {
        let any: AnyFrame = serde_json::from_slice(line).ok()?;
        let params = any.params;
        match (any.method, any.id.filter(|id| !id.is_null())) {
            (Some(method), Some(id)) => Some(Self::Request { id, method, params }),
            (Some(method), None) => Some(Self::Notice { method, params }),
            (None, Some(id)) => Some(Self::Answer {
                id: id.as_u64()?,
                result: any.error.map_or(Ok(any.result), Err),
            }),
            (None, None) => None,
        }
    }
}

impl AgentError {
    /// In words: what the agent says, and what it says of that.
    pub fn words(&self) -> String {
        let details = ["details", "message", "error"]
            .iter()
            .find_map(|key| self.data.get(key)?.as_str());
        let details = details.or(self.data.as_str());
        let mut words = match (self.message.trim(), self.code) {
            ("", code) => format!("error {code}"),
            (message, _) => message.to_owned(),
        };
        if let Some(details) = details.filter(|it| !words.contains(it)) {
            words = format!("{words}: {details}");
        }
        if self.code == LOGIN_NEEDED {
            words += " (log in with the agent's own program first)";
        }
        words
    }
}

/// A request of ours.
pub(in crate::client) fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// The answer to what we do not do.
pub(in crate::client) fn refusal(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(text: &str) -> Option<Frame> {
        Frame::read(text.as_bytes())
    }

    #[test]
    fn a_frame_is_an_answer_a_request_or_a_notice() {
        let notice = Frame::Notice {
            method: "a".to_owned(),
            params: json!({"x": 1}),
        };
        let request = Frame::Request {
            id: json!("q-1"),
            method: "a".to_owned(),
            params: Value::Null,
        };
        let nothing = Frame::Answer {
            id: 3,
            result: Ok(Value::Null),
        };
        for (text, read) in [
            (
                r#"{"jsonrpc":"2.0","method":"a","params":{"x":1}}"#,
                Some(notice.clone()),
            ),
            (r#"{"method":"a","params":{"x":1},"id":null}"#, Some(notice)),
            (r#"{"id":"q-1","method":"a"}"#, Some(request)),
            (r#"{"id":3,"result":null}"#, Some(nothing)),
            (r#"{"id":"3","result":{}}"#, None),
            (r#"{"id":-3,"result":{}}"#, None),
            (r#"{"jsonrpc":"2.0"}"#, None),
            ("words", None),
            ("[]", None),
            ("", None),
        ] {
            assert_eq!(frame(text), read, "{text}");
        }
    }

    #[test]
    fn an_error_says_what_the_agent_says_of_it() {
        for (error, words) in [
            (json!({"code": 1, "message": "No"}), "No"),
            (json!({"code": 1}), "error 1"),
            (json!({"message": "No", "data": "Why not"}), "No: Why not"),
            (
                json!({"message": "No", "data": {"details": "Why"}}),
                "No: Why",
            ),
            (
                json!({"message": "No: Why", "data": {"details": "Why"}}),
                "No: Why",
            ),
            (
                json!({"code": -32000, "message": "Authentication required"}),
                "Authentication required (log in with the agent's own program first)",
            ),
        ] {
            assert_eq!(AgentError::deserialize(&error).unwrap().words(), words);
        }
    }
}
