//! Claude Code's events, and Cursor's, as a person reads them.

use serde_json::Value;

use super::Page;
use crate::client::reader::json;

pub(super) fn event(event: &Value, page: &mut Page) {
    match json::text(event, "type") {
        Some("system") if json::text(event, "subtype") == Some("init") => {
            if let Some(dir) = json::text(event, "cwd") {
                page.stands_in(dir);
            }
        }
        Some("assistant") if json::text(&event["message"], "model") != Some("<synthetic>") => {
            let own = event["parent_tool_use_id"].is_null();
            for block in blocks(event) {
                match json::text(block, "type") {
                    // What an agent's own agent says, it gets as a result.
                    Some("text") if own => {
                        page.agent_text(json::text(block, "text").unwrap_or_default());
                    }
                    Some("tool_use") => {
                        let tool = json::text(block, "name").unwrap_or_default();
                        page.did(tool, &block["input"]);
                    }
                    _ => {}
                }
            }
        }
        Some("user") if event["isReplay"].as_bool() == Some(true) => {
            page.asked(json::text(&event["message"], "content").unwrap_or_default());
        }
        Some("user") => {
            let results = blocks(event);
            for result in results.filter(|it| json::text(it, "type") == Some("tool_result")) {
                let failed = result["is_error"].as_bool() == Some(true);
                page.got(&content(&result["content"]), failed);
            }
        }
        _ => {}
    }
}

fn blocks(event: &Value) -> impl Iterator<Item = &Value> {
    let content = event["message"]["content"].as_array();
    content.into_iter().flatten()
}

/// A result is a text, or a list of texts and pictures.
fn content(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let parts = content.as_array().into_iter().flatten();
    let parts = parts.filter_map(|part| match json::text(part, "type")? {
        "text" => json::text(part, "text").map(str::to_owned),
        other => Some(format!("({other})")),
    });
    parts.collect::<Vec<_>>().join("\n")
}
