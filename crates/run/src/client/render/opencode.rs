//! opencode's events as a person reads them.

use serde_json::Value;

use super::Page;
use crate::client::reader::json;

pub(super) fn event(event: &Value, page: &mut Page) {
    let part = &event["part"];
    match json::text(event, "type") {
        Some("text") => page.agent_text(json::text(part, "text").unwrap_or_default()),
        Some("tool_use") => {
            let state = &part["state"];
            let tool = json::text(part, "tool").unwrap_or_default();
            page.did(tool, &state["input"]);
            let told = |key| json::text(state, key).unwrap_or_default();
            let code = state["metadata"]["exit"].as_i64();
            let failed = told("status") == "error" || code.is_some_and(|code| code != 0);
            match told("error") {
                "" => page.got(told("output"), failed),
                error => page.got(error, true),
            }
        }
        _ => {}
    }
}
