//! Codex's events as a person reads them.

use serde_json::{Value, json};

use super::{Page, PieceKind};
use crate::client::reader::json as field;

pub(super) fn event(event: &Value, page: &mut Page) {
    let item = &event["item"];
    let part = |key| field::text(item, key).unwrap_or_default();
    let failed = matches!(part("status"), "failed" | "declined");
    match (field::text(event, "type"), part("type")) {
        (Some("item.started"), "command_execution") => {
            let command = json!({"command": unwrapped(part("command"))});
            page.did("exec_command", &command);
        }
        (Some("item.completed"), "command_execution") => {
            page.got(part("aggregated_output"), failed);
            if failed && part("aggregated_output").trim().is_empty() {
                let code = field::number(item, "exit_code");
                page.got(
                    &code.map_or("failed".into(), |it| format!("exit code {it}")),
                    true,
                );
            }
        }
        (Some("item.completed"), "file_change") => {
            for change in item["changes"].as_array().into_iter().flatten() {
                let kind = field::text(change, "kind").unwrap_or("change");
                page.did(kind, &json!({"path": change["path"]}));
            }
            if failed {
                page.got("the patch was not applied", true);
            }
        }
        (Some("item.started"), "mcp_tool_call") => {
            let tool = format!("{}/{}", part("server"), part("tool"));
            page.did(&tool, &item["arguments"]);
        }
        (Some("item.completed"), "mcp_tool_call") => {
            let texts = item["result"]["content"].as_array().into_iter().flatten();
            let texts: Vec<&str> = texts.filter_map(|it| field::text(it, "text")).collect();
            page.got(&texts.join("\n"), failed);
            if let Some(error) = field::text(&item["error"], "message") {
                page.got(error, true);
            }
        }
        (Some("item.completed"), "web_search") => page.did("search", item),
        (Some("item.completed"), "agent_message") => page.agent_text(part("text")),
        (Some("item.completed"), "error") => page.put(PieceKind::Note, part("message")),
        _ => {}
    }
}

/// What a shell was given, rather than that one was: `/bin/bash -lc 'make'` is `make`.
fn unwrapped(command: &str) -> String {
    let words = shlex::split(command);
    match words.as_deref() {
        Some([shell, option, script]) if shell.ends_with("sh") && option.starts_with('-') => {
            script.clone()
        }
        _ => command.to_owned(),
    }
}
