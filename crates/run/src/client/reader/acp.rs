//! The log of an agent that speaks the Agent Client Protocol: its own words, and our lines between them.
//!
//! Owns what both mean. What counts is told by our lines: whose conversation it is, what was refused, how it ended.

use flagpost_model::session::Usage;
use serde::Deserialize;

use super::totals::{OutputReading, sum};
use crate::client::acp::{LogLine, SessionUpdate};

/// What it has told that the next line may belong to.
#[derive(Debug, Default)]
pub(in crate::client) struct AcpLog {
    /// Whether the next piece of text goes on with the last.
    is_speaking: bool,
}

/// A notification, as an agent sends it.
#[derive(Deserialize)]
struct AcpNotice {
    params: UpdateParams,
}

#[derive(Deserialize)]
struct UpdateParams {
    update: SessionUpdate,
}

/// What an agent tells in a line.
pub(in crate::client) fn update(line: &[u8]) -> Option<SessionUpdate> {
    let notice: AcpNotice = serde_json::from_slice(line).ok()?;
    Some(notice.params.update)
}

impl AcpLog {
    pub fn line(&mut self, line: &[u8], hearing: &mut OutputReading) {
        if let Some(ours) = LogLine::read(line) {
            self.is_speaking = false;
            return told(ours, hearing);
        }
        match update(line) {
            Some(SessionUpdate::AgentMessageChunk { content }) => {
                hearing.record_words(&content.text, self.is_speaking);
                self.is_speaking = true;
            }
            // Whatever comes between two pieces ends the text.
            Some(_) => self.is_speaking = false,
            None => {}
        }
    }
}

fn told(line: LogLine, hearing: &mut OutputReading) {
    let one_more = |turns| sum(turns, Some(1), u64::saturating_add);
    match line {
        LogLine::Session {
            session,
            agent,
            version,
            mode: _,
        } => {
            let named: Vec<String> = agent.into_iter().chain(version).collect();
            hearing.version(Some(named.join(" ").as_str()).filter(|it| !it.is_empty()));
            hearing.begun(Some(&session));
            hearing.heard.turns = one_more(hearing.heard.turns);
        }
        LogLine::Refused { tool, what, why: _ } => {
            hearing.denied(&tool, &what);
        }
        LogLine::Turn { refused: _ } => hearing.heard.turns = one_more(hearing.heard.turns),
        LogLine::Question => {
            hearing.heard.turns = one_more(hearing.heard.turns);
            hearing.asked_for_report();
        }
        LogLine::Used { read, written } => {
            hearing.heard.usage = hearing.heard.usage.plus(Usage {
                input: read,
                output: written,
                ..Usage::default()
            });
        }
        LogLine::Ended { error } => hearing.ended(error.as_deref()),
    }
}
