//! What an agent tells over the Agent Client Protocol, as a person reads it.
//!
//! Owns which of what is told about a call shows that it was made: agents tell of one call many times.

use std::collections::BTreeSet;

use serde_json::json;

use super::{Page, PieceKind, gemini::Speech};
use crate::client::{
    acp::{AcpCall, CallKind, LogLine, SessionUpdate},
    reader::acp::update,
};

/// So many calls are remembered that were shown and are not over.
const CALLS: usize = 256;

/// The calls that were shown and are not over.
#[derive(Debug, Default)]
pub(super) struct ShownCalls(BTreeSet<String>);

pub(super) fn event(line: &[u8], shown: &mut ShownCalls, speech: &mut Speech, page: &mut Page) {
    if let Some(ours) = LogLine::read(line) {
        speech.end(page);
        return told(&ours, page);
    }
    match update(line) {
        Some(SessionUpdate::AgentMessageChunk { content }) => speech.more(&content.text, page),
        Some(SessionUpdate::ToolCall(call) | SessionUpdate::ToolCallUpdate(call)) => {
            speech.end(page);
            shown.show(&call, page);
        }
        Some(SessionUpdate::Plan { entries }) => {
            speech.end(page);
            let steps = entries
                .iter()
                .map(|it| format!("[{}] {}", it.status, it.content));
            let steps: Vec<String> = steps.collect();
            page.put(PieceKind::Note, &format!("plan: {}", steps.join(", ")));
        }
        Some(SessionUpdate::Other) | None => {}
    }
}

/// Our own lines. How it began and ended, and that it was asked for its report, is shown of every client in the same way.
fn told(line: &LogLine, page: &mut Page) {
    match line {
        LogLine::Refused { tool, what, why } => {
            page.put(PieceKind::Failed, &format!("refused: {tool} {what}: {why}"));
        }
        LogLine::Turn { refused } => {
            page.put(
                PieceKind::Note,
                &format!("> told what was refused ({refused}), and to go on or report"),
            );
        }
        LogLine::Session { .. }
        | LogLine::Question
        | LogLine::Used { .. }
        | LogLine::Ended { .. } => {}
    }
}

impl ShownCalls {
    fn show(&mut self, call: &AcpCall, page: &mut Page) {
        let is_begun = call.is_over() || call.status.as_deref() == Some("in_progress");
        let is_new = !self.0.contains(&call.tool_call_id);
        if is_begun && is_new && call.title.is_some() {
            did(call, page);
            if self.0.len() < CALLS {
                self.0.insert(call.tool_call_id.clone());
            }
        }
        if call.is_over() {
            self.0.remove(&call.tool_call_id);
            page.got(&call.texts(), call.status.as_deref() == Some("failed"));
        }
    }
}

fn did(call: &AcpCall, page: &mut Page) {
    let title = call.title.as_deref().unwrap_or_default();
    let place = call.locations.iter().flatten().next();
    let place = place.map_or(title, |it| it.path.as_str());
    match call.kind.unwrap_or(CallKind::Other) {
        CallKind::Execute => page.did("bash", &json!({"command": title})),
        kind @ (CallKind::Read | CallKind::Edit | CallKind::Delete | CallKind::Search) => {
            page.did(kind.as_str(), &json!({"path": place}));
        }
        CallKind::Move
        | CallKind::Think
        | CallKind::Fetch
        | CallKind::SwitchMode
        | CallKind::Other => page.did(title, &json!({})),
    }
}
