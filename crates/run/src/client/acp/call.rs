//! What an agent wants to do, as rules and people see it.
//!
//! Owns how a call that the protocol describes by title, kind and raw input becomes a tool and its input. A command
//! line is the shell's as other clients have it, so that the same rules fit; what the agent announced of the call
//! beside it stays, since it may change what the command does. Pure.

use std::path::{Path, PathBuf};

use flagpost_model::{hook::ToolCall, permission::SHELL};
use serde_json::{Map, Value};

use super::wire::{AcpCall, CallKind};
use crate::client::talk::call::AskedCall;

/// Where agents name the file in a tool's input.
const PATHS: [&str; 5] = ["file_path", "filePath", "filepath", "path", "absolute_path"];

/// What opencode adds to a command line to say why it asks; the command says it too.
const WHY: [&str; 2] = ["directories", "patterns"];

/// What is asked, from what was announced of the call before; `dir` is where the agent works.
pub(super) fn asked(announced: Option<&AcpCall>, asked: &AcpCall, dir: &Path) -> AskedCall {
    let told = |call: &AcpCall| call.kind.filter(|kind| *kind != CallKind::Other);
    // opencode asks about a directory outside of the project as if that were a tool of its own.
    let kind = told(asked).or_else(|| told(announced?));
    let kind = kind.unwrap_or(CallKind::Other);
    let (input, before) = (raw(Some(asked)), raw(announced));
    let paths = paths(announced, asked, dir);
    let call = match kind {
        CallKind::Execute => command(&input, &before, asked, dir),
        _ => other(kind, input, before, asked, &paths),
    };
    AskedCall {
        call,
        paths,
        is_of_files: matches!(kind, CallKind::Read | CallKind::Edit),
        changes: matches!(kind, CallKind::Edit | CallKind::Delete | CallKind::Move),
    }
}

/// What a tool is called with, so far as the agent tells.
fn raw(call: Option<&AcpCall>) -> Map<String, Value> {
    let input = call.and_then(|it| it.raw_input.as_ref());
    let input = input.and_then(Value::as_object);
    input.cloned().unwrap_or_default()
}

fn command(
    input: &Map<String, Value>,
    before: &Map<String, Value>,
    asked: &AcpCall,
    dir: &Path,
) -> ToolCall {
    const COMMAND: &str = "command";
    let title = || Value::from(asked.title.clone().unwrap_or_default());
    // Gemini CLI tells no input: the title is the command line, all of it.
    let is_untold = input.is_empty() && before.is_empty();
    let told = input.get(COMMAND).or_else(|| before.get(COMMAND)).cloned();
    let told = told.or_else(|| is_untold.then(title));
    let mut call = Map::new();
    call.extend(told.map(|it| (COMMAND.to_owned(), it)));
    let is_here = |value: &Value| value.as_str().is_some_and(|it| Path::new(it) == dir);
    for (key, value) in before.iter().chain(input) {
        let says_where = matches!(key.as_str(), "cwd" | "workdir");
        let is_known = key == COMMAND || WHY.contains(&key.as_str());
        if !(is_known || says_where && is_here(value)) {
            call.insert(key.clone(), value.clone());
        }
    }
    // An agent that asks about another command than it announced is not believed to run either.
    let announced = before
        .get(COMMAND)
        .filter(|it| call.get(COMMAND) != Some(it));
    let announced = announced.cloned();
    call.extend(announced.map(|it| ("announced".to_owned(), it)));
    ToolCall {
        tool: SHELL.to_owned(),
        input: Value::Object(call),
    }
}

fn other(
    kind: CallKind,
    input: Map<String, Value>,
    before: Map<String, Value>,
    asked: &AcpCall,
    paths: &[PathBuf],
) -> ToolCall {
    let is_untold = input.is_empty() && before.is_empty();
    let mut call = match input.is_empty() {
        true => before,
        false => input,
    };
    if is_untold {
        call.extend(
            asked
                .title
                .clone()
                .map(|it| ("title".to_owned(), it.into())),
        );
        let content = asked.content.clone().filter(|it| !it.is_empty());
        call.extend(content.map(|it| ("content".to_owned(), it.into())));
    }
    if let [path] = paths
        && !call.contains_key("notebook_path")
    {
        let path = path.to_string_lossy().into_owned();
        call.entry("file_path").or_insert(path.into());
    }
    ToolCall {
        tool: kind.as_str().to_owned(),
        input: Value::Object(call),
    }
}

/// The files that are named, each once; of a file and the directory that it lies in, the file.
fn paths(announced: Option<&AcpCall>, asked: &AcpCall, dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for call in [Some(asked), announced].into_iter().flatten() {
        let places = call.locations.iter().flatten().map(|it| it.path.as_str());
        let changes = call.content.iter().flatten();
        let changes = changes.filter_map(|it| it.get("path")?.as_str());
        let input = call.raw_input.as_ref();
        let named = PATHS.iter().filter_map(|key| input?.get(key)?.as_str());
        for path in places
            .chain(changes)
            .chain(named)
            .filter(|it| !it.is_empty())
        {
            let path = dir.join(path);
            if !found.contains(&path) {
                found.push(path);
            }
        }
    }
    let all = found.clone();
    found.retain(|path| !all.iter().any(|it| it != path && it.starts_with(path)));
    found
}

#[cfg(test)]
mod tests;
